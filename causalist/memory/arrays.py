"""Arrays of an index: records -> sparse matrices that retrieval reads, with the senses of ambiguous names.

Rows and columns are in the order of sorted passage ids, entity ids and terms. Sparse matrices are CSR arrays, with
entries in an order independent of insertion. A change of any record rebuilds all arrays; `records.py` has the reason.

Senses of a name are separated by the entities and words around its mentions. A name has one sense per document (Gale,
Church and Yarowsky 1992). Two documents share a sense if their passages name it together with the same other entity. A
group of joined documents is a sense if it has at least three documents and its words differ from those of other groups.
Any other document joins the sense with the most similar words. The result depends on the set of passages only.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.memory.extractors import TYPES
from causalist.memory.records import TIMESTAMP, Record, Records, sort_strings
from causalist.model.index import Postings
from causalist.rank.lexical.bm25 import K1
from causalist.rank.terms import STOP_WORDS, terms_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Matrix:
    """CSR matrix: row i has `values[indptr[i]:indptr[i + 1]]` in the columns `indices[...]`, ascending."""

    indptr: Ints  # (n_rows + 1,)
    indices: NDArray[np.int32]  # (n_entries,)
    values: Floats  # (n_entries,)
    n_columns: int

    @classmethod
    def from_entries(cls, rows: Ints, columns: Ints, values: Floats, shape: tuple[int, int]) -> "Matrix":
        """Return the matrix of entries.

        Values at equal positions are summed in ascending order, so that the order of the entries does not matter.
        """
        keys = rows * max(shape[1], 1) + columns
        order = np.lexsort((values, keys))
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
        summed = np.add.reduceat(values[order], first) if len(keys) else values
        at = keys[first]
        indptr = np.zeros(shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(at // max(shape[1], 1), minlength=shape[0]), out=indptr[1:])
        return cls(indptr, (at % max(shape[1], 1)).astype(np.int32), summed.astype(np.float64), shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def rows(self) -> Ints:
        """Row of each entry."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), np.diff(self.indptr))

    def row(self, i: int) -> tuple[NDArray[np.int32], Floats]:
        """Return (columns, values) of a row."""
        part = slice(int(self.indptr[i]), int(self.indptr[i + 1]))
        return self.indices[part], self.values[part]

    def transpose(self) -> "Matrix":
        """Return the transpose."""
        # Stable, so that rows ascend within a column. numpy uses a radix sort for small integers.
        order = np.argsort(self.indices, kind="stable")
        indptr = np.zeros(self.n_columns + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.indices, minlength=self.n_columns), out=indptr[1:])
        return Matrix(indptr, self.rows[order].astype(np.int32), self.values[order], self.n_rows)

    def gather(self, rows: NDArray[Any]) -> tuple[NDArray[np.int32], Floats, Ints]:
        """Return (columns, values, position in `rows`) of all entries of these rows, row by row."""
        starts, sizes = self.indptr[rows], np.diff(self.indptr)[rows]
        total = int(sizes.sum())
        at = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(total)
        return self.indices[at], self.values[at], np.repeat(np.arange(len(rows)), sizes)


_WORD = re.compile(r"[^\W_]+")
# Chosen on names made ambiguous by giving two things one name; docs/memory.md has the figures.
MIN_DOCUMENTS = 6  # documents that name a name with senses
MAX_DOCUMENTS = 200  # of a name with senses; above this, neighbors separate no senses
_MIN_DOCUMENTS_EACH = 3  # documents of a sense
_MAX_NEIGHBOR_DOCUMENTS = 20  # documents that name a neighbor; a more frequent one joins any two groups
_MAX_NEIGHBOR_SHARE = 0.2  # of all documents, if that is more
_MAX_PASSAGES_READ = 20  # passages of a group whose words are compared
_SAME_SENSE_COSINE = 0.1  # cosine of the words of two groups; from here on they are one sense


