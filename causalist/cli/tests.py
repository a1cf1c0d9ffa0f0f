"""`causalist tests`: which tests reach a node."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._changes import Limits, affected_rows, check_subject, reached
from causalist.cli._lookup import finish, limit_option, lookup_options, open_for_lookup
from causalist.cli._repository import min_confidence_option
from causalist.serialize.lookups import tests_document

if TYPE_CHECKING:
    from causalist.model.lookup import Affected


@click.command("tests")
@click.argument("node", required=False)
@lookup_options
@click.option("--diff", "revision", metavar="REV", help="What differs between this commit and the files as they are.")
@click.option(
    "--max-depth", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
    help="How many steps of use at most; with 1, what tests NODE itself.",
)  # fmt: skip
@min_confidence_option(0.0, "Leave out uses that are less certain.")
@limit_option(50, "How many tests are listed, the nearest first.")
def command(
    node: str | None,
    repo: Path | None,
    force: bool,
    revision: str | None,
    max_depth: int,
    min_confidence: float,
    limit: int,
    as_json: bool,
) -> None:
    """Shows which tests reach NODE.

    First those that test NODE or what it contains: they call it, or are named after it. Then those that reach it
    through something else. With --diff instead of NODE: of everything whose lines changed.

    \b
    Example:
      causalist tests Session.verify
      causalist tests --diff main --json
    """
    check_subject(node, revision)
    empty = tests_document((), (), 0, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    limits: Limits = {"max_depth": max_depth, "min_confidence": min_confidence}
    found = reached(
        repository, node, revision, partial(repository.tests, **limits), partial(repository.tests_since, **limits)
    )
    steps = "1 step" if max_depth == 1 else f"{max_depth} steps"
    nothing = found.nothing(f"no test is known to reach {found.what} in {steps}")
    tests = found.affected
    shown = tests[:limit]
    document = tests_document(found.changed, found.deleted, len(tests), shown) if as_json else None
    finish(document, _lines(tests, shown), nothing)


def _lines(tests: "Sequence[Affected]", shown: "Sequence[Affected]") -> Iterator[str]:
    """How many there are, then by depth, each with the use that brings it in."""
    if tests:
        yield f"{len(tests)} tests" if len(tests) > 1 else "1 test"
    for depth in sorted({each.depth for each in shown}):
        yield ""
        yield "directly" if depth == 1 else f"{depth} steps away"
        yield from affected_rows([each for each in shown if each.depth == depth])
    if len(tests) > len(shown):
        yield f"and {len(tests) - len(shown)} more; --limit shows more of them"
