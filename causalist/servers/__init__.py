"""Servers that answer for a repository while a client is connected: MCP, LSP and a web page.

`mcp`, `lsp` and `web` speak the protocols. `live` keeps the repository current with an indexing process of its own and
knows no protocol.
"""
