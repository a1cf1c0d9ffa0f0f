"""Frozen nouns that the stages hand to one another. Nothing here does I/O, and nothing here imports a stage."""
