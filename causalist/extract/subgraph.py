"""Nodes and edges of the subgraph of an answer, at the level of definitions or of files.

In: a `CodeGraph` and chosen nodes. Out: `SubgraphEdge`s between positions among the chosen nodes, then hits and edges
with ids, labels and 1-based lines. No edge is left out for a low confidence. `causal_order` sorts the nodes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.answer import Level
from causalist.model.graph import ROUTE_KINDS, USE_KINDS, CodeGraph, Edge, EdgeKind, SubgraphEdge
from causalist.model.scores import Hit, Hop
from causalist.model.symbols import NodeKind, split_id

_REPEATING = frozenset({EdgeKind.READS, EdgeKind.TESTS})
_NO_ROW = np.iinfo(np.int32).max


def extract_subgraph(graph: CodeGraph, chosen: Sequence[int]) -> list[SubgraphEdge]:
    """Return all edges between nodes of `chosen` (distinct node indices), by ascending edge number.

    Last come edges from what asks for a route to what serves it; the route itself is seldom chosen. Only edges that
    leave a chosen node or such a route are looked at. Raises `UsageError` for nodes that do not exist or come twice.
    """
    position = _positions(graph, chosen)
    edges = graph.edges
    outgoing = _outgoing_numbers(graph, np.flatnonzero(position >= 0))
    numbers = outgoing[position[edges.targets[outgoing]] >= 0]
    columns = (
        position[edges.sources[numbers]],
        position[edges.targets[numbers]],
        edges.kinds[numbers],
        edges.rules[numbers],
        edges.confidences[numbers],
        edges.candidates[numbers],
        edges.counts[numbers],
        edges.rows[numbers],
        numbers,
    )
    found = [SubgraphEdge(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]
    is_route = graph.nodes.kinds[edges.targets[outgoing]] == NodeKind.EXTERNAL
    asking = outgoing[is_route & np.isin(edges.kinds[outgoing], ROUTE_KINDS) & (position[edges.targets[outgoing]] < 0)]
    return found + _edges_over_routes(graph, position, asking)


def _edges_over_routes(graph: CodeGraph, position: NDArray[np.int64], asking: NDArray[np.int64]) -> list[SubgraphEdge]:
    """Return the edges from the sources of `asking` over a route that is not chosen to what serves it.

    `confidence` is that of both edges together, the rest is that of the request.
    """
    edges = graph.edges
    best: dict[tuple[int, int, int], SubgraphEdge] = {}
    for number in asking.tolist():
        source, kind = int(position[edges.sources[number]]), int(edges.kinds[number])
        route = int(edges.targets[number])
        for onward in range(int(edges.indptr[route]), int(edges.indptr[route + 1])):
            target = int(position[edges.targets[onward]])
            if target < 0 or target == source or edges.kinds[onward] not in ROUTE_KINDS:
                continue
            confidence = float(edges.confidences[number] * edges.confidences[onward])
            key = (source, target, kind)
            if key not in best or best[key].confidence < confidence:
                best[key] = SubgraphEdge(
                    source, target, kind, int(edges.rules[number]), confidence, int(edges.candidates[number]),
                    int(edges.counts[number]), int(edges.rows[number]), -1,
                )  # fmt: skip
    return [best[key] for key in sorted(best)]


def lift_to_files(graph: CodeGraph, files: Sequence[int]) -> list[SubgraphEdge]:
    """Return the edges between different chosen files that result from the edges of their nodes, without `contains`.

    There is one per (source file, target file, kind), in that order. `confidence` is the highest, `rule` and
    `candidates` are those of the most confident edge (ties: the lowest number). `n` is the sum, `row` the first site's
    in the source file, `number` -1. `files` are distinct indices of file nodes; a file node itself counts as one of its
    nodes.

    Raises `UsageError` for nodes that do not exist, are repeated, or are not files.
    """
    position = _positions(graph, files)
    edges, file_of = graph.edges, graph.nodes.files
    for node in files:
        if file_of[node] != node:
            raise UsageError(f"{graph.nodes.ids[node]} is not a file; only edges between files are lifted")
    inside = np.append(position, -1)[file_of] >= 0  # the appended entry answers for externals, whose file is -1
    numbers = _outgoing_numbers(graph, np.flatnonzero(inside))
    sources, targets = file_of[edges.sources[numbers]], file_of[edges.targets[numbers]]
    lifted = inside[edges.targets[numbers]] & (sources != targets) & (edges.kinds[numbers] != EdgeKind.CONTAINS)
    numbers, sources, targets = numbers[lifted], sources[lifted], targets[lifted]
    if len(numbers) == 0:
        return []

    kinds, confidences = edges.kinds[numbers], edges.confidences[numbers]
    by_group = np.lexsort((numbers, -confidences, kinds, targets, sources))
    numbers, sources, targets, kinds = numbers[by_group], sources[by_group], targets[by_group], kinds[by_group]
    changes = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1]) | (kinds[1:] != kinds[:-1])
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    rows = np.where(edges.rows[numbers] >= 0, edges.rows[numbers], _NO_ROW)
    first_rows = np.minimum.reduceat(rows, starts)
    best = numbers[starts]
    columns = (
        position[sources[starts]],
        position[targets[starts]],
        kinds[starts],
        edges.rules[best],
        edges.confidences[best],
        edges.candidates[best],
        np.add.reduceat(edges.counts[numbers].astype(np.int64), starts),
        np.where(first_rows == _NO_ROW, -1, first_rows),
        np.full(len(starts), -1),
    )
    return [SubgraphEdge(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]


def without_implied_edges(edges: Sequence[SubgraphEdge]) -> list[SubgraphEdge]:
    """Return the edges without those that a more specific edge between the same nodes implies.

    A call, reference or import implies that its target is read or tested.
    """
    used = {(edge.source, edge.target) for edge in edges if edge.kind in USE_KINDS}
    return [edge for edge in edges if edge.kind not in _REPEATING or (edge.source, edge.target) not in used]


def _positions(graph: CodeGraph, chosen: Sequence[int]) -> NDArray[np.int64]:
    """Return the position of each node among the chosen, -1 for all others; shape (n_nodes,)."""
    n_nodes = len(graph.nodes)
    nodes = np.asarray(chosen, dtype=np.int64)
    outside = nodes[(nodes < 0) | (nodes >= n_nodes)]
    if len(outside):
        raise UsageError(f"node {outside[0]} does not exist; the graph has {n_nodes} nodes")
    position = np.full(n_nodes, -1, dtype=np.int64)
    position[nodes] = np.arange(len(nodes))
    twice = np.flatnonzero(position[nodes] != np.arange(len(nodes)))
    if len(twice):
        raise UsageError(f"{graph.nodes.ids[int(nodes[twice[0]])]} is chosen twice; name each node once")
    return position


def _outgoing_numbers(graph: CodeGraph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ascending numbers of all edges that leave one of `nodes` (ascending)."""
    starts, stops = graph.edges.indptr[nodes], graph.edges.indptr[nodes + 1]
    lengths = stops - starts
    first = np.cumsum(lengths) - lengths  # where each node's edges begin in the result
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(starts - first, lengths), dtype=np.int64)


