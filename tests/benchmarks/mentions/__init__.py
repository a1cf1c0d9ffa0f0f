"""How often edges `mentions` are right, by rule: `labels.tsv`, judged by reading; see `__main__`."""
