"""A repository that is up to date whenever it is asked for, or says how far it is.

The index is looked after by a process of its own (`job`); here is decided when that is needed. A look at the files
(names, sizes, times) comes before every answer, so that nobody has to watch them.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causalist.errors import CausalistError, IndexingStopped
from causalist.servers.job import IndexJob, Stage
from causalist.servers.threads import in_thread
from causalist.session import Session

if TYPE_CHECKING:
    from causalist.pipeline import Repository

Report = Callable[[Stage], Awaitable[None]]

_log = logging.getLogger(__name__)

_POLL_SECONDS = 0.05
_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class View:
    """What there is to answer from. `repository` is None while there is no index at all; `stage` says how far the
    indexing is that would bring a newer one; `failure` says why there is no newer one."""

    repository: "Repository | None"
    stage: Stage | None = None
    failure: CausalistError | None = None


class LiveRepository:
    """The repository in the folder `root`. To be used from one event loop."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._repository: Repository | None = None
        self._job: IndexJob | None = None
        self._deciding = asyncio.Lock()
        self._session = Session()
        self._looking = asyncio.Lock()
        self._next_look: asyncio.Future[tuple[bool, int]] | None = None
        self._generation = 0  # rises with every index that is taken

    async def view(self, wait_seconds: float, report: Report) -> View:
        """The current state, after waiting at most about `wait_seconds` for an index of it. Raises CausalistError
        where there is nothing to answer from and never will be as things are."""
        deadline = time.monotonic() + wait_seconds
        while True:
            job, is_new = await self._needed_job()
            if job is None:
                return View(self._repository)
            if not await _ended(job, deadline, report):
                return View(self._repository, stage=job.stage)
            try:
                await self._take(job)
            except IndexingStopped as error:
                if self._repository is None:
                    raise
                return View(self._repository, failure=error)
            # A job that was under way before may have missed the latest change.
            if is_new:
                return View(self._repository)

    async def prepare(self) -> None:
        """Begins to index before anyone asks; what goes wrong is told to whoever asks."""
        with suppress(Exception):
            await self._needed_job()

    def stop(self) -> None:
        if self._job is not None:
            self._job.stop()

    async def _needed_job(self) -> tuple[IndexJob | None, bool]:
        """The job to wait for, and whether it was started just now; None where the index is current."""
        while True:
            if self._job is not None:
                return self._job, False
            is_current, generation = await self._look()
            if is_current:
                return None, False
            async with self._deciding:
                if self._job is not None:
                    return self._job, False
                # Where another's job has ended meanwhile, its index may be current.
                if generation == self._generation:
                    self._job = IndexJob(self.root)
                    return self._job, True

    async def _look(self) -> tuple[bool, int]:
        """Whether the index at hand is current, and its generation, by a look at the files that begins after this call.
        Those who ask while another look is under way share the next one."""
        if self._next_look is None:
            self._next_look = asyncio.ensure_future(self._looked())
            self._next_look.add_done_callback(lambda look: look.cancelled() or look.exception())
        return await asyncio.shield(self._next_look)

    async def _looked(self) -> tuple[bool, int]:
        async with self._looking:
            self._next_look = None  # whoever asks from now on needs a later one
            generation = self._generation
            return await in_thread(self._is_current), generation

    async def _take(self, job: IndexJob) -> None:
        """Answers from what an ended job made, from now on. Others may have waited for the same one."""
        from causalist.pipeline import Repository

        async with self._deciding:
            if self._job is job:
                self._job = None
                self._generation += 1
                index, notes = await in_thread(job.load)
                for note in notes:  # once, and not in every answer
                    _log.warning("%s: %s", note.slug, note.detail)
                self._repository = Repository.over(self.root, index, session=self._session)

    def _is_current(self) -> bool:
        """Whether the index at hand, or else the stored one, is of the files as they are."""
        from causalist.collect import IndexOptions
        from causalist.indexing import current_index
        from causalist.pipeline import Repository

        settings = Repository.settings_at(self.root, exact_root=True)
        options = settings.index_options(IndexOptions())
        at_hand = self._repository.index if self._repository is not None else None
        index = current_index(self.root, options, at_hand)
        if index is None:
            return False
        if index is not at_hand:
            self._repository = Repository.over(self.root, index, session=self._session)
        return True


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
