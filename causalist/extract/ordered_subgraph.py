"""Nodes and edges of the subgraph of an answer, at the level of definitions or of files, in causal order.

In: a `CodeGraph` and chosen nodes. Out: `SubgraphEdge`s between positions among the chosen nodes, then hits and edges
with ids, labels and 1-based lines. No edge is left out for a low confidence.

The order breaks cycles at their weakest edges, then sorts topologically. In: the edges among n chosen nodes, their
scores and ids. Out: an `OrderedSubgraph` that accounts for every edge. The set of removed edges is minimal (none could
be put back), not minimum: a smallest feedback arc set is NP-hard, and cutting fewer but more certain edges would be the
wrong trade anyway.

A path is the most probable one from a seed to a node, hop by hop, with file and line. In: the graph, the walk's matrix,
the seeds and some targets. Out: one tuple of `Hop`s for each target. A path explains a score and is not the score,
which adds over all paths.
"""

import heapq
import math
from collections import deque
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.answer import Level, Order
from causalist.model.graph import (
    ORDERING_KINDS,
    ROUTE_KINDS,
    SYMMETRIC_KINDS,
    USE_KINDS,
    CodeGraph,
    Edge,
    EdgeKind,
    OrderedSubgraph,
    SubgraphEdge,
    rows_of,
)
from causalist.model.node_ids import NodeKind, Role, split_id
from causalist.model.scores import Hit, Hop, Transition

_REPEATING = frozenset({EdgeKind.READS, EdgeKind.TESTS})
_NO_ROW = np.iinfo(np.int32).max


