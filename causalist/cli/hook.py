"""`causalist hook`: what an agent's client runs at a moment of its own choice.

Whatever happens, the exit code is 0, and what fails prints nothing on stdout: a client discards a prompt whose hook
fails, and shows an agent whatever stands on stdout.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from causalist.cli._output import say
from causalist.cli._repository import repo_option

# Time that was spent on starting the interpreter counts too.
_STARTED = time.monotonic() - time.process_time()
# What it takes to end after the deadline's verdict.
_MARGIN_SECONDS = 0.05
_MOST_INPUT = 16 << 20  # bytes
_MOST_OUTPUT = 1 << 20


class Harmless(click.Group):
    """A group whose commands never fail, neither by what they are given nor by what they do."""

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        context: click.Context = _harmless(partial(super().make_context, *arguments, **extra))
        return context

    def invoke(self, ctx: click.Context) -> Any:
        return _harmless(partial(super().invoke, ctx))


def _harmless(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except click.exceptions.Exit:
        pass
    except click.ClickException as error:
        with suppress(Exception):
            error.show()
    except (Exception, KeyboardInterrupt) as error:
        with suppress(Exception):
            say(f"{type(error).__name__}: {error}")
    raise click.exceptions.Exit(0)


@click.group("hook", cls=Harmless)
def command() -> None:
    """Run as a hook of an agent's client.

    \b
    Example:
      causalist hook prompt --deadline 1 < prompt.json
    """


@command.command("prompt")
@click.option("--deadline", type=click.FloatRange(0, 60), default=1.5, show_default=True, metavar="SECONDS",
              help="Exit after SECONDS, even without an answer.")  # fmt: skip
@repo_option
def prompt(deadline: float, repo: Path | None) -> None:
    """Print code that is relevant to the user's prompt.

    The prompt is read from the hook's JSON on standard input. Nothing is printed if the prompt has no search terms, if
    the confidence of the answer is low, or if there is no index yet; the index is then built in the background. The
    exit code is always 0.

    \b
    Example:
      causalist hook prompt --deadline 1 < prompt.json
    """
    from causalist.cli._hook_process import outcome_before, read_until

    if sys.stdin is None or sys.stdin.isatty():
        say("standard input is a terminal, not the JSON of a hook; run `causalist install CLIENT --hook` to set one up")
        return
    ends = _STARTED + deadline - _MARGIN_SECONDS
    data = read_until(sys.stdin.fileno(), ends, _MOST_INPUT)
    if data is None:
        return
    out = outcome_before(ends, partial(_printed, data, repo), _MOST_OUTPUT)
    if out:
        with suppress(OSError):
            os.write(sys.stdout.fileno(), out)


def _printed(data: bytes, repo: Path | None) -> bytes:
    """What is printed for a hook's input. Raises whatever goes wrong."""
    from causalist.cli._hook_context import MOST_CHARACTERS, read_prompt, says_something, written

    asked = read_prompt(data)
    if asked is None or not says_something(asked.text):
        return b""
    from causalist.cli._hook_context import context_for, stored_repository
    from causalist.cli._hook_process import start_indexing
    from causalist.source import find_root, refuse_root

    folder = repo or asked.folder or Path()
    root = find_root(folder) if repo is None else repo.resolve()
    refuse_root(root)
    start_indexing(root)
    repository = stored_repository(root, folder)
    context = context_for(repository, asked.text) if repository is not None else None
    if context is None or len(context) > MOST_CHARACTERS:
        return b""
    return written(context, asked.event)
