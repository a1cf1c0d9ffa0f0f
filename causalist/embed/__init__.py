"""Embedders that are installed, by name; texts -> vectors of norm 1; vectors on disk.

Nothing here is imported unless an embedder was asked for.
"""

from causalist.embed.registry import GROUP, check_name, embedded, embedder_called
from causalist.embed.vector_file import Stored, read_vectors, vectors_name, write_vectors

__all__ = [
    "GROUP",
    "Stored",
    "check_name",
    "embedded",
    "embedder_called",
    "read_vectors",
    "vectors_name",
    "write_vectors",
]
