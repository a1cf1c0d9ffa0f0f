"""`causalist serve`: servers that answer for one repository as long as a client is there."""

import math
import sys
from pathlib import Path

import click

from causalist.cli._extras import need_extra
from causalist.cli._output import say
from causalist.cli._repository import repository_options


def _seconds(_: click.Context, __: click.Parameter, value: float) -> float:
    # A range of click lets NaN through.
    if math.isnan(value):
        raise click.BadParameter("is no number of seconds.")
    return value


@click.group("serve")
def command() -> None:
    """Serves a repository to other programs.

    \b
    Example:
      causalist serve mcp --repo ~/projects/shop
    """


@command.command("mcp")
@repository_options
@click.option(
    "--wait",
    type=click.FloatRange(0, 3600),
    default=20,
    show_default=True,
    metavar="SECONDS",
    callback=_seconds,
    help="How long a call waits for the index before it says how far that is.",
)
def mcp(repo: Path | None, force: bool, wait: float) -> None:
    """Speaks the Model Context Protocol on standard input and output.

    Agents start it; `causalist install` tells them how. Needs the extra: pip install "causalist[mcp]".

    \b
    Example:
      causalist serve mcp --repo ~/projects/shop
    """
    need_extra("mcp", "mcp", 2)
    from importlib.metadata import PackageNotFoundError, version

    from causalist.servers.pipes import claim_pipes
    from causalist.source import find_root, refuse_root

    root = find_root(repo or Path())
    if repo is not None:
        root = repo.resolve()
    if not force:
        refuse_root(root)
    if sys.stdin is not None and sys.stdin.isatty():
        say("this speaks the Model Context Protocol on standard input; `causalist install` sets up a client for it")
    pipes = claim_pipes()
    from causalist.servers.mcp import serve

    try:
        number = version("causalist")
    except PackageNotFoundError:
        number = "0"
    click.get_current_context().exit(serve(root, pipes, version=number, wait_seconds=wait))
