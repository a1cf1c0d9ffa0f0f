"""Frozen data types that the stages pass to one another.

Nothing here does I/O, and nothing here imports a stage.
"""
