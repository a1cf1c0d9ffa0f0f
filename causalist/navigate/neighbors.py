"""Neighbors of a node by distance, direction and kind, and the most probable path between two nodes.

In: an `Index` and nodes. Out: `Neighbor`s, `GraphPath`s and edges `co_changes`.

Files that change together are linked by edges that the graph does not hold. The graph follows from the files alone;
co-changes are known only from commits, so their edges are made from the history on request.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.extract import hit_of, paths_from_seeds
from causalist.model.graph import ORDERING_KINDS, SYMMETRIC_KINDS, CodeGraph, Edge, EdgeKind
from causalist.model.index import Index
from causalist.model.lookup import DefinitionDetails, Direction, GraphPath, Neighbors
from causalist.model.scores import Hit, Hop, Transition
from causalist.model.symbols import NodeKind, Role, split_id
from causalist.navigate.edges import (
    calls_to,
    check_edge_kinds,
    overridden_ids,
    overriding_ids,
)
from causalist.navigate.implicit_calls import class_of_constructor, find_constructors_run, find_implicit_uses
from causalist.rank import WalkWeights


def list_neighbors(
    graph: CodeGraph, node: int, *, hops: int, kinds: Sequence[str], direction: Direction, limit: int
) -> tuple[Neighbors, ...]:
    """Return the edges to nodes that are at least `hops` steps away, grouped by hop, direction and kind.

    Each group has at most `limit` edges, the most confident first (ties: by number). Edges between two nodes of equal
    distance are left out.

    Nodes outside of the repository are shown and not expanded. Calls of a class lead to its constructors, and a step
    along one continues from these, too. Raises UsageError for numbers below 1 and kinds that do not exist.
    """
    if hops < 1 or limit < 1:
        raise UsageError(f"--hops and --limit must be at least 1, not {hops} and {limit}")
    edges = graph.edges
    wanted = np.isin(edges.kinds, [EdgeKind[kind.upper()] for kind in check_edge_kinds(kinds)])
    is_seen = np.zeros(len(graph.nodes), dtype=np.bool_)
    is_seen[node] = True
    frontier = np.array([node], dtype=np.int64)
    groups: list[Neighbors] = []
    constructors: tuple[int, ...] = ()
    for hop in range(1, hops + 1):
        found: list[NDArray[np.int64]] = []
        for toward in (Direction.IN, Direction.OUT):
            if direction not in (toward, Direction.BOTH):
                continue
            numbers = _edges_into(graph, frontier) if toward is Direction.IN else graph.edges_out_of(frontier)
            ends = edges.sources if toward is Direction.IN else edges.targets
            numbers = numbers[wanted[numbers] & ~is_seen[ends[numbers]]]
            groups += _groups(graph, hop, toward, numbers, limit)
            found.append(ends[numbers].astype(np.int64))
            if toward is Direction.OUT:
                called = ends[numbers[edges.kinds[numbers] == EdgeKind.CALLS]]
                constructors = find_constructors_run(graph, np.unique(called).tolist())
        frontier = np.unique(np.concatenate(found))
        is_seen[frontier] = True
        frontier = np.union1d(frontier, np.array(constructors, dtype=np.int64))
        frontier = frontier[graph.nodes.kinds[frontier] != NodeKind.EXTERNAL]
    return tuple(groups)


def _edges_into(graph: CodeGraph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all edges that lead to one of `nodes`, and of calls of classes that run one of them."""
    calls = [use.number for use in find_implicit_uses(graph, nodes.tolist()) if use.is_call]
    return np.unique(np.concatenate([graph.edges_into(nodes), np.array(calls, dtype=np.int64)]))


def _groups(
    graph: CodeGraph, hop: int, direction: Direction, numbers: NDArray[np.int64], limit: int
) -> list[Neighbors]:
    edges = graph.edges
    best_first = numbers[np.lexsort((numbers, -edges.confidences[numbers]))]
    groups = []
    for kind in EdgeKind:
        own = best_first[edges.kinds[best_first] == kind]
        if len(own):
            listed_edges = tuple(graph.edge(number) for number in own[:limit].tolist())
            ends = (edges.sources if direction is Direction.IN else edges.targets)[own[:limit]].tolist()
            layers = tuple((graph.layer(end), graph.tier(end)) for end in ends)
            groups.append(Neighbors(hop, direction, kind.label, len(own), listed_edges, layers))
    return groups


