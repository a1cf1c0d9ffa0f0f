"""The matrix M of the walk from the edges of a code graph and the weights of their kinds.

In: a `CodeGraph` and `WalkWeights`. Out: a `Transition`, row = target of a link, column = its source. All of it is
numpy over whole edge arrays. Sites `n` and externals deliberately do not count; see design section 5.
"""

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.lazily import dataclass
from causalist.model.graph import SYMMETRIC_KINDS, CodeGraph, EdgeKind
from causalist.model.scores import Transition
from causalist.model.symbols import NodeKind
from causalist.rank._product import csr_transpose

N_EDGE_KINDS = max(EdgeKind) + 1

# Chosen by hand, to be replaced by a measurement (design section 2: every weight is measured with a graph-off arm).
DEFAULT_FORWARD: tuple[tuple[EdgeKind, float], ...] = (
    (EdgeKind.CONTAINS, 0.1),
    (EdgeKind.IMPORTS, 0.1),
    (EdgeKind.CALLS, 1.0),
    (EdgeKind.REFERENCES, 0.1),
    (EdgeKind.EXTENDS, 1.0),
    (EdgeKind.IMPLEMENTS, 1.0),
    # Not walked: no measurement says yet that an answer gains by them.
    (EdgeKind.OVERRIDES, 0.0),
    (EdgeKind.READS, 0.0),
    (EdgeKind.WRITES, 0.0),
    (EdgeKind.TESTS, 0.0),
    (EdgeKind.MENTIONS, 0.0),
    (EdgeKind.CO_CHANGES, 0.5),
    (EdgeKind.SIMILAR, 0.5),
    (EdgeKind.RELATED_TO, 0.5),
)
# Chosen by hand like the above; symmetric kinds have no backward link, so that they need no entry.
DEFAULT_BACKWARD: tuple[tuple[EdgeKind, float], ...] = tuple(
    (kind, 0.2) for kind in EdgeKind if kind not in SYMMETRIC_KINDS
)

# With more nodes a question is answered by pushing unless it says otherwise; docs/decisions/0015 has the measurement.
EXACT_UP_TO = 1_000_000
# Sums of a column's entries may exceed 1 by rounding; beyond this they are scaled back.
_COLUMN_SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class WalkWeights:
    """How gladly the walk follows each kind of edge. A kind that is not listed has weight 0 and is not walked.

    `forward`: weight of a link from source to target. `backward`: what a link from target to source weighs *relative*
    to the forward one. Symmetric kinds are two forward links; what `backward` says of them is not used.

    >>> WalkWeights(((EdgeKind.CALLS, 0.8),), ((EdgeKind.CALLS, 0.5),)).table()[:, EdgeKind.CALLS].tolist()
    [0.8, 0.4]
    """

    forward: tuple[tuple[EdgeKind, float], ...] = DEFAULT_FORWARD
    backward: tuple[tuple[EdgeKind, float], ...] = DEFAULT_BACKWARD

    def table(self) -> NDArray[np.float64]:
        """Shape (2, n_kinds), indexed by EdgeKind: row 0 the weight of a link along the edge, row 1 against it."""
        forward, multiplier = _by_kind("forward", self.forward), _by_kind("backward", self.backward)
        multiplier[sorted(SYMMETRIC_KINDS)] = 1.0
        return np.stack([forward, forward * multiplier])


