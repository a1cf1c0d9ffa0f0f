"""A repository -> its shard: the ordinary index, the text that answers show, tables of what it uses of others.

A shard depends on the commit (or, outside of git, the contents) and the version of the program alone. Same input, same
bytes, whichever process makes it.

Shards move between stores and machines: push, pull, and the index of one repository that was built elsewhere. What
comes from elsewhere is data: objects must have the SHA-256 that the record names, an index must be consistent, and with
a public key the record must be signed. Nothing is kept otherwise.
"""

import base64
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from causalist.errors import ExtraMissing, FleetError, IndexUnreadable
from causalist.fleet.choice import WORDS, count_words, write_words
from causalist.fleet.links.coordinates import read_manifests
from causalist.fleet.links.published_and_used import PublishedName, UsedName, published_rows, used_rows, write_rows
from causalist.fleet.links.services import service_rows
from causalist.fleet.links.shard_symbols import Read, ShardProgram
from causalist.fleet.members import Member, name_of_clone
from causalist.fleet.object_store import FleetStore
from causalist.index.build import build_commit_index, build_index
from causalist.index.freshness import index_version
from causalist.index.open import index_folders
from causalist.index.options import IndexOptions
from causalist.index.source_text import SourceText
from causalist.model.index import Index
from causalist.model.node_ids import file_id
from causalist.model.source import FileEntry, SourceFile
from causalist.pipeline.repository import Repository
from causalist.settings import Settings
from causalist.source import DEFAULT_LIMITS, BlobReader, Limits, read_file, scan_commit, scan_folder
from causalist.source.commits import resolve_commit
from causalist.source.git import git_arguments, is_git_folder, work_tree_top
from causalist.store import (
    INDEX_NAME,
    FactsCache,
    facts_path,
    hold_folder_lock,
    prepare_folder,
    read_index,
    write_index,
)

if TYPE_CHECKING:
    import pyarrow.parquet as parquet
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


_FILES_A_GROUP = 64  # of the text, what is decompressed to show one
_MAX_GROUPS = 4  # of the text, that a shard keeps: an answer shows files of several
_FORMAT = 2  # of records
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
        values = {name: content[name] for name in cls.__slots__ if name in content}
        if content.get("format") != _FORMAT or "name" not in values:
            raise FleetError(f"the record of {content.get('name')!r} is of another version; index the fleet again")
        return cls(**values)


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
        self._groups: dict[int, list[bytes | None]] = {}  # the last ones that were read

    def read(self, entry: FileEntry) -> SourceFile | str:
        """Return the content of a file, or the reason why the shard does not have it."""
        position = self._manifest.paths.position(entry.path)
        if position < 0:
            return "unreadable"
        number, row = divmod(position, _FILES_A_GROUP)
        groups = self._groups  # which another thread may replace
        group = groups.get(number)
        if group is None:
            group = self._read_group(number)
            kept = list(groups.items())[1 - _MAX_GROUPS :]
            self._groups = dict([*kept, (number, group)])
        data = group[row]
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
            files = [read(FileEntry(each, int(manifest.sizes[first + i]), 0)) for i, each in enumerate(some)]
            data = [None if isinstance(each, str) else each.data for each in files]
            writer.write_table(arrow.table({"path": some, "data": data}, schema=schema))


def _write_link_tables(folder: Path, index: Index, read: Read, facts: FactsCache) -> None:
    """Write `publishes` and `uses` of an index to a folder. Raises ExtraMissing."""
    sizes = {path: int(index.manifest.sizes[i]) for i, path in enumerate(index.manifest.paths)}

    @cache
    def text(path: str) -> str:
        file = read(FileEntry(path, sizes[path], 0))
        return "" if isinstance(file, str) else file.data.decode("utf-8", "replace")

    program = ShardProgram.open(index, read, facts)
    manifests = read_manifests(list(sizes), text)
    offered, asked = service_rows(index, program, text, list(sizes))
    published = {*published_rows(program, manifests), *offered, _repository(list(sizes))}
    write_rows(folder / "publishes", PublishedName, published)
    write_rows(folder / "uses", UsedName, [*used_rows(program, manifests), *dict.fromkeys(asked)])


