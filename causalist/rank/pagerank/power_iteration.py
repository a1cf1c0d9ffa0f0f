"""Personalized PageRank over the code graph by power iteration, and its seed distribution.

In: the `Transition` of a graph (`build_transition`) and the matches of a query. Out: a `PageRankResult`. Matching nodes
to a query and mixing the scores with others are done elsewhere; `local_push.compute_origin_shares` computes the shares
of the seeds. `damping` is the probability of *following* an edge, everywhere.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.answer import Specificity
from causalist.model.scores import PageRankResult, Transition, WalkOutcome
from causalist.rank.pagerank.transition import DEFAULT_BACKWARD, DEFAULT_FORWARD, WalkWeights, build_transition
from causalist.rank.sparse_product import csr_product

__all__ = [
    "DEFAULT_BACKWARD",
    "DEFAULT_FORWARD",
    "WalkWeights",
    "build_transition",
    "personalized_pagerank",
    "seed_distribution",
]

# Damping and tolerance of design section 5; 0.85 goes back to Brin and Page (1998).
DAMPING = 0.85
TOLERANCE = 1e-5
# The k-th step moves at most 2 * damping ** k: at the defaults 76 iterations are always enough.
MAX_ITERATIONS = 100
# A second, larger tolerance and a longer limit: changes below it move no result that is shown.
RELAXED_TOLERANCE = 1e-4
RELAXED_FACTOR = 2


def always() -> bool:
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
    """Return the fixed point of a walk that follows links and returns to the seeds (design section 5).

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
    """Return the restart distribution: `s_i` proportional to `match_i * specificity_i` (design section 5).

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
