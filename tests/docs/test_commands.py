"""Commands that the pages show are accepted by the command line. They are parsed, not run."""

import click
import pytest

from tests.docs.blocks import ROOT
from tests.docs.commands import check_accepted, commands_of
from tests.docs.markdown import pages

SHOWN = [
    pytest.param(words, id=f"{page.relative_to(ROOT).as_posix()}:{line} {' '.join(words)[:40]}")
    for page in pages()
    for line, words in commands_of(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("words", SHOWN)
def test_the_command_is_accepted(words: list[str]) -> None:
    check_accepted(words)


def test_pages_show_commands() -> None:
    assert any("README" in str(param.id) for param in SHOWN)


def test_no_command_is_overlooked() -> None:
    page = "```bash\ncausalist nonsense\n$ causalist ask x > out.txt\n```\n```text\ncausalist no\n```\n"
    assert list(commands_of(page)) == [(1, ["nonsense"]), (1, ["ask", "x"])]


@pytest.mark.parametrize(
    "words", [["nonsense"], ["ask"], ["ask", "x", "--no-such-option"], ["ask", "x", "--top-k", "y"]]
)
def test_what_the_command_line_refuses_is_found(words: list[str]) -> None:
    with pytest.raises((AssertionError, click.UsageError)):
        check_accepted(words)
