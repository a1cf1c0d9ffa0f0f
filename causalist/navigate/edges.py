"""Edges of nodes: neighbors by distance and kind, the most probable path between two, and edges of sets of nodes.

In: a `CodeGraph` and nodes. Out: the types of `model.lookup`, and for sets: containment, reachability, edges into and
out of a set, overrides, and routes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.extract import hit_of, paths_from_seeds
from causalist.model.graph import (
    ORDERING_KINDS,
    ROUTE_KINDS,
    SYMMETRIC_KINDS,
    USE_KINDS,
    CodeGraph,
    Edge,
    EdgeKind,
)
from causalist.model.index import Index
from causalist.model.lookup import DefinitionDetails, Direction, GraphPath, Neighbors, ServedRoute, SimilarPair
from causalist.model.node_ids import ROUTE_PREFIX, NodeKind, Role, external_id, split_id
from causalist.model.scores import Hit, Hop, Transition
from causalist.navigate.implicit_calls import (
    class_of_constructor,
    constructor_calls,
    find_constructors_run,
    find_implicit_uses,
    overriding_ids,
    special_uses,
)
from causalist.rank import WalkWeights


def with_overloads_and_members(graph: CodeGraph, nodes: Sequence[int]) -> NDArray[np.int64]:
    """Return `nodes`, their overloads and everything inside of them, ascending.

    A use of an overloaded name leads to one of the overloads and counts for all. Members are found by their ids, since
    some languages define them outside of their type.
    """
    ids = graph.nodes.ids
    namesakes = [each for node in nodes for each in (node, *graph.namesakes(node))]
    members = [member for node in namesakes if "::" in ids[node] for member in ids.prefix_range(f"{ids[node]}.")]
    return graph.with_contents([*namesakes, *members])


def mark_reachable(
    graph: CodeGraph, start: NDArray[np.int64], usable: NDArray[np.bool_], *, backward: bool
) -> NDArray[np.bool_]:
    """Return a mask, shape (n_nodes,), of the nodes that are reachable from `start` along usable edges.

    `usable` is a mask over edges, shape (n_edges,). With `backward`, the mask contains the nodes from which `start` is
    reachable. The search is breadth first, linear in nodes and edges.
    """
    edges = graph.edges
    reached = np.zeros(len(graph.nodes), dtype=np.bool_)
    reached[start] = True
    frontier = start
    while len(frontier):
        numbers = graph.edges_into(frontier) if backward else graph.edges_out_of(frontier)
        numbers = numbers[usable[numbers]]
        ends = edges.sources[numbers] if backward else edges.targets[numbers]
        frontier = np.unique(ends[~reached[ends]]).astype(np.int64)
        reached[frontier] = True
    return reached


def calls_to(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Return the edges of calls that lead to a node, most confident first.

    Those of a class whose instances a constructor makes are calls of the constructor; their target stays the class. Of
    a file, they are the calls from other files of what it holds, and imports of it.
    """
    if graph.kind(node) is NodeKind.FILE:
        return (*edges_to(graph, node, EdgeKind.CALLS), *edges_to(graph, node, EdgeKind.IMPORTS))
    direct = [graph.edge(e) for e in graph.incoming(node) if graph.edges.kinds[e] == EdgeKind.CALLS]
    return sort_by_confidence([*direct, *constructor_calls(graph, node)])


