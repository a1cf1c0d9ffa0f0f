"""The text of a query -> a `ParsedQuery`."""
