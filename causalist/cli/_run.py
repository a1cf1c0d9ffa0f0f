"""What would work instead of a command line that click does not understand.

In: the error. Out: a line to be said below it, or none: the slips of people who have just begun, a repository named
without its option and a question without quotes.

The one place where errors become messages and exit codes.

0  something was found; also a reader of stdout that has seen enough (`| head`)
1  nothing was found, among it a folder without anything to index
2  failure: bad usage, a CausalistError, anything unexpected
130  interrupted
"""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from causalist._internal.lazy import dataclass
from causalist.cli._output import abandon, prepare_streams, say
from causalist.errors import CausalistError, NothingToIndex

_TOO_MANY = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)
_UNKNOWN = re.compile(r"No such command '(.*)'", re.DOTALL)
_MEANT_BY_SHELLS = re.compile(r"[\"$`\\!]")


def hint_for(error: click.UsageError) -> str | None:
    """A command line to try, where it can be told what was meant."""
    context = error.ctx
    if context is None:
        return None
    said = error.format_message()
    unknown = _UNKNOWN.match(said)
    if unknown is not None:
        asked = unknown[1]
        return f"To ask a question: {context.command_path} ask {_quoted(asked)}" if len(asked.split()) > 1 else None
    further = _TOO_MANY.match(said)
    if further is None:
        return None
    path = context.command_path
    if "repo" in context.params and context.params["repo"] is None and _is_folder(further[1]):
        given = [context.params[each.name] for each in context.command.params if isinstance(each, click.Argument)]
        own = "".join(f" {_quoted(value)}" for value in given if isinstance(value, str))
        return f"To use another repository: {path}{own} --repo {shlex.quote(further[1])}"
    first = context.params.get("query")
    if isinstance(first, str):
        return f"Put a query of several words in quotes: {path} {_quoted(f'{first} {further[1]}')}"
    return None


def _quoted(text: str) -> str:
    """One word for a shell, in the quotes that most shells know where these do."""
    if text == shlex.quote(text):
        return text
    return shlex.quote(text) if _MEANT_BY_SHELLS.search(text) else f'"{text}"'


def _is_folder(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except (OSError, ValueError):
        return False


NOTHING_FOUND = 1
FAILURE = 2
INTERRUPTED = 130
_OBJECTS_A_COLLECTION = 50_000
_STAYING = ("serve", "watch")  # commands
_MULTIPLYING = ("memory", "learn", "eval")  # commands that multiply whole matrices, for which threads are of use
# The environment variable that asks for the traceback of something unexpected.
TRACEBACK = "CAUSALIST_TRACEBACK"
# The one that OpenBLAS, which numpy's wheels come with, reads when it is loaded.
_THREADS = "OPENBLAS_NUM_THREADS"
_is_prepared = False  # this process was started for one answer


@dataclass(frozen=True, slots=True)
class Began:
    """When a command began, of which its deadline is counted: `seconds` before the command line was read."""

    seconds: float


def run(group: click.Group, name: str, arguments: Sequence[str], extra: dict[str, Any]) -> int:
    """Runs a command line and returns its exit code. Raises nothing."""
    prepare_streams()
    try:
        with group.make_context(name, list(arguments), **extra) as context:
            group.invoke(context)
    except BrokenPipeError:
        abandon(sys.stdout, sys.stderr)
    except KeyboardInterrupt:
        say("interrupted; files that were already complete are unchanged")
        return INTERRUPTED
    except Exception as error:
        return _explained(error)
    return 0


def prepare_process(arguments: Sequence[str]) -> None:
    """Spares a process that was started for one answer what it will not miss; one that stays keeps house as ever."""
    import gc

    global _is_prepared
    if not set(_STAYING).intersection(arguments[:1]):
        # It ends before cycles add up to anything.
        gc.set_threshold(_OBJECTS_A_COLLECTION, 20, 20)
        _is_prepared = not set(_MULTIPLYING).intersection(arguments[:1])


def import_numpy() -> None:
    """Loads numpy; in a process that was prepared for one answer without threads for products of matrices, of which
    there are none: starting and ending them takes a third of the time of the import. Other libraries with threads of
    their own, such as those of an embedder, have them as ever."""
    if not _is_prepared or "numpy" in sys.modules or _THREADS in os.environ:
        import numpy as numpy

        return
    os.environ[_THREADS] = "1"
    try:
        import numpy as numpy
    finally:
        del os.environ[_THREADS]


def keep_memory() -> None:
    """In a process that was prepared for one answer: what is freed from now on is not given back before it ends."""
    if _is_prepared:
        from causalist._internal.process import keep_what_is_freed

        keep_what_is_freed()


def end_at_once(code: int) -> None:
    """Ends the process without taking the interpreter apart, which takes a tenth as long as an answer; or returns
    where something may still have to be done at its end."""
    busy = ("multiprocessing", "concurrent.futures.thread", "asyncio", "coverage")
    threading = sys.modules.get("threading")
    if sys.gettrace() or sys.getprofile() or any(name in sys.modules for name in busy):
        return
    if threading is not None and threading.active_count() > 1:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return  # the interpreter says what is to be said
    os._exit(code)


def _explained(error: Exception) -> int:
    """Says what went wrong and returns the exit code for it."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        if isinstance(error, click.UsageError):
            hint = hint_for(error)
            if hint is not None:
                say(hint)
        return FAILURE
    if isinstance(error, CausalistError):
        say(f"{error.slug}: {error}")
        return NOTHING_FOUND if isinstance(error, NothingToIndex) else FAILURE
    if os.environ.get(TRACEBACK):
        import traceback

        say("internal: " + "".join(traceback.format_exception(error)).rstrip())
    else:
        say(
            f"internal: {type(error).__name__}: {error}\nThis is a defect of Causalist; "
            f"set {TRACEBACK}=1 to see the traceback."
        )
    return FAILURE
