"""Ranks of the right answers -> accuracy@k, MRR, recall@k, and their bootstrap intervals. Knows nothing of files.

A question has one or more right answers; `ranks` holds the 1-based place of each in one list, None where it is not in
the list. Every metric is a number in [0, 1] for one question; a set of questions has their mean.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ranks = Sequence[int | None]

N_RESAMPLES = 2000  # the limits of a 95 % interval then rest on 50 resamples each
SEED = 0
LEVEL = 0.95


class Interval(NamedTuple):
    """A mean and the limits of its interval."""

    value: float
    low: float
    high: float


def accuracy(ranks: Ranks, k: int) -> float:
    """Return 1 if all right answers are among the first k, else 0.

    >>> accuracy([1, 3], 3), accuracy([1, 4], 3), accuracy([1, None], 3)
    (1.0, 0.0, 0.0)
    """
    return float(all(rank is not None and rank <= k for rank in ranks))


def recall(ranks: Ranks, k: int) -> float:
    """Return the share of the right answers that are among the first k.

    >>> recall([1, 4, None, 2], 3)
    0.5
    """
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def reciprocal_rank(ranks: Ranks) -> float:
    """Return 1 / the rank of the first right answer; 0 if there is none in the list.

    >>> reciprocal_rank([None, 4, 2]), reciprocal_rank([None])
    (0.5, 0.0)
    """
    found = [rank for rank in ranks if rank is not None]
    return 1 / min(found) if found else 0.0


def any_of(ranks: Ranks, k: int) -> float:
    """Return 1 if one right answer is among the first k, else 0.

    >>> any_of([7, 1], 1), any_of([7, None], 1)
    (1.0, 0.0)
    """
    return float(any(rank is not None and rank <= k for rank in ranks))


def ndcg(ranks: Ranks, k: int) -> float:
    """Return the normalized discounted cumulative gain of the first k (Järvelin and Kekäläinen 2002).

    Each right answer counts 1 / log2(rank + 1). The sum is divided by its largest possible value.

    >>> ndcg([1], 10), ndcg([3], 10), round(ndcg([2, 3], 10), 4)
    (1.0, 0.5, 0.6934)
    """
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank is not None and rank <= k)
    return gain / sum(1 / math.log2(place + 1) for place in range(1, min(k, len(ranks)) + 1))


METRICS: Mapping[str, Callable[[Ranks], float]] = {
    "accuracy@1": partial(accuracy, k=1),
    "accuracy@3": partial(accuracy, k=3),
    "accuracy@5": partial(accuracy, k=5),
    "accuracy@10": partial(accuracy, k=10),
    "MRR": reciprocal_rank,
    "recall@10": partial(recall, k=10),
    "recall@20": partial(recall, k=20),  # the whole list at the default length, with the places of the graph
}
# What some reports say beside these.
MORE_METRICS: Mapping[str, Callable[[Ranks], float]] = {
    "any@1": partial(any_of, k=1),
    "NDCG@10": partial(ndcg, k=10),
}
MIN_LIST_LENGTH = 10  # results; shorter lists change the meaning of accuracy@10


def metric_values(questions: Sequence[Ranks], names: Sequence[str]) -> NDArray[np.float64]:
    """Return metric `names[j]` of question i at [i, j]; shape (n_questions, n_names)."""
    every = {**METRICS, **MORE_METRICS}
    values = [[every[name](ranks) for name in names] for ranks in questions]
    return np.array(values, dtype=np.float64).reshape(len(questions), len(names))


def bootstrap(
    values: NDArray[np.float64], *, n_resamples: int = N_RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> list[Interval]:
    """Return the mean of each column of `values`, shape (n_questions, n), with a percentile bootstrap interval.

    Whole questions are drawn with replacement, so that columns stay paired: for a paired difference of two systems,
    pass the differences per question. The same seed draws the same questions for every call with as many rows.
    Questions count as independent. Those of one repository are correlated, so the intervals are slightly too narrow.
    """
    n = len(values)
    if n == 0:
        raise ValueError("there is no interval without questions")
    random = np.random.default_rng(seed)
    means = np.empty((n_resamples, values.shape[1]))
    for resample in means:
        resample[:] = np.bincount(random.integers(0, n, n), minlength=n) @ values / n
    outside = 100 * (1 - level) / 2
    low, high = np.percentile(means, [outside, 100 - outside], axis=0)
    return [Interval(*map(float, column)) for column in zip(values.mean(axis=0), low, high, strict=True)]
