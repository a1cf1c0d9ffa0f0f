"""How much more a folder should count in which a question is asked."""
