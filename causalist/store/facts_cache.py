"""Facts by content: what was parsed once is not parsed again, on any branch.

The key is git's object name of the content and the version of the grammar that read it. A damaged or locked cache
costs time, never an answer: whatever cannot be read is parsed again, and a damaged file is begun anew.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from causalist.errors import IndexUnreadable
from causalist.model.facts import FileFacts
from causalist.store.codec import FACTS_FORMAT, facts_from_bytes, parts_of_bytes

# (blob, reader): `reader` names the grammar and its version.
Key = tuple[str, str]

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS facts (blob TEXT, reader TEXT, data BLOB, PRIMARY KEY (blob, reader)) WITHOUT ROWID"
)
_BATCH = 500  # keys a query; SQLite allows at least 999 parameters


class FactsCache:
    """Facts in memory, and in an SQLite file if a path is given."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._memory: dict[Key, bytes] = {}
        self._usable = path is not None

    def get_many(self, keys: Iterable[Key], *, words: bool = True, bodies: bool = True) -> dict[Key, FileFacts]:
        """Facts of those keys that are known, with or without their words and bodies."""
        wanted = list(dict.fromkeys(keys))
        found: dict[Key, FileFacts] = {}
        for key, data in self._stored(wanted):
            try:
                found[key] = facts_from_bytes(data, words=words, bodies=bodies)
            except IndexUnreadable:
                continue
        return found

    def get_encoded(self, keys: Iterable[Key]) -> dict[Key, tuple[bytes, bytes]]:
        """(interface, bodies) of those keys that are known, as JSON."""
        found: dict[Key, tuple[bytes, bytes]] = {}
        for key, data in self._stored(list(dict.fromkeys(keys))):
            with suppress(IndexUnreadable):
                found[key] = parts_of_bytes(data)
        return found

    def put_many(self, rows: Iterable[tuple[Key, bytes]]) -> None:
        """Keeps encoded facts; a file that cannot be written is left as it is."""
        rows = list(rows)
        for _ in range(2):  # a damaged file is removed by the first attempt
            if self._path is None or not self._usable:
                break
            try:
                with closing(self._connect()) as connection, connection:
                    connection.executemany(
                        "INSERT OR REPLACE INTO facts (blob, reader, data) VALUES (?, ?, ?)",
                        [(*key, data) for key, data in rows],
                    )
                return
            except sqlite3.Error as error:
                self._failed(error)
        self._memory.update(rows)

    def keep_only(self, keys: Iterable[Key]) -> None:
        """Forgets everything else in the file; called after a rebuild so that the cache does not grow for ever."""
        if self._path is None or not self._usable:
            return
        kept = set(keys)
        try:
            with closing(self._connect()) as connection, connection:
                known = connection.execute("SELECT blob, reader FROM facts").fetchall()
                gone = [row for row in known if tuple(row) not in kept]
                # Facts of other branches are worth keeping until they outnumber those in use.
                if len(gone) > len(kept) + 1000:
                    connection.executemany("DELETE FROM facts WHERE blob = ? AND reader = ?", gone)
        except sqlite3.Error as error:
            self._failed(error)

    def _stored(self, keys: list[Key]) -> Iterator[tuple[Key, bytes]]:
        for key in keys:
            if key in self._memory:
                yield key, self._memory[key]
        if self._path is None or not self._usable or not self._path.exists():
            return
        by_blob: dict[str, list[Key]] = {}
        for key in keys:
            by_blob.setdefault(key[0], []).append(key)
        blobs = sorted(by_blob)
        try:
            with closing(self._connect()) as connection:
                for start in range(0, len(blobs), _BATCH):
                    part = blobs[start : start + _BATCH]
                    marks = ",".join("?" * len(part))
                    query = f"SELECT blob, reader, data FROM facts WHERE blob IN ({marks})"
                    for blob, reader, data in connection.execute(query, part):
                        if (blob, reader) in by_blob.get(blob, ()) and isinstance(data, bytes):
                            yield (blob, reader), data
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
        assert self._path is not None
        connection = sqlite3.connect(self._path, timeout=5.0)
        # A damaged key is one that nobody asks for. As an error it would look like one of a file that is in use.
        connection.text_factory = _as_text
        try:
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


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
