"""The steps of answering, timed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Milliseconds of named steps."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.milliseconds[name] = round((time.perf_counter() - start) * 1000, 3)
