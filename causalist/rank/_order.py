"""The best of many scores, in an order that does not depend on the last digits."""

import numpy as np
from numpy.typing import NDArray

SCORE_DECIMALS = 12


def best_of(scores: NDArray[np.float64], k: int, without: set[int] | None = None) -> list[int]:
    """At most k nodes with positive scores, by descending score (rounded), then ascending index: ids are sorted."""
    rounded = np.round(scores, SCORE_DECIMALS)
    if without:
        rounded = rounded.copy()
        rounded[sorted(without)] = 0.0
    nodes = np.flatnonzero(rounded > 0)
    if k <= 0:
        return []
    if len(nodes) > 4 * k:
        threshold = np.partition(rounded[nodes], len(nodes) - k)[len(nodes) - k]
        nodes = nodes[rounded[nodes] >= threshold]
    order = np.lexsort((nodes, -rounded[nodes]))
    return [int(n) for n in nodes[order][:k]]
