"""Doors that stay open: what serves one repository for as long as a client is there.

`mcp` speaks the Model Context Protocol. `live` keeps the repository that a server answers from up to date, by a
process of its own (`job`, `index_child`); it knows no protocol.
"""
