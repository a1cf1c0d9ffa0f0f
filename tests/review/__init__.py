"""Tests of reviews of changes."""
