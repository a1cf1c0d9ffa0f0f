"""A repository that is up to date whenever it is asked for, or says how far it is.

The index is looked after by a process of its own (`job`); here is decided when that is needed. A look at the files
(names, sizes, times) comes before every answer, so that nobody has to watch them.

The repositories that a server answers from: those it was started with, or those that its client has open.
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
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from causalist.errors import CausalistError, IndexingStopped, UsageError
from causalist.pipeline.answer_cache import Session
from causalist.servers.live.freshness import Look, Looks
from causalist.servers.live.index_job import IndexJob, Stage, end_idle
from causalist.servers.threads import in_thread

if TYPE_CHECKING:
    from causalist.model.index import Index
    from causalist.pipeline.repository import Repository

Report = Callable[[Stage], Awaitable[None]]

_log = logging.getLogger(__name__)

_POLL_SECONDS = 0.02
_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class View:
    """What there is to answer from. `repository` is None while there is no index at all. `generation` counts the
    indexes that were answered from. `behind`: the files are not as this index has them, and how they differ; `stage`
    says how far the indexing is that brings a newer one, `failure` why there is none."""

    repository: "Repository | None"
    generation: int = 0
    behind: Look | None = None
    stage: Stage | None = None
    failure: CausalistError | None = None

    def to_answer_from(self) -> "Repository | None":
        """The repository, whose answers say that they are older than the files where they are."""
        if self.repository is None or self.behind is None:
            return self.repository
        return replace(self.repository, behind=True)


class LiveRepository:
    """The repository in the folder `root`. To be used from one event loop.

    An answer is of the files as they were at a moment after it was asked for, or says which of them are not in it. It
    waits for the first index as long as its caller says, and for one that follows for no more than `refresh_seconds`.
    """

    def __init__(self, root: Path, refresh_seconds: float = math.inf) -> None:
        self.root = root
        self._refresh_seconds = refresh_seconds
        self._repository: Repository | None = None
        self._generation = 0  # of it; rises with every index that is taken
        self._job: IndexJob | None = None
        self._deciding = asyncio.Lock()
        self._session = Session()
        self._looks: Looks | None = None
        self._looking = asyncio.Lock()
        self._next_look: asyncio.Future[View] | None = None

    async def view(self, wait_seconds: float, report: Report) -> View:
        """The current state, after waiting at most about `wait_seconds` for an index of it. Raises CausalistError
        where there is nothing to answer from and never will be as things are."""
        asked_at = time.monotonic()
        while True:
            job = self._job
            if job is None:
                view = await self._look()
                if view.behind is None and view.repository is not None:
                    return view
                job = await self._started(view)
                if job is None:
                    continue  # another's job has ended meanwhile
            patience = wait_seconds if self._repository is None else min(wait_seconds, self._refresh_seconds)
            if not await _ended(job, asked_at + patience, report):
                view = View(None) if self._repository is None else await self._look()
                if view.behind is None and view.repository is not None:
                    return view
                return replace(view, stage=job.stage)
            try:
                await self._take(job)
            except IndexingStopped as error:
                if self._repository is None:
                    raise
                return replace(await self._look(), failure=error)
            # One that was under way before may have missed the latest change.
            if job.began >= asked_at:
                return View(self._repository, self._generation)

    async def prepare(self) -> None:
        """Begins to index before anyone asks; what goes wrong is told to whoever asks."""
        with suppress(Exception):
            view = await self._look()
            if view.repository is None or view.behind is not None:
                await self._started(view)

    def stop(self) -> None:
        if self._job is not None:
            self._job.stop()
        end_idle(self.root)

    async def _started(self, view: View) -> IndexJob | None:
        """A job to bring more than this view has: the one that is under way, or a new one. None where there is a newer
        index by now, which may be current."""
        async with self._deciding:
            if self._job is None and view.generation == self._generation:
                self._job = IndexJob(self.root)
            return self._job

    async def _look(self) -> View:
        """The index at hand, and what is not in it, by a look at the files that begins after this call. Those who ask
        while another look is under way share the next one."""
        if self._next_look is None:
            self._next_look = asyncio.ensure_future(self._looked())
            self._next_look.add_done_callback(lambda look: look.cancelled() or look.exception())
        return await asyncio.shield(self._next_look)

    async def _looked(self) -> View:
        async with self._looking:
            self._next_look = None  # whoever asks from now on needs a later one
            while True:
                generation, repository = self._generation, self._repository
                index, look = await in_thread(partial(self._compared, repository))
                if index is None or (repository is not None and index is repository.index):
                    return View(repository, generation, None if look.is_current else look)
                async with self._deciding:
                    # Where a job has brought another one meanwhile, nobody knows which of the two is newer.
                    if generation == self._generation:
                        await self._serve(index)
                        return View(self._repository, self._generation)

    def _compared(self, repository: "Repository | None") -> "tuple[Index | None, Look]":
        """The index at hand, or else the stored one where only that is current, and how it stands."""
        if self._looks is None:
            self._looks = Looks(self.root)
        look = Look(False) if repository is None else self._looks.at(repository.index)
        if not look.is_current and self._job is None:
            stored = self._looks.stored()
            if stored is not None:
                return stored, Look(True)
        return None if repository is None else repository.index, look

    async def _take(self, job: IndexJob) -> None:
        """Answers from what an ended job made, from now on. Others who waited for it are told of the same failure."""
        async with self._deciding:
            if self._job is job:
                self._job = None
                try:
                    index, notes = await in_thread(job.load)
                except CausalistError as error:
                    job.failure = error
                    raise
                for note in notes:  # once, and not in every answer
                    _log.warning("%s: %s", note.slug, note.detail)
                await self._serve(index)
            elif job.failure is not None:
                raise job.failure

    async def _serve(self, index: "Index") -> None:
        from causalist.pipeline.repository import Repository

        self._repository = await in_thread(partial(Repository.over, self.root, index, session=self._session))
        self._generation += 1


async def _ended(job: IndexJob, deadline: float, report: Report) -> bool:
    """Waits for a job and reports how far it is; False if the deadline comes first."""
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


_MOST_REPOSITORIES = 32


class Repositories:
    """Repositories by a name that is short and unlike the others: the folder's, with `~2` behind the second."""

    def __init__(self, roots: Sequence[Path], refresh_seconds: float) -> None:
        self._refresh_seconds = refresh_seconds
        self._live: dict[Path, LiveRepository] = {}
        self.by_name: Mapping[str, LiveRepository] = {}
        self.serve_only(roots)

    def serve_only(self, roots: Iterable[Path]) -> bool:
        """Serves just these folders from now on; whether that is a change. What is known of one that stays is kept."""
        wanted = list(dict.fromkeys(roots))[:_MOST_REPOSITORIES]
        if wanted == list(self._live):
            return False
        for root in [root for root in self._live if root not in wanted]:
            self._live.pop(root).stop()
        self._live = {root: self._live.get(root) or LiveRepository(root, self._refresh_seconds) for root in wanted}
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
        """(name, repository); without a name the first. Raises UsageError with the names that there are."""
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
        """Begins to index the first, before anyone asks; the others have their turn when they are asked for."""
        for live in list(self.by_name.values())[:1]:
            await live.prepare()

    def stop(self) -> None:
        for live in self._live.values():
            live.stop()


def folders_of(uris: Iterable[str]) -> list[Path]:
    """The repositories around the folders that a client's roots name; those that cannot be served are left out.

    >>> folders_of(["https://example.org/", "file:///nowhere/at/all", "nonsense"])
    []
    """
    from causalist.source import find_root, refuse_root

    found = []
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            continue
        with suppress(CausalistError, OSError, ValueError):
            root = find_root(Path(url2pathname(parts.path)))
            refuse_root(root)
            found.append(root)
    return found
