"""Benchmarks of the memory over free text; see each module."""
