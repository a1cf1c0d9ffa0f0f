"""Answers questions about a code base with the code itself."""
