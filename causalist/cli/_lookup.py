"""What the commands that look something up share: opening, naming nodes, and printing a document or lines."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from causalist.cli._output import emit_document, emit_lines, say
from causalist.cli._repository import json_option, open_repository, repository_options, say_notes
from causalist.cli._run import NOTHING_FOUND
from causalist.model.symbols import split_id

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import UnresolvedCall
    from causalist.model.scores import Hit
    from causalist.pipeline.repository import Repository

_Command = TypeVar("_Command", bound=Callable[..., Any])


def lookup_options(command: _Command) -> _Command:
    """Adds --repo, --force and --json."""
    return repository_options(json_option(command))


def limit_option(default: int, effect: str) -> Callable[[_Command], _Command]:
    return click.option("--limit", type=click.IntRange(min=1), default=default, show_default=True, help=effect)


def open_for_lookup(
    repo: Path | None, *, force: bool, when_empty: Mapping[str, object] | None, anew: bool = False
) -> "Repository":
    """The repository, after saying what opening had to say. `when_empty` is the document for an empty folder, None
    without --json. `anew` as in `IndexOptions`."""
    document = when_empty
    when = None if document is None else lambda _: document
    repository = open_repository(repo, force=force, when_empty=when, anew=anew)
    say_notes(repository)
    return repository


def id_of(repository: "Repository", name: str) -> str:
    """The id of the node that `name` means; what was taken for granted is said. Raises UnknownNode, AmbiguousNode."""
    named = repository.named(name)
    if named.note:
        say(f"note: {named.note}")
    return repository.index.graph.nodes.ids[named.node]


def finish(document: Mapping[str, object] | None, lines: Iterable[str], nothing: str = "") -> None:
    """Prints the document, or without one the lines; says `nothing` and exits 1 if it is not empty."""
    if document is not None:
        emit_document(document)
    else:
        emit_lines(lines)
    if nothing:
        say(nothing)
        click.get_current_context().exit(NOTHING_FOUND)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines in columns, two spaces apart; the last column is as wide as it is.

    >>> aligned([("a", "bcd", "e"), ("abc", "d", "f")])
    ['a    bcd  e', 'abc  d    f']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    return ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip() for row in rows]


def says(gap: "UnresolvedCall") -> str:
    """A call of which only the name is known, in words."""
    what = "what another call returns" if gap.name == "?" else f"something called {gap.name!r}"
    return f"{split_id(gap.node)[0]}:{gap.line}  {gap.node} calls {what}"


def site_of(edge: "Edge") -> str:
    """Where an edge is written: in the file of its source."""
    path = split_id(edge.source)[0]
    return path if edge.line is None else f"{path}:{edge.line}"


def place_of(hit: "Hit") -> str:
    """`path:line` of a node, `path` of a file, "" for what lies outside."""
    return hit.path if hit.kind == "file" or not hit.path else f"{hit.path}:{hit.start_row + 1}"
