"""What touches the world outside of the process."""
