"""Questions from the histories of public repositories."""
