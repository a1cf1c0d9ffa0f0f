"""Types of chains: annotations, containers and assignments -> the value of an expression."""
