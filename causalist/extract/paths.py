"""Most probable path from a seed to a node, hop by hop, with file and line.

In: the graph, the walk's matrix, the seeds and some targets. Out: one tuple of `Hop`s for each target. A path explains
a score and is not the score, which adds over all paths.
"""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.graph import SYMMETRIC_KINDS, CodeGraph, EdgeKind, rows_of
from causalist.model.scores import Hop, Transition
from causalist.model.symbols import split_id

_FEW_ENTRIES = 200_000  # that are all gone over
_PICKING_COSTS = 8  # as much an entry as going over all of them


def paths_from_seeds(
    graph: CodeGraph,
    transition: Transition,
    seeds: NDArray[np.float64],
    targets: Sequence[int],
    *,
    kind_weights: NDArray[np.float64],
) -> dict[int, tuple[Hop, ...]]:
    """Return the most probable path from any seed to each target; () if no path exists.

    A path maximizes `seeds[i0] * M[i1, i0] * M[i2, i1] * ...` over seeds i0 and paths i0, i1, i2, ... to the target.
    This is the probability that a walker starts at i0 and takes exactly this path. For a target that is a seed, its own
    mass with no step competes with the other paths. Ties go to the path with fewer hops, then, from the target back, to
    the lower node.

    `seeds`: float64, (n_nodes,), not negative. `kind_weights`: float64, (2, n_edge_kinds), the weight of a link along
    and against an edge of each kind in the walk (`WalkWeights.table()`). With the confidence it decides which of
    several edges between two nodes names the hop (ties: the lower kind, then forward).

    A hop represents one edge: `edge` is "calls", or "calls (back)" if it was walked from its target to its source.
    `path` and `line` give the position of the edge, which is in the file of *its source*. The first hop is the seed,
    with its file and first line.

    Raises `UsageError` for arrays of the wrong shape, negative seeds, and targets that do not exist.
    """
    n_nodes = len(graph.nodes)
    if seeds.shape != (n_nodes,) or len(transition.indptr) != n_nodes + 1:
        raise UsageError(f"seeds have shape {seeds.shape} and M {len(transition.indptr) - 1} rows for {n_nodes} nodes")
    if kind_weights.shape != (2, max(EdgeKind) + 1):
        raise UsageError(f"weights of kinds have shape {kind_weights.shape}; they must be {(2, max(EdgeKind) + 1)}")
    if not bool(np.all(seeds >= 0)):
        raise UsageError("a seed is negative or not a number; seeds must not be negative")
    for target in targets:
        if not 0 <= target < n_nodes:
            raise UsageError(f"node {target} does not exist; the graph has {n_nodes} nodes")

    best = best_products(transition, seeds, np.asarray(targets, dtype=np.int64), graph)
    paths = {}
    for target in targets:
        way = _trace(transition, seeds, best, target)
        hops = [_seed_hop(graph, way[0])] if way else []
        hops += [_hop(graph, kind_weights, i, j) for i, j in pairwise(way)]
        paths[target] = tuple(hops)
    return paths


def best_products(
    transition: Transition,
    seeds: NDArray[np.float64],
    targets: NDArray[np.int64],
    graph: CodeGraph | None = None,
) -> NDArray[np.float64]:
    """Return the largest product of a path to each node: float64, (n_nodes,), 0 if no path exists.

        best[j] = max(seeds[j], max(M[j, i] * best[i] for all i))

    It is computed by rounds of whole-array relaxation (Bellman and Ford, with products for sums). Entries are at most
    1, so paths gain nothing from cycles, and there are as many rounds as hops in the longest best path. Dijkstra's
    algorithm visits fewer nodes, but one at a time in Python, and needs M by columns, which costs a sort. The rounds
    end as soon as no value that still changes can reach a target: then the values of the targets and all values above
    the smallest of these are final, others may be too small. With the `graph` of M, a round visits only the neighbors
    of the nodes that changed in the previous one, as long as these are few, since all others keep their values.

    >>> m = Transition(np.array([0, 0, 1, 3], dtype=np.int32), np.array([0, 0, 1], dtype=np.int32),
    ...                np.array([0.5, 0.1, 0.4]), np.array([2, 2, 2], dtype=np.int32), np.ones(3, dtype=np.bool_))
    >>> best_products(m, np.array([0.8, 0.2, 0.0]), np.array([2])).round(3).tolist()  # 0 -> 1 -> 2, not 0 -> 2
    [0.8, 0.4, 0.16]
    """
    best = np.array(seeds, dtype=np.float64)
    rows = np.flatnonzero(np.diff(transition.indptr))
    if len(rows) == 0 or len(targets) == 0:
        return best
    moved = np.flatnonzero(best)
    for _ in range(len(best)):  # no best path has more hops than there are nodes
        some = None if graph is None else _near(graph, transition, moved)
        places = rows if some is None else some
        largest = (_largest_of_all if some is None else _largest_of)(transition, best, places)
        changed = largest > best[places]
        if not changed.any():
            break
        moved = places[changed]
        best[moved] = largest[changed]
        # What is no larger than what all targets have gives them nothing.
        moved = moved[best[moved] > best[targets].min()]
        if len(moved) == 0:
            break
    return best


