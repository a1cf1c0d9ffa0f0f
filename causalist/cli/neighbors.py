"""`causalist neighbors`: what a node is linked with."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import aligned, finish, id_of, limit_option, lookup_options, open_for_lookup, site_of
from causalist.serialize.lookups import neighbors_document

if TYPE_CHECKING:
    from causalist.model.lookup import Neighbors


@click.command("neighbors")
@click.argument("node")
@lookup_options
@click.option("--hops", type=click.IntRange(min=1), default=1, show_default=True, help="How many steps away at most.")
@click.option("--kind", "kinds", multiple=True, metavar="K", help="Only edges of this kind; may be repeated.")
@click.option("--direction", type=click.Choice(["in", "out", "both"]), default="both", show_default=True,
              help="Edges that lead to the node, that leave it, or both.")  # fmt: skip
@limit_option(10, "How many edges of each group are shown.")
def command(
    node: str,
    repo: Path | None,
    force: bool,
    hops: int,
    kinds: tuple[str, ...],
    direction: str,
    limit: int,
    as_json: bool,
) -> None:
    """Shows what NODE is linked with, by direction and kind.

    The most certain come first. An edge points from what uses to what is used: `in` lists what uses NODE, `out` what
    NODE uses. What changed together with the file of NODE is shown for `--kind co_changes`.

    \b
    Example:
      causalist neighbors Session.verify
      causalist neighbors src/auth.py --hops 2 --kind imports --direction in
    """
    from causalist.model.lookup import Direction

    empty = neighbors_document(node, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    name = id_of(repository, node)
    groups = repository.neighbors(name, hops=hops, kinds=kinds, direction=Direction(direction), limit=limit)
    nothing = "" if groups else f"{name} has no such edges"
    finish(neighbors_document(name, groups) if as_json else None, _lines(groups, name), nothing)


def _lines(groups: "tuple[Neighbors, ...]", node: str) -> Iterator[str]:
    """A heading for each group, and below it one edge a line: the other end, where it is written, how it is known."""
    for number, group in enumerate(groups):
        if number:
            yield ""
        away = "" if group.hop == 1 else f", {group.hop} steps away"
        yield f"{group.direction.value} {group.kind} ({group.n}){away}"
        rows = []
        for edge in group.edges:
            other = edge.source if group.direction == "in" else edge.target
            if group.hop > 1:
                other = f"{edge.source} -> {edge.target}"
            site = f"{edge.n} commit{'s'[: edge.n != 1]}" if group.kind == "co_changes" else site_of(edge)
            rows.append((f"  {edge.confidence:.3f}", edge.rule, other, site))
        yield from aligned(rows)
        if group.n > len(group.edges):
            yield f"  and {group.n - len(group.edges)} more"
