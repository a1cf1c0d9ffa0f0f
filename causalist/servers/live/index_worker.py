"""Indexing process of a server: `main([root])`.

In, on standard input: one JSON object per line and job, `{"buffers": FOLDER}` with a folder of `write_buffers`, whose
contents replace files, or null. Out, on standard output: JSON objects of progress, then one with the path of the index
or the error. An index that cannot be stored goes to a temporary folder, which the server removes. The process and its
workers end when standard input closes, which tells it that the server is gone.
"""

import json
import os
import queue
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from causalist.index.options import RefreshCache

if TYPE_CHECKING:
    from causalist.model.index import Index

# Answers have priority over indexing.
_NICENESS = 5
_PATHS = "paths.json"
_REPORT_SECONDS = 0.1
_GRACE_SECONDS = 1.0


def main(arguments: Sequence[str]) -> None:
    """Run jobs until standard input closes."""
    (root,) = arguments
    out = os.dup(1)
    os.dup2(2, 1)
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICENESS)
    told: list[int] = []
    signal.signal(signal.SIGTERM, partial(_handle_sigterm, os.getpid(), told))
    jobs: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
    refresh_cache = RefreshCache()
    threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    while True:
        try:
            outcome = _run_job(Path(root), out, jobs.get(), refresh_cache)
        except Exception:
            if not told:
                raise
        if told:  # importing a C module may replace the exception by another one
            sys.exit(0)
        _send(out, outcome)


def _handle_sigterm(own: int, told: list[int], number: int, *_: object) -> None:
    """End this process by an exception, so that temporary files are removed, and record this in `told`.

    A forked worker inherits the handler. It exits directly, because it would treat the exception as a failure of one
    piece of work and continue with the next.
    """
    if os.getpid() != own:
        os._exit(0)
    told.append(number)
    threading.excepthook = lambda _: None  # the pool's own threads complain about workers that are gone
    # A finalizer would print and drop the exception; the sender of the signal then kills the process.
    sys.unraisablehook = lambda _: None
    sys.exit(0)


def write_buffers(contents: Mapping[str, bytes]) -> Path:
    """Return a new folder with contents by path; the caller removes it."""
    folder = Path(tempfile.mkdtemp(prefix="causalist-"))
    for number, data in enumerate(contents.values()):
        (folder / str(number)).write_bytes(data)
    (folder / _PATHS).write_text(json.dumps(list(contents)), encoding="utf-8")
    return folder


def _read_buffers(folder: Path) -> dict[str, bytes]:
    paths = json.loads((folder / _PATHS).read_text(encoding="utf-8"))
    return {path: (folder / str(number)).read_bytes() for number, path in enumerate(paths)}


def _run_job(root: Path, out: int, buffers: Path | None, refresh_cache: RefreshCache) -> dict[str, object]:
    from causalist.errors import CausalistError
    from causalist.index.build import build_overlaid_index
    from causalist.index.options import IndexOptions
    from causalist.pipeline.repository import Repository
    from causalist.store import INDEX_NAME, write_index

    # Without process groups, workers would outlive a killed process.
    options = IndexOptions(
        processes=None if hasattr(os, "killpg") else 1, progress=_ProgressPipe(out), refresh_cache=refresh_cache
    )
    try:
        repository = Repository.open(root, exact_root=True, force=True, options=options)
        index = repository.index
        place = None if buffers is not None else _stored_index_path(root, index, refresh_cache)
        is_temporary = place is None
        if buffers is not None:
            limits = repository.settings.limits()
            index = build_overlaid_index(root, index, _read_buffers(buffers), limits)
            place = buffers / INDEX_NAME
            write_index(place, index)
        elif place is None:
            place = Path(tempfile.mkdtemp(prefix="causalist-")) / INDEX_NAME
            write_index(place, index)
    except CausalistError as error:
        return {"slug": error.slug, "message": str(error)}
    except Exception as error:
        if os.environ.get("CAUSALIST_TRACEBACK"):
            raise
        return {"slug": "internal", "message": f"{type(error).__name__}: {error}"}
    notes = [[note.slug, note.detail, note.row] for note in repository.notes]
    return {"index": str(place), "is_temporary": is_temporary, "notes": notes}


def _stored_index_path(root: Path, index: "Index", refresh_cache: RefreshCache) -> Path | None:
    """Return the file that contains this very index, or None if it is in memory only."""
    from causalist.errors import IndexUnreadable
    from causalist.index.open import index_folders
    from causalist.store import INDEX_NAME, read_index

    for folder in index_folders(root):
        with suppress(IndexUnreadable):
            stored = read_index(folder / INDEX_NAME, refresh_cache.file_stamp)
            if stored is not None and (stored.scanned_at, stored.commit) == (index.scanned_at, index.commit):
                return folder / INDEX_NAME
    return None


class _ProgressPipe:
    """`Progress` that sends new stages, and counts at a limited rate."""

    def __init__(self, out: int) -> None:
        self._out = out
        self._stage = ""
        self._said_at = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what == self._stage and now - self._said_at < _REPORT_SECONDS and done != total:
            return
        self._stage, self._said_at = what, now
        _send(self._out, {"what": what, "done": done, "total": total})


def _send(out: int, document: dict[str, object]) -> None:
    # ASCII only: paths may contain lone surrogates.
    with suppress(OSError):
        os.write(out, json.dumps(document).encode() + b"\n")


def _read_jobs(jobs: "queue.SimpleQueue[Path | None]") -> None:
    """Queue jobs from standard input; its end terminates the process."""
    rest = b""
    # Not `sys.stdin`: a process forked during a read would inherit its lock in the locked state.
    with suppress(OSError):
        while data := os.read(0, 65_536):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                buffers = json.loads(line)["buffers"]
                jobs.put(None if buffers is None else Path(buffers))
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGTERM)
        time.sleep(_GRACE_SECONDS)
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
