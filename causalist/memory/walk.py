"""Snapshot of an index for queries, the graph and seeding of each variant, and Personalized PageRank over it.

A snapshot has the arrays of an index, and data derived from them on first use, such as word associations. These replace
vectors in `dense` retrieval without an embedder. Their counts are integers of passages, converted to weights per query.
Two words are associated by positive pointwise mutual information (Church and Hanks 1990) with a smoothed context
distribution (Levy et al. 2015). A query vector has its words and their associates, a passage vector its words; both are
weighted by rarity.

`log` is the default variant. `hipporag` (Gutiérrez et al. 2024) walks entities only, seeds them uniformly times 1 /
number of passages that name them, damping 0.5. `hipporag2` (Gutiérrez et al. 2025) has passages as nodes, seeds the
entities of matching facts and every passage a little, and ranks passages by their own node.

PageRank has the fixed point of `rank.pagerank.personalized_pagerank`. Edges are undirected, so that
the system can be made symmetric: conjugate gradients need about a third of the products of a power iteration. If they
do not converge in time, the power iteration takes over.
"""

import dataclasses
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import empty_on_disk
from causalist._internal.lazy import dataclass
from causalist.errors import UsageError
from causalist.memory.count_matrices import Counts, MemoryArrays, count_cooccurrences
from causalist.memory.defined_names import Names
from causalist.memory.document_text import VISIBLE_TO, is_visible, list_names
from causalist.memory.matrix_splices import Floats, Ints, Matrix, SortedStrings, join_column
from causalist.memory.passage_records import SUPERSEDES, Records, Vectors, cosines
from causalist.memory.senses import SIMILARITY_THRESHOLD
from causalist.model.answer import GraphVariant, Specificity
from causalist.model.scores import PageRankResult, Transition, WalkOutcome
from causalist.rank.pagerank import personalized_pagerank
from causalist.rank.sparse_product import csr_product


class Seeding(Enum):
    """Seeds of a query: entities by match, entities uniformly, or entities of facts."""

    MATCH = "match"
    UNIFORM = "uniform"
    FACTS = "facts"


@dataclass(frozen=True, slots=True)
class Variant:
    """Parameters of a graph and its seeding.

    `explicit`, `similar`, `cooccurrence`, `mention`, `reference`: weight of an edge of that kind, 0 to leave it out.
    Mentions and references need `has_passages`. An edge counts 1 in the degree and carries its confidence; with
    `is_normalized`, columns are scaled to 1 instead. `passage_seed`: seed of the best plain result, relative to the
    best entity. `ranks_passage_nodes`: score a passage by its own node, not by the sum of its entities.
    """

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
            GraphVariant.HIPPORAG.value, 0.5, Specificity.PASSAGES, Seeding.UNIFORM, False, True, 1.0, 1.0, 1.0, 0.0,
            0.0
        ),
        Variant(
            GraphVariant.HIPPORAG2.value, 0.5, Specificity.PASSAGES, Seeding.FACTS, True, True, 1.0, 1.0, 0.0, 1.0, 0.0,
            0.05, True,
        ),
    )
}  # fmt: skip


def get_variant(name: str) -> Variant:
    """Return the variant of a name. Raises UsageError for an unknown name."""
    if name not in VARIANTS:
        raise UsageError(f"unknown variant {name!r}; the variants are {', '.join(VARIANTS)}")
    return VARIANTS[name]


