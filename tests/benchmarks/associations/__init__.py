"""Learns from public repositories which words programmers use in the same places."""
