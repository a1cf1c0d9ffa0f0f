"""The store of a fleet: a folder or bucket that fsspec opens, with objects named by their content.

    objects/ab/ab12….index      the index of a shard; the name is the SHA-256 of the bytes
    records/owner%2Fname.json   what is known of a repository: its commit and the names of its objects, or its failure
    tables/….parquet            tables over all repositories

An object is written before a record names it and never changes, so that a reader sees the old or the new shard whole.
A record is replaced in one step. Nothing read from a store is run: objects are arrays, text and Parquet.
"""

import hashlib
import json
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from causalist.errors import ExtraMissing, FleetError, IndexUnreadable
from causalist.index.consistency import check_consistency
from causalist.store.index_file import has_ended, read_index
from causalist.store.index_folder import user_cache

_CHUNK_BYTES = 1 << 20
_DIGEST_DIGITS = 64


class FleetStore:
    """A store by its address; `cache` is the folder for objects of a store that is no local folder."""

    def __init__(self, address: str, cache: Path | None = None) -> None:
        try:
            import fsspec
            from fsspec.implementations.local import LocalFileSystem
        except ImportError as error:
            raise ExtraMissing("a fleet needs more packages: pip install 'causalist[fleet]'") from error
        try:
            self._files, self._root = fsspec.core.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise FleetError(f"the store {address} cannot be opened: {error}") from error
        self.address = address
        self._is_local = isinstance(self._files, LocalFileSystem)
        self._cache = cache or user_cache() / "fleet"

    # -- objects

    def put_object(self, source: Path, kind: str) -> str:
        """Store the content of a file and return its name. What is there already is not written again."""
        digest = _digest_of(source)
        path = self._object_path(digest, kind)
        if not self._files.exists(path):
            self._write(path, source)
        return digest

    def local_object(self, digest: str, kind: str, *, is_trusted: bool = True) -> Path:
        """Return a local file with an object, which is downloaded and verified if the store is elsewhere.

        A local store is read as it is if `is_trusted`. Raises FleetError if the store does not have it, if its content
        is not what its name says, or if an index leads out of itself.
        """
        if len(digest) != _DIGEST_DIGITS or not digest.isalnum() or not kind.isalnum():
            raise FleetError(f"{digest}.{kind} is not the name of an object")
        path = self._object_path(digest, kind)
        if self._is_local:
            if not is_trusted:
                self._verify(Path(path), digest, kind)
            return Path(path)
        target = self._cache / digest[:2] / f"{digest}.{kind}"
        if target.exists():
            return target
        aside = target.with_name(f"{target.name}.{os.getpid()}.new")
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._files.get_file(path, os.fspath(aside))
            self._verify(aside, digest, kind)
            aside.replace(target)
        except OSError as error:
            raise FleetError(f"cannot read {path} in {self.address}: {error}") from error
        finally:
            with suppress(OSError):
                aside.unlink()
        return target

    def _verify(self, path: Path, digest: str, kind: str) -> None:
        try:
            is_same = _digest_of(path) == digest
        except OSError as error:
            raise FleetError(f"cannot read {path} of {self.address}: {error.strerror or error}") from error
        if not is_same:
            raise FleetError(f"{digest} in {self.address} is damaged: its content has another SHA-256 than its name")
        if kind != "index":
            return
        try:
            index = read_index(path)
            if index is not None:
                check_consistency(index)
        except IndexUnreadable as error:
            raise FleetError(f"an index in {self.address} is refused: {error}") from error

    def has_object(self, digest: str, kind: str) -> bool:
        """Return True if an object is in the store."""
        return bool(self._files.exists(self._object_path(digest, kind)))

    # -- records

    def write_record(self, name: str, content: dict[str, Any]) -> None:
        """Replace the record of a repository."""
        data = json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._write(self._record_path(name), data)

    def read_record(self, name: str) -> dict[str, Any] | None:
        """Return the record of a repository; None if there is none. Raises FleetError for one that is damaged."""
        try:
            data = self._files.cat_file(self._record_path(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FleetError(f"cannot read the record of {name} in {self.address}: {error}") from error
        try:
            content = json.loads(data)
        except ValueError as error:
            raise FleetError(f"the record of {name} in {self.address} is damaged; index it again") from error
        if not isinstance(content, dict):
            raise FleetError(f"the record of {name} in {self.address} is not a table; index it again")
        return content

    def delete_record(self, name: str) -> None:
        """Delete the record of a repository, if there is one."""
        with suppress(FileNotFoundError):
            self._files.rm_file(self._record_path(name))

    def delete_unused(self, used: Collection[str]) -> int:
        """Delete objects whose names are not among `used`, and what killed processes of this machine left.

        Returns the number of deleted files.
        """
        n_deleted = 0
        for path in self._files.find(self._root):
            folder, _, name = str(path).rpartition("/")
            is_object = folder.startswith(self._join("objects"))
            if _is_abandoned(name) or (is_object and name.partition(".")[0] not in used and not name.endswith(".new")):
                with suppress(FileNotFoundError):
                    self._files.rm_file(path)
                    n_deleted += 1
        return n_deleted

    def has_record(self, name: str) -> bool:
        """Return True if a repository has a record."""
        return bool(self._files.exists(self._record_path(name)))

    def record_names(self) -> list[str]:
        """Return the names of all repositories with a record, sorted."""
        try:
            rows = self._files.ls(self._join("records"), detail=False)
        except FileNotFoundError:
            return []
        names = [str(row).rsplit("/", 1)[-1] for row in rows]
        return sorted(unquote(name.removesuffix(".json")) for name in names if name.endswith(".json"))

    # -- tables

    def write_table(self, name: str, source: Path) -> None:
        """Replace a table over all repositories by the Parquet file `source`."""
        self._write(self._join("tables", f"{name}.parquet"), source)

    def local_table(self, name: str) -> Path | None:
        """Return a local file with a table; None if there is none. Of a store elsewhere, it is downloaded."""
        path = self._join("tables", f"{name}.parquet")
        if not self._files.exists(path):
            return None
        if self._is_local:
            return Path(path)
        target = self._cache / "tables" / hashlib.sha256(self.address.encode()).hexdigest()[:16] / f"{name}.parquet"
        aside = target.with_name(f"{target.name}.{os.getpid()}.new")
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._files.get_file(path, os.fspath(aside))
            aside.replace(target)
        except OSError as error:
            raise FleetError(f"cannot read {path} in {self.address}: {error}") from error
        return target

    def table_stamp(self, name: str) -> str:
        """Return what tells one version of a table from the next; "" if there is none."""
        try:
            info = self._files.info(self._join("tables", f"{name}.parquet"))
        except FileNotFoundError:
            return ""
        changed = (info.get(key) for key in ("mtime", "ino", "LastModified", "last_modified", "etag", "ETag"))
        return " ".join(map(str, (info.get("size"), *changed)))

    # -- places

    def _join(self, *parts: str) -> str:
        return "/".join((self._root.rstrip("/"), *parts))

    def _object_path(self, digest: str, kind: str) -> str:
        return self._join("objects", digest[:2], f"{digest}.{kind}")

    def _record_path(self, name: str) -> str:
        return self._join("records", f"{quote(name, safe='')}.json")

    def _write(self, place: str, content: Path | bytes) -> None:
        """Write a file in one step: stores of objects do so themselves, a folder by renaming."""
        try:
            if not self._is_local:
                if isinstance(content, Path):
                    self._files.put_file(os.fspath(content), place)
                else:
                    self._files.pipe_file(place, content)
                return
            target = Path(place)
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = target.with_name(f"{target.name}.{os.getpid()}.new")
            with aside.open("wb") as out:
                for chunk in _chunks(content):
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
            aside.replace(target)
        except OSError as error:
            raise FleetError(f"cannot write {place} in {self.address}: {error}") from error


def _chunks(content: Path | bytes) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


def _is_abandoned(name: str) -> bool:
    """Return True for a file that was being written by a process of this machine that has ended."""
    return name.endswith(".new") and has_ended(name.split(".")[-2])


def _digest_of(path: Path) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
    return digest.hexdigest()
