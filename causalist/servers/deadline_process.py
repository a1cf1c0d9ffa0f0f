"""An answer that is due, made in a process that can be ended in any step, also inside of a library written in C.

In: a `Task`, which is a folder and a question, and the moment at which the answer is due. Out: a `BoundedAnswer`.

The worker says which steps it is in. A signal stops an optional step whose time is up; Python sees signals between its
own instructions and inside of `re`. A worker in which that has no effect is ended. On Linux a spare, forked when the
index was open, then answers without that step; elsewhere there is no answer. This process only waits.
"""

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Protocol

from causalist._internal.forked_task import CAN_FORK
from causalist._internal.stage_clock import Circuits
from causalist.errors import DeadlinePassed
from causalist.index.options import Progress, ignore_progress
from causalist.model.answer import NO_EMBEDDER, AskOptions
from causalist.pipeline.guarded_steps import CachedAnswer, Deadline, Session
from causalist.servers.question_worker import (
    STEP_BYTES,
    BoundedAnswer,
    Message,
    OpenStep,
    Task,
    first_message,
    to_plain,
    work_and_end,
)

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository

# Seconds after the deadline at which there is an answer or none; ending the processes and printing take a part of what
# is left of 0.5.
_GRACE = 0.3
# Seconds that a step has to end in once it was told to.
_PATIENCE = 0.1
_POLL_SECONDS = 0.02
# Default seconds for an answer of a server: below the minute after which clients give up.
ANSWER_SECONDS = 20.0
_CHUNK = 1 << 16
_OPENING = "opening the index"
# A child forked by another thread between the calls would keep the pipes of this one open.
_forking = threading.Lock()
# The child imports what this process would, from where it would, and nothing from the current folder.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from causalist.servers.question_worker import main; main(float(sys.argv[2]), float(sys.argv[3]))"
)


def ask_in_child(
    seconds: float, repository: "Repository", question: str, options: AskOptions, remember: bool | None
) -> CachedAnswer:
    """Return (answer, the files it was made from) within `seconds`, for a server with an open repository.

    Where forking is not possible, and for an embedder, whose model the child would have to load again, this thread
    answers: steps are left out in time, but none is stopped. Raises as `answer_in_time`.
    """
    assert repository.session is not None
    circuits, deadline = repository.session.circuits, Deadline(seconds)
    embedder = repository.settings.complete_options(options, repository.folder).embedder
    if not CAN_FORK or embedder not in (None, NO_EMBEDDER):
        own = Session(circuits)
        answer = replace(repository, session=own).ask(question, options, deadline=deadline, remember=remember)
        return CachedAnswer(answer, own.answers.newest_files())
    # Its locks are those of no other thread, which might hold them now.
    forked = replace(repository, session=Session(Circuits.of(circuits.state())))
    task = Task(repository.root, question, options, remember=remember)
    bounded = answer_in_time(task, deadline, repository=forked, circuits=circuits)
    return CachedAnswer(bounded.answer, bounded.files)


def answer_in_time(
    task: Task,
    deadline: Deadline,
    progress: Progress = ignore_progress,
    repository: "Repository | None" = None,
    circuits: Circuits | None = None,
) -> BoundedAnswer:
    """Return the answer by the deadline, from `repository` or an index opened by `open_in_time`.

    `circuits` learn which steps failed. Raises the errors of `open_in_time` and `Repository.ask`, and DeadlinePassed if
    a mandatory step does not end.
    """
    worker: _Worker = (
        _ForkedWorker(task, deadline, progress, repository) if CAN_FORK else _SpawnedWorker(task, deadline)
    )
    steps: tuple[OpenStep, ...] = (OpenStep(_OPENING, inf),)
    try:
        while True:
            is_dead = worker.has_ended()  # then everything that it said can be read
            message = worker.next(max(0.0, min(_POLL_SECONDS, deadline.left + _GRACE)))
            if message is not None:
                outcome = message.failure or message.answer
                if circuits is not None and outcome is not None and outcome.circuits is not None:
                    circuits.adopt(outcome.circuits)
                if message.failure is not None:
                    raise message.failure.error()
                if message.answer is not None:
                    return _check_answer(message.answer, deadline)
                steps = message.steps or ()
            elif deadline.left + _GRACE <= 0:
                raise _say_passed(steps, deadline)
            else:
                stuck = _stuck(steps, is_dead)
                if stuck is not None and worker.go_on_without(stuck):
                    steps = ()
                elif is_dead:
                    raise _say_passed(steps, deadline, "ended the process that answers")
    finally:
        worker.end()


def _check_answer(bounded: BoundedAnswer, deadline: Deadline) -> BoundedAnswer:
    """Return the answer; raise DeadlinePassed if it is empty and a step that may have found results was stopped."""
    if not bounded.answer.results:
        for diagnostic in bounded.answer.diagnostics:
            if diagnostic.slug == "deadline" and "(stopped)" in diagnostic.detail:
                raise DeadlinePassed(f"nothing was found within {deadline.seconds:g} s; {diagnostic.detail}")
    return bounded


