"""Circuit breaker for steps that keep failing, for queries about code and about text."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

# Chosen by hand: twice in a row may be bad luck, and a step that fails now and then costs less than one that is missed.
MAX_FAILURES = 3
# How often a step that keeps failing is passed over before it is tried again. Counted and not timed, so that the same
# questions get the same answers.
SKIPPED_RUNS = 20


@dataclass(slots=True)
class _Circuit:
    failures: int = 0  # in a row
    passes: int = 0  # how often it is still passed over
    reason: str = ""


@dataclass(slots=True)
class Circuits:
    """Steps of one process that keep failing and are skipped for a while.

    After `MAX_FAILURES` failures in a row a step is skipped `SKIPPED_RUNS` times (its circuit is open). Then it runs
    once: success closes the circuit, failure skips it as often again. Thread-safe.
    """

    _by_step: dict[str, _Circuit] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

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
                circuit.passes = SKIPPED_RUNS  # for whoever asks until the trial has ended
                return ""
            circuit.passes -= 1
            return (
                f"not tried after {circuit.failures} failures in a row, the last one {circuit.reason}; "
                f"tried again after {circuit.passes} more times"
            )

    def failed(self, step: str, reason: str) -> None:
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

    def worked(self, step: str) -> None:
        """Record a success of a step."""
        with self._lock:
            self._by_step.pop(step, None)
