"""Commands that measure and improve retrieval.

`causalist eval` measures quality on labeled queries or on the repository's own history, `causalist learn` fits ranking
weights to a repository, and `causalist feedback` records relevant files.
"""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import emit_document, emit_lines, say, show_progress
from causalist.cli._repository import json_option, open_repository, repo_option, report_notes, repository_options
from causalist.cli._run import NOTHING_FOUND
from causalist.errors import UsageError

if TYPE_CHECKING:
    from causalist.evaluate import Learning
    from causalist.pipeline.repository import Repository

# Copies of values in `evaluate`, so that `--help` need not import them; tests compare them.
N_QUESTIONS = 50
N_LEARNED_QUESTIONS = 200


# Copy of the names in `evaluate.context`, so that `--help` need not import it; a test compares them.
ARMS = (
    "default",
    "no-graph",
    "no-semantic",
    "bm25",
    "bodies",
    "names",
    "words",
    "no-graph-words",
    "bm25-words",
    "bodies-words",
)


@click.command("eval")
@click.argument("what", required=False, type=click.Choice(["context"]), metavar="[context]")
@click.option("--from-git", type=click.IntRange(min=1), is_flag=False, flag_value=N_QUESTIONS, metavar="[N]",
              help=f"Use the messages of the newest N commits as queries ({N_QUESTIONS} without N).")  # fmt: skip
@repo_option
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="FILE", help="File of labeled queries, one JSON object per line."
)
@click.option("--clones", type=click.Path(path_type=Path), metavar="DIR",
              help="With --data: folder of the clones (OWNER+NAME/repo or OWNER/NAME), with history.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="With --data: number of queries to use.")
@click.option("--top-k", type=click.IntRange(min=1), default=20, show_default=True, help="Number of results to judge.")
@click.option("--lang", "languages", multiple=True, metavar="L", help="With --data: only this language. Repeatable.")
@click.option(
    "--processes", type=click.IntRange(min=1), default=1, show_default=True, help="With --data: number of processes."
)
@click.option("--arm", "arms", multiple=True, type=click.Choice(ARMS), metavar="NAME",
              help="With context: what to compare; see docs/packs.md. Repeatable.  [default: default]")  # fmt: skip
@click.option("--max-tokens", type=click.IntRange(min=100), default=4000, show_default=True,
              help="With context: token budget of a pack.")  # fmt: skip
@json_option
def eval_command(
    what: str | None,
    from_git: int | None,
    repo: Path | None,
    data: Path | None,
    clones: Path | None,
    limit: int | None,
    top_k: int,
    languages: tuple[str, ...],
    processes: int,
    arms: tuple[str, ...],
    max_tokens: int,
    as_json: bool,
) -> None:
    """Measure retrieval quality.

    --from-git uses commit messages of this repository as queries, each against the state before its commit; the
    relevant files are those that the commit changed. --data uses labeled queries.

    `eval context` measures packs: do they show the lines that answer? The queries of --data have gold lines, and
    --clones holds work trees at their commits.

    \b
    Example:
      causalist eval --from-git 100
      causalist eval --data issues.jsonl --clones ~/clones --lang python --processes 4
      causalist eval context --data answers.jsonl --clones ~/clones --arm default --arm bm25
    """
    _check_options(what)
    if from_git is not None:
        _evaluate_history(repo, from_git, top_k, as_json)
        return
    if data is None or clones is None:
        raise click.UsageError("Give --from-git, or --data and --clones.")
    if what == "context":
        _evaluate_context(data, clones, limit, arms or ("default",), max_tokens, as_json)
        return
    from causalist.evaluate import evaluate

    with show_progress() as progress:
        report = evaluate(
            data, clones, top_k=top_k, languages=languages, limit=limit, processes=processes, progress=progress
        )
    if as_json:
        emit_document(report.to_json())
    else:
        emit_lines(report.to_text().splitlines())


def _evaluate_context(
    data: Path, clones: Path, limit: int | None, arms: tuple[str, ...], max_tokens: int, as_json: bool
) -> None:
    from causalist.evaluate import context

    questions = context.read_context_questions(data)[:limit]
    chosen = {name: context.ARMS[name] for name in arms}
    with show_progress() as progress:
        scores = context.evaluate_context(questions, clones, chosen, max_tokens, progress)
    if as_json:
        emit_document(context.context_data(scores, max_tokens))
    else:
        emit_lines(context.context_text(scores, max_tokens).splitlines())


def _check_options(what: str | None) -> None:
    context = click.get_current_context()
    named = {
        name for name in context.params if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    others = [n for n in ("data", "clones", "limit", "languages", "processes") if n in named]
    if "from_git" in named and others:
        option = {"languages": "lang"}.get(others[0], others[0])
        raise UsageError(f"--{option} requires --data and cannot be used with --from-git")
    if what is None and named & {"arms", "max_tokens"}:
        raise UsageError("--arm and --max-tokens require context: causalist eval context --data FILE --clones DIR")
    if what == "context" and named & {"from_git", "languages", "processes", "top_k"}:
        raise UsageError("context uses --data, --clones, --limit, --arm and --max-tokens only")
    if "repo" in named and "from_git" not in named:
        raise UsageError("--repo requires --from-git. Use --clones for the clones of --data.")


def _evaluate_history(repo: Path | None, n: int, top_k: int, as_json: bool) -> None:
    from causalist.evaluate import evaluate_history, own_report_data, render_own_report

    with show_progress() as progress:
        report = evaluate_history(repo or Path(), n, top_k=top_k, progress=progress)
    if as_json:
        emit_document(own_report_data(report))
    elif report.results:
        emit_lines(render_own_report(report).splitlines())
    if not report.results:
        for line in render_own_report(report).splitlines():
            say(line)
        click.get_current_context().exit(NOTHING_FOUND)


@click.command("learn")
@repository_options
@click.option("--questions", type=click.IntRange(min=1), default=N_LEARNED_QUESTIONS, show_default=True,
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
        sentence = (
            "deleted the learned weights; the shipped weights rank again" if removed else "there are no learned weights"
        )
        if as_json:
            emit_document({"format_version": 1, "reset": removed})
        else:
            emit_lines([sentence])
        if not removed:
            click.get_current_context().exit(NOTHING_FOUND)
        return
    report_notes(repository)
    from causalist.evaluate import learn

    with show_progress() as progress:
        learning = learn(repository, questions, progress=progress)
    path: Path | None = None
    if learning.is_better and not dry_run and learning.document is not None and repository.feedback_store is not None:
        path = repository.feedback_store.write_weights(learning.document)
    if as_json:
        emit_document(_learning_document(learning, path))
    else:
        kept = [f"kept in {path}"] if path else ["dry run: the weights are not saved"] if learning.is_better else []
        emit_lines([learning.decision(), *kept])
    if not learning.is_better:
        click.get_current_context().exit(NOTHING_FOUND)


def _learning_document(learning: "Learning", place: Path | None) -> dict[str, object]:
    return {
        "format_version": 1,
        "reset": False,
        "decision": learning.decision(),
        "is_better": learning.is_better,
        "questions": {"history": learning.n_history, "feedback": learning.n_feedback, "older": learning.n_older,
                      "newer": learning.n_newer},
        "figures": None if learning.document is None else learning.document["figures"],
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
    query, feedback_path = repository.feedback_store.add_feedback_by_id(answer_id, right, wrong)
    if as_json:
        document = {"format_version": 1, "answer_id": answer_id, "query": query, "used": list(right),
                    "not_used": list(wrong), "file": str(feedback_path)}  # fmt: skip
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