def extract_subgraph(graph: CodeGraph, chosen: Sequence[int]) -> list[SubgraphEdge]:
    """Return all edges between nodes of `chosen` (distinct node indices), by ascending edge number.

    Last come edges from what asks for a route to what serves it, and from calls of a method to what overrides it; the
    route and the method of an interface are seldom chosen. Only edges that leave a chosen node, or lead to or from such
    a route or method, are looked at. Raises `UsageError` for nodes that do not exist or come twice.
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
    inner_edges = [SubgraphEdge(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]
    is_route = graph.nodes.kinds[edges.targets[outgoing]] == NodeKind.EXTERNAL
    asking = outgoing[is_route & np.isin(edges.kinds[outgoing], ROUTE_KINDS) & (position[edges.targets[outgoing]] < 0)]
    leaving = outgoing[position[edges.targets[outgoing]] < 0]
    return inner_edges + _edges_over_routes(graph, position, asking) + _edges_over_methods(graph, position, leaving)


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


def _edges_over_methods(
    graph: CodeGraph, position: NDArray[np.int64], leaving: NDArray[np.int64]
) -> list[SubgraphEdge]:
    """Return the edges from calls of a method that is not chosen to what is chosen and overrides it.

    `leaving` are the edges from chosen nodes to others. `confidence` is that of both edges together, divided by the
    number of overriding methods outside of tests, which `candidates` counts, too.
    """
    edges, nodes = graph.edges, graph.nodes
    overriding = leaving[edges.kinds[leaving] == EdgeKind.OVERRIDES]
    calling = leaving[edges.kinds[leaving] == EdgeKind.CALLS]
    calling = calling[np.isin(edges.targets[calling], edges.targets[overriding])]
    best: dict[tuple[int, int], SubgraphEdge] = {}
    for number in calling.tolist():
        source, method = int(position[edges.sources[number]]), int(edges.targets[number])
        back = edges.incoming[int(edges.incoming_indptr[method]) : int(edges.incoming_indptr[method + 1])]
        back = back[edges.kinds[back] == EdgeKind.OVERRIDES]
        n_overriding = max(1, int((nodes.roles[edges.sources[back]] != Role.TEST).sum()))
        for over in overriding[edges.targets[overriding] == method].tolist():
            target = int(position[edges.sources[over]])
            confidence = float(edges.confidences[number] * edges.confidences[over]) / n_overriding
            key = (source, target)
            if target != source and (key not in best or best[key].confidence < confidence):
                best[key] = SubgraphEdge(
                    source, target, EdgeKind.CALLS, int(edges.rules[number]), confidence,
                    int(edges.candidates[number]) * n_overriding, int(edges.counts[number]),
                    int(edges.rows[number]), -1,
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
        doc=graph.documentation(node),
        score=score,
        pagerank=pagerank,
        path_from_seed=path,
        layer=graph.layer(node),
        tier=graph.tier(node),
    )


# Scores that differ by less are equal, and the id decides.
SCORE_DECIMALS = 12
_MAX_CLOSURE_NODES = 4096  # of a component; above, a search takes less than its transitive closure


def order_subgraph(
    edges: Sequence[SubgraphEdge], scores: Sequence[float], ids: Sequence[str], order: Order
) -> OrderedSubgraph:
    """Return positions 0 to n - 1 in which causes come before effects.

    Edges of kinds that order, loops aside, are taken by descending (confidence, n), then ascending (source id, target
    id, kind); each is kept that closes no cycle with those kept. So every cycle is broken at its weakest edge. The
    order respects every kept edge; among nodes that may come next, the highest score is next, then the lowest id.
    `dependencies-first` is that order reversed. `kept`, `removed`, `unordered` and `loops` are strongest first.

    `scores` and `ids` have one entry for each position. Time is linear in the edges except those inside a strongly
    connected component; a component of m nodes needs m * m / 8 bytes, 2 MB at most, or memory linear in its edges.

    Raises `UsageError` for lengths that differ, scores that are not finite, and edges to positions that do not exist.

    >>> def call(source, target, confidence):
    ...     return SubgraphEdge(source, target, 2, 0, confidence, 1, 1, 0, 0)
    >>> result = order_subgraph([call(0, 1, 0.9), call(1, 2, 0.8), call(2, 0, 0.7), call(1, 1, 0.6)],
    ...                         [0.1, 0.5, 0.9], ["a", "b", "c"], Order.CAUSAL)
    >>> result.order, [(e.source, e.target) for e in result.removed], len(result.kept), len(result.loops)
    ((0, 1, 2), [(2, 0)], 2, 1)
    """
    _check(edges, scores, ids)
    by_strength = sorted(edges, key=lambda e: (-e.confidence, -e.n, ids[e.source], ids[e.target], e.kind, e.number))
    loops, unordered, ordering = [], [], []
    for edge in by_strength:
        if edge.source == edge.target:
            loops.append(edge)
        elif edge.kind in ORDERING_KINDS:
            ordering.append(edge)
        else:
            unordered.append(edge)
    kept, removed = _break_cycles(ordering, len(scores))
    positions = _topological(kept, scores, ids)
    if order is Order.DEPENDENCIES_FIRST:
        positions.reverse()
    return OrderedSubgraph(tuple(positions), tuple(kept), tuple(removed), tuple(unordered), tuple(loops))


def _break_cycles(edges: Sequence[SubgraphEdge], n_nodes: int) -> tuple[list[SubgraphEdge], list[SubgraphEdge]]:
    """Return (kept, removed) of `edges`, which are considered in the given order."""
    is_kept = select_acyclic([edge.source for edge in edges], [edge.target for edge in edges], n_nodes)
    kept = [edge for edge, is_in in zip(edges, is_kept, strict=True) if is_in]
    return kept, [edge for edge, is_in in zip(edges, is_kept, strict=True) if not is_in]


def select_acyclic(sources: Sequence[int], targets: Sequence[int], n_nodes: int) -> list[bool]:
    """Return for each edge, taken in the given order, True if it closes no cycle with those kept before it.

    A cycle lies within one strongly connected component, so edges between components are kept unseen.

    >>> select_acyclic([0, 1, 2, 0], [1, 2, 0, 2], 3)
    [True, True, False, True]
    """
    component, local, sizes = _components(sources, targets, n_nodes)
    inside: dict[int, list[int]] = {}
    for i, (source, target) in enumerate(zip(sources, targets, strict=True)):
        if component[source] == component[target]:
            inside.setdefault(component[source], []).append(i)
    is_kept = [True] * len(sources)
    for c, numbers in inside.items():
        select = _select_by_closure if sizes[c] <= _MAX_CLOSURE_NODES else _select_by_order
        ends = [local[sources[i]] for i in numbers], [local[targets[i]] for i in numbers]
        for i, is_in in zip(numbers, select(*ends, sizes[c]), strict=True):
            is_kept[i] = is_in
    return is_kept


def _select_by_closure(sources: Sequence[int], targets: Sequence[int], n_nodes: int) -> list[bool]:
    """Return `select_acyclic` within one component.

    `closure` is the transitive closure of what is kept, a row of bits for each node: an edge u -> v closes a cycle when
    v reaches u, and keeping it gives all that reach u and do not reach v yet whatever v reaches.
    """
    closure = np.packbits(np.eye(n_nodes, dtype=np.bool_), axis=1, bitorder="little")
    is_kept = []
    for u, v in zip(sources, targets, strict=True):
        closes = bool(closure[v, u >> 3] >> (u & 7) & 1)
        if not closes and not closure[u, v >> 3] >> (v & 7) & 1:
            reaches_u, reaches_v = closure[:, u >> 3] >> (u & 7), closure[:, v >> 3] >> (v & 7)
            closure[np.flatnonzero(reaches_u & ~reaches_v & 1)] |= closure[v]
        is_kept.append(not closes)
    return is_kept


def _select_by_order(sources: Sequence[int], targets: Sequence[int], n_nodes: int) -> list[bool]:
    """Return `select_acyclic` within one component, in memory linear in its edges.

    Nodes are kept in a topological order of the kept edges (Pearce and Kelly 2006). An edge that agrees with it costs
    nothing. Another one costs a search among the nodes between its ends, which finds the cycle, or what has to change
    places. The first order is that of a search depth first along all edges, with which most of them agree.
    """
    place = [0] * n_nodes
    for i, node in enumerate(_reverse_postorder(sources, targets, n_nodes)):
        place[node] = i
    successors: list[list[int]] = [[] for _ in range(n_nodes)]
    predecessors: list[list[int]] = [[] for _ in range(n_nodes)]
    is_kept = []
    for source, target in zip(sources, targets, strict=True):
        closes = source == target
        if place[source] > place[target]:
            after = _reach(target, successors, place, place[target], place[source])
            closes = source in after
            if not closes:
                before = _reach(source, predecessors, place, place[target], place[source])
                moved = sorted(before, key=place.__getitem__) + sorted(after, key=place.__getitem__)
                for node, free in zip(moved, sorted(place[node] for node in moved), strict=True):
                    place[node] = free
        if not closes:
            successors[source].append(target)
            predecessors[target].append(source)
        is_kept.append(not closes)
    return is_kept


def _reverse_postorder(sources: Sequence[int], targets: Sequence[int], n_nodes: int) -> list[int]:
    """Return the nodes in the reverse of the order in which a search depth first leaves them, strong edges first."""
    successors: list[list[int]] = [[] for _ in range(n_nodes)]
    for source, target in zip(sources, targets, strict=True):
        successors[source].append(target)
    order, seen = [], [False] * n_nodes
    for root in range(n_nodes):
        if seen[root]:
            continue
        seen[root] = True
        path = [(root, iter(successors[root]))]
        while path:
            node, remaining = path[-1]
            following = next((target for target in remaining if not seen[target]), None)
            if following is None:
                order.append(node)
                path.pop()
            else:
                seen[following] = True
                path.append((following, iter(successors[following])))
    return order[::-1]


def _reach(start: int, neighbors: Sequence[Sequence[int]], place: Sequence[int], first: int, last: int) -> set[int]:
    """Return the nodes in the places `first` to `last` that are reachable from `start` through such nodes."""
    reached, waiting = {start}, [start]
    while waiting:
        for node in neighbors[waiting.pop()]:
            if first <= place[node] <= last and node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached


def _components(sources: Sequence[int], targets: Sequence[int], n_nodes: int) -> tuple[list[int], list[int], list[int]]:
    """Return the strongly connected components (Tarjan 1972, without recursion).

    Returns the component of each node, the number of each node inside its component, and the components' sizes.
    """
    successors: list[list[int]] = [[] for _ in range(n_nodes)]
    for source, target in zip(sources, targets, strict=True):
        successors[source].append(target)
    component, local, sizes = [-1] * n_nodes, [0] * n_nodes, list[int]()
    number, low = [-1] * n_nodes, [0] * n_nodes
    open_nodes: list[int] = []
    n_found = 0
    for root in range(n_nodes):
        if number[root] >= 0:
            continue
        path = [(root, 0)]
        while path:
            node, seen = path.pop()
            if seen == 0:
                number[node] = low[node] = n_found
                n_found += 1
                open_nodes.append(node)
            else:
                low[node] = min(low[node], low[successors[node][seen - 1]])
            for i in range(seen, len(successors[node])):
                target = successors[node][i]
                if number[target] < 0:
                    path += [(node, i + 1), (target, 0)]
                    break
                if component[target] < 0:
                    low[node] = min(low[node], number[target])
            else:
                if low[node] == number[node]:
                    size = 0
                    while component[node] < 0:
                        member = open_nodes.pop()
                        component[member], local[member] = len(sizes), size
                        size += 1
                    sizes.append(size)
    return component, local, sizes


def _topological(kept: Sequence[SubgraphEdge], scores: Sequence[float], ids: Sequence[str]) -> list[int]:
    """Order nodes by Kahn's algorithm with a heap: of all nodes whose sources are placed, the best is next."""
    successors: list[list[int]] = [[] for _ in scores]
    waiting = [0] * len(scores)
    for edge in kept:
        successors[edge.source].append(edge.target)
        waiting[edge.target] += 1
    keys = [
        (-round(score, SCORE_DECIMALS), node_id, i) for i, (score, node_id) in enumerate(zip(scores, ids, strict=True))
    ]
    ready = [keys[i] for i, n in enumerate(waiting) if n == 0]
    heapq.heapify(ready)
    placed = []
    while ready:
        _, _, node = heapq.heappop(ready)
        placed.append(node)
        for target in successors[node]:
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, keys[target])
    return placed


