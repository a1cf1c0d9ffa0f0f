"""Facts by content: what was parsed once is not parsed again, on any branch, in any work tree or clone of a user.

The key is git's object name of the content and the version of the grammar that read it. The file is in the user's cache
folder and never in a repository, because a repository could ship facts that are none. A damaged or locked cache costs
time, never an answer: whatever cannot be read is parsed again, and a damaged file is begun anew. What was not used for
longest goes when the file is too large.
"""

import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from causalist.errors import IndexUnreadable
from causalist.model.facts import FileFacts
from causalist.store.cache_dir import user_cache
from causalist.store.facts_codec import (
    FACTS_FORMAT,
    Encoded,
    facts_with_bodies,
    interface_of_parts,
    json_of,
    parts_of_bytes,
)

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
MOST_BYTES = 1 << 30  # of the file; facts of a repository take about as much as its source
_KEPT_SHARE = 0.8  # of that, when something has to go: not to do it again at once
_OTHER_FORMAT_DAYS = (
    30  # a file that another version of the program wrote is removed when it was not written for so long
)
_ROW_BYTES = 200  # of a row beside its data: its key, which stands in an index too
_BATCH = 500  # keys a query; SQLite allows at least 999 parameters
_BATCH_BYTES = 8 << 20  # a transaction: other processes wait for it
_DAY_SECONDS = 86_400
_LOCKED_SECONDS = 5.0  # that others are waited for
_PAUSE_SECONDS = 0.01


class CacheState(NamedTuple):
    """What `causalist status` says of the cache. `n_bytes` and `n_entries` are 0 where there is none."""

    path: Path
    n_bytes: int
    n_entries: int


def facts_path() -> Path:
    """The file that all repositories of the user share. Each format has one of its own: versions of the program that
    are used side by side leave one another alone."""
    return user_cache() / "facts" / f"facts-{FACTS_FORMAT}.db"


