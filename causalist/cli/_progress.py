"""Progress on stderr, for people who wait: nothing in the first second, nothing where stderr is no terminal.

A terminal gets one line that is written over and wiped at the end; with NO_COLOR or TERM=dumb, which say that
nothing but text is wanted, a line for each stage.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from causalist.index.collect import Progress

SILENT_SECONDS = 1.0
REDRAW_SECONDS = 0.1


class Shown:
    """A `Progress` that draws on `stream`. `redraws`: write over the same line, or add a line for each stage."""

    def __init__(self, stream: TextIO, *, redraws: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._redraws = redraws
        self._clock = clock
        self._silent_until = clock() + SILENT_SECONDS
        self._stage = ""
        self._drawn_at = 0.0
        self._width = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = self._clock()
        is_new = what != self._stage
        if now < self._silent_until or not (is_new or (self._redraws and now - self._drawn_at >= REDRAW_SECONDS)):
            return
        self._stage, self._drawn_at = what, now
        if not self._redraws:
            self._write(f"{what}\n")
            return
        line = f"{what} {done}/{total}" if total else what
        self._write("\r" + line.ljust(self._width))
        self._width = len(line)

    def close(self) -> None:
        """Wipes the line, if there is one."""
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0

    def _write(self, text: str) -> None:
        click.echo(text, file=self._stream, nl=False)


def silent(what: str, done: int, total: int) -> None:
    """A `Progress` that says nothing."""


@contextmanager
def progress_on_stderr() -> "Iterator[Progress]":
    """What to tell of the progress of work that may take long; whatever is drawn is gone at the end."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield silent
        return
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    shown = Shown(stream, redraws=not plain)
    try:
        yield shown
    finally:
        shown.close()