def build_transition(graph: CodeGraph, weights: WalkWeights, *, normalise: bool = False) -> Transition:
    """M from the edges of `graph` (design section 5), with `forward, backward = weights.table()`.

    An edge from i to j of kind k, both walkable, is a link i -> j of weight `forward[k]` and a link j -> i of weight
    `backward[k]`; a self-loop is both, an edge of a symmetric kind (stored once) is two forward ones. For a node i,

        D_i  = sum(forward[k] / candidates) over outgoing edges + sum(backward[k]) over incoming edges
        M_ji = sum(weight * confidence) / D_i    over the links from i to j

    so that a candidate set counts once in D_i (the confidence of a member is its share already), and a link back to
    one of several users counts whole. Columns sum to at most 1. Where confidences that are not shares make one
    exceed that, it is scaled to 1; finding such edges is the index check's business, and an answer is not refused.

    `normalise`: every column with an entry is scaled to sum 1, which makes confidence relative. Off by default,
    because absolute confidence is meant to count. Time and memory are linear in the edges.

    Raises `UsageError` for weights, confidences or candidate counts out of range.

    >>> from causalist.model.graph import EdgeTable, NodeTable
    >>> from causalist.model.strings import StringTable
    >>> def ints(*values):
    ...     return np.array(values, dtype=np.int32)
    >>> ids, zeros = StringTable.from_strings(["a.py", "b.py", "c.py"]), ints(0, 0, 0)
    >>> nodes = NodeTable(ids, zeros, zeros, ints(0, 1, 2), zeros - 1, zeros, zeros, zeros, zeros, ids, ids)
    >>> calls = np.full(2, EdgeKind.CALLS)  # a calls b or c, nobody knows which: one link with two ends
    >>> edges = EdgeTable(ints(0, 2, 2, 2), ints(0, 0), ints(1, 2), calls, ints(0, 0), np.array([0.4, 0.4]),
    ...                   ints(2, 2), ints(1, 1), ints(0, 0), ints(0, 1), ints(0, 0, 1, 2))
    >>> m = build_transition(CodeGraph(nodes, edges, ("name-only",)), WalkWeights(((EdgeKind.CALLS, 1.0),), ()))
    >>> m.indptr.tolist(), m.indices.tolist(), m.weights.tolist(), m.degrees.tolist()
    ([0, 0, 1, 2], [0, 0], [0.4, 0.4], [2, 1, 1])
    """
    _check_edges(graph)
    table = weights.table()
    n_nodes = len(graph.nodes)
    walkable = graph.nodes.kinds != NodeKind.EXTERNAL
    edges = graph.edges
    walked = walkable[edges.sources] & walkable[edges.targets]
    forward = table[0][edges.kinds] * walked
    backward = table[1][edges.kinds] * walked

    totals = np.bincount(edges.sources, weights=forward / edges.candidates, minlength=n_nodes)
    totals += np.bincount(edges.targets, weights=backward, minlength=n_nodes)
    # Both halves are sorted by (row, column) as they stand, which makes the stable sort below a single merge.
    ahead = edges.incoming[forward[edges.incoming] > 0]
    back = np.flatnonzero(backward > 0)
    rows = np.concatenate([edges.targets[ahead], edges.sources[back]])
    columns = np.concatenate([edges.sources[ahead], edges.targets[back]])
    values = np.concatenate([forward[ahead] * edges.confidences[ahead], backward[back] * edges.confidences[back]])
    values /= totals[columns]

    indptr, indices, entries = _compress(rows, columns, values, n_nodes)
    _scale_columns(indices, entries, n_nodes, normalise=normalise)
    # Several links to one node may add up to a hair above 1, and then a path would gain by going round in a cycle.
    np.minimum(entries, 1.0, out=entries)
    used = walked & ((forward > 0) | (backward > 0))
    degrees, file_degrees = _degrees(graph, used), _file_degrees(graph, used)
    if n_nodes <= EXACT_UP_TO:
        return Transition(indptr, indices, entries, degrees, walkable, file_degrees)
    # Turned here, once, and not by each process that asks.
    turned = csr_transpose(indptr, indices, entries)
    return Transition(indptr, indices, entries, degrees, walkable, file_degrees, *turned)


def within(transition: Transition, inside: NDArray[np.bool_]) -> Transition:
    """The walk that stays inside, shape (n_nodes,): entries from and to other nodes are 0, and what they would have
    carried returns to the seeds. Degrees stay those of the whole graph."""
    rows = np.repeat(np.arange(len(inside)), np.diff(transition.indptr))
    weights = transition.weights * (inside[transition.indices] & inside[rows])
    return Transition(
        transition.indptr, transition.indices, weights, transition.degrees, transition.walkable, transition.file_degrees
    )


