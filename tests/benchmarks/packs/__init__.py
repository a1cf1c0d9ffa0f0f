"""How much of the right answers stands in a pack."""
