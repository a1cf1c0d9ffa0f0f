"""Helpers without domain knowledge. Nothing in here is public."""
