"""Signals -> scores -> results."""
