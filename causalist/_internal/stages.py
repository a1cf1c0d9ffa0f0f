"""Processor time by stage of indexing, of this process.

Off unless `StageClock.start` was called: then `stage` costs a look at one variable. Time in an inner stage does not
count for the outer one, so that the stages add up to the whole.
"""

import os
import time
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
