"""What a repository's past says about which code a question means."""
