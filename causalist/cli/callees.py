"""`causalist callees`: the calls that a node makes."""

from pathlib import Path

import click

from causalist.cli._lookup import lookup_options
from causalist.cli._repository import min_confidence_option
from causalist.cli.edges import show_callees


@click.command("callees")
@click.argument("node")
@lookup_options
@min_confidence_option(0.0, "Leave out calls that are less certain.")
def command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Shows the calls that NODE makes inside the repository.

    NODE is an id, the end of one, a path, or a path with a line. One call a line, the most certain first.

    \b
    Example:
      causalist callees Session.verify --min-confidence 0.5
      causalist callees src/auth.py:42
    """
    show_callees(node, repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)
