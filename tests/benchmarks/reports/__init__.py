"""Reports of defects as questions: how much a pack shows of what the commit that mended each of them changed."""
