"""Edge families other than calls and imports."""
