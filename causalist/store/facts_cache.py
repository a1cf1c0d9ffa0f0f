"""Cache of facts by content, shared by all branches, work trees and clones of a user, and facts as bytes.

The key is git's object name of the content and the version of the grammar that read it. The file is in the user's cache
folder and never in a repository, because a repository could ship false facts. A damaged or locked cache costs time,
never an answer: unreadable facts are parsed again, and a damaged file is recreated. If the file is too large, the least
recently used facts are deleted.

Facts are JSON for the interface and the bodies, then the words. In the file each part is compressed and can be read
without the others. Nothing is pickled or executed; data that does not fit raises IndexUnreadable.
"""

import dataclasses
import json
import os
import sqlite3
import struct
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from causalist._internal.forked_task import split_batches
from causalist.errors import IndexUnreadable
from causalist.model import facts as f
from causalist.model.facts import FileFacts, body_bindings
from causalist.model.source import Diagnostic
from causalist.store.index_folder import user_cache

# Raised when the meaning of facts changes, so that none that another version wrote are read.
FACTS_FORMAT = 20
# The checksum of the rest of it and of the interface; lengths of interface and bodies; checksums of bodies and words.
_HEAD = struct.Struct("<IIIII")
_CHECKSUM_BYTES = 4

_ROWS: dict[str, Any] = {
    "definitions": f.Definition,
    "bases": f.Base,
    "implementations": f.Implementation,
    "calls": f.Call,
    "references": f.Reference,
    "imports": f.Import,
    "exports": f.Export,
    "bindings": f.Binding,
    "accesses": f.Access,
    "lookups": f.Lookup,
    "routes": f.RouteFact,
    "links": f.LinkFact,
    "passages": f.Passage,
    "mentions": f.Mention,
    "diagnostics": Diagnostic,
}
# `_make` of the types, without a call in Python for each row.
_ROW_MAKERS = [(name, partial(tuple.__new__, row), {len(row._fields)}) for name, row in _ROWS.items()]
_BODIES = (
    "calls",
    "references",
    "accesses",
    "lookups",
    "mentions",
)  # in another one, with what of `bindings` belongs to bodies
_FIELDS = tuple(field.name for field in dataclasses.fields(f.FileFacts) if field.name not in ("words", *_BODIES))


class EncodedFacts(NamedTuple):
    """Parts of the result of `facts_to_bytes`.

    `interface` begins with checksums and lengths of all parts; `bodies` and `words` are None if left out.
    """

    interface: bytes
    bodies: bytes | None = None
    words: bytes | None = None


def facts_to_bytes(facts: f.FileFacts) -> bytes:
    """Encode facts: checksums and lengths, then interface and bodies as JSON arrays, then the words.

    The interface follows the order of the fields of `FileFacts`. A changed letter in a name would still be valid JSON,
    so each part has a checksum.
    """
    return encode_facts(facts)[0]


def encode_facts(facts: f.FileFacts) -> tuple[bytes, f.FileFacts]:
    """Return the encoded facts, and the facts without bodies: what `decode_interface` would make of the bytes."""
    hidden = body_bindings(facts)
    rows = {name: getattr(facts, name) for name in _FIELDS}
    is_hidden = set(hidden)
    rows["bindings"] = [binding for i, binding in enumerate(facts.bindings) if i not in is_hidden]
    uses = [*(getattr(facts, name) for name in _BODIES), [facts.bindings[i] for i in hidden], hidden]
    interface, bodies = (
        json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        for part in (list(rows.values()), uses)
    )
    words = facts.words or b""
    head = _HEAD.pack(0, len(interface), len(bodies), zlib.crc32(bodies), zlib.crc32(words))[_CHECKSUM_BYTES:]
    checksum = zlib.crc32(interface, zlib.crc32(head)).to_bytes(_CHECKSUM_BYTES, "little")
    without_bodies = dataclasses.replace(
        facts, bindings=tuple(rows["bindings"]), calls=(), references=(), accesses=(), lookups=(), mentions=()
    )
    return b"".join((checksum, head, interface, bodies, words)), without_bodies


