"""`causalist readers`: what reads a value."""

from pathlib import Path

import click

from causalist.cli._lookup import lookup_options
from causalist.cli._repository import min_confidence_option
from causalist.cli._state import show_users


@click.command("readers")
@click.argument("node")
@lookup_options
@min_confidence_option(0.0, "Leave out uses that are less certain.")
def command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Shows what reads NODE.

    NODE is a variable of a file, a field, an environment variable (env:NAME) or a key of a configuration (config:KEY),
    given as for callers. Of a type or file, what reads any of its values from outside of it. One reader a line, the
    most certain first.

    \b
    Example:
      causalist readers Session.timeout
      causalist readers env:DATABASE_URL
    """
    show_users(node, "reads", repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)
