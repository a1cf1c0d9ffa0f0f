"""`causalist path`: how one node leads to another."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import aligned, finish, id_of, lookup_options, open_for_lookup, says
from causalist.cli._output import say
from causalist.serialize.lookups import path_document

if TYPE_CHECKING:
    from causalist.model.lookup import Gap, Trail

MOST_GAPS = 5


@click.command("path")
@click.argument("source")
@click.argument("target")
@lookup_options
def command(source: str, target: str, repo: Path | None, force: bool, as_json: bool) -> None:
    """Shows the most probable way from SOURCE to TARGET.

    The way follows what SOURCE uses, and what that uses. A step may also lead from a type or file to what it
    contains. Where no way is known along uses, one is shown that goes against some of them: such steps are marked
    (back). Exit code 1 where there is none at all; whether that can be known is said.

    \b
    Example:
      causalist path authenticateUser crypto-utils.ts::hmacDigest
    """
    empty = path_document(source, target, None, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    start, end = id_of(repository, source), id_of(repository, target)
    trail = repository.path(start, end)
    gaps = repository.gaps(start, end) if trail is None or not trail.forward else ()
    nothing = ""
    if trail is None and gaps:
        nothing = "\n".join((f"no way from {start} to {end} is known, but one cannot be ruled out:", *_gaps(gaps)))
    elif trail is None:
        nothing = f"{start} is not connected with {end}, as far as the graph can tell"
    finish(path_document(start, end, trail, gaps) if as_json else None, _lines(trail) if trail else (), nothing)
    if trail is not None and not trail.forward:
        unknown = "; calls that could be one:\n" + "\n".join(_gaps(gaps)) if gaps else ""
        say(f"note: no way along uses alone is known, so this one goes against some{unknown}")


def _gaps(gaps: "tuple[Gap, ...]") -> list[str]:
    more = [f"  and {len(gaps) - MOST_GAPS} more; --json lists all"] if len(gaps) > MOST_GAPS else []
    return [*(f"  {says(gap)}" for gap in gaps[:MOST_GAPS]), *more]


def _lines(trail: "Trail") -> Iterator[str]:
    first, *others = trail.hops
    yield f"{first.node}  {first.path}:{first.line}" if first.path else first.node
    rows = []
    for hop, edge in zip(others, trail.edges, strict=True):
        site = f"{hop.path}:{hop.line}" if hop.line is not None else hop.path or ""
        rows.append((f"  {hop.edge}", hop.node, site, f"{edge.rule} {edge.confidence:.2f}"))
    yield from aligned(rows)
    if others:
        yield f"probability {trail.probability:.2g}"
