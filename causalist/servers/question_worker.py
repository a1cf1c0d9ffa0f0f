"""Worker process that answers one question before a deadline, and its messages to the supervisor.

Out: messages of JSON, each behind its length: the open steps, the spare, and the answer or the reason for having none.
A signal stops an optional step whose time is up. A spare is a fork that waits as soon as the index is open.

Messages hold values of annotated types as JSON can hold them: dataclasses, named tuples, tuples, mappings by string,
enums, paths and `None`, and what JSON has itself.

The repository is opened within the deadline: refreshed if time allows, else with its stored index. A thread checks the
stored index, and a separate process (`index_job`) refreshes it, because neither can be interrupted.
"""

import dataclasses
import json
import os
import signal
import sys
import threading
import time
import types
import typing
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from causalist import errors
from causalist.errors import CausalistError, DeadlinePassed, IndexUnreadable
from causalist.index.options import IndexOptions, Progress, ignore_progress
from causalist.model.answer import Answer, AskOptions
from causalist.model.index import FileNote
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.pipeline.guarded_steps import RESERVE, Deadline, StepStopped
from causalist.servers.index_job import IndexJob, end_idle_worker

if TYPE_CHECKING:
    from causalist.model.index import Index
    from causalist.pipeline.guarded_steps import Session
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

    indexes: list[Index] = []
    for folder in index_folders(root):
        try:
            index = read_index(folder / INDEX_NAME)
        except IndexUnreadable:
            continue  # the indexing process reports and rebuilds it
        if index is not None and index.version == index_version():
            indexes.append(index)
    return max(indexes, key=lambda index: index.scanned_at, default=None)


STEP_BYTES = 128  # of the name of a step; a pipe hands over so many as a whole
_LENGTH_BYTES = 4
_AGAIN_SECONDS = 0.05
# Seconds of processor time by which a worker that is not ended outlives its deadline.
_OUTLIVES = 5.0


@dataclass(frozen=True, slots=True)
class Task:
    """A query and the folder it is asked of, as `Repository.open` and `Repository.ask` take them."""

    path: Path
    question: str
    options: AskOptions
    exact_root: bool = False
    force: bool = False
    remember: bool | None = None


class BoundedAnswer(NamedTuple):
    """An answer, and what its index says of files that were not read as a whole.

    `files` are the files of an answer that may be cached, else empty; `circuits` is the state of failing steps.
    """

    answer: Answer
    skipped: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    notes: tuple[FileNote, ...]
    files: tuple[str, ...] = ()
    circuits: Mapping[str, tuple[int, int, str]] | None = None


class OpenStep(NamedTuple):
    """A step that has begun, and the moment from which on it may be stopped."""

    name: str
    until: float


class Failure(NamedTuple):
    """An exception: the slug of a CausalistError, or "", the name of its class, its text, where it was raised."""

    slug: str
    name: str
    text: str
    traceback: str
    circuits: Mapping[str, tuple[int, int, str]] | None = None

    def error(self) -> Exception:
        """Return the exception, or one with the same text."""
        for each in vars(errors).values():
            if self.slug and isinstance(each, type) and issubclass(each, CausalistError) and each.slug == self.slug:
                return each(self.text)
        error: Exception = type(self.name, (RuntimeError,), {})(self.text)
        error.add_note(self.traceback)
        return error


class Message(NamedTuple):
    """A message of a worker: one of these fields."""

    steps: tuple[OpenStep, ...] | None = None  # that are open, the innermost one last
    spare: int | None = None  # the process that can take its place
    answer: BoundedAnswer | None = None
    failure: Failure | None = None


def first_message(data: bytearray) -> Message | None:
    """Remove the first message from the data and return it; None if it is incomplete."""
    end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    if len(data) < max(end, _LENGTH_BYTES):
        return None
    message = from_plain(Message, json.loads(data[_LENGTH_BYTES:end]))
    del data[:end]
    return message


def main(seconds: float, due: float) -> None:
    """Run a worker that was started, not forked: the task comes on standard input."""
    out = os.dup(1)
    os.dup2(2, 1)
    task = from_plain(Task, json.load(sys.stdin.buffer))
    deadline = Deadline(seconds, gone=seconds - (due - time.monotonic()))
    work_and_end(task, deadline, ignore_progress, out, None)


class _Speaker:
    """Sends messages. A step must not be stopped in the middle of one."""

    def __init__(self, writing: int) -> None:
        self._writing = writing
        self.is_busy = False

    def __call__(
        self,
        steps: tuple[OpenStep, ...] | None = None,
        spare: int | None = None,
        answer: BoundedAnswer | None = None,
        failure: Failure | None = None,
    ) -> None:
        data = json.dumps(to_plain(Message(steps, spare, answer, failure))).encode()
        unwritten = memoryview(len(data).to_bytes(_LENGTH_BYTES, "little") + data)
        self.is_busy = True
        try:
            while unwritten:
                unwritten = unwritten[os.write(self._writing, unwritten) :]
        finally:
            self.is_busy = False


