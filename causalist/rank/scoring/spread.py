"""Scored nodes -> those of a list that is spread over files.

Where the best file is wrong, so are its other definitions. Each further result of a file has to be better by a toll
than the first of another one, as in the selection by marginal relevance (Carbonell and Goldstein 1998) with "the same
file" for likeness. The toll grows by the logarithm of how many there are: that there is a second one tells more than
that there is a ninth. What surrounds a definition that is there already says little that it does not, and pays a fixed
toll beside.
"""

import heapq
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_AROUND = 2.0  # toll on what surrounds a definition that is in the list
_DECIMALS = 12
_LEAST = 1e-6  # of a score is left, however many of its file were before


def spread(
    nodes: Sequence[int],
    scores: NDArray[np.float64],
    files: NDArray[np.int32],
    parents: NDArray[np.int32],
    most: int,
    toll: float,
) -> dict[int, float]:
    """At most `most` of `nodes`, each with what decided: its score without `toll` times ln(1 + n), n being how many of
    its file stand before it, and without 2 if one of these lies in it. In their order; equal ones by index. Without a
    `toll` scores alone decide. `scores`, `files` and `parents` (enclosing nodes, -1 for none) have shape (n_nodes,).

    >>> files, parents = np.array([7, 7, 8], dtype=np.int32), np.full(3, -1, dtype=np.int32)
    >>> found = spread([0, 1, 2], np.array([3.0, 2.5, 2.0]), files, parents, 3, 1.0)
    >>> {node: round(worth, 2) for node, worth in found.items()}
    {0: 3.0, 2: 2.0, 1: 1.81}
    """
    taken: Counter[int] = Counter()
    around: set[int] = set()
    found: dict[int, float] = {}
    # What was pushed is never too low, because tolls only grow: who comes out with the old one goes back.
    heap = [(-round(float(scores[node]), _DECIMALS), node) for node in nodes]
    heapq.heapify(heap)
    while heap and len(found) < most:
        pushed, node = heapq.heappop(heap)
        file = int(files[node])
        score = float(scores[node])
        owed = toll * math.log1p(taken[file]) + (_AROUND if toll and node in around else 0.0)
        worth = max(score - owed, _LEAST * score)
        rounded = round(worth, _DECIMALS)
        if rounded < -pushed:
            heapq.heappush(heap, (-rounded, node))
            continue
        found[node] = worth
        taken[file] += 1
        outer = int(parents[node])
        while outer >= 0 and outer != file:
            around.add(outer)
            outer = int(parents[outer])
    return found
