"""Edges of node sets: containment, reachability, edges into and out of a set, overrides, and routes.

In: a `CodeGraph` and node numbers. Out: sets of nodes and lists of edges.

An edge `overrides` leads from a method to the method that it overrides. A caller of the overridden method names neither
the overriding method nor its type, so it is not counted among the callers. A change of the overriding method can still
reach it. The same holds for special methods, such as operators, and the users of their class.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.graph import ROUTE_KINDS, CodeGraph, Edge, EdgeKind
from causalist.model.lookup import ServedRoute
from causalist.model.symbols import ROUTE_PREFIX, NodeKind, Role, external_id
from causalist.navigate.implicit_calls import constructor_calls, special_uses


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


def calls_from(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Return the edges of calls that a node makes inside the repository, most confident first.

    Of a file, they are those that leave it.
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
        if graph.edges.kinds[e] == EdgeKind.CALLS and graph.kind(int(graph.edges.targets[e])) is not NodeKind.EXTERNAL
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


def find_overridden(graph: CodeGraph, nodes: Iterable[int], min_confidence: float = 0.0) -> dict[int, int]:
    """Return the methods that `nodes` override, directly or indirectly, with the one of `nodes` that overrides each.

    The nearest bases come first. If several of `nodes` override a method, the first one counts.
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
            if base not in result and base not in origins:
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


def overriding_ids(graph: CodeGraph, node: int) -> tuple[str, ...]:
    """Return the ids of the methods that directly override a method."""
    edges = graph.edges
    own = {int(edges.sources[e]) for e in graph.incoming(node) if edges.kinds[e] == EdgeKind.OVERRIDES}
    return tuple(graph.nodes.ids[each] for each in sorted(own))


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
    found = []
    for node in ids.prefix_range(prefix):
        name = ids[node].removeprefix(prefix)
        if all(word in name.lower() for word in words):
            method, _, path = name.partition(" ")
            requests = tuple(ids[source] for source in _sources(graph, node))
            found += [ServedRoute(method, path, handler, line, requests) for handler, line in _handlers(graph, node)]
    return tuple(sorted(found, key=lambda each: (each.path, each.method, each.handler)))


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