class _TellingDeadline(Deadline):
    """A deadline that says which steps are open, and stops the innermost one that is due when a signal asks for it."""

    def __init__(self, deadline: Deadline, say: _Speaker, stopped: frozenset[str]) -> None:
        self.seconds, self.due = deadline.seconds, deadline.due
        self.stopped = stopped
        self._say = say
        self._steps: list[OpenStep] = []

    @contextmanager
    def _around(self, step: OpenStep, timer: AbstractContextManager[None]) -> Iterator[None]:
        depth = len(self._steps)
        try:
            self._steps.append(step)
            self._say(tuple(self._steps))
            with timer:
                yield
        finally:
            del self._steps[depth:]
            self._say(tuple(self._steps))

    def around(self, name: str, timer: AbstractContextManager[None], until: float) -> AbstractContextManager[None]:
        return self._around(OpenStep(name, until), timer)

    def stop_step(self, *_: object) -> None:
        """Stop the innermost step that is due, as handler of the signal.

        The signal is repeated until the step has ended, since running code may swallow the exception.
        """
        now = time.monotonic()
        for step in reversed(self._steps):
            if step.until <= now and not self._say.is_busy:
                raise StepStopped(step.name)


def work_and_end(
    task: Task,
    deadline: Deadline,
    progress: Progress,
    writing: int,
    go: int | None,
    repository: "Repository | None" = None,
) -> NoReturn:
    """Answer the task, send the answer and end the process.

    `go` is the pipe from which a spare reads the step that it leaves out; None for no spare. A process forked from a
    server answers from the server's `repository`.
    """
    code = 1
    try:
        say = _Speaker(writing)
        try:
            _end_by_itself(deadline)
            if repository is None:
                repository = open_in_time(
                    task.path, deadline, exact_root=task.exact_root, force=task.force, progress=progress
                )
            stopped = frozenset() if go is None else _stopped_steps(go, say, deadline)
            due = _TellingDeadline(deadline, say, stopped)
            _stop_steps_of(due)
            answer = _answer_task(repository, task, due, progress)
            _stop_steps_of(None)
            say(answer=answer)
        except Exception as error:
            _stop_steps_of(None)
            say(failure=_failure(error, None if repository is None else repository.session))
        code = 0
    finally:
        os._exit(code)


def _answer_task(repository: "Repository", task: Task, deadline: Deadline, progress: Progress) -> BoundedAnswer:
    answer = repository.ask(task.question, task.options, deadline=deadline, remember=task.remember, progress=progress)
    index, session = repository.index, repository.session
    bounded = BoundedAnswer(answer, dict(index.skipped), dict(index.examples), tuple(index.notes))
    if session is None:
        return bounded
    return bounded._replace(files=session.answers.newest_files(), circuits=session.circuits.state())


def _failure(error: Exception, session: "Session | None") -> Failure:
    import traceback

    slug = error.slug if isinstance(error, CausalistError) else ""
    state = None if session is None else session.circuits.state()
    return Failure(slug, type(error).__name__, str(error), "".join(traceback.format_exception(error)), state)


def _stopped_steps(go: int, say: _Speaker, deadline: Deadline) -> frozenset[str]:
    """Return the steps to leave out: none, or in a spare the steps in which earlier processes were ended.

    A spare returns only once it is needed.
    """
    stopped: frozenset[str] = frozenset()
    while True:
        spare = os.fork()
        if spare:
            say(spare=spare)
            return stopped
        step = os.read(go, STEP_BYTES)
        if not step:
            os._exit(0)
        _end_by_itself(deadline)
        stopped |= {step.decode().rstrip()}


def _stop_steps_of(deadline: _TellingDeadline | None) -> None:
    """Let a signal stop the due steps of a deadline, or no steps if None; does nothing on Windows."""
    if not hasattr(signal, "setitimer"):
        return
    if deadline is None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        return
    signal.signal(signal.SIGALRM, deadline.stop_step)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, deadline.left - RESERVE), _AGAIN_SECONDS)


def _end_by_itself(deadline: Deadline) -> None:
    """Let the system end this process if its parent is gone and cannot."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, max(0.0, deadline.left) + _OUTLIVES)


T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Return a value as dictionaries, lists and scalars."""
    if dataclasses.is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") else value  # a number of numpy


def from_plain(kind: type[T], plain: Any) -> T:
    """Invert `to_plain` for a value of the type `kind`.

    >>> from_plain(dict[str, tuple[int, ...]], to_plain({"rows": (1, 2)}))
    {'rows': (1, 2)}
    """
    return typing.cast(T, _build(kind, plain))


def _build(kind: Any, plain: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if plain is None:
        return None
    if origin in (types.UnionType, typing.Union):
        (kind,) = (each for each in arguments if each is not type(None))
        return _build(kind, plain)
    if origin is tuple:
        kinds = [arguments[0]] * len(plain) if arguments[1:] == (...,) else arguments
        return tuple(_build(each, item) for each, item in zip(kinds, plain, strict=True))
    if origin is not None:  # a mapping
        return {key: _build(arguments[1], item) for key, item in plain.items()}
    if dataclasses.is_dataclass(kind):
        made = typing.cast(Any, kind)
        hints = _hints(made)
        return made(**{name: _build(hints[name], item) for name, item in plain.items()})
    if issubclass(kind, tuple):
        return kind(*(_build(each, item) for each, item in zip(_hints(kind).values(), plain, strict=True)))
    return kind(plain) if issubclass(kind, Enum | Path) else plain


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
