"""Retrieval quality on labelled questions."""
