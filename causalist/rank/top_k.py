"""Selection of the best scores, in an order that does not depend on rounding errors."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

SCORE_DECIMALS = 12
ROUNDED_AWAY = 1e-11  # above the change of a score by rounding, and above the distance of two scores that round alike

_Integer = TypeVar("_Integer", bound=np.integer)


def select_top(scores: NDArray[np.float64], k: int) -> list[int]:
    """Return at most k nodes with positive scores, best first.

    The order is by descending score (rounded), then by ascending index, so that equal scores are in the order of ids.
    """
    if k <= 0:
        return []
    nodes = select_first(scores, np.flatnonzero(scores > 0), k)
    return [int(n) for n in nodes[np.round(scores[nodes], SCORE_DECIMALS) > 0]]


def select_first(scores: NDArray[np.float64], nodes: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the first k of some nodes, shape (at most k,), by descending score.

    Scores are rounded; equal ones are ordered by ascending index. `scores` has shape (n_nodes,). Only nodes that may be
    among the first k are rounded and sorted.

    >>> select_first(np.array([1.0, 2.0, 1.0 + 1e-15, 3.0]), np.array([0, 1, 2]), 2).tolist()
    [1, 0]
    """
    values = scores[nodes]
    if 0 < 4 * k < len(nodes):
        least = np.partition(values, len(nodes) - k)[len(nodes) - k]
        # All values that may round to the number that `least` rounds to, or to a larger one.
        may_be = values >= least - ROUNDED_AWAY * (1.0 + abs(least))
        nodes, values = nodes[may_be], values[may_be]
    return nodes[np.lexsort((nodes, -np.round(values, SCORE_DECIMALS)))][:k]


def unique_sorted(values: NDArray[_Integer]) -> NDArray[_Integer]:
    """Return the distinct values of some integers, shape (n,), in ascending order.

    `np.unique` gives the same, but it imports `numpy.ma`, which takes a large part of the time of an answer.

    >>> unique_sorted(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    found = np.sort(values)
    is_first = np.ones(len(found), dtype=np.bool_)
    np.not_equal(found[1:], found[:-1], out=is_first[1:])
    return found[is_first]
