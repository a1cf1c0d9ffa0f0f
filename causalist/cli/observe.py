"""`causalist observe`: run a command and record which definitions of the repository call which."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text import align_columns, count_noun, describe_age
from causalist.cli._output import emit_document, emit_lines, say
from causalist.cli._repository import lookup_options, open_for_lookup
from causalist.cli._run import NOTHING_FOUND

if TYPE_CHECKING:
    from causalist.model.lookup import ObservedStatus

_MAX_RUNS_LISTED = 10


@click.command("observe", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@lookup_options
@click.option("--status", "is_status", is_flag=True, help="Show what was recorded; run nothing.")
@click.option("--forget", "is_forgotten", is_flag=True, help="Delete what was recorded; run nothing.")
def observe_command(
    command: tuple[str, ...],
    repo: Path | None,
    force: bool,
    is_status: bool,
    is_forgotten: bool,
    as_json: bool,
) -> None:
    """Run COMMAND and record the calls that happen.

    It is recorded which definitions of the repository call which. All processes of Python and Node that COMMAND starts
    are recorded, in the current folder and with the current environment; of Node, samples. It is also recorded what
    each test runs: of pytest, node --test, mocha, jest and go test, and of what writes coverage data that tells tests
    apart. callers, callees, neighbors, path, verify, impact and tests then confirm calls that were seen, add
    those that no rule finds, and lower those that never happen. A call counts until one of its two definitions changes.

    The exit code is that of COMMAND. With --json, its output goes to stderr.

    \b
    Example:
      causalist observe -- pytest -q
      causalist observe --status
    """
    if bool(command) + is_status + is_forgotten != 1:
        raise click.UsageError("Give either a command, such as `causalist observe -- pytest`, or --status or --forget.")
    repository = open_for_lookup(repo, force=force, when_empty={} if as_json else None)
    if is_forgotten:
        was_there = repository.forget_observed()
        _report(None, as_json, "forgot what was recorded" if was_there else "nothing was recorded")
        return
    code = 0
    if command:
        sys.stdout.flush()
        code, status = repository.observe(command, sys.stderr.fileno() if as_json else None)
    else:
        status = repository.observed_status()
    if command and not as_json:
        for line in _format_status(status, n_runs=1):
            say(line)
    elif status is None:
        _report(None, as_json, "nothing was recorded; `causalist observe -- COMMAND` records calls")
        code = NOTHING_FOUND
    else:
        _report(status, as_json, "")
    if code:
        click.get_current_context().exit(code)


def _report(status: "ObservedStatus | None", as_json: bool, message: str) -> None:
    if as_json:
        from causalist.serialize.lookups import observed_document

        emit_document(observed_document(status))
    elif status is not None:
        emit_lines(_format_status(status, n_runs=_MAX_RUNS_LISTED))
    if message:
        say(message)


def _format_status(status: "ObservedStatus | None", n_runs: int) -> Iterator[str]:
    """Yield counts, then the last runs."""
    if status is None:
        yield "nothing was recorded: no process of Python or Node ran code of the repository"
        return
    runs = status.runs[-n_runs:][::-1]
    yield (
        f"{count_noun(status.n_direct, 'call', ',')} between definitions seen, {status.n_through:,} more through "
        f"other code, {status.n_tests:,} tests"
    )
    yield (
        f"{status.n_confirmed:,} confirm an edge, {status.n_added:,} are new, {status.n_lowered:,} edges were not seen "
        f"and are lowered, {status.n_stale:,} calls are stale"
    )
    yield from align_columns(
        [(f"  {describe_age(run.time)} ago", count_noun(run.n_processes, "process", ","), run.command) for run in runs]
    )
    if runs and not runs[0].n_processes and not status.n_tests:
        yield (
            "no process of the last run ran code of the repository; one of Python without PYTHONPATH or site, or of "
            "Node without NODE_OPTIONS, is not seen"
        )
