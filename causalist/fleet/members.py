"""The repositories of a fleet as `fleet.toml` lists them.

store = "store"                      # a folder beside this file, or an address that fsspec opens

[[repository]]
name = "encode/httpx"                # what ids and citations of it begin with
source = "/srv/mirrors/httpx.git"    # a folder, a bare repository, or an address that git clones
ref = "HEAD"                         # optional: a branch, tag or commit
"""

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import tomlkit

from causalist._internal.text import read_toml
from causalist.errors import FleetError, UsageError
from causalist.fleet.choice import write_tables
from causalist.fleet.links.join import link_shards
from causalist.fleet.scheduling import IndexingOptions, index_members
from causalist.fleet.shards import Shard, open_shard
from causalist.fleet.store import FleetStore
from causalist.index.options import Progress, ignore_progress
from causalist.pipeline.repository import Repository
from causalist.source.git import is_git_folder, is_work_tree, remote_address, work_tree_top
from causalist.store.cache_dir import replace_file

if TYPE_CHECKING:
    import pyarrow as arrow
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FLEET_FILE = "fleet.toml"
_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")
# As hosts allow them, so that a name is a path below any folder, and a colon ends it in a citation. Ids that begin with
# "external:" are no repository's.
_NAME = re.compile(r"(?!external$)[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*){0,4}", re.ASCII)
_KEYS = {"name", "source", "ref"}


@dataclass(frozen=True, slots=True)
class Member:
    """A repository of a fleet.

    `ref` is what git resolves to the commit that is indexed. Without a `source` its index comes from another store.
    """

    name: str
    source: str
    ref: str = "HEAD"

    @property
    def is_remote(self) -> bool:
        """True if the source is an address that git clones."""
        return bool(_ADDRESS.fullmatch(self.source))


@dataclass(frozen=True, slots=True)
class FleetFile:
    """Content of `fleet.toml`. `store` is absolute or an address; `members` are sorted by name, names are unique."""

    path: Path
    store: str
    members: tuple[Member, ...] = ()


