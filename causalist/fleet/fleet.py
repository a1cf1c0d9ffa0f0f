"""The facade of a fleet: add repositories, index them, open their shards."""

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from causalist.errors import FleetError, UsageError
from causalist.fleet.choice import write_tables
from causalist.fleet.links.join import link_shards
from causalist.fleet.members import (
    FLEET_FILE,
    FleetFile,
    Member,
    add_members,
    find_fleet_file,
    members_of,
    read_fleet_file,
    read_sources,
    remove_members,
    with_longer_names,
)
from causalist.fleet.object_store import FleetStore
from causalist.fleet.repository_shard import Shard, open_shard
from causalist.fleet.scheduling import IndexingOptions, index_members
from causalist.index.options import Progress, ignore_progress
from causalist.pipeline.repository import Repository

if TYPE_CHECKING:
    import pyarrow as arrow
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_size(text: str) -> int:
    """Return a number of bytes. Raises UsageError.

    >>> parse_size("4GB"), parse_size("500 MB"), parse_size("123")
    (4000000000, 500000000, 123)
    """
    given = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if given is None:
        raise UsageError(f"{text!r} is not a size; expected a number with KB, MB, GB or TB, such as 4GB")
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
        from causalist.fleet.repository_shard import copy_shards

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
        """Delete objects that no record names; return the number of deleted files. No process may index meanwhile."""
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
            raise FleetError(f"{unknown[0]} is not a repository of {self.file.path}")
        return [member_by_name[name] for name in names] or list(self.file.members)


def _fleet_file(folder: Path) -> FleetFile:
    """Return the `fleet.toml` of a folder, with no repository if there is none. Raises FleetError for a wrong one."""
    try:
        path = find_fleet_file(folder)
    except FleetError:
        path = folder.resolve() / FLEET_FILE
        return FleetFile(path, os.fspath(path.parent / "store"))
    return read_fleet_file(path)
