"""The index on disk: complete or absent."""
