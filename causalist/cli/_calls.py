"""What `callers` and `callees` share: edges of calls, one a line, or as a document."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import emit_document, emit_lines, say
from causalist.cli._repository import open_repository, say_notes
from causalist.cli._run import NOTHING_FOUND
from causalist.cli._wire import calls_document
from causalist.model.symbols import split_id

if TYPE_CHECKING:
    from causalist.model.graph import Edge


def show_calls(
    node: str, *, incoming: bool, repo: Path | None, force: bool, min_confidence: float, as_json: bool
) -> None:
    """Prints the calls that lead to `node`, or those that it makes."""
    repository = open_repository(
        repo, force=force, when_empty=(lambda _: calls_document(node, ())) if as_json else None
    )
    say_notes(repository)
    name = repository.index.graph.nodes.ids[repository.resolve(node)]
    known = repository.callers(name) if incoming else repository.callees(name)
    edges = [edge for edge in known if edge.confidence >= min_confidence]
    if as_json:
        emit_document(calls_document(name, edges))
    elif edges:
        emit_lines(_aligned(edges))
    if not edges:
        calls = f"calls to {name}" if incoming else f"calls that {name} makes inside the repository"
        weaker = f" with a confidence of {min_confidence:g} or more; {len(known)} with less" if known else ""
        say(f"no {calls} are known{weaker}")
        click.get_current_context().exit(NOTHING_FOUND)


def _aligned(edges: "Sequence[Edge]") -> list[str]:
    """`confidence  rule  source -> target  path:line`; the call stands in the file of its source."""
    rows = [(f"{e.confidence:.3f}", e.rule, f"{e.source} -> {e.target}", _site(e)) for e in edges]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows]


def _site(edge: "Edge") -> str:
    path = split_id(edge.source)[0]
    return path if edge.line is None else f"{path}:{edge.line}"
