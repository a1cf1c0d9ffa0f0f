"""Repositories that a server keeps current: files are checked before each answer.

The indexing process is `index_job`; this module decides when to start it. `Repositories` holds the repositories of a
server by name.

Names, sizes and times decide most cases of freshness. Files for which they do not (written right before indexing, or
saved without a change) are read and compared by content if they are few, so that a changed time stamp alone causes no
refresh.
"""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from causalist.errors import CausalistError, IndexingStopped, UsageError
from causalist.pipeline.guarded_steps import AskInTime, Session
from causalist.servers.index_job import IndexJob, Stage, end_idle_worker
from causalist.servers.protocol_pipes import run_in_thread

if TYPE_CHECKING:
    from causalist.fleet.access import FleetView
    from causalist.model.answer import Answer
    from causalist.model.index import Index
    from causalist.model.source import FileEntry, Scan
    from causalist.pipeline.repository import Repository
    from causalist.settings import Settings
    from causalist.source import Limits


_MAX_FILES_READ = 32  # files; more are left to the indexing process
# ns between a change and a read after which any later change gets a different time stamp
_SETTLED_NS = 2_000_000_000

_Stamp = tuple[int, int, int]


class FreshnessReport(NamedTuple):
    """Result of a check. `changed` are paths of changed, new and deleted files, sorted.

    `is_moved`: another commit is checked out. `is_current` can be false without either if the index has another version
    or other options.
    """

    is_current: bool
    changed: tuple[str, ...] = ()
    is_moved: bool = False


class FreshnessChecker:
    """Checks of the files in the folder `root`, with results of earlier checks."""

    def __init__(self, root: Path) -> None:
        from causalist.source import IncrementalScan

        self._root = root
        self._rescan = IncrementalScan(root)
        self._same: dict[tuple[str, str], _Stamp] = {}  # by path and content hash: times that prove the content
        self._stored: dict[Path, tuple[int, ...]] = {}  # stamps of index files that are not current
        self._last: tuple[Index, Scan, FreshnessReport] | None = None

    def check(self, index: "Index") -> FreshnessReport:
        """Compare `index` with the files. Raises the errors of a folder scan, and SettingsError."""
        settings, limits = self._settings()
        return self._compare(index, settings, self._scan(index, settings, limits), limits)

    def current_stored_index(self) -> "Index | None":
        """Return the stored index if it is current; a file that was not current is not read again."""
        from causalist.errors import IndexUnreadable
        from causalist.index.freshness import matches_folder
        from causalist.index.open import index_folders
        from causalist.store import INDEX_NAME, read_index

        settings, limits = self._settings()
        for folder in index_folders(self._root):
            path = folder / INDEX_NAME
            try:
                status = path.stat()
                stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                if self._stored.get(path) == stamp:
                    continue
                index = read_index(path)
            except (OSError, IndexUnreadable):
                continue
            if index is not None:
                scan = self._scan(index, settings, limits)
                if matches_folder(index, scan) and self._compare(index, settings, scan, limits).is_current:
                    return index
                self._stored[path] = stamp
        return None

    def _settings(self) -> "tuple[Settings, Limits]":
        from causalist.pipeline.repository import Repository

        settings = Repository.settings_at(self._root, exact_root=True)
        return settings, settings.limits()

    def _scan(self, index: "Index", settings: "Settings", limits: "Limits") -> "Scan":
        from causalist.source import scan_folder

        if self._wants_submodules(index, settings):
            return scan_folder(self._root, limits, submodules=True)
        return self._rescan.scan(limits)

    def _wants_submodules(self, index: "Index", settings: "Settings") -> bool:
        from causalist.index.options import IndexOptions

        wanted = settings.index_options(IndexOptions()).submodules
        return index.submodules if wanted is None else wanted

    def _compare(self, index: "Index", settings: "Settings", scan: "Scan", limits: "Limits") -> FreshnessReport:
        from causalist.index.freshness import changed_files, has_same_left_out, index_version

        if self._last is not None and self._last[0] is index and self._last[1] is scan:
            look = self._last[2]
            if look.is_current or look.changed or look.is_moved:
                return look
        changed, unsettled = changed_files(index, scan)
        entries = {entry.path: entry for entry in scan.entries}
        blobs = dict(zip(index.manifest.paths, index.manifest.blobs, strict=True)) if changed or unsettled else {}
        doubtful = [path for path in changed if path in entries and path in blobs] + unsettled
        if len(doubtful) > _MAX_FILES_READ:
            same, sure = set[str](), True
        else:
            same, sure = self._find_same([entries[path] for path in doubtful], blobs, limits)
        changed = [path for path in changed if path not in same]
        look = FreshnessReport(
            is_current=not changed
            and same.issuperset(unsettled)
            and index.commit == scan.commit
            and index.version == index_version()
            and has_same_left_out(index, scan)
            and index.submodules == self._wants_submodules(index, settings),
            changed=tuple(changed),
            is_moved=index.commit != scan.commit,
        )
        # A recently written file may change again without a new time stamp.
        self._last = (index, scan, look) if sure or not look.is_current else None
        return look

    def _find_same(self, doubtful: "list[FileEntry]", blobs: dict[str, str], limits: "Limits") -> tuple[set[str], bool]:
        """Return paths with unchanged content, and True if their times prove this from now on."""
        import time

        from causalist.source import read_file

        same, sure = set[str](), True
        for entry in doubtful:
            key = (entry.path, blobs[entry.path])
            stamp = (entry.size, entry.mtime_ns, entry.ctime_ns)
            if self._same.get(key) == stamp:
                same.add(entry.path)
                continue
            now = time.time_ns()
            source = read_file(self._root, entry, limits)
            if isinstance(source, str) or source.blob != blobs[entry.path]:
                continue
            same.add(entry.path)
            if max(stamp[1:]) < now - _SETTLED_NS:
                self._same = {checked: value for checked, value in self._same.items() if checked[0] != entry.path}
                self._same[key] = stamp
            else:
                sure = False
        return same, sure


