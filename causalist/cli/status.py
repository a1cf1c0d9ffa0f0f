"""`causalist status`: what is indexed, what was left out and why, and what files made doubtful."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import counted, emit_document, emit_lines
from causalist.cli._repository import json_option, open_repository, repository_options, say_notes
from causalist.documents.answers import no_status_document, status_document

if TYPE_CHECKING:
    from causalist.model.answer import Standing, Status

MOST_NOTES = 20


@click.command("status")
@repository_options
@json_option
def command(repo: Path | None, force: bool, as_json: bool) -> None:
    """Shows what is indexed, what was left out and why.

    It refreshes the index as every command does, and says whether that was needed, and why.

    \b
    Example:
      causalist status --json
    """
    from causalist.collect import IndexOptions
    from causalist.pipeline import Repository
    from causalist.standing import found_at, standing_of

    # Opening refreshes the index: what was there is looked at before.
    root, _, settings = Repository.located(repo or Path(), exact_root=repo is not None, force=force)
    found = found_at(root, settings.index_options(IndexOptions()))
    repository = open_repository(repo, force=force, when_empty=no_status_document if as_json else None)
    status = repository.status()
    standing = standing_of(root, repository.index, repository.read, found)
    say_notes(repository)
    if as_json:
        emit_document(status_document(status, repository.notes, standing))
    else:
        emit_lines(_lines(status, standing))


def _lines(status: "Status", standing: "Standing") -> list[str]:
    info = status.repository
    lines = [
        f"root      {info.root}",
        f"commit    {info.commit or 'none'}{_dirty(standing)}",
        *_index_lines(standing),
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


def _dirty(standing: "Standing") -> str:
    if standing.n_dirty is None:
        return ""
    if standing.n_dirty == 0:
        return ", no file differs from it"
    return f", {standing.n_dirty} file{' differs' if standing.n_dirty == 1 else 's differ'} from it"


def _index_lines(standing: "Standing") -> list[str]:
    """Where the index and the cache lie, and how they are."""
    where = "in memory" if standing.path is None else f"{standing.path}, {_size(standing.n_bytes)}"
    lines = [f"index     {where}"]
    reasons = standing.found.reasons if standing.found else ()
    lines.append("state     up to date" + (", refreshed just now, because it was not:" if reasons else ""))
    lines += [f"  {each.reason}: {each.detail}" for each in reasons]
    cache = standing.cache
    if cache is not None:
        used = f"{_size(cache.n_bytes)} of at most {_size(cache.most_bytes)}, {cache.n_entries} entries"
        lines.append(f"cache     {cache.path}, {used}")
    return lines


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"
