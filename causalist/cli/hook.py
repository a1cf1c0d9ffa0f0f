"""`causalist hook`: commands that an agent's client runs.

The exit code is always 0, and a failure prints nothing on stdout: a client discards a prompt if its hook fails, and
passes stdout to the agent.
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

# Includes the start of the interpreter.
_STARTED_AT = time.monotonic() - time.process_time()
# time to exit after the deadline
_MARGIN_SECONDS = 0.05
# A part of a repository that is worth one takes 2 s and more: a shorter time would delay the prompt in vain.
_PART_SECONDS = 2.5
_MAX_INPUT_BYTES = 16 << 20  # bytes
_MAX_OUTPUT_BYTES = 1 << 20


class NeverFailGroup(click.Group):
    """Click group whose commands always exit with 0, even after a usage error or an exception."""

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """Parse arguments; errors are reported and exit with 0."""
        context: click.Context = _run_without_failing(partial(super().make_context, *arguments, **extra))
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors are reported and exit with 0."""
        return _run_without_failing(partial(super().invoke, ctx))


def _run_without_failing(work: Callable[[], Any]) -> Any:
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


@click.group("hook", cls=NeverFailGroup)
def hook_command() -> None:
    """Run as a hook of an agent's client.

    \b
    Example:
      causalist hook prompt --deadline 1 < prompt.json
    """


@hook_command.command("prompt")
@click.option("--deadline", type=click.FloatRange(0, 60), default=1.5, show_default=True, metavar="SECONDS",
              help="Exit after SECONDS, even without an answer.")  # fmt: skip
@repo_option
def prompt_command(deadline: float, repo: Path | None) -> None:
    """Print code that is relevant to the user's prompt.

    The prompt is read from the hook's JSON on standard input. Nothing is printed if the prompt has no search terms, or
    if the confidence of the answer is low. Without an index, one is built in the background, and the files that the
    prompt needs are parsed if the deadline leaves 3 seconds. The exit code is always 0.

    \b
    Example:
      causalist hook prompt --deadline 1 < prompt.json
    """
    from causalist.cli._hook_process import read_until, run_until

    if sys.stdin is None or sys.stdin.isatty():
        say("standard input is a terminal, not the JSON of a hook; run `causalist install CLIENT --hook` to set one up")
        return
    ends = _STARTED_AT + deadline - _MARGIN_SECONDS
    data = read_until(sys.stdin.fileno(), ends, _MAX_INPUT_BYTES)
    if data is None:
        return
    out = run_until(ends, partial(_prompt_output, data, repo, ends), _MAX_OUTPUT_BYTES)
    if out:
        with suppress(OSError):
            os.write(sys.stdout.fileno(), out)


def _prompt_output(data: bytes, repo: Path | None, ends: float) -> bytes:
    """Return the output for a hook's input, due at `ends` of `time.monotonic`. Raises any error of the pipeline."""
    from causalist.cli._hook_context import (
        MAX_CONTEXT_CHARACTERS,
        build_context,
        has_search_terms,
        open_partial_repository,
        open_stored_repository,
        read_prompt,
        render_context,
    )

    asked = read_prompt(data)
    if asked is None or not has_search_terms(asked.text):
        return b""
    from causalist.cli._hook_process import start_indexing
    from causalist.source import find_root, refuse_root

    folder = repo or asked.folder or Path()
    root = find_root(folder) if repo is None else repo.resolve()
    refuse_root(root)
    start_indexing(root)
    repository = open_stored_repository(root, folder)
    if repository is None and ends - time.monotonic() >= _PART_SECONDS:
        repository = open_partial_repository(root, folder, asked.text)
    context = build_context(repository, asked.text) if repository is not None else None
    if context is None or len(context) > MAX_CONTEXT_CHARACTERS:
        return b""
    return render_context(context, asked.event)
