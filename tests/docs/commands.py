"""The `causalist` commands of a page's ```bash blocks."""

import shlex
from collections.abc import Iterator

import click

from causalist.cli import main as program
from tests.docs.markdown import fenced_blocks


def commands_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """(line of the block, words after `causalist`) of each call of the program in ```bash blocks.

    Comments, `$` before a command, other programs in front (`a && b`, `a | b`) and folders before the name are
    passed over; pipes and redirections end a command.

    >>> list(commands_of("```bash\\npip install . && .venv/bin/causalist ask 'a b' --json | jq  # all\\n```\\n"))
    [(1, ['ask', 'a b', '--json'])]
    """
    for block in fenced_blocks(text):
        if block.language not in ("bash", "sh", "shell", "console"):
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            for words in _simple_commands(line):
                if words and words[0].rpartition("/")[2] == "causalist":
                    yield block.line, words[1:]


def check_accepted(words: list[str]) -> None:
    """Parses the words after `causalist` as the command line does, and runs nothing."""
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


def _simple_commands(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line.strip().removeprefix("$ "), posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    words: list[str] = []
    in_redirection = False
    for word in lexer:
        if set(word) <= set("|&;()"):
            yield words
            words, in_redirection = [], False
        elif set(word) <= set("<>"):
            in_redirection = True
            if words and words[-1] == "2":
                words.pop()
        elif not in_redirection:
            words.append(word)
    yield words
