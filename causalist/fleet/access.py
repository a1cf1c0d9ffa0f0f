"""Access to repositories, and the fleet as one caller sees it.

[[access]]                        # in fleet.toml
token = "9f86d081884c7d65…"       # SHA-256 of the token, in hexadecimal digits; "" for who gives none
repositories = ["shop/*", "lib"]  # names of repositories, with * for any characters

Who gives a token sees the repositories of the tables with that token, and no other. A `FleetView` reads from the tables
of the fleet what is of these alone, so that an answer has the same bytes as in a fleet without the others.
"""

import hashlib
import hmac
import json
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from causalist._internal.text_formatting import read_toml
from causalist.errors import FleetError, UsageError
from causalist.fleet.choice import REPOSITORIES, Catalog
from causalist.fleet.joined import CrossEdges
from causalist.fleet.links.join import LINKS, LinkTables, join_links
from causalist.fleet.members import FleetFile
from causalist.fleet.object_store import FleetStore
from causalist.fleet.repository_shard import Shard, open_shard
from causalist.fleet.walk import ShardColumns
from causalist.index.freshness import index_version
from causalist.pipeline.repository import Repository
from causalist.store.index_folder import user_cache

_DIGEST = re.compile(r"(?:[0-9a-f]{64})?")
_KEYS = {"token", "repositories"}
_MAX_VIEWS = 16  # of different tokens that stay open
_MAX_OPEN = 48  # shards that a view keeps; they are mapped, so that memory is that of the pages in use


class AccessRule(NamedTuple):
    """Repositories that the holder of a token sees. `digest` is the SHA-256 of the token, "" for none."""

    digest: str
    patterns: tuple[str, ...]


