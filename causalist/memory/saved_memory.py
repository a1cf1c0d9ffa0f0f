"""Storage of a memory: one file of arrays that is opened, not read, or node-link JSON, which NetworkX reads too.

The file has a header and arrays (`store.index_file`), which are mapped, so that a query reads what it needs:

    ids, documents, entities, written, terms, words, predicates      strings by number, with their alphabetical order
    passages     a row of id, text and metadata (JSON) a passage, with a checksum each, and its mentions, terms,
                 definitions, words, triples and references; in the order of the ids
    similar      what finds names with the same stems, and words with few slips
    counts, names, arrays     those of all passages, which follow from the rest
    vectors, diagnostics   of passages and entities; unusable extractor output, as JSON

A change of few passages of a large memory is appended as an entry: what is gone, and rows of passages with what was
found in them. It counts once it is whole, so that a kill leaves the memory before; then later changes replace it.

Files are written under a temporary name and renamed, so that a reader sees the old or the new memory, also after a
crash of the writer. Data are checked before use, but not again while `memory.db.seen` has the file's size and times of
change; nothing is executed or unpickled. Rows of passages can be found
without the rest of a damaged file. A name that ends in `.json` means node-link data. Files of format 5 and before are
SQLite databases. Of format 9, senses of names are found again; of 8 and before, terms are counted again, too; of 7 and
before, what finds words with few slips is made again; of those before 5, the passages are read.

Nodes of node-link data: `chunk` (a passage: text and metadata), `entity`, and `concept` (an entity of type concept)
with canonical name, type, aliases and frequency. Edges: `mentions` (chunk to entity: count and positions),
`references` (chunk to chunk), `similar_to` (both directions, strength) and `related_to` between entities. The latter is
a triple (predicate, confidence as strength, its chunk) or a co-occurrence (`co_occurrence_count`, and as strength the
share of the rarer entity's passages). Reading uses chunks, mentions, references and triples; the rest is derived. Ids
have the prefix `chunk:` or `entity:`, because a passage and an entity may have the same name.
"""

import glob
import hashlib
import json
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted
from causalist._internal.forked_task import is_alive
from causalist._internal.lazy import defer_import
from causalist.errors import IndexNotWritable, IndexUnreadable, UsageError
from causalist.memory.count_matrices import (
    Counts,
    MemoryArrays,
    count_cooccurrences,
    pack_arrays,
    pack_counts,
    types_and_aliases,
    unpack_arrays,
    unpack_counts,
)
from causalist.memory.defined_names import Links, Names, pack_names, unpack_names
from causalist.memory.document_text import check_passage, clean_text, find_rows, pack_passage, restore_passage
from causalist.memory.extractors import TYPES, Embedder, Entity, Extraction, Triple, normalize_extraction
from causalist.memory.matrix_splices import StringNumbers
from causalist.memory.passage_records import Record, Records, StoredTriple, Vectors
from causalist.memory.walk import Snapshot
from causalist.store.index_file import FileKind, MappedArrays, is_verified, map_arrays, mark_verified, write_arrays

with defer_import("sqlite3"):  # for files of older formats
    import sqlite3

FORMAT = 10
APPENDED_SHARE = 0.001  # of the passages may be appended; with more, or a small memory, the file is written whole
_KIND = FileKind(b"causalist memory", FORMAT)
_TERMS_CHANGED = 9  # terms of files of formats before are counted again
_KINDS = tuple(_KIND._replace(number=number) for number in range(FORMAT, 5, -1))  # that are read
_SQLITE = b"SQLite format 3\0"
_SQLITE_FORMAT = 5
_ROWS = (
    "SELECT number, id, text, metadata FROM passage ORDER BY number",
    "SELECT name, data FROM list ORDER BY name",
    "SELECT passage, subject, predicate, object, confidence FROM triple ORDER BY rowid",
    "SELECT passage, detail FROM diagnostic ORDER BY rowid",
    "SELECT name, dtype, shape, data FROM array ORDER BY name",
)
_MAX_SALVAGED = 1_000_000  # passages that are looked for in a damaged file of unknown size
_MAX_FAILURES = 1_000  # in a row from the start; then nothing can be read
_DTYPES = ("int32", "int64", "float32", "float64")
Arrays = Mapping[str, NDArray[Any]]


