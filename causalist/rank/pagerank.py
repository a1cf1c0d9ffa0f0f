"""Personalized PageRank over the code graph by power iteration, with its transition matrix and seed distribution.

The transition matrix M of the walk comes from the edges of a code graph and the weights of their kinds. In: a
`CodeGraph` and `WalkWeights`. Out: a `Transition`, row = target of a link, column = its source. All of it is numpy over
whole edge arrays. Sites `n` and externals deliberately do not count.

PageRank takes a `Transition` and the matches of a query. Out: a `PageRankResult`. Matching nodes to a query and mixing
the scores with others are done elsewhere; `local_push.compute_origin_shares` computes the shares of the seeds.
`damping` is the probability of *following* an edge, everywhere.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import plan_splice
from causalist._internal.lazy import dataclass
from causalist.errors import UsageError
from causalist.model.answer import Specificity
from causalist.model.graph import SYMMETRIC_KINDS, CodeGraph, EdgeKind
from causalist.model.node_ids import NodeKind
from causalist.model.scores import PageRankResult, Transition, WalkOutcome
from causalist.rank.sparse_product import csr_product, csr_transpose

N_EDGE_KINDS = max(EdgeKind) + 1

# Chosen by hand; docs/benchmarks.md compares answers with and without the graph, not single weights.
DEFAULT_FORWARD: tuple[tuple[EdgeKind, float], ...] = (
    (EdgeKind.CONTAINS, 0.1),
    (EdgeKind.IMPORTS, 0.1),
    (EdgeKind.CALLS, 1.0),
    (EdgeKind.REFERENCES, 0.1),
    (EdgeKind.EXTENDS, 1.0),
    (EdgeKind.IMPLEMENTS, 1.0),
    # Not walked: no measurement shows yet that they improve answers.
    (EdgeKind.OVERRIDES, 0.0),
    (EdgeKind.READS, 0.0),
    (EdgeKind.WRITES, 0.0),
    (EdgeKind.TESTS, 0.0),
    (EdgeKind.MENTIONS, 0.0),
    (EdgeKind.ROUTES, 0.0),
    (EdgeKind.EMITS, 0.0),
    (EdgeKind.CO_CHANGES, 0.5),
    (EdgeKind.SIMILAR, 0.5),
    (EdgeKind.RELATED_TO, 0.5),
)
# Chosen by hand. Symmetric kinds have no backward link and need no entry.
DEFAULT_BACKWARD: tuple[tuple[EdgeKind, float], ...] = tuple(
    (kind, 0.2) for kind in EdgeKind if kind not in SYMMETRIC_KINDS
)

# Nodes. Above this number a query uses local push by default; docs/decisions/0005 has the measurement.
EXACT_UP_TO = 1_000_000
# Sums of a column's entries may exceed 1 by rounding; beyond this they are scaled back.
_COLUMN_SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class WalkWeights:
    """Weights with which the walk follows each kind of edge.

    A kind that is not listed has weight 0 and is not walked.

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


class PreviousTransition(NamedTuple):
    """The transition of an earlier graph, built with the same weights, and what changed since then.

    `nodes`: shape (n_nodes then,), the present index of each node, in the same order; -1 if it is gone. `is_other`:
    shape (n_nodes,), True if an edge of the node was added, removed or changed, if the node is new, or if it is a file
    that lost a node.
    """

    transition: Transition
    nodes: NDArray[np.int32]
    is_other: NDArray[np.bool_]


