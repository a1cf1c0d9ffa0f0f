"""`causalist map`: what a repository is, for somebody who has never seen it."""

from pathlib import Path

import click

from causalist.cli._lookup import lookup_options, open_for_lookup
from causalist.cli._output import emit, emit_document
from causalist.serialize.lookups import map_document


@click.command("map")
@lookup_options
@click.option("--max-tokens", type=int, default=2000, show_default=True, help="The token budget, never exceeded.")
@click.option("--format", "map_format", type=click.Choice(["text", "markdown", "json"]), default="text",
              show_default=True, help="How the map is written.")  # fmt: skip
def command(repo: Path | None, force: bool, max_tokens: int, map_format: str, as_json: bool) -> None:
    """Shows what the repository is, within a token budget.

    What its README and manifest say, languages and sizes, where others come in, its folders and the definitions that
    most of the code rests on, and which folders use which. Importance is PageRank over the code without its tests.

    \b
    Example:
      causalist map --max-tokens 1000
      causalist map --format markdown > MAP.md
    """
    repository = open_for_lookup(repo, force=force, when_empty=map_document(None) if as_json else None)
    drawn = repository.map(max_tokens=max_tokens, format=map_format)
    if as_json:
        emit_document(map_document(drawn))
    else:
        emit(drawn.text)
