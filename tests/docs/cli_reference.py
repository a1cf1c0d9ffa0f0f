"""docs/cli.md from `--help` of every command: `python -m tests.docs.cli_reference [--write]`."""

import sys
from collections.abc import Iterator

import click

from causalist.cli import main as program
from tests.docs.blocks import DOCS, blocks_of, with_blocks

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


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in arguments:
        PAGE.write_text(with_blocks(text, "generated", contents()), encoding="utf-8")
        return 0
    in_sync = blocks_of(text, "generated") == contents()
    print("in sync" if in_sync else "docs/cli.md is older than --help; --write brings it up to date")
    return int(not in_sync)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
