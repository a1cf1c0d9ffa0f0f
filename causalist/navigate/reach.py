"""Sets of nodes: what one contains, what can be reached, and the edges that lead into a set or out of it."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph

_REPEATED = re.compile(r"~\d+$")


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


def namesakes(graph: CodeGraph, node: int) -> list[int]:
    """Other nodes whose ids differ by the number behind a repeated name alone: overloads, getters and setters."""
    ids = graph.nodes.ids
    own = ids[node]
    if "::" not in own:
        return []
    name = _REPEATED.sub("", own)
    repeated = [other for other in ids.prefix_range(f"{name}~") if ids[other].removeprefix(f"{name}~").isdigit()]
    return [other for other in (ids.position(name), *repeated) if other not in (node, -1)]


def as_one(graph: CodeGraph, nodes: Sequence[int]) -> NDArray[np.int64]:
    """`nodes`, their namesakes and all that stands inside of them, ascending: a use of an overloaded name leads to one
    of the overloads, and means all. Members by name count, since some languages define them beside their type."""
    ids = graph.nodes.ids
    meant = [each for node in nodes for each in (node, *namesakes(graph, node))]
    members = [member for node in meant if "::" in ids[node] for member in ids.prefix_range(f"{ids[node]}.")]
    return with_contents(graph, [*meant, *members])


def reachable(
    graph: CodeGraph, start: NDArray[np.int64], usable: NDArray[np.bool_], *, backward: bool
) -> NDArray[np.bool_]:
    """Shape (n_nodes,): whether edges with `usable`, (n_edges,), lead from `start` to the node; `backward`: from the
    node to `start`. Breadth first, linear in nodes and edges."""
    edges = graph.edges
    reached = np.zeros(len(graph.nodes), dtype=np.bool_)
    reached[start] = True
    frontier = start
    while len(frontier):
        numbers = edges_into(graph, frontier) if backward else edges_out_of(graph, frontier)
        numbers = numbers[usable[numbers]]
        ends = edges.sources[numbers] if backward else edges.targets[numbers]
        frontier = np.unique(ends[~reached[ends]]).astype(np.int64)
        reached[frontier] = True
    return reached


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