def hops_between(graph: CodeGraph, paths: Sequence[tuple[Hop, ...]], nodes: Sequence[int], level: Level) -> list[int]:
    """Return the nodes (or, for files, their files) on the paths of hits that are no hits themselves, in order."""
    seen = set(nodes)
    result: list[int] = []
    for path in paths:
        for hop in path:
            number = graph.nodes.ids.position(hop.node)
            if level is Level.FILE:
                number = int(graph.nodes.files[number])
            if number not in seen:
                seen.add(number)
                result.append(number)
    return result


def name_edge(graph: CodeGraph, edge: SubgraphEdge, ids: Sequence[str]) -> Edge:
    """Return an edge of the subgraph with ids, labels and a 1-based line."""
    return Edge(
        source=ids[edge.source],
        target=ids[edge.target],
        kind=EdgeKind(edge.kind).label,
        rule=graph.rule_names[edge.rule],
        confidence=edge.confidence,
        line=edge.row + 1 if edge.row >= 0 else None,
        n=edge.n,
        candidates=edge.candidates,
    )


def hit_of(graph: CodeGraph, node: int, score: float, pagerank: float, path: tuple[Hop, ...]) -> Hit:
    """Return a node as a hit without reasons."""
    nodes = graph.nodes
    node_id = nodes.ids[node]
    file_path, symbol = split_id(node_id)
    return Hit(
        node=node,
        id=node_id,
        path=file_path,
        symbol=symbol,
        kind=graph.kind(node).label,
        start_row=int(nodes.start_rows[node]),
        end_row=int(nodes.end_rows[node]),
        start_byte=int(nodes.start_bytes[node]),
        end_byte=int(nodes.end_bytes[node]),
        signature=nodes.signatures[node],
        doc=nodes.docs[node],
        score=score,
        pagerank=pagerank,
        path_from_seed=path,
        layer=graph.layer(node),
        tier=graph.tier(node),
    )
