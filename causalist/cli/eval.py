"""`causalist eval`: retrieval quality on labelled questions."""

from pathlib import Path

import click

from causalist.cli._output import emit_document, emit_lines
from causalist.cli._progress import progress_on_stderr
from causalist.cli._repository import json_option


@click.command("eval")
@click.option(
    "--data", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Questions, one JSON object a line."
)
@click.option("--clones", type=click.Path(path_type=Path), required=True, metavar="DIR",
              help="Holds OWNER+NAME/repo or OWNER/NAME, with history.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N questions.")
@click.option("--top-k", type=click.IntRange(min=1), default=20, show_default=True, help="How many files to look at.")
@click.option("--lang", "languages", multiple=True, metavar="L", help="Only this language; may be repeated.")
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True)
@json_option
def command(
    data: Path,
    clones: Path,
    limit: int | None,
    top_k: int,
    languages: tuple[str, ...],
    processes: int,
    as_json: bool,
) -> None:
    """Measures how well files are found for labelled questions.

    \b
    Example:
      causalist eval --data issues.jsonl --clones ~/clones --lang python --processes 4
    """
    from causalist.evaluate import evaluate

    with progress_on_stderr() as progress:
        report = evaluate(
            data, clones, top_k=top_k, languages=languages, limit=limit, processes=processes, progress=progress
        )
    if as_json:
        emit_document(report.to_json())
    else:
        emit_lines(report.to_text().splitlines())
