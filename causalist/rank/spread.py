"""Scored nodes -> those of a list that is spread over files.

A question for an overview is not answered by one file, however well it fits. Each further result of a file has to be
better by a toll than the first of another one, as in the selection by marginal relevance (Carbonell and Goldstein
1998) with "the same file" for likeness.
"""

import heapq
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_DECIMALS = 12
_LEAST = 1e-6  # of a score is left, however many of its file were before


def spread(
    nodes: Sequence[int], scores: NDArray[np.float64], files: NDArray[np.int32], most: int, toll: float
) -> dict[int, float]:
    """At most `most` of `nodes`, each with what decided: its score without `toll` for every one of its file before it.
    In their order; equal ones by index. `scores` and `files` have shape (n_nodes,).

    >>> spread([0, 1, 2], np.array([3.0, 2.5, 2.0]), np.array([7, 7, 8], dtype=np.int32), 3, 1.0)
    {0: 3.0, 2: 2.0, 1: 1.5}
    """
    taken: Counter[int] = Counter()
    found: dict[int, float] = {}
    # What was pushed is never too low, because tolls only grow: who comes out with the old one goes back.
    heap = [(-round(float(scores[node]), _DECIMALS), node) for node in nodes]
    heapq.heapify(heap)
    while heap and len(found) < most:
        pushed, node = heapq.heappop(heap)
        file = int(files[node])
        score = float(scores[node])
        worth = max(score - toll * taken[file], _LEAST * score)
        rounded = round(worth, _DECIMALS)
        if rounded < -pushed:
            heapq.heappush(heap, (-rounded, node))
            continue
        found[node] = worth
        taken[file] += 1
    return found
