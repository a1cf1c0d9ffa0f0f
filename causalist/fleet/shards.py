"""A repository -> its shard: the ordinary index, the text that answers show, tables of what it uses of others.

A shard depends on the commit (or, outside of git, the contents) and the version of the program alone. Same input, same
bytes, whichever process makes it.
"""

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causalist.errors import ExtraMissing, FleetError, IndexUnreadable
from causalist.fleet.choice import WORDS, count_words, write_words
from causalist.fleet.links.coordinates import read_manifests
from causalist.fleet.links.program import Read, ShardProgram
from causalist.fleet.links.published import published_rows
from causalist.fleet.links.services import service_rows
from causalist.fleet.links.tables import Published, Used, write_rows
from causalist.fleet.links.used import used_rows
from causalist.fleet.members import Member
from causalist.fleet.store import FleetStore
from causalist.index.build import build_commit_index, build_index
from causalist.index.freshness import index_version
from causalist.index.options import IndexOptions
from causalist.index.source_text import SourceText
from causalist.model.index import Index
from causalist.model.source import FileEntry, SourceFile
from causalist.model.symbols import file_id
from causalist.pipeline.repository import Repository
from causalist.settings import Settings
from causalist.source import DEFAULT_LIMITS, BlobReader, read_file, scan_commit, scan_folder
from causalist.source.commit_scan import resolve_commit
from causalist.source.git import git_arguments, is_git_folder, work_tree_top
from causalist.store import FactsCache, facts_path, read_index, write_index

if TYPE_CHECKING:
    import pyarrow.parquet as parquet

_FILES_A_GROUP = 64  # of the text, what is decompressed to show one
_FORMAT = 1  # of records
LINK_TABLES = ("publishes", "uses")  # objects of edges between repositories


@dataclass(frozen=True, slots=True)
class Shard:
    """The record of a repository.

    `commit` is that of the index, or the hash of the contents outside of git. `objects` are the names of its objects by
    kind: `index`, `text`, and the tables. `error` says why the last attempt failed, "" if it did not; the shard is then
    that of an earlier commit, and has no objects if there was none. `attempts` counts failures in a row.
    """

    name: str
    commit: str = ""
    version: str = ""
    objects: Mapping[str, str] = field(default_factory=dict)
    n_files: int = 0
    n_nodes: int = 0
    n_edges: int = 0
    n_bytes: int = 0  # of the objects
    error: str = ""
    attempts: int = 0

    @property
    def is_ready(self) -> bool:
        """True if the shard can answer."""
        return bool(self.objects)

    def to_record(self) -> dict[str, Any]:
        """Return the record."""
        return {"format": _FORMAT, **asdict(self), "objects": dict(self.objects)}

    @classmethod
    def from_record(cls, content: Mapping[str, Any]) -> "Shard":
        """Return the shard that a record describes. Raises FleetError for another format."""
        known = {name: content[name] for name in cls.__slots__ if name in content}
        if content.get("format") != _FORMAT or "name" not in known:
            raise FleetError(f"the record of {content.get('name')!r} is of another version; index the fleet again")
        return cls(**known)


def current_commit(member: Member, place: Path) -> str:
    """Return the commit, or hash of contents, that a member has now at the local `place`. Raises GitError."""
    if _is_git(place):
        return resolve_commit(git_arguments(place), place, member.ref)
    return _content_hash(place)


def build_shard(member: Member, place: Path, store: FleetStore, *, cache: FactsCache | None = None) -> Shard:
    """Build the shard of a repository at the local folder `place`, store its objects and return it.

    Its record is not written. Raises CausalistError.
    """
    cache = cache or FactsCache(facts_path())
    options = IndexOptions(processes=1)
    if _is_git(place):
        scan = scan_commit(place, member.ref)
        commit = scan.commit or ""
        index = build_commit_index(place, scan, cache, options, None)
        with BlobReader(place) as blobs:
            blob_of = {entry.path: entry for entry in scan.entries}
            return _store_shard(member, commit, index, lambda e: blobs.read(blob_of[e.path]), store, cache)
    commit = _content_hash(place)
    scan = scan_folder(place, DEFAULT_LIMITS)
    # The same contents give the same bytes, whenever they were written.
    scan = replace(scan, entries=tuple(replace(each, mtime_ns=0, ctime_ns=0) for each in scan.entries))
    read = partial(read_file, place, limits=DEFAULT_LIMITS)
    index = build_index(scan, read, cache, None, 0, options)
    return _store_shard(member, commit, index, read, store, cache)


def open_shard(shard: Shard, store: FleetStore, settings: Settings | None = None) -> Repository:
    """Return the repository that a shard holds; it answers as the repository does alone, without its folder.

    Raises FleetError if the store does not have its objects or they are damaged.
    """
    if not shard.is_ready:
        raise FleetError(f"{shard.name} has no index: {shard.error or 'it was not indexed yet'}")
    try:
        index = read_index(store.local_object(shard.objects["index"], "index"))
    except IndexUnreadable as error:
        raise FleetError(f"the index of {shard.name} is damaged; index it again") from error
    if index is None:
        raise FleetError(f"the index of {shard.name} is of another version of the program; index the fleet again")
    text = ShardText(store.local_object(shard.objects["text"], "text"), index)
    return Repository(Path(shard.name), index, text.read, settings=settings or Settings())