def build_transition(
    graph: CodeGraph, weights: WalkWeights, *, normalise: bool = False, before: PreviousTransition | None = None
) -> Transition:
    """Return M from the edges of `graph`, with `forward, backward = weights.table()`.

    An edge from i to j of kind k, both walkable, is a link i -> j of weight `forward[k]` and a link j -> i of weight
    `backward[k]`; a self-loop is both, an edge of a symmetric kind (stored once) is two forward ones. For a node i,

        D_i  = sum(forward[k] / candidates) over outgoing edges + sum(backward[k]) over incoming edges
        M_ji = sum(weight * confidence) / D_i    over the links from i to j

    so that a candidate set counts once in D_i (the confidence of a member is its share already), and a link back to
    one of several users counts whole. Columns sum to at most 1. Where confidences that are not shares make one
    exceed that, it is scaled to 1; finding such edges is the index check's business, and an answer is not refused.

    With `before`, only the columns of nodes that are other than before are made; the result is the same.

    `normalise`: every column with an entry is scaled to sum 1, which makes confidence relative. Off by default,
    because absolute confidence is meant to count. Time and memory are linear in the edges.

    Raises `UsageError` for weights, confidences or candidate counts out of range.

    >>> from causalist.model.graph import EdgeTable, NodeTable
    >>> from causalist.model.string_table import StringTable
    >>> def ints(*values):
    ...     return np.array(values, dtype=np.int32)
    >>> ids, zeros = StringTable.from_strings(["a.py", "b.py", "c.py"]), ints(0, 0, 0)
    >>> nodes = NodeTable(ids, zeros, zeros, ints(0, 1, 2), zeros - 1, zeros, zeros, zeros, zeros, ids, ids)
    >>> calls = np.full(2, EdgeKind.CALLS)  # a calls b or c, unknown which: one link with two ends
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
    edges = _edges_at(graph, None if before is None else before.is_other)
    walked = walkable[edges.sources] & walkable[edges.targets]
    forward = table[0][edges.kinds] * walked
    backward = table[1][edges.kinds] * walked

    totals = np.bincount(edges.sources, weights=forward / edges.candidates, minlength=n_nodes)
    totals += np.bincount(edges.targets, weights=backward, minlength=n_nodes)
    # Both halves are sorted by (row, column) as they stand, which makes the stable sort below a single merge.
    ahead = edges.incoming[forward[edges.incoming] > 0]
    back = np.flatnonzero(backward > 0)
    if before is not None:
        ahead, back = ahead[before.is_other[edges.sources[ahead]]], back[before.is_other[edges.targets[back]]]
    rows = np.concatenate([edges.targets[ahead], edges.sources[back]])
    columns = np.concatenate([edges.sources[ahead], edges.targets[back]])
    values = np.concatenate([forward[ahead] * edges.confidences[ahead], backward[back] * edges.confidences[back]])
    values /= totals[columns]

    new_entries = _compress(rows, columns, values, n_nodes)
    _scale_columns(new_entries, n_nodes, normalise=normalise)
    # Rounding may lift the sum of several links slightly above 1. Then mass would grow along a cycle.
    np.minimum(new_entries.weights, 1.0, out=new_entries.weights)
    is_walked = (table[0] > 0) | (table[1] > 0)
    degrees, owners = _degrees(edges, walkable, is_walked), graph.nodes.files
    if before is None:
        indptr, indices, entries = _pointers(new_entries.rows, n_nodes), new_entries.columns, new_entries.weights
        file_degrees = _file_degrees(edges, owners, walkable, is_walked)
    else:
        indptr, indices, entries = _splice_columns(before, new_entries, n_nodes)
        is_other_file = np.zeros(n_nodes + 1, dtype=np.bool_)
        is_other_file[owners[before.is_other]] = True
        is_other_file[-1] = False  # index -1: nodes outside of all files
        affected_edges = _edges_at(graph, is_other_file[owners])
        file_degrees = _file_degrees(affected_edges, owners, walkable, is_walked)
        file_degrees = np.where(is_other_file[:-1], file_degrees, _map_nodes(before.transition.file_degrees, before))
        degrees = np.where(before.is_other, degrees, _map_nodes(before.transition.degrees, before))
    if n_nodes <= EXACT_UP_TO:
        return Transition(indptr, indices, entries, degrees, walkable, file_degrees)
    # Transposed once, when the index is built, instead of by each process that answers.
    turned = csr_transpose(indptr, indices, entries)
    return Transition(indptr, indices, entries, degrees, walkable, file_degrees, *turned)


class _Edges(NamedTuple):
    """Some edges, in the order of the graph, as `EdgeTable` has them; `incoming` are places among these."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    confidences: NDArray[np.float64]
    candidates: NDArray[np.int32]
    incoming: NDArray[np.integer[Any]]