def references_to(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Return the edges of uses other than calls into a node, most confident first.

    The node is passed on, stored, or named as a type; it handles a route, which clients may request, or an event.
    """
    kinds = graph.edges.kinds
    named = [graph.edge(e) for e in graph.incoming(node) if kinds[e] == EdgeKind.REFERENCES]
    return sort_by_confidence([*named, *_route_uses(graph, node)])


_RUNNING = (EdgeKind.CALLS, EdgeKind.EMITS)


def calls_from(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Return the edges of calls that a node makes inside the repository, and of what it emits, most confident first.

    Of a file, they are the calls that leave it.
    """
    if graph.kind(node) is NodeKind.FILE:
        numbers = graph.edges_out_of(graph.with_contents([node]))
        files, edges = graph.nodes.files, graph.edges
        leaving = (edges.kinds[numbers] == EdgeKind.CALLS) & (files[edges.targets[numbers]] >= 0)
        leaving &= files[edges.targets[numbers]] != node
        return sort_by_confidence(map(graph.edge, numbers[leaving].tolist()))
    return sort_by_confidence(
        graph.edge(e)
        for e in graph.outgoing(node)
        if graph.edges.kinds[e] in _RUNNING and graph.kind(int(graph.edges.targets[e])) is not NodeKind.EXTERNAL
    )


def edges_to(graph: CodeGraph, node: int, kind: EdgeKind) -> tuple[Edge, ...]:
    """Return the edges of a kind that lead from outside to a node or its contents, most confident first."""
    targets = with_overloads_and_members(graph, [node])
    target_set = frozenset(targets.tolist())
    numbers = graph.edges_into(targets).tolist()
    of_kind = [e for e in numbers if graph.edges.kinds[e] == kind]
    kept = [e for e in of_kind if len(target_set) == 1 or int(graph.edges.sources[e]) not in target_set]
    return sort_by_confidence(map(graph.edge, kept))


def mentions_of(graph: CodeGraph, nodes: Sequence[int]) -> tuple[Edge, ...]:
    """Return the edges from documentation that mentions one of `nodes` or their contents, most confident first.

    Overloads of a name count as one. Mentions in tests are left out.
    """
    numbers = graph.edges_into(with_overloads_and_members(graph, nodes))
    numbers = numbers[graph.edges.kinds[numbers] == EdgeKind.MENTIONS]
    prose = np.isin(graph.nodes.kinds[graph.edges.sources[numbers]], (NodeKind.PASSAGE, NodeKind.FILE))
    return sort_by_confidence(graph.edge(number) for number in numbers[prose].tolist())


def select_edges(graph: CodeGraph, *, kinds: Sequence[str], min_confidence: float, everything: bool) -> Iterator[Edge]:
    """Return the edges of these kinds, all kinds for none, in the order of the graph.

    Without `everything`, these are the edges inside the repository with at least `min_confidence`. Raises UsageError
    for a kind that does not exist.
    """
    chosen = check_edge_kinds(kinds)
    return (
        edge
        for edge in map(graph.edge, range(len(graph.edges)))
        if edge.kind in chosen
        and (everything or (edge.confidence >= min_confidence and not edge.target.startswith("external:")))
    )


def check_edge_kinds(kinds: Sequence[str]) -> frozenset[str]:
    """Return the labels of kinds of edges, or all labels if `kinds` is empty.

    Raises UsageError for a label that does not exist.
    """
    known_kinds = frozenset(kind.label for kind in EdgeKind)
    for kind in kinds:
        if kind not in known_kinds:
            raise UsageError(f"unknown edge kind {kind!r}. Choose from {', '.join(sorted(known_kinds))}.")
    return frozenset(kinds) or known_kinds


def sort_by_confidence(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Sort edges by confidence, descending, then by source, target and kind."""
    return tuple(sorted(edges, key=lambda e: (-e.confidence, e.source, e.target, e.kind)))


# A use of these kinds may run what overrides its target. (Deriving, importing or testing does not.)
DISPATCHED = (EdgeKind.CALLS, EdgeKind.REFERENCES)


_SURE = 0.9  # confidence of a call whose target is taken for known


def find_callers_of_others(graph: CodeGraph, node: int, alike: NDArray[np.int64]) -> frozenset[int]:
    """Return the nodes that surely call a function of `alike`, of the same name, that has nothing to do with `node`.

    An overload of `node`, and what overrides it or is overridden by it, is no other function.
    """
    nodes, edges = graph.nodes, graph.edges
    related, level = {node, *find_overridden(graph, [node])}, [node]
    while level:
        numbers = graph.edges_into(np.array(level, dtype=np.int64))
        overriding = edges.sources[numbers[edges.kinds[numbers] == EdgeKind.OVERRIDES]].tolist()
        level = sorted(set(overriding) - related)
        related.update(level)
    is_other = (nodes.parents[alike] != nodes.parents[node]) & ~np.isin(alike, sorted(related))
    numbers = graph.edges_into(alike[is_other])
    numbers = numbers[(edges.kinds[numbers] == EdgeKind.CALLS) & (edges.confidences[numbers] >= _SURE)]
    return frozenset(edges.sources[numbers].tolist())


def find_overridden(
    graph: CodeGraph, nodes: Iterable[int], min_confidence: float = 0.0, known: Collection[int] = ()
) -> dict[int, int]:
    """Return the methods that `nodes` override, directly or indirectly, with the one of `nodes` that overrides each.

    The nearest bases come first. If several of `nodes` override a method, the first one counts. Methods that are
    `known`, and what only these override, are left out.
    """
    edges = graph.edges
    origins = dict(zip(sorted(nodes), sorted(nodes), strict=True))
    result: dict[int, int] = {}
    reached = dict(origins)
    while reached:
        numbers = graph.edges_out_of(np.array(sorted(reached), dtype=np.int64))
        usable = (edges.kinds[numbers] == EdgeKind.OVERRIDES) & (edges.confidences[numbers] >= min_confidence)
        nearer, reached = reached, {}
        for number in numbers[usable].tolist():
            base = int(edges.targets[number])
            if base not in result and base not in origins and base not in known:
                reached.setdefault(base, nearer[int(edges.sources[number])])
        result.update(reached)
    return result


def find_indirect_calls(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Return the indirect calls of a method, most confident first.

    These are calls of the methods that it overrides and, for a special method, uses of its class. Their targets are the
    overridden methods, or the class.
    """
    kinds = graph.edges.kinds
    calls = [
        graph.edge(number)
        for base in find_overridden(graph, [node])
        for number in graph.incoming(base)
        if kinds[number] == EdgeKind.CALLS
    ]
    return sort_by_confidence([*calls, *special_uses(graph, node)])


def overridden_ids(graph: CodeGraph, node: int) -> tuple[str, ...]:
    """Return the ids of the methods that a method directly overrides."""
    edges = graph.edges
    bases = [int(edges.targets[e]) for e in graph.outgoing(node) if edges.kinds[e] == EdgeKind.OVERRIDES]
    return tuple(graph.nodes.ids[each] for each in bases)


def list_routes(graph: CodeGraph, text: str = "") -> tuple[ServedRoute, ...]:
    """Return the routes by path and method, those whose method and path contain all words of `text`.

    Routes that tests serve are left out.
    """
    ids = graph.nodes.ids
    prefix = external_id(ROUTE_PREFIX)
    words = text.lower().split()
    routes = []
    for node in ids.prefix_range(prefix):
        name = ids[node].removeprefix(prefix)
        if all(word in name.lower() for word in words):
            method, _, path = name.partition(" ")
            requests = tuple(ids[source] for source in _sources(graph, node))
            routes += [ServedRoute(method, path, handler, line, requests) for handler, line in _handlers(graph, node)]
    return tuple(sorted(routes, key=lambda each: (each.path, each.method, each.handler)))


def _handlers(graph: CodeGraph, route: int) -> Iterator[tuple[str, int]]:
    for number in graph.outgoing(route):
        target = int(graph.edges.targets[number])
        if graph.nodes.roles[target] != Role.TEST:
            yield graph.nodes.ids[target], int(graph.edges.rows[number]) + 1


def _sources(graph: CodeGraph, node: int) -> list[int]:
    return [int(graph.edges.sources[number]) for number in graph.incoming(node)]


def _route_uses(graph: CodeGraph, node: int) -> list[Edge]:
    """Return the edges of routes and events into a node, and of requests of the routes that lead to it."""
    kinds, sources = graph.edges.kinds, graph.edges.sources
    own = [number for number in graph.incoming(node) if kinds[number] in ROUTE_KINDS]
    routes = np.unique(sources[own]).tolist()
    requests = [
        number
        for route in routes
        if graph.kind(route) is NodeKind.EXTERNAL
        for number in graph.incoming(route)
        if kinds[number] == EdgeKind.ROUTES
    ]
    return [graph.edge(number) for number in (*own, *requests)]


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
        level_ends: list[NDArray[np.int64]] = []
        for toward in (Direction.IN, Direction.OUT):
            if direction not in (toward, Direction.BOTH):
                continue
            numbers = _edges_into(graph, frontier) if toward is Direction.IN else graph.edges_out_of(frontier)
            ends = edges.sources if toward is Direction.IN else edges.targets
            numbers = numbers[wanted[numbers] & ~is_seen[ends[numbers]]]
            groups += _groups(graph, hop, toward, numbers, limit)
            level_ends.append(ends[numbers].astype(np.int64))
            if toward is Direction.OUT:
                called = ends[numbers[edges.kinds[numbers] == EdgeKind.CALLS]]
                constructors = find_constructors_run(graph, np.unique(called).tolist())
        frontier = np.unique(np.concatenate(level_ends))
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
SIMILAR_RULE = "similarity"
_MIN_MERGED = 0.5  # of a pair that is an edge: of 27 that are more likely merged than not, 22 are to merge
# A changelog or a lock file changes with everything, which says nothing of what else to look at.
_ROLES = (Role.CODE, Role.TEST)


def list_neighbors_and_derived(
    index: Index,
    node: int,
    *,
    hops: int,
    kinds: Sequence[str],
    direction: Direction,
    limit: int,
    find_pairs: Callable[[], Sequence[SimilarPair] | None],
) -> tuple[Neighbors, ...]:
    """Return `list_neighbors`, preceded by edges that are derived where their kind is queried.

    These are the co-changes of the node's file, and the near-duplicates of the node and its contents that
    `find_pairs` returns.
    """
    neighbors = list_neighbors(index.graph, node, hops=hops, kinds=kinds, direction=direction, limit=limit)
    co_changes = list_co_change_edges(index, node) if EdgeKind.CO_CHANGES.label in kinds else ()
    similar = list_similar_edges(find_pairs() or ()) if EdgeKind.SIMILAR.label in kinds else ()
    graph, groups = index.graph, list[Neighbors]()
    for kind, edges in ((EdgeKind.CO_CHANGES, co_changes), (EdgeKind.SIMILAR, similar)):
        ends = [graph.nodes.ids.position(edge.target) for edge in edges[:limit]]
        layers = tuple((graph.layer(end), graph.tier(end)) for end in ends)
        groups += [Neighbors(1, Direction.BOTH, kind.label, len(edges), edges[:limit], layers)] * bool(edges)
    return (*groups, *neighbors)


def list_similar_edges(pairs: Sequence[SimilarPair]) -> tuple[Edge, ...]:
    """Return the edges of pairs that a reader would more likely merge than not; that probability is the confidence."""
    return tuple(
        Edge(pair.one.node, pair.other.node, EdgeKind.SIMILAR.label, SIMILAR_RULE, pair.probability, None, 1)
        for pair in pairs
        if pair.probability >= _MIN_MERGED
    )


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
_MIN_DISPATCHED = 0.5  # certainty of each edge of a path with what is emitted or run in place of a method


def find_graph_path(graph: CodeGraph, transition: Transition, source: int, target: int) -> GraphPath | None:
    """Return the path from `source` to `target` with the largest product of M's entries; None if there is none.

    Paths along forward edges are preferred; only if there is none, edges may be reversed. Requests, events and methods
    that run in place of others are followed if there is no other path, or only a doubtful one that is not shorter. See
    `extract.paths_from_seeds` for ties.
    """
    forward = _forward_only(graph, transition)
    plain = _find_path_walked(graph, transition, forward, source, target, True)
    if plain is not None and _is_sure(graph, plain):
        return plain
    through = None if plain else _find_path_through_route(graph, forward, source, target)
    through = through or _find_path_dispatched(graph, source, target)
    if plain is not None:
        return plain if through is None or len(through.hops) > len(plain.hops) else through
    if through is not None:
        return through
    outside = _without_tests(graph, transition, source, target)
    return _find_path_walked(graph, transition, outside, source, target, False) or _find_path_walked(
        graph, transition, transition, source, target, False
    )


def _find_path_walked(
    graph: CodeGraph, transition: Transition, walked: Transition, source: int, target: int, is_forward: bool
) -> GraphPath | None:
    """Return the path along the entries `walked` with the largest product of M's entries; None if there is none."""
    seeds = np.zeros(len(graph.nodes))
    seeds[source] = 1.0
    hops = paths_from_seeds(graph, walked, seeds, [target], kind_weights=_weights(is_forward))[target]
    if not hops:
        return None
    nodes = [graph.nodes.ids.position(hop.node) for hop in hops]
    probability = float(np.prod([_entry(transition, i, j) for i, j in pairwise(nodes)]))
    edges = tuple(_edge(graph, i, j, hop) for (i, j), hop in zip(pairwise(nodes), hops[1:], strict=True))
    return GraphPath(hops, probability, edges, is_forward)


def _is_sure(graph: CodeGraph, path: GraphPath) -> bool:
    """Return True if no edge of a path is doubtful."""
    return all(each.certainty >= _MIN_DISPATCHED for each in path.edges)


def find_path_of_edges(graph: CodeGraph, numbers: Collection[int], source: int, target: int) -> GraphPath | None:
    """Return the path with the fewest edges from `source` to `target` of the edges `numbers`; None if there is none.

    Edges are followed forward. `contains` counts, too, from a type to its constructor and from `source` to its members.
    An edge `tests` skips what is between its ends, and is taken only if there is no other path. The probability is the
    product of the confidences.
    """
    is_followed = np.zeros(len(graph.edges), dtype=np.bool_)
    is_followed[list(numbers)] = True
    return _find_shortest_path(graph, is_followed, {}, source, target)


def _find_shortest_path(
    graph: CodeGraph, is_followed: NDArray[np.bool_], overriding: Mapping[int, Sequence[int]], source: int, target: int
) -> GraphPath | None:
    """Return what `find_path_of_edges` does; the edges `overriding` lead from a method to what may run in its place."""
    edges = graph.edges

    def open_ends(node: int, with_tests: bool) -> Iterator[tuple[int, int]]:
        for number in graph.outgoing(node):
            kind, end = edges.kinds[number], int(edges.targets[number])
            if kind == EdgeKind.CONTAINS:
                is_open = node == source or class_of_constructor(graph, end) == node
            else:
                is_open = is_followed[number] and (with_tests or kind != EdgeKind.TESTS)
            if is_open:
                yield number, end
        for number in overriding.get(node, ()):
            yield number, int(edges.sources[number])

    has_tests = bool((edges.kinds[is_followed] == EdgeKind.TESTS).any())
    for with_tests in (False, True) if has_tests else (False,):
        before: dict[int, tuple[int, int]] = {source: (-1, -1)}  # the edge and the node that lead to each node
        level = [source]
        while level and target not in before:
            ends = []
            for node in level:
                for number, end in open_ends(node, with_tests):
                    if end not in before:
                        before[end] = (number, node)
                        ends.append(end)
            level = ends
        if target in before:
            way: list[int] = []
            node = target
            while node != source:
                number, node = before[node]
                way.append(number)
            return _path_of(graph, source, way[::-1])
    return None


def _find_path_dispatched(graph: CodeGraph, source: int, target: int) -> GraphPath | None:
    """Return the path with the fewest uses, things emitted and methods run in place of others; None if there is none.

    The walk leaves out what is emitted, and goes from a method to those that it overrides, not to those that run.
    """
    edges = graph.edges
    is_sure = graph.certainties(np.arange(len(edges))) >= _MIN_DISPATCHED
    is_emitted = (edges.kinds == EdgeKind.EMITS) & is_sure
    overrides = np.flatnonzero((edges.kinds == EdgeKind.OVERRIDES) & is_sure)
    if not is_emitted.any() and not len(overrides):
        return None
    is_double = graph.nodes.roles[edges.sources[overrides]] == Role.TEST  # which runs only if nothing else does
    overrides = overrides[np.argsort(is_double, kind="stable")]
    overriding: dict[int, list[int]] = {}
    for number, base in zip(overrides.tolist(), edges.targets[overrides].tolist(), strict=True):
        overriding.setdefault(base, []).append(number)
    is_use = np.isin(edges.kinds, sorted(USE_KINDS - {EdgeKind.IMPORTS})) & is_sure
    return _find_shortest_path(graph, is_use | is_emitted, overriding, source, target)


def _path_of(graph: CodeGraph, source: int, numbers: Sequence[int]) -> GraphPath:
    """Return a path of edges that follow each other."""
    ids, steps = graph.nodes.ids, [graph.edge(number) for number in numbers]
    row = int(graph.nodes.start_rows[source])
    hops = [Hop(ids[source], None, split_id(ids[source])[0] or None, row + 1)]
    for each in steps:
        is_back = each.source != hops[-1].node  # an overriding method runs
        node, kind = (each.source, each.kind + _BACK) if is_back else (each.target, each.kind)
        hops.append(Hop(node, kind, split_id(each.source)[0] or None, each.line))
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
    best: GraphPath | None = None
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
            if best is None or chance > best.probability:
                best = GraphPath((*start, *middle, *end[1:]), chance, (*steps[0], asked, handled, *steps[1]), True)
    return best


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
    forward = np.sort(edges.sources[counted].astype(np.int64) * n_nodes + edges.targets[counted])
    rows = np.repeat(np.arange(n_nodes, dtype=np.int64), np.diff(transition.indptr))
    # `np.isin` takes six times as long, for it makes both sides unique.
    entries = transition.indices.astype(np.int64) * n_nodes + rows
    is_forward = np.searchsorted(forward, entries, "right") > np.searchsorted(forward, entries)
    return _select_entries(transition, rows, is_forward)


def _without_tests(graph: CodeGraph, transition: Transition, source: int, target: int) -> Transition:
    """Return M without the entries of tests, which use everything; all of M if one end of a path is a test."""
    is_test = graph.nodes.roles == Role.TEST
    if is_test[[source, target]].any():
        return transition
    rows = np.repeat(np.arange(len(is_test), dtype=np.int64), np.diff(transition.indptr))
    return _select_entries(transition, rows, ~(is_test[rows] | is_test[transition.indices]))


def _select_entries(transition: Transition, rows: NDArray[np.int64], is_kept: NDArray[np.bool_]) -> Transition:
    """Return M with the entries `is_kept` alone; `rows` are those of all entries."""
    indptr = np.zeros(len(transition.indptr), dtype=np.int32)
    np.cumsum(np.bincount(rows[is_kept], minlength=len(indptr) - 1), out=indptr[1:])
    return Transition(
        indptr, transition.indices[is_kept], transition.weights[is_kept], transition.degrees, transition.walkable
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
