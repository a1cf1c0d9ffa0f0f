"""Questions with the lines that answer them, and the fit of what a pack shows."""
