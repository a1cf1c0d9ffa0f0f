"""Records of passages, of a file or in memory, and the names that a passage defines.

A record depends on its own passage only and stores integer counts. Everything that depends on other passages (weights,
degrees, similarities, lengths) is derived from all records in an order independent of insertion (`count_matrices.py`).
So any history of additions and removals equals a rebuild, bit for bit. A passage defines the names in its title and the
terms that its list items begin with. From the best passages, the entities they name lead to the documents that define
them.

An embedder is a function from texts to vectors, which the caller chooses. Each passage and entity name is embedded
once. A cosine is summed element by element in double precision, since BLAS sums depend on the shape of the matrices.
"""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import join_on_disk
from causalist._internal.lazy import dataclass
from causalist.errors import CausalistError, ModelFailed, UsageError
from causalist.memory.defined_names import Words, count_runs, fold_run, fold_words, is_name, run_terms, split_text
from causalist.memory.document_text import REFERENCES, find_defined_names, pack_passage, unpack_passage
from causalist.memory.entity_ids import entity_id
from causalist.memory.extractors import ALIAS, TYPES, Embedder, Extraction
from causalist.memory.matrix_splices import (
    Floats,
    Ints,
    SortedStrings,
    StringNumbers,
    find_entries,
)
from causalist.memory.senses import SIMILARITY_THRESHOLD, NameSimilarity
from causalist.model import protocols as embedding
from causalist.rank.terms import terms_of

_BATCH_TEXTS = 64
_BLOCK_ROWS = 1024
_SLACK = 1e-4  # tolerance of the fast product, before the exact cosine


@dataclass(slots=True)
class Vectors:
    """Vectors by passage id and by entity id, float32, of norm 1; `pairs`: entities with a cosine of the threshold."""

    embedder: Embedder
    passages: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    entities: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], float] = field(default_factory=dict)
    _compared: list[str] = field(default_factory=list)
    _texts: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def embed_once(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, d); those asked for before are not embedded again."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        self._texts.update(zip(new, self.embed(new), strict=True))
        return np.stack([self._texts[text] for text in texts])

    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of texts. Raises UsageError for an invalid vector, ModelFailed."""
        vectors: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _BATCH_TEXTS):
            batch = list(texts[start : start + _BATCH_TEXTS])
            rows = self._call_embedder(batch)
            if len(rows) != len(batch):
                raise UsageError(f"the embedder returned {len(rows)} vectors for {len(batch)} texts")
            vectors += [self._normalize(row) for row in rows]
        return vectors

    def _call_embedder(self, batch: list[str]) -> list[NDArray[np.float64]]:
        try:
            embed = self.embedder.embed if isinstance(self.embedder, embedding.Embedder) else self.embedder
            return [np.asarray(row, dtype=np.float64) for row in embed(batch)]
        except CausalistError:
            raise
        except Exception as error:  # a provider can raise anything
            raise ModelFailed(f"the embedder failed: {type(error).__name__}: {str(error)[:200]}") from error

    def _normalize(self, row: NDArray[np.float64]) -> NDArray[np.float32]:
        sample = next(iter(self.passages.values()), None)
        if (
            row.ndim != 1
            or not len(row)
            or not np.isfinite(row).all()
            or (sample is not None and len(sample) != len(row))
        ):
            raise UsageError(
                f"the embedder returned an array of shape {row.shape}; vectors must be finite and of equal length"
            )
        norm = float(np.sqrt(np.add.reduce(row * row)))
        return (row / norm if norm else row).astype(np.float32)

    def matrix(self, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of passages, shape (P, d)."""
        return np.stack([self.passages[each] for each in passages]) if passages else np.zeros((0, 1), dtype=np.float32)

    def update_pairs(self, names: Sequence[str]) -> None:
        """Add the pairs of new entities among `names` with all others."""
        new = [name for name in names if name not in self.entities]
        for name, vector in zip(new, self.embed([name.replace("_", " ") for name in new]), strict=True):
            self.entities[name] = vector
        compared = set(self._compared)
        fresh = [name for name in self.entities if name not in compared]
        everything = self._compared + fresh
        if not fresh:
            return
        matrix = np.stack([self.entities[name] for name in everything])
        for start in range(len(self._compared), len(everything), _BLOCK_ROWS):
            rows = np.arange(start, min(start + _BLOCK_ROWS, len(everything)))
            near = matrix[rows] @ matrix[: int(rows[-1]) + 1].T >= SIMILARITY_THRESHOLD - _SLACK
            for i, j in np.argwhere(near).tolist():
                if rows[i] > j:
                    self._pair(everything[int(rows[i])], everything[j])
        self._compared = everything

    def restore_pairs(self, pairs: dict[tuple[str, str], float]) -> None:
        """Set the pairs of all entities, which then are not compared again."""
        self.pairs, self._compared = pairs, list(self.entities)

    def _pair(self, a: str, b: str) -> None:
        cosine = float(cosines(self.entities[a][None, :], self.entities[b])[0])
        if cosine >= SIMILARITY_THRESHOLD:
            self.pairs[(a, b) if a < b else (b, a)] = min(cosine, 1.0)

    def nearest(self, vector: NDArray[np.float32], live: Mapping[str, int], most: int) -> dict[str, float]:
        """Return the nearest `most` live entities with a cosine of at least SIMILARITY_THRESHOLD."""
        names = sorted(name for name in self.entities if name in live)
        if not names:
            return {}
        values = cosines(np.stack([self.entities[name] for name in names]), vector)
        order = np.argsort(-values, kind="stable")[:most]
        return {names[i]: min(float(values[i]), 1.0) for i in order.tolist() if values[i] >= SIMILARITY_THRESHOLD}


