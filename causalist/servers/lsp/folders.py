"""Folders of an editor, each with its open, unsaved documents.

A `WorkspaceFolder` answers from the saved files by `LiveRepository`, and from an overlay index while documents differ
from them. Separate processes build both. `peek` never waits. Without an index, `part` parses what a request needs.
"""

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pygls import uris

from causalist.errors import CausalistError
from causalist.pipeline.guarded_steps import Session
from causalist.servers.deadline_process import ANSWER_SECONDS, ask_in_child
from causalist.servers.index_job import IndexJob, Stage, write_buffers
from causalist.servers.live_repository import LiveRepository, LiveView, Report
from causalist.servers.protocol_pipes import run_in_thread

if TYPE_CHECKING:
    from causalist.model.index import Index
    from causalist.pipeline.repository import Repository

_log = logging.getLogger(__name__)

# seconds between checks of the files if the client reports no changes
_LOOK_SECONDS = 5.0
_POLL_SECONDS = 0.03
LONG_SECONDS = 86_400.0

# (id of the index of the saved files, blob hashes by path)
_Key = tuple[int, tuple[tuple[str, str], ...]]


class PartSubject(NamedTuple):
    """The text of a question, or the name of a definition, that a part of a repository is for."""

    text: str
    is_name: bool = False


class WorkspaceFolder:
    """Repository in the folder `root`. `unsaved` returns the open documents by path, in bytes."""

    def __init__(self, root: Path, unsaved: Callable[[], Mapping[str, bytes]], answer_seconds: float) -> None:
        self.root = root
        self._unsaved = unsaved
        self._live = LiveRepository(root, ask_in_time=partial(ask_in_child, answer_seconds))
        self._saved: Repository | None = None
        self._looked_at = -LONG_SECONDS
        self._over: tuple[_Key, Repository] | None = None
        self._failed: _Key | None = None
        self._overlaying: asyncio.Task[None] | None = None
        self._job: IndexJob | None = None
        self._lenses: tuple[Repository | None, dict[tuple[str, str], tuple[str, bool]]] = (None, {})
        self._part: tuple[PartSubject, float, Repository | None] | None = None  # the last one, and when it was begun
        self._parting: asyncio.Task[None] | None = None

    def peek(self) -> "Repository | None":
        """Return the best repository that is available now, or None."""
        return self._over[1] if self._over is not None else self._saved

    def lens_titles(self) -> dict[tuple[str, str], tuple[str, bool]]:
        """Return the store of resolved lenses by (kind, node); it is empty after each change of the index."""
        repository = self.peek()
        if self._lenses[0] is not repository:
            self._lenses = repository, {}
        return self._lenses[1]

    @property
    def is_due(self) -> bool:
        """True if the files were not checked for a while or are known to have changed."""
        return time.monotonic() - self._looked_at > _LOOK_SECONDS

    @property
    def is_behind(self) -> bool:
        """True if the last changes of open documents are still being indexed."""
        return self._overlaying is not None

    def touch(self) -> None:
        """Record that files have changed."""
        self._looked_at = -LONG_SECONDS
        self._part = None

    async def view(self, wait_seconds: float, report: Report) -> LiveView:
        """Return the repository as the editor shows it, after waiting at most about `wait_seconds`.

        Raises CausalistError if there is no index and none can be built.
        """
        deadline = time.monotonic() + wait_seconds
        view = LiveView(self._saved)
        if self._saved is None or self.is_due:
            looked_at = time.monotonic()
            view = await self._live.view(wait_seconds, report)
            self._saved = view.repository
            if view.stage is None:
                self._looked_at = looked_at
        if self._saved is None:
            return view
        self._part = None
        over = await self._overlaid(self._saved, deadline)
        return replace(view, repository=over)

    async def part(self, subject: PartSubject) -> "Repository | None":
        """Return the saved files as far as a subject needs them; None if it needs the whole, or there is an index.

        One part is made at a time: an editor asks with each letter of a name, and cancels what it asked before. Raises
        CausalistError.
        """
        while self._parting is not None and not self._parting.done():
            await asyncio.wait({self._parting})
        if self._saved is not None:
            return None
        kept = self._part
        if kept is None or kept[0] != subject or time.monotonic() - kept[1] > _LOOK_SECONDS:
            self._parting = asyncio.create_task(self._open_part(subject))
            await asyncio.wait({self._parting})
            self._parting.result()
            kept = self._part
        return kept[2] if kept is not None and kept[0] == subject else None

    async def _open_part(self, subject: PartSubject) -> None:
        from causalist.index.options import IndexOptions
        from causalist.pipeline.repository import Repository

        began = time.monotonic()
        opens = Repository.open_part_with if subject.is_name else Repository.open_part
        # The other processors are at work for the index.
        options = IndexOptions(processes=1)
        made = await run_in_thread(lambda: opens(self.root, subject.text, exact_root=True, force=True, options=options))
        self._part = subject, began, made

    def has_unsaved(self, repository: "Repository") -> bool:
        """Return True if an open document differs from a file in the index."""
        return bool(_changed_documents(repository.index, self._unsaved()))

    def stop(self) -> None:
        """Stop all work for the folder."""
        self._live.stop()
        for task in (self._overlaying, self._parting):
            if task is not None:
                task.cancel()
        if self._job is not None:
            self._job.stop()

    async def _overlaid(self, saved: "Repository", deadline: float) -> "Repository":
        """Return `saved` with open documents in place of files, or the last such state at the deadline."""
        while True:
            contents = _changed_documents(saved.index, self._unsaved())
            if not contents:
                self._over = None
                return saved
            key: _Key = (id(saved.index), tuple((path, blob) for path, (blob, _) in contents.items()))
            if self._over is not None and self._over[0] == key:
                return self._over[1]
            if self._failed == key:
                return saved
            if self._overlaying is None:
                data = {path: each for path, (_, each) in contents.items()}
                self._overlaying = asyncio.create_task(self._overlay(saved, key, data))
            task = self._overlaying
            await asyncio.wait({task}, timeout=max(0.0, deadline - time.monotonic()))
            if not task.done():
                return self._over[1] if self._over is not None else saved
            if self._overlaying is task:
                self._overlaying = None
                task.result()  # raise an unexpected error in this request

    async def _overlay(self, saved: "Repository", key: _Key, contents: Mapping[str, bytes]) -> None:
        from causalist.index.build import overlay_reader
        from causalist.pipeline.repository import Repository

        buffers = await run_in_thread(lambda: write_buffers(contents))
        try:
            self._job = job = IndexJob(self.root, buffers)
            while not job.ended.is_set():
                await asyncio.sleep(_POLL_SECONDS)
            index, _ = await run_in_thread(job.load)
            session = saved.session and Session(ask_in_time=saved.session.ask_in_time)
            over = Repository.from_index(self.root, index, session=session)
            reader = overlay_reader(self.root, contents, saved.settings.limits())
            self._over = key, replace(over, read=reader)
        except (CausalistError, OSError) as error:
            _log.warning("unsaved changes are ignored: %s", error)
            self._failed = key
        finally:
            self._job = None
            shutil.rmtree(buffers, ignore_errors=True)


