"""Growth of cost with the size of hostile inputs."""
