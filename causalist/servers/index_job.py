"""Indexing job of a server: start a process, follow its progress, load its index, end it; and the process itself.

Indexing runs in a separate process because it holds the interpreter and needs memory that a server should not keep. The
job knows no event loop; all functions except `load` return at once.

The process is `main([root])`. In, on standard input: one JSON object per line and job, `{"buffers": FOLDER}` with a
folder of `write_buffers`, whose contents replace files, or null. Out, on standard output: JSON objects of progress,
then one with the path of the index or the error. An index that cannot be stored goes to a temporary folder, which the
server removes. The process and its workers end when standard input closes, which tells it that the server is gone.
"""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from causalist import errors
from causalist.errors import CausalistError, IndexingStopped
from causalist.index.options import RefreshCache

if TYPE_CHECKING:
    from causalist.model.index import Index
    from causalist.model.source import Diagnostic


# Answers have priority over indexing.
_NICENESS = 5
_PATHS = "paths.json"
_REPORT_SECONDS = 0.1
_STOP_SECONDS = 1.0


def main(arguments: Sequence[str]) -> None:
    """Run jobs until standard input closes."""
    (root,) = arguments
    out = os.dup(1)
    os.dup2(2, 1)
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICENESS)
    signals: list[int] = []
    signal.signal(signal.SIGTERM, partial(_handle_sigterm, os.getpid(), signals))
    jobs: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
    refresh_cache = RefreshCache()
    threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    while True:
        try:
            outcome = _run_job(Path(root), out, jobs.get(), refresh_cache)
        except Exception:
            if not signals:
                raise
        if signals:  # importing a C module may replace the exception by another one
            sys.exit(0)
        _send(out, outcome)


def _handle_sigterm(own: int, signals: list[int], number: int, *_: object) -> None:
    """End this process by an exception, so that temporary files are removed, and record this in `signals`.

    A forked worker inherits the handler. It exits directly, because it would treat the exception as a failure of one
    piece of work and continue with the next.
    """
    if os.getpid() != own:
        os._exit(0)
    signals.append(number)
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
        index_path = None if buffers is not None else _stored_index_path(root, index, refresh_cache)
        is_temporary = index_path is None
        if buffers is not None:
            limits = repository.settings.limits()
            index = build_overlaid_index(root, index, _read_buffers(buffers), limits)
            index_path = buffers / INDEX_NAME
            write_index(index_path, index)
        elif index_path is None:
            index_path = Path(tempfile.mkdtemp(prefix="causalist-")) / INDEX_NAME
            write_index(index_path, index)
    except CausalistError as error:
        return {"slug": error.slug, "message": str(error)}
    except Exception as error:
        if os.environ.get("CAUSALIST_TRACEBACK"):
            raise
        return {"slug": "internal", "message": f"{type(error).__name__}: {error}"}
    notes = [[note.slug, note.detail, note.row] for note in repository.notes]
    return {"index": str(index_path), "is_temporary": is_temporary, "notes": notes}


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
        time.sleep(_STOP_SECONDS)
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


# The child uses the import path of the server, without the current folder.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from causalist.servers.index_job import main; main(sys.argv[2:])"
)
_GRACE_SECONDS = 0.5
_IDLE_SECONDS = 60.0
_MAX_FILES_KEPT = 500  # files of a job after which an idle process is kept; larger jobs leave too much memory in use


@dataclass(frozen=True, slots=True)
class Stage:
    """Progress of indexing: `parsed` of `total` files, and the current stage. `total` is 0 until known."""

    what: str = "starting"
    parsed: int = 0
    total: int = 0

    def __str__(self) -> str:
        """In words.

        >>> str(Stage("parsing", 1200, 5300)), str(Stage("linking", 5300, 5300)), str(Stage())
        ('1200 of 5300 files parsed', '5300 of 5300 files parsed, now linking', 'looking for what has changed')
        """
        if not self.total:
            return "looking for what has changed" if self.what == "starting" else self.what
        now = "" if self.what == "parsing" else f", now {self.what}"
        return f"{self.parsed} of {self.total} files parsed{now}"

    @property
    def percent(self) -> float:
        """Estimated percentage, by the duration of stages in large repositories; it never falls."""
        if self.what == "parsing":
            return 60 * self.parsed / self.total if self.total else 0
        return {"starting": 0, "scanning": 0, "linking": 60, "indexing words": 90}.get(self.what, 60)