class FactsCache:
    """Facts in memory, and in an SQLite file if a path is given."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._memory: dict[Key, bytes] = {}
        self._usable = path is not None

    def get_many(self, keys: Iterable[Key], *, words: bool = True, bodies: bool = True) -> dict[Key, FileFacts]:
        """Facts of those keys that are known, with or without their words and bodies."""
        found: dict[Key, FileFacts] = {}
        for key, encoded in self._stored(keys, words=words, bodies=bodies):
            with suppress(IndexUnreadable):
                facts, uses = interface_of_parts(encoded)
                found[key] = facts_with_bodies(facts, uses) if bodies else facts
        return found

    def get_parts(self, keys: Iterable[Key], *, words: bool = True) -> dict[Key, tuple[FileFacts, bytes]]:
        """(facts without bodies, these as `facts_with_bodies` takes them) of those keys that are known."""
        found: dict[Key, tuple[FileFacts, bytes]] = {}
        for key, encoded in self._stored(keys, words=words):
            with suppress(IndexUnreadable):
                found[key] = interface_of_parts(encoded)
        return found

    def get_encoded(self, keys: Iterable[Key]) -> dict[Key, tuple[bytes, bytes]]:
        """(interface, bodies) of those keys that are known, as JSON."""
        found: dict[Key, tuple[bytes, bytes]] = {}
        for key, encoded in self._stored(keys, words=False):
            with suppress(IndexUnreadable):
                found[key] = json_of(encoded)
        return found

    def put_many(self, rows: Iterable[tuple[Key, bytes]]) -> None:
        """Keeps encoded facts; a file that cannot be written is left as it is."""
        rows = list(rows)
        n_failed, since = 0, time.monotonic()
        while self._path is not None and self._usable and n_failed < 2:  # the first time a damaged file is removed
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with closing(self._connect()) as connection:
                    for some in _batches(rows):
                        with connection:
                            connection.executemany(_INSERT, [_row(key, parts_of_bytes(data)) for key, data in some])
                return
            except OSError:
                self._usable = False
            except sqlite3.Error as error:
                if not _waited(error, since):
                    n_failed += 1
                    self._failed(error)
        self._memory.update(rows)

    def keep_only(self, keys: Iterable[Key]) -> None:
        """Told, after a rebuild, which facts are in use; in a file that is too large the longest unused ones go."""
        if not self._is_there():
            return
        try:
            with closing(self._connect()) as connection:
                excess = _n_bytes(connection) - MOST_BYTES
                if excess <= 0:
                    return
                excess += int(MOST_BYTES * (1 - _KEPT_SHARE))
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
            self._failed(error)

    def state(self) -> CacheState | None:
        """What is in the file; None where there is none to be used."""
        if self._path is None:
            return None
        n_bytes = n_entries = 0
        if self._is_there():
            with suppress(sqlite3.Error), closing(self._connect()) as connection:
                n_bytes = _n_bytes(connection)
                n_entries = int(connection.execute("SELECT count(*) FROM facts").fetchone()[0])
        return CacheState(self._path, n_bytes, n_entries)

    def _is_there(self) -> bool:
        # Not asked of `Path`, which raises where a folder on the way is somebody else's.
        return self._path is not None and self._usable and os.path.exists(self._path)  # noqa: PTH110

    def _stored(
        self, wanted: Iterable[Key], *, words: bool = True, bodies: bool = True
    ) -> Iterator[tuple[Key, Encoded]]:
        keys = list(dict.fromkeys(wanted))
        for key in keys:
            if key in self._memory:
                parts = parts_of_bytes(self._memory[key])
                yield key, Encoded(parts.interface, parts.bodies if bodies else None, parts.words if words else None)
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
                        key, parts = (blob, reader), Encoded(*encoded)
                        if (
                            key in by_blob.get(blob, ())
                            and tuple(map(type, parts)) == types
                            and seal == _seal(key, parts.interface)
                        ):
                            if used != today:
                                unused.append(key)
                            yield key, parts
                _touch(connection, unused)
        except sqlite3.Error as error:
            self._failed(error)

    def _failed(self, error: sqlite3.Error) -> None:
        """A file that is damaged, or is no database, is removed; one that is locked or read-only is left alone."""
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
                return self._connected()
            except sqlite3.Error as error:
                if not _waited(error, since):
                    raise

    def _connected(self) -> sqlite3.Connection:
        assert self._path is not None
        connection = sqlite3.connect(self._path, timeout=_LOCKED_SECONDS)
        # A damaged key is one that nobody asks for. As an error it would look like one of a file that is in use.
        connection.text_factory = _as_text
        try:
            if _format(connection) != FACTS_FORMAT:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only before anything is written
                self._remove_other_formats()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if _format(connection) != FACTS_FORMAT:
                # Another process may be doing the same; the second finds it done.
                connection.execute("BEGIN IMMEDIATE")
                if _format(connection) != FACTS_FORMAT:
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
        """Removes what other versions of the program left and no longer use."""
        assert self._path is not None
        for path in self._path.parent.glob("facts-*.db*"):
            with suppress(OSError):
                age = time.time() - path.stat().st_mtime
                if not path.name.startswith(self._path.name) and age > _OTHER_FORMAT_DAYS * _DAY_SECONDS:
                    path.unlink()


def _waited(error: sqlite3.Error, since: float) -> bool:
    """Whether a file was locked that may no longer be, after a pause. SQLite waits by itself for who reads and writes,
    but not for who begins its log or, as the last one, puts it away."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # what is above tells kinds of it apart
    if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL) or time.monotonic() - since >= _LOCKED_SECONDS:
        return False
    time.sleep(_PAUSE_SECONDS)
    return True


def _row(key: Key, parts: Encoded) -> tuple[object, ...]:
    return (*key, _seal(key, parts.interface), _today(), *parts)


def _seal(key: Key, interface: bytes) -> int:
    """Ties facts, by the checksum that they begin with, to their key: under another's name they would be a wrong
    answer. That checksum is of those of the other parts, too."""
    return zlib.crc32(f"{key[0]} {key[1]}".encode("utf-8", "surrogatepass") + interface[:4])


def _today() -> int:
    return int(time.time() // _DAY_SECONDS)


def _touch(connection: sqlite3.Connection, keys: list[Key]) -> None:
    """Notes that they were used, unless somebody else is writing: that only makes them look older."""
    if keys:
        with suppress(sqlite3.OperationalError), connection:
            connection.execute("PRAGMA busy_timeout = 100")
            day = _today()
            connection.executemany(
                "UPDATE facts SET used = ? WHERE blob = ? AND reader = ?", [(day, *key) for key in keys]
            )


def _n_bytes(connection: sqlite3.Connection) -> int:
    """Bytes in use in the file."""
    size, count, free = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_size", "page_count", "freelist_count")
    )
    return size * (count - free)


def _batches(rows: list[tuple[Key, bytes]]) -> Iterator[list[tuple[Key, bytes]]]:
    batch: list[tuple[Key, bytes]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row[1])
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