class MemoryState(NamedTuple):
    """Stored state of a memory. `vectors` is None without an embedder; `diagnostics` are by passage id.

    `counts`, `names` and `arrays` follow from the records; None if the file has none.
    """

    records: Records
    vectors: Vectors | None
    diagnostics: dict[str, tuple[str, ...]]
    counts: Counts | None = None
    names: Names | None = None
    arrays: MemoryArrays | None = None
    changes: "Sequence[Change]" = ()
    is_whole: bool = False


class Change(NamedTuple):
    """An entry behind a memory: ids of passages that are gone, and new passages with what was found in them."""

    gone: list[str]
    passages: list[tuple[str, str, Mapping[str, Any], Extraction]]


_ENTRY = struct.Struct("<4s3I")  # marker, length of what follows, its CRC-32, and that of the fields before
_ENTRY_MARKER = b"\xff\x00\xfeE"


def append(path: Path, state: MemoryState, changed: Iterable[str], expected: str) -> None:
    """Append the changed passages to a memory that `save` wrote, if its checksum is the expected one.

    Raises IndexNotWritable; then the memory is unchanged.
    """
    data = _pack_change(state, changed)
    fields = _ENTRY_MARKER + struct.pack("<2I", len(data), zlib.crc32(data))
    try:
        with path.open("r+b") as file:
            with suppress(ImportError):  # two writers of this process's kind wait for each other
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            opened = map_arrays(path, _KIND, may_grow=True)
            if opened is None or read_checksum(path) != expected:
                raise IndexNotWritable(f"another writer changed {path}; load it again, or save to another file")
            end = opened.end + _find_entries(opened.rest)[1]
            try:
                file.seek(end)
                file.truncate()  # what a killed writer left
                file.write(fields + struct.pack("<I", zlib.crc32(fields)) + data)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(file.fileno(), end)
                raise
    except (OSError, IndexUnreadable) as error:
        raise IndexNotWritable(f"cannot write {path}: {error}") from error


def _pack_change(state: MemoryState, changed: Iterable[str]) -> bytes:
    records, gone, extractions, rows = state.records, [], [], []
    for passage in sorted(changed):
        record = records.passages.get(passage)
        if record is None:
            gone.append(passage)
            continue
        mentions = [(records.written.strings[n], kind, start) for _, n, kind, start in record.mentions.tolist()]
        names = records.entities.strings
        triples = [(names[t.subject], t.predicate, names[t.object], t.confidence) for t in record.triples]
        extractions.append((mentions, triples, state.diagnostics.get(passage, ())))
        rows.append(pack_passage(passage, record.text, record.metadata))
    return json.dumps({"gone": gone, "found": extractions}).encode() + b"\n" + b"".join(rows)


def _unpack_change(data: bytes) -> Change:
    head, _, rows = data.partition(b"\n")
    plain = json.loads(head)
    change = Change([str(each) for each in plain["gone"]], [])
    for (mentions, triples, notes), (_, passage, text, metadata) in zip(plain["found"], find_rows(rows), strict=True):
        entities = tuple(Entity(name, TYPES[kind], start) for name, kind, start in mentions)
        extraction = Extraction(entities, tuple(Triple(*each) for each in triples), tuple(notes))
        change.passages.append((passage, text, json.loads(metadata), extraction))
    return change


