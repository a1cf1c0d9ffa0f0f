"""`causalist learn`: weights of the ranking for this repository, kept only where they are better."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import emit_document, emit_lines
from causalist.cli._progress import progress_on_stderr
from causalist.cli._repository import json_option, open_repository, repository_options, say_notes
from causalist.cli._run import NOTHING_FOUND
from causalist.errors import UsageError

if TYPE_CHECKING:
    from causalist.evaluate import Learning

# That of `evaluate.learn`, so that `--help` need not import it; a test compares them.
N_QUESTIONS = 200


@click.command("learn")
@repository_options
@click.option("--questions", type=click.IntRange(min=1), default=N_QUESTIONS, show_default=True,
              help="How many commits of the history to ask at most.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be done, and keep nothing.")
@click.option("--reset", is_flag=True, help="Go back to the shipped weights.")
@json_option
def command(repo: Path | None, force: bool, questions: int, dry_run: bool, reset: bool, as_json: bool) -> None:
    """Fits the weights of the ranking to this repository.

    Questions come from its history, as in `eval --from-git`, and from `feedback`. The weights are fitted on the older
    ones and kept only if they rank the newer ones better than the shipped weights do, and hardly by chance. Exit code
    1: the shipped weights stay.

    \b
    Example:
      causalist learn --dry-run
    """
    if reset and dry_run:
        raise UsageError("--reset and --dry-run contradict each other")
    repository = open_repository(repo, force=force)
    if reset:
        removed = repository.beside is not None and repository.beside.forget_weights()
        said = "the learned weights are gone; the shipped ones count" if removed else "there were no learned weights"
        if as_json:
            emit_document({"format_version": 1, "reset": removed})
        else:
            emit_lines([said])
        if not removed:
            click.get_current_context().exit(NOTHING_FOUND)
        return
    say_notes(repository)
    from causalist.evaluate import learn

    with progress_on_stderr() as progress:
        found = learn(repository, questions, progress=progress)
    place: Path | None = None
    if found.is_better and not dry_run and found.document is not None and repository.beside is not None:
        place = repository.beside.keep_weights(found.document)
    if as_json:
        emit_document(_document(found, place))
    else:
        kept = [f"kept in {place}"] if place else ["nothing is kept: a dry run"] if found.is_better else []
        emit_lines([found.decision(), *kept])
    if not found.is_better:
        click.get_current_context().exit(NOTHING_FOUND)


def _document(found: "Learning", place: Path | None) -> dict[str, object]:
    return {
        "format_version": 1,
        "reset": False,
        "decision": found.decision(),
        "is_better": found.is_better,
        "questions": {"history": found.n_history, "feedback": found.n_feedback, "older": found.n_older,
                      "newer": found.n_newer},
        "figures": None if found.document is None else found.document["figures"],
        "file": None if place is None else str(place),
    }  # fmt: skip
