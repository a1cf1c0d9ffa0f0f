"""Sets of nodes: what one contains, what can be reached, and the edges that lead into a set or out of it.

Edges of one node, and of all that fit.

Calls through what a method overrides: whoever calls the base's method may run this one.

An edge `overrides` leads from a method to what it overrides. A caller of that names neither this method nor the type
that has it, so that it is no caller of it; but a change here can reach it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.symbols import NodeKind

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


def calls_to(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Edges of calls that lead to a node, most confident first."""
    return most_confident_first(graph.edge(e) for e in graph.incoming(node) if graph.edges.kinds[e] == EdgeKind.CALLS)


def references_to(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Edges of uses other than calls that lead to a node, most confident first: it is handed on, kept, or named as a
    type."""
    kinds = graph.edges.kinds
    return most_confident_first(graph.edge(e) for e in graph.incoming(node) if kinds[e] == EdgeKind.REFERENCES)


def calls_from(graph: CodeGraph, node: int) -> tuple[Edge, ...]:
    """Edges of calls that a node makes inside the repository, most confident first."""
    return most_confident_first(
        graph.edge(e)
        for e in graph.outgoing(node)
        if graph.edges.kinds[e] == EdgeKind.CALLS and graph.kind(int(graph.edges.targets[e])) is not NodeKind.EXTERNAL
    )


def edges_to(graph: CodeGraph, node: int, kind: EdgeKind) -> tuple[Edge, ...]:
    """Edges of a kind that lead from outside to a node or to what it contains, most confident first."""
    meant = as_one(graph, [node])
    inside = frozenset(meant.tolist())
    numbers = edges_into(graph, meant).tolist()
    of_kind = [e for e in numbers if graph.edges.kinds[e] == kind]
    kept = [e for e in of_kind if len(inside) == 1 or int(graph.edges.sources[e]) not in inside]
    return most_confident_first(map(graph.edge, kept))


def mentions_of(graph: CodeGraph, nodes: Sequence[int]) -> tuple[Edge, ...]:
    """Edges from documentation that mentions one of these nodes or what stands inside of them, overloads being one;
    most confident first. What tests mention is theirs."""
    numbers = edges_into(graph, as_one(graph, nodes))
    numbers = numbers[graph.edges.kinds[numbers] == EdgeKind.MENTIONS]
    prose = np.isin(graph.nodes.kinds[graph.edges.sources[numbers]], (NodeKind.PASSAGE, NodeKind.FILE))
    return most_confident_first(graph.edge(number) for number in numbers[prose].tolist())


def chosen_edges(graph: CodeGraph, *, kinds: Sequence[str], min_confidence: float, everything: bool) -> Iterator[Edge]:
    """Edges in the order of the graph. Without `everything`: those inside the repository with that confidence.

    Raises UsageError for a kind that does not exist.
    """
    chosen = known_kinds(kinds)
    return (
        edge
        for edge in map(graph.edge, range(len(graph.edges)))
        if edge.kind in chosen
        and (everything or (edge.confidence >= min_confidence and not edge.target.startswith("external:")))
    )


def known_kinds(kinds: Sequence[str]) -> frozenset[str]:
    """The labels of kinds of edges, all of them for none. Raises UsageError for one that does not exist."""
    known = frozenset(kind.label for kind in EdgeKind)
    for kind in kinds:
        if kind not in known:
            raise UsageError(f"no edges of kind {kind!r}; there are {', '.join(sorted(known))}")
    return frozenset(kinds) or known


def most_confident_first(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    return tuple(sorted(edges, key=lambda e: (-e.confidence, e.source, e.target, e.kind)))


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
