"""Cosines with a question -> a signal.

Cosines of one model all lie close together, and lower for one question than for another. What tells is how far a
definition stands out from the others of the same repository: from their median. The form, and the weights of the
signal in `weights.json`, were chosen on short questions with one small model; docs/embedders.md has the figures.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from causalist.rank.query.routes import Generating

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex
# The cosines of all nodes with the question, 0 where there is none. May fail.
Similarities = Callable[[], Scores]

DENSE = "dense"
N_NEAREST = 200  # that are candidates, and get a signal


def dense_scores(similarities: Similarities | None, by: Generating, n_nodes: int) -> Scores:
    """The signal of a question; zeros, and no step, without an embedder."""
    if similarities is None:
        return np.zeros(n_nodes)
    (found,) = by.scores(DENSE, 1, lambda: (dense_signal(similarities()),))
    return found


def dense_signal(cosines: Scores) -> Scores:
    """Of the N_NEAREST, the square of how far the cosine is above the median of all that have one, divided by how far
    the best is; 0 for all others.

    >>> dense_signal(np.array([0.6, 0.0, 0.2, 0.4, 0.1])).round(2).tolist()  # the median is 0.3
    [1.0, 0.0, 0.0, 0.11, 0.0]
    """
    found = cosines[cosines > 0]
    middle = float(np.median(found)) if len(found) > 1 else 0.0
    top = float(cosines.max(initial=0.0))
    if top <= middle:
        return np.zeros(len(cosines))
    result: Scores = (np.maximum(cosines - middle, 0.0) / (top - middle)) ** 2
    if len(result) > N_NEAREST:
        result = np.where(result >= np.partition(result, -N_NEAREST)[-N_NEAREST], result, 0.0)
    return result
