"""`causalist index`: builds or refreshes the index and says what is in it."""

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import emit_document, emit_lines
from causalist.cli._progress import progress_on_stderr
from causalist.cli._repository import json_option, open_repository, repository_options, say_notes
from causalist.serialize.answers import no_status_document, status_document
from causalist.serialize.status import counted

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository


@click.command("index")
@repository_options
@click.option(
    "--processes", type=click.IntRange(min=1), help="How many parse and link at once; by default one a processor."
)
@click.option(
    "--submodules/--no-submodules",
    default=None,
    help="Also what is in repositories inside of this one. The index remembers the choice; at first they stay out.",
)
@click.option("--embedder", metavar="NAME", help="Also its vectors, so that no question has to wait for them.")
@json_option
def command(
    repo: Path | None,
    force: bool,
    processes: int | None,
    submodules: bool | None,
    embedder: str | None,
    as_json: bool,
) -> None:
    """Builds or refreshes the index. Nobody has to: every command does it by itself.

    With --embedder every definition is shown to that embedder, which may send it elsewhere.

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
        when_empty=(lambda error: {**no_status_document(error), "seconds": None, "vectors": None}) if as_json else None,
    )
    n_vectors = None if embedder is None else _embedded(repository, embedder)
    seconds = round(time.perf_counter() - start, 3)
    status = repository.status()
    say_notes(repository)
    if as_json:
        emit_document({**status_document(status, repository.notes), "seconds": seconds, "vectors": n_vectors})
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
    if n_vectors is not None:
        lines.append(f"vectors of {embedder}: {n_vectors}")
    lines.append(f"{seconds:.2f} s, {info.root}")
    emit_lines(lines)


def _embedded(repository: "Repository", embedder: str) -> int:
    from causalist.index.vectors import brought_up_to_date

    places = () if repository.beside is None else repository.beside.places
    with progress_on_stderr() as progress:
        return brought_up_to_date(embedder, repository.index, repository.read, places, progress)
