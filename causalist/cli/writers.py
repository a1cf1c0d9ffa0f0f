"""`causalist writers`: what gives a value."""

from pathlib import Path

import click

from causalist.cli._lookup import lookup_options
from causalist.cli._repository import min_confidence_option
from causalist.cli._state import show_users


@click.command("writers")
@click.argument("node")
@lookup_options
@min_confidence_option(0.0, "Leave out uses that are less certain.")
def command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Shows what writes NODE.

    To write is to give a value to NODE or to an element of it, or to change it by an operator. What a method does to
    the value that it is called on is not known here. NODE is given as for readers.

    \b
    Example:
      causalist writers Session.timeout
      causalist writers src/registry.py::HANDLERS --json
    """
    show_users(node, "writes", repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)
