"""Personalized PageRank: the transition matrix, power iteration and local push."""