RULE = "history"
# A changelog or a lock file changes with everything, which says nothing of what else to look at.
_ROLES = (Role.CODE, Role.TEST)
# Chosen on commits of the first repositories of "Files that change together" in docs/benchmarks.md.
USE_SHARE = 0.05  # of the users that run a changed file, those that change with it
LEAST_USUAL = 0.1  # probability: of files below it, one of 25 changed as well
STRENGTH_ODDS = 6.0  # a strength divides each common commit by the number of its files


def list_neighbors_and_co_changes(
    index: Index, node: int, *, hops: int, kinds: Sequence[str], direction: Direction, limit: int
) -> tuple[Neighbors, ...]:
    """Return `list_neighbors`, preceded by the co-changes of the node's file if that kind is queried."""
    found = list_neighbors(index.graph, node, hops=hops, kinds=kinds, direction=direction, limit=limit)
    if EdgeKind.CO_CHANGES.label not in kinds:
        return found
    edges = list_co_change_edges(index, node)
    if not edges:
        return found
    graph, listed_edges = index.graph, edges[:limit]
    ends = [graph.nodes.ids.position(edge.target) for edge in listed_edges]
    layers = tuple((graph.layer(end), graph.tier(end)) for end in ends)
    return (Neighbors(1, Direction.BOTH, EdgeKind.CO_CHANGES.label, len(edges), listed_edges, layers), *found)


def list_co_change_edges(index: Index, node: int) -> tuple[Edge, ...]:
    """Return the edges from the file of a node to the code and tests that change together with it, strongest first.

    The confidence is the strength of `model.history.CoChanges`, `n` the commits that changed both.
    """
    history, nodes = index.history, index.graph.nodes
    owner = int(nodes.files[node])
    file = int(np.searchsorted(history.nodes, owner))
    if owner < 0 or file == len(history) or history.nodes[file] != owner:
        return ()
    pairs = history.co_changes
    rows = slice(int(pairs.indptr[file]), int(pairs.indptr[file + 1]))
    others = history.nodes[pairs.others[rows]].tolist()
    strengths, counts = pairs.strengths[rows].tolist(), pairs.counts[rows].tolist()
    return tuple(
        Edge(nodes.ids[owner], nodes.ids[other], EdgeKind.CO_CHANGES.label, RULE, strength, None, count)
        for other, strength, count in zip(others, strengths, counts, strict=True)
        if nodes.roles[other] in _ROLES
    )


def combine_chances(use: float, strength: float) -> float:
    """Return the probability that a change of a file changes another one, in [0, 1).

    `use` is the probability that the other one runs it, `strength` that of `CoChanges`; each is 0 if nothing is known.
    The odds are `STRENGTH_ODDS` times the strength. Use counts only where no commit connects the two: it does not order
    those better that commits connect.
    """
    return STRENGTH_ODDS * strength / (1.0 + STRENGTH_ODDS * strength) if strength else USE_SHARE * use


def describe_definition(graph: CodeGraph, node: int) -> DefinitionDetails:
    """Return all details of a node except its source."""
    edges, nodes = graph.edges, graph.nodes
    with_contents = graph.with_contents([node])
    is_inside = np.zeros(len(nodes), dtype=np.bool_)
    is_inside[with_contents] = True
    into, out_of = graph.edges_into(with_contents), graph.edges_out_of(with_contents)
    ordering = np.isin(edges.kinds, sorted(ORDERING_KINDS))
    users = edges.sources[into[ordering[into]]]
    targets = edges.targets[out_of[ordering[out_of]]]
    targets = targets[nodes.kinds[targets] != NodeKind.EXTERNAL]
    calls_out = [e for e in graph.outgoing(node) if edges.kinds[e] == EdgeKind.CALLS]
    return DefinitionDetails(
        hit=hit_of(graph, node, 0.0, 0.0, ()),
        text="",
        stale=False,
        role=Role(int(nodes.roles[node])).label,
        fan_in=len(np.unique(users[~is_inside[users]])),
        fan_out=len(np.unique(targets[~is_inside[targets]])),
        n_callers=len(calls_to(graph, node)),
        n_callees=sum(bool(nodes.kinds[edges.targets[e]] != NodeKind.EXTERNAL) for e in calls_out),
        outline=_outline(graph, node) if graph.kind(node) is NodeKind.FILE else (),
        namesakes=tuple(nodes.ids[other] for other in graph.namesakes(node)),
        overrides=overridden_ids(graph, node),
        overridden_by=overriding_ids(graph, node),
    )


