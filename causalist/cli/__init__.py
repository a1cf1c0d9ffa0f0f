"""The command line: converts, prints, and decides nothing."""
