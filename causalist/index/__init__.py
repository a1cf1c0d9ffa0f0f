"""A repository -> its index: built, stored, opened, refresh_graph after an edit, and its status."""