def _find_entries(rest: bytes) -> tuple[list[tuple[bytes, bytes]], int]:
    """Return (fields and data of all whole entries, the end of the last one). Raises IndexUnreadable for damage."""
    entries: list[tuple[bytes, bytes]] = []
    at = 0
    while len(rest) - at >= _ENTRY.size:
        marker, length, checksum, own = _ENTRY.unpack_from(rest, at)
        start = at + _ENTRY.size
        if marker != _ENTRY_MARKER or zlib.crc32(rest[at : start - 4]) != own:
            raise IndexUnreadable("the end of the memory is damaged")
        if start + length > len(rest):
            break  # its writer was killed
        if zlib.crc32(rest[start : start + length]) != checksum:
            raise IndexUnreadable("a change at the end of the memory is damaged")
        entries.append((rest[at:start], rest[start : start + length]))
        at = start + length
    return entries, at


def save(path: Path, state: MemoryState) -> None:
    """Write the memory to `path`, atomically.

    Raises IndexNotWritable; then the file at `path` is unchanged.
    """
    remove_abandoned(path)
    fields = {} if state.vectors is None else {"embedder": str(getattr(state.vectors.embedder, "name", ""))}
    write_arrays(path, _KIND, fields, _pack(state))


def save_node_link(path: Path, data: Mapping[str, Any]) -> None:
    """Write node-link data to `path` as JSON, atomically.

    Raises IndexNotWritable; then the file at `path` is unchanged.
    """

    def write(temporary: Path) -> None:
        temporary.write_text(json.dumps(data, ensure_ascii=True, allow_nan=False) + "\n", encoding="ascii")

    _replace(path, write)


