"""Sets of nodes: what one contains, and the edges that lead into a set or out of it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph


def with_contents(graph: CodeGraph, nodes: Sequence[int]) -> NDArray[np.int64]:
    """`nodes` and all that stands inside of them, ascending."""
    parents = graph.nodes.parents
    inside = np.zeros(len(graph.nodes) + 1, dtype=np.bool_)  # the last entry answers for nodes without a parent
    inside[np.asarray(nodes, dtype=np.int64)] = True
    while True:
        more = inside[parents] & ~inside[:-1]
        if not more.any():
            return np.flatnonzero(inside[:-1])
        inside[:-1] |= more


def edges_into(graph: CodeGraph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of all edges that lead to one of `nodes`, by target."""
    places = _ranges(graph.edges.incoming_indptr, nodes)
    return np.asarray(graph.edges.incoming[places], dtype=np.int64)


def edges_out_of(graph: CodeGraph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of all edges that leave one of `nodes`, by source."""
    return _ranges(graph.edges.indptr, nodes)


def _ranges(indptr: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = indptr[rows]
    lengths = indptr[rows + 1] - starts
    first = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(starts - first, lengths), dtype=np.int64)
