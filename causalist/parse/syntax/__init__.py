"""Readers of tree-sitter captures: the captures of one file -> its facts."""
