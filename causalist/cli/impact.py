"""`causalist impact`: what a change reaches."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._changes import Limits, affected_rows, check_subject, reached
from causalist.cli._lookup import finish, limit_option, lookup_options, open_for_lookup
from causalist.cli._repository import min_confidence_option
from causalist.cli.edges import edge_lines
from causalist.serialize.lookups import impact_document

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import Affected


@click.command("impact")
@click.argument("node", required=False)
@lookup_options
@click.option("--diff", "revision", metavar="REV", help="What differs between this commit and the files as they are.")
@click.option("--max-depth", type=click.IntRange(min=1), metavar="N", help="How many steps of use at most.")
@min_confidence_option(0.0, "Leave out uses that are less certain.")
@limit_option(50, "How many affected nodes are listed, the nearest first; as many tests, as many mentions.")
def command(
    node: str | None,
    repo: Path | None,
    force: bool,
    revision: str | None,
    max_depth: int | None,
    min_confidence: float,
    limit: int,
    as_json: bool,
) -> None:
    """Shows what a change of NODE reaches.

    That is what uses NODE or what it contains, what uses that, and so on; tests apart. What calls a method that NODE
    overrides may run NODE, and is listed. Last comes the documentation that mentions NODE or what it contains. With
    --diff instead of NODE: of everything whose lines changed.

    \b
    Example:
      causalist impact Session.verify --max-depth 2
      causalist impact --diff main --min-confidence 0.5
    """
    check_subject(node, revision)
    empty = impact_document((), (), 0, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    limits: Limits = {"max_depth": max_depth, "min_confidence": min_confidence}
    found = reached(
        repository, node, revision, partial(repository.impact, **limits), partial(repository.impact_since, **limits)
    )
    mentions = [edge for edge in repository.documentation(*found.changed) if edge.confidence >= min_confidence]
    nothing = "" if mentions else found.nothing(f"nothing is known to use {found.what}")
    affected = found.affected
    shown = _nearest(affected, limit)
    document = (
        impact_document(found.changed, found.deleted, len(affected), shown, mentions[:limit]) if as_json else None
    )
    finish(document, chain(_lines(affected, shown), _documentation(mentions, limit)), nothing)


def _documentation(mentions: "Sequence[Edge]", limit: int) -> Iterator[str]:
    """What may have to be written anew."""
    if mentions:
        yield from ("", "mentioned in documentation", *(f"  {line}" for line in edge_lines(mentions[:limit])))
    if len(mentions) > limit:
        yield f"  and {len(mentions) - limit} more; --limit shows more of them"


def _nearest(affected: "Sequence[Affected]", limit: int) -> "list[Affected]":
    """At most `limit` nodes that are no tests and as many that are, so that many tests hide no code."""
    tests = [each for each in affected if each.role == "test"][:limit]
    others = [each for each in affected if each.role != "test"][:limit]
    return sorted((*tests, *others), key=lambda each: (each.depth, each.node))


def _lines(affected: "Sequence[Affected]", shown: "Sequence[Affected]") -> Iterator[str]:
    """How many there are, then code by depth, then tests, each with the use that brings it in."""
    n_tests = sum(each.role == "test" for each in affected)
    if affected:
        yield f"{len(affected)} affected, {n_tests} of them in tests"
        reached = Counter(each.layer for each in affected if each.layer and each.role != "test")
        if reached:
            hot = sum(each.tier == "hot" for each in affected if each.role != "test")
            by_layer = ", ".join(f"{layer} {n}" for layer, n in sorted(reached.items(), key=lambda e: (-e[1], e[0])))
            yield f"by layer: {by_layer}; {hot} of them hot"
    for depth in sorted({each.depth for each in shown}):
        own = [each for each in shown if each.depth == depth and each.role != "test"]
        if own:
            yield from ("", f"depth {depth}", *affected_rows(own))
    tests = [each for each in shown if each.role == "test"]
    if tests:
        yield from ("", "tests", *affected_rows(tests, with_depth=True))
    if len(affected) > len(shown):
        yield f"and {len(affected) - len(shown)} more; --limit shows more of them"