class _Entries(NamedTuple):
    """Entries of a matrix, by row and column; each position occurs once."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    weights: NDArray[np.float64]


def _edges_at(graph: CodeGraph, nodes: NDArray[np.bool_] | None) -> _Edges:
    """Return the edges with an end at one of these nodes, shape (n_nodes,), or all edges if it is None."""
    edges = graph.edges
    if nodes is None:
        return _Edges(edges.sources, edges.targets, edges.kinds, edges.confidences, edges.candidates, edges.incoming)
    numbers = np.flatnonzero(nodes.take(edges.sources) | nodes.take(edges.targets))
    targets = edges.targets[numbers]
    return _Edges(
        edges.sources[numbers],
        targets,
        edges.kinds[numbers],
        edges.confidences[numbers],
        edges.candidates[numbers],
        np.argsort(targets, kind="stable"),
    )


def _map_nodes(then: NDArray[np.int32], before: PreviousTransition) -> NDArray[np.int32]:
    """Numbers of nodes of then as numbers of those of now; 1 where a node was not there."""
    now = np.ones(len(before.is_other), dtype=np.int32)
    stays = before.nodes >= 0
    now[before.nodes[stays]] = then[stays]
    return now


def _splice_columns(
    before: PreviousTransition, entries: _Entries, n_nodes: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return the CSR arrays of the earlier matrix, with these entries in place of the changed columns."""
    then, nodes = before.transition, before.nodes
    is_gone = (nodes < 0) | before.is_other[nodes]
    removed = np.flatnonzero(is_gone.take(then.indices))
    gone_rows = np.searchsorted(then.indptr, removed, side="right") - 1
    # A removed node gets the number of the one before it, so that numbers stay ascending.
    new_numbers = np.maximum(np.maximum.accumulate(nodes), 0).astype(np.int64)
    keys = np.repeat(new_numbers * n_nodes, np.diff(then.indptr)) + new_numbers.take(then.indices)
    np.maximum.accumulate(keys, out=keys)
    # An entry that replaces a removed one takes its position, so that later entries do not move.
    at = np.searchsorted(keys, entries.rows.astype(np.int64) * n_nodes + entries.columns, side="right")
    rows = plan_splice(len(keys), removed, gone_rows, at)
    n_kept = np.diff(then.indptr) - np.bincount(gone_rows, minlength=len(nodes))
    n_entries = np.bincount(entries.rows, minlength=n_nodes)
    n_entries[nodes[nodes >= 0]] += n_kept[nodes >= 0]
    indptr = np.zeros(n_nodes + 1, dtype=np.int32)
    np.cumsum(n_entries, out=indptr[1:])
    columns = (
        then.indices
        if np.array_equal(new_numbers, np.arange(len(new_numbers)))
        else new_numbers.take(then.indices).astype(np.int32)
    )
    return indptr, rows.of(columns, entries.columns), rows.of(then.weights, entries.weights)


def restrict_to(transition: Transition, inside: NDArray[np.bool_]) -> Transition:
    """Return the transition of a walk that stays inside, shape (n_nodes,).

    Entries from and to other nodes are 0; the mass that they would carry returns to the seeds. Degrees stay those of
    the whole graph.
    """
    rows = np.repeat(np.arange(len(inside)), np.diff(transition.indptr))
    weights = transition.weights * (inside[transition.indices] & inside[rows])
    return Transition(
        transition.indptr, transition.indices, weights, transition.degrees, transition.walkable, transition.file_degrees
    )