def _repository(paths: list[str]) -> PublishedName:
    """Return the row of the repository as a whole: the file that introduces it."""
    top = [path for path in paths if "/" not in path] or paths
    return PublishedName("repository", "", "", "", "", str(file_id(min(top, key=_introduction_order))))


def _introduction_order(path: str) -> tuple[bool, str]:
    return not path.lower().startswith("readme"), path


def _is_git(place: Path) -> bool:
    return is_git_folder(place) or work_tree_top(place) == place


def _content_hash(place: Path) -> str:
    """Return the hash of the paths and contents of all files that would be indexed."""
    digest = hashlib.sha256()
    for entry in scan_folder(place, DEFAULT_LIMITS).entries:
        file = read_file(place, entry, DEFAULT_LIMITS)
        digest.update(f"{entry.path}\0{file if isinstance(file, str) else file.blob}\n".encode())
    return digest.hexdigest()[:40]


def is_current(shard: Shard, commit: str) -> bool:
    """Return True if a shard is of a commit and this version of the program."""
    return shard.is_ready and WORDS in shard.objects and shard.commit == commit and shard.version == index_version()


SIGNATURE = "signature"  # of a record: base64 of the Ed25519 signature of the rest


def copy_shards(
    source: FleetStore,
    target: FleetStore,
    names: Sequence[str] = (),
    *,
    signer: "Ed25519PrivateKey | None" = None,
    verifier: "Ed25519PublicKey | None" = None,
) -> list[Shard]:
    """Copy the shards of repositories, by default of all, and return them. What the target has is not copied again.

    Raises FleetError for names that the source does not have, damaged objects, and wrong or missing signatures.
    """
    record_names = source.record_names()
    missing = [name for name in names if name not in record_names]
    if missing:
        raise FleetError(f"{source.address} has no repository {missing[0]}")
    done: list[Shard] = []
    for name in names or record_names:
        record = read_signed(source, name, verifier)
        shard = Shard.from_record(record)
        for kind, digest in shard.objects.items():
            if not target.has_object(digest, kind):
                local = source.local_object(digest, kind, is_trusted=False)
                target.put_object(local, kind)
        if signer is not None:
            record = sign_record(record, signer)
        if target.read_record(name) != record:
            target.write_record(name, record)
        done.append(shard)
    return done