@dataclass(frozen=True, slots=True)
class WalkGraph:
    """Matrix M = C / totals of an undirected graph: nodes 0..E-1 are entities, further nodes passages.

    C is symmetric. Its entries are `entities`, (E, E), `passages`, (P, P), and `mention` for each entry of `mentions`,
    (P, E), and of its transpose `named_by`. `totals`, shape (n,): total edge weight of each node, 1 if it has none.
    """

    entities: Matrix
    passages: Matrix
    mentions: Matrix
    named_by: Matrix
    mention: float
    totals: Floats

    @property
    def n_entities(self) -> int:
        """Number of entities, E."""
        return self.entities.n_rows

    @property
    def transition(self) -> Transition:
        """The matrix M, which only a walk needs that does not converge."""
        m, n_upper = self.n_entities, len(self.entities.indices) + len(self.named_by.indices)
        named_by, mentions = self.named_by, self.mentions
        # Entities stand before the passages that name them, linked passages behind the entities that they name.
        own = np.arange(len(self.entities.indices)) + np.repeat(named_by.indptr[:-1], self.entities.sizes)
        cited = np.arange(len(self.passages.indices)) + np.repeat(mentions.indptr[1:], self.passages.sizes)
        at = np.concatenate([own, n_upper + cited])
        is_mention = np.ones(n_upper + len(cited) + len(mentions.indices), dtype=np.bool_)
        is_mention[at] = False
        indices, weights = (empty_on_disk(len(is_mention), kind) for kind in (np.int32, np.float64))
        indices[at] = np.concatenate([self.entities.indices, self.passages.indices + np.int32(m)])
        indices[is_mention] = np.concatenate([named_by.indices + np.int32(m), mentions.indices])
        weights[:] = self.mention
        weights[at] = np.concatenate([self.entities.values, self.passages.values])
        np.minimum(weights / self.totals[indices], 1.0, out=weights)
        upper, lower = self.entities.indptr + named_by.indptr, n_upper + mentions.indptr + self.passages.indptr
        return replace(
            self.shape, indptr=np.concatenate([upper, lower[1:]]).astype(np.int32), indices=indices, weights=weights
        )

    @property
    def shape(self) -> Transition:
        """The matrix M without its entries."""
        sizes = (self.entities.sizes + self.named_by.sizes, self.mentions.sizes + self.passages.sizes)
        degrees, none = np.maximum(np.concatenate(sizes), 1).astype(np.int32), np.zeros(0, dtype=np.int32)
        return Transition(none, none, np.zeros(0), degrees, np.ones(len(degrees), dtype=np.bool_))


def build_walk_graph(arrays: MemoryArrays, variant: Variant) -> WalkGraph:
    """Return the graph of a variant; every edge is undirected.

        D_i = sum of w_kind over the edges of i, M_ji = sum of w_kind * confidence / D_i   (edges between i and j)

    The confidence is that of a triple, the similarity, the number of shared passages of a co-occurrence, or 1 for a
    mention or a reference.
    """
    m = arrays.n_entities
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]] = []
    if variant.similar:  # both directions, and so are all others
        similar = arrays.similar
        edges = np.full(len(similar.values), variant.similar)
        parts.append((similar.rows, similar.indices.astype(np.int64), edges, variant.similar * similar.values))
    if variant.explicit:
        explicit = arrays.explicit
        weight = np.maximum(np.ceil(explicit.values), 1.0)  # at least as many edges as the sum of their confidences
        parts += _both_ways(explicit.rows, explicit.indices, variant.explicit * weight,
                            variant.explicit * explicit.values)  # fmt: skip
    if variant.cooccurrence:
        rows, columns, shared = count_cooccurrences(arrays)
        parts += _both_ways(rows, columns, variant.cooccurrence * shared, variant.cooccurrence * shared)
    carried = _join_parts([(a, b, values) for a, b, _, values in parts], m)
    n = arrays.n_passages if variant.has_passages else 0
    ends = arrays.references.rows, arrays.references.indices
    weight = np.full(len(ends[0]), variant.reference)
    beside = _both_ways(*ends, weight, weight) if variant.reference and n else []
    linked = _join_parts([(a, b, values) for a, b, _, values in beside], n)
    mentions, named_by = arrays.mentions, arrays.passages_by_entity
    if not (variant.mention and n):
        mentions, named_by = (
            Matrix(np.zeros(rows + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0), columns)
            for rows, columns in ((n, m), (m, n))
        )
    if variant.is_normalized:
        parts = [(carried.rows, carried.indices.astype(np.int64), carried.values, carried.values)]
    sums = []
    for each, named, size in ((parts, named_by, m), (beside, mentions, n)):
        a = np.concatenate([part[0] for part in each] or [np.zeros(0, dtype=np.int64)])
        weights = np.concatenate([part[2] for part in each] or [np.zeros(0)])
        sums.append(np.bincount(a, weights=weights, minlength=size) + variant.mention * named.sizes)
    totals = np.concatenate(sums)
    return WalkGraph(carried, linked, mentions, named_by, variant.mention, np.where(totals > 0, totals, 1.0))


