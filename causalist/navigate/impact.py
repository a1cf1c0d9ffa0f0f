"""What a change reaches: everything that uses it, and what uses that."""

from collections.abc import Sequence

import numpy as np

from causalist.model.graph import ORDERING_KINDS, CodeGraph
from causalist.model.navigate import Affected
from causalist.navigate.reach import edges_into, with_contents


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
    frontier = with_contents(graph, changed)
    reached[frontier] = True
    found: list[Affected] = []
    depth = 0
    while len(frontier) and (max_depth is None or depth < max_depth):
        depth += 1
        numbers = edges_into(graph, frontier)
        numbers = numbers[usable[numbers]]
        numbers = numbers[~reached[edges.sources[numbers]]]
        best_first = numbers[np.lexsort((numbers, -edges.confidences[numbers], edges.sources[numbers]))]
        frontier, first = np.unique(edges.sources[best_first], return_index=True)
        reached[frontier] = True
        for node, number in zip(frontier.tolist(), best_first[first].tolist(), strict=True):
            found.append(Affected(graph.nodes.ids[node], depth, graph.edge(number)))
    return tuple(found)
