"""Scores -> the top-k subgraph without cycles, in causal order, with paths."""
