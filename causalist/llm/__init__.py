"""Query and pack -> a language model's answer, with citations checked against the pack.

Only this package and the embedders send repository text to others; nothing here runs unless asked for by name.
"""
