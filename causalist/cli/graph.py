"""`causalist graph export`: the code graph for other programs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._graph_formats import FORMATS
from causalist.cli._output import destination, say
from causalist.cli._repository import min_confidence_option, open_repository, repository_options, say_notes
from causalist.cli._run import NOTHING_FOUND

if TYPE_CHECKING:
    from causalist.model.graph import Edge


@click.group("graph")
def command() -> None:
    """Hands the code graph to other programs.

    \b
    Example:
      causalist graph export --format graphml --output graph.graphml
    """


@command.command("export")
@repository_options
@click.option("--format", "graph_format", type=click.Choice(list(FORMATS)), required=True)
@click.option("--kind", "kinds", multiple=True, metavar="K", help="Only edges of this kind; may be repeated.")
@min_confidence_option(0.5, "Leave out edges that are less certain.")
@click.option("--all", "everything", is_flag=True, help="Every edge, whatever its confidence, and externals too.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file, complete or not.")
def export(
    repo: Path | None,
    force: bool,
    graph_format: str,
    kinds: tuple[str, ...],
    min_confidence: float,
    everything: bool,
    output: Path | None,
) -> None:
    """Exports the edges inside the repository, and their nodes.

    `node-link` and `graphml` are read by networkx and hold nodes without edges too.

    \b
    Example:
      causalist graph export --format jsonl --kind calls | head
      causalist graph export --format dot --kind imports | dot -Tsvg > imports.svg
    """
    repository = open_repository(repo, force=force)
    say_notes(repository)
    edges = _Counted(repository.edges(kinds=kinds, min_confidence=min_confidence, everything=everything))
    with destination(output) as write:
        for part in FORMATS[graph_format](repository.index.graph, edges):
            write(part)
    if not edges.n:
        say("no such edges are known; `--all` shows those that are less certain or lead outside")
        click.get_current_context().exit(NOTHING_FOUND)


class _Counted:
    """Edges, and how many have been taken."""

    def __init__(self, edges: "Iterable[Edge]") -> None:
        self._edges = edges
        self.n = 0

    def __iter__(self) -> "Iterator[Edge]":
        for edge in self._edges:
            self.n += 1
            yield edge
