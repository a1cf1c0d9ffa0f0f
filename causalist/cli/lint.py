"""`causalist lint`: check the index and report call resolution."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text import align_columns
from causalist.cli._lookup import limit_option, lookup_options, open_for_lookup, print_result
from causalist.model.symbols import split_id
from causalist.serialize.lookups import lint_document

if TYPE_CHECKING:
    from causalist.model.lookup import Health, UnresolvedCall

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
