"""Tree-sitter captures of one file -> its facts."""
