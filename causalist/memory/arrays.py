"""Arrays of an index: records -> sparse matrices that retrieval reads.

Rows and columns are in the order of sorted passage ids, entity ids and terms. Sparse matrices are CSR arrays. A
change of any record rebuilds all arrays; `records.py` has the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from causalist.memory.disambiguation import SenseAssignment, disambiguate, find_senses
from causalist.memory.entities import TYPES
from causalist.memory.records import TIMESTAMP, Record, Records, sort_strings
from causalist.memory.sparse_matrix import Floats, Ints, Matrix
from causalist.model.index import Postings
from causalist.rank.lexical.bm25 import K1

B = 0.75  # length normalization of BM25, the usual default
MAX_SIMILAR = 10  # similarity edges per entity
_EXACT_TYPES = tuple(TYPES.index(each) for each in ("date", "measure", "iri"))  # names of these types have one sense


@dataclass(frozen=True, slots=True)
class MemoryArrays:
    """Arrays of an index with P passages, E entities and T terms.

    An entity is one sense of a name. Senses of an ambiguous name (`disambiguation.py`) have the id of the name with a
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
    return Postings(matrix.indptr, matrix.indices, matrix.values.astype(np.int32), norms, n_passages)


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
