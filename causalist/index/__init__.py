"""A repository -> its index: built, stored, opened, refreshed after an edit, and its status."""
