"""`causalist callers`: the calls that lead to a node."""

from pathlib import Path

import click

from causalist.cli._calls import show_calls
from causalist.cli._repository import json_option, min_confidence_option, repository_options


@click.command("callers")
@click.argument("node")
@repository_options
@min_confidence_option(0.0, "Leave out calls that are less certain.")
@json_option
def command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Shows the calls that lead to NODE.

    NODE is an id, or a name that only one node has. One call a line, the most certain first.

    \b
    Example:
      causalist callers src/auth.py::Session.verify
    """
    show_calls(node, incoming=True, repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)
