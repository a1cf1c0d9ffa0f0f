"""Which seeds the scores of a few nodes stem from, followed back from these nodes: there are fewer of them than seeds,
and their own scores say when enough is known.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.errors import ConvergenceError
from causalist.model.scores import Transition
from causalist.rank.pagerank.power_iteration import DAMPING, always, check_damping, check_seeds
from causalist.rank.pagerank.sparse_product import csr_products
from causalist.rank.pagerank.transition import by_columns

# A share changes by less than this part of all of a node's, which is less than the per cent that are shown.
ORIGIN_TOLERANCE = 1e-4
# Less than this of a walk that comes from anywhere is nothing: scores that are shown are ten thousand times as much.
LEAST_SCORE = 1e-9
MAX_ITERATIONS = 100_000
# Nodes a product: entries of the matrix are read once for all of them, and the vectors stay small beside it.
AT_ONCE = 16


def origins(
    transition: Transition,
    seeds: NDArray[np.float64],
    groups: Sequence[NDArray[np.int64]],
    *,
    damping: float = DAMPING,
    go_on: Callable[[], bool] = always,
) -> NDArray[np.float64]:
    """How much of the score of each group of nodes stems from each seed (design section 5).

        (I - damping * M) @ x_i = s_i * e_i        what seed i gives to all nodes
        (I - damping * M.T) @ y_g = 1_g            hence 1_g @ x_i = s_i * y_g[i]
        share of seed i = s_i * y_g[i] / sum(s * y_g)

    With the mass that returns, PageRank is not linear in the seeds, but r = damping * M @ r + c * s for one number c,
    so that r and the sum of the x_i are proportional.

    Returns float64 of shape (n_groups, n_seeds); column k belongs to the k-th node with `seeds > 0`, in node order; a
    row is all zero where the walk does not come to its group. What is left out of y is at most
    damping / (1 - damping) times the largest part of the last term, as the columns of M sum to at most 1; the series of
    a group ends where that is below `ORIGIN_TOLERANCE` of s @ y.

    Raises `UsageError` as `personalized_pagerank` does, `ConvergenceError` when damping is so near 1 that it does not
    end, or when `go_on`, asked before each step, says no.

    >>> m = Transition(np.array([0, 0, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.array([1.0, 0.5]),
    ...                np.array([1, 1], dtype=np.int32), np.ones(2, dtype=np.bool_))  # 0 -> 1, and half a loop at 1
    >>> origins(m, np.array([0.5, 0.5]), [np.array([1])], damping=0.5).round(3).tolist()  # 2/6 and 4/6
    [[0.333, 0.667]]
    """
    s = check_seeds(transition, seeds)
    check_damping(damping)
    nodes = np.flatnonzero(s)
    matrix = by_columns(transition)
    shares = np.zeros((len(groups), len(nodes)))
    for first in range(0, len(groups), AT_ONCE):
        some = groups[first : first + AT_ONCE]
        shares[first : first + len(some)] = _backwards(matrix, s, nodes, some, damping, go_on)
    shares *= s[nodes]
    sums = shares.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(shares, sums, out=np.zeros_like(shares), where=sums > 0), dtype=np.float64)


def _backwards(
    matrix: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]],
    s: NDArray[np.float64],
    nodes: NDArray[np.int64],
    groups: Sequence[NDArray[np.int64]],
    damping: float,
    go_on: Callable[[], bool],
) -> NDArray[np.float64]:
    """y of each group at `nodes`, shape (n_groups, n_nodes)."""
    term = np.zeros((len(s), len(groups)))
    for column, group in enumerate(groups):
        term[group, column] = 1.0
    following = np.empty_like(term)
    found = term[nodes]
    for _ in range(MAX_ITERATIONS):
        left = term.max(axis=0) * (damping / (1.0 - damping))
        is_done = left <= np.maximum(ORIGIN_TOLERANCE * (s[nodes] @ found), LEAST_SCORE)
        if is_done.all():
            return np.ascontiguousarray(found.T)
        # A group that is done adds nothing more: what comes out of it does not depend on who else is here.
        term[:, is_done] = 0.0
        if not go_on():
            raise ConvergenceError(f"stopped on the way back from {len(groups)} nodes to their seeds")
        csr_products(*matrix, term, following)
        following *= damping
        found += following[nodes]
        term, following = following, term
    raise ConvergenceError(f"{left.max()} is left after {MAX_ITERATIONS} steps; use damping < {damping}")
