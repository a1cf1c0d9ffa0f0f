"""`causalist callers`: the calls that lead to a node."""

from pathlib import Path

import click

from causalist.cli._lookup import lookup_options
from causalist.cli._repository import min_confidence_option
from causalist.cli.edges import show_callers


@click.command("callers")
@click.argument("node")
@lookup_options
@min_confidence_option(0.0, "Leave out calls that are less certain.")
def command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Shows the calls that lead to NODE.

    NODE is an id, the end of one, a path, or a path with a line. One call a line, the most certain first. Calls of a
    method that NODE overrides may run NODE; they are listed apart, below the name of that method.
    Then come uses that name NODE without a call: a function that is handed to something may be called by that; and last
    the sections of documentation that mention NODE or what it contains.

    \b
    Example:
      causalist callers src/auth.py::Session.verify
    """
    show_callers(node, repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)
