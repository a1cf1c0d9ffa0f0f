"""Which steps of a pipeline keep failing: of questions about code and about free text alike."""

import threading
from dataclasses import dataclass, field

# Chosen by hand: twice in a row may be bad luck, and a step that fails now and then costs less than one that is missed.
MOST_FAILURES = 3
# How often a step that keeps failing is passed over before it is tried again. Counted and not timed, so that the same
# questions get the same answers.
PASSED_OVER = 20


@dataclass(slots=True)
class _Circuit:
    failures: int = 0  # in a row
    passes: int = 0  # how often it is still passed over
    reason: str = ""


@dataclass(slots=True)
class Circuits:
    """Of a process that answers many questions: which steps keep failing, so that they are passed over for a while.

    After `MOST_FAILURES` failures in a row a step is passed over `PASSED_OVER` times (its circuit is open). Then it is
    tried once: if that goes well it is as good as new, otherwise it is passed over as often again. For any thread.
    """

    _by_step: dict[str, _Circuit] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def passes_over(self, step: str) -> str:
        """Why a step is passed over this time; "" where it is tried."""
        with self._lock:
            circuit = self._by_step.get(step)
            if circuit is None or circuit.failures < MOST_FAILURES:
                return ""
            if circuit.passes == 0:
                circuit.passes = PASSED_OVER  # for whoever asks until the trial has ended
                return ""
            circuit.passes -= 1
            return (
                f"not tried after {circuit.failures} failures in a row, the last one {circuit.reason}; "
                f"tried again after {circuit.passes} more times"
            )

    def failed(self, step: str, reason: str) -> None:
        with self._lock:
            circuit = self._by_step.setdefault(step, _Circuit())
            circuit.failures += 1
            circuit.reason = reason
            if circuit.failures >= MOST_FAILURES:
                circuit.passes = PASSED_OVER

    def worked(self, step: str) -> None:
        with self._lock:
            self._by_step.pop(step, None)