def split_parts(data: bytes) -> EncodedFacts:
    """Split the result of `facts_to_bytes`. Raises IndexUnreadable if it is too short."""
    if len(data) < _HEAD.size:
        raise _damaged_error("they end too soon")
    _, n_interface, n_bodies, _, _ = _HEAD.unpack_from(data)
    first = _HEAD.size + n_interface
    rest = first + n_bodies
    return EncodedFacts(data[:first], data[first:rest], data[rest:])


def extract_json(encoded: EncodedFacts) -> tuple[bytes, bytes]:
    """Return (interface, bodies) as JSON with unescaped names; b"" for a part left out.

    Raises IndexUnreadable.
    """
    interface, bodies, words = encoded
    if len(interface) < _HEAD.size:
        raise _damaged_error("they end too soon")
    checksum, n_interface, _, of_bodies, of_words = _HEAD.unpack_from(interface)
    if (
        checksum != zlib.crc32(memoryview(interface)[_CHECKSUM_BYTES:])
        or n_interface != len(interface) - _HEAD.size
        or (bodies is not None and of_bodies != zlib.crc32(bodies))
        or (words is not None and of_words != zlib.crc32(words))
    ):
        raise _damaged_error("a checksum differs")
    return interface[_HEAD.size :], bodies or b""


def facts_from_bytes(data: bytes) -> f.FileFacts:
    """Decode the result of `facts_to_bytes`. Raises IndexUnreadable."""
    return facts_with_bodies(*decode_interface(split_parts(data)))


def decode_interface(encoded: EncodedFacts) -> tuple[f.FileFacts, bytes]:
    """Return (facts without bodies, encoded bodies for `facts_with_bodies`).

    Words are None and bodies b"" if they were left out. Raises IndexUnreadable.
    """
    interface, bodies = extract_json(encoded)
    try:
        values = dict(zip(_FIELDS, _load_json(interface), strict=True))
        for name, make, lengths in _ROW_MAKERS:
            values[name] = _build_rows(name, make, lengths, values.get(name, ()))
        values["returns"] = tuple((int(d), str(t)) for d, t in values["returns"])
        values["owners"] = tuple((int(d), str(t)) for d, t in values["owners"])
        values["parameters"] = tuple((int(d), tuple(map(str, types))) for d, types in values["parameters"])
        values["conditions"] = tuple((int(d), tuple(map(str, every))) for d, every in values["conditions"])
        values["manifest"] = tuple((str(k), str(v)) for k, v in values["manifest"])
        values["tests"] = tuple(map(int, values["tests"]))
        values["secrets"] = tuple((int(start), int(end)) for start, end in values["secrets"])
        if values["wildcard_exports"] is not None:
            values["wildcard_exports"] = tuple(values["wildcard_exports"])
        values["words"] = encoded.words
        return f.FileFacts(**values), bodies
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged_error(error) from error


def facts_with_bodies(facts: f.FileFacts, bodies: bytes) -> f.FileFacts:
    """Return complete facts from the result of `decode_interface`. Raises IndexUnreadable."""
    try:
        *uses, hidden, positions = _load_json(bodies)
        made: dict[str, Any] = dict(zip(_BODIES, uses, strict=True))
        for name, make, lengths in _ROW_MAKERS:
            if name in made:
                made[name] = _build_rows(name, make, lengths, made[name])
            elif name == "bindings":
                bindings = list(facts.bindings)
                for position, binding in zip(positions, _build_rows(name, make, lengths, hidden), strict=True):
                    bindings.insert(position, binding)
                made[name] = tuple(bindings)
        return dataclasses.replace(facts, **made)
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged_error(error) from error


def _build_rows(name: str, make: Any, lengths: set[int], rows: Any) -> tuple[Any, ...]:
    if rows and {*map(len, rows)} != lengths:
        raise ValueError(f"{name} have other fields")
    return tuple(map(make, rows)) if rows else ()


