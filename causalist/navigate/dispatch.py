"""Calls through what a method overrides: whoever calls the base's method may run this one.

An edge `overrides` leads from a method to what it overrides. A caller of that names neither this method nor the type
that has it, so that it is no caller of it; but a change here can reach it.
"""

from collections.abc import Iterable

import numpy as np

from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.navigate.edges import most_confident_first
from causalist.navigate.reach import edges_out_of

# A use of these kinds may run what overrides its target. (Deriving, importing or testing does not.)
DISPATCHED = (EdgeKind.CALLS, EdgeKind.REFERENCES)


def overridden_by(graph: CodeGraph, nodes: Iterable[int], min_confidence: float = 0.0) -> dict[int, int]:
    """Methods that `nodes` override, and what these override in turn -> the one of `nodes` that does so, nearest bases
    first, of several overriding nodes the first."""
    edges = graph.edges
    origins = dict(zip(sorted(nodes), sorted(nodes), strict=True))
    found: dict[int, int] = {}
    reached = dict(origins)
    while reached:
        numbers = edges_out_of(graph, np.array(sorted(reached), dtype=np.int64))
        usable = (edges.kinds[numbers] == EdgeKind.OVERRIDES) & (edges.confidences[numbers] >= min_confidence)
        nearer, reached = reached, {}
        for number in numbers[usable].tolist():
            base = int(edges.targets[number])
            if base not in found and base not in origins:
                reached.setdefault(base, nearer[int(edges.sources[number])])
        found.update(reached)
    return found


def calls_through(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Calls of what a method overrides, most confident first. Their targets are the overridden methods."""
    kinds = graph.edges.kinds
    return most_confident_first(
        graph.edge(number)
        for base in overridden_by(graph, [node])
        for number in graph.incoming(base)
        if kinds[number] == EdgeKind.CALLS
    )


def overriding(graph: CodeGraph, node: int) -> tuple[str, ...]:
    """Ids of the methods that override a method, directly."""
    edges = graph.edges
    own = {int(edges.sources[e]) for e in graph.incoming(node) if edges.kinds[e] == EdgeKind.OVERRIDES}
    return tuple(graph.nodes.ids[each] for each in sorted(own))


def overridden(graph: CodeGraph, node: int) -> tuple[str, ...]:
    """Ids of the methods that a method overrides, directly."""
    edges = graph.edges
    bases = [int(edges.targets[e]) for e in graph.outgoing(node) if edges.kinds[e] == EdgeKind.OVERRIDES]
    return tuple(graph.nodes.ids[each] for each in bases)
