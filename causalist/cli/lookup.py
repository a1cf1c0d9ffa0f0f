"""`causalist show`: a node with its source."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import finish, id_of, lookup_options, open_for_lookup
from causalist.cli._output import say
from causalist.serialize.lookups import show_document

if TYPE_CHECKING:
    from causalist.model.lookup import Definition
    from causalist.model.scores import Hit

MOST_NAMED = 5


@click.command("show")
@click.argument("node")
@lookup_options
def command(node: str, repo: Path | None, force: bool, as_json: bool) -> None:
    """Shows NODE: its place, its use and its source.

    Of a file the outline is shown instead of the source; `--json` has both. NODE is an id, the end of one, a path, or a
    path with a line: the innermost definition there.

    \b
    Example:
      causalist show Session.verify
      causalist show src/auth.py:42
    """
    repository = open_for_lookup(repo, force=force, when_empty=show_document(None) if as_json else None)
    definition = repository.show(id_of(repository, node))
    if definition.stale:
        say(f"note: stale: {definition.hit.path} changed since it was indexed; its source is not shown")
    finish(show_document(definition) if as_json else None, _lines(definition))


def _lines(definition: "Definition") -> Iterator[str]:
    """A head with one thing a line, and below it the source or the outline."""
    hit = definition.hit
    yield f"{hit.kind}  {hit.id}"
    if hit.path:
        lines = f"{hit.start_row + 1}" if hit.start_row == hit.end_row else f"{hit.start_row + 1}-{hit.end_row + 1}"
        yield f"  at         {hit.path}:{lines}"
    if hit.signature:
        yield f"  signature  {' '.join(hit.signature.split())}"
    if hit.doc:
        yield f"  says       {hit.doc}"
    if definition.role != "code":
        yield f"  role       {definition.role}"
    if hit.layer and hit.tier:
        yield f"  layer      {hit.layer}, {hit.tier}"
    if definition.fan_in or definition.fan_out:
        yield f"  used by    {definition.fan_in} node{'s'[: definition.fan_in != 1]}, uses {definition.fan_out}"
    if definition.n_callers or definition.n_callees:
        yield f"  calls      {definition.n_callers} to it, {definition.n_callees} from it"
    if definition.overrides:
        yield f"  overrides  {', '.join(definition.overrides)}"
    if definition.overridden_by:
        n = len(definition.overridden_by)
        more = f" and {n - MOST_NAMED} more" if n > MOST_NAMED else ""
        yield f"  overridden by {', '.join(definition.overridden_by[:MOST_NAMED])}{more}"
    if definition.namesakes:
        yield f"  also       {', '.join(definition.namesakes)}"
    if definition.outline:
        yield ""
        yield from _outline(definition.outline)
    elif definition.text and hit.kind != "file":
        yield ""
        yield from definition.text.splitlines()


def _outline(hits: "tuple[Hit, ...]") -> Iterator[str]:
    """What a file holds, one a line, indented as it is nested: the line, what it is, and what is said of it."""
    from causalist._internal.sanitize import one_line

    width = len(str(hits[-1].start_row + 1))
    around: list[Hit] = []
    for hit in hits:
        while around and hit.start_byte >= around[-1].end_byte:
            around.pop()
        name = hit.signature or hit.symbol or hit.id.rpartition("#")[2]
        doc = f"  — {one_line(hit.doc, 80)}" if hit.doc else ""
        yield f"{hit.start_row + 1:>{width}}  {'  ' * len(around)}{one_line(name, 100)}{doc}"
        around.append(hit)
