"""Output of commands: results on stdout, messages and progress on stderr, all in UTF-8.

Progress appears on terminals only, after 200 ms. A terminal shows one line that is redrawn and cleared at the end: a
bar, the stage, how much of it is done, how much a second, and the time left. With NO_COLOR or TERM=dumb, each stage
gets a line of its own.
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

# A lone surrogate becomes `\udc80`, which JSON reads as the same string.
_ENCODING_ERRORS = "backslashreplace"
MESSAGES = "https://causalist.github.io/causalist/messages/"  # an entry for each slug
EDITORS = "https://causalist.github.io/causalist/editors/"  # a page for each editor


def prepare_streams() -> None:
    """Make stdout and stderr accept any text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=_ENCODING_ERRORS)


def discard_output(*streams: TextIO | None) -> None:
    """Redirect the streams to the null device.

    Their buffers cannot be written, and the interpreter would report that at exit.
    """
    for stream in streams:
        with suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
            os.close(nowhere)


def emit(text: str) -> None:
    """Write a part of the result unchanged. Raises UsageError if stdout cannot be written."""
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output(sys.stdout)
        raise UsageError(f"cannot write the results: {error.strerror or error}") from error


def emit_lines(lines: Iterable[str]) -> None:
    """Write lines with repository content; control characters are escaped."""
    emit("".join(f"{escape_controls(line)}\n" for line in lines))


def emit_document(document: Mapping[str, object]) -> None:
    """Write the JSON document of a command on one line."""
    emit(to_json(document) + "\n")


def to_json(document: object) -> str:
    """Return a document as JSON."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def say(message: str, slug: str = "") -> None:
    """Write a message to stderr; `slug` stands before it, on a terminal as a link (OSC 8) to its entry in the docs."""
    if slug:
        is_shown = sys.stderr is not None and sys.stderr.isatty()
        click.echo(f"causalist: {_link_message(slug) if is_shown else slug}: {escape_controls(message)}", err=True)
    else:
        click.echo(f"causalist: {escape_controls(message)}", err=True)


def _link_message(slug: str) -> str:
    return f"\x1b]8;;{MESSAGES}#{slug}\x1b\\{slug}\x1b]8;;\x1b\\"


def escape_controls(text: str) -> str:
    """Return `text` with terminal control characters escaped; repositories are untrusted."""
    from causalist._internal.text_formatting import neutralize

    return neutralize(text)


@contextmanager
def open_destination(file: Path | None) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes results to stdout or to `file`, which is replaced atomically.

    A pipe or device (such as /dev/stdout) is written directly. Raises UsageError if writing fails.
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


SILENT_SECONDS = 0.2
REDRAW_SECONDS = 0.1
_BAR_CHARACTERS = 24
_DEFAULT_COLUMNS = 80
_STAGES_OF_FILES = ("parsing", "linking")
_MIN_RATE_SECONDS, _MIN_RATE_SHARE = 0.3, 0.01  # of a stage before its rate says anything


class ProgressBar:
    """`Progress` that draws on `stream`, after `silent` seconds.

    `redraws`: redraw one line instead of adding a line per stage.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        redraws: bool,
        clock: Callable[[], float] = time.monotonic,
        silent: float = SILENT_SECONDS,
    ) -> None:
        self._stream = stream
        self._redraws = redraws
        self._clock = clock
        self._silent_until = clock() + silent
        self._stage = ""
        self._stage_since = clock()
        self._first_done = 0  # of the stage: what was known before costs no time
        self._drawn_stage = ""
        self._drawn_at = 0.0
        self._width = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = self._clock()
        if what != self._stage:
            self._stage, self._stage_since, self._first_done = what, now, done
        is_new = what != self._drawn_stage
        if now < self._silent_until or not (is_new or (self._redraws and now - self._drawn_at >= REDRAW_SECONDS)):
            return
        self._drawn_stage, self._drawn_at = what, now
        if not self._redraws:
            self._write(f"{what}\n")
            return
        line = self._line(what, done, total, now - self._stage_since)
        self._write("\r" + line.ljust(self._width))
        self._width = len(line)

    def _line(self, what: str, done: int, total: int, seconds: float) -> str:
        """Return a line that fits the terminal."""
        if not total:
            return what
        n_full = _BAR_CHARACTERS * min(done, total) // total
        unit = " files" if what in _STAGES_OF_FILES else ""
        parts = [f"[{'#' * n_full}{'.' * (_BAR_CHARACTERS - n_full)}]", what, f"{done:,}/{total:,}{unit}"]
        n_new = done - self._first_done
        if seconds >= _MIN_RATE_SECONDS and n_new > 0 and n_new >= _MIN_RATE_SHARE * total:
            rate = n_new / seconds
            parts += [f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s", f"{_duration((total - done) / rate)} left"]
        line = "  ".join(parts)
        return line[: max(self._columns() - 1, len(what))]

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _DEFAULT_COLUMNS
        except (OSError, ValueError):
            return _DEFAULT_COLUMNS

    def close(self) -> None:
        """Clear the line, if one is drawn."""
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0

    def _write(self, text: str) -> None:
        click.echo(text, file=self._stream, nl=False)


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(0.4), _duration(59.7), _duration(200)
    ('0 s', '1:00 min', '3:20 min')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02} min"


def ignore_progress(what: str, done: int, total: int) -> None:
    """Discard a progress report."""


@contextmanager
def show_progress(*, at_once: bool = False) -> "Iterator[Progress]":
    """Yield a `Progress` for long work; it is cleared at the end.

    With `at_once` the first report is drawn as it comes, for work that is known to be long.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield ignore_progress
        return
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    # Users count from the start of the process.
    silent = 0.0 if at_once else max(0.0, SILENT_SECONDS - time.process_time())
    shown = ProgressBar(stream, redraws=not plain, silent=silent)
    try:
        yield shown
    finally:
        shown.close()