def _outline(graph: CodeGraph, file: int) -> tuple[Hit, ...]:
    nodes = graph.nodes
    definitions = np.flatnonzero((nodes.files == file) & (nodes.kinds != NodeKind.FILE))
    order = np.lexsort((definitions, -nodes.end_bytes[definitions], nodes.start_bytes[definitions]))
    return tuple(hit_of(graph, node, 0.0, 0.0, ()) for node in definitions[order].tolist())


_BACK = " (back)"


def find_graph_path(graph: CodeGraph, transition: Transition, source: int, target: int) -> GraphPath | None:
    """Return the path from `source` to `target` with the largest product of M's entries; None if there is none.

    Paths along forward edges are preferred; only if there is none, edges may be reversed. See
    `extract.paths_from_seeds` for ties.
    """
    seeds = np.zeros(len(graph.nodes))
    seeds[source] = 1.0
    for is_forward, walked in ((True, _forward_only(graph, transition)), (False, transition)):
        hops = paths_from_seeds(graph, walked, seeds, [target], kind_weights=_weights(is_forward))[target]
        if hops:
            nodes = [graph.nodes.ids.position(hop.node) for hop in hops]
            probability = float(np.prod([_entry(transition, i, j) for i, j in pairwise(nodes)]))
            edges = tuple(_edge(graph, i, j, hop) for (i, j), hop in zip(pairwise(nodes), hops[1:], strict=True))
            return GraphPath(hops, probability, edges, is_forward)
        if is_forward:
            through = _find_path_through_route(graph, walked, source, target)
            if through is not None:
                return through
    return None


def find_path_of_edges(graph: CodeGraph, numbers: Collection[int], source: int, target: int) -> GraphPath | None:
    """Return the path with the fewest edges from `source` to `target` of the edges `numbers`; None if there is none.

    Edges are followed forward. `contains` counts, too, from a type to its constructor and from `source` to its members.
    An edge `tests` skips what is between its ends, and is taken only if there is no other path. The probability is the
    product of the confidences.
    """
    edges = graph.edges

    def is_open(number: int, with_tests: bool) -> bool:
        kind, owner = edges.kinds[number], int(edges.sources[number])
        if kind == EdgeKind.CONTAINS:
            return owner == source or class_of_constructor(graph, int(edges.targets[number])) == owner
        return number in numbers and (with_tests or kind != EdgeKind.TESTS)

    for with_tests in (False, True):
        before: dict[int, int] = {source: -1}
        level = [source]
        while level and target not in before:
            ends = []
            for node in level:
                for number in graph.outgoing(node):
                    end = int(edges.targets[number])
                    if end not in before and is_open(number, with_tests):
                        before[end] = number
                        ends.append(end)
            level = ends
        if target in before:
            way: list[int] = []
            node = target
            while before[node] >= 0:
                way.append(before[node])
                node = int(edges.sources[before[node]])
            return _path_of(graph, source, way[::-1])
    return None


def _path_of(graph: CodeGraph, source: int, numbers: Sequence[int]) -> GraphPath:
    """Return a path of edges that follow each other."""
    ids, steps = graph.nodes.ids, [graph.edge(number) for number in numbers]
    row = int(graph.nodes.start_rows[source])
    hops = [Hop(ids[source], None, split_id(ids[source])[0] or None, row + 1)]
    hops += [Hop(each.target, each.kind, split_id(each.source)[0] or None, each.line) for each in steps]
    return GraphPath(tuple(hops), float(np.prod([each.confidence for each in steps])), tuple(steps), True)