def _check(edges: Sequence[SubgraphEdge], scores: Sequence[float], ids: Sequence[str]) -> None:
    if len(scores) != len(ids):
        raise UsageError(f"there are {len(scores)} scores for {len(ids)} ids; each node needs both")
    for score, node_id in zip(scores, ids, strict=True):
        if not math.isfinite(score):
            raise UsageError(f"the score of {node_id} is {score}; scores must be finite")
    for edge in edges:
        if not (0 <= edge.source < len(ids) and 0 <= edge.target < len(ids)):
            raise UsageError(f"an edge joins positions {edge.source} and {edge.target}; there are {len(ids)} nodes")


_FEW_ENTRIES = 200_000  # that are all gone over
_PICKING_COSTS = 8  # as much an entry as going over all of them


def paths_from_seeds(
    graph: CodeGraph,
    transition: Transition,
    seeds: NDArray[np.float64],
    targets: Sequence[int],
    *,
    kind_weights: NDArray[np.float64],
) -> dict[int, tuple[Hop, ...]]:
    """Return the most probable path from any seed to each target; () if no path exists.

    A path maximizes `seeds[i0] * M[i1, i0] * M[i2, i1] * ...` over seeds i0 and paths i0, i1, i2, ... to the target.
    This is the probability that a walker starts at i0 and takes exactly this path. For a target that is a seed, its own
    mass with no step competes with the other paths. Ties go to the path with fewer hops, then, from the target back, to
    the lower node.

    `seeds`: float64, (n_nodes,), not negative. `kind_weights`: float64, (2, n_edge_kinds), the weight of a link along
    and against an edge of each kind in the walk (`WalkWeights.table()`). With the confidence it decides which of
    several edges between two nodes names the hop (ties: the lower kind, then forward).

    A hop represents one edge: `edge` is "calls", or "calls (back)" if it was walked from its target to its source.
    `path` and `line` give the position of the edge, which is in the file of *its source*. The first hop is the seed,
    with its file and first line.

    Raises `UsageError` for arrays of the wrong shape, negative seeds, and targets that do not exist.
    """
    n_nodes = len(graph.nodes)
    if seeds.shape != (n_nodes,) or len(transition.indptr) != n_nodes + 1:
        raise UsageError(f"seeds have shape {seeds.shape} and M {len(transition.indptr) - 1} rows for {n_nodes} nodes")
    if kind_weights.shape != (2, max(EdgeKind) + 1):
        raise UsageError(f"weights of kinds have shape {kind_weights.shape}; they must be {(2, max(EdgeKind) + 1)}")
    if not bool(np.all(seeds >= 0)):
        raise UsageError("a seed is negative or not a number; seeds must not be negative")
    for target in targets:
        if not 0 <= target < n_nodes:
            raise UsageError(f"node {target} does not exist; the graph has {n_nodes} nodes")

    best = best_products(transition, seeds, np.asarray(targets, dtype=np.int64), graph)
    paths = {}
    for target in targets:
        way = _trace(transition, seeds, best, target)
        hops = [_seed_hop(graph, way[0])] if way else []
        hops += [_hop(graph, kind_weights, i, j) for i, j in pairwise(way)]
        paths[target] = tuple(hops)
    return paths


