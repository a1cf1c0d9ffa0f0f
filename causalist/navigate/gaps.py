"""What the graph does not know: calls of which only a name is known, where they could matter."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import SYMMETRIC_KINDS, CodeGraph
from causalist.model.index import Index
from causalist.model.lookup import Gap
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS
from causalist.navigate.reach import reachable
from causalist.rank import nodes_named

_CALLED_KINDS = sorted(CALLABLE_KINDS | TYPE_KINDS)


def gaps_in(graph: CodeGraph, inside: NDArray[np.bool_], may_mean: Callable[[str], bool]) -> tuple[Gap, ...]:
    """Unresolved calls that nodes of `inside`, (n_nodes,), make and whose name `may_mean` something, by node, name."""
    unresolved = graph.unresolved
    rows = np.flatnonzero(inside[unresolved.sources]) if len(unresolved) else np.zeros(0, dtype=np.int64)
    meant = {name: may_mean(unresolved.texts[name]) for name in np.unique(unresolved.names[rows]).tolist()}
    return tuple(
        Gap(
            graph.nodes.ids[int(unresolved.sources[i])],
            unresolved.texts[int(unresolved.names[i])],
            int(unresolved.rows[i]) + 1,
            int(unresolved.counts[i]),
        )
        for i in rows.tolist()
        if meant[int(unresolved.names[i])]
    )


def gaps_between(index: Index, source: int, target: int) -> tuple[Gap, ...]:
    """Unresolved calls that could close the way from `source` to `target`: made by what can be reached from the
    source, by a name that something has from which the target can be reached."""
    graph = index.graph
    usable = ~np.isin(graph.edges.kinds, sorted(SYMMETRIC_KINDS))
    before = reachable(graph, np.array([source]), usable, backward=False)
    behind = reachable(graph, np.array([target]), usable, backward=True)
    behind &= np.isin(graph.nodes.kinds, _CALLED_KINDS)

    def may_mean(name: str) -> bool:
        return any(bool(behind[node]) for node in nodes_named(name, index.lexical))

    return gaps_in(graph, before, may_mean)
