"""The most probable way from one node to another."""

from itertools import pairwise

import numpy as np

from causalist.extract import paths_from_seeds
from causalist.model.graph import SYMMETRIC_KINDS, CodeGraph, Edge, EdgeKind
from causalist.model.lookup import Trail
from causalist.model.scores import Hop, Transition
from causalist.rank import WalkWeights

_BACK = " (back)"


def trail_between(graph: CodeGraph, transition: Transition, source: int, target: int) -> Trail | None:
    """The way from `source` to `target` with the largest product of M's entries; None where nothing leads there.

    First along edges from source to target alone; where there is no such way, along and against them. See
    `extract.paths_from_seeds` for ties.
    """
    seeds = np.zeros(len(graph.nodes))
    seeds[source] = 1.0
    for is_forward, walked in ((True, _forward_only(graph, transition)), (False, transition)):
        hops = paths_from_seeds(graph, walked, seeds, [target], kind_weights=_weights(is_forward))[target]
        if hops:
            ways = [graph.nodes.ids.position(hop.node) for hop in hops]
            probability = float(np.prod([_entry(transition, i, j) for i, j in pairwise(ways)]))
            edges = tuple(_edge(graph, i, j, hop) for (i, j), hop in zip(pairwise(ways), hops[1:], strict=True))
            return Trail(hops, probability, edges, is_forward)
    return None


def _weights(is_forward: bool) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """What names a hop: where the way is forward, no edge that is walked backward or has no direction."""
    table = WalkWeights().table()
    if is_forward:
        table[1] = 0.0
        table[:, sorted(SYMMETRIC_KINDS)] = 0.0
    return table


def _forward_only(graph: CodeGraph, transition: Transition) -> Transition:
    """M without the entries for which no edge leads from the column's node to the row's. Symmetric kinds, which say
    that two nodes are related and not that one uses the other, lead nowhere."""
    n_nodes, edges = len(graph.nodes), graph.edges
    counted = _weights(True)[0][edges.kinds] > 0
    forward = edges.sources[counted].astype(np.int64) * n_nodes + edges.targets[counted]
    rows = np.repeat(np.arange(n_nodes, dtype=np.int64), np.diff(transition.indptr))
    kept = np.isin(transition.indices.astype(np.int64) * n_nodes + rows, forward)
    indptr = np.zeros(n_nodes + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows[kept], minlength=n_nodes), out=indptr[1:])
    return Transition(
        indptr, transition.indices[kept], transition.weights[kept], transition.degrees, transition.walkable
    )


def _entry(transition: Transition, i: int, j: int) -> float:
    """M[j, i]; rows hold their columns in ascending order."""
    start, stop = int(transition.indptr[j]), int(transition.indptr[j + 1])
    return float(transition.weights[start + int(np.searchsorted(transition.indices[start:stop], i))])


def _edge(graph: CodeGraph, i: int, j: int, hop: Hop) -> Edge:
    """The edge that a hop from i to j names."""
    assert hop.edge is not None
    kind = EdgeKind[hop.edge.removesuffix(_BACK).upper()]
    pairs = [(j, i)] if hop.edge.endswith(_BACK) else [(i, j)]
    if kind in SYMMETRIC_KINDS:
        pairs = [(i, j), (j, i)]  # stored once, in either direction
    return next(
        graph.edge(e)
        for source, end in pairs
        for e in graph.outgoing(source)
        if graph.edges.targets[e] == end and graph.edges.kinds[e] == kind
    )
