"""Calls that `causalist observe` records, against those that a tracer sees, and what recording costs."""
