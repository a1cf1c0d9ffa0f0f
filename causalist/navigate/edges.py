"""Edges of one node, and of all that fit."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from causalist.errors import UsageError
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.symbols import NodeKind
from causalist.navigate.reach import as_one, edges_into


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