def to_csc(transition: Transition) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return (indptr, indices, weights) of the columns of M, transposed now if the index has none."""
    if len(transition.column_indptr):
        return transition.column_indptr, transition.column_indices, transition.column_weights
    return csr_transpose(transition.indptr, transition.indices, transition.weights)


def _compress(
    rows: NDArray[np.int32], columns: NDArray[np.int32], values: NDArray[np.float64], n_nodes: int
) -> _Entries:
    """Return the matrix of these entries; entries at the same position are added, in the given order."""
    if len(rows) == 0:
        return _Entries(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0))
    keys = rows.astype(np.int64) * n_nodes + columns
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])
    firsts = order[starts]
    return _Entries(rows[firsts], columns[firsts].astype(np.int32), np.add.reduceat(values[order], starts))


def _pointers(rows: NDArray[np.int32], n_nodes: int) -> NDArray[np.int32]:
    indptr = np.zeros(n_nodes + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=n_nodes), out=indptr[1:])
    return indptr


def _scale_columns(entries: _Entries, n_nodes: int, *, normalise: bool) -> None:
    """Scales, in place, every column to sum 1, or only those that exceed 1."""
    sums = np.bincount(entries.columns, weights=entries.weights, minlength=n_nodes)
    wrong = sums > 0 if normalise else sums > 1 + _COLUMN_SLACK
    if wrong.any():
        np.divide(entries.weights, np.where(wrong, sums, 1.0)[entries.columns], out=entries.weights)


def _degrees(edges: _Edges, walkable: NDArray[np.bool_], is_walked: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the number of other nodes that each is linked with by walked edges but `contains`, at least 1."""
    chosen = is_walked[edges.kinds] & walkable[edges.sources] & walkable[edges.targets]
    chosen &= (edges.kinds != EdgeKind.CONTAINS) & (edges.sources != edges.targets)
    return _n_partners(edges.sources[chosen], edges.targets[chosen], len(walkable))


