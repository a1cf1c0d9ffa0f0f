"""`causalist status`: what is indexed, what was left out and why, and what files made doubtful."""

from pathlib import Path

import click

from causalist.cli._output import emit_document, emit_lines
from causalist.cli._repository import json_option, open_repository, repository_options, say_notes
from causalist.serialize.answers import no_status_document, status_document
from causalist.serialize.status import status_lines


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
    from causalist.index.collect import IndexOptions
    from causalist.index.status import found_at, standing_of
    from causalist.pipeline.repository import Repository

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
        emit_lines(status_lines(status, standing, is_refreshed=True, more_notes="; --json lists all"))
