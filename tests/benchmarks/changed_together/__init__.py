"""Files that change with a file, as impact and history tell."""
