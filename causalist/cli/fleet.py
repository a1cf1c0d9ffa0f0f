"""`causalist fleet`: many repositories as one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from causalist._internal.text import align_columns, count_noun
from causalist.cli._output import emit_document, emit_lines, say, show_progress
from causalist.cli._repository import json_option
from causalist.cli._run import FAILURE, NOTHING_FOUND

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _fleet_option(command: _Command) -> _Command:
    return click.option(
        "--fleet", "folder", type=click.Path(path_type=Path), default=Path(), envvar="CAUSALIST_FLEET",
        help="Folder with fleet.toml.  [default: the current folder or above]",
    )(command)  # fmt: skip


@click.group("fleet")
def fleet_command() -> None:
    """Index many repositories and answer over all of them (extra `fleet`)."""


@fleet_command.command("add")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--name", default="", help="Name of the repository, if SOURCE is one.")
@click.option("--ref", default="HEAD", show_default=True, help="Branch, tag or commit to index.")
@_fleet_option
def add_command(sources: tuple[str, ...], name: str, ref: str, folder: Path) -> None:
    """Add repositories to fleet.toml: folders, bare mirrors, folders of them, git addresses."""
    from causalist.fleet import Fleet

    added = Fleet.add(folder, sources, name=name, ref=ref)
    emit_lines([f"added {each.name}  {each.source}" for each in added])


@fleet_command.command("index")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_fleet_option
@json_option
@click.pass_context
def index_command(context: click.Context, names: tuple[str, ...], folder: Path, as_json: bool) -> None:
    """Index the repositories that changed, or those named."""
    from causalist.fleet import Fleet

    with show_progress() as progress:
        shards = Fleet.open(folder).index(names, progress=progress)
    failed = [each for each in shards if each.error]
    if as_json:
        emit_document({"shards": [each.to_record() for each in shards]})
    else:
        emit_lines([f"{count_noun(len(shards) - len(failed), 'repository')} indexed, {len(failed)} failed"])
    for each in failed:
        say(f"{each.name}: {each.error}")
    context.exit(FAILURE if failed and len(failed) == len(shards) else 0)


@fleet_command.command("status")
@_fleet_option
@json_option
@click.pass_context
def status_command(context: click.Context, folder: Path, as_json: bool) -> None:
    """Show what is indexed, and what failed."""
    from causalist.fleet import Fleet

    status = Fleet.open(folder).status()
    if as_json:
        emit_document({"shards": [each.to_record() for each in status.shards], "absent": list(status.absent)})
    else:
        rows = [[s.name, s.commit[:12], f"{s.n_files:,} files", f"{s.n_nodes:,} nodes", s.error] for s in status.shards]
        emit_lines([*align_columns(rows), *(f"{name}  not indexed yet" for name in status.absent)])
    context.exit(0 if status.shards else NOTHING_FOUND)
