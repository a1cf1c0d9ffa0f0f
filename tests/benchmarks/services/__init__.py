"""Services with a known chain of calls, written by a generator or marked by hand in real repositories."""
