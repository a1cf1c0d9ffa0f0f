"""Personalized PageRank by local push, with a bound on the error, and the seeds that a score stems from.

In: the `Transition` of a graph and seeds. Out: a `PageRankResult` with the outcome "approximate". This is forward push
(Andersen, Chung and Lang 2006), adapted to the walk of `pagerank`, in which lost mass returns to the seeds, and
done for all nodes of a frontier at once. The number of links that are followed depends on the threshold and the
damping, never on the size of the graph.

The shares of the seeds in the scores of a few nodes are computed backward from these nodes. There are fewer nodes than
seeds, and their own scores tell when the result is accurate enough.
"""

import weakref
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted
from causalist.errors import ConvergenceError, UsageError
from causalist.model.graph import rows_of
from causalist.model.scores import PageRankResult, Transition, WalkOutcome
from causalist.rank.pagerank import (
    DAMPING,
    EXACT_UP_TO,
    always,
    check_damping,
    check_seeds,
    personalized_pagerank,
    to_csc,
)
from causalist.rank.sparse_product import coo_product, csr_product, csr_products

# Default threshold.
EPSILON = 1e-7
# Cost of a check of the end of a link, relative to a check of a node in a scan.
LOOKING_COSTS = 8
# Cost of sorting a node, relative to a check of its mark.
MARKING_COSTS = 128


class _Columns(NamedTuple):
    """The links that leave each node: `targets[k]` with `weights[k]` for k in indptr[i]:indptr[i + 1].

    `ahead` caches the results of `_forward_bound`, by damping.
    """

    indptr: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float64]
    ahead: dict[float, NDArray[np.float64]]


# By the identity of the weights, while these live: a process that answers many queries transposes M once.
_turned: dict[int, tuple["weakref.ref[NDArray[np.float64]]", _Columns]] = {}


def compute_pagerank(
    transition: Transition,
    seeds: NDArray[np.float64],
    *,
    damping: float,
    approximate: float | None,
    should_continue: Callable[[], bool] = always,
) -> PageRankResult:
    """Return PageRank from these seeds, exact or by local push.

    `approximate` is the threshold, 0 for an exact walk. None: exact up to EXACT_UP_TO nodes, and EPSILON above.
    """
    if approximate is None:
        approximate = EPSILON if len(transition.walkable) > EXACT_UP_TO else 0.0
    if approximate == 0.0:
        return personalized_pagerank(transition, seeds, damping=damping, should_continue=should_continue)
    return push_pagerank(transition, seeds, damping=damping, epsilon=approximate, should_continue=should_continue)


def push_pagerank(
    transition: Transition,
    seeds: NDArray[np.float64],
    *,
    damping: float,
    epsilon: float,
    should_continue: Callable[[], bool] = always,
) -> PageRankResult:
    """Return the fixed point of `personalized_pagerank` near the seeds, approximated from below.

    With s the seeds, scaled to sum 1, that fixed point is r = x / sum(x) for x = (I - damping * M)^-1 s. Pushing keeps

        x = p + (I - damping * M)^-1 q        from p = 0, q = s, with p and q never negative

    and each round moves, for every node i with q_i >= epsilon * max(links_i, 1), all of q_i to p_i and damping * M_ji *
    q_i to each q_j; `links_i` counts the links that leave i. It ends when no node is above its threshold.

    Cost: a push takes at least (1 - damping) * epsilon * links_i from sum(q), which is 1 at first. So no more than 1 /
    (epsilon * (1 - damping)) links are followed. Transposing M, if it has no columns yet, is linear in its links.

    Error: `scores` are y / sum(y) with y = p + q <= x. The missing part, e = damping * M (I - damping * M)^-1 q, has a
    sum of at most E = sum_i h_i * q_i, where h_i bounds the mass that a unit at node i leads to (`_forward_bound`).
    With Y = sum(y),

        |r - y / Y| = |Y * e - sum(e) * y| / (Y * (Y + sum(e))) <= 2 * sum(e) / (Y + sum(e)) <= 2 * E / (Y + E)

    in the L1 norm, and that is `bound`. `residual` is sum(q), `n_iterations` counts rounds. If `should_continue`
    returns False between two rounds, the result so far is returned with its bound and the outcome "stopped".

    `epsilon`: in (0, 1]. Raises `UsageError` otherwise, and as `personalized_pagerank` does.

    >>> m = Transition(np.array([0, 0, 1, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.array([1.0, 0.5]),
    ...                np.array([1, 2, 1], dtype=np.int32), np.ones(3, dtype=np.bool_))  # 0 -> 1 -> 2, half a link
    >>> result = push_pagerank(m, np.array([1.0, 0.0, 0.0]), damping=0.5, epsilon=0.6)
    >>> result.scores.round(4).tolist()  # y = (1, 1/2, 0)
    [0.6667, 0.3333, 0.0]
    >>> round(result.bound, 4)  # q = (0, 1/2, 0), h_1 = 1/4, E = 1/8: 2 * (1/8) / (3/2 + 1/8)
    0.1538
    """
    s = check_seeds(transition, seeds)
    check_damping(damping)
    if not 0 < epsilon <= 1:
        raise UsageError(f"epsilon is {epsilon}; it lies above 0 and is at most 1")
    columns = _columns(transition)
    pushed, rest = np.zeros_like(s), s
    enough = epsilon * np.maximum(np.diff(columns.indptr), 1)
    touched: NDArray[np.int32] = np.flatnonzero(s).astype(np.int32)
    is_due = np.zeros(len(s), dtype=np.bool_)
    rounds, outcome = 0, WalkOutcome.APPROXIMATE
    while True:
        # Only nodes that got mass can be above their threshold now; a scan of all is faster if these are many.
        if len(touched) * LOOKING_COSTS >= len(rest):
            due = np.flatnonzero(rest >= enough)
        else:
            due = _unique_nodes(touched[rest[touched] >= enough[touched]], is_due)
        if len(due) == 0:
            break
        if not should_continue():
            outcome = WalkOutcome.STOPPED
            break
        moved = rest[due]
        pushed[due] += moved
        rest[due] = 0.0
        links, givers = rows_of(columns.indptr, due)
        touched = columns.targets[links]
        coo_product(touched, givers.astype(np.int32), columns.weights[links], damping * moved, rest)
        rounds += 1
    residual = float(rest.sum())
    # Not a BLAS product: its last digits depend on the number of threads.
    missing = float((_forward_bound(columns, damping) * rest).sum())
    pushed += rest
    total = float(pushed.sum())
    pushed /= total
    return PageRankResult(pushed, rounds, residual, outcome, 2.0 * missing / (total + missing), total)


