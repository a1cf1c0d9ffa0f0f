"""One state of the index, ready to be asked: its arrays, and what is derived from them when it is first needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from causalist.memory.arrays import B, MemoryArrays
from causalist.memory.associations import Associations
from causalist.memory.records import Records
from causalist.memory.sparse_matrix import Floats, Matrix
from causalist.memory.variants import Variant, WalkGraph, walk_graph
from causalist.memory.vectors import Vectors, cosines
from causalist.memory.walk import Walker
from causalist.rank.lexical.bm25 import K1


@dataclass
class View:
    """`vectors` is None without an embedder."""

    arrays: MemoryArrays
    records: Records
    vectors: Vectors | None = None
    _walkers: dict[Variant, Walker] = field(default_factory=dict)

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """The position of each entity by id, and of the most frequent one by a name that means several things."""
        found = {entity: i for i, entity in enumerate(self.arrays.entities)}
        strings, numbers = self.records.entities.strings, self.arrays.entity_numbers
        found.update((strings[numbers[senses[0]]], senses[0]) for senses in self.arrays.senses.values())
        return found

    def senses_of(self, entity: int) -> tuple[int, ...]:
        """All entities of the same name, the most frequent first."""
        return self.arrays.senses.get(entity, (entity,))

    def meant(self, passage: int, number: int) -> str:
        """The id of the entity that a passage means by the name with this number in the records."""
        name = self.records.entities.strings[number]
        senses = self.senses_of(self.place_of[name])
        own = set(self.arrays.mentions.row(passage)[0].tolist()) if len(senses) > 1 else set()
        return next((self.arrays.entities[sense] for sense in senses if sense in own), name)

    @cached_property
    def passage_place(self) -> Mapping[str, int]:
        return {passage: i for i, passage in enumerate(self.arrays.passages)}

    @cached_property
    def mention_rows(self) -> NDArray[np.int64]:
        """The passage of each mention."""
        return self.arrays.mentions.rows

    @property
    def document_of(self) -> NDArray[np.int64]:
        """The document of each passage, shape (P,): passages with one path in their metadata are one document."""
        return self.arrays.documents

    @cached_property
    def n_documents(self) -> int:
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
        """(E, documents): 1 where a passage of the document defines the entity."""
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
        """The subject of each explicit link."""
        return self.arrays.explicit.rows

    @cached_property
    def associations(self) -> Associations:
        return Associations(self.arrays)

    @cached_property
    def coverage(self) -> float:
        """The share of passages in which an entity was found."""
        covered = np.count_nonzero(np.diff(self.arrays.mentions.indptr))
        return float(covered) / max(1, self.arrays.n_passages)

    @cached_property
    def passage_vectors(self) -> NDArray[np.float32] | None:
        """(P, d), rows of length 1; None without an embedder."""
        return self.vectors.matrix(self.arrays.passages) if self.vectors is not None else None

    def walker(self, variant: Variant) -> Walker:
        found = self._walkers.get(variant)
        if found is None:
            found = self._walkers[variant] = Walker(self.walk_graph(variant))
        return found

    def walk_graph(self, variant: Variant) -> WalkGraph:
        return walk_graph(self.arrays, variant)

    def vector_scores(self, question: NDArray[np.float32]) -> Floats:
        """Cosines of all passages with a question's vector, not below 0."""
        assert self.passage_vectors is not None
        return np.maximum(cosines(self.passage_vectors, question), 0.0)
