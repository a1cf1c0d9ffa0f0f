"""`causalist eval`: measure retrieval quality on labeled queries or on the repository's own history."""

from pathlib import Path

import click

from causalist.cli._output import emit_document, emit_lines, say, show_progress
from causalist.cli._repository import json_option, repo_option
from causalist.cli._run import NOTHING_FOUND
from causalist.errors import UsageError

# Copy of the value in `evaluate.own_history`, so that `--help` need not import it; a test compares them.
N_QUESTIONS = 50


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