def _both_ways(
    a: NDArray[Any], b: NDArray[Any], edges: Floats, carried: Floats
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]]:
    """Return edges, given as (one end, other end, values), in both directions."""
    a, b = a.astype(np.int64), b.astype(np.int64)
    return [(a, b, edges, carried), (b, a, edges, carried)] if len(a) else []


def _join_parts(parts: list[tuple[NDArray[np.int64], NDArray[np.int64], Floats]], size: int) -> Matrix:
    """Return the square matrix of all entries of the parts, each (rows, columns, values)."""
    rows, columns, values = (np.concatenate([part[k] for part in parts] or [np.zeros(0)]) for k in range(3))
    return Matrix.from_entries(rows.astype(np.int64), columns.astype(np.int64), values, (size, size))


MAX_ITERATIONS = 50
TOLERANCE = 1e-6
_MAX_CACHED_BYTES = 1 << 25  # of the scores of all results that are kept


@dataclass(slots=True)
class MemoryWalk:
    """PageRank over one graph, with a cache of the last results."""

    graph: WalkGraph
    _cache: OrderedDict[tuple[object, ...], PageRankResult] = field(default_factory=OrderedDict)
    _core: "_Core | None" = None
    hits: int = 0

    @property
    def core(self) -> "_Core":
        """The part of the graph that a solution iterates over."""
        if self._core is None:
            self._core = _Core.of(self.graph)
        return self._core

    def pagerank(
        self, seeds: Floats, *, damping: float, tolerance: float = TOLERANCE, max_iterations: int = MAX_ITERATIONS
    ) -> PageRankResult:
        """Return the PageRank from `seeds`, shape (n,), not negative, not all zero; `_solve` has the formula.

        `residual` is the change of the scores by one step of the power iteration (L1 norm).
        """
        seeded = np.flatnonzero(seeds)
        key = (seeded.tobytes(), seeds[seeded].tobytes(), damping, tolerance, max_iterations)
        cached = self._cache.get(key)
        if cached is not None:
            self.hits += 1
            self._cache.move_to_end(key)
            return cached
        cached = self._compute(seeds, damping, tolerance, max_iterations)
        self._cache[key] = cached
        while len(self._cache) > 1 and len(self._cache) * cached.scores.nbytes > _MAX_CACHED_BYTES:
            self._cache.popitem(last=False)
        return cached

    def approximate(self, seeds: Floats, *, damping: float, bound: float) -> tuple[PageRankResult, float]:
        """Return (scores within `bound` of the exact ones in the L1 norm, a bound on the actual error).

        With x the current solution and e the residual of the equation, the exact solution is at most |e| / (1 -
        damping) away. Scaling x to sum 1 at most doubles that.
        """
        if not 0 < bound <= 1:
            raise UsageError(f"the bound must be above 0 and at most 1, not {bound}")
        tolerance = bound * (1 - damping) / 2
        result = self.pagerank(seeds, damping=damping, tolerance=tolerance, max_iterations=1000)
        return result, min(bound, 2 * result.residual / (1 - damping))

    def pagerank_many(
        self, seeds: Floats, *, damping: float, tolerance: float = TOLERANCE, max_iterations: int = MAX_ITERATIONS
    ) -> list[PageRankResult]:
        """Return the PageRank of several queries, `seeds` of shape (queries, n), with one product for all per step."""
        checked = np.stack([_normalize_seeds(row) for row in seeds]) if len(seeds) else seeds
        scores, n_iterations, residuals = _solve(self.graph, self.core, checked, damping, tolerance, max_iterations)
        return [
            PageRankResult(row, n_iterations, float(residual), WalkOutcome.CONVERGED)
            if residual <= tolerance
            else self._compute(seed, damping, tolerance, max_iterations)
            for row, residual, seed in zip(scores, residuals, checked, strict=True)
        ]

    def _compute(self, seeds: Floats, damping: float, tolerance: float, max_iterations: int) -> PageRankResult:
        scaled = _normalize_seeds(seeds)
        if not 0 <= damping < 1:
            raise UsageError(f"damping must be at least 0 and below 1, not {damping}")
        seeded = scaled[None, :]
        scores, n_iterations, residuals = _solve(self.graph, self.core, seeded, damping, tolerance, max_iterations)
        if residuals[0] <= tolerance:
            return PageRankResult(scores[0], n_iterations, float(residuals[0]), WalkOutcome.CONVERGED)
        return personalized_pagerank(
            self.graph.transition, scaled, damping=damping, tolerance=tolerance, max_iterations=max_iterations
        )