def _file_degrees(
    edges: _Edges, owners: NDArray[np.int32], walkable: NDArray[np.bool_], is_walked: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Return the number of other files that each file is linked with, at least 1.

    Links count in either direction.
    """
    walked = is_walked[edges.kinds] & walkable[edges.sources] & walkable[edges.targets]
    a, b = owners[edges.sources[walked]], owners[edges.targets[walked]]
    is_between_files = (a != b) & (a >= 0) & (b >= 0)
    return _n_partners(a[is_between_files], b[is_between_files], len(walkable))


def _n_partners(a: NDArray[np.int32], b: NDArray[np.int32], n_nodes: int) -> NDArray[np.int32]:
    """With how many others each stands in a pair, (n_nodes,), at least 1."""
    pairs = np.minimum(a, b).astype(np.int64) * n_nodes + np.maximum(a, b)
    pairs.sort()
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(pairs) else pairs
    low = pairs // max(n_nodes, 1)
    n_partners = np.bincount(low, minlength=n_nodes) + np.bincount(pairs - low * n_nodes, minlength=n_nodes)
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


# 0.85 goes back to Brin and Page (1998).
DAMPING = 0.85
TOLERANCE = 1e-5
# The k-th step moves at most 2 * damping ** k: at the defaults 76 iterations are always enough.
MAX_ITERATIONS = 100
# A second, larger tolerance and a longer limit: changes below it move no result that is shown.
RELAXED_TOLERANCE = 1e-4
RELAXED_FACTOR = 2


def always() -> bool:
    """Return True: the iteration goes on until it has converged."""
    return True


def personalized_pagerank(
    transition: Transition,
    seeds: NDArray[np.float64],
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    should_continue: Callable[[], bool] = always,
) -> PageRankResult:
    """Return the fixed point of a walk that follows links and returns to the seeds.

        r = damping * (M @ r + (1 - sum(M @ r)) * s) + (1 - damping) * s        with s = seeds / sum(seeds)

    The fixed point is found by power iteration from r = s. What a column of M lacks to 1 returns to the seeds, so that
    r sums to 1. After Haveliwala (2002), with absolute instead of normalized column sums.

    `seeds`: float64, shape (n_nodes,), not negative, not all zero, zero where not walkable; scaled to sum 1 here.
    `damping`: in [0, 1). `tolerance`: L1 norm of the last step, above 0. Raises `UsageError` otherwise.

    There is always an answer; `outcome` says how far the iteration got:

    - "converged": the step fell below `tolerance` within `max_iterations`;
    - "relaxed": it fell below max(1e-4, 10 * tolerance) within twice as many further iterations;
    - "stopped": `should_continue`, called before each iteration, returned False; `r` is the state at that time;
    - "degree": none of these, and `r_i` is proportional to `degrees[i] * (1 + N * s_i)` over the N walkable nodes.

    `n_iterations` counts all iterations, `residual` is the last step.

    >>> m = Transition(np.array([0, 0, 1, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.array([1.0, 0.5]),
    ...                np.array([1, 2, 1], dtype=np.int32), np.ones(3, dtype=np.bool_))  # 0 -> 1 -> 2, half a link
    >>> result = personalized_pagerank(m, np.array([1.0, 0.0, 0.0]), damping=0.5, tolerance=1e-12)
    >>> result.scores.round(4).tolist(), str(result.outcome)  # proportional to 1, 1/2, 1/8
    ([0.6154, 0.3077, 0.0769], 'converged')
    """
    s = check_seeds(transition, seeds)
    check_damping(damping)
    _check_tolerance(tolerance)
    if max_iterations < 1:
        raise UsageError(f"max_iterations is {max_iterations}; at least 1 is needed")

    r, step = s.copy(), np.empty_like(s)
    home = np.flatnonzero(s)  # mass returns to these nodes only
    residual, n_iterations = np.inf, 0
    relaxed_tolerance = max(RELAXED_TOLERANCE, 10 * tolerance)
    attempts = (
        (WalkOutcome.CONVERGED, tolerance, max_iterations),
        (WalkOutcome.RELAXED, relaxed_tolerance, (1 + RELAXED_FACTOR) * max_iterations),
    )
    for outcome, sufficient, limit in attempts:
        while residual >= sufficient and n_iterations < limit:
            if not should_continue():
                return PageRankResult(r, n_iterations, residual if n_iterations else 0.0, WalkOutcome.STOPPED)
            csr_product(transition.indptr, transition.indices, transition.weights, r, step)
            lacking = max(0.0, 1.0 - float(step.sum()))
            step *= damping
            step[home] += s[home] * (damping * lacking + (1.0 - damping))
            np.subtract(step, r, out=r)
            np.abs(r, out=r)
            residual = float(r.sum())
            r, step = step, r
            n_iterations += 1
        if residual < sufficient:
            return PageRankResult(r, n_iterations, residual, outcome)
    return PageRankResult(_by_degree(transition, s), n_iterations, residual, WalkOutcome.DEGREE)


def seed_distribution(
    matches: Mapping[int, float],
    transition: Transition,
    specificity: Specificity,
    *,
    passage_counts: NDArray[np.int32] | None = None,
) -> NDArray[np.float64]:
    """Return the restart distribution: `s_i` proportional to `match_i * specificity_i`.

    `matches`: node index -> match in (0, 1]. `specificity_i` reduces the weight of nodes with many neighbors: LOG
    `log(N / degrees[i])` with N walkable nodes, PASSAGES `1 / passage_counts[i]` (node specificity of HippoRAG,
    Gutiérrez et al. 2024; shape (n_nodes,), the passages that mention the node, 0 counts as 1), NONE 1. If all of s
    would be zero, the matches alone are used. Returns float64 of shape (n_nodes,), sum 1.

    Raises `UsageError` for no matches at all (there is no PageRank without a seed), matches out of range, nodes that do
    not exist or cannot be walked, and PASSAGES without counts.

    >>> m = Transition(np.zeros(5, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0),
    ...                np.array([1, 2, 1, 4], dtype=np.int32), np.ones(4, dtype=np.bool_))
    >>> seed_distribution({0: 0.5, 1: 1.0, 3: 1.0}, m, Specificity.LOG).tolist()  # 0.5 log 4, 1 log 2, 1 log 1
    [0.5, 0.5, 0.0, 0.0]
    >>> seed_distribution({3: 1.0}, m, Specificity.LOG).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    nodes = np.fromiter(matches.keys(), dtype=np.int64, count=len(matches))
    values = np.fromiter(matches.values(), dtype=np.float64, count=len(matches))
    _check_matches(transition, nodes, values)
    if specificity is Specificity.LOG:
        n_walkable = int(np.count_nonzero(transition.walkable))
        specific = np.maximum(np.log(n_walkable / transition.degrees[nodes]), 0.0)
    elif specificity is Specificity.PASSAGES:
        if passage_counts is None or passage_counts.shape != transition.degrees.shape:
            raise UsageError("specificity by passages needs one passage count for each node of the graph")
        specific = 1.0 / np.maximum(passage_counts[nodes], 1)
    else:
        specific = np.ones(len(nodes))
    weighted = values * specific
    seeds = np.zeros(len(transition.walkable))
    seeds[nodes] = weighted if weighted.any() else values
    return np.asarray(seeds / seeds.sum(), dtype=np.float64)


def _by_degree(transition: Transition, s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fallback scores if the iteration did not converge: node degree, raised at the seeds."""
    n_walkable = int(np.count_nonzero(transition.walkable))
    scores = np.where(transition.walkable, transition.degrees * (1.0 + n_walkable * s), 0.0)
    return np.asarray(scores / scores.sum(), dtype=np.float64)


def check_seeds(transition: Transition, seeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a copy of the seeds, scaled to sum 1."""
    seeds = np.asarray(seeds, dtype=np.float64)
    if seeds.shape != transition.walkable.shape:
        raise UsageError(f"seeds have shape {seeds.shape}; the graph needs {transition.walkable.shape}")
    wrong = np.flatnonzero(~(np.isfinite(seeds) & (seeds >= 0)))
    if len(wrong):
        raise UsageError(f"seed {wrong[0]} is {seeds[wrong[0]]}; seeds must be finite and not negative")
    outside = np.flatnonzero((seeds > 0) & ~transition.walkable)
    if len(outside):
        raise UsageError(f"seed {outside[0]} lies outside the repository; only walkable nodes can be seeds")
    largest = seeds.max(initial=0.0)
    if largest == 0:
        raise UsageError("all seeds are zero; at least one node must match")
    seeds = seeds / largest  # the sum of very large seeds would overflow
    return np.asarray(seeds / seeds.sum(), dtype=np.float64)


def check_damping(damping: float) -> None:
    """Raise a UsageError unless `damping` is a probability below 1."""
    if not 0 <= damping < 1:
        raise UsageError(f"damping is {damping}; it must be at least 0 and below 1")


def _check_tolerance(tolerance: float) -> None:
    if not (np.isfinite(tolerance) and tolerance > 0):
        raise UsageError(f"tolerance is {tolerance}; it must be above 0")


def _check_matches(transition: Transition, nodes: NDArray[np.int64], values: NDArray[np.float64]) -> None:
    if len(nodes) == 0:
        raise UsageError("no node matches; without a match there is no PageRank")
    n_nodes = len(transition.walkable)
    if nodes.min() < 0 or nodes.max() >= n_nodes:
        raise UsageError(f"matches name nodes {nodes.min()} to {nodes.max()}; the graph has 0 to {n_nodes - 1}")
    wrong = np.flatnonzero(~((values > 0) & (values <= 1)))
    if len(wrong):
        raise UsageError(f"the match of node {nodes[wrong[0]]} is {values[wrong[0]]}; it must lie in (0, 1]")
    outside = nodes[~transition.walkable[nodes]]
    if len(outside):
        raise UsageError(f"node {outside[0]} lies outside the repository; only walkable nodes can match")
