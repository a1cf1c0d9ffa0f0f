"""`causalist callees`: the calls that a node makes."""

from pathlib import Path

import click

from causalist.cli._calls import show_calls
from causalist.cli._repository import json_option, min_confidence_option, repository_options


@click.command("callees")
@click.argument("node")
@repository_options
@min_confidence_option(0.0, "Leave out calls that are less certain.")
@json_option
def command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Shows the calls that NODE makes inside the repository.

    NODE is an id, or a name that only one node has. One call a line, the most certain first.

    \b
    Example:
      causalist callees Session.verify --min-confidence 0.5
    """
    show_calls(node, incoming=False, repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)
