"""`causalist find`: nodes by their name."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import finish, limit_option, lookup_options, open_for_lookup, place_of
from causalist.serialize.lookups import find_document

if TYPE_CHECKING:
    from causalist.model.scores import Hit


@click.command("find")
@click.argument("name")
@lookup_options
@click.option("--kind", metavar="K", help="Only nodes of this kind: file, class, function, method, …")
@limit_option(20, "How many results at most.")
def command(name: str, repo: Path | None, force: bool, kind: str | None, limit: int, as_json: bool) -> None:
    """Finds what is called NAME, or nearly so.

    Exact names come first, then those that begin with NAME, whose words begin with its words (AuthMw finds
    AuthMiddleware), that hold it, or its letters in order; when there is none, those that differ by little. Sections of
    documentation and packages outside are found by their names too.

    \b
    Example:
      causalist find AuthMw
      causalist find Session.ver --kind method --limit 5
    """
    repository = open_for_lookup(repo, force=force, when_empty=find_document(name, ()) if as_json else None)
    hits = repository.find(name, limit=limit, kind=kind)
    nothing = ""
    if not hits:
        of_kind = f" of kind {kind}" if kind else ""
        nothing = f"nothing{of_kind} is called {name!r} or nearly so; `causalist ask` finds code by what it is about"
    finish(find_document(name, hits) if as_json else None, _lines(hits), nothing)


def _lines(hits: "tuple[Hit, ...]") -> list[str]:
    """`kind  id  path:line`, and below it signature and documentation."""
    from causalist._internal.sanitize import one_line

    lines = []
    for hit in hits:
        said = [text for text in (one_line(hit.signature, 100), one_line(hit.doc, 100)) if text]
        lines += ["  ".join(filter(None, (hit.kind, hit.id, place_of(hit)))), *(f"    {text}" for text in said)]
    return lines
