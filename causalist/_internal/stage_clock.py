"""Stages of this process: their processor time, and a circuit breaker for steps that keep failing.

Times are off unless `StageClock.start` was called: then `stage` costs a look at one variable. Time in an inner stage
does not count for the outer one, so that the stages add up to the whole.

`Circuits` serves queries about code and about text.
"""

import os
import threading
import time
from collections.abc import Mapping
from types import TracebackType

START = "start"
OTHER = "other"
CHILDREN = "other processes"


class StageClock:
    """Seconds of processor time by stage, in the order in which the stages began."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage = OTHER
        self._since = time.process_time()

    def switch(self, stage: str) -> str:
        """Begin `stage` and return the one that was under way."""
        now = time.process_time()
        before = self._stage
        self.seconds[before] = self.seconds.get(before, 0.0) + now - self._since
        self._stage, self._since = stage, now
        return before

    @staticmethod
    def start() -> "StageClock":
        """Return a clock that counts from now on the stages of this process; what was before is `start`."""
        global _clock
        _clock = StageClock()
        _clock.seconds[START] = time.process_time()
        return _clock

    def stop(self) -> dict[str, float]:
        """Stop counting, and return seconds by stage; those of processes that have ended are `other processes`."""
        global _clock
        self.switch(OTHER)
        _clock = None
        ended = os.times()
        children = ended.children_user + ended.children_system
        return {**{name: each for name, each in self.seconds.items() if name != OTHER}, OTHER: self.seconds[OTHER]} | (
            {CHILDREN: children} if children else {}
        )


_clock: StageClock | None = None


class stage:  # noqa: N801 - read as a statement: `with stage("scan"):`
    """Context manager: the block is a part of this stage."""

    __slots__ = ("_before", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._before = OTHER

    def __enter__(self) -> None:
        if _clock is not None:
            self._before = _clock.switch(self._name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if _clock is not None:
            _clock.switch(self._before)


# Chosen by hand: twice in a row may be bad luck, and a step that fails now and then costs less than one that is missed.
MAX_FAILURES = 3
# How often a step that keeps failing is passed over before it is tried again. Counted and not timed, so that the same
# questions get the same answers.
SKIPPED_RUNS = 20


class _Circuit:
    __slots__ = ("failures", "passes", "reason")

    def __init__(self, failures: int = 0, passes: int = 0, reason: str = "") -> None:
        self.failures = failures  # in a row
        self.passes = passes  # how often it is still passed over
        self.reason = reason


class Circuits:
    """Steps of one process that keep failing and are skipped for a while.

    After `MAX_FAILURES` failures in a row a step is skipped `SKIPPED_RUNS` times (its circuit is open). Then it runs
    once: success closes the circuit, failure skips it as often again. Thread-safe.
    """

    def __init__(self) -> None:
        self._by_step: dict[str, _Circuit] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, state: Mapping[str, tuple[int, int, str]]) -> "Circuits":
        """Return circuits in a `state`."""
        made = cls()
        made.adopt(state)
        return made

    def passes_over(self, step: str) -> str:
        """Return the reason why a step is skipped this time; "" if it runs."""
        with self._lock:
            circuit = self._by_step.get(step)
            if circuit is None or circuit.failures < MAX_FAILURES:
                return ""
            if circuit.passes == 0:
                circuit.passes = SKIPPED_RUNS  # for callers until the trial has ended
                return ""
            circuit.passes -= 1
            return (
                f"not tried after {circuit.failures} failures in a row, the last one {circuit.reason}; "
                f"tried again after {circuit.passes} more times"
            )

    def record_failure(self, step: str, reason: str) -> None:
        """Record a failure of a step."""
        with self._lock:
            circuit = self._by_step.setdefault(step, _Circuit())
            circuit.failures += 1
            circuit.reason = reason
            if circuit.failures >= MAX_FAILURES:
                circuit.passes = SKIPPED_RUNS

    def state(self) -> dict[str, tuple[int, int, str]]:
        """Return (failures in a row, runs still skipped, last reason) by step, for another process."""
        with self._lock:
            return {step: (each.failures, each.passes, each.reason) for step, each in self._by_step.items()}

    def adopt(self, state: Mapping[str, tuple[int, int, str]]) -> None:
        """Take over the state of a process that answered in place of this one."""
        with self._lock:
            self._by_step = {step: _Circuit(*each) for step, each in state.items()}

    def record_success(self, step: str) -> None:
        """Record a success of a step."""
        with self._lock:
            self._by_step.pop(step, None)