def install_index(
    root: Path,
    store: FleetStore,
    name: str = "",
    verifier: "Ed25519PublicKey | None" = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Shard:
    """Put the index of a store into a folder, where the next command brings it up to date, and return its shard.

    `name` is by default that of the origin of the clone in `root`. Raises FleetError if the store has no index of it,
    or one of another version of the program, and IndexNotWritable.
    """
    name = name or name_of_clone(root)
    if not name:
        raise FleetError(f"{root} was cloned from no known address; say which repository of the store it is")
    if not store.has_record(name):
        choices = ", ".join(store.record_names()[:10]) or "none"
        raise FleetError(f"{store.address} has no repository {name}; it has: {choices}")
    shard = Shard.from_record(read_signed(store, name, verifier))
    if not shard.is_ready:
        raise FleetError(f"{name} could not be indexed: {shard.error}")
    if shard.version != index_version():
        raise FleetError(f"the index of {name} is of another version of the program or its grammars")
    index = read_index(store.local_object(shard.objects["index"], "index", is_trusted=False))
    if index is None:
        raise FleetError(f"the index of {name} has another format; use the version of the program that wrote it")
    folder = index_folders(root)[0]
    prepare_folder(folder)
    with hold_folder_lock(folder, root):
        write_index(folder / INDEX_NAME, _adopt(index, root, limits))
    return shard


def _adopt(index: Index, root: Path, limits: Limits) -> Index:
    """Return an index with the times of those files of `root` that have the content that it knows.

    An index is used only for files whose times it has, so that one that a repository ships is not. The others count as
    changed.
    """
    scanned_at = time.time_ns()
    manifest = index.manifest
    sizes, mtimes, ctimes = manifest.sizes.copy(), np.zeros_like(manifest.mtimes), np.zeros_like(manifest.ctimes)
    for entry in scan_folder(root, limits).entries:
        position = manifest.paths.position(entry.path)
        if position < 0:
            continue
        content = read_file(root, entry, limits)
        same = (
            content == manifest.unfit[position]
            if isinstance(content, str)
            else content.blob == manifest.blobs[position]
        )
        if same:
            sizes[position], mtimes[position], ctimes[position] = entry.size, entry.mtime_ns, entry.ctime_ns
    return replace(index, scanned_at=scanned_at, manifest=replace(manifest, sizes=sizes, mtimes=mtimes, ctimes=ctimes))


def read_signed(store: FleetStore, name: str, verifier: "Ed25519PublicKey | None") -> dict[str, Any]:
    """Return the record of a repository, whose signature is right if there is a `verifier`. Raises FleetError."""
    record = store.read_record(name)
    if record is None:
        raise FleetError(f"{store.address} has no repository {name}")
    if record.get("name") != name:
        raise FleetError(f"the record of {name} in {store.address} is that of {record.get('name')}")
    if verifier is not None:
        from cryptography.exceptions import InvalidSignature

        try:
            verifier.verify(base64.b64decode(str(record.get(SIGNATURE, "")), validate=True), _signed_bytes(record))
        except (InvalidSignature, ValueError) as error:
            signed_by = "a signature of another key" if record.get(SIGNATURE) else "no signature"
            raise FleetError(f"the record of {name} in {store.address} has {signed_by}") from error
    return record


def sign_record(record: Mapping[str, Any], signer: "Ed25519PrivateKey") -> dict[str, Any]:
    """Return a record with its signature."""
    return {**record, SIGNATURE: base64.b64encode(signer.sign(_signed_bytes(record))).decode("ascii")}


def _signed_bytes(record: Mapping[str, Any]) -> bytes:
    rest = {key: value for key, value in record.items() if key != SIGNATURE}
    return json.dumps(rest, sort_keys=True, separators=(",", ":")).encode("utf-8")


def write_key_pair(path: Path) -> Path:
    """Write a private key to a new file that only its owner reads, its public key beside it; return the latter's path.

    Raises FleetError if one is there already.
    """
    serialization = _cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    beside = path.with_name(f"{path.name}.pub")
    try:
        for place, data, mode in ((path, private, 0o600), (beside, public, 0o644)):
            with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(data)
    except OSError as error:
        raise FleetError(f"cannot write the key: {error}") from error
    return beside


def read_private_key(path: Path) -> "Ed25519PrivateKey":
    """Return the key in a file. Raises FleetError and ExtraMissing."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = _load(path, _cryptography().load_pem_private_key, {"password": None})
    if not isinstance(key, Ed25519PrivateKey):
        raise FleetError(f"{path} is not a private Ed25519 key; `causalist fleet key` makes one")
    return key


def read_public_key(path: Path) -> "Ed25519PublicKey":
    """Return the key in a file. Raises FleetError and ExtraMissing."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = _load(path, _cryptography().load_pem_public_key, {})
    if not isinstance(key, Ed25519PublicKey):
        raise FleetError(f"{path} is not a public Ed25519 key; `causalist fleet key` makes one")
    return key


def _load(path: Path, load: Any, options: Mapping[str, Any]) -> Any:
    try:
        return load(path.read_bytes(), **options)
    except (OSError, ValueError, TypeError) as error:
        raise FleetError(f"cannot read a key from {path}: {error}") from error


def _cryptography() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError as error:
        raise ExtraMissing("signatures need more packages: pip install 'causalist[fleet]'") from error
    return serialization
