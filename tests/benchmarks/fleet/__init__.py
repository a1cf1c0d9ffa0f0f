"""Trials and measurements of fleets."""
