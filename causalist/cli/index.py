"""`causalist index`: builds or refreshes the index and says what is in it."""

import time
from collections import Counter
from pathlib import Path

import click

from causalist.cli._output import counted, emit_document, emit_lines
from causalist.cli._repository import json_option, open_repository, repository_options, say_notes
from causalist.documents.answers import no_status_document, status_document


@click.command("index")
@repository_options
@click.option("--processes", type=click.IntRange(min=1), help="How many parse at once; by default one a processor.")
@click.option(
    "--submodules/--no-submodules",
    default=None,
    help="Also what is in repositories inside of this one. The index remembers the choice; at first they stay out.",
)
@json_option
def command(repo: Path | None, force: bool, processes: int | None, submodules: bool | None, as_json: bool) -> None:
    """Builds or refreshes the index. Nobody has to: every command does it by itself.

    \b
    Example:
      causalist index --submodules
    """
    start = time.perf_counter()
    repository = open_repository(
        repo,
        force=force,
        processes=processes,
        submodules=submodules,
        when_empty=(lambda error: {**no_status_document(error), "seconds": None}) if as_json else None,
    )
    seconds = round(time.perf_counter() - start, 3)
    status = repository.status()
    say_notes(repository)
    if as_json:
        emit_document({**status_document(status, repository.notes), "seconds": seconds})
        return
    info = status.repository
    lines = [
        f"{info.files} files: {counted(status.languages)}",
        f"{info.nodes} nodes, {info.edges} edges",
        f"left out: {counted(status.skipped) or 'nothing'}",
    ]
    if status.notes:
        slugs = Counter(sorted(note.slug for note in status.notes))
        lines.append(f"notes: {counted(slugs)}; `causalist status` lists them")
    lines.append(f"{seconds:.2f} s, {info.root}")
    emit_lines(lines)
