"""Edges between the repositories of a fleet: what each publishes and uses, and the join of both."""
