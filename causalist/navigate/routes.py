"""Routes and events in the graph: what a path leads to, and what asks for it or emits an event.

In: a `CodeGraph`. Out: rows of a listing, and edges. A route is a node outside of files, between clients and handlers.
"""

from collections.abc import Iterator

import numpy as np

from causalist.model.graph import ROUTE_KINDS, CodeGraph, Edge, EdgeKind
from causalist.model.lookup import ServedRoute
from causalist.model.symbols import ROUTE_PREFIX, NodeKind, Role, external_id


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


def route_uses(graph: CodeGraph, node: int) -> list[Edge]:
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
