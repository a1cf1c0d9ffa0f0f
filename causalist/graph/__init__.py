"""All facts -> the code graph."""
