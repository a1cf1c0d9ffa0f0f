"""A folder or a git tree -> source files: path, bytes and hash; ignore rules and limits."""