class WorkspaceFolders:
    """All folders of an editor by URI."""

    def __init__(self, documents: Callable[[], Mapping[str, bytes]], answer_seconds: float = ANSWER_SECONDS) -> None:
        self._documents = documents
        self._answer_seconds = answer_seconds
        self._by_path: dict[str, WorkspaceFolder] = {}
        self._named: dict[str, str] = {}  # path of a folder by URI

    def __iter__(self) -> Iterator[WorkspaceFolder]:
        return iter(self._by_path.values())

    def add(self, uri: str) -> None:
        """Add the repository around a folder of the client. Raises CausalistError if it is refused."""
        from causalist.source import find_root, refuse_root

        path = _path_of(uri)
        if path is None:
            return
        root = find_root(Path(path))
        refuse_root(root)
        self._named[uri] = os.fspath(root)
        if os.fspath(root) not in self._by_path:
            self._by_path[os.fspath(root)] = WorkspaceFolder(root, lambda: self._below(root), self._answer_seconds)

    def remove(self, uri: str) -> None:
        """Remove a folder of the client."""
        path = self._named.pop(uri, None)
        if path is not None and path not in self._named.values():
            self._by_path.pop(path).stop()

    def place(self, uri: str) -> tuple[WorkspaceFolder, str] | None:
        """Return the innermost folder of a document and the document's path in it, or None."""
        path = _path_of(uri)
        if not path:
            return None
        for spelled in (path, os.path.realpath(path)):
            roots = [root for root in self._by_path if spelled.startswith(root.rstrip(os.sep) + os.sep)]
            if roots:
                root = max(roots, key=len)
                relative = spelled[len(root.rstrip(os.sep)) + 1 :]
                return self._by_path[root], relative.replace(os.sep, "/")
        return None

    def stop(self) -> None:
        """Stop all folders."""
        for folder in self:
            folder.stop()

    def _below(self, root: Path) -> dict[str, bytes]:
        documents = {}
        for uri, data in self._documents().items():
            place = self.place(uri)
            if place is not None and place[0].root == root:
                documents[place[1]] = data
        return documents


def _path_of(uri: str) -> str | None:
    """Return the path of a URI, or None if no file can have it: it holds a lone surrogate or a NUL."""
    path = uris.to_fs_path(uri)
    try:
        return None if path is None or b"\0" in os.fsencode(path) else path
    except UnicodeEncodeError:
        return None


def file_uri(folder: WorkspaceFolder, path: str) -> str:
    """Return the URI of a file below a folder."""
    return uris.from_fs_path(os.path.join(folder.root, *path.split("/"))) or ""  # noqa: PTH118


async def ignore_progress(stage: Stage) -> None:
    """Discard a progress report."""


def _changed_documents(index: "Index", documents: Mapping[str, bytes]) -> dict[str, tuple[str, bytes]]:
    """Return (git blob hash, content) by path of documents that differ from the index, sorted."""
    from causalist.source import blob_hash

    manifest = index.manifest
    changed = {}
    for path, data in sorted(documents.items()):
        position = manifest.paths.position(path)
        blob = blob_hash(data)
        if position >= 0 and manifest.blobs[position] not in ("", blob):
            changed[path] = blob, data
    return changed
