"""Arrays of an index: records -> counts by passage -> sparse matrices that retrieval reads.

Rows and columns are in the order of sorted passage ids, entity ids and terms. Sparse matrices are CSR arrays, with
entries in an order independent of insertion. After a change of few records, the counts are spliced (`memory.matrix`),
and senses are found again for the names that the change can affect. The result is that of a rebuild.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import empty_on_disk, split_rows, unique_sorted, zeros_on_disk
from causalist._internal.lazy import dataclass
from causalist.memory.extractors import TYPES
from causalist.memory.matrix_splices import (
    Axis,
    Column,
    Counted,
    Floats,
    Ints,
    JoinedStrings,
    Matrix,
    SortedStrings,
    find_entries,
    join_column,
    splice_counted,
    splice_matrix,
)
from causalist.memory.passage_records import TIMESTAMP, AnyRecord, Records
from causalist.memory.senses import (
    SenseAssignment,
    TermVectors,
    are_neighbors,
    could_differ,
    disambiguate,
    find_senses,
)
from causalist.model.string_table import StringTable
from causalist.rank.lexical.bm25 import K1

B = 0.75  # length normalization of BM25, the usual default
NO_PATH = "\0"  # before the id of a passage of no document
MAX_SIMILAR = 10  # similarity edges per entity
_EXACT_TYPES = tuple(TYPES.index(each) for each in ("date", "measure", "iri"))  # names of these types have one sense
_MENTIONS_AT_ONCE = 200_000  # of names whose senses are found
MAX_CHANGED_SHARE = 0.25  # of the passages; after more changes, everything is built again


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of P passages by their M names and T terms, before names have senses.

    - `mentions`: (P, M), number of mentions; `mentioned_by` is its transpose.
    - `n_exact`: (M,), mentions as a date, measure or IRI. `n_documents`: (M,), documents that name a name.
    - `forward`: (P, T), term counts; `by_term` is its transpose. `lengths`: (P,), sums of the term counts.
    - `times`: (P,), seconds since 1970, NaN if unknown. `documents`: (P,), positions in `document_names`.
    - `labels`: sense of each entry of `mentions`, 0 for the most frequent one.
    """

    passages: SortedStrings
    names: SortedStrings
    terms: SortedStrings
    mentions: Matrix
    mentioned_by: Matrix
    n_exact: Ints
    n_documents: Ints
    forward: Counted
    by_term: Counted
    lengths: Floats
    times: Floats
    document_names: SortedStrings
    documents: Ints
    labels: Ints


class TermPostings(NamedTuple):
    """Passages by term, and their counts, as `model.index.Postings`; both may not be joined yet."""

    indptr: NDArray[np.int32]
    documents: Column
    counts: Column
    norms: Floats
    n_documents: int


@dataclass(frozen=True, slots=True)
class MemoryArrays:
    """Arrays of an index with P passages, E entities and T terms.

    An entity is one sense of a name. Senses of an ambiguous name have the id of the name with a
    number in brackets, 1 for the most frequent sense.

    - `mentions`: (P, E), number of mentions of an entity in a passage; `passages_by_entity` is its transpose.
    - `similar`: (E, E), symmetric, similarity in [threshold, 1].
    - `explicit`: (E, E), from subject to object, sum of the confidences of triples.
    - `references`: (P, P).
    - `forward`: (P, T), term counts; `postings` holds the same counts by term, for BM25.
    - `times`: (P,), seconds since 1970, NaN if unknown.
    - `documents`: (P,), document numbers; passages with the same path in their metadata are one document.
    - `senses`: entity -> all entities of the same name, for ambiguous names only.
    """

    passages: SortedStrings
    entities: SortedStrings
    entity_numbers: Ints  # (E,), numbers of the names in the records
    terms: SortedStrings
    term_ranks: Ints  # by term number in the records, -1 if no passage has the term
    mentions: Matrix
    passages_by_entity: Matrix
    similar: Matrix
    explicit: Matrix
    references: Matrix
    forward: Counted
    postings: TermPostings
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


