"""The first answer in a repository without an index, and the process that builds the index meanwhile.

`build_for` builds the index of what one question needs (`index.partial`). `start_build` starts a process that
builds the whole index: detached from the terminal, with the lowest priority, at most one for each repository. It writes
what it does into a file beside the index, so that the next command can tell. Everything that was parsed is in the cache
of facts: a process that is killed loses nothing but its links.

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

from causalist._internal.process import is_alive
from causalist.errors import CausalistError, IndexNotWritable
from causalist.index.build import defer_commits
from causalist.index.freshness import index_version
from causalist.index.open import index_folders, open_index, wants_submodules
from causalist.index.options import IndexOptions
from causalist.index.partial import Need, PartialIndex, build_partial_index, is_small
from causalist.model.source import Diagnostic, DiagnosticSlug, FileEntry, SourceFile
from causalist.rank import parse_query
from causalist.settings import read_settings
from causalist.source import DEFAULT_LIMITS, read_file, scan_folder
from causalist.store import (
    BACKGROUND_LOCK,
    BACKGROUND_NAME,
    INDEX_NAME,
    FactsCache,
    facts_path,
    hold_lock,
    index_stamp,
    prepare_folder,
)

NO_BACKGROUND = "CAUSALIST_NO_BACKGROUND"  # environment variable: no process outlives a command
_CI = "CI"  # environment variable that services for continuous integration set
_OFF = ("", "0", "false", "no", "off")
_MAX_ATTEMPTS = 2
_MAX_COMMITS = 1_500  # that a first answer reads: a quarter of the time of all
_NICENESS = 19
_REPORT_SECONDS = 0.5
_STARTING_SECONDS = 10.0  # until a process that was started holds its lock
_MAX_STATE_BYTES = 10_000
_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a repository may ship a link
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
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

    def read(entry: FileEntry) -> SourceFile | str:
        return read_file(root, entry, limits)

    notes: dict[Diagnostic, None] = {}
    commits = defer_commits(root, scan, None, notes, options, _MAX_COMMITS)
    need = Need(question, tuple(names))
    found = build_partial_index(scan, read, FactsCache(facts_path()), need, scanned_at, options, commits)
    if found is None:
        return None
    build = start_build(root, options) if background else read_build(root)
    notes[Diagnostic(DiagnosticSlug.PARTIAL, _describe(found, build, names), -1)] = None
    return found, tuple(notes)


def _describe(found: PartialIndex, build: Build | None, names: Sequence[str]) -> str:
    chosen = "with the name and what they use" if names else "chosen by the words of the question"
    if build is None:
        rest = "no process builds the whole index; `causalist index` does"
    else:
        rest = f"{build}; `causalist index` builds it now" if build.failure else str(build)
    return (
        f"{found.n_parsed:,} of {found.n_files:,} files parsed, those {chosen}; definitions, callers and links of the "
        f"others are not known yet; {rest}"
    )


# -- building in the background


def read_build(root: Path) -> Build | None:
    """Return the state of the build of the index of `root`; None if none runs and none failed."""
    for place in index_folders(root):
        build = _read_state(place)
        if build is not None:
            if build.is_running and not _is_working(place, build):
                return build._replace(failure="it was ended before it was complete")
            return build
    return None


def _is_working(place: Path, build: Build) -> bool:
    """Return True if the process of a build holds its lock or has just been started.

    A number alone does not tell: it may be that of another process by now.
    """
    if not is_alive(build.process):
        return False
    try:
        with hold_lock(place / BACKGROUND_LOCK, 0.0, "busy"):
            return time.time() - (place / BACKGROUND_NAME).stat().st_mtime < _STARTING_SECONDS
    except OSError:
        return False
    except IndexNotWritable:
        return True


def start_build(root: Path, options: IndexOptions) -> Build | None:
    """Start the process that builds the index of `root`, unless one runs or has failed too often.

    Returns its state; None if there is no folder for it.
    """
    build = read_build(root)
    n_before = build.attempts if build is not None and build.version == index_version() else 0
    if build is not None and (build.is_running or n_before >= _MAX_ATTEMPTS):
        return build
    for place in index_folders(root):
        try:
            prepare_folder(place)
        except IndexNotWritable:
            continue
        attempts = n_before + 1
        paths = [path for path in sys.path if path]
        command = [sys.executable, "-P", "-c", _START, json.dumps(paths), os.fspath(root), os.fspath(place)]
        command += [str(attempts), "1" if options.submodules else "0"]
        null = subprocess.DEVNULL
        # Before the process writes what it does itself: it may be ended before.
        waiting = Build(os.getpid(), attempts, version=index_version())
        _write_state(place, waiting)
        try:
            process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)
        except OSError as error:
            failed = waiting._replace(failure=f"cannot start {sys.executable}: {error.strerror or error}")
            _write_state(place, failed)
            return failed
        build = waiting._replace(process=process.pid)
        process.returncode = 0  # it is meant to outlive this process, which shall not warn of that
        if _read_state(place) == waiting:
            _write_state(place, build)
        return build
    return None


def begin_index(root: Path) -> bool:
    """Start the build of an index that is not there. Return False if there is one, or if no build may be started.

    Raises SettingsError.
    """
    settings = read_settings(root)
    if is_whole_wanted() or not is_background_allowed() or not settings.value("index", "background"):
        return False
    if any(index_stamp(place / INDEX_NAME) is not None for place in index_folders(root)):
        return False
    options = settings.index_options(IndexOptions())
    return start_build(root, replace(options, submodules=wants_submodules(root, options, None))) is not None


def main(arguments: Sequence[str]) -> None:
    """Build the index of a folder, as the process that `start_build` starts."""
    root, place, attempts, submodules = Path(arguments[0]), Path(arguments[1]), int(arguments[2]), arguments[3] == "1"
    _lower_priority()
    build = Build(os.getpid(), attempts, version=index_version())
    with suppress(IndexNotWritable), hold_lock(place / BACKGROUND_LOCK, 0.0, "another process builds this index"):
        reporter = _Reporter(place, build)
        _write_state(place, build)
        try:
            settings = read_settings(root)
            options = IndexOptions(progress=reporter, submodules=submodules)
            _, notes = open_index(root, settings.index_options(options))
        except CausalistError as error:
            _write_state(place, build._replace(failure=f"{error.slug}: {error}"))
            return
        except BaseException as error:
            _write_state(place, build._replace(failure=f"{type(error).__name__}: {error}"))
            raise
        unwritten = [note.detail for note in notes if note.slug == DiagnosticSlug.INDEX_NOT_WRITABLE]
        if unwritten:
            _write_state(place, build._replace(failure=unwritten[0]))
        else:
            with suppress(OSError):
                (place / BACKGROUND_NAME).unlink(missing_ok=True)


class _Reporter:
    """`Progress` that keeps the state of the build in its file."""

    def __init__(self, place: Path, build: Build) -> None:
        self._place, self._build = place, build
        self._stage, self._said_at = "", 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
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
            found = json.loads(file.read(_MAX_STATE_BYTES))
        return Build(
            int(found["process"]), int(found["attempts"]), str(found["what"]), int(found["done"]), int(found["total"]),
            str(found["failure"])[:1000], str(found["version"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_state(place: Path, build: Build) -> None:
    """Replace the state; a folder that cannot be written shows in the index that is not there."""
    aside = place / f"{BACKGROUND_NAME}.{os.getpid()}.new"
    with suppress(OSError):
        aside.write_text(json.dumps(build._asdict()), encoding="utf-8")
        aside.replace(place / BACKGROUND_NAME)
