"""Rows of (document, term, count) that are added up where document and term are the same."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Triples = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
# That are added up: what stays below the size of which arrays are asked of the system one by one (`heap.py`) is reused,
# and new memory costs more than the sum.
ROWS_AT_ONCE = 30_000


class Part(NamedTuple):
    """Rows, in which order their terms come in blocks, and how much a count is worth."""

    rows: Triples
    order: NDArray[np.int32]
    weight: int


class Blocks(NamedTuple):
    """Consecutive terms in blocks of about as many rows each; `of_term`: shape (n_terms,), the block of each."""

    of_term: NDArray[np.uint16]
    n: int

    def part(self, rows: Triples, weight: int) -> Part:
        # The sort of numbers of 16 bits takes linear time.
        return Part(rows, np.argsort(self.of_term[rows[1]], kind="stable").astype(np.int32), weight)


def blocks_of(tables: Sequence[Triples], n_terms: int) -> Blocks:
    """Blocks for rows like these."""
    n_rows = np.zeros(n_terms, dtype=np.int64)
    for _, terms, _ in tables:
        n_rows += np.bincount(terms, minlength=n_terms)
    ends = np.cumsum(n_rows)
    n = min(1 + int(ends[-1]) // ROWS_AT_ONCE, np.iinfo(np.uint16).max) if n_terms else 1
    return Blocks(((ends - n_rows) * n // max(int(n_rows.sum()), 1)).astype(np.uint16), n)


def added_up(parts: Sequence[Part], blocks: Blocks, n_nodes: int) -> Iterator[Triples]:
    """The rows of all parts, equal (document, term) pairs added up with their weights: by term, then document."""
    bounds = [np.searchsorted(blocks.of_term[p.rows[1]][p.order], np.arange(blocks.n + 1)).tolist() for p in parts]
    for block in range(blocks.n):
        found: list[Triples] = []
        for (rows, order, weight), starts in zip(parts, bounds, strict=True):
            some = order[starts[block] : starts[block + 1]]
            found.append((rows[0][some], rows[1][some], rows[2][some] * np.int32(weight)))
        documents, terms, counts = (np.concatenate(column) for column in zip(*found, strict=True))
        yield summed((documents, terms, counts), n_nodes)


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