_Rows: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], Floats]  # of a matrix in CSR form


class _Core(NamedTuple):
    """A graph without its leaves: entities whose only edge leads to a passage.

    `entity_rows` leads from passages to the other entities, `entities`, `passage_rows` back. Those of `linked`, by
    position in `entities`, have edges `linked_rows` to one another, and passages have `reference_rows`. `leaves` have
    an edge to `leaf_passages`.
    """

    entities: Ints
    linked: Ints
    linked_rows: _Rows
    reference_rows: _Rows
    entity_rows: _Rows
    passage_rows: _Rows
    leaves: Ints
    leaf_passages: Ints

    @classmethod
    def of(cls, graph: WalkGraph) -> "_Core":
        """Return the core of a graph."""
        m, named_by, sizes = graph.n_entities, graph.named_by, graph.named_by.sizes
        is_leaf = (sizes == 1) & (graph.entities.sizes == 0)
        leaves, entities = np.flatnonzero(is_leaf), np.flatnonzero(~is_leaf)
        linked = np.flatnonzero(graph.entities.sizes)
        number = np.full(m, -1, dtype=np.int32)  # of entities, without leaves
        number[entities] = np.arange(len(entities))
        of_linked = np.zeros(m, dtype=np.int32)
        of_linked[linked] = np.arange(len(linked))
        at = named_by.indptr[leaves]
        is_inner = np.ones(len(named_by.indices), dtype=np.bool_)
        is_inner[at] = False
        to_inner = number[graph.mentions.indices]
        kept = np.flatnonzero(to_inner >= 0)
        mention = np.full(len(kept), graph.mention)
        of_entities = np.concatenate([[0], np.cumsum(sizes[entities])])
        of_passages = np.searchsorted(kept, graph.mentions.indptr)
        between, beside = graph.entities, graph.passages
        ends = np.append(between.indptr[linked], between.indptr[-1:])
        return cls(
            entities,
            number[linked].astype(np.int64),
            (ends.astype(np.int32), of_linked[between.indices], between.values),
            (beside.indptr.astype(np.int32), beside.indices, beside.values),
            (of_entities.astype(np.int32), named_by.indices[is_inner], mention),
            (of_passages.astype(np.int32), to_inner[kept], mention),
            leaves,
            named_by.indices[at].astype(np.int64),
        )


def _multiply(rows: _Rows, vectors: Floats, out: Floats) -> Floats:
    for vector, product in zip(vectors, out, strict=True):
        csr_product(*rows, vector, product)
    return out