def _stuck(steps: tuple[OpenStep, ...], is_dead: bool) -> str | None:
    """Return the innermost step that is overdue or ended its process; None if there is none."""
    now = time.monotonic()
    for step in reversed(steps):
        if step.until < inf and (is_dead or step.until + _PATIENCE < now):
            return step.name
    return None


def _say_passed(steps: tuple[OpenStep, ...], deadline: Deadline, how: str = "had not ended by then") -> DeadlinePassed:
    step = steps[-1].name if steps else "a step that cannot be left out"
    return DeadlinePassed(f"no answer within {deadline.seconds:g} s: {step} {how}; give more time")


# -- this process's side


class _Worker(Protocol):
    """The process that answers."""

    def next(self, seconds: float) -> Message | None:
        """Return the next message except those about a spare; None if none arrives within `seconds`."""

    def has_ended(self) -> bool:
        """Return True if no more messages will come than those that can be read now."""

    def go_on_without(self, step: str) -> bool:
        """End the process and let a spare continue without a step; False if there is no spare."""

    def end(self) -> None:
        """End the process and its spare."""


class _ForkedWorker:
    """A worker that has all that this process has loaded."""

    def __init__(
        self, task: Task, deadline: Deadline, progress: Progress, repository: "Repository | None" = None
    ) -> None:
        self._data = bytearray()
        self._is_closed = False
        self._spare: int | None = None
        self._handle: int | None = None  # of a spare that answers; it is no child of this process
        with _forking:
            self._reading, writing = os.pipe()
            go, self._go = os.pipe()
            child = _fork()
            if child == 0:
                os.close(self._reading)
                os.close(self._go)  # so that a spare notices when this process is gone
                if repository is not None:
                    _leave_server()
                work_and_end(task, deadline, progress, writing, go, repository)
            self._child: int | None = child  # until it was waited for
            self._answers: int | None = child  # None once it has ended
            os.close(writing)
            os.close(go)

    def next(self, seconds: float) -> Message | None:
        until = time.monotonic() + seconds
        while True:
            message = first_message(self._data)
            if message is not None:
                if message.spare is None:
                    return message
                self._spare = message.spare
            elif self._is_closed or not select.select([self._reading], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            else:
                chunk = os.read(self._reading, _CHUNK)
                self._is_closed = not chunk
                self._data += chunk

    def has_ended(self) -> bool:
        if self._child is not None and os.waitpid(self._child, os.WNOHANG)[0]:
            if self._answers == self._child:
                self._answers = None
            self._child = None
        is_gone = self._handle is not None and bool(select.select([self._handle], [], [], 0)[0])
        return is_gone or self._answers is None or self._is_closed

    def go_on_without(self, step: str) -> bool:
        if self._spare is None:
            return False
        self._kill()
        while self.next(0.0) is not None:  # what is said of steps that are over
            pass
        self._data.clear()
        self._answers, self._spare = self._spare, None
        with suppress(OSError):  # a kernel without such handles; its end is then not noticed before the time is up
            self._handle = os.pidfd_open(self._answers)
        os.write(self._go, step.encode().ljust(STEP_BYTES))
        return True

    def end(self) -> None:
        self._kill()
        os.close(self._go)  # ends a spare that waits
        os.close(self._reading)

    def _kill(self) -> None:
        if self._answers is not None and not self.has_ended():
            with suppress(OSError):
                os.kill(self._answers, signal.SIGKILL)
        if self._child is not None and self._child == self._answers:
            os.waitpid(self._child, 0)
            self._child = None
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        self._answers = None


def _fork() -> int:
    """Return the result of `os.fork`, without the warning about threads.

    A child that waits for a lock of another thread is ended at its deadline like any step that does not end.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _leave_server() -> None:
    """Undo what a server set for its own process: signals wake its event loop through a shared descriptor."""
    signal.set_wakeup_fd(-1)
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


class _SpawnedWorker:
    """A worker that begins with nothing, where forking is not to be had. It has no spare."""

    def __init__(self, task: Task, deadline: Deadline) -> None:
        paths = json.dumps([path for path in sys.path if path])
        command = [sys.executable, "-P", "-c", _START, paths, repr(deadline.seconds), repr(deadline.due)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(to_plain(task)).encode())
            self._process.stdin.close()

    def next(self, seconds: float) -> Message | None:
        with suppress(queue.Empty):
            return self._messages.get(timeout=seconds)
        return None

    def has_ended(self) -> bool:
        return not self._reader.is_alive()

    def go_on_without(self, step: str) -> bool:
        return False

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        data = bytearray()
        while chunk := os.read(self._process.stdout.fileno(), _CHUNK):
            data += chunk
            while (message := first_message(data)) is not None:
                self._messages.put(message)
