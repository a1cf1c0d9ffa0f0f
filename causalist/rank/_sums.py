"""Rows of (document, term, count) that are added up where document and term are the same."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Triples = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
ROWS_AT_ONCE = 250_000  # that are added up: more is quicker by little and takes more room


def concatenated(parts: Sequence[tuple[Triples, int]], rank: NDArray[np.int32], first: int, end: int) -> Triples:
    """The rows of all parts whose terms have a rank in first:end, with that rank and weighted counts."""
    found: list[Triples] = []
    for (documents, terms, counts), weight in parts:
        ranks = rank[terms]
        rows = np.flatnonzero((ranks >= first) & (ranks < end))
        found.append((documents[rows], ranks[rows], counts[rows] * np.int32(weight)))
    documents, ranks, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    return documents, ranks, counts


def summed(triples: Triples, n_nodes: int) -> Triples:
    """Equal (term, document) pairs added up, sorted by term, then document."""
    documents, terms, counts = triples
    if not len(documents):
        return triples
    keys = terms.astype(np.int64)
    keys *= n_nodes
    keys += documents
    bits = int(counts.max()).bit_length()
    if int(keys.max()).bit_length() + bits < 63:
        # The counts are sorted with the keys, as their last bits: no permutation, no second copy.
        keys <<= bits
        keys |= counts
        keys.sort()
        counts = (keys & ((1 << bits) - 1)).astype(np.int32)
        keys >>= bits
    else:
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    sums = np.add.reduceat(counts, first)
    keys = keys[first]
    return (keys % n_nodes).astype(np.int32), (keys // n_nodes).astype(np.int32), sums
