"""What a node is linked with, by distance, direction and kind."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.lookup import Direction, Neighbors
from causalist.model.symbols import NodeKind
from causalist.navigate.edges import known_kinds
from causalist.navigate.reach import edges_into, edges_out_of


def neighbors_of(
    graph: CodeGraph, node: int, *, hops: int, kinds: Sequence[str], direction: Direction, limit: int
) -> tuple[Neighbors, ...]:
    """Edges to nodes that are not nearer than `hops` steps, by hop, direction and kind, each group with at most
    `limit` edges, the most confident first (ties: by number). Two nodes that are equally far show no edge.

    What lies outside of the repository is shown and not stepped through. Raises UsageError for numbers below 1 and
    kinds that do not exist.
    """
    if hops < 1 or limit < 1:
        raise UsageError(f"--hops is {hops} and --limit {limit}; both have to be at least 1")
    edges = graph.edges
    wanted = np.isin(edges.kinds, [EdgeKind[kind.upper()] for kind in known_kinds(kinds)])
    seen = np.zeros(len(graph.nodes), dtype=np.bool_)
    seen[node] = True
    frontier = np.array([node], dtype=np.int64)
    groups: list[Neighbors] = []
    for hop in range(1, hops + 1):
        found: list[NDArray[np.int64]] = []
        for way in (Direction.IN, Direction.OUT):
            if direction not in (way, Direction.BOTH):
                continue
            numbers = edges_into(graph, frontier) if way is Direction.IN else edges_out_of(graph, frontier)
            ends = edges.sources if way is Direction.IN else edges.targets
            numbers = numbers[wanted[numbers] & ~seen[ends[numbers]]]
            groups += _groups(graph, hop, way, numbers, limit)
            found.append(ends[numbers].astype(np.int64))
        frontier = np.unique(np.concatenate(found))
        seen[frontier] = True
        frontier = frontier[graph.nodes.kinds[frontier] != NodeKind.EXTERNAL]
    return tuple(groups)


def _groups(graph: CodeGraph, hop: int, way: Direction, numbers: NDArray[np.int64], limit: int) -> list[Neighbors]:
    edges = graph.edges
    best_first = numbers[np.lexsort((numbers, -edges.confidences[numbers]))]
    groups = []
    for kind in EdgeKind:
        own = best_first[edges.kinds[best_first] == kind]
        if len(own):
            shown = tuple(graph.edge(number) for number in own[:limit].tolist())
            ends = (edges.sources if way is Direction.IN else edges.targets)[own[:limit]].tolist()
            places = tuple((graph.layer(end), graph.tier(end)) for end in ends)
            groups.append(Neighbors(hop, way, kind.label, len(own), shown, places))
    return groups