Report = Callable[[Stage], Awaitable[None]]

_log = logging.getLogger(__name__)

_POLL_SECONDS = 0.02
_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class LiveView:
    """State of a repository to answer from. `repository` is None without an index.

    `generation` counts the indexes that were used. `behind` says how the files differ from the index, `stage` is the
    progress of a newer index, and `failure` the error that prevented it.
    """

    repository: "Repository | None"
    generation: int = 0
    behind: FreshnessReport | None = None
    stage: Stage | None = None
    failure: CausalistError | None = None

    def to_answer_from(self) -> "Repository | None":
        """Return the repository; it is marked stale if the files differ."""
        if self.repository is None or self.behind is None:
            return self.repository
        return replace(self.repository, behind=True)


class LiveRepository:
    """Repository in the folder `root`, for use from one event loop.

    An answer reflects the files at a moment after the request, or lists the files that differ. It waits for the first
    index as long as the caller says, and for later ones at most `refresh_seconds`. `ask_in_time`
    answers its questions, as in `Session`.
    """

    def __init__(self, root: Path, refresh_seconds: float = math.inf, ask_in_time: AskInTime | None = None) -> None:
        self.root = root
        self._refresh_seconds = refresh_seconds
        self._repository: Repository | None = None
        self._generation = 0  # number of indexes used so far
        self._job: IndexJob | None = None
        self._deciding = asyncio.Lock()
        self._session = Session(ask_in_time=ask_in_time)
        self._freshness: FreshnessChecker | None = None
        self._looking = asyncio.Lock()
        self._next_look: asyncio.Future[LiveView] | None = None

    async def view(self, wait_seconds: float, report: Report) -> LiveView:
        """Return the current state, after waiting at most about `wait_seconds` for its index.

        Raises CausalistError if there is no index and none can be built.
        """
        asked_at = time.monotonic()
        while True:
            job = self._job
            if job is None:
                view = await self._look()
                if view.behind is None and view.repository is not None:
                    return view
                job = await self._start_job(view)
                if job is None:
                    continue  # a concurrent job has ended
            patience = wait_seconds if self._repository is None else min(wait_seconds, self._refresh_seconds)
            if not await _wait_for_job(job, asked_at + patience, report):
                view = LiveView(None) if self._repository is None else await self._look()
                if view.behind is None and view.repository is not None:
                    return view
                return replace(view, stage=job.stage)
            try:
                await self._take(job)
            except IndexingStopped as error:
                if self._repository is None:
                    raise
                return replace(await self._look(), failure=error)
            # A job that began earlier may have missed the latest change.
            if job.began >= asked_at:
                return LiveView(self._repository, self._generation)

    async def prepare(self) -> None:
        """Start indexing in advance; errors are reported to later requests."""
        with suppress(Exception):
            view = await self._look()
            if view.repository is None or view.behind is not None:
                await self._start_job(view)

    def stop(self) -> None:
        """Stop the running job and the idle process."""
        if self._job is not None:
            self._job.stop()
        end_idle_worker(self.root)

    async def _start_job(self, view: LiveView) -> IndexJob | None:
        """Return the running job or a new one; None if a newer index has arrived, which may be current."""
        async with self._deciding:
            if self._job is None and view.generation == self._generation:
                self._job = IndexJob(self.root)
            return self._job

    async def _look(self) -> LiveView:
        """Return the index with a freshness check that starts after this call.

        Requests during another check share the next one.
        """
        if self._next_look is None:
            self._next_look = asyncio.ensure_future(self._check_now())
            self._next_look.add_done_callback(lambda look: look.cancelled() or look.exception())
        return await asyncio.shield(self._next_look)

    async def _check_now(self) -> LiveView:
        async with self._looking:
            self._next_look = None  # later requests need a later check
            while True:
                generation, repository = self._generation, self._repository
                index, look = await run_in_thread(partial(self._compare_index, repository))
                if index is None or (repository is not None and index is repository.index):
                    return LiveView(repository, generation, None if look.is_current else look)
                async with self._deciding:
                    # If a job has provided another index, it is unknown which one is newer.
                    if generation == self._generation:
                        await self._serve(index)
                        return LiveView(self._repository, self._generation)

    def _compare_index(self, repository: "Repository | None") -> "tuple[Index | None, FreshnessReport]":
        """Return the index and its freshness; the stored index if only that one is current."""
        if self._freshness is None:
            self._freshness = FreshnessChecker(self.root)
        look = FreshnessReport(False) if repository is None else self._freshness.check(repository.index)
        if not look.is_current and self._job is None:
            stored = self._freshness.current_stored_index()
            if stored is not None:
                return stored, FreshnessReport(True)
        return None if repository is None else repository.index, look

    async def _take(self, job: IndexJob) -> None:
        """Use the index of an ended job. All requests that waited for the job get the same error."""
        async with self._deciding:
            if self._job is job:
                self._job = None
                try:
                    index, notes = await run_in_thread(job.load)
                except CausalistError as error:
                    job.failure = error
                    raise
                for note in notes:  # log once instead of noting in every answer
                    _log.warning("%s: %s", note.slug, note.detail)
                await self._serve(index)
            elif job.failure is not None:
                raise job.failure

    async def _serve(self, index: "Index") -> None:
        from causalist.pipeline.repository import Repository

        self._repository = await run_in_thread(partial(Repository.from_index, self.root, index, session=self._session))
        self._generation += 1