def best_products(
    transition: Transition,
    seeds: NDArray[np.float64],
    targets: NDArray[np.int64],
    graph: CodeGraph | None = None,
) -> NDArray[np.float64]:
    """Return the largest product of a path to each node: float64, (n_nodes,), 0 if no path exists.

        best[j] = max(seeds[j], max(M[j, i] * best[i] for all i))

    It is computed by rounds of whole-array relaxation (Bellman and Ford, with products for sums). Entries are at most
    1, so paths gain nothing from cycles, and there are as many rounds as hops in the longest best path. Dijkstra's
    algorithm visits fewer nodes, but one at a time in Python, and needs M by columns, which costs a sort. The rounds
    end as soon as no value that still changes can reach a target: then the values of the targets and all values above
    the smallest of these are final, others may be too small. With the `graph` of M, a round visits only the neighbors
    of the nodes that changed in the previous one, as long as these are few, since all others keep their values.

    >>> m = Transition(np.array([0, 0, 1, 3], dtype=np.int32), np.array([0, 0, 1], dtype=np.int32),
    ...                np.array([0.5, 0.1, 0.4]), np.array([2, 2, 2], dtype=np.int32), np.ones(3, dtype=np.bool_))
    >>> best_products(m, np.array([0.8, 0.2, 0.0]), np.array([2])).round(3).tolist()  # 0 -> 1 -> 2, not 0 -> 2
    [0.8, 0.4, 0.16]
    """
    best = np.array(seeds, dtype=np.float64)
    rows = np.flatnonzero(np.diff(transition.indptr))
    if len(rows) == 0 or len(targets) == 0:
        return best
    moved = np.flatnonzero(best)
    for _ in range(len(best)):  # no best path has more hops than there are nodes
        some = None if graph is None else _near(graph, transition, moved)
        places = rows if some is None else some
        largest = (_largest_of_all if some is None else _largest_of)(transition, best, places)
        changed = largest > best[places]
        if not changed.any():
            break
        moved = places[changed]
        best[moved] = largest[changed]
        # What is no larger than what all targets have gives them nothing.
        moved = moved[best[moved] > best[targets].min()]
        if len(moved) == 0:
            break
    return best