def extend_push(
    transition: Transition,
    walk: PageRankResult,
    others: NDArray[np.float64],
    share: float,
    joined: NDArray[np.float64],
    *,
    damping: float,
    approximate: float | None,
    should_continue: Callable[[], bool] = always,
) -> PageRankResult:
    """Return the result of `compute_pagerank` for `joined`, given the walk from a part of its seeds.

    `joined` = (1 - share) * seeds + share * others, all of sum 1 and share in (0, 1), where `walk` is from `seeds`
    alone.

    The mass pushed from `seeds` is not pushed again. The x of `push_pagerank` is linear in its seeds, so that the new
    one is (1 - share) * x + share * x', with x' from `others`. The errors of x and x' add up in the same way; each is
    at most b * Y / (2 - b) for a bound b of scores scaled from Y. A threshold of epsilon / share for x' leaves of each
    node what epsilon would leave in a walk from `joined`.
    """
    if walk.bound is None:
        return compute_pagerank(
            transition, joined, damping=damping, approximate=approximate, should_continue=should_continue
        )
    epsilon = min(1.0, (approximate or EPSILON) / share)
    extension = push_pagerank(transition, others, damping=damping, epsilon=epsilon, should_continue=should_continue)
    assert extension.bound is not None  # every pushed result has one
    before, new = (1.0 - share) * walk.total, share * extension.total
    scores = before * walk.scores + new * extension.scores
    missing = before * walk.bound / (2.0 - walk.bound) + new * extension.bound / (2.0 - extension.bound)
    total = float(scores.sum())
    scores /= total
    return PageRankResult(
        scores,
        walk.n_iterations + extension.n_iterations,
        (1.0 - share) * walk.residual + share * extension.residual,
        extension.outcome if extension.outcome is WalkOutcome.STOPPED else walk.outcome,
        2.0 * missing / (total + missing),
        total,
    )


