"""Installed embedders by name; texts -> unit vectors; vectors on disk.

Nothing here is imported unless an embedder is chosen.
"""

from causalist.embed.registry import GROUP, check_name, embed_texts, get_embedder
from causalist.embed.vector_file import VectorFile, read_vectors, vector_file_name, write_vectors

__all__ = [
    "GROUP",
    "VectorFile",
    "check_name",
    "embed_texts",
    "get_embedder",
    "read_vectors",
    "vector_file_name",
    "write_vectors",
]
