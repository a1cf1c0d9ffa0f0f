"""Benchmarks of `review`: planted signatures, replayed commits, files left out of commits."""
