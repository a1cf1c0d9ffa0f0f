"""docs/cli.md from `--help` of every command: `python -m tests.docs.cli_reference [--write]`."""

import sys
from collections.abc import Iterator

import click

from causalist.cli import main as program
from tests.docs.blocks import DOCS, keep_in_sync

PAGE = DOCS / "cli.md"
WIDTH = 96


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    """(name, command, context) of the program, of every command and of every command of a group, in listed order."""
    yield from _below("causalist", program, None)


def _below(
    name: str, command: click.Command, parent: click.Context | None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    settings = {**command.context_settings, "max_content_width": WIDTH, "terminal_width": WIDTH}
    context = click.Context(command, parent=parent, info_name=name.rpartition(" ")[2], **settings)
    yield name, command, context
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            assert inner is not None, f"{name} lists {each} and has no such command"
            yield from _below(f"{name} {each}", inner, context)


def contents() -> dict[str, str]:
    """The generated block of the page."""
    parts = []
    for name, command, context in commands():
        text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
        parts.append(f"\n## {name}\n\n```text\n{text}\n```\n")
    return {"commands": "".join(parts) + "\n"}


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, contents(), sys.argv[1:]))