def build_counts(records: Records) -> Counts:
    """Return the counts of all records."""
    passages = SortedStrings(records.ids.strings, records.passages.list_numbers(records.ids))
    mentions, sizes = records.passages.stack("mentions")
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    is_used = np.zeros(len(records.entities.strings), dtype=np.bool_)
    is_used[records.collect_links()[0][:, 1:]] = True
    is_used[mentions[:, 0]] = True
    names, ranks = records.entities.sort(np.flatnonzero(is_used))
    m = len(names)
    mention_matrix = Matrix.count(bounds, mentions[:, 0], ranks, m)
    mentioned_by = mention_matrix.transpose()
    n_exact = np.zeros(m, dtype=np.int64)
    for part in split_rows(bounds):
        some = mentions[bounds[part.start] : bounds[part.stop]]
        np.add.at(n_exact, ranks[some[np.isin(some[:, 2], _EXACT_TYPES), 0]], 1)
    term_list, by_term = _count_terms(records)

    times = np.zeros(len(passages))
    document_of = np.zeros(len(passages), dtype=np.int64)  # their numbers in the records
    for i, (passage, metadata) in enumerate(records.passages.iterate_metadata()):
        document_of[i] = records.documents.intern(_document_name(passage, metadata))
        times[i] = parse_seconds(metadata.get(TIMESTAMP))
    document_names, document_ranks = records.documents.sort(unique_sorted(document_of))
    documents = document_ranks[document_of]
    forward = by_term.transpose()
    counts = Counts(
        passages,
        names,
        term_list,
        mention_matrix,
        mentioned_by,
        n_exact,
        _count_documents(mentioned_by, documents, len(document_names)),
        Counted.of(forward),
        Counted.of(by_term),
        _sum_rows(forward),
        times,
        document_names,
        documents,
        zeros_on_disk(len(mention_matrix.indices), np.int64),
    )
    _label_senses(counts, np.arange(m))
    return counts


