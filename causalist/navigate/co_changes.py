"""What changes together with a file, as edges that the graph itself does not hold.

The graph follows from the files, and an edge of it from what a file says. That two files change together is known
from commits alone, so that such edges are made from the history when somebody asks for them.
"""

from collections.abc import Sequence

import numpy as np

from causalist.model.graph import Edge, EdgeKind
from causalist.model.index import Index
from causalist.model.lookup import Direction, Neighbors
from causalist.model.symbols import Role
from causalist.navigate.neighbors import neighbors_of

RULE = "history"
# A changelog or a lock file changes with everything, which says nothing of what else to look at.
_ROLES = (Role.CODE, Role.TEST)


def neighbors_in(
    index: Index, node: int, *, hops: int, kinds: Sequence[str], direction: Direction, limit: int
) -> tuple[Neighbors, ...]:
    """`neighbors_of`, and first what changes together with the file of the node if that kind is asked for."""
    found = neighbors_of(index.graph, node, hops=hops, kinds=kinds, direction=direction, limit=limit)
    if EdgeKind.CO_CHANGES.label not in kinds:
        return found
    edges = changes_with(index, node)
    if not edges:
        return found
    graph, shown = index.graph, edges[:limit]
    ends = [graph.nodes.ids.position(edge.target) for edge in shown]
    places = tuple((graph.layer(end), graph.tier(end)) for end in ends)
    return (Neighbors(1, Direction.BOTH, EdgeKind.CO_CHANGES.label, len(edges), shown, places), *found)


def changes_with(index: Index, node: int) -> tuple[Edge, ...]:
    """Edges from the file of a node to the code and tests that change together with it, the strongest first.

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