def _solve(
    graph: WalkGraph, core: _Core, seeds: Floats, damping: float, tolerance: float, max_iterations: int
) -> tuple[Floats, int, Floats]:
    """Return (scores, iterations, residuals) for `seeds` of shape (queries, n), rows of sum 1, by conjugate gradients.

        r = x / sum(x),  (I - d * M) x = s,  M = C / D,  C symmetric
        with u = x / D:  (D - d * C) u = s,  symmetric, positive definite for d < 1

    The mass that a column of M lacks to 1 returns to the seeds; scaling x does that. The residual of a row is
    |s + d M x - x| / sum(x) in the L1 norm. Most entities, e, have edges to passages alone. With k for all other nodes,

        u_e = (s_e + d * C_ek u_k) / D_e  and  (D_k - d * C_kk - d^2 * C_ke C_ek / D_e) u_k = s_k + d * C_ke s_e / D_e

    which takes half as many iterations, since a step goes from passages to names and back. The residual of e is 0. An
    entity of one passage only changes the diagonal. That is the preconditioner.
    """
    m, n, linked, p = graph.n_entities, len(graph.totals), core.linked, graph.mentions.n_rows
    of_inner, of_leaves, of_passages = (graph.totals[each] for each in (core.entities, core.leaves, slice(m, n)))
    share, leaf_share = damping / of_inner, damping / of_leaves * graph.mention

    def to_passages(of_leaf: Floats) -> Floats:
        return np.bincount(core.leaf_passages, weights=of_leaf, minlength=p).astype(np.float64)

    # Nodes k are passages, then linked entities. sum(x) = mass u_k + the seeds of e.
    is_free = np.ones((1, len(of_inner)))
    is_free[:, linked] = 0.0
    diagonal, mass = (np.concatenate([of_passages, of_inner[linked]]) for _ in range(2))
    mass[:p] += damping * _multiply(core.passage_rows, is_free, np.empty((1, p)))[0]
    mass[:p] += damping * graph.mention * to_passages(np.ones(len(of_leaves)))
    diagonal[:p] -= damping * graph.mention * to_passages(leaf_share)
    mass_of_rest = np.add.reduce(is_free * seeds[:, core.entities], axis=1)
    mass_of_rest += np.add.reduce(seeds[:, core.leaves], axis=1)
    # Arrays of these sizes are used again: new ones cost more than what is computed in them.
    at_entities, at_passages = is_free * seeds[:, core.entities] * share, np.empty((len(seeds), p))
    left = np.concatenate([seeds[:, m:], seeds[:, core.entities[linked]]], axis=1)
    left[:, :p] += _multiply(core.passage_rows, at_entities, at_passages)
    for row, seed in zip(left, seeds, strict=True):
        row[:p] += to_passages(leaf_share * seed[core.leaves])
    u, step, scratch, at_linked = (np.zeros_like(each) for each in (left, left, left, left[:, p:]))
    direction = left / diagonal
    energy = _row_dots(left, direction, scratch)
    residuals = np.full(len(seeds), np.inf)
    n_iterations = 0
    while n_iterations < max_iterations:
        _multiply(core.entity_rows, direction[:, :p], at_entities)
        step[:, p:] = at_entities[:, linked] + _multiply(core.linked_rows, direction[:, p:], at_linked)
        at_entities *= share
        at_entities[:, linked] = direction[:, p:]
        step[:, :p] = _multiply(core.passage_rows, at_entities, at_passages)
        if len(graph.passages.indices):
            step[:, :p] += _multiply(core.reference_rows, direction[:, :p], at_passages)
        step *= -damping
        step += np.multiply(direction, diagonal, out=scratch)
        length = (energy / np.maximum(_row_dots(direction, step, scratch), np.finfo(np.float64).tiny))[:, None]
        u += np.multiply(direction, length, out=scratch)
        step *= length
        left -= step
        n_iterations += 1
        total = np.add.reduce(np.multiply(u, mass, out=scratch), axis=1) + mass_of_rest
        residuals = np.add.reduce(np.abs(left, out=scratch), axis=1) / np.maximum(total, np.finfo(np.float64).tiny)
        if (residuals <= tolerance).all():
            break
        np.divide(left, diagonal, out=step)
        following = _row_dots(left, step, scratch)
        direction *= (following / np.maximum(energy, np.finfo(np.float64).tiny))[:, None]
        direction += step
        energy = following
    x = seeds.copy()
    x[:, core.entities] += damping * _multiply(core.entity_rows, u[:, :p], at_entities)
    x[:, core.leaves] += damping * graph.mention * u[:, core.leaf_passages]
    x[:, m:] = u[:, :p] * of_passages
    x[:, core.entities[linked]] = u[:, p:] * of_inner[linked]
    np.maximum(x, 0.0, out=x)
    x /= np.add.reduce(x, axis=1)[:, None]
    return x, n_iterations, residuals


