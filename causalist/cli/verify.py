"""`causalist verify`: whether one node uses another."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import finish, id_of, lookup_options, open_for_lookup, says, site_of
from causalist.cli._repository import min_confidence_option
from causalist.cli._run import NOTHING_FOUND
from causalist.cli._wire_lookup import verify_document

if TYPE_CHECKING:
    from causalist.model.navigate import Verdict

MOST_LISTED = 10


@click.command("verify")
@click.argument("source")
@click.argument("target")
@lookup_options
@min_confidence_option(0.5, "How certain a use has to be to count.")
def command(source: str, target: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Says whether SOURCE uses TARGET: yes, no or unknown.

    What stands inside of them counts. Yes comes with the places in the source (exit code 0). No and unknown (exit
    code 1) are different: unknown means that SOURCE calls something of TARGET's name and it cannot be seen on what.

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
    for edge, line in list(zip(verdict.edges, verdict.lines, strict=True))[:MOST_LISTED]:
        yield f"  {site_of(edge)}  {edge.kind}  {edge.rule} {edge.confidence:.2f}  {edge.source} -> {edge.target}"
        if line:
            yield f"    {line}"
    if len(verdict.edges) > MOST_LISTED:
        yield f"  and {len(verdict.edges) - MOST_LISTED} more"
    if verdict.known == "yes":
        return
    for gap in verdict.gaps[:MOST_LISTED]:
        yield f"  cannot be told: {says(gap)}"
    if verdict.calls:
        yield f"  it is known to call {', '.join(e.target for e in verdict.calls[:MOST_LISTED])}" + (
            f" and {len(verdict.calls) - MOST_LISTED} more" if len(verdict.calls) > MOST_LISTED else ""
        )
