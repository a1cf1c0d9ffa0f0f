"""The words of a repository as arrays: what BM25 and exact mentions read at question time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalist.model.strings import StringTable


@dataclass(frozen=True, slots=True)
class Postings:
    """Documents by term, with their BM25 impact: the score of a document is the sum over the question's terms."""

    indptr: NDArray[np.int64]  # (n_terms + 1,)
    documents: NDArray[np.int32]  # (n_postings,), NodeIndex, ascending within a term
    impacts: NDArray[np.float32]  # (n_postings,), positive


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
