"""`causalist lint`: is the index what it should be, and how much of the code does it know?"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import aligned, finish, limit_option, lookup_options, open_for_lookup
from causalist.model.symbols import split_id
from causalist.serialize.lookups import lint_document

if TYPE_CHECKING:
    from causalist.model.lookup import Health, UnresolvedCall

_MOST_MEMBERS = 5


@click.command("lint")
@lookup_options
@limit_option(20, "How many findings and how many circles of imports are listed.")
def command(repo: Path | None, force: bool, limit: int, as_json: bool) -> None:
    """Checks the index and says how much of the code it knows.

    The stored index is added up again, whatever its times say; a damaged one is made anew, with a note.

    Findings (exit code 1) are broken invariants of the graph, and files that could be parsed or read in part only. How
    many calls are resolved, which rules have no measured precision, and which files import one another in circles, is
    said and is no finding.

    \b
    Example:
      causalist lint --json | jq '.findings[].slug'
    """
    repository = open_for_lookup(repo, force=force, when_empty=lint_document(None) if as_json else None, anew=True)
    health = repository.lint()
    n = len(health.findings)
    nothing = f"{n} finding{'s'[: n != 1]}" if n else ""
    finish(lint_document(health) if as_json else None, _lines(health, limit), nothing)


def _lines(health: "Health", limit: int) -> Iterator[str]:
    yield from aligned([(f.slug, f.where, f.detail) for f in health.findings[:limit]])
    if len(health.findings) > limit:
        yield f"and {len(health.findings) - limit} more findings; --limit shows more of them"
    if health.calls:
        if health.findings:
            yield ""
        yield "calls: resolved, guessed by name, outside, of unknown receivers"
        yield from aligned(
            [("  " + c.language, *_shares(c.resolved, c.guessed, c.outside, c.unresolved)) for c in health.calls]
        )
        for calls in health.calls:
            if calls.examples:
                names = ", ".join(f"{g.name} ({g.n:,}, as in {_place(g)})" for g in calls.examples)
                yield f"  {calls.language}, called on what is of no known type: {names}"
    if health.unmeasured:
        yield ""
        yield "rules whose precision was not measured:"
        yield from aligned(
            [
                ("  " + u.rule, f"{u.edges:,} edges", f"{u.confidence:.2f}, as for {u.evidence}")
                for u in health.unmeasured
            ]
        )
    if health.cycles:
        yield ""
        yield f"files that import one another: {len(health.cycles)} circle{'s'[: len(health.cycles) != 1]}"
        for cycle in health.cycles[:limit]:
            more = f" and {len(cycle) - _MOST_MEMBERS} more" if len(cycle) > _MOST_MEMBERS else ""
            yield f"  {len(cycle)} files: {', '.join(cycle[:_MOST_MEMBERS])}{more}"


def _place(gap: "UnresolvedCall") -> str:
    return f"{split_id(gap.node)[0]}:{gap.line}"


def _shares(*counts: int) -> list[str]:
    return [f"{n:,} ({100 * n / sum(counts):.0f} %)" for n in counts]
