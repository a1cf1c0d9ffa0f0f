"""docs/cli.md is what `--help` says, and every command shows how it is used."""

import pytest

from tests.docs import cli_reference
from tests.docs.blocks import blocks_of


def test_the_page_is_in_sync() -> None:
    written = blocks_of(cli_reference.PAGE.read_text(encoding="utf-8"), "generated")
    assert written == cli_reference.contents(), "run `python -m tests.docs.cli_reference --write`"


@pytest.mark.parametrize("name", [name for name, _, _ in cli_reference.commands()])
def test_every_command_has_an_example_in_its_help(name: str) -> None:
    helps = {each: command.get_help(context) for each, command, context in cli_reference.commands()}
    assert "causalist " in helps[name].partition("Example:")[2].partition("Options:")[0]
