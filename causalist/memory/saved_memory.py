"""Storage of a memory: one SQLite file, or node-link JSON, which NetworkX reads too.

    meta(key, value)                       format; checksum of all other tables; name of the embedder of the vectors
    passage(id, text, metadata)            one row a passage, metadata as JSON, in the order of the arrays
    list(name, data)                       JSON arrays: entities, names as written, terms and words, by number; what is
                                           expensive to compute about similar names
    triple(passage, subject, predicate, object, confidence)     entity numbers, in text order
    diagnostic(passage, detail)            unusable extractor output
    array(name, dtype, shape, data)        numpy arrays: mentions, terms, definitions and words of all passages,
                                           concatenated, with their sizes; vectors of passages and entities; counts and
                                           names of all passages, which follow from the rest

Files are written under a temporary name and renamed, so that a reader sees the old or the new memory, also after a
crash of the writer. Data are checked before use; nothing is executed or unpickled. A name that ends in `.json` means
node-link data.

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
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.forked_task import is_alive
from causalist.errors import IndexNotWritable, IndexUnreadable, UsageError
from causalist.memory.count_matrices import Counts, pack_counts, types_and_aliases, unpack_counts
from causalist.memory.defined_names import Names, pack_names, unpack_names
from causalist.memory.extractors import TYPES, Embedder, Entity, Extraction, Triple, normalize_extraction
from causalist.memory.passage_records import Record, Records, StoredTriple, Vectors, check_passage, clean_text
from causalist.memory.walk import Snapshot, count_cooccurrences

FORMAT = 5
_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE passage(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE list(name TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE triple(passage INTEGER, subject INTEGER, predicate TEXT NOT NULL, object INTEGER, confidence REAL);
CREATE TABLE diagnostic(passage INTEGER, detail TEXT NOT NULL);
CREATE TABLE array(name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
"""
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

    `counts` and `names` are those of the records; None if the file has none.
    """

    records: Records
    vectors: Vectors | None
    diagnostics: dict[str, tuple[str, ...]]
    counts: Counts | None = None
    names: Names | None = None


def save(path: Path, state: MemoryState) -> None:
    """Write the memory to `path` as SQLite, atomically.

    Raises IndexNotWritable; then the file at `path` is unchanged.
    """
    _replace(path, lambda temporary: _write(temporary, state))


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
    """Remove the temporary files of writers of `path` that were killed."""
    for each in path.parent.glob(f"{glob.escape(path.name)}.*.new"):
        number = each.name.removeprefix(f"{path.name}.").removesuffix(".new")
        if number.isascii() and number.isdecimal() and len(number) < 10 and not is_alive(int(number)):
            with suppress(OSError):
                each.unlink()


def read_passages(path: Path) -> list[dict[str, Any]]:
    """Return the passages of a file that can be read, as `build_from_passages` takes them; [] if there are none.

    Nothing else of the file is trusted: neither its format nor its checksum.
    """
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
                    metadata = json.loads(row[2])
                    check_passage(row[0], row[1], metadata)
                    passages.append({"id": row[0], "text": row[1], "metadata": metadata})
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
        return _read(path, embedder)
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise IndexUnreadable(f"{path} is damaged or not a memory: {error}") from error


def read_checksum(path: Path) -> str:
    """Return an identifier of the state of a memory file without reading all of it; "" if there is none."""
    try:
        if path.suffix == ".json":
            return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            row = database.execute("SELECT value FROM meta WHERE key = 'checksum'").fetchone()
            return str(row[0]) if row else ""
    except (OSError, sqlite3.Error, ValueError):  # ValueError: text that is no UTF-8
        return ""


def read_embedder_name(path: Path) -> str | None:
    """Return the name of the embedder of the stored vectors, "" if it has none; None if there are no vectors."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            row = database.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchone()
            return None if row is None else str(row[0])
    except (OSError, sqlite3.Error, ValueError):  # ValueError: text that is no UTF-8
        return None


