"""Postings of an earlier state of a repository and those of what was read again -> the postings of now.

After an edit nearly all rows are what they were and where they were. So only those are looked at that change; all
others are copied in as few pieces as there are.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.spliced import spliced
from causalist.model.lexical import Postings
from causalist.model.string_table import Merged
from causalist.rank.lexical._sums import ROWS_AT_ONCE, Triples

K1 = 1.2  # the usual default
_MOST_RUNS = 8  # of numbers that are compared with all of an array: above that, looking each up in a table is faster
_NO_ROWS = np.zeros(0, dtype=np.int32)
NO_POSTINGS = Postings(np.zeros(1, dtype=np.int64), _NO_ROWS, _NO_ROWS, np.zeros(0), 0)


class KeptRows(NamedTuple):
    """`gone`: rows of postings that are not kept, ascending, of the terms `gone_terms`. `nodes`: shape (n_nodes then,),
    where each node is now, -1 where its rows are gone; those that stay are in the same order. `n_kept`: shape
    (n_terms then,), rows of each term."""

    postings: Postings
    nodes: NDArray[np.int32]
    gone: NDArray[np.int64]
    gone_terms: NDArray[np.int64]
    n_kept: NDArray[np.int64]


def kept_rows(postings: Postings, nodes: NDArray[np.int32]) -> KeptRows:
    """Postings without those of the nodes that are -1."""
    gone = _rows_of(postings.documents, nodes < 0)
    terms = np.searchsorted(postings.indptr, gone, side="right") - 1
    n_kept = np.diff(postings.indptr) - np.bincount(terms, minlength=len(postings.indptr) - 1)
    return KeptRows(postings, nodes, gone, terms, n_kept)


def joined(old: KeptRows, terms: Merged, new: Triples) -> Postings:
    """Rows that are kept and new ones, which are of other documents and come as from `summed`; `terms` says where those
    of then are now. Without norms, which `with_norms` adds."""
    documents, numbers, counts = new
    documents, counts = documents.astype(np.int32, copy=False), counts.astype(np.int32, copy=False)
    n_now = np.bincount(numbers, minlength=len(terms.table))
    stays = terms.old >= 0
    n_now[terms.old[stays]] += old.n_kept[stays]
    indptr = np.zeros(len(n_now) + 1, dtype=np.int64)
    np.cumsum(n_now, out=indptr[1:])
    then = old.postings
    if not len(then.documents):
        return Postings(indptr, documents, counts, then.norms, 0)
    rows = spliced(len(then.documents), old.gone, old.gone_terms, _places(old, terms.old, documents, numbers))
    is_where_it_was = np.array_equal(np.maximum(old.nodes, 0), np.where(old.nodes < 0, 0, np.arange(len(old.nodes))))
    moved = then.documents if is_where_it_was else old.nodes.take(then.documents)
    return Postings(
        indptr,
        rows.of(moved, documents),
        rows.of(then.counts, counts) if len(then.counts) else _NO_ROWS,
        then.norms,
        0,
    )


def with_norms(columns: Postings, old: KeptRows, new: Triples, n_nodes: int, b: float) -> Postings:
    """`joined` postings with the norms of BM25."""
    lengths = _summed_counts(new[0], new[2], n_nodes)
    stays = old.nodes >= 0
    lengths[old.nodes[stays]] += _lengths(old.postings, b)[stays]
    norms, n_documents = _norms(lengths, b)
    return Postings(columns.indptr, columns.documents, columns.counts, norms, n_documents)


def without_counts(columns: Postings, n_documents: int) -> Postings:
    """Postings that say whether a document has a term, not how often."""
    return Postings(columns.indptr, columns.documents, _NO_ROWS, np.zeros(0), n_documents)


def _rows_of(documents: NDArray[np.int32], is_one: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Which rows are of these documents."""
    bounds = np.flatnonzero(np.diff(is_one, prepend=False, append=False))
    if len(bounds) > 2 * _MOST_RUNS:
        return np.flatnonzero(is_one.take(documents))
    is_row = np.zeros(len(documents), dtype=np.bool_)
    for first, end in bounds.reshape(-1, 2).tolist():
        some = documents >= first
        some &= documents < end
        is_row |= some
    return np.flatnonzero(is_row)


def _places(
    old: KeptRows, place: NDArray[np.int32], documents: NDArray[np.int32], numbers: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Before which row of then each new one belongs. `place`: where the terms of then are now."""
    then = old.postings
    # What is no longer there counts as what stands before it, so that both remain ascending.
    here = np.maximum.accumulate(place)
    before = np.searchsorted(here, numbers)  # terms
    is_known = np.append(here, -1)[before] == numbers
    low = then.indptr[before]
    high = np.where(is_known, then.indptr[np.minimum(before + 1, len(place))], low)
    first = np.searchsorted(np.maximum.accumulate(old.nodes), documents)  # in the numbers of then
    while (is_open := low < high).any():
        middle = (low + high) // 2
        comes_after = is_open & (then.documents[np.minimum(middle, len(then.documents) - 1)] < first)
        low = np.where(comes_after, middle + 1, low)
        high = np.where(is_open & ~comes_after, middle, high)
    return low


def _lengths(postings: Postings, b: float) -> NDArray[np.float64]:
    """Shape (n_nodes,): the sum of the counts of each document. Read off its norm, where these are sums of them all."""
    n_nodes, total = len(postings.norms), int(np.add.reduce(postings.counts, dtype=np.int64))
    mean = total / max(postings.n_documents, 1)
    lengths = np.rint((postings.norms / K1 - (1 - b)) / b * mean)
    if lengths.sum() == total and np.array_equal(_norms(lengths, b)[0], postings.norms):
        return lengths
    return _summed_counts(postings.documents, postings.counts, n_nodes)


def _summed_counts(documents: NDArray[Any], counts: NDArray[Any], n_nodes: int) -> NDArray[np.float64]:
    lengths = np.zeros(n_nodes)
    for first in range(0, len(documents), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        lengths += np.bincount(documents[some], weights=counts[some], minlength=n_nodes)
    return lengths


def _norms(lengths: NDArray[np.float64], b: float) -> tuple[NDArray[np.float64], int]:
    """(norms, number of documents that have a length)."""
    n_documents = int(np.count_nonzero(lengths))
    mean = float(lengths.sum()) / max(n_documents, 1)
    relative = lengths / mean if n_documents else lengths
    return (K1 * (1 - b + b * relative)).astype(np.float64), n_documents
