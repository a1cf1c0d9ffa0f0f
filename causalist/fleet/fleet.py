"""The facade of a fleet: add repositories, index them, open their shards."""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from causalist.errors import CausalistError, FleetError, GitError, UsageError
from causalist.fleet.members import (
    FLEET_FILE,
    FleetFile,
    Member,
    add_members,
    find_fleet_file,
    members_of,
    read_fleet_file,
)
from causalist.fleet.shards import Shard, build_shard, current_commit, is_current, open_shard
from causalist.fleet.store import FleetStore
from causalist.index.options import Progress, ignore_progress
from causalist.pipeline.repository import Repository
from causalist.store.cache_dir import user_cache


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
    def add(cls, folder: str | Path, sources: Sequence[str], *, name: str = "", ref: str = "HEAD") -> list[Member]:
        """Add repositories to the `fleet.toml` of a folder, which is made if there is none, and return them.

        Raises UsageError for what is no repository, and FleetError.
        """
        try:
            path = find_fleet_file(Path(folder))
            file = read_fleet_file(path)
        except FleetError:
            path = Path(folder).resolve() / FLEET_FILE
            file = read_fleet_file(path) if path.exists() else FleetFile(path, os.fspath(path.parent / "store"))
        added = [replace(each, ref=ref) for source in sources for each in members_of(source)]
        if name and len(added) != 1:
            raise UsageError(f"--name is for one repository; the sources have {len(added)}")
        added = [replace(each, name=name) for each in added] if name else added
        add_members(file, added)
        return added

    def status(self) -> FleetStatus:
        """Return what is indexed, by the records of the store. Raises FleetError."""
        found = {each.name: self._shard(each.name) for each in self.file.members}
        shards = tuple(each for each in found.values() if each is not None)
        return FleetStatus(shards, tuple(name for name, each in found.items() if each is None))

    def index(self, names: Iterable[str] = (), *, progress: Progress = ignore_progress) -> tuple[Shard, ...]:
        """Index what changed of the members, or of those named, and return their shards.

        A failure is that of its repository alone; its shard has the error. Raises FleetError for unknown names.
        """
        wanted = self._members(names)
        done: list[Shard] = []
        for number, member in enumerate(wanted):
            progress("indexing repositories", number, len(wanted))
            done.append(index_member(member, self.store))
        return tuple(done)

    def shard(self, name: str) -> Shard:
        """Return the shard of a member. Raises FleetError if there is none."""
        shard = self._shard(self._members([name])[0].name)
        if shard is None:
            raise FleetError(f"{name} was not indexed yet; `causalist fleet index {name}` does")
        return shard

    def open_repository(self, name: str) -> Repository:
        """Return the repository of a member, from its shard. Raises FleetError."""
        return open_shard(self.shard(name), self.store)

    def _shard(self, name: str) -> Shard | None:
        record = self.store.read_record(name)
        return None if record is None else Shard.from_record(record)

    def _members(self, names: Iterable[str]) -> list[Member]:
        known = {each.name: each for each in self.file.members}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise FleetError(f"{unknown[0]} is no repository of {self.file.path}")
        return [known[name] for name in names] or list(self.file.members)


def index_member(
    member: Member,
    store: FleetStore,
    *,
    clone_folder: Path | None = None,
    build: Callable[[Member, Path, FleetStore], Shard] = build_shard,
) -> Shard:
    """Bring the shard of a repository up to date, with its record, and return it. Raises nothing for its failures.

    This is one task: it needs nothing but the store, and leaves there the old record or the new one.
    """
    record = store.read_record(member.name)
    before = Shard(member.name) if record is None else Shard.from_record(record)
    try:
        place = local_place(member, clone_folder)
        commit = current_commit(member, place)
        if is_current(before, commit) and all(store.has_object(d, kind) for kind, d in before.objects.items()):
            after = replace(before, error="", attempts=0)
        else:
            after = build(member, place, store)
    except CausalistError as error:
        after = replace(before, error=f"{error.slug}: {error}", attempts=before.attempts + 1)
    if after != before or record is None:
        store.write_record(member.name, after.to_record())
    return after


def local_place(member: Member, clone_folder: Path | None = None) -> Path:
    """Return the local folder of a member's repository; an address is cloned as a mirror, or fetched again.

    Raises GitError and UsageError.
    """
    if not member.is_remote:
        place = Path(member.source)
        if not place.is_dir():
            raise UsageError(f"{member.source} is no folder any more")
        return place
    named = hashlib.sha256(member.source.encode()).hexdigest()[:24]
    place = (clone_folder or user_cache() / "fleet" / "mirrors") / f"{named}.git"
    _mirror(member.source, place)
    return place


def _mirror(address: str, place: Path) -> None:
    raise GitError(f"{address}: cloning is not there yet")
