"""`causalist topo`: dependency order of files, definitions or folders, as text, a diagram or JSON."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text import align_columns, count_noun
from causalist.cli._graph_formats import render_order_dot, render_order_mermaid
from causalist.cli._output import emit, say
from causalist.cli._repository import (
    edge_location,
    lookup_options,
    min_confidence_option,
    open_for_lookup,
    print_result,
)
from causalist.cli._run import NOTHING_FOUND
from causalist.serialize.lookups import topo_document

if TYPE_CHECKING:
    from causalist.model.lookup import CycleCut, DependencyCycle, DependencyOrder, OrderedItem

_MAX_CUTS = 3  # of a cycle that are named
_MAX_DELETED = 10


@click.command("topo")
@click.argument("names", metavar="[SET]...", nargs=-1)
@lookup_options
@click.option("--from", "start", metavar="NODE", help="Only NODE and what it uses, directly or indirectly.")
@click.option("--diff", "revision", metavar="[REV]", is_flag=False, flag_value="HEAD",
              help="Only what changed between a commit and the working tree, or in a range A..B or A...B.  "
              "[without REV: HEAD]")  # fmt: skip
@click.option("--level", type=click.Choice(["file", "definition", "folder"]),
              help="Items to order.  [default: definition if one is named, else file]")  # fmt: skip
@click.option("--layers", "in_layers", is_flag=True, help="Group items by depth: the longest chain of uses below them.")
@click.option("--format", "order_format", type=click.Choice(["text", "mermaid", "dot", "svg"]), default="text",
              show_default=True, help="Format of the order.")  # fmt: skip
@min_confidence_option(0.5, "Minimum confidence of a use.")
@click.option("--tests", is_flag=True, help="Include tests.")
@click.option("--all", "everything", is_flag=True,
              help="Include tests, documentation, examples, configuration, generated and vendored files.")  # fmt: skip
def topo_command(
    names: tuple[str, ...],
    repo: Path | None,
    force: bool,
    start: str | None,
    revision: str | None,
    level: str | None,
    in_layers: bool,
    order_format: str,
    min_confidence: float,
    tests: bool,
    everything: bool,
    as_json: bool,
) -> None:
    """List files or definitions, dependencies first.

    The order says what to read, build, port or review first. SET is any number of folders, .gitignore patterns, paths,
    and ids or names of nodes; without it, the repository. --from and --diff narrow it. Tests and other files beside the
    product are left out, unless they are named or SET has nothing else.

    Items that use one another are a cycle. They are listed together, with the cheapest uses to cut so that no cycle is
    left, the least certain first.

    \b
    Example:
      causalist topo src --layers
      causalist topo --from Session.verify --level definition
      causalist topo --diff main...HEAD
    """
    from causalist.model.lookup import OrderLevel

    if as_json and order_format != "text":
        raise click.UsageError("Give either --json or --format.")
    repository = open_for_lookup(repo, force=force, when_empty=topo_document(None) if as_json else None)
    order = repository.topo(
        *names,
        start=start,
        revision=revision,
        level=OrderLevel(level) if level else None,
        min_confidence=min_confidence,
        tests=tests,
        everything=everything,
    )
    for note in order.notes:
        say(f"note: {note}")
    if order.deleted:
        more = f" and {len(order.deleted) - _MAX_DELETED} more" if len(order.deleted) > _MAX_DELETED else ""
        say(f"note: deleted files have no place in the order: {', '.join(order.deleted[:_MAX_DELETED])}{more}")
    if order.left_out:
        left_out = ", ".join(f"{n:,} {role}" for role, n in order.left_out)
        say(f"note: files left out: {left_out}; --all includes them")
    if order.items and order_format != "text":
        if order_format == "svg":
            from causalist.serialize.picture import draw_order

            emit(draw_order(order))
        else:
            emit("".join((render_order_dot if order_format == "dot" else render_order_mermaid)(order)))
        return
    nothing = "" if order.items else "the set has nothing to order"
    if nothing and revision is not None:
        nothing = f"nothing of the set changed since {revision}"
    if nothing and order_format != "text":
        say(nothing)
        click.get_current_context().exit(NOTHING_FOUND)
    print_result(topo_document(order) if as_json else None, _format_order(order, in_layers=in_layers), nothing)


def _format_order(order: "DependencyOrder", *, in_layers: bool) -> Iterator[str]:
    """Yield the number of items, then one item per line; the items of a cycle are indented below its cuts."""
    items = order.items
    if in_layers:
        items = tuple(sorted(items, key=lambda item: item.depth))  # stable, so that cycles stay together
    noun = order.level.value
    cycles = f", {count_noun(len(order.cycles), 'cycle')}" if order.cycles else ""
    if items:
        yield f"{count_noun(len(items), noun, ',')}{cycles}, dependencies first"
    width = len(str(len(items)))
    with_kind = any(item.line is not None for item in items)
    lines = align_columns([_format_item(i, item, width, with_kind=with_kind) for i, item in enumerate(items, start=1)])
    depth, cycle = -1, None
    for item, line in zip(items, lines, strict=True):
        if in_layers and item.depth != depth:
            depth, cycle = item.depth, None
            n = sum(each.depth == depth for each in items)
            yield ""
            yield f"depth {depth}: {count_noun(n, noun, ',')}"
        if item.cycle is not None and item.cycle != cycle:
            yield from _format_cycle(order.cycles[item.cycle], noun)
        cycle = item.cycle
        yield f"  | {line}" if cycle is not None else f"    {line}"


def _format_item(number: int, item: "OrderedItem", width: int, *, with_kind: bool) -> tuple[str, ...]:
    place: tuple[str, ...] = ()
    if with_kind:
        place = (item.kind, item.path if item.line is None else f"{item.path}:{item.line}")
    return (f"{number:>{width}}", item.node, *place, f"uses {len(item.uses)}, used by {item.n_users}")


def _format_cycle(cycle: "DependencyCycle", noun: str) -> Iterator[str]:
    n = len(cycle.cuts)
    cut = "the cheapest use to cut is" if n == 1 else f"the cheapest {n} uses to cut, the least certain first:"
    if n == 1:
        yield f"  cycle of {count_noun(len(cycle.members), noun)}; {cut} {_format_cut(cycle.cuts[0])}"
        return
    yield f"  cycle of {count_noun(len(cycle.members), noun)}; {cut}"
    yield from (f"    {_format_cut(each)}" for each in cycle.cuts[:_MAX_CUTS])
    if n > _MAX_CUTS:
        yield f"    and {n - _MAX_CUTS} more; --json lists all"


def _format_cut(cut: "CycleCut") -> str:
    sites = count_noun(cut.n, "site")
    where = f"{cut.edge.kind} at {edge_location(cut.edge)}"
    return f"{cut.source} -> {cut.target} ({cut.confidence:.2f}, {sites}, {where})"
