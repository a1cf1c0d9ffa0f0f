"""An ordered subgraph and a token budget -> a context pack."""
