"""`causalist learn` fits ranking weights to a repository; `causalist feedback` records relevant files."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import emit_document, emit_lines, show_progress
from causalist.cli._repository import json_option, open_repository, report_notes, repository_options
from causalist.cli._run import NOTHING_FOUND
from causalist.errors import UsageError

if TYPE_CHECKING:
    from causalist.evaluate import Learning
    from causalist.pipeline.repository import Repository

# Copy of the value in `evaluate.learn`, so that `--help` need not import it; a test compares them.
N_QUESTIONS = 200


@click.command("learn")
@repository_options
@click.option("--questions", type=click.IntRange(min=1), default=N_QUESTIONS, show_default=True,
              help="Maximum number of queries from the history.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Report the result without saving the weights.")
@click.option("--reset", is_flag=True, help="Delete the learned weights.")
@json_option
def learn_command(repo: Path | None, force: bool, questions: int, dry_run: bool, reset: bool, as_json: bool) -> None:
    """Fit the ranking weights to this repository.

    Queries come from its history, as in `eval --from-git`, and from `feedback`. Fit on the older queries, test on the
    newer ones. The weights are kept only if the improvement over the shipped weights is significant. Exit code 1 if the
    shipped weights are kept.

    \b
    Example:
      causalist learn --dry-run
    """
    if reset and dry_run:
        raise UsageError("--reset and --dry-run exclude each other. Give one of them.")
    repository = open_repository(repo, force=force)
    if reset:
        removed = repository.feedback_store is not None and repository.feedback_store.delete_weights()
        said = (
            "deleted the learned weights; the shipped weights rank again" if removed else "there are no learned weights"
        )
        if as_json:
            emit_document({"format_version": 1, "reset": removed})
        else:
            emit_lines([said])
        if not removed:
            click.get_current_context().exit(NOTHING_FOUND)
        return
    report_notes(repository)
    from causalist.evaluate import learn

    with show_progress() as progress:
        found = learn(repository, questions, progress=progress)
    place: Path | None = None
    if found.is_better and not dry_run and found.document is not None and repository.feedback_store is not None:
        place = repository.feedback_store.write_weights(found.document)
    if as_json:
        emit_document(_learning_document(found, place))
    else:
        kept = [f"kept in {place}"] if place else ["dry run: the weights are not saved"] if found.is_better else []
        emit_lines([found.decision(), *kept])
    if not found.is_better:
        click.get_current_context().exit(NOTHING_FOUND)


def _learning_document(found: "Learning", place: Path | None) -> dict[str, object]:
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


@click.command("feedback")
@click.argument("answer_id")
@click.option("--used", multiple=True, metavar="PATH", help="Relevant file. Repeatable.")
@click.option("--not-used", multiple=True, metavar="PATH", help="Irrelevant file. Repeatable.")
@repository_options
@json_option
def feedback_command(
    answer_id: str, used: tuple[str, ...], not_used: tuple[str, ...], repo: Path | None, force: bool, as_json: bool
) -> None:
    """Record which files of an answer were relevant.

    ANSWER_ID is the `answer_id` that `ask --json` prints; the last 200 answers are stored. Feedback is stored next to
    the index, and `causalist learn` uses it. Relevant files that were missing from the answer count too.

    \b
    Example:
      causalist feedback 5f1c0b7a92e4d683 --used src/auth.py --not-used src/mail.py
    """
    if not used and not not_used:
        raise UsageError("feedback needs at least one --used PATH or --not-used PATH")
    if not answer_id.strip():
        raise UsageError("ANSWER_ID must not be empty. `causalist ask --json` prints it as answer_id.")
    repository = open_repository(repo, force=force)
    report_notes(repository)
    right, wrong = (tuple(_resolve_path(path, repository) for path in paths) for paths in (used, not_used))
    both = sorted(set(right) & set(wrong))
    if both:
        raise UsageError(f"{both[0]} is given as --used and as --not-used. Give one of them.")
    if repository.feedback_store is None:
        raise UsageError("feedback needs an index, and this repository has none. Run `causalist index`.")
    if not repository.settings.value("ask", "remember") and repository.feedback_store.find_question(answer_id) is None:
        raise UsageError("feedback needs a stored question, but `remember = false` is set in the repository settings")
    query, place = repository.feedback_store.add_feedback_by_id(answer_id, right, wrong)
    if as_json:
        document = {"format_version": 1, "answer_id": answer_id, "query": query, "used": list(right),
                    "not_used": list(wrong), "file": str(place)}  # fmt: skip
        emit_document(document)
    else:
        emit_lines([f"{len(right)} used, {len(wrong)} not used, for: {query.splitlines()[0]}"])


def _resolve_path(given: str, repository: "Repository") -> str:
    """Return the path of an indexed file, relative to the current folder or the root. Raises UsageError."""
    paths = repository.index.manifest.paths
    candidates = [given, f"{repository.folder}/{given}" if repository.folder else given]
    with suppress(ValueError, OSError, RuntimeError):
        candidates.append(Path(given).resolve().relative_to(repository.root).as_posix())
    for path in candidates:
        clean = path.replace("\\", "/").removeprefix("./")
        if paths.position(clean) >= 0:
            return clean
    raise UsageError(f"{given!r} is not an indexed file of {repository.root}. Give the path that the answer shows.")