async def _wait_for_job(job: IndexJob, deadline: float, report: Report) -> bool:
    """Wait for a job and report its progress. Return False if the deadline comes first."""
    reported_at = 0.0
    while not job.ended.is_set():
        now = time.monotonic()
        if now >= deadline:
            return False
        if now - reported_at >= _REPORT_SECONDS:
            reported_at = now
            await report(job.stage)
        await asyncio.sleep(_POLL_SECONDS)
    return True


MAX_REPOSITORIES = 32


class Repositories:
    """Repositories by a short unique name: the folder's name, with `~2` for the second."""

    def __init__(self, roots: Sequence[Path], refresh_seconds: float, ask_in_time: AskInTime | None = None) -> None:
        self._make = partial(LiveRepository, refresh_seconds=refresh_seconds, ask_in_time=ask_in_time)
        self._live: dict[Path, LiveRepository] = {}
        self.by_name: Mapping[str, LiveRepository] = {}
        self.serve_only(roots)

    def serve_only(self, roots: Iterable[Path]) -> bool:
        """Serve just these folders from now on and return True if this is a change.

        The state of folders that stay is kept.
        """
        wanted = list(dict.fromkeys(roots))[:MAX_REPOSITORIES]
        if wanted == list(self._live):
            return False
        for root in [root for root in self._live if root not in wanted]:
            self._live.pop(root).stop()
        self._live = {root: self._live.get(root) or self._make(root) for root in wanted}
        named: dict[str, LiveRepository] = {}
        for root, live in self._live.items():
            name, number = root.name or str(root), 1
            while name in named:
                number += 1
                name = f"{root.name}~{number}"
            named[name] = live
        self.by_name = named
        return True

    def get(self, name: str | None) -> tuple[str, LiveRepository]:
        """Return (name, repository), the first without a name. Raises UsageError with the valid names."""
        if not self.by_name:
            raise UsageError(
                "no repository is open. Start the server in a repository, use --repo, or open a folder in the client."
            )
        if name is None:
            name = next(iter(self.by_name))
        if name not in self.by_name:
            raise UsageError(f"unknown repository {name[:80]!r}. Choose one of {', '.join(self.by_name)}.")
        return name, self.by_name[name]

    async def prepare(self) -> None:
        """Start indexing the first repository; the others are indexed on request."""
        for live in list(self.by_name.values())[:1]:
            await live.prepare()

    def stop(self) -> None:
        """Stop all repositories."""
        for live in self._live.values():
            live.stop()


