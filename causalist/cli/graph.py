"""`causalist graph export`, the code graph in a format for other programs, and `causalist lint`, its health."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text import align_columns
from causalist.cli._graph_formats import FORMATS
from causalist.cli._output import open_destination, say
from causalist.cli._repository import (
    limit_option,
    lookup_options,
    min_confidence_option,
    open_for_lookup,
    open_repository,
    print_result,
    report_notes,
    repository_options,
)
from causalist.cli._run import NOTHING_FOUND
from causalist.model.symbols import split_id
from causalist.serialize.lookups import lint_document

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import Health, UnresolvedCall


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


_MAX_CYCLE_FILES = 5


@click.command("lint")
@lookup_options
@limit_option(20, "Maximum number of findings, and of import cycles.")
def lint_command(repo: Path | None, force: bool, limit: int, as_json: bool) -> None:
    """Check the index and report call resolution.

    Verify the checksum of the stored index even if its timestamps are unchanged. A damaged index is rebuilt and
    reported.

    Findings (exit code 1) are broken invariants of the graph, and files that were parsed or read only in part. The
    report also has the share of resolved calls, rules without measured precision and import cycles; these are not
    findings.

    \b
    Example:
      causalist lint --json | jq '.findings[].slug'
    """
    repository = open_for_lookup(repo, force=force, when_empty=lint_document(None) if as_json else None, anew=True)
    health = repository.lint()
    n = len(health.findings)
    nothing = f"{n} finding{'s'[: n != 1]}" if n else ""
    print_result(lint_document(health) if as_json else None, _format_health(health, limit), nothing)


def _format_health(health: "Health", limit: int) -> Iterator[str]:
    yield from align_columns([(f.slug, f.where, f.detail) for f in health.findings[:limit]])
    if len(health.findings) > limit:
        yield f"and {len(health.findings) - limit} more findings; --limit shows more of them"
    if health.calls:
        if health.findings:
            yield ""
        yield "calls: resolved, guessed by name, outside, of unknown receivers"
        yield from align_columns(
            [("  " + c.language, *_format_shares(c.resolved, c.guessed, c.outside, c.unresolved)) for c in health.calls]
        )
        for calls in health.calls:
            if calls.examples:
                names = ", ".join(f"{g.name} ({g.n:,}, as in {_call_location(g)})" for g in calls.examples)
                yield f"  {calls.language}, called on what is of no known type: {names}"
    if health.unmeasured:
        yield ""
        yield "rules whose precision was not measured:"
        yield from align_columns(
            [
                ("  " + u.rule, f"{u.edges:,} edges", f"{u.confidence:.2f}, as for {u.evidence}")
                for u in health.unmeasured
            ]
        )
    if health.cycles:
        yield ""
        yield f"files that import one another: {len(health.cycles)} circle{'s'[: len(health.cycles) != 1]}"
        for cycle in health.cycles[:limit]:
            more = f" and {len(cycle) - _MAX_CYCLE_FILES} more" if len(cycle) > _MAX_CYCLE_FILES else ""
            yield f"  {len(cycle)} files: {', '.join(cycle[:_MAX_CYCLE_FILES])}{more}"


def _call_location(gap: "UnresolvedCall") -> str:
    return f"{split_id(gap.node)[0]}:{gap.line}"


def _format_shares(*counts: int) -> list[str]:
    return [f"{n:,} ({100 * n / sum(counts):.0f} %)" for n in counts]
