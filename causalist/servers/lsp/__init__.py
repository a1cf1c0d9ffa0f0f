"""The Language Server Protocol."""
