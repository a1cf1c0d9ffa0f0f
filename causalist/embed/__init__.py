"""Installed embedders by name; texts -> unit vectors; vectors on disk.

Nothing here is imported unless an embedder is chosen.
"""
