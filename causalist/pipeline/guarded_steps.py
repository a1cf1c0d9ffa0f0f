"""Steps of an answer: their times, the deadline, steps that fail, and what a process keeps from answer to answer.

`GuardedSteps` is the only place where a step may fail, or be left out for lack of time, without the answer failing.

A `Session` is the state of a process that answers many queries: its last answers and the steps that keep failing.
Nothing of it is stored. The key of an answer is the index, the query and the options, so that an answer never serves
another query or other files. The caller checks that the files in the answer are unchanged.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from math import inf
from typing import Any, NamedTuple, TypeVar

from causalist._internal.lazy import dataclass
from causalist._internal.stage_clock import Circuits
from causalist.errors import CausalistError, UsageError
from causalist.model.answer import Answer, AskOptions
from causalist.model.protocols import STAGES, Step
from causalist.model.source import Diagnostic, DiagnosticSlug


class StepTimer:
    """Milliseconds of stages and steps.

    A step has its own time without that of steps inside of it; times of repeated steps add up. A stage has the time of
    its steps.
    """

    def __init__(self) -> None:
        self._spent: dict[str, float] = {}
        self._inside: list[float] = []  # of each open step: seconds of the steps inside of it

    def timed(self, name: Step) -> AbstractContextManager[None]:
        """Add the time of the block to a step."""
        return self._add_time(name)

    @contextmanager
    def _add_time(self, name: str) -> Iterator[None]:
        self._inside.append(0.0)
        began = time.perf_counter()
        try:
            yield
        finally:
            whole = time.perf_counter() - began
            own = whole - self._inside.pop()
            if self._inside:
                self._inside[-1] += whole
            for each in {name, name.partition(".")[0]}:
                self._spent[each] = self._spent.get(each, 0.0) + own

    @property
    def milliseconds(self) -> Mapping[str, float]:
        """By name: each stage, with its steps in the order in which they were first done."""
        result: dict[str, float] = {}
        for stage in STAGES:
            result[stage] = round(self._spent.get(stage, 0.0) * 1000, 3)
            inside = [name for name in self._spent if name.startswith(f"{stage}.")]
            result.update({str(name): round(self._spent[name] * 1000, 3) for name in inside})
        return result


# Seconds that an answer takes beyond what can be left out: words, weights, order, packing, printing. Measured on
# repositories of some thousand files; in larger ones an answer is late by what they need more.
RESERVE = 0.2


class StepStopped(BaseException):
    """Raised inside the optional step `name` because its time is up.

    It is no Exception, so that a step which catches those ends as well.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Deadline:
    """Moment `due`, by the monotonic clock, when an answer is due. By itself it stops no step."""

    stopped: frozenset[str] = frozenset()  # steps that were stopped in an earlier try and are not tried again

    def __init__(self, seconds: float, *, gone: float = 0.0) -> None:
        """Set the deadline `seconds` from now, of which `gone` are over.

        Raises UsageError unless `seconds` is a positive number.
        """
        if not 0.0 < seconds < float("inf"):
            raise UsageError(f"--deadline must be above 0 seconds, not {seconds:g}")
        self.seconds = seconds
        self.due = time.monotonic() + seconds - gone

    @property
    def left(self) -> float:
        """Remaining seconds, negative after the deadline."""
        return self.due - time.monotonic()

    def around(self, name: str, timer: AbstractContextManager[None], until: float) -> AbstractContextManager[None]:
        """Return a context for a step that may be stopped from the moment `until` on; infinite: never."""
        return timer


_T = TypeVar("_T")

# Steps that are left out when there is no time. All others take as long as it takes to find that out.
_SKIPPABLE_STEPS = frozenset(
    {
        Step.CANDIDATES_LITERALS,
        Step.CANDIDATES_FILES,
        Step.CANDIDATES_NAMES,
        Step.CANDIDATES_SYNONYMS,
        Step.CANDIDATES_DENSE,
        Step.CANDIDATES_HISTORY,
        Step.CANDIDATES_GRAPH,
        Step.CANDIDATES_PAGERANK,
        Step.CANDIDATES_PLACES,
        Step.ASSEMBLE_ATTRIBUTION,
    }
)
# Seconds after the deadline, and after its own beginning, from which on any other optional step may be stopped.
_LATE = 0.1