def _damaged_error(error: object) -> IndexUnreadable:
    return IndexUnreadable(f"stored facts are damaged ({error}); they are made again")


def _load_json(text: bytes) -> Any:
    return json.loads(text.decode("utf-8", "surrogatepass"))


# (blob, reader): `reader` names the grammar and its version.
Key = tuple[str, str]

# `seal` ties the parts to their key; `used` is the day of the last use, since 1970. No key is looked up by `used`. Of a
# row only the columns up to the last one that is asked for are read, and words are most of it.
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS facts (blob TEXT, reader TEXT, seal INTEGER, used INTEGER, interface BLOB, "
    "bodies BLOB, words BLOB, PRIMARY KEY (blob, reader))"
)
_INSERT = (
    "INSERT OR REPLACE INTO facts (blob, reader, seal, used, interface, bodies, words) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
MAX_CACHE_BYTES = 1 << 30  # of the file; facts of a repository take about a third of its source
_KEPT_SHARE = 0.8  # of that, when something has to go: not to do it again at once
_OTHER_FORMAT_DAYS = (
    30  # a file that another version of the program wrote is removed when it was not written for so long
)
_PAGE_BYTES = 1024
_ROW_BYTES = 200  # of a row beside its data: its key, which stands in an index too
# It leaves 27 % of facts. The fastest level leaves 30 % in four fifths of the time, level 6 26 % in half more.
_COMPRESSION_LEVEL = 4
_BATCH = 500  # keys a query; SQLite allows at least 999 parameters
_BATCH_BYTES = 8 << 20  # a transaction: other processes wait for it
_DAY_SECONDS = 86_400
_LOCKED_SECONDS = 5.0  # that others are waited for
_PAUSE_SECONDS = 0.01


class CacheState(NamedTuple):
    """Path and size of the cache; `n_bytes` and `n_entries` are 0 if the file does not exist."""

    path: Path
    n_bytes: int
    n_entries: int


def facts_path() -> Path:
    """Return the file that all repositories of the user share.

    Each format has its own file, so that versions of the program can be used side by side.
    """
    return user_cache() / "facts" / f"facts-{FACTS_FORMAT}.db"


class FactsCache:
    """Facts in memory, and in an SQLite file if a path is given."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._memory: dict[Key, bytes] = {}
        self._usable = path is not None

    def get_many(self, keys: Iterable[Key], *, words: bool = True, bodies: bool = True) -> dict[Key, FileFacts]:
        """Return the facts of known keys, with or without words and bodies."""
        facts_by_key: dict[Key, FileFacts] = {}
        for key, encoded in self._read_stored(keys, words=words, bodies=bodies):
            with suppress(IndexUnreadable):
                facts, uses = decode_interface(encoded)
                facts_by_key[key] = facts_with_bodies(facts, uses) if bodies else facts
        return facts_by_key

    def get_parts(self, keys: Iterable[Key], *, words: bool = True) -> dict[Key, tuple[FileFacts, bytes]]:
        """Return (facts without bodies, encoded bodies for `facts_with_bodies`) of known keys."""
        parts_by_key: dict[Key, tuple[FileFacts, bytes]] = {}
        for key, encoded in self._read_stored(keys, words=words):
            with suppress(IndexUnreadable):
                parts_by_key[key] = decode_interface(encoded)
        return parts_by_key

    def get_encoded(self, keys: Iterable[Key]) -> dict[Key, tuple[bytes, bytes]]:
        """Return (interface, bodies) of known keys, as JSON."""
        texts_by_key: dict[Key, tuple[bytes, bytes]] = {}
        for key, encoded in self._read_stored(keys, words=False):
            with suppress(IndexUnreadable):
                texts_by_key[key] = extract_json(encoded)
        return texts_by_key

    def put_many(self, rows: Iterable[tuple[Key, bytes]]) -> bool:
        """Store encoded facts; in memory only, and return False, if the file cannot be written."""
        rows = list(rows)
        n_failed, since = 0, time.monotonic()
        while self._path is not None and self._usable and n_failed < 2:  # the first time a damaged file is removed
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with closing(self._connect()) as connection:
                    for some in split_batches(rows, _count_bytes, _BATCH_BYTES):
                        with connection:
                            connection.executemany(_INSERT, [_encode_row(key, split_parts(data)) for key, data in some])
                return True
            except OSError:
                self._usable = False
            except sqlite3.Error as error:
                if not _wait_if_locked(error, since):
                    n_failed += 1
                    self._handle_failure(error)
        self._memory.update(rows)
        return False

    def keep_only(self, keys: Iterable[Key]) -> None:
        """Shrink a file that is too large after a rebuild; facts of `keys` are in use and go last."""
        if not self._is_there():
            return
        try:
            with closing(self._connect()) as connection:
                excess = _n_bytes(connection) - MAX_CACHE_BYTES
                if excess <= 0:
                    return
                excess += int(MAX_CACHE_BYTES * (1 - _KEPT_SHARE))
                with connection:
                    kept = set(keys)
                    gone = []
                    oldest = "SELECT blob, reader, length(interface) + length(bodies) + length(words) FROM facts "
                    oldest += "ORDER BY used, blob, reader"
                    for in_use in (False, True):
                        for blob, reader, length in connection.execute(oldest):
                            if excess > 0 and ((blob, reader) in kept) == in_use:
                                gone.append((blob, reader))
                                excess -= length + _ROW_BYTES
                    connection.executemany("DELETE FROM facts WHERE blob = ? AND reader = ?", gone)
                connection.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page
        except sqlite3.Error as error:
            self._handle_failure(error)

    def state(self) -> CacheState | None:
        """Return path and size of the cache; None without a file."""
        if self._path is None:
            return None
        n_bytes = n_entries = 0
        if self._is_there():
            with suppress(sqlite3.Error), closing(self._connect()) as connection:
                n_bytes = _n_bytes(connection)
                n_entries = int(connection.execute("SELECT count(*) FROM facts").fetchone()[0])
        return CacheState(self._path, n_bytes, n_entries)

    def _is_there(self) -> bool:
        # Not asked of `Path`, which raises where a folder on the way belongs to another user.
        return self._path is not None and self._usable and os.path.exists(self._path)  # noqa: PTH110

    def _read_stored(
        self, wanted: Iterable[Key], *, words: bool = True, bodies: bool = True
    ) -> Iterator[tuple[Key, EncodedFacts]]:
        keys = list(dict.fromkeys(wanted))
        for key in keys:
            if key in self._memory:
                parts = split_parts(self._memory[key])
                yield (
                    key,
                    EncodedFacts(parts.interface, parts.bodies if bodies else None, parts.words if words else None),
                )
        if not self._is_there():
            return
        by_blob: dict[str, list[Key]] = {}
        for key in keys:
            by_blob.setdefault(key[0], []).append(key)
        blobs = sorted(by_blob)
        columns = f"interface, {'bodies' if bodies else 'NULL'}, {'words' if words else 'NULL'}"
        types = (bytes, bytes if bodies else type(None), bytes if words else type(None))
        unused: list[Key] = []
        today = _today()
        try:
            with closing(self._connect()) as connection:
                for start in range(0, len(blobs), _BATCH):
                    part = blobs[start : start + _BATCH]
                    marks = ",".join("?" * len(part))
                    query = f"SELECT blob, reader, seal, used, {columns} FROM facts WHERE blob IN ({marks})"
                    for blob, reader, seal, used, *encoded in connection.execute(query, part):
                        key = (blob, reader)
                        if key not in by_blob.get(blob, ()) or tuple(map(type, encoded)) != types:
                            continue
                        facts = _decompress(encoded)
                        if facts is not None and seal == _compute_seal(key, facts.interface):
                            if used != today:
                                unused.append(key)
                            yield key, facts
                _mark_used(connection, unused)
        except sqlite3.Error as error:
            self._handle_failure(error)

    def _handle_failure(self, error: sqlite3.Error) -> None:
        """Delete a file that is damaged or no database; stop using one that is locked or read-only."""
        assert self._path is not None
        # Everything else that SQLite reports has a class of its own below DatabaseError.
        if type(error) is not sqlite3.DatabaseError:
            self._usable = False
            return
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError:
            self._usable = False

    def _connect(self) -> sqlite3.Connection:
        since = time.monotonic()
        while True:
            try:
                return self._connect_checked()
            except sqlite3.Error as error:
                if not _wait_if_locked(error, since):
                    raise

    def _connect_checked(self) -> sqlite3.Connection:
        assert self._path is not None
        connection = sqlite3.connect(self._path, timeout=_LOCKED_SECONDS)
        # A damaged key is never asked for. As an error it would look like one of a file that is in use.
        connection.text_factory = _decode_text
        try:
            if _read_format(connection) != FACTS_FORMAT:
                # Only before anything is written. Rows of two kilobytes leave much of larger pages empty.
                connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                self._remove_other_formats()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if _read_format(connection) != FACTS_FORMAT:
                # Another process may be doing the same; the second finds it done.
                connection.execute("BEGIN IMMEDIATE")
                if _read_format(connection) != FACTS_FORMAT:
                    connection.execute("DROP TABLE IF EXISTS facts")
                    connection.execute(_SCHEMA)
                    connection.execute(f"PRAGMA user_version = {FACTS_FORMAT}")
                connection.commit()
            connection.execute(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _remove_other_formats(self) -> None:
        """Delete old files of other versions of the program."""
        assert self._path is not None
        for path in self._path.parent.glob("facts-*.db*"):
            with suppress(OSError):
                age = time.time() - path.stat().st_mtime
                if not path.name.startswith(self._path.name) and age > _OTHER_FORMAT_DAYS * _DAY_SECONDS:
                    path.unlink()


def _wait_if_locked(error: sqlite3.Error, since: float) -> bool:
    """Pause and return True if the file was locked and a retry makes sense.

    SQLite itself waits for readers and writers, but not for a process that creates or removes its log.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # what is above tells kinds of it apart
    if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL) or time.monotonic() - since >= _LOCKED_SECONDS:
        return False
    time.sleep(_PAUSE_SECONDS)
    return True


