"""Commands that the pages show are accepted by the command line. They are parsed, not run."""

from pathlib import Path

import click
import pytest

from causalist.cli import main as program
from tests.docs.blocks import ROOT
from tests.docs.commands import commands_of
from tests.docs.markdown import pages

SHOWN = [
    pytest.param(words, id=f"{page.relative_to(ROOT).as_posix()}:{line} {' '.join(words)[:40]}")
    for page in pages()
    for line, words in commands_of(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("words", SHOWN)
def test_the_command_is_accepted(words: list[str]) -> None:
    command: click.Command | None = program
    context: click.Context | None = None
    name = "causalist"
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        context = click.Context(command, parent=context, info_name=name)
        name, *words = words
        command = command.get_command(context, name)
        assert command is not None, f"there is no command {name!r}"
    assert command is not None
    if isinstance(command, click.Group):
        assert words in (["--help"], ["-h"], ["--version"]), f"{name} needs a command"
        return
    try:
        command.make_context(name, list(words), parent=context)
    except click.exceptions.Exit:
        assert {"--help", "-h"} & set(words)


def test_pages_show_commands() -> None:
    assert any("README" in str(param.id) for param in SHOWN)


def test_no_command_is_overlooked(tmp_path: Path) -> None:
    page = "```bash\ncausalist nonsense\n$ causalist ask x > out.txt\n```\n```text\ncausalist no\n```\n"
    assert list(commands_of(page)) == [(1, ["nonsense"]), (1, ["ask", "x"])]
