"""Routes of real applications against the listings of their frameworks."""