def cosines(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosines of rows with a vector, all of norm 1, shape (n,)."""
    if not len(matrix):
        return np.zeros(0)
    if matrix.shape[1] != len(vector):
        raise UsageError(f"the query vector has {len(vector)} numbers, but those of the index have {matrix.shape[1]}")
    cosine_by_row = np.empty(len(matrix))
    for start in range(0, len(matrix), _BLOCK_ROWS):
        block = matrix[start : start + _BLOCK_ROWS].astype(np.float64)
        cosine_by_row[start : start + _BLOCK_ROWS] = np.add.reduce(block * vector.astype(np.float64), axis=1)
    return cosine_by_row


_DEFINED_WORD = re.compile(r"[^\W_]\w*")
TITLE = "title"  # metadata key: title of the passage
TIMESTAMP = "timestamp"  # metadata key: ISO 8601, or seconds since 1970
SUPERSEDES = "supersedes"  # metadata key: ids of passages, or paths of documents, that it replaces


class StoredTriple(NamedTuple):
    """A triple with entity numbers."""

    subject: int
    predicate: str
    object: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Record:
    """One passage.

    - `mentions`: int32, shape (n, 4), in text order: numbers of entity, name as written and type, and the first
      character (-1 if unknown).
    - `terms`: int32, shape (n, 2): term number and count, of text and title.
    - `words`: int32, shape (n,): numbers of the words of the text, in its order.
    - `defines`: int32, shape (n,): numbers of the entities that the passage defines.
    """

    text: str
    metadata: Mapping[str, Any]
    mentions: NDArray[np.int32]
    terms: NDArray[np.int32]
    defines: NDArray[np.int32]
    triples: tuple[StoredTriple, ...]
    references: tuple[str, ...]
    words: NDArray[np.int32]


class StoredPassages:
    """Passages in arrays, mostly of a mapped file, in the order of their ids; `numbers`: those of the ids, by row."""

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], ids: StringNumbers, predicates: StringNumbers, numbers: Ints
    ) -> None:
        """Open the arrays that `PassageRecords.pack` returned. Raises ValueError for bounds that do not fit."""
        self.arrays = arrays
        self.ids = ids
        self.predicates = predicates
        self.numbers = numbers
        self.n = len(arrays["rows.indptr"]) - 1
        self._rows = np.full(int(numbers.max(initial=-1)) + 1, -1, dtype=np.int64)
        self._rows[numbers] = np.arange(self.n)
        for name in _PER_PASSAGE:
            indptr = arrays[f"{name}.indptr"]
            if len(indptr) != self.n + 1 or indptr[0] or (np.diff(indptr) < 0).any() or indptr[-1] != len(arrays[name]):
                raise ValueError(f"the bounds of {name} do not fit")

    def find(self, passage: str) -> int:
        """Return the row of a passage, -1 for an unknown one."""
        number = self.ids.get(passage)
        return int(self._rows[number]) if 0 <= number < len(self._rows) else -1

    def place(self, passage: str) -> int:
        """Return the row before which a passage stands, or its own."""
        table = self.ids.strings.stored
        if table is None or len(self._rows) > len(table):
            return bisect_left(SortedStrings(self.ids.strings, self.numbers), passage)
        return table.lower_bound(passage.encode("utf-8", "surrogatepass"), self.numbers)

    def part(self, name: str, row: int) -> NDArray[Any]:
        """Return the rows of an array that belong to a passage."""
        indptr = self.arrays[f"{name}.indptr"]
        return self.arrays[name][indptr.item(row) : indptr.item(row + 1)]


class StoredRecord:
    """A record of a file, with the properties of `Record`, each read when it is asked for."""

    __slots__ = ("_row", "_stored")

    def __init__(self, stored: StoredPassages, row: int) -> None:
        """Create the record of a row."""
        self._stored, self._row = stored, row

    @property
    def text(self) -> str:
        """Text of the passage. Raises IndexUnreadable if it is damaged."""
        return unpack_passage(self._stored.part("rows", self._row).tobytes())[1]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata of the passage, a new copy."""
        values: dict[str, Any] = json.loads(unpack_passage(self._stored.part("rows", self._row).tobytes())[2])
        return values

    @property
    def mentions(self) -> NDArray[np.int32]:
        """See `Record`."""
        return self._stored.part("mentions", self._row)

    @property
    def terms(self) -> NDArray[np.int32]:
        """See `Record`."""
        return self._stored.part("terms", self._row)

    @property
    def defines(self) -> NDArray[np.int32]:
        """See `Record`."""
        return self._stored.part("defines", self._row)

    @property
    def words(self) -> NDArray[np.int32]:
        """See `Record`."""
        return self._stored.part("words", self._row)

    @property
    def triples(self) -> tuple[StoredTriple, ...]:
        """See `Record`."""
        ends = self._stored.part("triples", self._row).tolist()
        values = self._stored.part("confidences", self._row).tolist()
        predicates = self._stored.predicates.strings
        return tuple(StoredTriple(a, predicates[p], b, value) for (a, p, b), value in zip(ends, values, strict=True))

    @property
    def references(self) -> tuple[str, ...]:
        """See `Record`."""
        return tuple(self._stored.ids.strings[n] for n in self._stored.part("references", self._row).tolist())


AnyRecord = Record | StoredRecord
_ARRAYS = ("mentions", "terms", "defines", "words")  # of a record
_PER_PASSAGE = ("rows", *_ARRAYS, "triples", "confidences", "references")
_WIDTHS = {"mentions": 4, "terms": 2, "triples": 3}
_DTYPES = {"rows": np.uint8, "confidences": np.float64}
_KEYS = ("visible_to", "supersedes")  # of metadata, by which passages are found


class PassageRecords(MutableMapping[str, AnyRecord]):
    """Records by passage id: those of a file, without the ones that were replaced or removed, and those in memory."""

    def __init__(self, stored: StoredPassages | None = None) -> None:
        """Create the records of a file, or none."""
        self._stored = stored
        self._is_left = np.ones(0 if stored is None else stored.n, dtype=np.bool_)  # by row
        self.own: dict[str, Record] = {}

    def __getitem__(self, passage: str) -> AnyRecord:
        """Return the record of a passage. Raises KeyError."""
        record = self.own.get(passage)
        if record is not None:
            return record
        row = self._row(passage)
        if row < 0 or self._stored is None:
            raise KeyError(passage)
        return StoredRecord(self._stored, row)

    def __setitem__(self, passage: str, record: AnyRecord) -> None:
        """Add or replace a record."""
        assert isinstance(record, Record)
        self._drop(passage)
        self.own[passage] = record

    def __delitem__(self, passage: str) -> None:
        """Remove a record. Raises KeyError."""
        if not self._drop(passage):
            del self.own[passage]

    def __contains__(self, passage: object) -> bool:
        """Return True if there is a record."""
        return passage in self.own or (isinstance(passage, str) and self._row(passage) >= 0)

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over the ids."""
        if self._stored is not None:
            yield from self._stored.ids.strings.some(self._stored.numbers[self._is_left])
        yield from self.own

    def __len__(self) -> int:
        """Return the number of passages."""
        return int(np.count_nonzero(self._is_left)) + len(self.own)

    def _row(self, passage: str) -> int:
        row = self._stored.find(passage) if self._stored is not None else -1
        return row if row >= 0 and self._is_left[row] else -1

    def _drop(self, passage: str) -> bool:
        row = self._row(passage)
        if row >= 0:
            self._is_left[row] = False
        return row >= 0

    def without(self, gone: Collection[str]) -> "PassageRecords":
        """Return the records without some."""
        remaining = PassageRecords(self._stored)
        remaining._is_left = self._is_left.copy()
        remaining.own = {passage: record for passage, record in self.own.items() if passage not in gone}
        for passage in gone:
            remaining._drop(passage)
        return remaining

    def with_key(self, key: str) -> list[str]:
        """Return the ids of passages that have one of `_KEYS` in their metadata."""
        passage_ids: list[str] = []
        if self._stored is not None:
            rows = self._stored.arrays[f"with.{key}"]
            numbers = self._stored.numbers[rows[self._is_left[rows]]]
            passage_ids += map(self._stored.ids.strings.__getitem__, numbers.tolist())
        return [*passage_ids, *(passage for passage, record in self.own.items() if key in record.metadata)]

    def list_numbers(self, ids: StringNumbers) -> Ints:
        """Return the numbers of all passages in order; `ids` numbers those of the file too."""
        numbers = [np.zeros(0, dtype=np.int64)]
        for part in self._runs():
            if isinstance(part, str):
                numbers.append(np.array([ids.intern(part)], dtype=np.int64))
            elif self._stored is not None:
                numbers.append(self._stored.numbers[part.start : part.stop])
        return np.concatenate(numbers)

    def stored_links(self, name: str) -> tuple[Ints, NDArray[Any]]:
        """Return (number of the passage, rows of an array) of all passages of the file that are left."""
        if self._stored is None:
            return np.zeros(0, dtype=np.int64), _empty(name)
        rows = np.flatnonzero(self._is_left & (np.diff(self._stored.arrays[f"{name}.indptr"]) > 0))
        at, of = find_entries(self._stored.arrays[f"{name}.indptr"], rows)
        return self._stored.numbers[rows[of]], self._stored.arrays[name][at]

    def stack(self, name: str) -> tuple[NDArray[np.int32], Ints]:
        """Return (rows of an array of `Record` of all passages in order, number of rows of each passage)."""
        pieces: list[NDArray[np.int32]] = [_empty(name)]
        sizes: list[Ints] = [np.zeros(0, dtype=np.int64)]
        for part in self._runs():
            if isinstance(part, str):
                pieces.append(getattr(self.own[part], name))
                sizes.append(np.array([len(pieces[-1])]))
                continue
            assert self._stored is not None
            indptr = self._stored.arrays[f"{name}.indptr"]
            pieces.append(self._stored.arrays[name][indptr[part.start] : indptr[part.stop]])
            sizes.append(np.diff(indptr[part.start : part.stop + 1]))
        return pieces[1] if len(pieces) == 2 else np.concatenate(pieces), np.concatenate(sizes)

    def iterate_metadata(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the ids of all passages in order, with their metadata."""
        for part in self._runs():
            if isinstance(part, str):
                yield part, self.own[part].metadata
                continue
            assert self._stored is not None
            for row in part:
                passage, _, metadata = unpack_passage(self._stored.part("rows", row).tobytes())
                yield passage, json.loads(metadata)

    def pack(self, passages: Sequence[str], ids: StringNumbers, predicates: StringNumbers) -> dict[str, NDArray[Any]]:
        """Return the arrays of all passages, given in order; numbers of ids are those in `ids`."""
        pieces: dict[str, list[NDArray[Any]]] = {name: [_empty(name)] for name in _PER_PASSAGE}
        sizes: dict[str, list[NDArray[Any]]] = {name: [np.zeros(1, dtype=np.int64)] for name in _PER_PASSAGE}
        for part in self._runs():
            if isinstance(part, str):
                for name, array in _arrays_of(part, self.own[part], ids, predicates).items():
                    pieces[name].append(array)
                    sizes[name].append(np.array([len(array)], dtype=np.int64))
                continue
            assert self._stored is not None
            for name in _PER_PASSAGE:
                indptr = self._stored.arrays[f"{name}.indptr"]
                array = self._stored.arrays[name][indptr[part.start] : indptr[part.stop]]
                if name == "references" and len(array) and ids is not self._stored.ids:
                    array = np.array([ids.intern(self._stored.ids.strings[n]) for n in array.tolist()], dtype=np.int32)
                pieces[name].append(array)
                sizes[name].append(np.diff(indptr[part.start : part.stop + 1]))
        arrays = {name: join_on_disk(each) if len(each) != 2 else each[1] for name, each in pieces.items()}
        arrays |= {f"{name}.indptr": np.cumsum(np.concatenate(each)) for name, each in sizes.items()}
        for key in _KEYS:
            rows = [bisect_left(passages, passage) for passage in sorted(self.with_key(key))]
            arrays[f"with.{key}"] = np.array(rows, dtype=np.int64)
        return arrays

    def _runs(self) -> Iterator[str | range]:
        """Yield the passages in order: an id of a record in memory, or rows of the file."""
        start = 0
        rows = np.flatnonzero(~self._is_left).tolist()
        cuts = [(0, 1, each) for each in self.own]
        if self._stored is not None:
            cuts = [(self._stored.place(each), 1, each) for each in self.own]
        for at, _, passage in sorted([*cuts, *((row, 2, "") for row in rows)]):
            if at > start:
                yield range(start, at)
            start = max(start, at + (passage == ""))
            if passage:
                yield passage
        if start < len(self._is_left):
            yield range(start, len(self._is_left))


def _empty(name: str) -> NDArray[Any]:
    shape = (0, _WIDTHS[name]) if name in _WIDTHS else (0,)
    return np.zeros(shape, dtype=_DTYPES.get(name, np.int32))


def _arrays_of(passage: str, record: Record, ids: StringNumbers, predicates: StringNumbers) -> dict[str, NDArray[Any]]:
    triples = [(t.subject, predicates.intern(t.predicate), t.object) for t in record.triples]
    return {
        "rows": np.frombuffer(pack_passage(passage, record.text, record.metadata), dtype=np.uint8),
        **{name: getattr(record, name) for name in _ARRAYS},
        "triples": np.array(triples, dtype=np.int32).reshape(-1, 3),
        "confidences": np.array([t.confidence for t in record.triples], dtype=np.float64),
        "references": np.array([ids.intern(each) for each in record.references], dtype=np.int32),
    }


class Records:
    """Records by passage id. Every change increases `generation`.

    `touched`: passages that changed since it was emptied, with their records before, None for new ones. `unsaved`:
    passages that changed since they were saved. Both are None if there is nothing to compare with, or too many changed.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Create an empty set of records, or that of the arrays that `pack` returned. Raises ValueError."""
        parts: dict[str, dict[str, NDArray[Any]]] = {}
        for name, array in (arrays or {}).items():
            head, _, rest = name.partition(".")
            parts.setdefault(head, {})[rest] = array
        self.ids, self.documents, self.entities, self.written, self.terms, self.words, self.predicates = (
            StringNumbers() if arrays is None else StringNumbers.unpack(parts[kind]) for kind in _KINDS
        )
        self.passages = PassageRecords()
        if arrays is not None:
            numbers = np.arange(len(parts["passages"]["rows.indptr"]) - 1)
            self.passages = PassageRecords(StoredPassages(parts["passages"], self.ids, self.predicates, numbers))
        self.name_similarity = NameSimilarity(self.entities, parts.get("similar"))
        self.generation = 0
        self.touched: dict[str, AnyRecord | None] | None = None
        self.unsaved: set[str] | None = set()
        self._linking: set[str] = set()  # passages in memory with triples or references
        self._similar: tuple[int, NDArray[np.int64], NDArray[np.float64]] | None = None

    def pack(self, passages: Sequence[str]) -> tuple[dict[str, NDArray[Any]], StringNumbers]:
        """Return (the arrays of all records, the numbers of ids in them); `passages`: all ids, in order."""
        ids = StringNumbers()
        _ = list(map(ids.intern, passages))  # the numbers of passages are their rows
        arrays = {f"passages.{name}": each for name, each in self.passages.pack(passages, ids, self.predicates).items()}
        arrays |= {f"similar.{name}": each for name, each in self.name_similarity.pack().items()}
        numbers = (ids, self.documents, self.entities, self.written, self.terms, self.words, self.predicates)
        for kind, each in zip(_KINDS, numbers, strict=True):
            arrays |= {f"{kind}.{name}": array for name, array in each.pack().items()}
        return arrays, ids

    def compact(self) -> None:
        """Put all records into arrays, the large ones on disk; nothing else changes."""
        numbers = self.passages.list_numbers(self.ids)
        arrays = self.passages.pack(SortedStrings(self.ids.strings, numbers), self.ids, self.predicates)
        self.passages = PassageRecords(StoredPassages(arrays, self.ids, self.predicates, numbers))
        self.name_similarity.compact()
        self._linking, self._similar = set(), None
        for each in (self.ids, self.documents, self.entities, self.written, self.terms, self.words, self.predicates):
            each.compact()

    def collect_links(self) -> tuple[Ints, Floats, Ints]:
        """Return the links of all passages.

        These are triples (number of the passage, subject, object), shape (n, 3), their confidences, shape (n,), and
        references (number of a passage, of the other one), shape (m, 2), to passages of known ids.
        """
        owners, stored = self.passages.stored_links("triples")
        citing, cited = self.passages.stored_links("references")
        own = [(self.ids.intern(p), self.passages.own[p]) for p in sorted(self._linking)]
        triples = [(n, t.subject, t.object) for n, record in own for t in record.triples]
        links = [(n, self.ids.get(r)) for n, record in own for r in record.references if r in self.ids]
        confidences = [t.confidence for _, record in own for t in record.triples]
        return (
            np.concatenate([np.column_stack([owners, stored[:, 0], stored[:, 2]]), _rows_of(triples, 3)]),
            np.concatenate([self.passages.stored_links("confidences")[1], np.array(confidences, dtype=np.float64)]),
            np.concatenate([np.column_stack([citing, cited]), _rows_of(links, 2)]),
        )

    def put(self, passage_id: str, text: str, metadata: Mapping[str, Any], extraction: Extraction) -> None:
        """Add a passage, or replace it."""
        references = tuple(dict.fromkeys(r for r in metadata.get(REFERENCES, ()) if r != passage_id))
        triples = tuple(
            StoredTriple(
                self._intern_entity(t.subject), t.predicate, self._intern_entity(t.object), float(t.confidence)
            )
            for t in extraction.triples
        )
        mentions = [
            (self._intern_entity(e.name), self.written.intern(e.name), TYPES.index(e.type), e.start)
            for e in extraction.entities
        ]
        rows = np.array(mentions, dtype=np.int32).reshape(-1, 4)
        runs, n_runs = count_runs(text)
        self.restore(
            passage_id,
            Record(
                text,
                metadata,
                rows,
                self.count_terms(text, metadata, n_runs),
                self.find_defined_entities(text, metadata, rows, triples),
                triples,
                references,
                self.number_words(runs, n_runs),
            ),
        )

    def count_terms(
        self, text: str, metadata: Mapping[str, Any], n_runs: Mapping[str, int] | None = None
    ) -> NDArray[np.int32]:
        """Return (term number, count) of a passage; a title that the text does not begin with counts as well.

        `n_runs`: number of each run of the text, if known.
        """
        counts: dict[str, int] = {}
        title = metadata.get(TITLE)
        if isinstance(title, str) and title.strip().casefold() not in text[: len(title) + 40].casefold():
            _add_terms(counts, Counter(split_text(title)))
        _add_terms(counts, count_runs(text)[1] if n_runs is None else n_runs)
        numbers = np.fromiter(map(self.terms.intern, counts), dtype=np.int32, count=len(counts))
        n_times = np.fromiter(counts.values(), dtype=np.int32, count=len(counts))
        order = np.argsort(numbers)
        return np.stack([numbers[order], n_times[order]], axis=1)

    def count_terms_again(self) -> None:
        """Count the terms of all passages whose text is not ASCII, as those of new passages."""
        for passage in list(self.passages):
            record = self.passages[passage]
            if not (record.text + str(record.metadata.get(TITLE))).isascii():
                parts = {name: getattr(record, name) for name in Record.__slots__}
                self.restore(passage, Record(**{**parts, "terms": self.count_terms(record.text, record.metadata)}))

    def number_words(self, runs: NDArray[np.int32], distinct: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of the words of a text, in its order; `runs`: positions of its runs in `distinct`."""
        intern = self.words.intern
        numbers: list[int] = []
        several: list[tuple[int, int]] = []  # (run, number of its words) of runs without exactly one
        for i, run in enumerate(distinct):
            if run.isascii() and "_" not in run:
                numbers.append(intern(run.lower()))
                continue
            words = fold_run(run)
            numbers += map(intern, words)
            if len(words) != 1:
                several.append((i, len(words)))
        flat = np.array(numbers, dtype=np.int32)
        if not several:
            return flat[runs]
        sizes = np.ones(i + 1, dtype=np.int64)
        changed = np.array(several, dtype=np.int64)
        sizes[changed[:, 0]] = changed[:, 1]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return flat[find_entries(starts, runs)[0]]

    def find_defined_entities(
        self, text: str, metadata: Mapping[str, Any], mentions: NDArray[np.int32], triples: Iterable[StoredTriple]
    ) -> NDArray[np.int32]:
        """Return the numbers of the entities that a passage defines, ascending, with their abbreviations."""
        leading = ""
        if len(mentions) and 0 <= int(mentions[0, 3]) <= _MAX_LEAD:
            leading = self.written.strings[int(mentions[0, 1])]
        names = find_defined_names(text, metadata.get(TITLE), leading)
        defined = {self.entities.intern(name) for name in names}
        defined |= {t.object for t in triples if t.predicate == ALIAS and t.subject in defined}
        return np.array(sorted(defined), dtype=np.int32)

    def words_of_entity(self, number: int) -> Words:
        """Return the words of an entity's name, () if it cannot be searched."""
        words = fold_words(self.entities.strings[number].replace("_", " "))
        return tuple(map(self.words.intern, words)) if is_name(words) else ()

    def list_similar_names(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return (entity numbers of pairs of similar names, shape (n, 2); similarities)."""
        similarity = self.name_similarity
        stored, stored_values = similarity.list_pairs()
        if self._similar is None or self._similar[0] != similarity.n_revised:
            self._similar = (similarity.n_revised, stored.astype(np.int64), stored_values)
        _, numbers, values = self._similar
        new = list(islice(similarity.pairs.items(), len(values) - len(stored_values), None))
        if new:
            more = np.array([(self.entities[a], self.entities[b]) for (a, b), _ in new], dtype=np.int64)
            numbers = np.concatenate([numbers, more])
            values = np.concatenate([values, [value for _, value in new]])
            self._similar = (similarity.n_revised, numbers, values)
        return numbers, values

    def restore(self, passage_id: str, record: Record) -> None:
        """Add a record that uses the numbers of these records."""
        self._note_change(passage_id, self.passages.get(passage_id))
        self.passages[passage_id] = record
        if record.triples or record.references:
            self._linking.add(passage_id)
        else:
            self._linking.discard(passage_id)
        self.generation += 1

    def remove(self, passage_id: str) -> bool:
        """Remove a passage. Return True if it existed."""
        record = self.passages.pop(passage_id, None)
        if record is None:
            return False
        self._note_change(passage_id, record)
        self._linking.discard(passage_id)
        self.generation += 1
        return True

    def _note_change(self, passage_id: str, before: AnyRecord | None) -> None:
        if self.touched is not None:
            self.touched.setdefault(passage_id, before)
        if self.unsaved is not None:
            self.unsaved.add(passage_id)

    def without(self, passages: Collection[str]) -> "Records":
        """Return records without some passages; the numbers of strings are shared."""
        remaining = copy(self)
        remaining.passages = self.passages.without(set(passages))
        remaining._linking, remaining.touched = self._linking.difference(passages), {}
        return remaining

    def _intern_entity(self, name: str) -> int:
        key = entity_id(name)
        self.name_similarity.add(key)
        return self.entities.intern(key)


_MAX_LEAD = 4  # characters before the name that a text begins with: an article
_KINDS = ("ids", "documents", "entities", "written", "terms", "words", "predicates")


def _rows_of(rows: Sequence[tuple[int, ...]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _add_terms(counts: dict[str, int], n_runs: Mapping[str, int]) -> None:
    """Add the terms of runs of a text to the counts."""
    for run, n in n_runs.items():
        for word in (run,) if run[0] != "_" else _DEFINED_WORD.findall(run):
            for term in terms_of(word) if word.isascii() else run_terms(word):
                counts[term] = counts.get(term, 0) + n
