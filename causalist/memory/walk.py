"""The graph that is walked and how it is seeded: one frozen set of choices for each published method, by name.

`log` is the default: what design and benchmark say. `hipporag` (Gutiérrez et al. 2024) walks entities alone, seeds them
uniformly times 1 / passages that name them, damping 0.5. `hipporag2` (Gutiérrez et al. 2025) has passages as nodes,
seeds the entities of the facts that fit the question and every passage a little, and ranks passages by their own node.

Personalized PageRank over an undirected memory graph: one question, several at once, or within an error bound.

The same fixed point as `rank.walk.personalized_pagerank`, found faster: links are walked both ways alike, so that the
system can be made symmetric, and conjugate gradients need about a third of the products of a power iteration. Where
they do not get there in time, the power iteration with its rungs takes over.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.memory.arrays import MemoryArrays
from causalist.memory.sparse_matrix import Floats, Matrix
from causalist.model.answer import GraphVariant, Specificity
from causalist.model.scores import PageRankResult, Transition
from causalist.rank.pagerank.power_iteration import personalized_pagerank
from causalist.rank.pagerank.sparse_product import csr_product


class Seeding(Enum):
    """What a question seeds: entities by how well they match, the same for all of them, or by its facts."""

    MATCH = "match"
    UNIFORM = "uniform"
    FACTS = "facts"


@dataclass(frozen=True, slots=True)
class Variant:
    """`explicit`, `similar`, `cooccurrence`, `mention`, `reference`: what one link of that kind weighs; 0: not walked.
    Mentions and references link passages, so that without `has_passages` they are not walked either. A link counts
    whole in the degree and carries its confidence, unless `is_normalized`: then columns are scaled to 1.
    `passage_seed`: what the best passage is seeded with, by plain retrieval, where the best entity has 1.
    `ranks_passage_nodes`: a passage's score is that of its own node, not the sum of its entities'."""

    name: str
    damping: float
    specificity: Specificity
    seeding: Seeding
    has_passages: bool
    is_normalized: bool
    explicit: float
    similar: float
    cooccurrence: float
    mention: float
    reference: float
    passage_seed: float = 0.0
    ranks_passage_nodes: bool = False


VARIANTS: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant(
            GraphVariant.LOG.value, 0.85, Specificity.LOG, Seeding.MATCH, True, False, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0
        ),
        Variant(
            GraphVariant.HIPPORAG.value,
            0.5,
            Specificity.PASSAGES,
            Seeding.UNIFORM,
            False,
            True,
            1.0,
            1.0,
            1.0,
            0.0,
            0.0,
        ),
        Variant(
            GraphVariant.HIPPORAG2.value,
            0.5,
            Specificity.PASSAGES,
            Seeding.FACTS,
            True,
            True,
            1.0,
            1.0,
            0.0,
            1.0,
            0.0,
            0.05,
            True,
        ),
    )
}


def get_variant(name: str) -> Variant:
    """Raises UsageError for a name that there is not."""
    if name not in VARIANTS:
        raise UsageError(f"there is no variant {name!r}; there are {', '.join(VARIANTS)}")
    return VARIANTS[name]


@dataclass(frozen=True, slots=True)
class WalkGraph:
    """The matrix M = carried / totals of an undirected graph, nodes 0..E-1 entities, then passages where there are any.

    `transition` holds M. `totals`, shape (n,): the weight of each node's links, 1 where it has none. `symmetric_values`: the
    entries of D^-1/2 carried D^-1/2, in the places of M's.
    """

    transition: Transition
    totals: Floats
    symmetric_values: Floats
    n_entities: int
    has_passages: bool


def build_walk_graph(arrays: MemoryArrays, variant: Variant) -> WalkGraph:
    """Every link is walked both ways, alike.

        D_i = sum of w_kind over the links of i, M_ji = sum of w_kind * confidence / D_i   (links between i and j)

    A triple's confidence and a similarity are confidences; a co-occurrence is 1 for each passage that names both, a
    mention and a reference 1.
    """
    m, n = arrays.n_entities, arrays.n_passages
    size = m + n if variant.has_passages else m
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]] = []
    if variant.explicit:
        given = arrays.explicit
        weight = np.maximum(np.ceil(given.values), 1.0)  # at least as many links as their confidences add up to
        parts.append((given.rows, given.indices.astype(np.int64), variant.explicit * weight,
                      variant.explicit * given.values))  # fmt: skip
    if variant.similar:
        rows, columns = arrays.similar.rows, arrays.similar.indices.astype(np.int64)
        once = rows < columns
        values = arrays.similar.values[once]
        parts.append((rows[once], columns[once], np.full(len(values), variant.similar), variant.similar * values))
    if variant.cooccurrence:
        rows, columns, shared = count_cooccurrences(arrays)
        weight = variant.cooccurrence * shared
        parts.append((rows, columns, weight, weight))
    if variant.has_passages and variant.mention:
        rows, columns = arrays.mentions.rows + m, arrays.mentions.indices.astype(np.int64)
        weight = np.full(len(rows), variant.mention)
        parts.append((rows, columns, weight, weight))
    if variant.has_passages and variant.reference:
        rows, columns = arrays.references.rows + m, arrays.references.indices.astype(np.int64) + m
        weight = np.full(len(rows), variant.reference)
        parts.append((rows, columns, weight, weight))
    ends = [np.concatenate([part[k] for part in parts] or [np.zeros(0)]) for k in range(4)]
    a, b = ends[0].astype(np.int64), ends[1].astype(np.int64)
    both = (np.concatenate([a, b]), np.concatenate([b, a]))
    links = Matrix.from_entries(*both, np.concatenate([ends[2], ends[2]]), (size, size))
    carried = Matrix.from_entries(*both, np.concatenate([ends[3], ends[3]]), (size, size))
    weighed = carried if variant.is_normalized else links
    totals: Floats = np.bincount(weighed.rows, weights=weighed.values, minlength=size).astype(np.float64)
    totals = np.where(totals > 0, totals, 1.0)
    degrees = np.maximum(np.diff(carried.indptr), 1).astype(np.int32)
    transition = Transition(
        carried.indptr.astype(np.int32),
        carried.indices,
        np.minimum(carried.values / totals[carried.indices], 1.0),
        degrees,
        np.ones(size, dtype=np.bool_),
    )
    root = np.sqrt(totals)
    symmetric_values = carried.values / (root[carried.rows] * root[carried.indices])
    return WalkGraph(transition, totals, symmetric_values, m, variant.has_passages)


def count_cooccurrences(arrays: MemoryArrays) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """(smaller entity, larger one, number of passages that name both) of all pairs that some passage names."""
    from scipy.sparse import csr_array, triu  # type: ignore[import-untyped]

    ones = np.ones(len(arrays.mentions.indices))
    shape = (arrays.n_passages, arrays.n_entities)
    matrix = csr_array((ones, arrays.mentions.indices, arrays.mentions.indptr), shape=shape)
    pairs = triu(matrix.T @ matrix, k=1).tocoo()
    order = np.lexsort((pairs.col, pairs.row))
    return pairs.row[order].astype(np.int64), pairs.col[order].astype(np.int64), pairs.data[order].astype(np.float64)


MAX_ITERATIONS = 50
TOLERANCE = 1e-6
_MAX_CACHED_RESULTS = 64  # results


@dataclass(slots=True)
class MemoryWalk:
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
        found = self._compute(seeds, damping, tolerance, max_iterations)
        self._cache[key] = found
        if len(self._cache) > _MAX_CACHED_RESULTS:
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
        checked = np.stack([_normalize_seeds(row) for row in seeds]) if len(seeds) else seeds
        scores, n_iterations, residuals = solve(self.graph, checked, damping, tolerance, max_iterations)
        return [
            PageRankResult(row, n_iterations, float(residual), "converged")
            if residual <= tolerance
            else self._compute(seed, damping, tolerance, max_iterations)
            for row, residual, seed in zip(scores, residuals, checked, strict=True)
        ]

    def _compute(self, seeds: Floats, damping: float, tolerance: float, max_iterations: int) -> PageRankResult:
        scaled = _normalize_seeds(seeds)
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
    indptr, indices, entries = graph.transition.indptr, graph.transition.indices, graph.symmetric_values
    n_questions = len(seeds)

    def product(p: Floats) -> Floats:
        out = np.empty_like(p)
        for k in range(n_questions):
            csr_product(indptr, indices, entries, p[k], out[k])
        return out

    y = np.zeros_like(seeds)
    left = seeds / root
    direction = left.copy()
    energy = _row_dots(left, left)
    residuals = np.full(n_questions, np.inf)
    n_iterations = 0
    while n_iterations < max_iterations:
        step = direction - damping * product(direction)
        length = energy / np.maximum(_row_dots(direction, step), np.finfo(np.float64).tiny)
        y += length[:, None] * direction
        left = left - length[:, None] * step
        n_iterations += 1
        residuals = np.add.reduce(np.abs(left) * root, axis=1) / np.maximum(
            np.add.reduce(y * root, axis=1), np.finfo(np.float64).tiny
        )
        if (residuals <= tolerance).all():
            break
        following = _row_dots(left, left)
        direction = left + (following / np.maximum(energy, np.finfo(np.float64).tiny))[:, None] * direction
        energy = following
    x = np.maximum(y * root, 0.0)
    return x / np.add.reduce(x, axis=1)[:, None], n_iterations, residuals


def _row_dots(a: Floats, b: Floats) -> Floats:
    """Row by row; not by a BLAS, whose sums depend on the number of its threads."""
    found: Floats = np.add.reduce(a * b, axis=1)
    return found


def _normalize_seeds(seeds: NDArray[np.float64]) -> Floats:
    total = float(seeds.sum())
    if not (np.isfinite(seeds).all() and (seeds >= 0).all() and total > 0):
        raise UsageError("seeds must be finite, not negative, and not all zero")
    return np.asarray(seeds / total, dtype=np.float64)
