"""How often the layer of a file is what a reader says it is."""
