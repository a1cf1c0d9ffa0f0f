"""Pushed against exact PageRank on synthetic graphs: `python -m tests.benchmarks.speed.push 100000 1000000`.

Time is that of the processor, the best of three. Four of five links lead near, as within a file and its neighbours, the
others to few nodes that everybody uses; links are walked back with a fifth of their weight, and a fifth of what leaves
a node returns to the seeds. Seeds are 50 nodes anywhere.
"""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from causalist.model.scores import Transition
from causalist.rank.local_push import push_pagerank
from causalist.rank.pagerank import personalized_pagerank
from causalist.rank.sparse_product import csr_transpose

_T = TypeVar("_T")
LINKS_PER_NODE = 6
N_SEEDS = 50


def synthetic(n: int) -> Transition:
    rng = np.random.default_rng(1)
    a = rng.integers(0, n, n * LINKS_PER_NODE)
    near = np.clip(a + rng.normal(0, 50, len(a)).astype(np.int64), 0, n - 1)
    used = (n * rng.random(len(a)) ** 4).astype(np.int64) * 7919 % n
    b = np.where(rng.random(len(a)) < 0.8, near, used)
    keys, places = np.unique(np.concatenate([b * n + a, a * n + b]), return_inverse=True)
    weights = np.bincount(places, weights=np.repeat([1.0, 0.2], len(a)))
    rows, columns = np.divmod(keys, n)
    weights *= 0.8 / np.bincount(columns, weights=weights, minlength=n)[columns]
    indptr = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    return Transition(indptr, columns.astype(np.int32), weights, np.ones(n, np.int32), np.ones(n, np.bool_))


def timed(work: Callable[[], _T]) -> tuple[_T, float]:
    """(result, milliseconds)"""
    spent = []
    for _ in range(3):
        start = time.process_time()
        result = work()
        spent.append(time.process_time() - start)
    return result, min(spent) * 1000


def measure(n: int) -> None:
    m, rng, seeds = synthetic(n), np.random.default_rng(2), np.zeros(n)
    seeds[rng.choice(n, N_SEEDS, replace=False)] = rng.random(N_SEEDS)
    _, exact = timed(lambda: personalized_pagerank(m, seeds))
    _, turning = timed(lambda: csr_transpose(m.indptr, m.indices, m.weights))
    truth = personalized_pagerank(m, seeds, tolerance=1e-12, max_iterations=1000).scores
    best = set(np.argsort(-truth, kind="stable")[:20].tolist())
    print(f"{n} nodes, {len(m.indices)} links: exact {exact:.0f} ms, turning round {turning:.0f} ms")
    for epsilon in (1e-5, 1e-6, 1e-7, 1e-8):
        pushed, spent = timed(lambda e=epsilon: push_pagerank(m, seeds, damping=0.85, epsilon=e))  # type: ignore[misc]
        same = len(best & set(np.argsort(-pushed.scores, kind="stable")[:20].tolist()))
        error = np.abs(pushed.scores - truth).sum()
        print(f"  {epsilon:g}: {spent:.0f} ms, bound {pushed.bound:.3f}, error {error:.4f}, {same} of the best 20")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        measure(int(argument))