def _row_dots(a: Floats, b: Floats, scratch: Floats) -> Floats:
    """Return row-wise dot products. BLAS is not used: its sums depend on the number of threads."""
    products: Floats = np.add.reduce(np.multiply(a, b, out=scratch), axis=1)
    return products


def _normalize_seeds(seeds: NDArray[np.float64]) -> Floats:
    total = float(seeds.sum())
    if not (np.isfinite(seeds).all() and (seeds >= 0).all() and total > 0):
        raise UsageError("seeds must be finite, not negative, and not all zero")
    return np.asarray(seeds / total, dtype=np.float64)


_SMOOTHING = 0.75
_MIN_SHARED_PASSAGES = 2  # below it, two words are not associated
_MAX_TERM_PASSAGES = 2_000  # more frequent words have no associates
_MAX_ASSOCIATES = 50  # per word
ASSOCIATE_WEIGHT = 0.3  # of the closest associate, relative to the word; chosen on the benchmark's tuning half


@dataclass(slots=True)
class Associations:
    """Word associations of one snapshot."""

    arrays: MemoryArrays
    idf: Floats  # (T,)
    _weights: Floats = field(init=False)  # by posting, of passage vectors with norm 1
    _smoothed: Floats = field(init=False)
    _known: dict[int, tuple[NDArray[np.int64], Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compute rarities, passage norms and the smoothed distribution."""
        postings = self.arrays.postings
        frequency = np.diff(postings.indptr).astype(np.float64)
        documents = join_column(postings.documents)
        weights = (1.0 + np.log(join_column(postings.counts))) * np.repeat(self.idf, np.diff(postings.indptr))
        squares = np.bincount(documents, weights=weights * weights, minlength=self.arrays.n_passages)
        self._weights = weights / np.sqrt(np.maximum(squares, 1e-300))[documents]
        smoothed = frequency**_SMOOTHING
        self._smoothed = smoothed / max(float(np.add.reduce(smoothed)), 1e-300)

    def associates_of(self, term: int) -> tuple[NDArray[np.int64], Floats]:
        """Return (terms, association in (0, 1]) of the associates of a term, closest first, without the term itself."""
        associates = self._known.get(term)
        if associates is None:
            associates = self._known[term] = self._count_associates(term)
        return associates

    def _count_associates(self, term: int) -> tuple[NDArray[np.int64], Floats]:
        postings = self.arrays.postings
        documents = postings.documents[postings.indptr[term] : postings.indptr[term + 1]]
        none = np.zeros(0, dtype=np.int64), np.zeros(0)
        if not _MIN_SHARED_PASSAGES <= len(documents) <= _MAX_TERM_PASSAGES:
            return none
        terms, _, _ = self.arrays.forward.gather(documents)
        shared = np.bincount(terms, minlength=len(self.arrays.terms))
        shared[term] = 0
        others = np.flatnonzero(shared >= _MIN_SHARED_PASSAGES)
        if not len(others):
            return none
        # log(p(other | term) / p_smoothed(other)); divided by its largest possible value it lies in (0, 1].
        information = np.log(shared[others] / len(documents) / self._smoothed[others])
        information *= shared[others] / (shared[others] + 1.0)  # discount for small counts
        positive = information > 0
        others, information = others[positive], information[positive]
        best = np.lexsort((others, -information))[:_MAX_ASSOCIATES]
        if not len(best):
            return none
        return others[best], information[best] / float(information[best[0]])

    def scores(self, terms: Iterable[tuple[int, float]]) -> Floats:
        """Return the cosines of all passages with a query, shape (P,); `terms`: position and weight of its terms."""
        arrays = self.arrays
        vector = np.zeros(len(arrays.terms))
        for term, weight in sorted(terms):
            vector[term] += weight * self.idf[term]
            others, association = self.associates_of(term)
            vector[others] += weight * ASSOCIATE_WEIGHT * association * self.idf[others]
        used = np.flatnonzero(vector)
        dots = np.zeros(arrays.n_passages)
        norm = float(np.sqrt(np.add.reduce(vector * vector)))
        for term in used.tolist():
            part = slice(int(arrays.postings.indptr[term]), int(arrays.postings.indptr[term + 1]))
            dots[arrays.postings.documents[part]] += vector[term] * self._weights[part]
        scores: Floats = dots / norm if norm else dots
        return scores


class SortedPositions(Mapping[str, int]):
    """Positions in a sorted list, and of some further strings, without a table of all of them."""

    def __init__(self, strings: SortedStrings, further: Mapping[str, int]) -> None:
        """Create the mapping."""
        self._strings = strings
        self._further = further

    def __getitem__(self, string: str) -> int:
        """Return the position of a string. Raises KeyError."""
        position = self._further.get(string)
        if position is not None:
            return position
        at = self._strings.find(string)
        if at < 0:
            raise KeyError(string)
        return at

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over all strings."""
        yield from self._strings
        yield from self._further

    def __len__(self) -> int:
        """Return the number of strings."""
        return len(self._strings) + len(self._further)


@dataclasses.dataclass
class Snapshot:
    """One state of an index. `vectors` is None without an embedder; `counts` are those that the arrays were made of."""

    arrays: MemoryArrays
    records: Records
    counts: Counts
    names: Names  # names that passages define or mention, and the passages of each
    vectors: Vectors | None = None
    least_similarity: float = SIMILARITY_THRESHOLD  # of the similarity edges in `arrays`
    _walks: dict[Variant, MemoryWalk] = field(default_factory=dict)
    _limited: dict[float, "Snapshot"] = field(default_factory=dict)

    @cached_property
    def position_by_entity(self) -> Mapping[str, int]:
        """Position of each entity by id, and of the most frequent sense by ambiguous name."""
        firsts = sorted({senses[0] for senses in self.arrays.senses.values()})
        names = self.records.entities.strings.some(self.arrays.entity_numbers[np.array(firsts, dtype=np.int64)])
        return SortedPositions(self.arrays.entities, dict(zip(names, firsts, strict=True)))

    def senses_of(self, entity: int) -> tuple[int, ...]:
        """Return all entities of the same name, the most frequent first."""
        return self.arrays.senses.get(entity, (entity,))

    def resolve_mention(self, passage: int, number: int) -> str:
        """Return the id of the entity that a passage means by the name with this number in the records."""
        name = self.records.entities.strings[number]
        senses = self.senses_of(self.position_by_entity[name])
        mentioned = set(self.arrays.mentions.row(passage)[0].tolist()) if len(senses) > 1 else set()
        return next((self.arrays.entities[sense] for sense in senses if sense in mentioned), name)

    @cached_property
    def position_by_passage(self) -> Mapping[str, int]:
        """Position of each passage by id."""
        return SortedPositions(self.arrays.passages, {})

    @property
    def document_of(self) -> NDArray[np.int64]:
        """Document of each passage, shape (P,); passages with the same path in their metadata are one document."""
        return self.arrays.documents

    @cached_property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.document_of.max(initial=-1)) + 1

    @cached_property
    def explicit_subjects(self) -> NDArray[np.int64]:
        """Subject of each explicit edge."""
        return self.arrays.explicit.rows

    @cached_property
    def associations(self) -> Associations:
        """Word associations of this snapshot."""
        return Associations(self.arrays, self.idf)

    @cached_property
    def idf(self) -> Floats:
        """Inverse document frequency of each term, shape (T,)."""
        frequency = np.diff(self.arrays.postings.indptr).astype(np.float64)
        return np.asarray(np.log1p(self.arrays.n_passages / np.maximum(frequency, 1.0)), dtype=np.float64)

    @cached_property
    def coverage(self) -> float:
        """Share of passages with at least one entity."""
        covered = np.count_nonzero(np.diff(self.arrays.mentions.indptr))
        return float(covered) / max(1, self.arrays.n_passages)

    @cached_property
    def passage_vectors(self) -> NDArray[np.float32] | None:
        """Vectors of passages, shape (P, d), rows of norm 1; None without an embedder."""
        return self.vectors.matrix(self.arrays.passages) if self.vectors is not None else None

    def visible_mask(self, readers: Collection[str]) -> NDArray[np.bool_]:
        """Return the mask of passages that one of the readers may see, shape (P,)."""
        is_visible_by_passage = np.ones(self.arrays.n_passages, dtype=np.bool_)
        for passage in self.records.passages.with_key(VISIBLE_TO):
            is_visible_by_passage[self.position_by_passage[passage]] = is_visible(
                self.records.passages[passage].metadata, readers
            )
        return is_visible_by_passage

    @cached_property
    def superseding(self) -> Mapping[str, list[str]]:
        """Passages that say they replace something, by id or path of what they replace."""
        superseding_by_target: dict[str, list[str]] = {}
        for passage in sorted(self.records.passages.with_key(SUPERSEDES)):
            stated = list_names(self.records.passages[passage].metadata.get(SUPERSEDES))
            for each in stated if isinstance(stated, list) else ():
                superseding_by_target.setdefault(str(each), []).append(passage)
        return superseding_by_target

    def find_superseding(self, passage: str) -> tuple[str, ...]:
        """Return the documents, or passages of none, that say they replace a passage."""
        if not self.superseding:
            return ()
        path = self.records.passages[passage].metadata.get("path")
        documents: dict[str, None] = {}
        for other in dict.fromkeys([*self.superseding.get(passage, ()), *self.superseding.get(str(path), ())]):
            metadata = self.records.passages[other].metadata
            document = str(metadata.get("path", other))
            if document not in (passage, path):
                documents[document] = None
        return tuple(documents)

    def memory_walk(self, variant: Variant) -> MemoryWalk:
        """Return the PageRank of a variant's graph; its cache lives as long as the snapshot."""
        walk = self._walks.get(variant)
        if walk is None:
            walk = self._walks[variant] = MemoryWalk(build_walk_graph(self.arrays, variant))
        return walk

    def with_similarity(self, least: float) -> "Snapshot":
        """Return the snapshot with the similarity edges of at least this strength."""
        if least <= self.least_similarity:
            return self
        limited = self._limited.get(least)
        if limited is None:
            similar = self.arrays.similar
            kept = similar.values >= least
            ends, shape = (similar.rows[kept], similar.indices[kept].astype(np.int64)), (similar.n_rows, similar.n_rows)
            arrays = replace(self.arrays, similar=Matrix.from_entries(*ends, similar.values[kept], shape))
            limited = replace(self, arrays=arrays, least_similarity=least, _walks={}, _limited={})
            self._limited[least] = limited
        return limited

    def vector_scores(self, query: NDArray[np.float32]) -> Floats:
        """Return the cosines of all passages with a query vector, at least 0."""
        assert self.passage_vectors is not None
        return np.maximum(cosines(self.passage_vectors, query), 0.0)
