"""Repositories that a server keeps current, independent of any protocol."""
