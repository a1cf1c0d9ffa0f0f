"""Tests of documents and pictures."""