def _near(graph: CodeGraph, transition: Transition, nodes: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the neighbors of some nodes with incoming entries, ascending; None if visiting all is as fast."""
    edges = graph.edges
    if len(transition.weights) < _FEW_ENTRIES:
        return None
    out, _ = rows_of(edges.indptr, nodes)
    back, _ = rows_of(edges.incoming_indptr, nodes)
    if (len(out) + len(back)) * _PICKING_COSTS > len(edges):
        return None
    is_near = np.zeros(len(graph.nodes), dtype=np.bool_)
    is_near[edges.targets[out]] = True
    is_near[edges.sources[edges.incoming[back]]] = True
    near = np.flatnonzero(is_near)
    n_entries = transition.indptr[near + 1] - transition.indptr[near]
    return near[n_entries > 0] if int(n_entries.sum()) * _PICKING_COSTS < len(transition.weights) else None


def _largest_of(transition: Transition, best: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest one-step product of each of some rows, none of them empty."""
    entries, owners = rows_of(transition.indptr, rows)
    products = best[transition.indices[entries]] * transition.weights[entries]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    return np.maximum.reduceat(products, starts) if len(starts) else products


def _largest_of_all(transition: Transition, best: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    products = np.take(best, transition.indices)
    products *= transition.weights
    return np.asarray(np.maximum.reduceat(products, transition.indptr[rows]))


def _trace(transition: Transition, seeds: NDArray[np.float64], best: NDArray[np.float64], target: int) -> list[int]:
    """Return the nodes of the best path from a seed to `target`; empty if there is no path.

    Breadth first from the target backwards over entries that attain the best product exactly: the same multiplication
    was made before, so that no tolerance is needed.
    """
    if best[target] <= 0:
        return []
    onward = {target: -1}
    queue = deque([target])
    while queue:
        node = queue.popleft()
        if best[node] == seeds[node]:
            way = []
            while node >= 0:
                way.append(node)
                node = onward[node]
            return way
        entries = slice(int(transition.indptr[node]), int(transition.indptr[node + 1]))
        sources = transition.indices[entries]
        attained = sources[transition.weights[entries] * best[sources] == best[node]]
        for source in attained.tolist():
            if source not in onward:
                onward[source] = node
                queue.append(source)
    raise AssertionError("a best product has no path")  # cannot happen: each product was attained by some entry


def _seed_hop(graph: CodeGraph, node: int) -> Hop:
    return Hop(graph.nodes.ids[node], None, _path(graph, node), int(graph.nodes.start_rows[node]) + 1)


def _hop(graph: CodeGraph, kind_weights: NDArray[np.float64], i: int, j: int) -> Hop:
    """Return the step from i to j, named by the edge that contributes most to M[j, i]."""
    forward = [(number, 0) for number in _between(graph, i, j)]
    backward = [(number, 1) for number in _between(graph, j, i)]
    edges = graph.edges

    def strength(link: tuple[int, int]) -> tuple[float, int, int]:
        number, against = link
        kind = int(edges.kinds[number])
        return -float(kind_weights[against, kind] * edges.confidences[number]), kind, against

    links = forward + backward
    if not links:
        raise UsageError(f"M leads from node {i} to node {j}, but the graph has no edge; they do not belong together")
    number, against = min(links, key=strength)
    kind = EdgeKind(int(edges.kinds[number]))
    label = f"{kind.label} (back)" if against and kind not in SYMMETRIC_KINDS else kind.label
    row = int(edges.rows[number])
    return Hop(graph.nodes.ids[j], label, _path(graph, int(edges.sources[number])), row + 1 if row >= 0 else None)


def _between(graph: CodeGraph, source: int, target: int) -> range:
    """Return the numbers of the edges from `source` to `target`; a source's edges are sorted by target."""
    edges = graph.edges
    start, stop = int(edges.indptr[source]), int(edges.indptr[source + 1])
    low, high = np.searchsorted(edges.targets[start:stop], [target, target + 1])
    return range(start + int(low), start + int(high))


def _path(graph: CodeGraph, node: int) -> str | None:
    """Return the path of the file that contains a node; None if no file does."""
    file = int(graph.nodes.files[node])
    return split_id(graph.nodes.ids[file])[0] if file >= 0 else None
