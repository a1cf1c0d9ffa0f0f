"""One repository that a server keeps current. Knows no protocol."""