def find_fleet_file(start: Path) -> Path:
    """Return the `fleet.toml` in a folder or the nearest one above. Raises FleetError."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / FLEET_FILE).is_file():
            return folder / FLEET_FILE
    raise FleetError(
        f"no {FLEET_FILE} in {start} or above it; `causalist fleet add SOURCE` makes one, --fleet DIR names its folder"
    )


def read_fleet_file(path: Path) -> FleetFile:
    """Return the content of a `fleet.toml`. Raises FleetError for what it must not say."""
    try:
        data = read_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FleetError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise FleetError(f"{path} is not valid TOML: {error}") from error
    rows = data.get("repository", [])
    store = data.get("store", "store")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not isinstance(store, str):
        raise FleetError(f'{path}: expected a text `store` and tables [[repository]] with "name" and "source"')
    members = [_read_member(path, row) for row in rows]
    names = [each.name for each in members]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise FleetError(f"{path}: two repositories have the name {repeated[0]}; give one of them another")
    place = store if "://" in store else os.fspath(path.parent / store)
    return FleetFile(path, place, tuple(sorted(members, key=lambda each: each.name)))


def _read_member(path: Path, row: dict[str, object]) -> Member:
    name, source, ref = row.get("name"), row.get("source"), row.get("ref", "HEAD")
    unknown = sorted(set(row) - _KEYS)
    if unknown:
        raise FleetError(f"{path}: {unknown[0]} is no key of [[repository]]; there are name, source and ref")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise FleetError(f"{path}: {name!r} is no name of a repository; letters, digits, . _ - and / are allowed")
    if not isinstance(source, str) or not isinstance(ref, str) or ref.startswith("-"):
        raise FleetError(f'{path}: {name} needs a text "source", and a "ref" that git resolves if any')
    return Member(name, source if not source or _ADDRESS.fullmatch(source) else os.fspath(path.parent / source), ref)


def members_of(source: str) -> list[Member]:
    """Return the repositories that a source names: itself, or those below a folder of clones or mirrors.

    One that was cloned is named after its origin, others after their folder. Raises UsageError.
    """
    if _ADDRESS.fullmatch(source):
        return [Member(_name_of_address(source), source)]
    folder = Path(source).resolve()
    if not folder.is_dir():
        raise UsageError(f"{source} is neither a folder nor an address that git clones (https://, ssh://, user@host:)")
    if is_git_folder(folder) or work_tree_top(folder) == folder:
        return [Member(name_of_clone(folder) or _safe_name(_folder_name(folder)), os.fspath(folder))]
    below = _repositories_below(folder)
    if not below:
        return [Member(_safe_name(folder.name), os.fspath(folder))]
    return [
        Member(name_of_clone(each) or _safe_name(each.relative_to(folder).as_posix()), os.fspath(each))
        for each in below
    ]


def read_sources(path: Path) -> list[str]:
    """Return the sources that a file lists, one a line; `#` begins a comment. Raises UsageError.

    Folders are relative to that of the file.
    """
    try:
        lines = [line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    sources = [line if _ADDRESS.fullmatch(line) else os.fspath(path.parent / line) for line in lines if line]
    if not sources:
        raise UsageError(f"{path} lists no repository; expected a folder or an address in each line")
    return sources


def with_longer_names(members: Sequence[Member]) -> list[Member]:
    """Return members of which those of the same name are named after the folder above theirs as well.

    >>> [m.name for m in with_longer_names([Member("repo", "/a/x/repo"), Member("repo", "/a/y/repo")])]
    ['x/repo', 'y/repo']
    """
    sources: dict[str, set[str]] = {}
    for each in members:
        sources.setdefault(each.name, set()).add(each.source)
    return [
        replace(each, name=_safe_name("/".join(Path(each.source).parts[-2:])))
        if len(sources[each.name]) > 1 and not each.is_remote
        else each
        for each in members
    ]


def add_members(file: FleetFile, more: Sequence[Member]) -> FleetFile:
    """Return a fleet file with more repositories and write it. Raises FleetError for a name with another source."""
    member_by_name = {each.name: each for each in file.members}
    for each in more:
        there = member_by_name.get(each.name)
        if there is not None and there.source != each.source:
            raise FleetError(f"{each.name} is {there.source} already; give {each.source} another name with --name")
        member_by_name[each.name] = each
    return _write_members(file, member_by_name)


def remove_members(file: FleetFile, names: Sequence[str]) -> FleetFile:
    """Return a fleet file without some repositories and write it. Raises FleetError for a name that is not there."""
    member_by_name = {each.name: each for each in file.members}
    for name in names:
        if member_by_name.pop(name, None) is None:
            raise FleetError(f"{name} is no repository of {file.path}")
    return _write_members(file, member_by_name)


def _write_members(file: FleetFile, member_by_name: Mapping[str, Member]) -> FleetFile:
    members = tuple(member_by_name[name] for name in sorted(member_by_name))
    try:
        text = file.path.read_text(encoding="utf-8") if file.path.exists() else ""
        document = tomlkit.parse(text)
        if "store" not in document:
            document["store"] = "store"
        rows = tomlkit.aot()
        for each in members:
            row = tomlkit.table()
            row.update({"name": each.name, "source": each.source} | ({"ref": each.ref} if each.ref != "HEAD" else {}))
            rows.append(row)
        document["repository"] = rows
        file.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file.path, tomlkit.dumps(document).encode("utf-8"))
    except OSError as error:
        raise FleetError(f"cannot write {file.path}: {error.strerror or error}") from error
    return replace(file, members=members)


def _repositories_below(folder: Path, depth: int = 3) -> list[Path]:
    """Return the repositories at most `depth` folders below, sorted; nothing is looked for inside of one."""
    repositories: list[Path] = []
    for each in sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and p.name != ".git"):
        if is_git_folder(each) or is_work_tree(each):
            repositories.append(each)
        elif depth > 1:
            repositories += _repositories_below(each, depth - 1)
    return repositories


def _folder_name(folder: Path) -> str:
    return folder.parent.name if folder.name == ".git" else folder.name


def name_of_clone(folder: Path) -> str:
    """Return the name by the address from which a repository was cloned; "" if that is not known, or a folder."""
    address = remote_address(folder)
    return _name_of_address(address) if _ADDRESS.fullmatch(address) and not address.startswith("file:") else ""


def _name_of_address(address: str) -> str:
    """Return the owner and the name in an address.

    >>> _name_of_address("https://host.example/encode/httpx.git"), _name_of_address("git@host.example:encode/httpx")
    ('encode/httpx', 'encode/httpx')
    """
    parts = [part for part in re.split(r"[/:]", address.partition("://")[2] or address) if part]
    return _safe_name("/".join(parts[-2:]) if len(parts) > 2 else parts[-1])


def _safe_name(name: str) -> str:
    """Return a text in the form of names.

    >>> _safe_name("a b/httpx.git"), _safe_name(".hidden")
    ('a-b/httpx', 'hidden')
    """
    parts = [re.sub(r"[^\w.-]+", "-", part, flags=re.ASCII).lstrip(".-") for part in name.split("/")]
    return "/".join(part for part in parts if part).removesuffix(".git") or "repository"


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_size(text: str) -> int:
    """Return a number of bytes. Raises UsageError.

    >>> parse_size("4GB"), parse_size("500 MB"), parse_size("123")
    (4000000000, 500000000, 123)
    """
    given = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if given is None:
        raise UsageError(f"{text!r} is no size; expected a number with KB, MB, GB or TB, such as 4GB")
    return int(float(given[1]) * _UNITS[given[2].upper()])


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """Shards of the members, by name; `absent` are the names of members that were not indexed yet."""

    shards: tuple[Shard, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Repositories that a `fleet.toml` names, with their store."""

    file: FleetFile
    store: FleetStore

    @classmethod
    def open(cls, folder: str | Path = ".") -> "Fleet":
        """Open the fleet whose `fleet.toml` is in a folder or above it. Raises FleetError and ExtraMissing."""
        file = read_fleet_file(find_fleet_file(Path(folder)))
        return cls(file, FleetStore(file.store))

    @classmethod
    def add(
        cls,
        folder: str | Path,
        sources: Sequence[str] = (),
        *,
        listed: Path | None = None,
        name: str = "",
        ref: str = "HEAD",
    ) -> list[Member]:
        """Add repositories to the `fleet.toml` of a folder, which is made if there is none, and return them.

        `listed` is a file with further sources, one a line. Raises UsageError for what is none, and FleetError.
        """
        file = _fleet_file(Path(folder))
        all_sources = [*sources, *(read_sources(listed) if listed is not None else ())]
        added = with_longer_names([replace(each, ref=ref) for source in all_sources for each in members_of(source)])
        if name and len(added) != 1:
            raise UsageError(f"--name is for one repository; the sources have {len(added)}")
        added = [replace(each, name=name) for each in added] if name else added
        add_members(file, added)
        return added

    @classmethod
    def pull(
        cls,
        folder: str | Path,
        source: FleetStore,
        names: Sequence[str] = (),
        *,
        verifier: "Ed25519PublicKey | None" = None,
    ) -> list[Shard]:
        """Copy shards from another store into that of the fleet, and return them.

        Those of repositories that the `fleet.toml` lacks are added to it, without a source. Raises FleetError.
        """
        from causalist.fleet.shards import copy_shards

        file = _fleet_file(Path(folder))
        shards = copy_shards(source, FleetStore(file.store), names, verifier=verifier)
        member_names = {each.name for each in file.members}
        file = add_members(file, [Member(shard.name, "") for shard in shards if shard.name not in member_names])
        cls(file, FleetStore(file.store)).write_tables()
        return shards

    def remove(self, names: Sequence[str]) -> "Fleet":
        """Remove repositories from the `fleet.toml`, and their records; return the fleet without them.

        Their objects stay until `clean`. Raises FleetError.
        """
        file = remove_members(self.file, names)
        for name in names:
            self.store.delete_record(name)
        return replace(self, file=file)

    def clean(self) -> int:
        """Delete objects that no record names; return the number of deleted files. Nobody may be indexing meanwhile."""
        used = set[str]()
        for name in self.store.record_names():
            shard = self._shard(name)
            used.update(shard.objects.values() if shard else ())
        return self.store.delete_unused(used)

    def status(self) -> FleetStatus:
        """Return what is indexed, by the records of the store. Raises FleetError."""
        shard_by_name = {each.name: self._shard(each.name) for each in self.file.members}
        shards = tuple(each for each in shard_by_name.values() if each is not None)
        return FleetStatus(shards, tuple(name for name, each in shard_by_name.items() if each is None))

    def index(
        self,
        names: Iterable[str] = (),
        *,
        options: IndexingOptions | None = None,
        progress: Progress = ignore_progress,
    ) -> tuple[Shard, ...]:
        """Index what changed of the members, or of those named, and return their shards by name.

        A failure is that of its repository alone; its shard has the error. Raises FleetError for unknown names, and for
        a store or scheduler that cannot be used; what is done by then stays.
        """
        wanted = self._members(names)
        done = list(index_members(wanted, self.file.store, options or IndexingOptions(), progress))
        self.write_tables()
        return tuple(sorted(done, key=lambda shard: shard.name))

    def write_tables(self) -> None:
        """Write the tables over all indexed members from which questions choose. Raises FleetError."""
        with tempfile.TemporaryDirectory(prefix="causalist-tables-") as folder:
            shards = self.status().shards
            write_tables([each.to_record() for each in shards], self.store, Path(folder))
        link_shards(shards, self.store)

    def shard(self, name: str) -> Shard:
        """Return the shard of a member. Raises FleetError if there is none."""
        shard = self._shard(self._members([name])[0].name)
        if shard is None:
            raise FleetError(f"{name} was not indexed yet; `causalist fleet index {name}` does")
        return shard

    def open_repository(self, name: str) -> Repository:
        """Return the repository of a member, from its shard. Raises FleetError."""
        return open_shard(self.shard(name), self.store)

    def links(self, name: str = "") -> "arrow.Table":
        """Return the edges between repositories, or those that leave or reach one, with the columns of `join_links`.

        They are found again if a shard changed. Raises FleetError.
        """
        table = link_shards(self.status().shards, self.store)
        if not name:
            return table
        import pyarrow.compute as compute

        self._members([name])
        sides = (compute.equal(table[side], name) for side in ("source_repository", "target_repository"))
        return table.filter(compute.or_(*sides))

    def _shard(self, name: str) -> Shard | None:
        record = self.store.read_record(name)
        return None if record is None else Shard.from_record(record)

    def _members(self, names: Iterable[str]) -> list[Member]:
        member_by_name = {each.name: each for each in self.file.members}
        unknown = [name for name in names if name not in member_by_name]
        if unknown:
            raise FleetError(f"{unknown[0]} is no repository of {self.file.path}")
        return [member_by_name[name] for name in names] or list(self.file.members)


def _fleet_file(folder: Path) -> FleetFile:
    """Return the `fleet.toml` of a folder, with no repository if there is none. Raises FleetError for a wrong one."""
    try:
        path = find_fleet_file(folder)
    except FleetError:
        path = folder.resolve() / FLEET_FILE
        return FleetFile(path, os.fspath(path.parent / "store"))
    return read_fleet_file(path)
