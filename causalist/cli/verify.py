"""`causalist verify`: whether one node uses another."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import finish, id_of, lookup_options, open_for_lookup, says, site_of
from causalist.cli._repository import min_confidence_option
from causalist.cli._run import NOTHING_FOUND
from causalist.model.symbols import split_id
from causalist.serialize.lookups import verify_document

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import Basis, Verdict

MOST_LISTED = 10


@click.command("verify")
@click.argument("source")
@click.argument("target")
@lookup_options
@min_confidence_option(0.5, "How certain a use has to be to count.")
def command(source: str, target: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Says whether SOURCE uses TARGET: yes, no or unknown, and why.

    What stands inside of them counts. Yes (exit code 0) comes with the places in the source, and with how often edges
    that were found in the same way are right. No and unknown (exit code 1) are different: unknown means that SOURCE
    calls something of TARGET's name and it cannot be seen on what, or what TARGET overrides.

    \b
    Example:
      causalist verify authenticateUser verifyToken
    """
    empty = verify_document(source, target, None) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    start, end = id_of(repository, source), id_of(repository, target)
    verdict = repository.verify(start, end, min_confidence=min_confidence)
    finish(verify_document(start, end, verdict) if as_json else None, _lines(verdict))
    if verdict.known != "yes":
        click.get_current_context().exit(NOTHING_FOUND)


def _lines(verdict: "Verdict") -> Iterator[str]:
    yield f"{verdict.known.value}: {verdict.source} -> {verdict.target}"
    yield from _reason(verdict)
    rows = zip(verdict.edges, verdict.lines, verdict.bases, strict=True)
    for edge, line, basis in list(rows)[:MOST_LISTED]:
        yield f"  {site_of(edge)}  {edge.kind}  {edge.rule} {edge.confidence:.2f}  {edge.source} -> {edge.target}"
        if line:
            yield f"    {line}"
        yield f"    {basis.meaning}; {_worth(basis, edge)}"
    if len(verdict.edges) > MOST_LISTED:
        yield f"  and {len(verdict.edges) - MOST_LISTED} more"
    if verdict.known != "yes" and verdict.calls:
        yield f"  it is known to call {', '.join(e.target for e in verdict.calls[:MOST_LISTED])}" + _more(verdict.calls)


def _reason(verdict: "Verdict") -> Iterator[str]:
    """What speaks for no and unknown, with the places."""
    path, name = split_id(verdict.source)[0], verdict.target.rpartition("::")[2].rpartition(".")[2]
    sites = [f"{path}:{site.line}  {site.callee}(…)" for site in verdict.sites[:MOST_LISTED]]
    match verdict.reason.value:
        case "weak":
            yield "  cannot be told: there are only edges of little confidence"
        case "receiver":
            yield from (
                f"  cannot be told: {says(gap)} on what is of no known type" for gap in verdict.gaps[:MOST_LISTED]
            )
            yield from (f"    {site}" for site in sites)
        case "dispatch":
            for edge in verdict.others[:MOST_LISTED]:
                yield f"  cannot be told: {site_of(edge)}  {edge.source} calls {edge.target}"
                yield "    the target overrides that; which of the two it is, is decided when it runs"
        case "elsewhere":
            for edge in verdict.others[:MOST_LISTED]:
                yield f"  {site_of(edge)}  what it calls is {edge.target} ({edge.rule} {edge.confidence:.2f})"
        case "unclear":
            yield "  cannot be told: what it calls by that name is taken for something built in or outside"
            yield from (f"    {site}" for site in sites)
        case "outside":
            yield "  what it calls by that name is nothing in the repository"
            yield from (f"    {site}" for site in sites)
        case "absent":
            yield (
                f"  it calls nothing named {name!r}"
                if "::" in verdict.target
                else "  it uses nothing that stands there"
            )


def _worth(basis: "Basis", edge: "Edge") -> str:
    """How often such edges are right, in words."""
    among = f"one of {edge.candidates} that may be meant; " if edge.candidates > 1 else ""
    if not basis.right + basis.wrong:
        return f"{among}how often that is right was not measured for {edge.kind}"
    where = f"{basis.repositories} repositor{'y' if basis.repositories == 1 else 'ies'}"
    where += f" ({basis.language})" if basis.language else ""
    return f"{among}right in {basis.right:,} of {basis.right + basis.wrong:,} that were checked, in {where}"


def _more(listed: "Sequence[object]") -> str:
    return f" and {len(listed) - MOST_LISTED} more" if len(listed) > MOST_LISTED else ""
