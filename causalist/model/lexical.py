"""The words of a repository as arrays: what BM25 and exact mentions read at question time."""

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.string_table import StringTable


@dataclass(frozen=True, slots=True)
class Postings:
    """Documents by term. Counts are kept rather than weights, so that postings of files that did not change can be
    taken over when the number and length of all documents have."""

    indptr: NDArray[np.int64]  # (n_terms + 1,)
    documents: NDArray[np.int32]  # (n_postings,), NodeIndex, ascending within a term
    counts: NDArray[np.int32]  # (n_postings,), weighted occurrences; empty where only the document counts
    norms: NDArray[np.float64]  # (n_nodes,), BM25's K1 * (1 - b + b * length / mean length); empty as `counts` is
    n_documents: int


@dataclass(frozen=True, slots=True)
class LexicalIndex:
    """`terms` are sorted. `definitions` holds one document a node, `files` one document a file (all of its text).

    `paths` are the path words of files, with impact idf. `names` are sorted distinct last names of symbols, file names
    and stems in lower case; `name_nodes[name_indptr[i]:name_indptr[i + 1]]` are the nodes of name i.
    """

    terms: StringTable
    definitions: Postings
    files: Postings
    paths: Postings
    symbol_names: Postings
    names: StringTable
    name_indptr: NDArray[np.int64]
    name_nodes: NDArray[np.int32]