ALL_REPOSITORIES = "*"  # instead of the name of a repository: the whole fleet


class ShardRepository(LiveRepository):
    """A repository of a fleet, as one caller sees that. Its index stays as it is, and it has no folder."""

    def __init__(self, name: str, fleet: "FleetView") -> None:
        super().__init__(Path(name))
        self.name = name
        self.fleet = fleet

    async def view(self, wait_seconds: float, report: Report) -> LiveView:
        """Return the index. Raises FleetError if it cannot be read."""
        return LiveView(await run_in_thread(partial(self.fleet.repository, self.name)), 1)


def repository_of_fleet(fleet: "FleetView", name: str | None) -> ShardRepository:
    """Return a repository of those that are indexed and that the caller sees, the first without a name.

    Raises UsageError, with the same words for a repository that does not exist and one that is hidden.
    """
    names = list(fleet.catalog.names)
    if not names:
        raise UsageError("no repository of the fleet is indexed and open to this token")
    if name is not None and name not in names:
        few = ", ".join(names[:MAX_REPOSITORIES]) + (", …" if len(names) > MAX_REPOSITORIES else "")
        raise UsageError(f"unknown repository {name[:80]!r}. Choose one of {few}.")
    return ShardRepository(names[0] if name is None else name, fleet)


def ask_all(
    fleet: "FleetView", question: str, given: dict[str, object], seconds: float
) -> tuple["Answer", dict[str, dict[str, object]], list[str]]:
    """Return (the answer of all repositories that a caller sees, documents of its nodes by id, who was asked)."""
    from causalist.fleet.joined import split_joined
    from causalist.fleet.question import ask_fleet
    from causalist.serialize.answers import read_options
    from causalist.serialize.lookup_documents import node_document
    from causalist.settings import Settings

    found = ask_fleet(fleet, question, read_options(Settings().ask_options(), given), deadline=seconds)
    shown = {hit.id: node_document(hit) for hit in found.answer.results}
    passed = (hop.node for hit in found.answer.results for hop in hit.path_from_seed)
    for node in dict.fromkeys((*found.answer.order, *passed)):
        if node not in shown:
            repository, inner = split_joined(node)
            shown[node] = name_repository(node_document(fleet.repository(repository).show(inner).hit), repository)
    return found.answer, shown, [each.name for each in found.repositories]


def name_repository(document: Any, repository: str) -> Any:
    """Return a document of a repository with ids and paths that begin with its name.

    >>> name_repository({"node": "a.py::f", "path": "a.py", "edges": [{"source": "b.py", "n": 1}]}, "shop")
    {'node': 'shop:a.py::f', 'path': 'shop:a.py', 'edges': [{'source': 'shop:b.py', 'n': 1}]}
    """
    from causalist.fleet.joined import joined_id

    if isinstance(document, list):
        return [name_repository(each, repository) for each in document]
    if not isinstance(document, dict):
        return document
    named = {key: name_repository(value, repository) for key, value in document.items()}
    for key in ("node", "source", "target"):
        if isinstance(named.get(key), str):
            named[key] = joined_id(repository, named[key])
    if isinstance(named.get("path"), str):
        named["path"] = f"{repository}:{named['path']}"
    return named


def repository_roots(uris: Iterable[str]) -> list[Path]:
    """Return the repositories around the folders of a client's roots; invalid roots are skipped.

    >>> repository_roots(["https://example.org/", "file:///nowhere/at/all", "nonsense"])
    []
    """
    from causalist.source import find_root, refuse_root

    roots = []
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            continue
        with suppress(CausalistError, OSError, ValueError):
            root = find_root(Path(url2pathname(parts.path)))
            refuse_root(root)
            roots.append(root)
    return roots