class ShardText:
    """The text of the files of a shard, as indexed."""

    def __init__(self, path: Path, index: Index) -> None:
        self._path = path
        self._manifest = index.manifest
        self._file: parquet.ParquetFile | None = None
        self._group: tuple[int, list[bytes | None]] = (-1, [])

    def read(self, entry: FileEntry) -> SourceFile | str:
        """Return the content of a file, or the reason why the shard does not have it."""
        position = self._manifest.paths.position(entry.path)
        if position < 0:
            return "unreadable"
        number, row = divmod(position, _FILES_A_GROUP)
        group = self._group  # which another thread may replace
        if group[0] != number:
            group = self._group = number, self._read_group(number)
        data = group[1][row]
        return "unreadable" if data is None else SourceFile(entry.path, data, self._manifest.blobs[position])

    def _read_group(self, number: int) -> list[bytes | None]:
        if self._file is None:
            import pyarrow.parquet as parquet

            self._file = parquet.ParquetFile(self._path, memory_map=True)
        column = self._file.read_row_group(number, columns=["data"]).column("data")
        return list(column.to_pylist())


def _store_shard(
    member: Member,
    commit: str,
    index: Index,
    read: Callable[[FileEntry], SourceFile | str],
    store: FleetStore,
    cache: FactsCache,
) -> Shard:
    with tempfile.TemporaryDirectory(prefix="causalist-shard-") as name:
        folder = Path(name)
        write_index(folder / "index", index)
        _write_text(folder / "text", index, read)
        _write_link_tables(folder, index, read, cache)
        write_words(folder / "words", count_words(index, SourceText(index.manifest, read).read_text))
        kinds = ("index", "text", WORDS, *LINK_TABLES)
        objects = {kind: store.put_object(folder / kind, kind) for kind in kinds}
        n_bytes = sum((folder / kind).stat().st_size for kind in kinds)
    graph = index.graph
    return Shard(member.name, commit, index.version, objects, len(index.manifest.paths), len(graph.nodes),
                 len(graph.edges), n_bytes)  # fmt: skip


def _write_text(path: Path, index: Index, read: Callable[[FileEntry], SourceFile | str]) -> None:
    """Write the text of all files in the order of the manifest; null where a file cannot be read any more."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ExtraMissing("a fleet needs more packages: pip install 'causalist[fleet]'") from error
    manifest = index.manifest
    schema = arrow.schema([("path", arrow.string()), ("data", arrow.binary())])
    paths = list(manifest.paths)
    with closing(parquet.ParquetWriter(path, schema, compression="zstd")) as writer:
        for first in range(0, len(paths), _FILES_A_GROUP):
            some = paths[first : first + _FILES_A_GROUP]
            found = [read(FileEntry(each, int(manifest.sizes[first + i]), 0)) for i, each in enumerate(some)]
            data = [None if isinstance(each, str) else each.data for each in found]
            writer.write_table(arrow.table({"path": some, "data": data}, schema=schema))


def _write_link_tables(folder: Path, index: Index, read: Read, facts: FactsCache) -> None:
    """Write `publishes` and `uses` of an index to a folder. Raises ExtraMissing."""
    sizes = {path: int(index.manifest.sizes[i]) for i, path in enumerate(index.manifest.paths)}

    @cache
    def text(path: str) -> str:
        found = read(FileEntry(path, sizes[path], 0))
        return "" if isinstance(found, str) else found.data.decode("utf-8", "replace")

    program = ShardProgram.open(index, read, facts)
    manifests = read_manifests(list(sizes), text)
    offered, asked = service_rows(index, program, text, list(sizes))
    published = {*published_rows(program, manifests), *offered, _repository(list(sizes))}
    write_rows(folder / "publishes", Published, published)
    write_rows(folder / "uses", Used, [*used_rows(program, manifests), *dict.fromkeys(asked)])


def _repository(paths: list[str]) -> Published:
    """Return the row of the repository as a whole: the file that introduces it."""
    top = [path for path in paths if "/" not in path] or paths
    return Published("repository", "", "", "", "", str(file_id(min(top, key=_introduction_order))))


def _introduction_order(path: str) -> tuple[bool, str]:
    return not path.lower().startswith("readme"), path


def _is_git(place: Path) -> bool:
    return is_git_folder(place) or work_tree_top(place) == place


def _content_hash(place: Path) -> str:
    """Return the hash of the paths and contents of all files that would be indexed."""
    digest = hashlib.sha256()
    for entry in scan_folder(place, DEFAULT_LIMITS).entries:
        found = read_file(place, entry, DEFAULT_LIMITS)
        digest.update(f"{entry.path}\0{found if isinstance(found, str) else found.blob}\n".encode())
    return digest.hexdigest()[:40]


def is_current(shard: Shard, commit: str) -> bool:
    """Return True if a shard is of a commit and this version of the program."""
    return shard.is_ready and WORDS in shard.objects and shard.commit == commit and shard.version == index_version()
