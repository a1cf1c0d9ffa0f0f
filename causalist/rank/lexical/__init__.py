"""BM25: the lexical index and the search in it."""
