"""`causalist status`: what is indexed, what was left out and why, and what files made doubtful."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import counted, emit_document, emit_lines
from causalist.cli._repository import json_option, open_repository, repository_options, say_notes
from causalist.documents.answers import no_status_document, status_document

if TYPE_CHECKING:
    from causalist.model.answer import Status

MOST_NOTES = 20


@click.command("status")
@repository_options
@json_option
def command(repo: Path | None, force: bool, as_json: bool) -> None:
    """Shows what is indexed, what was left out and why.

    \b
    Example:
      causalist status --json
    """
    repository = open_repository(repo, force=force, when_empty=no_status_document if as_json else None)
    status = repository.status()
    say_notes(repository)
    if as_json:
        emit_document(status_document(status, repository.notes))
    else:
        emit_lines(_lines(status))


def _lines(status: "Status") -> list[str]:
    info = status.repository
    lines = [
        f"root      {info.root}",
        f"commit    {info.commit or 'none'}",
        f"files     {info.files}: {counted(status.languages)}",
        f"graph     {info.nodes} nodes, {info.edges} edges",
        f"weights   {'as shipped' if status.learned is None else status.learned}",
        f"left out  {sum(status.skipped.values())}",
    ]
    for reason, n in status.skipped.items():
        examples = status.examples.get(reason, ())
        more = ", …" if n > len(examples) > 0 else ""
        lines.append(f"  {n} {reason}: {', '.join(examples)}{more}")
    lines.append(f"notes     {len(status.notes)}")
    for note in status.notes[:MOST_NOTES]:
        place = f"{note.path}:{note.row + 1}" if note.row >= 0 else note.path
        lines.append(f"  {place}: {note.slug}: {note.detail}")
    if len(status.notes) > MOST_NOTES:
        lines.append(f"  and {len(status.notes) - MOST_NOTES} more; --json lists all")
    return lines
