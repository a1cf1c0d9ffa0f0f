"""Repository map: an index -> a description of the repository that fits a token budget.

`collect` gathers the contents, best first, by importance; `draw_map` takes as much as fits. `descriptions` reads
READMEs and package manifests; `folders` ranks the folders.
"""
