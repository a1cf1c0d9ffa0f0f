"""Personalized PageRank over an undirected memory graph: one question, several at once, or within an error bound.

The same fixed point as `rank.walk.personalized_pagerank`, found faster: links are walked both ways alike, so that the
system can be made symmetric, and conjugate gradients need about a third of the products of a power iteration. Where
they do not get there in time, the power iteration with its rungs takes over.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.memory.sparse_matrix import Floats
from causalist.memory.variants import WalkGraph
from causalist.model.scores import PageRankResult
from causalist.rank.pagerank.power_iteration import personalized_pagerank
from causalist.rank.pagerank.sparse_product import csr_product

MAX_ITERATIONS = 50
TOLERANCE = 1e-6
_CACHED = 64  # results


@dataclass(slots=True)
class Walker:
    """PageRank over one graph, with the last results remembered."""

    graph: WalkGraph
    _cache: OrderedDict[bytes, PageRankResult] = field(default_factory=OrderedDict)
    hits: int = 0

    def pagerank(
        self,
        seeds: Floats,
        *,
        damping: float,
        tolerance: float = TOLERANCE,
        max_iterations: int = MAX_ITERATIONS,
    ) -> PageRankResult:
        """`seeds`: shape (n,), not negative, not all zero. See `solve` for the formula.

        `residual` is how much one step of the power iteration would change the scores (L1 norm)."""
        settings = np.array([damping, tolerance, max_iterations])
        key = hashlib.blake2b(seeds.tobytes() + settings.tobytes(), digest_size=16).digest()
        found = self._cache.get(key)
        if found is not None:
            self.hits += 1
            self._cache.move_to_end(key)
            return found
        found = self._fresh(seeds, damping, tolerance, max_iterations)
        self._cache[key] = found
        if len(self._cache) > _CACHED:
            self._cache.popitem(last=False)
        return found

    def approximate(self, seeds: Floats, *, damping: float, bound: float) -> tuple[PageRankResult, float]:
        """Scores that differ from the exact ones by at most `bound` in the L1 norm, and how much by at most.

        With x the solution so far and e what is left of the equation, the exact one is at most |e| / (1 - damping)
        away; scaling x to sum 1 at most doubles that."""
        if not 0 < bound <= 1:
            raise UsageError(f"the bound is {bound}; it lies in (0, 1]")
        tolerance = bound * (1 - damping) / 2
        result = self.pagerank(seeds, damping=damping, tolerance=tolerance, max_iterations=1000)
        return result, min(bound, 2 * result.residual / (1 - damping))

    def pagerank_many(
        self, seeds: Floats, *, damping: float, tolerance: float = TOLERANCE, max_iterations: int = MAX_ITERATIONS
    ) -> list[PageRankResult]:
        """Several questions, `seeds` of shape (questions, n), with one product of all for each step."""
        checked = np.stack([_scaled(row) for row in seeds]) if len(seeds) else seeds
        scores, n_iterations, residuals = solve(self.graph, checked, damping, tolerance, max_iterations)
        return [
            PageRankResult(row, n_iterations, float(residual), "converged")
            if residual <= tolerance
            else self._fresh(seed, damping, tolerance, max_iterations)
            for row, residual, seed in zip(scores, residuals, checked, strict=True)
        ]

    def _fresh(self, seeds: Floats, damping: float, tolerance: float, max_iterations: int) -> PageRankResult:
        scaled = _scaled(seeds)
        if not 0 <= damping < 1:
            raise UsageError(f"damping is {damping}; it must be at least 0 and below 1")
        scores, n_iterations, residuals = solve(self.graph, scaled[None, :], damping, tolerance, max_iterations)
        if residuals[0] <= tolerance:
            return PageRankResult(scores[0], n_iterations, float(residuals[0]), "converged")
        transition = self.graph.transition
        return personalized_pagerank(
            transition, scaled, damping=damping, tolerance=tolerance, max_iterations=max_iterations
        )


def solve(
    graph: WalkGraph, seeds: Floats, damping: float, tolerance: float, max_iterations: int
) -> tuple[Floats, int, Floats]:
    """(scores, iterations, residuals) for `seeds` of shape (questions, n), each row of sum 1, by conjugate gradients.

        r = x / sum(x),  (I - d * M) x = s,  M = C / D,  C symmetric
        with S = D^-1/2 C D^-1/2 and y = D^-1/2 x:  (I - d * S) y = D^-1/2 s,  symmetric, positive definite for d < 1

    What a column of M lacks to 1 returns to the seeds, which is what scaling x does (see `rank.walk`). The residual
    of a row is |s + d M x - x| / sum(x) in the L1 norm.
    """
    root = np.sqrt(graph.totals)
    indptr, indices, entries = graph.transition.indptr, graph.transition.indices, graph.balanced
    n_questions = len(seeds)

    def product(p: Floats) -> Floats:
        out = np.empty_like(p)
        for k in range(n_questions):
            csr_product(indptr, indices, entries, p[k], out[k])
        return out

    y = np.zeros_like(seeds)
    left = seeds / root
    direction = left.copy()
    energy = _dots(left, left)
    residuals = np.full(n_questions, np.inf)
    n_iterations = 0
    while n_iterations < max_iterations:
        step = direction - damping * product(direction)
        length = energy / np.maximum(_dots(direction, step), np.finfo(np.float64).tiny)
        y += length[:, None] * direction
        left = left - length[:, None] * step
        n_iterations += 1
        residuals = np.add.reduce(np.abs(left) * root, axis=1) / np.maximum(
            np.add.reduce(y * root, axis=1), np.finfo(np.float64).tiny
        )
        if (residuals <= tolerance).all():
            break
        following = _dots(left, left)
        direction = left + (following / np.maximum(energy, np.finfo(np.float64).tiny))[:, None] * direction
        energy = following
    x = np.maximum(y * root, 0.0)
    return x / np.add.reduce(x, axis=1)[:, None], n_iterations, residuals


def _dots(a: Floats, b: Floats) -> Floats:
    """Row by row; not by a BLAS, whose sums depend on the number of its threads."""
    found: Floats = np.add.reduce(a * b, axis=1)
    return found


def _scaled(seeds: NDArray[np.float64]) -> Floats:
    total = float(seeds.sum())
    if not (np.isfinite(seeds).all() and (seeds >= 0).all() and total > 0):
        raise UsageError("seeds must be finite, not negative, and not all zero")
    return np.asarray(seeds / total, dtype=np.float64)
