"""What a change reaches: everything that uses it, and what uses that."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import ORDERING_KINDS, CodeGraph
from causalist.model.navigate import Affected


def affected_by(
    graph: CodeGraph, changed: Sequence[int], *, max_depth: int | None, min_confidence: float
) -> tuple[Affected, ...]:
    """Nodes from which edges of use lead to one of `changed` or to what it contains, by depth, then id.

    Edges below `min_confidence` do not count. Of several edges by which a node depends on what is one step nearer, the
    most confident is given (ties: the lowest number). Breadth first, a level at a time: linear in nodes and edges, but
    for sorting each level's edges.
    """
    edges = graph.edges
    usable = np.isin(edges.kinds, sorted(ORDERING_KINDS)) & (edges.confidences >= min_confidence)
    reached = np.zeros(len(graph.nodes), dtype=np.bool_)
    frontier = _with_contents(graph, changed)
    reached[frontier] = True
    found: list[Affected] = []
    depth = 0
    while len(frontier) and (max_depth is None or depth < max_depth):
        depth += 1
        numbers = _incoming(graph, frontier)
        numbers = numbers[usable[numbers]]
        numbers = numbers[~reached[edges.sources[numbers]]]
        best_first = numbers[np.lexsort((numbers, -edges.confidences[numbers], edges.sources[numbers]))]
        frontier, first = np.unique(edges.sources[best_first], return_index=True)
        reached[frontier] = True
        for node, number in zip(frontier.tolist(), best_first[first].tolist(), strict=True):
            found.append(Affected(graph.nodes.ids[node], depth, graph.edge(number)))
    return tuple(found)


def _with_contents(graph: CodeGraph, nodes: Sequence[int]) -> NDArray[np.int64]:
    """`nodes` and all that stands inside of them, ascending."""
    parents = graph.nodes.parents
    inside = np.zeros(len(graph.nodes) + 1, dtype=np.bool_)  # the last entry answers for nodes without a parent
    inside[np.asarray(nodes, dtype=np.int64)] = True
    while True:
        more = inside[parents] & ~inside[:-1]
        if not more.any():
            return np.flatnonzero(inside[:-1])
        inside[:-1] |= more


def _incoming(graph: CodeGraph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of all edges that lead to one of `nodes`."""
    edges = graph.edges
    starts = edges.incoming_indptr[nodes]
    lengths = edges.incoming_indptr[nodes + 1] - starts
    first = np.cumsum(lengths) - lengths
    places = np.arange(int(lengths.sum())) + np.repeat(starts - first, lengths)
    return np.asarray(edges.incoming[places], dtype=np.int64)
