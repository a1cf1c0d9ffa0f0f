"""Work on many repositories, by Dask: one task a repository, on this machine or on any cluster.

A task writes its objects and its record itself, so that nothing is lost with the process that asked or the scheduler.
One that ends the worker (memory, a crash in a grammar) is tried again and then counts as failed; all others go on.
"""

import hashlib
import os
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causalist.errors import CausalistError, ExtraMissing, FleetError, GitError, UsageError
from causalist.fleet.members import Member
from causalist.fleet.object_store import FleetStore
from causalist.fleet.repository_shard import Shard, build_shard, current_commit, is_current
from causalist.index.options import Progress
from causalist.store.index_folder import hold_lock, user_cache

if TYPE_CHECKING:
    from distributed import Client

_ATTEMPTS_OF_CLONES = 3
_PAUSE_SECONDS = 2.0  # between them, doubled each time
_GIT_SECONDS = 3600.0
_EXIT_SECONDS = 2.0  # from the report of a repository that took too long to the end of its worker
_MIN_MEMBERS = 2  # changed ones for which processes are started
_KILLED_WORKERS = 2  # by one repository, before it counts as failed


@dataclass(frozen=True, slots=True)
class IndexingOptions:
    """Options of indexing a fleet.

    `workers` are processes on this machine, 0 for this process; `scheduler` is the address of a Dask scheduler that is
    used instead. `memory` bounds each worker on this machine, in bytes. `seconds` bound each repository. `clones` is
    the folder of mirrors of addresses.
    """

    workers: int = 0
    scheduler: str = ""
    memory: int = 4_000_000_000
    seconds: float = 3600.0
    clones: str = ""


def index_member(member: Member, address: str, options: IndexingOptions = IndexingOptions()) -> dict[str, Any]:
    """Bring the shard of a repository in the store at `address` up to date and return its record.

    Failures are in the record; nothing is raised but FleetError for a store that cannot be written.
    """
    store = FleetStore(address)
    before = _shard_before(member, store)
    try:
        path = local_place(member, Path(options.clones) if options.clones else None)
        commit = current_commit(member, path)
        is_whole = all(store.has_object(digest, kind) for kind, digest in before.objects.items())
        if is_current(before, commit) and is_whole:
            after = replace(before, error="", attempts=0)
        else:
            after = build_shard(member, path, store)
    except CausalistError as error:
        after = _with_failure(before, f"{error.slug}: {error}")
    except (OSError, MemoryError, RecursionError) as error:
        after = _with_failure(before, f"{type(error).__name__}: {error}".rstrip(": "))
    return _write(after, before, store)


Task = Callable[..., dict[str, Any]]  # of (member, address=, options=), gives a record


def index_members(
    members: Sequence[Member], address: str, options: IndexingOptions, progress: Progress, task: "Task | None" = None
) -> Iterator[Shard]:
    """Yield the shards of members as they are done. Raises FleetError if the scheduler is lost; what is done stays.

    `task` is what is done for each, `index_in_time` by default.
    """
    store = FleetStore(address)
    changed: list[Member] = []
    for number, member in enumerate(members):
        progress("looking for changes", number, len(members))
        shard = _current_shard(member, store)
        if shard is None:
            changed.append(member)
        else:
            yield shard
    if not options.scheduler and (not options.workers or len(changed) < _MIN_MEMBERS):
        for number, member in enumerate(changed):
            progress("indexing repositories", number, len(changed))
            yield Shard.from_record((task or index_member)(member, address=address, options=options))
        return
    yield from _index_on_cluster(changed, address, options, progress, task or index_in_time)


def _current_shard(member: Member, store: FleetStore) -> Shard | None:
    """Return the shard of a local member that nothing changed; None for others, and after a failure."""
    shard = _shard_before(member, store)
    if not member.source and shard.is_ready:
        return shard
    if member.is_remote or shard.error or not shard.is_ready:
        return None
    try:
        is_same = is_current(shard, current_commit(member, local_place(member)))
    except CausalistError:
        return None
    is_whole = is_same and all(store.has_object(digest, kind) for kind, digest in shard.objects.items())
    return shard if is_whole else None


def _index_on_cluster(
    members: Sequence[Member], address: str, options: IndexingOptions, progress: Progress, task: Task
) -> Iterator[Shard]:
    with _cluster(options) as client:
        progress("indexing repositories", 0, len(members))
        n_done, suspects = 0, list[Member]()
        try:
            for member, record in _run_tasks(client, members, address, options, task):
                if record is None:
                    suspects.append(member)
                    continue
                n_done += 1
                progress("indexing repositories", n_done, len(members))
                yield Shard.from_record(record)
            # A worker that ends takes along what else was given to it, so that only one that is alone is to blame.
            for suspect in suspects:
                ((_, record),) = _run_tasks(client, [suspect], address, options, task)
                n_done += 1
                progress("indexing repositories", n_done, len(members))
                yield Shard.from_record(
                    record or note_failure(suspect, address, "it ended its worker: too much memory, or a crash")
                )
        except (OSError, TimeoutError) as error:
            raise _lost_scheduler_error(options, n_done, len(members)) from error


def _run_tasks(
    client: "Client", members: Sequence[Member], address: str, options: IndexingOptions, task: Task
) -> Iterator[tuple[Member, dict[str, Any] | None]]:
    """Yield members as they are done, with their records; None where workers ended.

    Raises OSError if the scheduler is lost.
    """
    from distributed import as_completed
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    keys = [f"index {uuid.uuid4().hex[:8]} {member.name}" for member in members]
    futures = client.map(task, members, address=address, options=options, pure=False, key=keys)
    member_of = {future.key: member for future, member in zip(futures, members, strict=True)}
    for future in as_completed(futures):
        try:
            yield member_of[future.key], future.result()
        except KilledWorker:
            yield member_of[future.key], None
        except FutureCancelledError as error:
            raise OSError("the scheduler cancelled its tasks") from error
        future.release()


