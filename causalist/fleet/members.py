"""The repositories of a fleet as `fleet.toml` lists them.

store = "store"                      # a folder beside this file, or an address that fsspec opens

[[repository]]
name = "encode/httpx"                # what ids and citations of it begin with
source = "/srv/mirrors/httpx.git"    # a folder, a bare repository, or an address that git clones
ref = "HEAD"                         # optional: a branch, tag or commit
"""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tomlkit

from causalist._internal.text_formatting import read_toml
from causalist.errors import FleetError, UsageError
from causalist.source.git import is_git_folder, remote_address, repositories_below, work_tree_top
from causalist.store.index_folder import replace_file

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
    repeated = sorted(name for name, n in Counter(each.name for each in members).items() if n > 1)
    if repeated:
        raise FleetError(f"{path}: two repositories have the name {repeated[0]}; give one of them another")
    location = store if "://" in store else os.fspath(path.parent / store)
    return FleetFile(path, location, tuple(sorted(members, key=lambda each: each.name)))


def _read_member(path: Path, row: dict[str, object]) -> Member:
    name, source, ref = row.get("name"), row.get("source"), row.get("ref", "HEAD")
    unknown = sorted(set(row) - _KEYS)
    if unknown:
        raise FleetError(f"{path}: {unknown[0]} is not a key of [[repository]]; there are name, source and ref")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise FleetError(f"{path}: {name!r} is not a name of a repository; letters, digits, . _ - and / are allowed")
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
    below = repositories_below(folder)
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
            raise FleetError(f"{name} is not a repository of {file.path}")
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