def _find_path_through_route(graph: CodeGraph, forward: Transition, source: int, target: int) -> GraphPath | None:
    """Return the most probable path with a request of a route and its handler; None if there is none.

    The walk leaves routes out, as other nodes outside of the repository; their edges count by their confidence.
    """
    edges, kinds, n_nodes = graph.edges, graph.nodes.kinds, len(graph.nodes)
    routed = np.flatnonzero(edges.kinds == EdgeKind.ROUTES)
    requests = routed[kinds[edges.targets[routed]] == NodeKind.EXTERNAL]
    handlings = routed[kinds[edges.sources[routed]] == NodeKind.EXTERNAL]
    weights = _weights(True)
    found: GraphPath | None = None
    seeds = np.zeros(n_nodes)
    seeds[source] = 1.0
    to_requests = paths_from_seeds(
        graph, forward, seeds, np.unique(edges.sources[requests]).tolist(), kind_weights=weights
    )
    ends: dict[int, tuple[Hop, ...]] = {}
    for request in requests.tolist():
        start = to_requests[int(edges.sources[request])]
        for handling in handlings[edges.sources[handlings] == edges.targets[request]].tolist() if start else ():
            handler = int(edges.targets[handling])
            if handler not in ends:
                seeds = np.zeros(n_nodes)
                seeds[handler] = 1.0
                ends[handler] = paths_from_seeds(graph, forward, seeds, [target], kind_weights=weights)[target]
            end = ends[handler]
            if not end:
                continue
            asked, handled = graph.edge(request), graph.edge(handling)
            middle = (
                Hop(asked.target, asked.kind, split_id(asked.source)[0], asked.line),
                Hop(handled.target, handled.kind, end[0].path, handled.line),  # a route stands beside its handler
            )
            chance = asked.confidence * handled.confidence
            steps: list[tuple[Edge, ...]] = []
            for part in (start, end):
                places = [graph.nodes.ids.position(hop.node) for hop in part]
                chance *= float(np.prod([_entry(forward, i, j) for i, j in pairwise(places)]))
                hops = zip(pairwise(places), part[1:], strict=True)
                steps.append(tuple(_edge(graph, i, j, hop) for (i, j), hop in hops))
            if found is None or chance > found.probability:
                found = GraphPath((*start, *middle, *end[1:]), chance, (*steps[0], asked, handled, *steps[1]), True)
    return found


def _weights(is_forward: bool) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the walk weights that name a hop; forward paths get 0 for reversed and symmetric edges."""
    table = WalkWeights().table()
    if is_forward:
        table[1] = 0.0
        table[:, sorted(SYMMETRIC_KINDS)] = 0.0
    return table


def _forward_only(graph: CodeGraph, transition: Transition) -> Transition:
    """Return M without the entries for which no edge leads from the column's node to the row's.

    Symmetric kinds state that two nodes are related, not that one uses the other, so they do not count.
    """
    n_nodes, edges = len(graph.nodes), graph.edges
    counted = _weights(True)[0][edges.kinds] > 0
    forward = edges.sources[counted].astype(np.int64) * n_nodes + edges.targets[counted]
    rows = np.repeat(np.arange(n_nodes, dtype=np.int64), np.diff(transition.indptr))
    is_forward = np.isin(transition.indices.astype(np.int64) * n_nodes + rows, forward)
    indptr = np.zeros(n_nodes + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows[is_forward], minlength=n_nodes), out=indptr[1:])
    return Transition(
        indptr, transition.indices[is_forward], transition.weights[is_forward], transition.degrees, transition.walkable
    )


def _entry(transition: Transition, i: int, j: int) -> float:
    """Return M[j, i]; rows have their columns in ascending order."""
    start, stop = int(transition.indptr[j]), int(transition.indptr[j + 1])
    return float(transition.weights[start + int(np.searchsorted(transition.indices[start:stop], i))])


def _edge(graph: CodeGraph, i: int, j: int, hop: Hop) -> Edge:
    """Return the edge that a hop from i to j names."""
    assert hop.edge is not None
    kind = EdgeKind[hop.edge.removesuffix(_BACK).upper()]
    pairs = [(j, i)] if hop.edge.endswith(_BACK) else [(i, j)]
    if kind in SYMMETRIC_KINDS:
        pairs = [(i, j), (j, i)]  # stored once, in either direction
    return next(
        graph.edge(e)
        for source, end in pairs
        for e in graph.outgoing(source)
        if graph.edges.targets[e] == end and graph.edges.kinds[e] == kind
    )