class GuardedSteps(StepTimer):
    """Runner of the steps of one answer.

    A CausalistError skips an optional step, and the answer says so. Other exceptions propagate; a process that answers
    many queries counts them and skips a step that keeps failing.
    """

    def __init__(self, circuits: Circuits | None, deadline: Deadline | None) -> None:
        super().__init__()
        self._circuits = circuits
        self._deadline = deadline
        self._left_out: dict[str, None] = {}
        self._skipped: dict[str, str] = {}  # why, by step
        self._found: dict[str, int] = {}

    def optional(self, name: Step, work: Callable[[], _T], without: Callable[[], _T]) -> _T:
        """Run an optional step; return `without()` if it is skipped or fails with a CausalistError."""
        if self._circuits is not None:
            reason = self._circuits.passes_over(name)
            if reason:
                self._skipped[name] = reason
                return without()
        if self._deadline is not None and name in self._deadline.stopped:
            return self._without_stopped(name, without)
        if name in _SKIPPABLE_STEPS and not self.in_time():
            self.leave_out(name)
            return without()
        try:
            with self._bound_step(name, self._until(name)):
                result = work()
        except StepStopped as stop:
            if stop.name != name:
                raise
            return self._without_stopped(name, without)
        except CausalistError as error:
            if not self.in_time():  # a step that was told to end
                self.leave_out(name)
                return without()
            self._record_failure(name, f"{error.slug}: {error}")
            self._skipped[name] = f"{error.slug}: {error}"
            return without()
        except Exception as error:
            self._record_failure(name, f"{type(error).__name__}: {error}")
            raise
        if self._circuits is not None:
            self._circuits.record_success(name)
        return result

    def timed(self, name: Step) -> AbstractContextManager[None]:
        """Add the time of the block to a step, which a deadline may end."""
        return self._bound_step(name, inf)

    def record_count(self, name: str, n: int) -> None:
        """Record the number of candidates of a generator."""
        self._found[name] = n

    def take_found(self) -> Mapping[str, int]:
        """Return the numbers recorded since the last call, by generator."""
        counts, self._found = self._found, {}
        return counts

    def seconds_left(self) -> float:
        """Return the seconds until steps are left out."""
        return inf if self._deadline is None else self._deadline.left - RESERVE

    def in_time(self) -> bool:
        """Return True if there is time left."""
        return self.seconds_left() > 0

    def leave_out(self, what: str) -> None:
        """Record that a step was left out for lack of time."""
        self._left_out[what] = None

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return diagnostics of skipped steps and of the deadline."""
        skipped = [Diagnostic(DiagnosticSlug.STEP_SKIPPED, f"{name}: {why}", -1) for name, why in self._skipped.items()]
        if self._left_out and self._deadline is not None:
            detail = f"left out to answer within {self._deadline.seconds:g} s: {', '.join(self._left_out)}"
            skipped.append(Diagnostic(DiagnosticSlug.DEADLINE, detail, -1))
        return tuple(skipped)

    def _bound_step(self, name: Step, until: float) -> AbstractContextManager[None]:
        timer = super().timed(name)
        return timer if self._deadline is None else self._deadline.around(name, timer, until)

    def _until(self, name: str) -> float:
        """Return the moment from which on an optional step may be stopped."""
        if self._deadline is None:
            return inf
        if name in _SKIPPABLE_STEPS:
            return self._deadline.due - RESERVE
        return max(self._deadline.due, time.monotonic()) + _LATE

    def _without_stopped(self, name: str, without: Callable[[], _T]) -> _T:
        self.leave_out(f"{name} (stopped)")
        return without()

    def _record_failure(self, name: str, reason: str) -> None:
        if self._circuits is not None:
            self._circuits.record_failure(name, reason)


MAX_ANSWERS = 64
MAX_CHARACTERS = 8_000_000  # of all packs together
MAX_FILES = 200  # that an answer was made from; looking at more takes as long as answering
# An answer that says one of these is worth another try.
_UNCACHED_SLUGS = frozenset({DiagnosticSlug.DEADLINE, DiagnosticSlug.STEP_SKIPPED, DiagnosticSlug.STALE})


class CachedAnswer(NamedTuple):
    """An answer, and the paths of the files that were read for it."""

    answer: Answer
    files: tuple[str, ...]


class AnswerCache:
    """The most recently used answers. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, CachedAnswer] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> CachedAnswer | None:
        """Return the answer of a key, or None."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, answer: Answer, files: tuple[str, ...]) -> None:
        """Store an answer with the paths of the files it read; drop the least recently used ones.

        Incomplete answers are not stored, nor answers without results, which are cheap.
        """
        kept = CachedAnswer(answer, files)
        if answer.pack is None or len(files) > MAX_FILES or any(d.slug in _UNCACHED_SLUGS for d in answer.diagnostics):
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self._characters += _count_characters(kept)
            while len(self._kept) > MAX_ANSWERS or self._characters > MAX_CHARACTERS:
                self._drop(next(iter(self._kept)))

    def newest_files(self) -> tuple[str, ...]:
        """Return the files of the answer that was stored or used last; empty without answers."""
        with self._lock:
            return next((kept.files for kept in reversed(self._kept.values())), ())

    def forget(self, key: Hashable) -> None:
        """Drop the answer of a key."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        dropped = self._kept.pop(key, None)
        if dropped is not None:
            self._characters -= _count_characters(dropped)


def _count_characters(kept: CachedAnswer) -> int:
    return len(kept.answer.pack.text) if kept.answer.pack is not None else 0


# Answers a question that is not cached, of a repository, with the options as they were given, and `remember` of `ask`.
AskInTime = Callable[[Any, str, AskOptions, bool | None], CachedAnswer]


@dataclass(frozen=True, slots=True)
class Session:
    """State of one process, whichever index it answers from.

    `ask_in_time` answers for `Repository.ask`, within a time that the process chose; None: `ask` does it itself.
    """

    circuits: Circuits = field(default_factory=Circuits)
    answers: AnswerCache = field(default_factory=AnswerCache)
    ask_in_time: AskInTime | None = None