def _lost_scheduler_error(options: IndexingOptions, n_done: int, n_all: int) -> FleetError:
    where = options.scheduler or "on this machine"
    return FleetError(
        f"the scheduler {where} was lost after {n_done} of {n_all} repositories; run the command again to go on"
    )


def index_in_time(member: Member, address: str, options: IndexingOptions) -> dict[str, Any]:
    """Return the record as `index_member` does, at most `options.seconds` later; then the worker ends.

    A thread cannot be stopped. The worker's nanny starts another process, and the scheduler gives it what was lost.
    """
    done: list[dict[str, Any]] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            done.append(index_member(member, address, options))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(options.seconds)
    if thread.is_alive():
        threading.Timer(_EXIT_SECONDS, os._exit, [1]).start()
        return note_failure(member, address, f"it took more than {options.seconds:g} s")
    if errors:
        return note_failure(member, address, f"{type(errors[0]).__name__}: {errors[0]}")
    return done[0]


def note_failure(member: Member, address: str, reason: str) -> dict[str, Any]:
    """Write that a member could not be indexed into its record and return that."""
    store = FleetStore(address)
    before = _shard_before(member, store)
    return _write(_with_failure(before, f"fleet: {reason}"), before, store)


@contextmanager
def _cluster(options: IndexingOptions) -> "Iterator[Client]":
    """Connect to a scheduler, or start one with workers on this machine. Raises FleetError and ExtraMissing."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ExtraMissing("a fleet needs more packages: pip install 'causalist[fleet]'") from error
    settings = {
        "distributed.scheduler.allowed-failures": _KILLED_WORKERS - 1,
        # A worker holds the task that it runs and no other, so that its end is the failure of that one alone.
        "distributed.scheduler.worker-saturation": 1.0,
        "distributed.logging": {"distributed": "error"},
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.target": False,
    }
    with dask.config.set(settings):
        if options.scheduler:
            try:
                with Client(options.scheduler, timeout=10) as client:
                    yield client
            except OSError as error:
                raise FleetError(f"no Dask scheduler answers at {options.scheduler}: {error}") from error
            return
        with (
            LocalCluster(
                n_workers=options.workers, threads_per_worker=1, processes=True, memory_limit=options.memory,
                dashboard_address=None, silence_logs=40,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            yield client


def local_place(member: Member, clones: Path | None = None) -> Path:
    """Return the local folder of a member's repository; an address is cloned as a mirror, or fetched again.

    Raises GitError and UsageError.
    """
    if not member.source:
        raise UsageError(f"{member.name} has no source in fleet.toml; `causalist fleet pull` brings its index")
    if not member.is_remote:
        path = Path(member.source)
        if not path.is_dir():
            raise UsageError(f"{member.source} is not a folder any more")
        return path
    named = hashlib.sha256(member.source.encode()).hexdigest()[:24]
    path = (clones or user_cache() / "fleet" / "mirrors") / f"{named}.git"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with hold_lock(path.with_suffix(".lock"), _GIT_SECONDS, f"another process is cloning {member.source}"):
        for attempt in range(_ATTEMPTS_OF_CLONES):
            try:
                _update_mirror(member.source, path)
                break
            except GitError:
                if attempt + 1 == _ATTEMPTS_OF_CLONES:
                    raise
                time.sleep(_PAUSE_SECONDS * 2**attempt)
    return path


def _update_mirror(address: str, place: Path) -> None:
    """Clone an address to `place`, or fetch what is new. A clone that was broken off leaves nothing at `place`."""
    if place.is_dir():
        _run_git("--git-dir", os.fspath(place), "fetch", "--quiet", "--prune", "origin")
        return
    import shutil

    aside = place.with_suffix(".new")  # the lock is ours
    shutil.rmtree(aside, ignore_errors=True)
    try:
        _run_git("clone", "--quiet", "--mirror", "--", address, os.fspath(aside))
        aside.rename(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _run_git(*arguments: str) -> None:
    """Run git with the user's settings and credentials, which never prompt. Raises GitError."""
    options = [
        "-c",
        f"core.hooksPath={os.devnull}",
        "-c",
        "protocol.ext.allow=never",
        "-c",
        "fetch.recurseSubmodules=no",
    ]
    environment = {k: v for k, v in os.environ.items() if k not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}
    try:
        done = subprocess.run(
            ["git", *options, *arguments], env=environment | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise GitError("git was not found on the search path; install it, or add its folder to PATH.") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {arguments[0]} did not end: {error}") from error
    if done.returncode:
        messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(f"git could not fetch: {messages[-1] if messages else f'exit code {done.returncode}'}")


def _shard_before(member: Member, store: FleetStore) -> Shard:
    """Return what the record of a member says; an empty shard without one, or with one that cannot be read."""
    with suppress(FleetError):
        record = store.read_record(member.name)
        if record is not None:
            return Shard.from_record(record)
    return Shard(member.name)


def _with_failure(before: Shard, reason: str) -> Shard:
    return replace(before, error=reason, attempts=before.attempts + 1)


def _write(after: Shard, before: Shard, store: FleetStore) -> dict[str, Any]:
    record = after.to_record()
    if after != before or not store.has_record(after.name):
        store.write_record(after.name, record)
    return record
