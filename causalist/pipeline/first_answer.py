"""The first answer in a repository without an index, and the process that builds the index meanwhile.

`build_for` builds the index of what one question needs (`index.partial`). `start_build` starts a process that
builds the whole index: detached from the terminal, with the lowest priority, at most one for each repository. It
inherits a lock, so that it is known to work as long as it lives. It writes what it does into a file beside the index,
so that the next command can tell. Everything that was parsed is in the cache of facts: a process that is killed loses
nothing but its links. A command that needs the whole index itself ends it, and goes on with what it parsed.

A build that failed twice, or was ended twice, is not started again until a command builds the index itself.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from causalist.errors import CausalistError, IndexNotWritable
from causalist.index.build import defer_commits
from causalist.index.freshness import index_version
from causalist.index.open import has_index, index_folders, open_index, wants_submodules
from causalist.index.options import IndexOptions
from causalist.index.question_index import Need, PartialIndex, build_partial_index, is_small
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.rank import parse_query
from causalist.settings import read_settings
from causalist.source import DEFAULT_LIMITS, FolderReader, scan_folder
from causalist.store import (
    BACKGROUND_LOCK,
    BACKGROUND_NAME,
    BACKGROUND_STOP,
    INDEX_NAME,
    FactsCache,
    LockBusy,
    facts_path,
    hold_lock,
    index_stamp,
    is_locked,
    prepare_folder,
    unlink_quietly,
)

NO_BACKGROUND = "CAUSALIST_NO_BACKGROUND"  # environment variable: no process outlives a command
_CI = "CI"  # environment variable that services for continuous integration set
_OFF = ("", "0", "false", "no", "off")
_MAX_ATTEMPTS = 2
_MAX_COMMITS = 1_500  # that a first answer reads: a quarter of the time of all
_NICENESS = 19
_REPORT_SECONDS = 0.5
_LOOK_SECONDS = 0.1  # between two looks at who waits
_PATIENCE_SECONDS = 0.5  # for a process that looks at the lock; one that builds holds it longer
_ENDED = "it was ended before it was complete"
_MAX_STATE_BYTES = 10_000
_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a repository may ship a link
_START = (
    "import json, sys; sys.stdin.read(); sys.path[:] = json.loads(sys.argv[1]); "
    "from causalist.pipeline.first_answer import main; main(sys.argv[2:])"
)


class Build(NamedTuple):
    """State of the process that builds an index. `failure` says why it ended without one, "" while it runs."""

    process: int
    attempts: int
    what: str = "starting"
    done: int = 0
    total: int = 0
    failure: str = ""
    version: str = ""

    @property
    def is_running(self) -> bool:
        """True while the process works."""
        return not self.failure

    def __str__(self) -> str:
        """In words.

        >>> str(Build(7, 1, "parsing", 1200, 4907))
        'the whole index is being built (process 7: parsing, 1,200 of 4,907 files)'
        >>> str(Build(7, 1, failure="it was ended"))
        'building the whole index failed: it was ended'
        """
        if self.failure:
            return f"building the whole index failed: {self.failure}"
        files = f", {self.done:,} of {self.total:,} files" if self.total else ""
        if not self.process:
            return "the whole index is being built"
        return f"the whole index is being built (process {self.process}: {self.what}{files})"


# -- answering


def is_whole_wanted() -> bool:
    """Return True where every index is built whole: under continuous integration."""
    return os.environ.get(_CI, "").lower() not in _OFF


def is_background_allowed() -> bool:
    """Return True unless the environment forbids processes that outlive a command."""
    return os.environ.get(NO_BACKGROUND, "").lower() in _OFF


def build_for(
    root: Path,
    options: IndexOptions,
    text: str,
    names: Sequence[str],
    *,
    background: bool,
) -> tuple[PartialIndex, tuple[Diagnostic, ...]] | None:
    """Return (the index of what a question needs, notes on it); None if the whole is to be built.

    That is so in a small repository, for literals and expressions, and if too many files have one of `names`, all of
    whose files are needed. `options` are completed by the settings. With `background`, a process that builds the whole
    index is started. Raises NothingToIndex.
    """
    scanned_at = time.time_ns()
    limits = options.limits or DEFAULT_LIMITS
    submodules = wants_submodules(root, options, None)
    options = replace(options, submodules=submodules)
    scan = scan_folder(root, limits, submodules=submodules)
    question = parse_query(text)
    if is_small(scan) or question.is_pattern:
        return None
    notes: dict[Diagnostic, None] = {}
    commits = defer_commits(root, scan, None, notes, options, _MAX_COMMITS)
    need = Need(question, tuple(names))
    with FolderReader(root, limits) as reader:
        partial = build_partial_index(scan, reader.read, FactsCache(facts_path()), need, scanned_at, options, commits)
    if partial is None:
        return None
    build = start_build(root, options) if background else read_build(root)
    notes[Diagnostic(DiagnosticSlug.PARTIAL, _describe(partial, build, names), -1)] = None
    return partial, tuple(notes)


NOT_BUILT = "no process builds the whole index; `causalist index` does"


def _describe(partial: PartialIndex, build: Build | None, names: Sequence[str]) -> str:
    chosen = "with the name and what they use" if names else "chosen by the words of the question"
    if build is None:
        rest = NOT_BUILT
    else:
        rest = f"{build}; `causalist index` builds it now" if build.failure else str(build)
    return (
        f"{partial.n_parsed:,} of {partial.n_files:,} files parsed, those {chosen}; definitions, callers and links of "
        f"the others are not known yet; {rest}"
    )


# -- building in the background


def read_build(root: Path) -> Build | None:
    """Return the state of the build of the index of `root`; None if none runs and none failed."""
    failed = None
    for folder in index_folders(root):
        build = _read_state(folder)
        if build is not None and build.is_running:
            if is_locked(folder / BACKGROUND_LOCK):
                return build
            build = build._replace(failure=_ENDED)
        failed = build or failed  # what this user's own process says comes last
    return failed


def start_build(root: Path, options: IndexOptions) -> Build | None:
    """Start the process that builds the index of `root`, unless one runs or has failed too often.

    Returns its state; None if there is no folder for it.
    """
    build = read_build(root)
    if build is not None and build.is_running:
        return build
    for folder in index_folders(root):
        try:
            prepare_folder(folder)
            with hold_lock(folder / BACKGROUND_LOCK, _PATIENCE_SECONDS, "another process builds it") as lock:
                return _start_unless_failed(root, folder, options, lock)
        except LockBusy:
            return _read_state(folder) or Build(0, 1)
        except IndexNotWritable:
            continue
    return None


def _start_unless_failed(root: Path, place: Path, options: IndexOptions, lock: int | None) -> Build:
    """Start the process whose state is in `place`, as the holder of `lock`. Raises IndexNotWritable."""
    before = _read_state(place)
    n_before = before.attempts if before is not None and before.version == index_version() else 0
    if before is not None and n_before >= _MAX_ATTEMPTS:
        return before if before.failure else before._replace(failure=_ENDED)
    build = Build(os.getpid(), n_before + 1, version=index_version())
    # Before the process writes what it does itself: it may be ended before.
    if not _write_state(place, build):
        raise IndexNotWritable(f"cannot write {place / BACKGROUND_NAME}")
    paths = [path for path in sys.path if path]
    command = [sys.executable, "-P", "-c", _START, json.dumps(paths), os.fspath(root), os.fspath(place)]
    command += [str(build.attempts), "1" if options.submodules else "0", *([] if lock is None else [str(lock)])]
    null, inherited = subprocess.DEVNULL, () if lock is None else (lock,)
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True, pass_fds=inherited
        )
    except OSError as error:
        build = build._replace(failure=f"cannot start {sys.executable}: {error.strerror or error}")
        _write_state(place, build)
        return build
    build = build._replace(process=process.pid)
    _write_state(place, build)
    assert process.stdin is not None
    process.stdin.close()  # for which it has waited: from now on it writes its state itself
    process.returncode = 0  # it is meant to outlive this process, which shall not warn of that
    return build


def begin_index(root: Path) -> bool:
    """Start the build of an index that is not there. Return False if there is one, or if no build may be started.

    Raises SettingsError.
    """
    settings = read_settings(root)
    if is_whole_wanted() or not is_background_allowed() or not settings.value("index", "background"):
        return False
    if has_index(root):
        return False
    options = settings.index_options(IndexOptions())
    return start_build(root, replace(options, submodules=wants_submodules(root, options, None))) is not None


def main(arguments: Sequence[str]) -> None:
    """Build the index of a folder, as the process that `start_build` starts.

    `arguments`: the folder, that of its index, the number of the attempt, 1 with submodules, and the descriptor of the
    lock if it is inherited.
    """
    root, folder, attempts, submodules = Path(arguments[0]), Path(arguments[1]), int(arguments[2]), arguments[3] == "1"
    _lower_priority()
    if len(arguments) > 4:
        os.set_inheritable(int(arguments[4]), False)
        _build(root, folder, attempts, submodules)
        return
    with suppress(IndexNotWritable), hold_lock(folder / BACKGROUND_LOCK, _PATIENCE_SECONDS, "another builds it"):
        _build(root, folder, attempts, submodules)


def _build(root: Path, place: Path, attempts: int, submodules: bool) -> None:
    """Build the index of a folder, as the holder of the lock."""
    build = Build(os.getpid(), attempts, version=index_version())
    unlink_quietly(place / BACKGROUND_STOP)  # of a process that was killed while it waited
    _write_state(place, build)
    try:
        settings = read_settings(root)
        options = IndexOptions(progress=_Reporter(place, build), submodules=submodules)
        _, notes = open_index(root, settings.index_options(options))
    except CausalistError as error:
        _write_state(place, build._replace(failure=f"{error.slug}: {error}"))
        return
    except _SomebodyWaits:
        unlink_quietly(place / BACKGROUND_NAME)
        return
    except BaseException as error:
        _write_state(place, build._replace(failure=f"{type(error).__name__}: {error}"))
        raise
    unwritten = [note.detail for note in notes if note.slug == DiagnosticSlug.INDEX_NOT_WRITABLE]
    is_there = any(index_stamp(each / INDEX_NAME) is not None for each in index_folders(root))
    if unwritten and not is_there:  # else it is in the other folder
        _write_state(place, build._replace(failure=unwritten[0]))
    else:
        unlink_quietly(place / BACKGROUND_NAME)


class _SomebodyWaits(BaseException):
    """A command waits for this process; not an error that is survived for one file."""


class _Reporter:
    """`Progress` that keeps the state of the build in its file, and ends it if another process waits."""

    def __init__(self, place: Path, build: Build) -> None:
        self._place, self._build = place, build
        self._stage, self._said_at, self._looked_at = "", 0.0, 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report, or raise _SomebodyWaits."""
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = now
            if os.path.lexists(self._place / BACKGROUND_STOP):
                raise _SomebodyWaits
        if what == self._stage and now - self._said_at < _REPORT_SECONDS:
            return
        self._stage, self._said_at = what, now
        _write_state(self._place, self._build._replace(what=what, done=done, total=total))


def _lower_priority() -> None:
    """Let everything else go first, as far as the system allows."""
    with suppress(OSError, AttributeError):
        os.nice(_NICENESS)
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _read_state(place: Path) -> Build | None:
    try:
        descriptor = os.open(place / BACKGROUND_NAME, os.O_RDONLY | _OPEN_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            state = json.loads(file.read(_MAX_STATE_BYTES))
        return Build(
            int(state["process"]), int(state["attempts"]), str(state["what"]), int(state["done"]), int(state["total"]),
            str(state["failure"])[:1000], str(state["version"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_state(place: Path, build: Build) -> bool:
    """Replace the state; False if that is not possible. Only the holder of the lock does so."""
    aside = place / f"{BACKGROUND_NAME}.{os.getpid()}.new"
    try:
        unlink_quietly(aside)
        with aside.open("x", encoding="utf-8") as file:
            json.dump(build._asdict(), file)
        aside.replace(place / BACKGROUND_NAME)
    except OSError:
        unlink_quietly(aside)
        return False
    return True