def _replace(path: Path, write: Callable[[Path], None]) -> None:
    """Call `write` with a temporary path, then rename that file to `path`."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    remove_abandoned(path)
    try:
        temporary.unlink(missing_ok=True)
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError | sqlite3.Error | UnicodeEncodeError):
            raise IndexNotWritable(f"cannot write {path}: {error}") from error
        raise


def remove_abandoned(path: Path) -> None:
    """Remove the temporary files of writers of `path`, and of what is kept beside it, that were killed."""
    for each in path.parent.glob(f"{glob.escape(path.name)}.*.new"):
        number = each.name.removesuffix(".new").rpartition(".")[2]
        if number.isascii() and number.isdecimal() and len(number) < 10 and not is_alive(int(number)):
            with suppress(OSError):
                each.unlink()


def read_passages(path: Path) -> list[dict[str, Any]]:
    """Return the passages of a file that can be read, as `build_from_passages` takes them; [] if there are none.

    Nothing else of the file is trusted: neither its format nor its checksum.
    """
    passages: list[dict[str, Any]] = []
    with suppress(OSError, ValueError), path.open("rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            return _read_database_passages(path)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            gone = _find_removed(data)
            for at, passage, text, plain in find_rows(data):
                with suppress(ValueError, RecursionError, UsageError):
                    if at > gone.get(passage, -1):
                        passages.append(restore_passage(passage, text, plain))
    return list({each["id"]: each for each in passages}.values())


def _find_removed(data: mmap.mmap) -> dict[str, int]:
    """Return the last place in a file where a whole change removes a passage, by id."""
    removed: dict[str, int] = {}
    at = data.find(_ENTRY_MARKER)
    while at >= 0:
        with suppress(IndexUnreadable, ValueError, KeyError, TypeError, struct.error):
            _, length, _, _ = _ENTRY.unpack_from(data, at)
            for _, change in _find_entries(data[at : at + _ENTRY.size + length])[0]:
                removed.update(dict.fromkeys(_unpack_change(change).gone, at))
        at = data.find(_ENTRY_MARKER, at + 1)
    return removed


def _read_database_passages(path: Path) -> list[dict[str, Any]]:
    """Return the passages of a file of format 5 or before that can be read."""
    passages: list[dict[str, Any]] = []
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            try:
                last = int(database.execute("SELECT max(number) FROM passage").fetchone()[0])
            except (sqlite3.Error, TypeError):
                last = _MAX_SALVAGED
            failures = 0
            for number in range(last + 1):  # one by one: a damaged page costs the passages on it alone
                try:
                    row = database.execute(
                        "SELECT id, text, metadata FROM passage WHERE number = ?", (number,)
                    ).fetchone()
                    if row is None and last == _MAX_SALVAGED:
                        break
                    passages.append(restore_passage(*row))
                except (sqlite3.Error, ValueError, TypeError, RecursionError, UsageError):
                    failures += 1
                    if failures > _MAX_FAILURES and not passages:
                        break
    except (OSError, sqlite3.Error, ValueError):
        pass
    return list({each["id"]: each for each in passages}.values())


def load(path: Path, embedder: Embedder | None = None) -> MemoryState:
    """Return the memory in a file that `save` or `save_node_link` wrote.

    With `embedder`, the state has the stored vectors. Raises IndexUnreadable if the file is missing, damaged or
    another format.
    """
    try:
        if not path.is_file():
            raise IndexUnreadable(f"no memory at {path}; create one with `causalist memory add`")
        if path.suffix == ".json":
            return read_node_link(json.loads(path.read_text(encoding="utf-8")), embedder)
        with path.open("rb") as file:
            is_database = file.read(len(_SQLITE)) == _SQLITE
        return _read_database(path, embedder) if is_database else _read(path, embedder)
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise IndexUnreadable(f"{path} is damaged or not a memory: {error}") from error


def read_checksum(path: Path) -> str:
    """Return an identifier of the state of a memory file without reading all of it; "" if there is none."""
    try:
        if path.suffix == ".json":
            return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        return _read_fields(path).get("checksum", "")
    except (OSError, sqlite3.Error, ValueError, IndexUnreadable):  # ValueError: text that is no UTF-8
        return ""


def read_embedder_name(path: Path) -> str | None:
    """Return the name of the embedder of the stored vectors, "" if it has none; None if there are no vectors."""
    try:
        return _read_fields(path).get("embedder")
    except (OSError, sqlite3.Error, ValueError, IndexUnreadable):  # ValueError: text that is no UTF-8
        return None


def is_outdated(path: Path) -> bool:
    """Return True for a memory of an older format that `load` reads."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_KIND.magic) + 4)
        older = [kind.magic + struct.pack("<I", kind.number) for kind in _KINDS[1:]]
        return start in older or start.startswith(_SQLITE)
    except OSError:
        return False


def _read_fields(path: Path) -> dict[str, str]:
    """Return facts about a memory file, without its arrays. Raises OSError, ValueError, IndexUnreadable."""
    with path.open("rb") as file:
        is_database = file.read(len(_SQLITE)) == _SQLITE
    if is_database:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            return {str(key): str(value) for key, value in database.execute("SELECT key, value FROM meta")}
    opened, _ = _map(path)
    if opened is None:
        return {}
    plain = json.dumps(opened.fields, sort_keys=True).encode()  # the checksums of all arrays are in it
    plain += b"".join(fields for fields, _ in _find_entries(opened.rest)[0])
    found = {"checksum": hashlib.blake2b(plain, digest_size=16).hexdigest()}
    return {**found, "embedder": str(opened.fields["embedder"])} if "embedder" in opened.fields else found


