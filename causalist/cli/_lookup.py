"""Shared parts of look-up commands: options, opening, resolving nodes, printing a document or lines."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from causalist.cli._output import emit_document, emit_lines, say
from causalist.cli._repository import json_option, open_repository, report_notes, repository_options
from causalist.cli._run import NOTHING_FOUND
from causalist.model.symbols import split_id

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import UnresolvedCall
    from causalist.model.scores import Hit
    from causalist.pipeline.repository import Repository

_Command = TypeVar("_Command", bound=Callable[..., Any])


def lookup_options(command: _Command) -> _Command:
    """Add --repo, --force and --json."""
    return repository_options(json_option(command))


def limit_option(default: int, effect: str) -> Callable[[_Command], _Command]:
    """Return a decorator that adds --limit."""
    return click.option("--limit", type=click.IntRange(min=1), default=default, show_default=True, help=effect)


def open_for_lookup(
    repo: Path | None, *, force: bool, when_empty: Mapping[str, object] | None, anew: bool = False
) -> "Repository":
    """Return the repository after reporting the notes of opening it.

    `when_empty` is the document for an empty folder, None without --json. `anew` as in `IndexOptions`.
    """
    document = when_empty
    when = None if document is None else lambda _: document
    repository = open_repository(repo, force=force, when_empty=when, anew=anew)
    report_notes(repository)
    return repository


def resolve_id(repository: "Repository", name: str) -> str:
    """Return the id of the node that `name` means.

    Assumptions are reported as a note. Raises UnknownNode, AmbiguousNode.
    """
    named = repository.resolve_name(name)
    if named.note:
        say(f"note: {named.note}")
    return repository.index.graph.nodes.ids[named.node]


_MAX_UNREAD_NAMED = 3


def report_unread(repository: "Repository", *nodes: str) -> None:
    """Say which files were not read and have the name of one of these nodes, so that they may use it."""
    unread = repository.unread(*nodes)
    if unread:
        named = ", ".join(f"{each.path} ({each.reason})" for each in unread[:_MAX_UNREAD_NAMED])
        more = f" and {len(unread) - _MAX_UNREAD_NAMED} more" if len(unread) > _MAX_UNREAD_NAMED else ""
        files = "1 file that was not read has" if len(unread) == 1 else f"{len(unread)} files that were not read have"
        say(f"note: {files} this name and may use it: {named}{more}")


def print_result(document: Mapping[str, object] | None, lines: Iterable[str], nothing: str = "") -> None:
    """Print the document, or the lines without one. If `nothing` is not empty, report it and exit 1."""
    if document is not None:
        emit_document(document)
    else:
        emit_lines(lines)
    if nothing:
        say(nothing)
        click.get_current_context().exit(NOTHING_FOUND)


def describe_call(gap: "UnresolvedCall") -> str:
    """Return an unresolved call in words."""
    what = "what another call returns" if gap.name == "?" else f"something called {gap.name!r}"
    return f"{split_id(gap.node)[0]}:{gap.line}  {gap.node} calls {what}"


def edge_location(edge: "Edge") -> str:
    """Return `path:line` of the use that an edge stands for: in the file of the source, of the target for a route."""
    path = split_id(edge.source)[0] or split_id(edge.target)[0]
    return path if edge.line is None else f"{path}:{edge.line}"


def node_location(hit: "Hit") -> str:
    """Return `path:line` of a node, `path` of a file, "" of an external node."""
    return hit.path if hit.kind == "file" or not hit.path else f"{hit.path}:{hit.start_row + 1}"
