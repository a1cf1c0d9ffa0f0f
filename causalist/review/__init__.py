"""Review of a change: definitions changed between two versions, call sites broken, users, tests, missing files.

In: two versions of some files and the index of the later one. Out: the types of `changes`, `breaking` and `report`.
Versions are compared by their syntax trees, never by lines. Nothing here prints.
"""
