"""Impact of a change: the direct and indirect users of a node, and the tests that reach it.

In: a `CodeGraph` and a node. Out: users by distance, and tests that test the node or reach it through its users.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.graph import ORDERING_KINDS, CodeGraph, EdgeKind
from causalist.model.lookup import Affected
from causalist.model.symbols import Role, file_id
from causalist.navigate.edges import DISPATCHED, find_overridden
from causalist.navigate.implicit_calls import edge_of, find_implicit_uses

# Of several ways by which a node depends on another, the first is given.
_DIRECT, _CONSTRUCTOR, _OVERRIDDEN, _SPECIAL = range(4)


def find_affected_nodes(
    graph: CodeGraph, changed: NDArray[np.int64], *, max_depth: int | None, min_confidence: float
) -> tuple[Affected, ...]:
    """Return the nodes outside of `changed` that use one of it, directly or indirectly, by depth, then id.

    What calls a method that a reached one overrides is reached as well, because it may run that.

    What makes instances of a class runs its constructor and those of its bases; what uses a class may run its special
    methods.

    Edges below `min_confidence` do not count. Of several edges by which a node depends on what is one step nearer, a
    direct one is given before a call of a class, a call of what is overridden and another use of a class; of several
    such, the most confident (ties: the lowest number). Breadth first, a level at a time: linear in nodes
    and edges, but for sorting each level's edges. Raises UsageError for a depth below 1.
    """
    if max_depth is not None and max_depth < 1:
        raise UsageError(f"--max-depth must be at least 1, not {max_depth}")
    edges = graph.edges
    usable = np.isin(edges.kinds, sorted(ORDERING_KINDS)) & (edges.confidences >= min_confidence)
    reached = np.zeros(len(graph.nodes), dtype=np.bool_)
    frontier = np.unique(changed)
    reached[frontier] = True
    result: list[Affected] = []
    depth = 0
    while len(frontier) and (max_depth is None or depth < max_depth):
        depth += 1
        origin = find_overridden(graph, frontier.tolist(), min_confidence)
        through = graph.edges_into(np.array(sorted(origin), dtype=np.int64))
        through = through[np.isin(edges.kinds[through], DISPATCHED)]
        direct = graph.edges_into(frontier)
        direct, through = direct[usable[direct]], through[usable[through]]
        implicit = find_implicit_uses(graph, frontier.tolist(), min_confidence, is_chained=True)
        numbers = np.concatenate([direct, through, np.array([use.number for use in implicit], dtype=np.int64)])
        precedence = np.array(
            [_DIRECT] * len(direct)
            + [_OVERRIDDEN] * len(through)
            + [_CONSTRUCTOR if use.is_call else _SPECIAL for use in implicit]
        )
        confidences = edges.confidences[numbers]
        confidences[len(numbers) - len(implicit) :] = [use.confidence for use in implicit]
        order = np.lexsort((numbers, -confidences, precedence, edges.sources[numbers]))
        order = order[~reached[edges.sources[numbers[order]]]]
        frontier, first = np.unique(edges.sources[numbers[order]], return_index=True)
        reached[frontier] = True
        for node, at in zip(frontier.tolist(), order[first].tolist(), strict=True):
            edge, by, runs = graph.edge(int(numbers[at])), "", ""
            if precedence[at] == _OVERRIDDEN:
                by = graph.nodes.ids[origin[int(edges.targets[numbers[at]])]]
            elif precedence[at] != _DIRECT:
                use = implicit[at - (len(numbers) - len(implicit))]
                edge, runs = edge_of(graph, use), graph.nodes.ids[use.method]
            role = Role(int(graph.nodes.roles[node])).label
            layer, tier = graph.layer(node), graph.tier(node)
            result.append(Affected(graph.nodes.ids[node], depth, edge, role, by, layer, tier, runs))
    return tuple(result)


def find_nodes_of_rows(graph: CodeGraph, rows: Mapping[str, Sequence[tuple[int, int]]]) -> NDArray[np.int64]:
    """Return the innermost nodes of the given (first, last) 0-based rows of files, and their overloads, ascending.

    Rows in no definition or section belong to the file. Paths that are not in the graph are skipped.
    """
    nodes = graph.nodes
    found: set[int] = set()
    for path, ranges in rows.items():
        file = nodes.ids.position(file_id(path))
        if file < 0:
            continue
        definitions = np.flatnonzero(nodes.files == file)
        definitions = definitions[
            np.lexsort((definitions, -nodes.end_rows[definitions], nodes.start_bytes[definitions]))
        ]
        owner = np.full(int(nodes.end_rows[file]) + 2, file, dtype=np.int64)  # the innermost node of each row
        for node in definitions.tolist():
            owner[int(nodes.start_rows[node]) : int(nodes.end_rows[node]) + 1] = node
        for first, last in ranges:
            found.update(owner[first : last + 1].tolist())
    found.update([other for node in sorted(found) for other in graph.namesakes(node)])
    return np.array(sorted(found), dtype=np.int64)


def find_tests_reaching(
    graph: CodeGraph, changed: NDArray[np.int64], *, max_depth: int | None, min_confidence: float
) -> tuple[Affected, ...]:
    """Return the tests from which edges of use lead to one of `changed`, by depth, confidence, then id.

    The edge of one that tests a changed node itself is that edge `tests`, if there is one. Raises UsageError for a
    depth below 1.
    """
    edges, ids = graph.edges, graph.nodes.ids
    says = (edges.kinds == EdgeKind.TESTS) & (edges.confidences >= min_confidence)
    into = graph.edges_into(changed)
    direct: dict[str, int] = {}
    for number in sorted(into[says[into]].tolist(), key=lambda e: (-edges.confidences[e], e)):
        direct.setdefault(ids[int(edges.sources[number])], number)
    tests = {ids[node] for node in np.unique(edges.sources[says]).tolist()}
    found = []
    for each in find_affected_nodes(graph, changed, max_depth=max_depth, min_confidence=min_confidence):
        if each.node in direct:
            found.append(each._replace(edge=graph.edge(direct[each.node]), overridden_by="", runs=""))
        elif each.node in tests:
            found.append(each)
    return tuple(sorted(found, key=lambda each: (each.depth, -each.edge.confidence, each.node)))
