"""Symbol tables of all files, and the lookup of names in them."""
