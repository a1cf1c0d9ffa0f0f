"""A question -> candidates, seeds, Personalized PageRank, fused scores."""
