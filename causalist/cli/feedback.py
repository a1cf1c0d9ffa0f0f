"""`causalist feedback`: which files of an answer were of use."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import emit_document, emit_lines
from causalist.cli._repository import json_option, open_repository, repository_options, say_notes
from causalist.errors import UsageError

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository


@click.command("feedback")
@click.argument("answer_id")
@click.option("--used", multiple=True, metavar="PATH", help="A file that was of use; may be repeated.")
@click.option("--not-used", multiple=True, metavar="PATH", help="A file that was of none; may be repeated.")
@repository_options
@json_option
def command(
    answer_id: str, used: tuple[str, ...], not_used: tuple[str, ...], repo: Path | None, force: bool, as_json: bool
) -> None:
    """Says which files of an answer were of use.

    ANSWER_ID is the `answer_id` that `ask --json` prints; the last 200 answers are remembered. What is said is kept
    beside the index, and `causalist learn` learns from it. Files that are right but were not in the answer count too.

    \b
    Example:
      causalist feedback 5f1c0b7a92e4d683 --used src/auth.py --not-used src/mail.py
    """
    if not used and not not_used:
        raise UsageError("say --used PATH or --not-used PATH, each as often as needed")
    if not answer_id.strip():
        raise UsageError("the id of the answer is empty; `causalist ask --json` prints it as answer_id")
    repository = open_repository(repo, force=force)
    say_notes(repository)
    right, wrong = (tuple(_path(path, repository) for path in paths) for paths in (used, not_used))
    both = sorted(set(right) & set(wrong))
    if both:
        raise UsageError(f"{both[0]} cannot be both of use and of none")
    if repository.beside is None:
        raise UsageError("there is no index to keep feedback beside")
    if not repository.settings.value("ask", "remember") and repository.beside.question_of(answer_id) is None:
        raise UsageError("no question is remembered here, because the settings say `remember = false`")
    query, place = repository.beside.tell(answer_id, right, wrong)
    if as_json:
        document = {"format_version": 1, "answer_id": answer_id, "query": query, "used": list(right),
                    "not_used": list(wrong), "file": str(place)}  # fmt: skip
        emit_document(document)
    else:
        emit_lines([f"{len(right)} used, {len(wrong)} not used, for: {query.splitlines()[0]}"])


def _path(given: str, repository: "Repository") -> str:
    """The path of an indexed file, seen from the current folder or from the root. Raises UsageError."""
    paths = repository.index.manifest.paths
    candidates = [given, f"{repository.folder}/{given}" if repository.folder else given]
    with suppress(ValueError, OSError, RuntimeError):
        candidates.append(Path(given).resolve().relative_to(repository.root).as_posix())
    for path in candidates:
        clean = path.replace("\\", "/").removeprefix("./")
        if paths.position(clean) >= 0:
            return clean
    raise UsageError(f"{given!r} is no indexed file of {repository.root}; give its path as the answer shows it")
