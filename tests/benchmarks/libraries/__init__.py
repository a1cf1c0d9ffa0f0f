"""Alternatives to code of our own: what libraries for git and for graphs cost."""