class _WorkerProcess:
    """Process that indexes the folder `root`, one job at a time.

    Raises IndexingStopped if the process cannot be started.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._job: IndexJob | None = None
        self._is_gone = False
        self._lock = threading.Lock()
        self.keeper: threading.Timer | None = None
        paths = [path for path in sys.path if path]
        command = [sys.executable, "-P", "-c", _START, json.dumps(paths), os.fspath(root)]
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise IndexingStopped(f"cannot start {sys.executable} for indexing: {error.strerror or error}") from error
        threading.Thread(target=self._listen, daemon=True).start()

    def begin(self, job: "IndexJob", buffers: Path | None) -> bool:
        """Send a job to the process. Return False if the process has ended."""
        with self._lock:
            if self._is_gone:
                return False
            self._job = job
        line = json.dumps({"buffers": None if buffers is None else os.fspath(buffers)}).encode() + b"\n"
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except OSError:
            # The listener may have moved the job to another process.
            return self._release_job() is None
        return True

    def leave(self) -> None:
        """Close the input of an idle process, which ends it."""
        with suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            job = self._job
            if job is not None and job.handle_line(line):
                self._release_job()
                _idle_workers.keep(self, is_small=job.stage.total <= _MAX_FILES_KEPT)
                job.ended.set()
        self.process.wait()
        with self._lock:
            self._is_gone = True
        _idle_workers.forget(self)
        job = self._release_job()
        if job is not None:
            job.handle_exit()

    def _release_job(self) -> "IndexJob | None":
        """Detach and return the current job."""
        with self._lock:
            job, self._job = self._job, None
        return job


class _IdleWorkers:
    """Idle processes, at most one per folder, for a limited time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_root: dict[Path, _WorkerProcess] = {}

    def take(self, root: Path) -> _WorkerProcess | None:
        """Return the idle process of a folder, or None."""
        with self._lock:
            worker = self._by_root.pop(root, None)
        if worker is not None and worker.keeper is not None:
            worker.keeper.cancel()
        return worker if worker is None or worker.process.poll() is None else None

    def keep(self, worker: _WorkerProcess, *, is_small: bool) -> None:
        """Keep a process after a small job; a large job leaves too much memory in use."""
        with self._lock:
            is_kept = is_small and worker.root not in self._by_root
            if is_kept:
                self._by_root[worker.root] = worker
                worker.keeper = threading.Timer(_IDLE_SECONDS, self.end, (worker.root,))
                worker.keeper.daemon = True
                worker.keeper.start()
        if not is_kept:
            worker.leave()

    def end(self, root: Path) -> None:
        """End the idle process of a folder."""
        worker = self.take(root)
        if worker is not None:
            worker.leave()

    def forget(self, worker: _WorkerProcess) -> None:
        """Drop a process that has ended."""
        with self._lock:
            if self._by_root.get(worker.root) is worker:
                del self._by_root[worker.root]


_idle_workers = _IdleWorkers()


def end_idle_worker(root: Path) -> None:
    """End the idle process of a folder."""
    _idle_workers.end(root)


class IndexJob:
    """Running job. `buffers` is the result of `write_buffers`, or None for the saved files.

    It reuses the process of the previous job if that is idle, because starting one takes longer than most refreshes.
    Raises IndexingStopped if none can be started.
    """

    def __init__(self, root: Path, buffers: Path | None = None) -> None:
        self.stage = Stage()
        self.ended = threading.Event()
        self.began = time.monotonic()
        self.failure: CausalistError | None = None  # error of loading its index
        self._root = root
        self._outcome: dict[str, object] = {}
        self._buffers = buffers
        self._is_stopped = False
        worker = _idle_workers.take(root)
        self._may_repeat = worker is not None
        if worker is None or not worker.begin(self, buffers):
            worker = self._begun_anew()
        self._process = worker.process

    def _begun_anew(self) -> _WorkerProcess:
        self._may_repeat = False
        worker = _WorkerProcess(self._root)
        if not worker.begin(self, self._buffers):
            self.ended.set()
        return worker

    def handle_exit(self) -> None:
        """Handle the exit of the process. One that ended before it received the job is replaced."""
        if self._may_repeat and not self._is_stopped:
            with suppress(IndexingStopped):
                self._process = self._begun_anew().process
                return
        self.ended.set()

    def load(self) -> "tuple[Index, tuple[Diagnostic, ...]]":
        """Return the index of an ended job and its notes. Raises the CausalistError that ended the job."""
        from causalist.model.source import Diagnostic
        from causalist.store import read_index

        index_path = self._outcome.get("index")
        if not isinstance(index_path, str):
            raise self._failure()
        index = read_index(Path(index_path))
        self._remove_temporary()
        if index is None:
            raise IndexingStopped(f"the index of {self._root} was removed right after it was built. Ask again.")
        notes = self._outcome.get("notes")
        return index, tuple(map(Diagnostic._make, notes)) if isinstance(notes, list) else ()

    def stop(self) -> None:
        """End the process and its children; complete files on disk are unchanged."""
        self._is_stopped = True
        if self.ended.is_set():  # its process id may be reused
            self._remove_temporary()
            return
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            # Workers may outlive the process.
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, number)
                else:
                    self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_SECONDS)

    def _remove_temporary(self) -> None:
        """Remove an index that is stored nowhere else; mapped data stays readable."""
        if self._outcome.get("is_temporary"):
            shutil.rmtree(Path(str(self._outcome["index"])).parent, ignore_errors=True)

    def handle_line(self, line: bytes) -> bool:
        """Handle a line of the process. Return True for its last line."""
        self._may_repeat = False
        with suppress(ValueError, KeyError, TypeError):
            document = json.loads(line)
            if "what" not in document:
                self._outcome = document
                return True
            if document["what"] == "parsing":
                self.stage = Stage("parsing", int(document["done"]), int(document["total"]))
            else:
                self.stage = Stage(str(document["what"]), self.stage.total, self.stage.total)
        return False

    def _failure(self) -> CausalistError:
        slug, message = self._outcome.get("slug"), str(self._outcome.get("message"))
        if slug is None:
            code = self._process.wait()
            how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
            return IndexingStopped(
                f"the indexing process of {self._root} ended {how}. "
                "Ask again, or run `causalist index` to see the error."
            )
        for each in vars(errors).values():
            if isinstance(each, type) and issubclass(each, CausalistError) and each.slug == slug:
                return each(message)
        return IndexingStopped(f"indexing failed: {message}; set CAUSALIST_TRACEBACK=1 to see the traceback")
