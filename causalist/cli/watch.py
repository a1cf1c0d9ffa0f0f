"""`causalist watch`: keeps the index of a folder up to date while its files are edited."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._extras import need_extra
from causalist.cli._output import say
from causalist.cli._repository import open_repository, repository_options
from causalist.errors import NothingToIndex

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository


@click.command("watch")
@repository_options
@click.option(
    "--debounce",
    type=click.IntRange(50, 60_000),
    default=500,
    show_default=True,
    metavar="MS",
    help="How long nothing may change before the index is refreshed.",
)
def command(repo: Path | None, force: bool, debounce: int) -> None:
    """Keeps the index up to date while files are edited.

    Nobody has to: every command refreshes the index by itself. What is ignored is not watched. Needs the extra: pip
    install "causalist[watch]".

    \b
    Example:
      causalist watch --repo ~/projects/shop
    """
    need_extra("watch", "watchfiles", 1)
    from causalist.index.refresh_cache import Retaining
    from causalist.source import wait_for_changes

    retaining = Retaining()
    now = [open_repository(repo, force=force, retaining=retaining)]
    root, told = now[0].root, None
    for _ in wait_for_changes(root, lambda: now[0].index.manifest.paths, quiet_ms=debounce):
        try:
            now[0] = open_repository(root, force=force, retaining=retaining)
        except NothingToIndex as error:
            say(f"{error.slug}: {error}")
            continue
        if now[0].index.scanned_at != told:
            _tell(now[0], "watching" if told is None else "refreshed")
        told = now[0].index.scanned_at


def _tell(repository: "Repository", what: str) -> None:
    info = repository.info()
    say(f"{what}: {info.files} files, {info.nodes} nodes, {info.edges} edges")
    for note in repository.notes:
        say(f"note: {note.slug}: {note.detail}")