def find_senses(
    mentions: Matrix,
    documents: Ints,
    may_differ: NDArray[np.bool_],
    forward: Matrix,
    names: Sequence[str],
    terms: Sequence[str],
) -> Ints | None:
    """Return the sense number of each entry of `mentions`, shape (n_entries,), or None if no name is ambiguous.

    Sense 0 is the most frequent one. `mentions`: (P, E). `documents`: (P,), document numbers. `may_differ`: (E,), names
    that can be ambiguous. `forward`: (P, T), term counts. `names` and `terms`: ids of E and T.
    """
    n_entities = mentions.n_columns
    rows, entities = mentions.rows, mentions.indices.astype(np.int64)
    pairs = np.unique(documents[rows] * n_entities + entities)
    n_documents = np.bincount(pairs % max(n_entities, 1), minlength=n_entities)
    chosen = may_differ & (n_documents >= MIN_DOCUMENTS) & (n_documents <= MAX_DOCUMENTS)
    if not chosen.any():
        return None
    most = max(_MAX_NEIGHBOR_DOCUMENTS, int(_MAX_NEIGHBOR_SHARE * (int(documents.max(initial=0)) + 1)))
    is_neighbor = (n_documents >= 2) & (n_documents <= most)
    nodes = pairs[chosen[pairs % n_entities]]
    groups = _group_documents(mentions, documents, chosen, is_neighbor, nodes)
    by_entity = nodes % n_entities
    _, first, group_of = np.unique(groups, return_index=True, return_inverse=True)
    sizes = np.bincount(group_of)
    is_sense = sizes >= _MIN_DOCUMENTS_EACH
    n_senses = np.bincount(by_entity[first[is_sense]], minlength=n_entities)
    found: Ints | None = None
    ambiguous = np.flatnonzero(n_senses >= 2)
    if not len(ambiguous):
        return None
    order = np.argsort(mentions.indices, kind="stable")  # mention entries by entity, then by passage
    ends = np.cumsum(np.bincount(entities, minlength=n_entities))
    by_node = np.argsort(by_entity, kind="stable")
    node_ends = np.cumsum(np.bincount(by_entity, minlength=n_entities))
    words = _TermVectors(forward, terms)
    for entity in ambiguous.tolist():
        own = by_node[node_ends[entity - 1] if entity else 0 : node_ends[entity]]
        entries = order[ends[entity - 1] if entity else 0 : ends[entity]]
        group_by_document = dict(zip((nodes[own] // n_entities).tolist(), group_of[own].tolist(), strict=True))
        passages: dict[int, list[int]] = {}
        for entry in entries.tolist():
            passages.setdefault(group_by_document[int(documents[rows[entry]])], []).append(int(rows[entry]))
        sense = _separate_senses(
            passages, [g for g in passages if is_sense[g]], words, words.terms_of_name(names[entity])
        )
        if sense:
            found = np.zeros(len(entities), dtype=np.int64) if found is None else found
            found[entries] = [sense[group_by_document[int(documents[rows[entry]])]] for entry in entries.tolist()]
    return found


def _group_documents(
    mentions: Matrix, documents: Ints, chosen: NDArray[np.bool_], is_neighbor: NDArray[np.bool_], nodes: Ints
) -> Ints:
    """Return the group of each node (document * E + name), shape (nodes,).

    Two documents are in one group if a passage of each names the name together with the same neighbor.
    """
    from scipy.sparse import coo_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    n_entities = mentions.n_columns
    rows, entities = mentions.rows, mentions.indices.astype(np.int64)
    beside = Matrix.from_entries(
        rows[is_neighbor[entities]],
        entities[is_neighbor[entities]],
        np.ones(int(is_neighbor[entities].sum())),
        (mentions.n_rows, n_entities),
    )
    at = np.flatnonzero(chosen[entities])
    neighbors, _, which = beside.gather(rows[at])
    names, holders = entities[at][which], rows[at][which]
    other = neighbors != names
    keys = names[other] * n_entities + neighbors[other]
    node = np.searchsorted(nodes, documents[holders[other]] * n_entities + names[other])
    _, key = np.unique(keys, return_inverse=True)
    size = len(nodes) + int(key.max(initial=-1)) + 1
    graph = coo_array((np.ones(len(key), dtype=np.int8), (node, len(nodes) + key)), shape=(size, size))
    labels = connected_components(graph, directed=False)[1][: len(nodes)]
    # A group has the number of its first node, independent of the library's numbering.
    return np.asarray(np.unique(labels, return_index=True)[1][labels], dtype=np.int64)


class SenseAssignment(NamedTuple):
    """Entities after disambiguation.

    - `names`: sorted entity ids; `numbers`: number of the name of each entity.
    - `mentions`: (P, E); `passages_by_entity` is its transpose.
    - `first`: entity of the first sense, by position of the name before disambiguation.
    - `entity_by_mention`: (document, name number) -> entity, for the `ambiguous` name numbers.
    - `senses`: entity -> all entities of its name, for ambiguous names.
    """

    names: list[str]
    numbers: Ints
    mentions: Matrix
    passages_by_entity: Matrix
    first: Ints
    entity_by_mention: dict[tuple[int, int], int]
    ambiguous: list[int]
    senses: dict[int, tuple[int, ...]]

    def pair_senses(self, a: int, b: int) -> list[tuple[int, int]]:
        """Return the pairs of senses that share a neighbor, or else the pair of first senses."""
        if a not in self.senses and b not in self.senses:
            return [(a, b)]
        met = [
            (one, other)
            for one in self.senses.get(a, (a,))
            for other in self.senses.get(b, (b,))
            if self._neighbors_of(one) & self._neighbors_of(other)
        ]
        return met or [(a, b)]

    def _neighbors_of(self, entity: int) -> set[int]:
        """Return the entities named in the passages of an entity."""
        return set(self.mentions.gather(self.passages_by_entity.row(entity)[0])[0].tolist()) - {entity}


def disambiguate(
    entities: list[str], numbers: Ints, documents: Ints, mentions: Matrix, labels: Ints | None
) -> SenseAssignment:
    """Return the entities with one entity per sense; `labels` is the result of `find_senses`.

    The id of a sense is that of the name with a number from 1 in brackets. No id of a name ends that way.
    """
    if labels is None:
        return SenseAssignment(entities, numbers, mentions, mentions.transpose(), np.arange(len(entities)), {}, [], {})
    rows, columns = mentions.rows, mentions.indices.astype(np.int64)
    pairs = sorted({(int(e), int(s)) for e, s in zip(columns[labels > 0], labels[labels > 0], strict=True)})
    split = sorted({e for e, _ in pairs})
    firsts = set(split)
    ids = [
        *(f"{name}_(1)" if e in firsts else name for e, name in enumerate(entities)),
        *(f"{entities[e]}_({s + 1})" for e, s in pairs),
    ]
    owner = np.concatenate([np.arange(len(entities)), np.array([e for e, _ in pairs], dtype=np.int64)])
    order = sorted(range(len(ids)), key=ids.__getitem__)
    place = np.empty(len(ids), dtype=np.int64)
    place[order] = np.arange(len(ids))
    sense = {pair: int(place[len(entities) + i]) for i, pair in enumerate(pairs)}
    column = place[columns]
    for at in np.flatnonzero(labels > 0).tolist():
        column[at] = sense[int(columns[at]), int(labels[at])]
    entity_by_mention = {
        (int(documents[rows[at]]), int(numbers[columns[at]])): int(column[at])
        for at in np.flatnonzero(np.isin(columns, split)).tolist()
    }
    senses: dict[int, tuple[int, ...]] = {}
    for e in split:
        members = (int(place[e]), *(value for (owned, _), value in sorted(sense.items()) if owned == e))
        senses.update(dict.fromkeys(members, members))
    again = Matrix.from_entries(rows, column, mentions.values, (mentions.n_rows, len(ids)))
    return SenseAssignment(
        [ids[i] for i in order], numbers[owner[order]], again, again.transpose(), place[: len(entities)],
        entity_by_mention,
        [int(numbers[e]) for e in split], senses,
    )  # fmt: skip


class _TermVectors:
    """Term vectors of groups of passages: (1 + log count) * log(P / passage frequency), 0 for stop words."""

    def __init__(self, forward: Matrix, terms: Sequence[str]) -> None:
        self._forward = forward
        self._terms = terms
        frequency = np.bincount(forward.indices, minlength=forward.n_columns)
        tells = np.array([term not in STOP_WORDS for term in terms], dtype=np.bool_)
        self._rarity = np.where(tells, np.log(forward.n_rows / np.maximum(frequency, 1)), 0.0)

    def terms_of_name(self, name: str) -> set[int]:
        """Return the numbers of the terms of a name."""
        found = set()
        for term in {term for word in _WORD.findall(name) for term in terms_of(word)}:
            at = bisect_left(self._terms, term)
            if at < len(self._terms) and self._terms[at] == term:
                found.add(at)
        return found

    def vector_of(self, passages: list[int], without: set[int]) -> "_TermVector":
        """Return the vector of passages, without the terms in `without`."""
        terms, counts, _ = self._forward.gather(np.array(sorted(set(passages))[:_MAX_PASSAGES_READ], dtype=np.int64))
        entity_by_mention, inverse = np.unique(terms, return_inverse=True)
        weights = (1.0 + np.log(np.bincount(inverse, weights=counts))) * self._rarity[entity_by_mention]
        is_informative = (weights > 0) & ~np.isin(entity_by_mention, sorted(without))
        entity_by_mention, weights = entity_by_mention[is_informative], weights[is_informative]
        norm = float(np.sqrt(np.add.reduce(weights * weights)))
        return _TermVector(entity_by_mention, weights / norm if norm else weights)


class _TermVector(NamedTuple):
    """Ascending terms and their weights; norm 1, or empty."""

    terms: NDArray[np.int32]
    weights: NDArray[np.float64]

    def cosine(self, other: "_TermVector") -> float:
        """Return the cosine with another vector."""
        _, own, others = np.intersect1d(self.terms, other.terms, assume_unique=True, return_indices=True)
        return float(np.add.reduce(self.weights[own] * other.weights[others]))


def _separate_senses(
    passages: dict[int, list[int]], groups: list[int], words: _TermVectors, own: set[int]
) -> dict[int, int] | None:
    """Return group -> sense, or None if all groups have one sense.

    `passages` by group; `groups`: those large enough to be a sense; `own`: terms of the name itself, which are ignored.
    """
    senses = [[group] for group in sorted(groups)]
    vectors = [words.vector_of(passages[group], own) for group in sorted(groups)]
    while len(senses) > 1:
        likeness, i, j = max((vectors[i].cosine(vectors[j]), -i, -j) for j in range(len(senses)) for i in range(j))
        if likeness < _SAME_SENSE_COSINE:
            break
        i, j = -i, -j
        senses[i] += senses.pop(j)
        vectors.pop(j)
        vectors[i] = words.vector_of([p for g in senses[i] for p in passages[g]], own)
    if len(senses) == 1:
        return None
    for group in sorted(passages.keys() - set(groups)):
        vector = words.vector_of(passages[group], own)
        likeness_to = [vector.cosine(each) for each in vectors]
        best = max(range(len(senses)), key=lambda k: (likeness_to[k], -k))
        senses[best].append(group)
    order = sorted(
        senses, key=lambda each: (-sum(len(passages[g]) for g in each), min(p for g in each for p in passages[g]))
    )
    return {group: number for number, each in enumerate(order) for group in each}


B = 0.75  # length normalization of BM25, the usual default
MAX_SIMILAR = 10  # similarity edges per entity
_EXACT_TYPES = tuple(TYPES.index(each) for each in ("date", "measure", "iri"))  # names of these types have one sense


@dataclass(frozen=True, slots=True)
class MemoryArrays:
    """Arrays of an index with P passages, E entities and T terms.

    An entity is one sense of a name. Senses of an ambiguous name have the id of the name with a
    number in brackets, 1 for the most frequent sense.

    - `mentions`: (P, E), number of mentions of an entity in a passage; `passages_by_entity` is its transpose.
    - `similar`: (E, E), symmetric, similarity in [threshold, 1].
    - `explicit`: (E, E), from subject to object, sum of the confidences of triples.
    - `references`: (P, P).
    - `defines`: (P, E), 1 if the passage is about the entity.
    - `forward`: (P, T), term counts; `postings` holds the same counts by term, for BM25.
    - `times`: (P,), seconds since 1970, NaN if unknown.
    - `documents`: (P,), document numbers; passages with the same path in their metadata are one document.
    - `senses`: entity -> all entities of the same name, for ambiguous names only.
    """

    passages: list[str]
    entities: list[str]
    entity_numbers: Ints  # (E,), numbers of the names in the records
    terms: list[str]
    term_ranks: Ints  # by term number in the records, -1 if no passage has the term
    mentions: Matrix
    passages_by_entity: Matrix
    similar: Matrix
    explicit: Matrix
    references: Matrix
    defines: Matrix
    forward: Matrix
    postings: Postings
    times: Floats
    documents: Ints
    senses: Mapping[int, tuple[int, ...]]

    @property
    def n_passages(self) -> int:
        """Number of passages, P."""
        return len(self.passages)

    @property
    def n_entities(self) -> int:
        """Number of entities, E."""
        return len(self.entities)


def build_arrays(records: Records, vector_pairs: Mapping[tuple[int, int], float] | None = None) -> MemoryArrays:
    """Return the arrays of all records.

    `vector_pairs` maps (number of the smaller entity id, number of the other) to a cosine. Without it, similarity
    edges join similar names.
    """
    passages = sorted(records.passages)
    passage_records = [records.passages[passage] for passage in passages]
    mentions = _stack([r.mentions for r in passage_records], 4)
    rows = np.repeat(np.arange(len(passage_records), dtype=np.int64), [len(r.mentions) for r in passage_records])
    triples = [t for r in passage_records for t in r.triples]
    used = np.unique(
        np.concatenate([mentions[:, 0], np.array([n for t in triples for n in (t.subject, t.object)], dtype=np.int64)])
    )
    entities, entity_ranks = sort_strings(records.entities.strings, used)
    n, m = len(passages), len(entities)
    mention_matrix = Matrix.from_entries(rows, entity_ranks[mentions[:, 0]], np.ones(len(mentions)), (n, m))
    may_differ = np.ones(m, dtype=np.bool_)
    may_differ[entity_ranks[mentions[np.isin(mentions[:, 2], _EXACT_TYPES), 0]]] = False

    terms = _stack([r.terms for r in passage_records], 2)
    rows = np.repeat(np.arange(n, dtype=np.int64), [len(r.terms) for r in passage_records])
    present = np.flatnonzero(np.bincount(terms[:, 0], minlength=len(records.terms.strings)))
    term_list, term_ranks = sort_strings(records.terms.strings, present)
    postings_matrix = _count_by_term(rows, term_ranks[terms[:, 0]], terms[:, 1], n, len(term_list))
    forward = postings_matrix.transpose()

    documents = _number_documents(passages, passage_records)
    numbers = np.empty(m, dtype=np.int64)
    numbers[entity_ranks[used]] = used
    labels = find_senses(mention_matrix, documents, may_differ, forward, entities, term_list)
    assignment = disambiguate(entities, numbers, documents, mention_matrix, labels)
    m = len(assignment.names)
    entity_ranks[used] = assignment.first[entity_ranks[used]]

    def resolve(passage: int, number: int) -> int:
        return assignment.entity_by_mention.get((int(documents[passage]), number), int(entity_ranks[number]))

    triples_by_passage = [(i, t) for i, r in enumerate(passage_records) for t in r.triples]
    explicit = Matrix.from_entries(
        np.array([resolve(i, t.subject) for i, t in triples_by_passage], dtype=np.int64),
        np.array([resolve(i, t.object) for i, t in triples_by_passage], dtype=np.int64),
        np.array([t.confidence for _, t in triples_by_passage], dtype=np.float64),
        (m, m),
    )
    position_by_passage = {passage: i for i, passage in enumerate(passages)}
    pairs = [
        (i, position_by_passage[other])
        for i, r in enumerate(passage_records)
        for other in r.references
        if other in position_by_passage
    ]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    rows = np.repeat(np.arange(n, dtype=np.int64), [len(r.defines) for r in passage_records])
    defining = _stack([r.defines.reshape(-1, 1) for r in passage_records], 1)[:, 0]
    defined = entity_ranks[defining]
    for at in np.flatnonzero(np.isin(defining, assignment.ambiguous)).tolist():
        defined[at] = resolve(int(rows[at]), int(defining[at]))
    defined_entries = rows[defined >= 0], defined[defined >= 0]  # entities that no passage names are left out
    return MemoryArrays(
        passages,
        assignment.names,
        assignment.numbers,
        term_list,
        term_ranks,
        assignment.mentions,
        assignment.passages_by_entity,
        _build_similarity(records, entity_ranks, assignment, vector_pairs),
        explicit,
        Matrix.from_entries(ends[:, 0], ends[:, 1], np.ones(len(ends)), (n, n)),
        Matrix.from_entries(defined_entries[0], defined_entries[1], np.ones(len(defined_entries[0])), (n, m)),
        forward,
        _build_postings(postings_matrix, n),
        np.array([parse_seconds(r.metadata.get(TIMESTAMP)) for r in passage_records], dtype=np.float64),
        documents,
        assignment.senses,
    )


def _number_documents(passages: list[str], passage_records: list[Record]) -> Ints:
    named = [str(r.metadata.get("path", f"\0{p}")) for p, r in zip(passages, passage_records, strict=True)]
    return np.unique(named, return_inverse=True)[1].astype(np.int64) if named else np.zeros(0, dtype=np.int64)


def parse_seconds(timestamp: object) -> float:
    """Return a metadata time as seconds since 1970, NaN if it is not a time. A time without a zone is UTC.

    >>> parse_seconds("1970-01-02"), parse_seconds(12), parse_seconds("yesterday")
    (86400.0, 12.0, nan)
    """
    if isinstance(timestamp, bool):
        return float("nan")
    if isinstance(timestamp, int | float):
        return float(timestamp)
    if isinstance(timestamp, str):
        try:
            moment = datetime.fromisoformat(timestamp)
        except ValueError:
            return float("nan")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float("nan")


def types_and_aliases(records: Records, arrays: MemoryArrays, senses: Sequence[int]) -> tuple[str, tuple[str, ...]]:
    """Return (type, names as written) of the entities `senses`; the most frequent first, ties by name."""
    number = arrays.entity_numbers[senses[0]]
    passages = [p for entity in senses for p in arrays.passages_by_entity.row(entity)[0].tolist()]
    rows = _stack([records.passages[arrays.passages[p]].mentions for p in passages], 4)
    rows = rows[rows[:, 0] == number]
    kinds = np.bincount(rows[:, 2], minlength=len(TYPES))
    written, counts = np.unique(rows[:, 1], return_counts=True)
    names = [records.written.strings[i] for i in written.tolist()]
    order = sorted(range(len(names)), key=lambda i: (-int(counts[i]), names[i]))
    # "entity" is the type of unclassified names: any other type wins.
    plain = TYPES.index("entity")
    assignment = kinds.copy()
    assignment[plain] = 0
    kind = int(np.argmax(assignment)) if assignment.any() else plain
    return TYPES[kind], tuple(names[i] for i in order)


def _stack(parts: list[NDArray[np.int32]], width: int) -> Ints:
    if not parts:
        return np.zeros((0, width), dtype=np.int64)
    return np.concatenate(parts).astype(np.int64).reshape(-1, width)


def _count_by_term(rows: Ints, terms: Ints, counts: Ints, n_passages: int, n_terms: int) -> Matrix:
    """Return (T, P) counts. `rows` ascend, so a stable sort by term suffices."""
    order = np.argsort(terms.astype(np.int32), kind="stable")
    indptr = np.zeros(n_terms + 1, dtype=np.int64)
    np.cumsum(np.bincount(terms, minlength=n_terms), out=indptr[1:])
    return Matrix(indptr, rows[order].astype(np.int32), counts[order].astype(np.float64), n_passages)


def _build_postings(matrix: Matrix, n_passages: int) -> Postings:
    """Return postings with BM25 norms as `model.index.Postings` defines them."""
    lengths = np.bincount(matrix.indices, weights=matrix.values, minlength=n_passages)
    mean = float(lengths.mean()) if len(lengths) and lengths.any() else 1.0
    norms = (K1 * (1 - B + B * lengths / mean)).astype(np.float64)
    return Postings(matrix.indptr.astype(np.int32), matrix.indices, matrix.values.astype(np.int32), norms, n_passages)


def _build_similarity(
    records: Records, ranks: Ints, assignment: SenseAssignment, vector_pairs: Mapping[tuple[int, int], float] | None
) -> Matrix:
    """Return similarity edges that are among the MAX_SIMILAR best of both ends, ties by id.

    An entity has at most that many edges, independent of insertion order. For names with several senses, an edge joins
    senses that share a neighbor.
    """
    n_entities = len(assignment.names)
    if vector_pairs is not None:
        pairs = [(int(ranks[a]), int(ranks[b]), value) for (a, b), value in vector_pairs.items()]
    else:
        number = records.entities.by_string
        pairs = [
            (int(ranks[number[a]]), int(ranks[number[b]]), v) for (a, b), v in records.name_similarity.pairs.items()
        ]
    live = [(*ends, value) for a, b, value in pairs if a >= 0 and b >= 0 for ends in assignment.pair_senses(a, b)]
    ends = np.array([(a, b) for a, b, _ in live], dtype=np.int64).reshape(-1, 2)
    value = np.array([v for _, _, v in live], dtype=np.float64)
    sources, targets = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    values = np.concatenate([value, value])
    order = np.lexsort((targets, -values, sources))
    sources, targets, values = sources[order], targets[order], values[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=n_entities))])[:-1]
    best = np.arange(len(sources)) - starts[sources] < MAX_SIMILAR
    sources, targets, values = sources[best], targets[best], values[best]
    keys, back = sources * max(n_entities, 1) + targets, targets * max(n_entities, 1) + sources
    mutual = np.isin(keys, back)
    return Matrix.from_entries(sources[mutual], targets[mutual], values[mutual], (n_entities, n_entities))
