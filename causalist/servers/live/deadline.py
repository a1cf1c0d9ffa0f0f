"""Open a repository within a deadline: refreshed if time allows, else with its stored index.

In: a folder and a deadline. A thread checks the stored index, and a separate process (`index_job`) refreshes it,
because neither can be interrupted.
"""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from causalist.errors import CausalistError, DeadlinePassed, IndexUnreadable
from causalist.index.options import IndexOptions, Progress
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.pipeline.steps import Deadline
from causalist.servers.live.index_job import IndexJob, end_idle_worker

if TYPE_CHECKING:
    from causalist.model.index import Index
    from causalist.pipeline.repository import Repository

# Seconds reserved for the answer; at most this share of the deadline.
_FOR_THE_ANSWER = 0.5
_SHARE = 0.5
# Minimum seconds for reading the stored index, even after the deadline.
_FOR_READING = 0.3
_POLL_SECONDS = 0.02


def open_in_time(path: Path, deadline: Deadline, *, exact_root: bool, force: bool, progress: Progress) -> "Repository":
    """Open a repository like `Repository.open`, with the best index available in time.

    Raises as `Repository.open` does, and DeadlinePassed if no index is available.
    """
    from causalist.pipeline.repository import Repository

    kept = min(_FOR_THE_ANSWER, _SHARE * deadline.seconds)
    root, folder, settings = Repository.locate(path, exact_root=exact_root, force=force)
    look = _BackgroundCheck(root, settings.index_options(IndexOptions()))
    look.ended.wait(max(0.0, deadline.left - kept))
    look.was_read.wait(max(_FOR_READING, deadline.left))
    if look.error is not None:
        raise look.error
    if look.current is not None:
        return Repository.from_index(root, look.current, (), folder, settings)
    if look.ended.is_set() and deadline.left > kept:
        job = IndexJob(root)
        while not job.ended.wait(_POLL_SECONDS) and deadline.left > kept:
            progress(job.stage.what, job.stage.parsed, job.stage.total)
        if job.ended.is_set():
            end_idle_worker(root)  # this command needs no further job
            index, notes = job.load()
            return Repository.from_index(root, index, notes, folder, settings)
        threading.Thread(
            target=job.stop, daemon=True
        ).start()  # stopping may take long; the daemon thread ends with the process
    if look.last is None:
        raise DeadlinePassed(
            f"{root} has no index that could be made or read within {deadline.seconds:g} s; run `causalist index` "
            "once, or give more time"
        )
    note = Diagnostic(
        DiagnosticSlug.DEADLINE,
        f"answered from an index that may be older than the files: {deadline.seconds:g} s are too short to bring it up "
        "to date; `causalist index` does",
        -1,
    )
    return Repository.from_index(root, look.last, (note,), folder, settings, behind=True)


class _BackgroundCheck:
    """Check of the stored index in a thread.

    `last` is the stored index, set when `was_read`. `current` is the same index if it is current, set when `ended`.
    """

    def __init__(self, root: Path, options: IndexOptions) -> None:
        self.last: Index | None = None
        self.current: Index | None = None
        self.error: CausalistError | None = None
        self.was_read = threading.Event()
        self.ended = threading.Event()
        self._root = root
        self._options = options
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:

        from causalist.index.open import stored_index_if_current

        try:
            self.last = _last_index(self._root)
            self.was_read.set()
            if self.last is not None:
                self.current = stored_index_if_current(self._root, self._options, self.last, stored=False)
        except CausalistError as error:
            self.error = error
        finally:
            self.was_read.set()
            self.ended.set()


def _last_index(root: Path) -> "Index | None":
    """Return the newest stored index of this version, current or not."""
    from causalist.index.freshness import index_version
    from causalist.index.open import index_folders
    from causalist.store import INDEX_NAME, read_index

    found: list[Index] = []
    for place in index_folders(root):
        try:
            index = read_index(place / INDEX_NAME)
        except IndexUnreadable:
            continue  # the indexing process reports and rebuilds it
        if index is not None and index.version == index_version():
            found.append(index)
    return max(found, key=lambda index: index.scanned_at, default=None)
