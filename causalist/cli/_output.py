"""What a command prints: results on stdout, everything else on stderr, both UTF-8 whatever the locale says.

Progress on stderr, for people who wait: nothing in the first second, nothing where stderr is no terminal.

A terminal gets one line that is written over and wiped at the end; with NO_COLOR or TERM=dumb, which say that
nothing but text is wanted, a line for each stage.
"""

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from causalist.errors import UsageError

if TYPE_CHECKING:
    from causalist.index.options import Progress

# A lone surrogate becomes `\udc80`, which inside of JSON is the same string again.
_ENCODING_ERRORS = "backslashreplace"


def prepare_streams() -> None:
    """Makes stdout and stderr take any text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=_ENCODING_ERRORS)


def abandon(*streams: TextIO | None) -> None:
    """Sends what is still buffered to nowhere: it cannot be written, and the interpreter would complain at its end."""
    for stream in streams:
        with suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
            os.close(nowhere)


def emit(text: str) -> None:
    """A part of the result, as it stands. Raises UsageError where stdout cannot take it."""
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon(sys.stdout)
        raise UsageError(f"cannot write the results: {error.strerror or error}") from error


def emit_lines(lines: Iterable[str]) -> None:
    """Lines with repository content in them that nothing has made safe yet."""
    emit("".join(f"{safe(line)}\n" for line in lines))


def emit_document(document: Mapping[str, object]) -> None:
    """The one JSON document of a command, on one line."""
    emit(to_json(document) + "\n")


def to_json(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def say(message: str) -> None:
    """A message for people, on stderr."""
    click.echo(f"causalist: {safe(message)}", err=True)


def safe(text: str) -> str:
    """`text` with characters that could drive a terminal shown as escapes: names come from hostile repositories."""
    from causalist._internal.sanitize import neutralise

    return neutralise(text)


@contextmanager
def destination(file: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes results to stdout, or to `file`, which is there complete or not at all.

    What is no regular file (a pipe, /dev/stdout) is written directly. Raises UsageError where writing fails.
    """
    if file is None or str(file) == "-":
        yield emit
        return
    is_replaced = file.is_file() or not file.exists()
    target = file.resolve() if is_replaced else file
    aside = target.with_name(f"{target.name}.{os.getpid()}.new") if is_replaced else target
    try:
        with aside.open("w", encoding="utf-8", errors=_ENCODING_ERRORS, newline="\n") as out:
            yield out.write
        if is_replaced:
            aside.replace(target)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        if is_replaced:
            with suppress(OSError):
                aside.unlink(missing_ok=True)


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