def _pack(state: MemoryState) -> dict[str, NDArray[Any]]:
    records, vectors, diagnostics, counts, names, derived, *_ = state
    if counts is None or names is None:
        raise ValueError("a memory is saved with its counts and names")
    passages = list(counts.passages)
    arrays, ids = records.pack(passages)
    arrays |= {f"counts.{name}": array for name, array in pack_counts(counts).items()}
    arrays |= {f"names.{name}": array for name, array in pack_names(names).items()}
    if derived is not None:
        arrays |= {f"arrays.{name}": array for name, array in pack_arrays(derived).items()}
    if vectors is not None:
        numbers = records.entities
        named = [name for name in records.entities.strings if name in vectors.entities]
        pairs = [(numbers[a], numbers[b]) for a, b in vectors.pairs]
        arrays["vectors.passages"] = vectors.matrix(passages)
        arrays["vectors.entities"] = (
            np.stack([vectors.entities[name] for name in named]) if named else np.zeros((0, 1), dtype=np.float32)
        )
        arrays["vectors.numbers"] = np.array([numbers[name] for name in named], dtype=np.int64)
        arrays["vectors.pairs"] = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        arrays["vectors.cosines"] = np.array(list(vectors.pairs.values()), dtype=np.float64)
    notes = {passage: diagnostics[passage] for passage in sorted(diagnostics) if passage in ids}
    arrays["diagnostics"] = np.frombuffer(json.dumps(notes).encode(), dtype=np.uint8)
    return arrays


def _map(path: Path) -> tuple[MappedArrays | None, int]:
    """Return (the mapped arrays of a memory, its format), or (None, 0) if its format is not read."""
    for kind in _KINDS:
        opened = map_arrays(path, kind, may_grow=True)
        if opened is not None:
            return opened, kind.number
    return None, 0


