"""What would work instead of a command line that click does not understand.

In: the error. Out: a line to be said below it, or none: the slips of people who have just begun, a repository named
without its option and a question without quotes.
"""

import re
import shlex
from pathlib import Path

import click

_TOO_MANY = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)
_UNKNOWN = re.compile(r"No such command '(.*)'", re.DOTALL)
_MEANT_BY_SHELLS = re.compile(r"[\"$`\\!]")


def hint_for(error: click.UsageError) -> str | None:
    """A command line to try, where it can be told what was meant."""
    context = error.ctx
    if context is None:
        return None
    said = error.format_message()
    unknown = _UNKNOWN.match(said)
    if unknown is not None:
        asked = unknown[1]
        return f"For a question: {context.command_path} ask {_quoted(asked)}" if len(asked.split()) > 1 else None
    further = _TOO_MANY.match(said)
    if further is None:
        return None
    path = context.command_path
    if "repo" in context.params and context.params["repo"] is None and _is_folder(further[1]):
        given = [context.params[each.name] for each in context.command.params if isinstance(each, click.Argument)]
        own = "".join(f" {_quoted(value)}" for value in given if isinstance(value, str))
        return f"For another repository than the one here: {path}{own} --repo {shlex.quote(further[1])}"
    first = context.params.get("query")
    if isinstance(first, str):
        return f"A question of several words stands in quotes: {path} {_quoted(f'{first} {further[1]}')}"
    return None


def _quoted(text: str) -> str:
    """One word for a shell, in the quotes that most shells know where these do."""
    if text == shlex.quote(text):
        return text
    return shlex.quote(text) if _MEANT_BY_SHELLS.search(text) else f'"{text}"'


def _is_folder(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except (OSError, ValueError):
        return False
