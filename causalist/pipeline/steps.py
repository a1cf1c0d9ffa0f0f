"""The steps of answering: how long each takes, how long all may take, and which keep failing.

What happens to a step that fails is decided in `watched.py`; here is only what is counted.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from causalist._internal.circuit_breaker import MOST_FAILURES, PASSED_OVER, Circuits
from causalist.errors import UsageError
from causalist.model.protocols import STAGES

__all__ = ["MOST_FAILURES", "PASSED_OVER", "RESERVE", "Circuits", "Clock", "Deadline"]


class Clock:
    """Milliseconds of the stages and their steps. A step has its own time, without that of steps inside of it, and a
    step that is entered again adds to it. A stage has the time of its steps."""

    def __init__(self) -> None:
        self._spent: dict[str, float] = {}
        self._inside: list[float] = []  # of each open step: seconds of the steps inside of it

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
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
            result.update({name: round(self._spent[name] * 1000, 3) for name in inside})
        return result


# Seconds that an answer takes beyond what can be left out: words, weights, order, packing, printing. Measured on
# repositories of some thousand files; in larger ones an answer is late by what they need more.
RESERVE = 0.2


class Deadline:
    """The moment, by the monotonic clock, at which an answer is due."""

    def __init__(self, seconds: float, *, gone: float = 0.0) -> None:
        """`gone` of the `seconds` are over. Raises UsageError for what is no positive number of seconds."""
        if not 0.0 < seconds < float("inf"):
            raise UsageError(f"--deadline is {seconds:g}; it is a number of seconds above 0")
        self.seconds = seconds
        self._due = time.monotonic() + seconds - gone

    @property
    def left(self) -> float:
        """Seconds that are left, below 0 when it is over."""
        return self._due - time.monotonic()
