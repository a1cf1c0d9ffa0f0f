"""The one place where a step of an answer may fail, or be left out for want of time, without the answer failing."""

from collections.abc import Callable, Mapping
from math import inf
from typing import TypeVar

from causalist.errors import CausalistError
from causalist.model.diagnostic import Diagnostic
from causalist.pipeline.steps import RESERVE, Circuits, Clock, Deadline

_T = TypeVar("_T")

# Steps that are left out when there is no time. All others take as long as it takes to find that out.
_WAITING = frozenset(
    {
        "candidates.literals",
        "candidates.files",
        "candidates.names",
        "candidates.synonyms",
        "candidates.dense",
        "candidates.history",
        "candidates.graph",
        "candidates.pagerank",
        "candidates.places",
        "assemble.attribution",
    }
)


class Watched(Clock):
    """Runs the steps of one answer: the one place where a step may fail without the answer failing.

    A CausalistError skips an optional step, and the answer says so. Anything unexpected goes its way; a process that
    answers many questions remembers it, so that what keeps failing is passed over for a while.
    """

    def __init__(self, circuits: Circuits | None, deadline: Deadline | None) -> None:
        super().__init__()
        self._circuits = circuits
        self._deadline = deadline
        self._left_out: dict[str, None] = {}
        self._skipped: dict[str, str] = {}  # why, by step
        self._found: dict[str, int] = {}

    def optional(self, name: str, work: Callable[[], _T], without: Callable[[], _T]) -> _T:
        if self._circuits is not None:
            reason = self._circuits.passes_over(name)
            if reason:
                self._skipped[name] = reason
                return without()
        if name in _WAITING and not self.in_time():
            self.leave_out(name)
            return without()
        try:
            with self.timed(name):
                result = work()
        except CausalistError as error:
            if not self.in_time():  # a step that was told to end
                self.leave_out(name)
                return without()
            self._failed(name, f"{error.slug}: {error}")
            self._skipped[name] = f"{error.slug}: {error}"
            return without()
        except Exception as error:
            self._failed(name, f"{type(error).__name__}: {error}")
            raise
        if self._circuits is not None:
            self._circuits.worked(name)
        return result

    def found(self, name: str, n: int) -> None:
        self._found[name] = n

    def take_found(self) -> Mapping[str, int]:
        """What was found since this was asked last, by generator."""
        found, self._found = self._found, {}
        return found

    def left(self) -> float:
        return inf if self._deadline is None else self._deadline.left - RESERVE

    def in_time(self) -> bool:
        return self.left() > 0

    def leave_out(self, what: str) -> None:
        self._left_out[what] = None

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        skipped = [Diagnostic("step-skipped", f"{name}: {why}", -1) for name, why in self._skipped.items()]
        if self._left_out and self._deadline is not None:
            detail = f"left out to answer within {self._deadline.seconds:g} s: {', '.join(self._left_out)}"
            skipped.append(Diagnostic("deadline", detail, -1))
        return tuple(skipped)

    def _failed(self, name: str, reason: str) -> None:
        if self._circuits is not None:
            self._circuits.failed(name, reason)
