"""PageRank alone: ours against power iteration with scipy, igraph and networkx, warm, on graphs of one generator.

The matrix is prepared on all sides. Ours and scipy's stop at an L1 step of 1e-5; igraph's solver (PRPACK) goes further
and takes no tolerance; networkx, which prepares its matrix anew each time, stops at an L1 step of n * tol: its tol is
1e-5 / n. Runs are interleaved; a ratio is ours to theirs in the same round, and the median of these is told.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.model.scores import Transition
from causalist.rank.pagerank import personalized_pagerank

DAMPING, TOLERANCE = 0.85, 1e-5
_DEGREE = 8
_LARGEST_FOR_NETWORKX = 100_000


def run(sizes: list[int], rounds: int) -> None:
    for n in sizes:
        _compare(n, rounds)


def _compare(n: int, rounds: int) -> None:
    from scipy.sparse import csr_matrix

    transition, seeds = _graph(n)
    matrix = csr_matrix((transition.weights, transition.indices, transition.indptr), shape=(n, n))
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: personalized_pagerank(transition, seeds, damping=DAMPING, tolerance=TOLERANCE).scores,
        "scipy": lambda: _power_iteration(matrix, seeds),
        **_igraph(matrix, seeds),
        **(_networkx(matrix, seeds) if n <= _LARGEST_FOR_NETWORKX else {}),
    }
    for way in ways.values():
        way()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.process_time()
            way()
            times[name].append(time.process_time() - start)
    ours = ways["ours"]()
    exact = personalized_pagerank(transition, seeds, damping=DAMPING, tolerance=1e-12, max_iterations=1000).scores
    first, truth = np.argsort(-ours, kind="stable")[:20], np.argsort(-exact, kind="stable")[:20]
    ratios = ", ".join(
        f"{statistics.median(a / b for a, b in zip(times['ours'], times[name], strict=True)):.3f} x {name}"
        for name in ways
        if name != "ours"
    )
    alike = len(set(first) & set(truth))
    print(
        f"{n} nodes, {len(transition.indices)} entries: {1000 * statistics.median(times['ours']):.1f} ms, {ratios}; "
        f"L1 to a solve to 1e-12: {np.abs(ours - exact).sum():.1e}, {alike} of the first 20 alike",
        flush=True,
    )


def _graph(n: int) -> tuple[Transition, NDArray[np.float64]]:
    """Links between near neighbours and to a few that many lead to, as in code; columns sum to 1."""
    chance = np.random.default_rng(7)
    source = np.repeat(np.arange(n), _DEGREE)
    near = source + chance.integers(-50, 51, len(source))
    hubs = (n * chance.random(len(source)) ** 3).astype(np.int64)
    target = np.where(chance.random(len(source)) < 0.7, near, hubs) % n
    keys = np.unique(target * n + source)
    target, source = keys // n, keys % n
    weights = 1.0 / np.bincount(source, minlength=n)[source]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=n))]).astype(np.int32)
    seeds = np.zeros(n)
    seeds[chance.choice(n, 50, replace=False)] = chance.random(50)
    degrees = np.ones(n, dtype=np.int32)
    return Transition(indptr, source.astype(np.int32), weights, degrees, np.ones(n, dtype=np.bool_)), seeds


def _power_iteration(matrix: Any, seeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """What one would write with scipy."""
    s = seeds / seeds.sum()
    r = s
    while True:
        arrived = matrix @ r
        step = DAMPING * (arrived + (1 - arrived.sum()) * s) + (1 - DAMPING) * s
        if np.abs(step - r).sum() < TOLERANCE:
            return step
        r = step


def _igraph(matrix: Any, seeds: NDArray[np.float64]) -> dict[str, Callable[[], Any]]:
    try:
        import igraph
    except ImportError:
        return {}
    entries = matrix.tocoo()
    edges = np.column_stack([entries.col, entries.row])
    graph = igraph.Graph(n=matrix.shape[0], edges=edges, directed=True)
    weights, reset = entries.data.tolist(), seeds.tolist()
    return {"igraph": lambda: graph.personalized_pagerank(damping=DAMPING, reset=reset, weights=weights)}


def _networkx(matrix: Any, seeds: NDArray[np.float64]) -> dict[str, Callable[[], Any]]:
    import networkx

    entries = matrix.tocoo()
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(matrix.shape[0]))
    graph.add_weighted_edges_from(zip(entries.col.tolist(), entries.row.tolist(), entries.data.tolist(), strict=True))
    reset = {int(node): float(seeds[node]) for node in np.flatnonzero(seeds)}
    tolerance = TOLERANCE / matrix.shape[0]
    return {
        "networkx": lambda: networkx.pagerank(
            graph, alpha=DAMPING, personalization=reset, dangling=reset, tol=tolerance, max_iter=500
        )
    }