def by_columns(transition: Transition) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """(indptr, indices, weights) of the columns of M: those that it has, or else turned now."""
    if len(transition.column_indptr):
        return transition.column_indptr, transition.column_indices, transition.column_weights
    return csr_transpose(transition.indptr, transition.indices, transition.weights)


def _compress(
    rows: NDArray[np.int32], columns: NDArray[np.int32], values: NDArray[np.float64], n_nodes: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """CSR arrays of a matrix given by entries; several entries at one place are added, in the order given."""
    indptr = np.zeros(n_nodes + 1, dtype=np.int32)
    if len(rows) == 0:
        return indptr, np.zeros(0, dtype=np.int32), np.zeros(0)
    keys = rows.astype(np.int64) * n_nodes + columns
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])
    firsts = order[starts]
    np.cumsum(np.bincount(rows[firsts], minlength=n_nodes), out=indptr[1:])
    return indptr, columns[firsts].astype(np.int32), np.add.reduceat(values[order], starts)


def _scale_columns(indices: NDArray[np.int32], entries: NDArray[np.float64], n_nodes: int, *, normalise: bool) -> None:
    """Scales, in place, every column to sum 1, or only those that exceed 1."""
    sums = np.bincount(indices, weights=entries, minlength=n_nodes)
    wrong = sums > 0 if normalise else sums > 1 + _COLUMN_SLACK
    if wrong.any():
        entries /= np.where(wrong, sums, 1.0)[indices]


def _degrees(graph: CodeGraph, walked: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Distinct neighbours over the walked edges, without the node itself and without `contains`, at least 1."""
    edges = graph.edges
    chosen = walked & (edges.kinds != EdgeKind.CONTAINS) & (edges.sources != edges.targets)
    return _n_partners(edges.sources[chosen], edges.targets[chosen], len(graph.nodes))


def _file_degrees(graph: CodeGraph, walked: NDArray[np.bool_]) -> NDArray[np.int32]:
    """How many other files each file is linked with, in either direction, at least 1."""
    owners, edges = graph.nodes.files, graph.edges
    a, b = owners[edges.sources[walked]], owners[edges.targets[walked]]
    apart = (a != b) & (a >= 0) & (b >= 0)
    return _n_partners(a[apart], b[apart], len(graph.nodes))


def _n_partners(a: NDArray[np.int32], b: NDArray[np.int32], n_nodes: int) -> NDArray[np.int32]:
    """With how many others each stands in a pair, (n_nodes,), at least 1."""
    pairs = np.minimum(a, b).astype(np.int64) * n_nodes + np.maximum(a, b)
    pairs.sort()
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(pairs) else pairs
    low, high = np.divmod(pairs, max(n_nodes, 1))
    n_partners = np.bincount(low, minlength=n_nodes) + np.bincount(high, minlength=n_nodes)
    return np.asarray(np.maximum(n_partners, 1), dtype=np.int32)


def _by_kind(name: str, pairs: tuple[tuple[EdgeKind, float], ...]) -> NDArray[np.float64]:
    values = np.zeros(N_EDGE_KINDS)
    kinds = [kind for kind, _ in pairs]
    if len(set(kinds)) < len(kinds):
        raise UsageError(f"a kind of edge has two {name} weights; give each kind once")
    for kind, value in pairs:
        if not (np.isfinite(value) and value >= 0):
            raise UsageError(f"the {name} weight of {kind.label} is {value}; it must be finite and not negative")
        values[kind] = value
    return values


def _check_edges(graph: CodeGraph) -> None:
    edges = graph.edges
    if len(edges) == 0:
        return
    low, high = float(np.min(edges.confidences)), float(np.max(edges.confidences))
    if not (low > 0 and high <= 1):
        raise UsageError(f"confidences of edges range from {low} to {high}; they must lie in (0, 1]")
    if int(np.min(edges.candidates)) < 1:
        raise UsageError(f"an edge has {int(np.min(edges.candidates))} candidates; there is always at least 1")