def _near(graph: CodeGraph, transition: Transition, nodes: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the neighbors of some nodes with incoming entries, ascending; None if visiting all is as fast."""
    edges = graph.edges
    if len(transition.weights) < _FEW_ENTRIES:
        return None
    out, _ = rows_of(edges.indptr, nodes)
    back, _ = rows_of(edges.incoming_indptr, nodes)
    if (len(out) + len(back)) * _PICKING_COSTS > len(edges):
        return None
    is_near = np.zeros(len(graph.nodes), dtype=np.bool_)
    is_near[edges.targets[out]] = True
    is_near[edges.sources[edges.incoming[back]]] = True
    near = np.flatnonzero(is_near)
    n_entries = transition.indptr[near + 1] - transition.indptr[near]
    return near[n_entries > 0] if int(n_entries.sum()) * _PICKING_COSTS < len(transition.weights) else None


def _largest_of(transition: Transition, best: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest one-step product of each of some rows, none of them empty."""
    entries, owners = rows_of(transition.indptr, rows)
    products = best[transition.indices[entries]] * transition.weights[entries]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    return np.maximum.reduceat(products, starts) if len(starts) else products


def _largest_of_all(transition: Transition, best: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    products = np.take(best, transition.indices)
    products *= transition.weights
    return np.asarray(np.maximum.reduceat(products, transition.indptr[rows]))


def _trace(transition: Transition, seeds: NDArray[np.float64], best: NDArray[np.float64], target: int) -> list[int]:
    """Return the nodes of the best path from a seed to `target`; empty if there is no path.

    Breadth first from the target backwards over entries that attain the best product exactly: the same multiplication
    was made before, so that no tolerance is needed.
    """
    if best[target] <= 0:
        return []
    onward = {target: -1}
    queue = deque([target])
    while queue:
        node = queue.popleft()
        if best[node] == seeds[node]:
            way = []
            while node >= 0:
                way.append(node)
                node = onward[node]
            return way
        entries = slice(int(transition.indptr[node]), int(transition.indptr[node + 1]))
        sources = transition.indices[entries]
        attained = sources[transition.weights[entries] * best[sources] == best[node]]
        for source in attained.tolist():
            if source not in onward:
                onward[source] = node
                queue.append(source)
    raise AssertionError("a best product has no path")  # cannot happen: each product was attained by some entry


def _seed_hop(graph: CodeGraph, node: int) -> Hop:
    return Hop(graph.nodes.ids[node], None, _path(graph, node), int(graph.nodes.start_rows[node]) + 1)


def _hop(graph: CodeGraph, kind_weights: NDArray[np.float64], i: int, j: int) -> Hop:
    """Return the step from i to j, named by the edge that contributes most to M[j, i]."""
    forward = [(number, 0) for number in _between(graph, i, j)]
    backward = [(number, 1) for number in _between(graph, j, i)]
    edges = graph.edges

    def strength(link: tuple[int, int]) -> tuple[float, int, int]:
        number, against = link
        kind = int(edges.kinds[number])
        return -float(kind_weights[against, kind] * edges.confidences[number]), kind, against

    links = forward + backward
    if not links:
        raise UsageError(f"M leads from node {i} to node {j}, but the graph has no edge; they do not belong together")
    number, against = min(links, key=strength)
    kind = EdgeKind(int(edges.kinds[number]))
    label = f"{kind.label} (back)" if against and kind not in SYMMETRIC_KINDS else kind.label
    row = int(edges.rows[number])
    return Hop(graph.nodes.ids[j], label, _path(graph, int(edges.sources[number])), row + 1 if row >= 0 else None)


def _between(graph: CodeGraph, source: int, target: int) -> range:
    """Return the numbers of the edges from `source` to `target`; a source's edges are sorted by target."""
    edges = graph.edges
    start, stop = int(edges.indptr[source]), int(edges.indptr[source + 1])
    low, high = np.searchsorted(edges.targets[start:stop], [target, target + 1])
    return range(start + int(low), start + int(high))


def _path(graph: CodeGraph, node: int) -> str | None:
    """Return the path of the file that contains a node; None if no file does."""
    file = int(graph.nodes.files[node])
    return split_id(graph.nodes.ids[file])[0] if file >= 0 else None
