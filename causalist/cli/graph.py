"""`causalist graph export`: write the code graph in a format for other programs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._graph_formats import FORMATS
from causalist.cli._output import open_destination, say
from causalist.cli._repository import min_confidence_option, open_repository, report_notes, repository_options
from causalist.cli._run import NOTHING_FOUND

if TYPE_CHECKING:
    from causalist.model.graph import Edge


@click.group("graph")
def graph_command() -> None:
    """Export the code graph.

    \b
    Example:
      causalist graph export --format graphml --output graph.graphml
    """


@graph_command.command("export")
@repository_options
@click.option("--format", "graph_format", type=click.Choice(list(FORMATS)), required=True,
              help="Format of the export.")  # fmt: skip
@click.option("--kind", "kinds", multiple=True, metavar="K", help="Only edges of this kind. Repeatable.")
@min_confidence_option(0.5, "Minimum confidence of an edge.")
@click.option(
    "--all", "everything", is_flag=True, help="Export all edges, including external nodes and any confidence."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write instead of standard output; replaced atomically.",
)
def export_command(
    repo: Path | None,
    force: bool,
    graph_format: str,
    kinds: tuple[str, ...],
    min_confidence: float,
    everything: bool,
    output: Path | None,
) -> None:
    """Export the edges inside the repository and their nodes.

    networkx reads `node-link` and `graphml`, which also contain nodes without edges.

    \b
    Example:
      causalist graph export --format jsonl --kind calls | head
      causalist graph export --format dot --kind imports | dot -Tsvg > imports.svg
    """
    repository = open_repository(repo, force=force)
    report_notes(repository)
    edges = _EdgeCounter(repository.edges(kinds=kinds, min_confidence=min_confidence, everything=everything))
    with open_destination(output) as write:
        for part in FORMATS[graph_format](repository.index.graph, edges):
            write(part)
    if not edges.n:
        say("no edges match; `--all` includes edges of low confidence and external nodes")
        click.get_current_context().exit(NOTHING_FOUND)


class _EdgeCounter:
    """Iterator over edges that counts them."""

    def __init__(self, edges: "Iterable[Edge]") -> None:
        self._edges = edges
        self.n = 0

    def __iter__(self) -> "Iterator[Edge]":
        for edge in self._edges:
            self.n += 1
            yield edge
