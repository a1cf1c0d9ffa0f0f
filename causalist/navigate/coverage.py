"""Which tests reach a node: those that test it, and those that reach it through what uses it."""

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.lookup import Affected
from causalist.navigate.impact import affected_by
from causalist.navigate.reach import edges_into


def tests_reaching(
    graph: CodeGraph, changed: NDArray[np.int64], *, max_depth: int | None, min_confidence: float
) -> tuple[Affected, ...]:
    """Tests from which edges of use lead to one of `changed`, by depth, then the most certain, then id. The edge of one
    that tests a changed node itself is that edge `tests`, if there is one. Raises UsageError for a depth below 1.
    """
    edges, ids = graph.edges, graph.nodes.ids
    says = (edges.kinds == EdgeKind.TESTS) & (edges.confidences >= min_confidence)
    into = edges_into(graph, changed)
    direct: dict[str, int] = {}
    for number in sorted(into[says[into]].tolist(), key=lambda e: (-edges.confidences[e], e)):
        direct.setdefault(ids[int(edges.sources[number])], number)
    tests = {ids[node] for node in np.unique(edges.sources[says]).tolist()}
    found = []
    for each in affected_by(graph, changed, max_depth=max_depth, min_confidence=min_confidence):
        if each.node in direct:
            found.append(each._replace(edge=graph.edge(direct[each.node]), overridden_by=""))
        elif each.node in tests:
            found.append(each)
    return tuple(sorted(found, key=lambda each: (each.depth, -each.edge.confidence, each.node)))
