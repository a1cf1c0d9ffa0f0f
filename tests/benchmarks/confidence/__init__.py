"""How far the confidence of an answer can be trusted."""
