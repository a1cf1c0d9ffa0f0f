"""docs/cli.md is what `--help` says, and every command shows how it is used."""

import json
import subprocess
import sys

import click
import pytest

from tests.cli.commands import CHECKOUT
from tests.docs import cli_reference
from tests.docs.blocks import blocks_of
from tests.docs.commands import check_accepted, commands_of


def test_the_page_is_in_sync() -> None:
    """In a process of its own: click keeps a command's option for help as whoever asked first had it."""
    script = "import json; from tests.docs import cli_reference; print(json.dumps(cli_reference.contents()))"
    done = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    written = blocks_of(cli_reference.PAGE.read_text(encoding="utf-8"), "generated")
    assert written == json.loads(done.stdout), "run `python -m tests.docs.cli_reference --write`"


@pytest.mark.parametrize(
    ("command", "context"),
    [pytest.param(command, context, id=name) for name, command, context in cli_reference.commands()],
)
def test_the_examples_in_the_help_are_accepted(command: click.Command, context: click.Context) -> None:
    example = command.get_help(context).partition("Example:")[2].partition("\n\n")[0]
    shown = list(commands_of(f"```bash\n{example}\n```\n"))
    assert shown
    for _, words in shown:
        check_accepted(words)
