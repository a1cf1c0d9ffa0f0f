"""Language Server Protocol."""
