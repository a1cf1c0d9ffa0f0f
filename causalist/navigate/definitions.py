"""A node and its place in the graph."""

import numpy as np

from causalist.extract import hit_of
from causalist.model.graph import ORDERING_KINDS, CodeGraph, EdgeKind
from causalist.model.lookup import Definition
from causalist.model.scores import Hit
from causalist.model.symbols import NodeKind, Role
from causalist.navigate.dispatch import overridden, overriding
from causalist.navigate.reach import edges_into, edges_out_of, namesakes, with_contents


def definition_of(graph: CodeGraph, node: int) -> Definition:
    """Everything about a node but its source."""
    edges, nodes = graph.edges, graph.nodes
    whole = with_contents(graph, [node])
    inside = np.zeros(len(nodes), dtype=np.bool_)
    inside[whole] = True
    into, out_of = edges_into(graph, whole), edges_out_of(graph, whole)
    ordering = np.isin(edges.kinds, sorted(ORDERING_KINDS))
    users = edges.sources[into[ordering[into]]]
    used = edges.targets[out_of[ordering[out_of]]]
    used = used[nodes.kinds[used] != NodeKind.EXTERNAL]
    calls_out = [e for e in graph.outgoing(node) if edges.kinds[e] == EdgeKind.CALLS]
    return Definition(
        hit=hit_of(graph, node, 0.0, 0.0, ()),
        text="",
        stale=False,
        role=Role(int(nodes.roles[node])).label,
        fan_in=len(np.unique(users[~inside[users]])),
        fan_out=len(np.unique(used[~inside[used]])),
        n_callers=sum(bool(edges.kinds[e] == EdgeKind.CALLS) for e in graph.incoming(node)),
        n_callees=sum(bool(nodes.kinds[edges.targets[e]] != NodeKind.EXTERNAL) for e in calls_out),
        outline=_outline(graph, node) if graph.kind(node) is NodeKind.FILE else (),
        namesakes=tuple(nodes.ids[other] for other in namesakes(graph, node)),
        overrides=overridden(graph, node),
        overridden_by=overriding(graph, node),
    )


def _outline(graph: CodeGraph, file: int) -> tuple[Hit, ...]:
    nodes = graph.nodes
    inside = np.flatnonzero((nodes.files == file) & (nodes.kinds != NodeKind.FILE))
    order = np.lexsort((inside, -nodes.end_bytes[inside], nodes.start_bytes[inside]))
    return tuple(hit_of(graph, node, 0.0, 0.0, ()) for node in inside[order].tolist())
