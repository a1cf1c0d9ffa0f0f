"""Snapshot of an index for queries: its arrays, and data derived from them on first use, such as word associations.

Word associations replace vectors in `dense` retrieval without an embedder. Their counts are integers of passages,
converted to weights per query. Two words are associated by positive pointwise mutual information (Church and Hanks
1990) with a smoothed context distribution (Levy et al. 2015). A query vector has its words and their associates, a
passage vector its words; both are weighted by rarity.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from causalist.memory.arrays import B, MemoryArrays
from causalist.memory.records import Records
from causalist.memory.similarity import Vectors, cosines
from causalist.memory.sparse_matrix import Floats, Matrix
from causalist.memory.walk import MemoryWalk, Variant, WalkGraph, build_walk_graph
from causalist.rank.lexical.bm25 import K1

_SMOOTHING = 0.75
_MIN_SHARED_PASSAGES = 2  # below it, two words are not associated
_MAX_TERM_PASSAGES = 2_000  # more frequent words have no associates
_MAX_ASSOCIATES = 50  # per word
ASSOCIATE_WEIGHT = 0.3  # of the closest associate, relative to the word; chosen on the benchmark's tuning half


@dataclass(slots=True)
class Associations:
    """Word associations of one snapshot."""

    arrays: MemoryArrays
    idf: Floats = field(init=False)  # (T,)
    _weights: Floats = field(init=False)  # by posting, of passage vectors with norm 1
    _smoothed: Floats = field(init=False)
    _known: dict[int, tuple[NDArray[np.int64], Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compute rarities, passage norms and the smoothed distribution."""
        postings = self.arrays.postings
        frequency = np.diff(postings.indptr).astype(np.float64)
        self.idf = np.log1p(self.arrays.n_passages / np.maximum(frequency, 1.0))
        weights = (1.0 + np.log(postings.counts)) * np.repeat(self.idf, np.diff(postings.indptr))
        squares = np.bincount(postings.documents, weights=weights * weights, minlength=self.arrays.n_passages)
        self._weights = weights / np.sqrt(np.maximum(squares, 1e-300))[postings.documents]
        smoothed = frequency**_SMOOTHING
        self._smoothed = smoothed / max(float(np.add.reduce(smoothed)), 1e-300)

    def associates_of(self, term: int) -> tuple[NDArray[np.int64], Floats]:
        """Return (terms, association in (0, 1]) of the associates of a term, closest first, without the term itself."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._count_associates(term)
        return found

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
        found = np.zeros(arrays.n_passages)
        norm = float(np.sqrt(np.add.reduce(vector * vector)))
        for term in used.tolist():
            part = slice(int(arrays.postings.indptr[term]), int(arrays.postings.indptr[term + 1]))
            found[arrays.postings.documents[part]] += vector[term] * self._weights[part]
        scores: Floats = found / norm if norm else found
        return scores


@dataclass
class Snapshot:
    """One state of an index. `vectors` is None without an embedder."""

    arrays: MemoryArrays
    records: Records
    vectors: Vectors | None = None
    _walks: dict[Variant, MemoryWalk] = field(default_factory=dict)

    @cached_property
    def position_by_entity(self) -> Mapping[str, int]:
        """Position of each entity by id, and of the most frequent sense by ambiguous name."""
        found = {entity: i for i, entity in enumerate(self.arrays.entities)}
        strings, numbers = self.records.entities.strings, self.arrays.entity_numbers
        found.update((strings[numbers[senses[0]]], senses[0]) for senses in self.arrays.senses.values())
        return found

    def senses_of(self, entity: int) -> tuple[int, ...]:
        """Return all entities of the same name, the most frequent first."""
        return self.arrays.senses.get(entity, (entity,))

    def resolve_mention(self, passage: int, number: int) -> str:
        """Return the id of the entity that a passage means by the name with this number in the records."""
        name = self.records.entities.strings[number]
        senses = self.senses_of(self.position_by_entity[name])
        own = set(self.arrays.mentions.row(passage)[0].tolist()) if len(senses) > 1 else set()
        return next((self.arrays.entities[sense] for sense in senses if sense in own), name)

    @cached_property
    def position_by_passage(self) -> Mapping[str, int]:
        """Position of each passage by id."""
        return {passage: i for i, passage in enumerate(self.arrays.passages)}

    @cached_property
    def mention_passages(self) -> NDArray[np.int64]:
        """Passage of each mention."""
        return self.arrays.mentions.rows

    @property
    def document_of(self) -> NDArray[np.int64]:
        """Document of each passage, shape (P,); passages with the same path in their metadata are one document."""
        return self.arrays.documents

    @cached_property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.document_of.max(initial=-1)) + 1

    @cached_property
    def document_norms(self) -> Floats:
        """K1 * (1 - b + b * length / mean length) of each document, shape (documents,), for BM25 over documents."""
        postings, n = self.arrays.postings, self.n_documents
        lengths = np.bincount(self.document_of[postings.documents], weights=postings.counts, minlength=n)
        mean = float(lengths.mean()) if lengths.any() else 1.0
        return np.asarray(K1 * (1.0 - B + B * lengths / mean), dtype=np.float64)

    @cached_property
    def definers(self) -> Matrix:
        """Matrix (E, documents): 1 if a passage of the document defines the entity."""
        given = self.arrays.defines
        found = Matrix.from_entries(
            given.indices.astype(np.int64),
            self.document_of[given.rows],
            np.ones(len(given.indices)),
            (self.arrays.n_entities, self.n_documents),
        )
        return Matrix(found.indptr, found.indices, np.ones(len(found.indices)), found.n_columns)

    @cached_property
    def explicit_subjects(self) -> NDArray[np.int64]:
        """Subject of each explicit edge."""
        return self.arrays.explicit.rows

    @cached_property
    def associations(self) -> Associations:
        """Word associations of this snapshot."""
        return Associations(self.arrays)

    @cached_property
    def coverage(self) -> float:
        """Share of passages with at least one entity."""
        covered = np.count_nonzero(np.diff(self.arrays.mentions.indptr))
        return float(covered) / max(1, self.arrays.n_passages)

    @cached_property
    def passage_vectors(self) -> NDArray[np.float32] | None:
        """Vectors of passages, shape (P, d), rows of norm 1; None without an embedder."""
        return self.vectors.matrix(self.arrays.passages) if self.vectors is not None else None

    def memory_walk(self, variant: Variant) -> MemoryWalk:
        """Return the PageRank of a variant's graph; its cache lives as long as the snapshot."""
        found = self._walks.get(variant)
        if found is None:
            found = self._walks[variant] = MemoryWalk(self.build_walk_graph(variant))
        return found

    def build_walk_graph(self, variant: Variant) -> WalkGraph:
        """Return the graph of a variant."""
        return build_walk_graph(self.arrays, variant)

    def vector_scores(self, query: NDArray[np.float32]) -> Floats:
        """Return the cosines of all passages with a query vector, at least 0."""
        assert self.passage_vectors is not None
        return np.maximum(cosines(self.passage_vectors, query), 0.0)