def _read(path: Path, embedder: Embedder | None) -> MemoryState:
    opened, number = _map(path)
    if opened is None:
        raise IndexUnreadable(
            f"{path} has another format; this program reads {FORMAT}. Any `causalist memory` command reads its "
            "passages again"
        )
    is_known = is_verified(path, opened.stamp)
    if not is_known:
        opened.check()
    arrays = opened.arrays
    records = Records(arrays)
    if not is_known:
        _check_numbers(arrays, records)
        mark_verified(path, opened.stamp)
    parts = {
        prefix: {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        for prefix in ("counts.", "names.", "arrays.")
    }
    counts = unpack_counts(parts["counts."], records)
    names = unpack_names(parts["names."], Links(arrays["passages.words.indptr"], arrays["passages.words"]))
    diagnostics = {name: tuple(each) for name, each in json.loads(arrays["diagnostics"].tobytes()).items()}
    vectors = None if embedder is None else _read_vectors(embedder, arrays, list(counts.passages), records)
    changes = [_unpack_change(data) for _, data in _find_entries(opened.rest)[0]]
    if number < FORMAT:
        if number < _TERMS_CHANGED:
            records.count_terms_again()
        return MemoryState(records, vectors, diagnostics, changes=changes)
    state = MemoryState(records, vectors, diagnostics, counts, names, changes=changes, is_whole=True)
    if vectors is not None or not parts["arrays."]:
        return state
    return state._replace(arrays=unpack_arrays(parts["arrays."], counts))


def _check_numbers(arrays: Arrays, records: Records) -> None:
    """Raise ValueError if a passage has a number of no string."""
    limits = {
        "mentions": (records.entities, records.written, TYPES), "terms": (records.terms,),
        "triples": (records.entities, records.predicates, records.entities),
    }  # fmt: skip
    for name, tables in limits.items():
        for column, table in enumerate(tables):
            n = len(table.strings) if isinstance(table, StringNumbers) else len(table)
            _check_range(arrays[f"passages.{name}"][:, column], n)
    for name, numbers in (("defines", records.entities), ("words", records.words), ("references", records.ids)):
        _check_range(arrays[f"passages.{name}"], len(numbers.strings))


def _read_vectors(embedder: Embedder, arrays: Arrays, passages: list[str], records: Records) -> Vectors:
    if "vectors.passages" not in arrays:
        raise IndexUnreadable("this memory has no vectors; load it without an embedder, or add the texts again")
    vectors = Vectors(embedder)
    strings = records.entities.strings
    vectors.passages.update(zip(passages, arrays["vectors.passages"], strict=True))
    names = [strings[i] for i in arrays["vectors.numbers"].tolist()]
    vectors.entities.update(zip(names, arrays["vectors.entities"], strict=True))
    if "vectors.pairs" in arrays:
        pairs = [(strings[a], strings[b]) for a, b in arrays["vectors.pairs"].tolist()]
        vectors.restore_pairs(dict(zip(pairs, arrays["vectors.cosines"].tolist(), strict=True)))
    return vectors


def _read_database(path: Path, embedder: Embedder | None) -> MemoryState:
    """Return the memory of a file of format 5."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
        if meta.get("format") != str(_SQLITE_FORMAT):
            raise IndexUnreadable(
                f"{path} has format {meta.get('format')}; this program reads {FORMAT}. "
                "Any `causalist memory` command reads its passages again"
            )
        if meta.get("checksum") != _checksum(database):
            raise IndexUnreadable(f"{path} is damaged (wrong checksum)")
        passages, lists, triples, notes, stored = (database.execute(query).fetchall() for query in _ROWS)
    arrays = {name: _parse_array(dtype, json.loads(shape), data) for name, dtype, shape, data in stored}
    records = Records()
    plain_lists = {name: json.loads(data) for name, data in lists}
    kinds = {
        "entity": records.entities, "written": records.written, "term": records.terms, "word": records.words
    }  # fmt: skip
    for kind, numbers in kinds.items():
        if any(numbers.intern(string) != i for i, string in enumerate(plain_lists[kind])):
            raise ValueError(f"duplicate {kind}")
    by_passage: dict[int, list[StoredTriple]] = {}
    for passage, subject, predicate, target, confidence in triples:
        _check_range(np.array([subject, target]), len(records.entities.strings))
        by_passage.setdefault(passage, []).append(StoredTriple(subject, predicate, target, confidence))
    limits = (len(records.entities.strings), len(records.written.strings), len(TYPES))
    for column, limit in enumerate(limits):
        _check_range(arrays["mentions"][:, column], limit)
    _check_range(arrays["terms"][:, 0], len(records.terms.strings))
    _check_range(arrays["defines"][:, 0], len(records.entities.strings))
    _check_range(arrays["words"][:, 0], len(records.words.strings))
    ends = np.fromiter(chain.from_iterable((row[1], row[3]) for row in triples), dtype=np.int32)
    for number in unique_sorted(np.concatenate([arrays["mentions"][:, 0], ends])).tolist():
        records.name_similarity.add(records.entities.strings[number])
    defines = _split(arrays["defines"][:, 0], arrays["defines.sizes"])
    mentions = _split(arrays["mentions"], arrays["mentions.sizes"])
    terms = _split(arrays["terms"], arrays["terms.sizes"])
    words = _split(arrays["words"][:, 0], arrays["words.sizes"])
    columns = zip(passages, mentions, terms, defines, words, strict=True)
    for (number, passage, text, metadata), mention_rows, counts, about, order in columns:
        plain = json.loads(metadata)
        references = tuple(dict.fromkeys(r for r in plain.get("references", ()) if r != passage))
        counts = records.count_terms(text, plain)  # they are others now
        record = Record(text, plain, mention_rows, counts, about, tuple(by_passage.get(number, ())), references, order)
        records.restore(passage, record)
    diagnostics: dict[str, tuple[str, ...]] = {}
    for number, detail in notes:
        passage = passages[number][1]
        diagnostics[passage] = (*diagnostics.get(passage, ()), detail)
    if embedder is None:
        return MemoryState(records, None, diagnostics)
    names = {"vectors": "vectors.passages", "entity vectors": "vectors.entities",
             "entity vectors.numbers": "vectors.numbers"}  # fmt: skip
    renamed = {new: arrays[old] for old, new in names.items() if old in arrays}
    return MemoryState(records, _read_vectors(embedder, renamed, [row[1] for row in passages], records), diagnostics)


def _checksum(database: "sqlite3.Connection") -> str:
    """Return a checksum of all rows, independent of the page layout of SQLite."""
    digest = hashlib.blake2b(digest_size=16)
    for query in _ROWS:
        for row in database.execute(query):
            plain = repr([value if not isinstance(value, bytes) else len(value) for value in row])
            for data in (plain.encode("utf-8", "backslashreplace"), *(v for v in row if isinstance(v, bytes))):
                digest.update(len(data).to_bytes(8, "little"))
                digest.update(data)
    return digest.hexdigest()


def _parse_array(dtype: str, shape: list[int], data: bytes) -> NDArray[Any]:
    if dtype not in _DTYPES:
        raise ValueError(f"an array has the unknown type {dtype!r}")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def _check_range(numbers: NDArray[Any], limit: int) -> None:
    if len(numbers) and not (int(numbers.min()) >= 0 and int(numbers.max()) < limit):
        raise ValueError(f"a number is outside of the {limit} strings")


def _split(array: NDArray[Any], sizes: NDArray[Any]) -> Iterator[NDArray[Any]]:
    ends = np.cumsum(sizes)
    if (sizes < 0).any() or (len(ends) and int(ends[-1]) != len(array)):
        raise ValueError("the bounds of an array do not fit")
    for end, size in zip(ends.tolist(), sizes.tolist(), strict=True):
        yield array[end - size : end]


NODE_LINK_FORMAT = 1


def node_link(snapshot: Snapshot) -> dict[str, Any]:
    """Return node-link data as `networkx.node_link_graph(data, edges="links")` reads them."""
    arrays, records = snapshot.arrays, snapshot.records
    nodes: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    for position, passage in enumerate(arrays.passages):
        record = records.passages[passage]
        metadata = {"text": record.text, **({"metadata": dict(record.metadata)} if record.metadata else {})}
        nodes.append({"id": f"chunk:{passage}", "type": "chunk", "passage_id": passage, **metadata})
        for entity, rows in _group_by_entity(record.mentions).items():
            links.append(
                {
                    "source": f"chunk:{passage}",
                    "target": f"entity:{snapshot.resolve_mention(position, entity)}",
                    "type": "mentions",
                    "count": len(rows),
                    "positions": [int(row[3]) for row in rows],
                    "written": [records.written.strings[row[1]] for row in rows],
                    "entity_types": [TYPES[row[2]] for row in rows],
                }
            )
        links += [
            {"source": f"chunk:{passage}", "target": f"chunk:{other}", "type": "references", "strength": 1.0}
            for other in record.references
            if other in snapshot.position_by_passage
        ]
        links += [
            {
                "source": f"entity:{snapshot.resolve_mention(position, t.subject)}",
                "target": f"entity:{snapshot.resolve_mention(position, t.object)}",
                "type": "related_to",
                "predicate": t.predicate,
                "strength": t.confidence,
                "passage": passage,
            }
            for t in record.triples
        ]
    for position, entity_name in enumerate(arrays.entities):
        kind, aliases = types_and_aliases(records, arrays, (position,))
        nodes.append(
            {
                "id": f"entity:{entity_name}",
                "type": "concept" if kind == "concept" else "entity",
                "entity_type": kind,
                "canonical_name": aliases[0] if aliases else entity_name.replace("_", " "),
                "aliases": list(aliases[1:]),
                "frequency": int(arrays.passages_by_entity.row(position)[1].sum()),
            }
        )
    links += [
        {"source": f"entity:{arrays.entities[a]}", "target": f"entity:{arrays.entities[int(b)]}", "type": "similar_to",
         "strength": value}
        for a in range(arrays.n_entities)
        for b, value in zip(*(part.tolist() for part in arrays.similar.row(a)), strict=True)
    ]  # fmt: skip
    frequency = np.diff(arrays.passages_by_entity.indptr)
    for a, b, n in zip(*(part.tolist() for part in count_cooccurrences(arrays)), strict=True):
        links.append(
            {
                "source": f"entity:{arrays.entities[a]}",
                "target": f"entity:{arrays.entities[b]}",
                "type": "related_to",
                "strength": n / float(min(frequency[a], frequency[b])),
                "co_occurrence_count": int(n),
            }
        )
    return {
        "directed": True,
        "multigraph": True,
        "graph": {"format": NODE_LINK_FORMAT, "kind": "causalist-memory"},
        "nodes": nodes,
        "links": links,
    }


def read_node_link(data: Any, embedder: Embedder | None = None) -> MemoryState:
    """Return the memory that node-link data describe; the data have no vectors and no diagnostics.

    Raises IndexUnreadable if `data` is not such a graph.
    """
    try:
        records = _parse_records(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IndexUnreadable(f"not a graph of a memory: {type(error).__name__}: {error}") from error
    return MemoryState(records, None if embedder is None else Vectors(embedder), {})


def _parse_records(data: Mapping[str, Any]) -> Records:
    links = data["links"] if "links" in data else data["edges"]
    chunks = {node["id"]: node for node in data["nodes"] if node["type"] == "chunk"}
    entities = {node["id"]: node for node in data["nodes"] if node["type"] in ("entity", "concept")}
    mentions: dict[str, list[Entity]] = {}
    triples: dict[str, list[Triple]] = {}
    references: dict[str, list[str]] = {}
    for link in links:
        source, target, kind = link["source"], link["target"], link["type"]
        if kind == "mentions":
            entity = entities[target]
            n = int(link.get("count", 1))
            positions = [int(p) for p in link.get("positions") or [-1] * n]
            spellings = link.get("written") or [str(entity.get("canonical_name", target.removeprefix("entity:")))] * n
            types = link.get("entity_types") or [str(entity.get("entity_type", "entity")).lower()] * n
            mentions.setdefault(source, []).extend(map(Entity, spellings, types, positions))
        elif kind == "references":
            references.setdefault(source, []).append(str(chunks[target].get("passage_id", target)))
        elif kind == "related_to" and "predicate" in link:
            names = [str(entities[end].get("canonical_name", end.removeprefix("entity:"))) for end in (source, target)]
            triple = Triple(names[0], str(link["predicate"]), names[1], float(link["strength"]))
            triples.setdefault(f"chunk:{link['passage']}", []).append(triple)
    records = Records()
    for node_id, node in chunks.items():
        passage = str(node.get("passage_id", node_id))
        metadata = dict(node.get("metadata") or {})
        if references.get(node_id):
            listed = metadata.get("references", [])
            metadata["references"] = [*listed, *(r for r in references[node_id] if r not in listed)]
        ordered_entities = sorted(mentions.get(node_id, ()), key=lambda entity: entity.start)
        text = clean_text(node["text"] if "text" in node else metadata.pop("text"))
        extraction = normalize_extraction(Extraction(tuple(ordered_entities), tuple(triples.get(node_id, ()))))
        records.put(passage, text, check_passage(passage, text, metadata), extraction)
    return records


def to_networkx(data: Mapping[str, Any]) -> Any:
    """Return a `networkx.MultiDiGraph` of node-link data."""
    import networkx  # type: ignore[import-untyped]

    return networkx.node_link_graph(dict(data), directed=True, multigraph=True, edges="links")


def from_networkx(graph: Any) -> dict[str, Any]:
    """Return node-link data of a NetworkX graph of any class."""
    import networkx

    data: dict[str, Any] = networkx.node_link_data(graph, edges="links")
    return data


def _group_by_entity(mentions: np.ndarray[Any, np.dtype[np.int32]]) -> dict[int, list[list[int]]]:
    rows_by_entity: dict[int, list[list[int]]] = {}
    for row in mentions.tolist():
        rows_by_entity.setdefault(row[0], []).append(row)
    return rows_by_entity