def _unique_nodes(nodes: NDArray[np.int32], marks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the distinct values of some nodes, ascending.

    Few nodes are sorted, many are marked. `marks`: shape (n_nodes,), False everywhere before and after.
    """
    if len(nodes) * MARKING_COSTS < len(marks):
        return unique_sorted(nodes.astype(np.int64))
    marks[nodes] = True
    result = np.flatnonzero(marks)
    marks[result] = False
    return result


def _columns(transition: Transition) -> _Columns:
    weights = transition.weights
    cached = _turned.get(id(weights))
    if cached is not None and cached[0]() is weights:
        return cached[1]
    columns = _Columns(*to_csc(transition), {})
    key = id(weights)
    _turned[key] = (weakref.ref(weights, lambda _: _turned.pop(key, None)), columns)
    return columns


def _forward_bound(columns: _Columns, damping: float) -> NDArray[np.float64]:
    """Return a bound h_i for each node, on the sum of damping * M (I - damping * M)^-1 e_i.

    That is all the mass that a unit at node i leads to. The sums are the solution of h = damping * M^T (1 + h). With c
    the largest sum of a column of M, no h_i is above damping * c / (1 - damping * c). From any h above the solution,
    the right side gives one that is still above it and nowhere higher. Two such steps are taken, each a product. The
    result is computed once for each graph and damping.
    """
    cached = columns.ahead.get(damping)
    if cached is not None:
        return cached
    leaving, ahead = (np.empty(len(columns.indptr) - 1) for _ in range(2))
    csr_product(columns.indptr, columns.targets, columns.weights, np.ones_like(leaving), leaving)
    most = min(damping * float(leaving.max(initial=0.0)), damping)
    leaving *= damping * (1.0 + most / (1.0 - most))
    csr_product(columns.indptr, columns.targets, columns.weights, 1.0 + leaving, ahead)
    ahead *= damping
    columns.ahead[damping] = ahead
    return ahead


# L1 tolerance of the shares of a node, below the precision (1 %) that is shown.
ORIGIN_TOLERANCE = 1e-4
# Smaller scores count as 0; shown scores are ten thousand times as large.
MIN_SCORE = 1e-9
MAX_ITERATIONS = 100_000
# Groups of nodes in one product: the matrix is read once for all of them, and their vectors stay small.
GROUPS_PER_PRODUCT = 16


def compute_origin_shares(
    transition: Transition,
    seeds: NDArray[np.float64],
    groups: Sequence[NDArray[np.int64]],
    *,
    damping: float = DAMPING,
    should_continue: Callable[[], bool] = always,
) -> NDArray[np.float64]:
    """Return the share of the score of each group of nodes that stems from each seed.

        (I - damping * M) @ x_i = s_i * e_i        what seed i gives to all nodes
        (I - damping * M.T) @ y_g = 1_g            hence 1_g @ x_i = s_i * y_g[i]
        share of seed i = s_i * y_g[i] / sum(s * y_g)

    With the mass that returns, PageRank is not linear in the seeds, but r = damping * M @ r + c * s for one number c,
    so that r and the sum of the x_i are proportional.

    Returns float64 of shape (n_groups, n_seeds); column k belongs to the k-th node with `seeds > 0`, in node order. A
    row is all zero if the walk does not reach its group. The omitted part of y is at most damping / (1 - damping) times
    the largest part of the last term, as the columns of M sum to at most 1. The series of a group ends when that is
    below `ORIGIN_TOLERANCE` of s @ y.

    Raises `UsageError` as `personalized_pagerank` does. Raises `ConvergenceError` if damping is too near 1 to converge,
    or if `should_continue`, called before each step, returns False.

    >>> m = Transition(np.array([0, 0, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.array([1.0, 0.5]),
    ...                np.array([1, 1], dtype=np.int32), np.ones(2, dtype=np.bool_))  # 0 -> 1, and half a loop at 1
    >>> compute_origin_shares(m, np.array([0.5, 0.5]), [np.array([1])], damping=0.5).round(3).tolist()  # 2/6 and 4/6
    [[0.333, 0.667]]
    """
    s = check_seeds(transition, seeds)
    check_damping(damping)
    nodes = np.flatnonzero(s)
    matrix = to_csc(transition)
    shares = np.zeros((len(groups), len(nodes)))
    for first in range(0, len(groups), GROUPS_PER_PRODUCT):
        batch = groups[first : first + GROUPS_PER_PRODUCT]
        shares[first : first + len(batch)] = _backward_series(matrix, s, nodes, batch, damping, should_continue)
    shares *= s[nodes]
    sums = shares.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(shares, sums, out=np.zeros_like(shares), where=sums > 0), dtype=np.float64)


def _backward_series(
    matrix: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]],
    s: NDArray[np.float64],
    nodes: NDArray[np.int64],
    groups: Sequence[NDArray[np.int64]],
    damping: float,
    should_continue: Callable[[], bool],
) -> NDArray[np.float64]:
    """Return y of each group at `nodes`, shape (n_groups, n_nodes)."""
    term = np.zeros((len(s), len(groups)))
    for column, group in enumerate(groups):
        term[group, column] = 1.0
    following = np.empty_like(term)
    total = term[nodes]
    for _ in range(MAX_ITERATIONS):
        remaining = term.max(axis=0) * (damping / (1.0 - damping))
        is_done = remaining <= np.maximum(ORIGIN_TOLERANCE * (s[nodes] @ total), MIN_SCORE)
        if is_done.all():
            return np.ascontiguousarray(total.T)
        # A finished group adds nothing more, so that its result does not depend on the other groups.
        term[:, is_done] = 0.0
        if not should_continue():
            raise ConvergenceError(f"stopped on the way back from {len(groups)} nodes to their seeds")
        csr_products(*matrix, term, following)
        following *= damping
        total += following[nodes]
        term, following = following, term
    raise ConvergenceError(f"{remaining.max()} is left after {MAX_ITERATIONS} steps; use damping < {damping}")