def _write(path: Path, state: MemoryState) -> None:
    records, vectors, diagnostics, counts, names = state
    passages = sorted(records.passages)
    passage_records = [records.passages[passage] for passage in passages]
    arrays: dict[str, NDArray[Any]] = {
        "mentions": _concatenate([r.mentions for r in passage_records], 4),
        "mentions.sizes": np.array([len(r.mentions) for r in passage_records], dtype=np.int64),
        "terms": _concatenate([r.terms for r in passage_records], 2),
        "terms.sizes": np.array([len(r.terms) for r in passage_records], dtype=np.int64),
        "defines": _concatenate([r.defines.reshape(-1, 1) for r in passage_records], 1),
        "defines.sizes": np.array([len(r.defines) for r in passage_records], dtype=np.int64),
        "words": _concatenate([r.words.reshape(-1, 1) for r in passage_records], 1),
        "words.sizes": np.array([len(r.words) for r in passage_records], dtype=np.int64),
    }
    lists: dict[str, Any] = {
        "entity": records.entities.strings,
        "written": records.written.strings,
        "term": records.terms.strings,
        "word": records.words.strings,
        "similar": records.name_similarity.state(_names_in(records)),
    }
    if counts is not None and names is not None:
        arrays |= {f"counts.{name}": array for name, array in pack_counts(counts).items()}
        arrays |= {f"names.{name}": array for name, array in pack_names(names).items()}
    if vectors is not None:
        arrays["vectors"] = vectors.matrix(passages)
        embedded_names = [name for name in records.entities.strings if name in vectors.entities]
        arrays["entity vectors"] = (
            np.stack([vectors.entities[name] for name in embedded_names])
            if embedded_names
            else np.zeros((0, 1), dtype=np.float32)
        )
        arrays["entity vectors.numbers"] = np.array(
            [records.entities.by_string[name] for name in embedded_names], dtype=np.int64
        )
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_SCHEMA)
        database.execute("PRAGMA journal_mode = OFF")
        rows = (
            (i, p, r.text, json.dumps(r.metadata))
            for i, (p, r) in enumerate(zip(passages, passage_records, strict=True))
        )
        database.executemany("INSERT INTO passage VALUES (?, ?, ?, ?)", rows)
        plain = ((name, json.dumps(data, ensure_ascii=False)) for name, data in lists.items())
        database.executemany("INSERT INTO list VALUES (?, ?)", plain)
        triples = ((i, *triple) for i, r in enumerate(passage_records) for triple in r.triples)
        database.executemany("INSERT INTO triple VALUES (?, ?, ?, ?, ?)", triples)
        notes = ((i, detail) for i, passage in enumerate(passages) for detail in diagnostics.get(passage, ()))
        database.executemany("INSERT INTO diagnostic VALUES (?, ?)", notes)
        stored = ((n, a.dtype.name, json.dumps(a.shape), np.ascontiguousarray(a).tobytes()) for n, a in arrays.items())
        database.executemany("INSERT INTO array VALUES (?, ?, ?, ?)", stored)
        meta = [("format", str(FORMAT)), ("checksum", _checksum(database))]
        if vectors is not None:
            meta.append(("embedder", str(getattr(vectors.embedder, "name", ""))))
        database.executemany("INSERT INTO meta VALUES (?, ?)", meta)


def _read(path: Path, embedder: Embedder | None) -> MemoryState:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
        if meta.get("format") != str(FORMAT):
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
    records.take_strings(plain_lists)
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
    name_numbers = _numbers_of_names(arrays["mentions"][:, 0], ((row[1], row[3]) for row in triples))
    records.name_similarity.restore(
        [records.entities.strings[number] for number in name_numbers], plain_lists["similar"]
    )
    defines = _split(arrays["defines"][:, 0], arrays["defines.sizes"])
    mentions = _split(arrays["mentions"], arrays["mentions.sizes"])
    terms = _split(arrays["terms"], arrays["terms.sizes"])
    words = _split(arrays["words"][:, 0], arrays["words.sizes"])
    columns = zip(passages, mentions, terms, defines, words, strict=True)
    for (number, passage, text, metadata), mention_rows, counts, about, order in columns:
        plain = json.loads(metadata)
        references = tuple(dict.fromkeys(r for r in plain.get("references", ()) if r != passage))
        record = Record(text, plain, mention_rows, counts, about, tuple(by_passage.get(number, ())), references, order)
        records.restore(passage, record)
    diagnostics: dict[str, tuple[str, ...]] = {}
    for number, detail in notes:
        passage = passages[number][1]
        diagnostics[passage] = (*diagnostics.get(passage, ()), detail)
    vectors = None if embedder is None else _read_vectors(embedder, arrays, [row[1] for row in passages], records)
    return MemoryState(records, vectors, diagnostics, *_read_derived(arrays, records))


def _read_derived(arrays: Arrays, records: Records) -> tuple[Counts | None, Names | None]:
    """Return the counts and names of a file, (None, None) if it has none."""
    parts = {
        prefix: {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        for prefix in ("counts.", "names.")
    }
    if not all(parts.values()):
        return None, None
    counts = unpack_counts(parts["counts."], records)
    return counts, unpack_names(parts["names."], [records.passages[p].words for p in counts.passages])


def _read_vectors(embedder: Embedder, arrays: Arrays, passages: list[str], records: Records) -> Vectors:
    if "vectors" not in arrays:
        raise IndexUnreadable("this memory has no vectors; load it without an embedder, or add the texts again")
    vectors = Vectors(embedder)
    vectors.passages.update(zip(passages, arrays["vectors"], strict=True))
    names = [records.entities.strings[i] for i in arrays["entity vectors.numbers"].tolist()]
    vectors.entities.update(zip(names, arrays["entity vectors"], strict=True))
    return vectors


def _names_in(records: Records) -> list[str]:
    """Return the entity names that occur in some passage, by number."""
    stored_records = records.passages.values()
    ends = ((t.subject, t.object) for r in stored_records for t in r.triples)
    numbers = _numbers_of_names(_concatenate([r.mentions for r in stored_records], 4)[:, 0], ends)
    return [records.entities.strings[number] for number in numbers]


def _numbers_of_names(mentions: NDArray[np.int32], triples: Iterable[tuple[int, int]]) -> list[int]:
    ends = np.fromiter(chain.from_iterable(triples), dtype=np.int32)
    return [int(number) for number in np.unique(np.concatenate([mentions, ends]))]


def _checksum(database: sqlite3.Connection) -> str:
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


def _concatenate(parts: list[NDArray[np.int32]], width: int) -> NDArray[np.int32]:
    return np.concatenate(parts).reshape(-1, width) if parts else np.zeros((0, width), dtype=np.int32)


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