def read_access(file: FleetFile) -> tuple[AccessRule, ...]:
    """Return the rules of access of a `fleet.toml`, none if everybody sees all. Raises FleetError."""
    try:
        rows = read_toml(file.path.read_text(encoding="utf-8")).get("access", [])
    except (OSError, ValueError) as error:
        raise FleetError(f"cannot read {file.path}: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FleetError(f'{file.path}: expected tables [[access]] with "token" and "repositories"')
    rules = []
    for row in rows:
        digest, patterns = row.get("token"), row.get("repositories")
        unknown = sorted(set(row) - _KEYS)
        if unknown:
            raise FleetError(f"{file.path}: {unknown[0]} is not a key of [[access]]; there are token and repositories")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise FleetError(f'{file.path}: "token" of [[access]] must be the SHA-256 of a token, in 64 digits')
        if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
            raise FleetError(f'{file.path}: "repositories" of [[access]] must be a list of names')
        rules.append(AccessRule(digest, tuple(patterns)))
    return tuple(rules)


def digest_of(token: str) -> str:
    """Return what stands for a token in `fleet.toml`.

    >>> digest_of("test")[:16], digest_of("")
    ('9f86d081884c7d65', '')
    """
    return hashlib.sha256(token.encode()).hexdigest() if token else ""


def visible_names(file: FleetFile, token: str, rules: Sequence[AccessRule]) -> tuple[str, ...]:
    """Return the names of members that the holder of a token may see, sorted.

    All rules are compared, whatever the token, so that the time does not tell which of them fits.
    """
    digest = digest_of(token)
    patterns: list[str] = []
    for rule in rules:
        is_holder = hmac.compare_digest(rule.digest, digest)
        patterns += rule.patterns if is_holder else ()
    return tuple(m.name for m in file.members if any(fnmatchcase(m.name, each) for each in patterns))


@dataclass(eq=False)
class FleetView:
    """The repositories that one caller sees. Everything that is asked of a fleet is asked of a view.

    `names` are all that exists for the caller; `is_partial` if there are others. Shards stay open between questions,
    the most recent ones.
    """

    name: str  # of the fleet
    store: FleetStore
    names: tuple[str, ...]
    is_partial: bool = False
    _open: "OrderedDict[str, Repository]" = field(default_factory=OrderedDict)
    _columns: "OrderedDict[str, ShardColumns]" = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(
        cls,
        file: FleetFile,
        store: FleetStore,
        *,
        token: str | None = None,
        may_see: Callable[[str], bool] | None = None,
    ) -> "FleetView":
        """Return the view of a caller.

        `may_see` decides by the name of a repository. Else `token` does, by the tables [[access]]; None is the owner of
        the file, who sees all. Raises FleetError.
        """
        names: Collection[str] = [member.name for member in file.members]
        if may_see is not None:
            names = [name for name in names if may_see(name)]
        elif token is not None:
            names = visible_names(file, token, read_access(file))
        return cls(file.path.parent.name, store, tuple(sorted(names)), len(names) < len(file.members))

    @cached_property
    def catalog(self) -> Catalog:
        """The indexed ones of the repositories, to choose from. Raises FleetError."""
        return Catalog.open(self.store, self.names)

    @cached_property
    def across(self) -> CrossEdges:
        """The edges across these repositories. Raises FleetError.

        The one repository of several that an import means depends on all that there are. So those of a part of the
        fleet are joined anew, and kept in the cache of the user.
        """
        path = self._joined_links() if self.is_partial else self.store.local_table(LINKS)
        return CrossEdges.none() if path is None else CrossEdges.read(path, self.catalog.names)

    def _joined_links(self) -> Path:
        """Return a local file with the edges across these repositories as if there were no others."""
        import pyarrow.parquet as parquet

        columns = self.catalog.columns
        rows = [row for row in zip(columns["name"], columns["publishes"], columns["uses"], strict=True) if all(row)]
        state = hashlib.sha256(json.dumps([index_version(), rows]).encode()).hexdigest()
        path = user_cache() / "fleet" / LINKS / f"{state}.parquet"
        if not path.exists():
            tables = LinkTables(
                {name: self.store.local_object(digest, "publishes") for name, digest, _ in rows},
                {name: self.store.local_object(digest, "uses") for name, _, digest in rows},
            )
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            aside = path.with_name(f"{path.name}.{os.getpid()}.new")
            parquet.write_table(join_links(tables), aside, compression="zstd")
            aside.replace(path)
        return path

    def repository(self, name: str) -> Repository:
        """Return the repository of a name. Raises FleetError if it is not there, also if it may not be seen."""
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
        row = self.catalog.record(name)
        objects = {kind: row[kind] for kind in ("index", "text")}
        opened = open_shard(Shard(name, row["commit"], row["version"], objects), self.store)
        with self._lock:
            self._open[name] = opened
            while len(self._open) > _MAX_OPEN:
                self._open.popitem(last=False)
        return opened

    def columns(self, name: str) -> ShardColumns | None:
        """Return the columns of the walk in a repository; None if it cannot be opened."""
        if name not in self._columns:
            try:
                repository = self.repository(name)
            except FleetError:
                return None
            self._columns[name] = ShardColumns.of(name, repository.index, self.across)
            while len(self._columns) > _MAX_OPEN:
                self._columns.popitem(last=False)
        return self._columns[name]

    def split_name(self, name: str) -> tuple[str, str]:
        """Return (repository, name inside of it) of `repository:name`; ("", name) without a repository.

        Raises UsageError for an empty name.
        """
        if not name.strip():
            raise UsageError("the name is empty; give repository:name, as in shop/api:src/auth.py::verify")
        repository, colon, inner = name.removeprefix("external:").partition(":")
        if colon and not inner.startswith(":") and repository in self.catalog.names:
            return repository, f"external:{inner}" if name.startswith("external:") else inner
        return "", name


@dataclass(eq=False)
class FleetViews:
    """The views of the callers of a server. `token` is that of a caller without requests; None: the owner."""

    file: FleetFile
    store: FleetStore
    token: str | None = None
    _views: "OrderedDict[object, FleetView]" = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def over_http(self) -> "FleetViews":
        """Return the views of callers who need a token as soon as there are tables [[access]]."""
        return replace(self, token=None if not read_access(self.file) else "")

    def of(self, given: str | None) -> FleetView:
        """Return the view of who sent a request with a token, "" for none, by the rules and tables as they are now.

        None is the caller without requests. Raises FleetError.
        """
        rules = read_access(self.file)
        token = given if rules and given is not None else self.token
        names = None if token is None else frozenset(visible_names(self.file, token, rules))
        key = names, self.store.table_stamp(REPOSITORIES)
        with self._lock:
            if key not in self._views:
                may_see = None if names is None else names.__contains__
                self._views[key] = FleetView.of(self.file, self.store, may_see=may_see)
                while len(self._views) > _MAX_VIEWS:
                    self._views.popitem(last=False)
            self._views.move_to_end(key)
            return self._views[key]


def token_digests(file: FleetFile) -> tuple[str, ...] | None:
    """Return the SHA-256 of the tokens of [[access]], sorted; None without such tables. Raises FleetError."""
    rules = read_access(file)
    return tuple(sorted({rule.digest for rule in rules if rule.digest})) if rules else None
