"""Run a command line: map errors to messages and exit codes, and tune the process for one answer.

0  something was found; also if the reader of stdout stopped reading (`| head`)
1  nothing was found, including a folder without files to index
2  failure: bad usage, a CausalistError, or an unexpected error
130  interrupted
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.cli._output import discard_output, prepare_streams, say
from causalist.errors import CausalistError, NothingToIndex

_EXTRA_ARGUMENTS = lazy_regex(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)
_UNKNOWN_COMMAND = lazy_regex(r"No such command '(.*)'", re.DOTALL)
_SHELL_SYNTAX = lazy_regex(r"[\"$`\\!]")


def suggest_command(error: click.UsageError) -> str | None:
    """Return a command line to try after a usage error, or None.

    It covers a repository given without --repo and a query without quotes.
    """
    context = error.ctx
    if context is None:
        return None
    message = error.format_message()
    unknown = _UNKNOWN_COMMAND.match(message)
    if unknown is not None:
        asked = unknown[1]
        return (
            f"To ask a question: {context.command_path} ask {_quote_argument(asked)}"
            if len(asked.split()) > 1
            else None
        )
    further = _EXTRA_ARGUMENTS.match(message)
    if further is None:
        return None
    path = context.command_path
    if "repo" in context.params and context.params["repo"] is None and _is_folder(further[1]):
        import shlex

        given = [context.params[each.name] for each in context.command.params if isinstance(each, click.Argument)]
        own = "".join(f" {_quote_argument(value)}" for value in given if isinstance(value, str))
        return f"To use another repository: {path}{own} --repo {shlex.quote(further[1])}"
    first = context.params.get("query")
    if isinstance(first, str):
        return f"Put a query of several words in quotes: {path} {_quote_argument(f'{first} {further[1]}')}"
    return None


def _quote_argument(text: str) -> str:
    """Return a text as one shell word, in double quotes if these are enough."""
    import shlex

    if text == shlex.quote(text):
        return text
    return shlex.quote(text) if _SHELL_SYNTAX.search(text) else f'"{text}"'


def _is_folder(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except (OSError, ValueError):
        return False


COMPLETION = "_CAUSALIST_COMPLETE"  # the variable by which a shell asks for completions
NOTHING_FOUND = 1
FAILURE = 2
INTERRUPTED = 130
_GC_THRESHOLD = 200_000  # new objects: answers and most reviews make fewer, and each collection takes 10 ms
_SERVER_COMMANDS = ("serve", "watch")  # commands
_MATRIX_COMMANDS = ("learn", "eval")  # commands that multiply matrices and use threads
# Environment variable that enables tracebacks of unexpected errors.
TRACEBACK = "CAUSALIST_TRACEBACK"
# Environment variable that OpenBLAS of numpy's wheels reads when it is loaded.
_THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"
_is_prepared = False  # this process was started for one answer


@dataclass(frozen=True, slots=True)
class StartTime:
    """Start of a command for its deadline: `seconds` passed before the command line was read."""

    seconds: float


def run_command_line(group: click.Group, name: str, arguments: Sequence[str], extra: dict[str, Any]) -> int:
    """Run a command line and return its exit code. Raises nothing."""
    prepare_streams()
    try:
        with group.make_context(name, list(arguments), **extra) as context:
            group.invoke(context)
    except BrokenPipeError:
        discard_output(sys.stdout, sys.stderr)
    except KeyboardInterrupt:
        say("interrupted; files that were already complete are unchanged")
        return INTERRUPTED
    except Exception as error:
        return _report_error(error)
    return 0


def prepare_process(arguments: Sequence[str]) -> None:
    """Reduce garbage collection in a process that runs one command; servers keep the default."""
    import gc

    global _is_prepared
    if not set(_SERVER_COMMANDS).intersection(arguments[:1]):
        # The process ends before reference cycles use much memory.
        gc.set_threshold(_GC_THRESHOLD, 20, 20)
        compares_vectors = list(arguments[:1]) == ["memory"] and "--embedder" in arguments
        _is_prepared = not (compares_vectors or set(_MATRIX_COMMANDS).intersection(arguments[:1]))


def import_numpy() -> None:
    """Import numpy, without BLAS threads in a process that runs one command.

    Such a process multiplies no matrices, and starting and ending the threads takes a third of the import time. Other
    libraries with threads, such as embedders, are not affected.
    """
    if not _is_prepared or "numpy" in sys.modules or _THREADS_VARIABLE in os.environ:
        import numpy as numpy

        return
    os.environ[_THREADS_VARIABLE] = "1"
    try:
        import numpy as numpy
    finally:
        del os.environ[_THREADS_VARIABLE]


def keep_freed_memory() -> None:
    """Keep freed memory in a process that runs one command; returning it to the system costs time."""
    if _is_prepared:
        from causalist._internal.forked_task import disable_trim

        disable_trim()


def exit_process(code: int) -> None:
    """Exit without tearing down the interpreter, which saves a tenth of the time of an answer.

    Return normally if threads, child processes, tracing or unflushed output still need the interpreter's exit.
    """
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
        return  # the interpreter reports the error at exit
    os._exit(code)


def _report_error(error: Exception) -> int:
    """Report an error and return its exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        if isinstance(error, click.UsageError):
            hint = suggest_command(error)
            if hint is not None:
                say(hint)
        return FAILURE
    if isinstance(error, CausalistError):
        say(str(error), error.slug)
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