def _count_documents(mentioned_by: Matrix, documents: Ints, n_documents: int) -> Ints:
    """Return the number of documents with a passage of each row."""
    found = np.zeros(mentioned_by.n_rows, dtype=np.int64)
    for rows in split_rows(mentioned_by.indptr):
        bounds = mentioned_by.indptr[rows.start : rows.stop + 1]
        of = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        pairs = unique_sorted(of * n_documents + documents[mentioned_by.indices[bounds[0] : bounds[-1]]])
        found[rows] = np.bincount(pairs // max(n_documents, 1), minlength=len(bounds) - 1)
    return found


_STORED = ("n_exact", "n_documents", "lengths", "times", "documents", "labels")
_SORTED = ("names", "terms", "document_names")
_MATRICES = ("mentions", "mentioned_by", "forward", "by_term")


def pack_counts(counts: Counts) -> dict[str, NDArray[Any]]:
    """Return the arrays that `unpack_counts` restores the counts from."""
    arrays: dict[str, NDArray[Any]] = {name: getattr(counts, name) for name in _STORED}
    arrays |= {name: getattr(counts, name).numbers for name in _SORTED}
    for name in _MATRICES:
        matrix: Matrix | Counted = getattr(counts, name)
        arrays |= {f"{name}.indptr": matrix.indptr, name: join_column(matrix.indices)}
        arrays[f"{name}.values"] = join_column(matrix.values)
    return arrays


def unpack_counts(arrays: Mapping[str, NDArray[Any]], records: Records) -> Counts:
    """Return the counts of all records, of arrays that `pack_counts` made of them; the first ids are the passages."""
    n = len(arrays["times"])
    names, terms, document_names = (
        SortedStrings(strings, arrays[name])
        for name, strings in zip(
            _SORTED, (records.entities.strings, records.terms.strings, records.documents.strings), strict=True
        )
    )
    mentions, mentioned_by, forward, by_term = (
        Matrix(arrays[f"{name}.indptr"], arrays[name], arrays[f"{name}.values"], n_columns)
        for name, n_columns in zip(_MATRICES, (len(names), n, len(terms), n), strict=True)
    )
    return Counts(
        passages=SortedStrings(records.ids.strings, np.arange(n, dtype=np.int64)),
        names=names,
        terms=terms,
        document_names=document_names,
        mentions=mentions,
        mentioned_by=mentioned_by,
        forward=Counted.of(forward),
        by_term=Counted.of(by_term),
        **{name: arrays[name] for name in _STORED},
    )


def update_counts(old: Counts, records: Records, touched: Mapping[str, AnyRecord | None]) -> tuple[Counts, Axis] | None:
    """Return (counts of all records, change of the passages), from counts before a change.

    `touched`: the changed passages with their records before, None for new ones. Returns None if too much has changed.
    """
    if len(touched) > MAX_CHANGED_SHARE * len(old.passages) or not old.mentioned_by.sizes.all():
        return None
    before = {passage: record for passage, record in touched.items() if record is not None}
    new = {passage: records.passages[passage] for passage in sorted(touched) if passage in records.passages}
    for record in (*before.values(), *new.values()):
        mentioned = set(record.mentions[:, 0].tolist())
        if not all(t.subject in mentioned and t.object in mentioned for t in record.triples):
            return None
    gone = [old.passages.find(passage) for passage in before]
    passages, rows = old.passages.splice(gone, {passage: records.ids.intern(passage) for passage in new})

    mention_rows = {p: _count_mentions(r.mentions) for p, r in new.items()}
    names, columns = _splice_names(
        old.names, old.mentioned_by.sizes,
        [unique_sorted(r.mentions[:, 0]) for r in before.values()],
        [n.astype(np.int32) for n, _, _ in mention_rows.values()],
    )  # fmt: skip
    terms, term_columns = _splice_names(
        old.terms, old.by_term.sizes,
        [r.terms[:, 0] for r in before.values()], [r.terms[:, 0] for r in new.values()],
    )  # fmt: skip
    name_rank, term_rank = names.ranks, terms.ranks
    entries = _entries([(name_rank[n], c) for n, c, _ in mention_rows.values()], rows.fresh)
    mentions, splice = splice_matrix(old.mentions, rows, columns, entries[:2], entries[2])
    labels = splice.apply(old.labels, np.zeros(len(entries[0]), dtype=np.int64))
    if labels is old.labels:
        labels = labels.copy()  # it is changed below
    turned = _turn(entries)
    mentioned_by, _ = splice_matrix(old.mentioned_by, columns, rows, turned[:2], turned[2])
    n_exact = columns.move(old.n_exact, 0)
    for record in before.values():
        exact = name_rank[record.mentions[np.isin(record.mentions[:, 2], _EXACT_TYPES), 0]]
        np.subtract.at(n_exact, exact[exact >= 0], 1)
    for names_of, _, exact_counts in mention_rows.values():
        n_exact[name_rank[names_of]] += exact_counts

    entries = _entries([(term_rank[r.terms[:, 0]], r.terms[:, 1]) for r in new.values()], rows.fresh)
    forward = splice_counted(old.forward, rows, term_columns, entries[:2], entries[2])
    turned = _turn(entries)
    by_term = splice_counted(old.by_term, term_columns, rows, turned[:2], turned[2])
    lengths = rows.move(old.lengths, [float(r.terms[:, 1].sum()) for r in new.values()])
    times = rows.move(old.times, [parse_seconds(r.metadata.get(TIMESTAMP)) for r in new.values()])
    document_names, documents = _splice_documents(records, old, rows, new)

    touched_numbers = [r.mentions[:, 0] for r in (*before.values(), *new.values())]
    in_touched = unique_sorted(name_rank[np.concatenate(touched_numbers)]) if touched_numbers else np.zeros(0, np.int64)
    in_touched = in_touched[in_touched >= 0]
    n_documents = columns.move(old.n_documents, 0)
    n_before = n_documents[in_touched]
    for name in in_touched.tolist():
        n_documents[name] = len(unique_sorted(documents[mentioned_by.row(name)[0]]))
    counts = Counts(
        passages, names, terms, mentions, mentioned_by, n_exact, n_documents, forward, by_term,
        lengths, times, document_names, documents, labels,
    )  # fmt: skip
    _label_senses(counts, _find_affected(old, counts, in_touched, n_before))
    return counts, rows


def _find_affected(old: Counts, counts: Counts, touched: Ints, n_before: Ints) -> Ints:
    """Return the names whose senses a change can affect; `n_before`: documents that named the `touched` ones.

    These are the names of changed passages, and names beside one that has become a neighbor or is none any more.
    """
    n_documents = counts.n_documents.copy()
    n_documents[touched] = n_before
    counted = (n_documents, len(old.document_names)), (counts.n_documents, len(counts.document_names))
    was, is_one = (are_neighbors(*each) for each in counted)
    beside = unique_sorted(counts.mentioned_by.columns_of(np.flatnonzero(was != is_one))[0])
    return unique_sorted(np.concatenate([touched, counts.mentions.columns_of(beside)[0]]))


def _label_senses(counts: Counts, affected: Ints) -> None:
    """Set `labels` of the affected names."""
    all_chosen = affected[could_differ(counts.n_documents[affected], counts.n_exact[affected] == 0)]
    is_neighbor = are_neighbors(counts.n_documents, len(counts.document_names))
    is_affected = np.zeros(len(counts.names), dtype=np.bool_)
    is_affected[affected] = True
    counts.labels[is_affected[counts.mentions.indices]] = 0
    bounds = np.concatenate([[0], np.cumsum(counts.mentioned_by.sizes[all_chosen])]).astype(np.int64)
    for part in split_rows(bounds, _MENTIONS_AT_ONCE):  # the senses of one name do not depend on those of others
        chosen = np.zeros(len(counts.names), dtype=np.bool_)
        chosen[all_chosen[part]] = True
        is_there = np.zeros(len(counts.passages), dtype=np.bool_)
        is_there[counts.mentioned_by.columns_of(all_chosen[part])[0]] = True
        rows = np.flatnonzero(is_there)
        words = TermVectors(counts.forward, rows, counts.terms)
        mentions = counts.mentions.take(rows)
        senses = find_senses(mentions, counts.documents[rows], chosen, is_neighbor, words, counts.names)
        of_chosen = np.flatnonzero(chosen[mentions.indices])
        counts.labels[find_entries(counts.mentions.indptr, rows)[0][of_chosen]] = senses[of_chosen]


def _splice_names(
    old: SortedStrings, sizes: Ints, lost: list[NDArray[np.int32]], won: list[NDArray[np.int32]]
) -> tuple[SortedStrings, Axis]:
    """Return the strings after passages lost and won some, by number, and the change; `sizes`: passages of each."""
    lost_numbers, won_numbers = (np.concatenate([np.zeros(0, dtype=np.int64), *each]) for each in (lost, won))
    numbers = unique_sorted(np.concatenate([lost_numbers, won_numbers]))
    strings = [old.strings[n] for n in numbers.tolist()]
    places = np.array([old.find(string) for string in strings], dtype=np.int64)
    before = np.where(places >= 0, sizes[places], 0) if len(sizes) else np.zeros_like(places)
    change = np.bincount(np.searchsorted(numbers, won_numbers), minlength=len(numbers))
    change -= np.bincount(np.searchsorted(numbers, lost_numbers), minlength=len(numbers))
    gone = places[(before > 0) & (before + change <= 0)]
    is_new = (before == 0) & (change > 0)
    fresh = {string: n for string, n, new in zip(strings, numbers.tolist(), is_new.tolist(), strict=True) if new}
    return old.splice(np.sort(gone).tolist(), fresh)


def _count_mentions(mentions: NDArray[np.int32]) -> tuple[Ints, Floats, Ints]:
    """Return (names, mentions of each, those as a date, measure or IRI) of a passage."""
    names, of, counts = np.unique(mentions[:, 0], return_inverse=True, return_counts=True)
    exact = np.bincount(of[np.isin(mentions[:, 2], _EXACT_TYPES)], minlength=len(names))
    return names.astype(np.int64), counts.astype(np.float64), exact


def _entries(entries_by_row: Sequence[tuple[Ints, NDArray[np.generic]]], rows: Ints) -> tuple[Ints, Ints, Floats]:
    """Return rows, columns and values of (columns, values) of each row, sorted."""
    if not entries_by_row:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, np.zeros(0)
    orders = [np.argsort(columns, kind="stable") for columns, _ in entries_by_row]
    return (
        np.repeat(rows, [len(columns) for columns, _ in entries_by_row]),
        np.concatenate([columns[order] for (columns, _), order in zip(entries_by_row, orders, strict=True)]),
        np.concatenate([values[order] for (_, values), order in zip(entries_by_row, orders, strict=True)]).astype(
            np.float64
        ),
    )


def _turn(entries: tuple[Ints, Ints, Floats]) -> tuple[Ints, Ints, Floats]:
    """Return the entries of the transpose, sorted."""
    order = np.argsort(entries[1], kind="stable")
    return entries[1][order], entries[0][order], entries[2][order]


def _document_name(passage: str, metadata: Mapping[str, Any]) -> str:
    return str(metadata.get("path", f"{NO_PATH}{passage}"))


def _splice_documents(
    records: Records, old: Counts, rows: Axis, new: Mapping[str, AnyRecord]
) -> tuple[SortedStrings, Ints]:
    """Return (document names, document of each passage)."""
    new_names = [_document_name(p, r.metadata) for p, r in new.items()]
    left = np.bincount(old.documents[rows.place >= 0], minlength=len(old.document_names))
    position_by_name = {name: at for name in set(new_names) if (at := old.document_names.find(name)) >= 0}
    left[list(position_by_name.values())] += 1
    fresh = {name: records.documents.intern(name) for name in new_names if name not in position_by_name}
    names, axis = old.document_names.splice(np.flatnonzero(left == 0).tolist(), fresh)
    place = {name: names.find(name) for name in set(new_names)}
    return names, rows.move(axis.place[old.documents], [place[name] for name in new_names])


def build_arrays(
    records: Records, vector_pairs: Mapping[tuple[int, int], float] | None = None, counts: Counts | None = None
) -> MemoryArrays:
    """Return the arrays of all records; `counts` are the counts of these records, if the caller has them.

    `vector_pairs` maps (number of the smaller entity id, number of the other) to a cosine. Without it, similarity
    edges join similar names.
    """
    counts = build_counts(records) if counts is None else counts
    n = len(counts.passages)
    assignment = disambiguate(counts.names, counts.documents, counts.mentions, counts.mentioned_by, counts.labels)
    m = len(assignment.names)
    name_ranks, positions = counts.names.ranks, counts.passages.ranks
    triples, confidences, ends = records.collect_links()
    owners = counts.documents[positions[triples[:, 0]]]
    subjects, objects = (assignment.resolve(owners, name_ranks[triples[:, k]]) for k in (1, 2))
    explicit = Matrix.from_entries(subjects, objects, confidences, (m, m))
    ends = positions[ends]
    ends = ends[ends[:, 1] >= 0]
    return MemoryArrays(
        counts.passages,
        assignment.names,
        assignment.numbers,
        counts.terms,
        counts.terms.ranks,
        assignment.mentions,
        assignment.passages_by_entity,
        _build_similarity(records, name_ranks, assignment, vector_pairs),
        explicit,
        Matrix.from_entries(ends[:, 0], ends[:, 1], np.ones(len(ends)), (n, n)),
        counts.forward,
        _build_postings(counts.by_term, counts.lengths),
        counts.times,
        counts.documents,
        assignment.senses,
    )


def count_cooccurrences(arrays: MemoryArrays) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return (smaller entity, larger entity, number of passages that name both) of all pairs with such a passage."""
    from scipy.sparse import csr_array, triu  # type: ignore[import-untyped]

    ones = np.ones(len(arrays.mentions.indices))
    shape = (arrays.n_passages, arrays.n_entities)
    matrix = csr_array((ones, arrays.mentions.indices, arrays.mentions.indptr), shape=shape)
    pairs = triu(matrix.T @ matrix, k=1).tocoo()
    order = np.lexsort((pairs.col, pairs.row))
    return pairs.row[order].astype(np.int64), pairs.col[order].astype(np.int64), pairs.data[order].astype(np.float64)


_EDGES = ("similar", "explicit", "references")


def pack_arrays(arrays: MemoryArrays) -> dict[str, NDArray[Any]]:
    """Return the arrays that `unpack_arrays` restores the arrays of an index from, with its counts."""
    entities, senses = arrays.entities, sorted(set(arrays.senses.values()))
    joined = entities.strings if isinstance(entities.strings, JoinedStrings) else None
    more = StringTable.from_strings([] if joined is None else joined.more)
    found: dict[str, NDArray[Any]] = {
        "entities": entities.numbers,
        "entity_numbers": arrays.entity_numbers,
        "sense_names.blob": more.blob,
        "sense_names.offsets": more.offsets,
        "sense_names.first": np.array([0 if joined is None else joined.n], dtype=np.int64),
        "senses": np.array([entity for group in senses for entity in group], dtype=np.int64),
        "senses.sizes": np.array([len(group) for group in senses], dtype=np.int64),
    }
    for name in (*_EDGES, *(("mentions", "passages_by_entity") if joined is not None else ())):
        matrix: Matrix = getattr(arrays, name)
        found |= {f"{name}.indptr": matrix.indptr, name: matrix.indices, f"{name}.values": join_column(matrix.values)}
    return found


def unpack_arrays(stored: Mapping[str, NDArray[Any]], counts: Counts) -> MemoryArrays:
    """Return the arrays of an index, of what `pack_arrays` returned."""
    n, m = len(counts.passages), len(stored["entities"])

    def matrix(name: str, n_columns: int) -> Matrix:
        return Matrix(stored[f"{name}.indptr"], stored[name], stored[f"{name}.values"], n_columns)

    is_split = "mentions" in stored
    more = list(StringTable(stored["sense_names.blob"], stored["sense_names.offsets"]))
    groups, start = [], 0
    for size in stored["senses.sizes"].tolist():
        groups.append(tuple(stored["senses"][start : start + size].tolist()))
        start += size
    strings = counts.names.strings
    joined = JoinedStrings(strings, more, int(stored["sense_names.first"][0])) if is_split else strings
    return MemoryArrays(
        counts.passages,
        SortedStrings(joined, stored["entities"]),
        stored["entity_numbers"],
        counts.terms,
        counts.terms.ranks,
        matrix("mentions", m) if is_split else counts.mentions,
        matrix("passages_by_entity", n) if is_split else counts.mentioned_by,
        matrix("similar", m),
        matrix("explicit", m),
        matrix("references", n),
        counts.forward,
        _build_postings(counts.by_term, counts.lengths),
        counts.times,
        counts.documents,
        {entity: group for group in groups for entity in group},
    )


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
    spellings, counts = np.unique(rows[:, 1], return_counts=True)
    names = [records.written.strings[i] for i in spellings.tolist()]
    order = sorted(range(len(names)), key=lambda i: (-int(counts[i]), names[i]))
    # "entity" is the type of unclassified names: any other type wins.
    plain = TYPES.index("entity")
    assignment = kinds.copy()
    assignment[plain] = 0
    kind = int(np.argmax(assignment)) if assignment.any() else plain
    return TYPES[kind], tuple(names[i] for i in order)


def _stack(parts: list[NDArray[np.int32]], width: int) -> NDArray[np.int32]:
    if not parts:
        return np.zeros((0, width), dtype=np.int32)
    return np.concatenate(parts).reshape(-1, width)


def _count_terms(records: Records) -> tuple[SortedStrings, Matrix]:
    """Return (terms, their counts by passage, shape (T, P))."""
    terms, sizes = records.passages.stack("terms")
    is_used = np.zeros(len(records.terms.strings), dtype=np.bool_)
    is_used[terms[:, 0]] = True
    strings, ranks = records.terms.sort(np.flatnonzero(is_used))
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    indices = empty_on_disk(len(terms), np.int32)
    for part in split_rows(indptr):
        indices[indptr[part.start] : indptr[part.stop]] = ranks[terms[indptr[part.start] : indptr[part.stop], 0]]
    return strings, Matrix(indptr, indices, terms[:, 1], len(strings)).transpose()


def _sum_rows(matrix: Matrix) -> Floats:
    """Return the sums of the rows of a matrix of integers."""
    sums, is_filled = np.zeros(matrix.n_rows), matrix.sizes > 0
    sums[is_filled] = np.add.reduceat(matrix.values, matrix.indptr[:-1][is_filled], dtype=np.int64)
    return sums


def _build_postings(counted: Counted, lengths: Floats) -> TermPostings:
    """Return postings with BM25 norms as `model.index.Postings` defines them."""
    mean = float(lengths.mean()) if len(lengths) and lengths.any() else 1.0
    norms = (K1 * (1 - B + B * lengths / mean)).astype(np.float64)
    return TermPostings(counted.indptr.astype(np.int32), counted.indices, counted.values, norms, len(lengths))


def _build_similarity(
    records: Records, ranks: Ints, assignment: SenseAssignment, vector_pairs: Mapping[tuple[int, int], float] | None
) -> Matrix:
    """Return similarity edges that are among the MAX_SIMILAR best of both ends, ties by id.

    An entity has at most that many edges, independent of insertion order. For names with several senses, an edge joins
    senses that share a neighbor.
    """
    n_entities = len(assignment.names)
    if vector_pairs is None:
        numbers, strengths = records.list_similar_names()
    else:
        numbers = np.array(list(vector_pairs), dtype=np.int64).reshape(-1, 2)
        strengths = np.array(list(vector_pairs.values()), dtype=np.float64)
    is_live = (ranks[numbers] >= 0).all(axis=1)
    ends, value = assignment.pair_senses(assignment.first[ranks[numbers[is_live]]], strengths[is_live])
    sources, targets = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    values = np.concatenate([value, value])
    is_kept = np.ones(len(values), dtype=np.bool_)
    crowded = np.flatnonzero(np.bincount(sources, minlength=n_entities)[sources] > MAX_SIMILAR)
    order = crowded[np.lexsort((targets[crowded], -values[crowded], sources[crowded]))]
    ranks_at_source = np.arange(len(order)) - np.searchsorted(sources[order], sources[order])
    lost = order[ranks_at_source >= MAX_SIMILAR]
    is_kept[lost] = is_kept[(lost + len(value)) % max(len(values), 1)] = False  # at both ends
    return Matrix.from_entries(sources[is_kept], targets[is_kept], values[is_kept], (n_entities, n_entities))