def _encode_row(key: Key, parts: EncodedFacts) -> tuple[object, ...]:
    compressed = (None if part is None else zlib.compress(part, _COMPRESSION_LEVEL) for part in parts)
    return (*key, _compute_seal(key, parts.interface), _today(), *compressed)


def _decompress(columns: list[bytes | None]) -> EncodedFacts | None:
    """Return the parts of a row, None if one is damaged."""
    try:
        interface, bodies, words = (None if part is None else zlib.decompress(part) for part in columns)
    except zlib.error:
        return None
    return None if interface is None else EncodedFacts(interface, bodies, words)


def _compute_seal(key: Key, interface: bytes) -> int:
    """Return a checksum that ties facts to their key: under another key they would be wrong.

    It covers the checksum at the start of the interface, which covers those of the other parts.
    """
    return zlib.crc32(f"{key[0]} {key[1]}".encode("utf-8", "surrogatepass") + interface[:4])


def _today() -> int:
    return int(time.time() // _DAY_SECONDS)


def _mark_used(connection: sqlite3.Connection, keys: list[Key]) -> None:
    """Update the last use of keys, unless another process is writing."""
    if keys:
        with suppress(sqlite3.OperationalError), connection:
            connection.execute("PRAGMA busy_timeout = 100")
            day = _today()
            connection.executemany(
                "UPDATE facts SET used = ? WHERE blob = ? AND reader = ?", [(day, *key) for key in keys]
            )


def _n_bytes(connection: sqlite3.Connection) -> int:
    """Return the bytes in use in the file."""
    size, count, free = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_size", "page_count", "freelist_count")
    )
    return size * (count - free)


def _count_bytes(row: tuple[Key, bytes]) -> int:
    return len(row[1])


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _read_format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
