"""`causalist eval`: measure retrieval quality on labeled queries or on the repository's own history."""

from pathlib import Path

import click

from causalist.cli._output import emit_document, emit_lines, say, show_progress
from causalist.cli._repository import json_option, repo_option
from causalist.cli._run import NOTHING_FOUND
from causalist.errors import UsageError

# Copy of the value in `evaluate.own_history`, so that `--help` need not import it; a test compares them.
N_QUESTIONS = 50


@click.command("eval")
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
@json_option
def eval_command(
    from_git: int | None,
    repo: Path | None,
    data: Path | None,
    clones: Path | None,
    limit: int | None,
    top_k: int,
    languages: tuple[str, ...],
    processes: int,
    as_json: bool,
) -> None:
    """Measure retrieval quality.

    --from-git uses commit messages of this repository as queries, each against the state before its commit; the
    relevant files are those that the commit changed. --data uses labeled queries.

    \b
    Example:
      causalist eval --from-git 100
      causalist eval --data issues.jsonl --clones ~/clones --lang python --processes 4
    """
    _check_options()
    if from_git is not None:
        _evaluate_history(repo, from_git, top_k, as_json)
        return
    if data is None or clones is None:
        raise click.UsageError("Give --from-git, or --data and --clones.")
    from causalist.evaluate import evaluate

    with show_progress() as progress:
        report = evaluate(
            data, clones, top_k=top_k, languages=languages, limit=limit, processes=processes, progress=progress
        )
    if as_json:
        emit_document(report.to_json())
    else:
        emit_lines(report.to_text().splitlines())


def _check_options() -> None:
    context = click.get_current_context()
    named = {
        name for name in context.params if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    others = [n for n in ("data", "clones", "limit", "languages", "processes") if n in named]
    if "from_git" in named and others:
        option = {"languages": "lang"}.get(others[0], others[0])
        raise UsageError(f"--{option} requires --data and cannot be used with --from-git")
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
