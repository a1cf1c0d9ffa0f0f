"""A file of labeled questions and a folder of clones -> a report: the order of an evaluation.

Every question is asked of the tree at its own commit and of nothing later. Repositories are independent of one
another, so they are what processes share out; neither their number nor their timing changes a result.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from causalist.errors import EvaluationError, GitError, UsageError
from causalist.evaluate.mining import LabelledQuestion, clone_places, find_clone, read_questions
from causalist.evaluate.report import EvaluationOptions, Report, Timings
from causalist.evaluate.results import (
    MIN_LIST_LENGTH,
    RepositoryResult,
    Skipped,
    ask_repository,
    summarize_files,
    summarize_symbols,
)
from causalist.index.options import Progress
from causalist.source import scan_commit


class _Job(NamedTuple):
    """The questions of one repository."""

    git_dir: Path
    questions: list[LabelledQuestion]


def evaluate(
    data: Path,
    clones: Path,
    *,
    top_k: int = 20,
    languages: tuple[str, ...] = (),
    limit: int | None = None,
    processes: int = 1,
    progress: Progress,
) -> Report:
    """Ask the questions in `data` of the repositories in `clones` and report how well each system ranks the gold.

    `data` holds one JSON object a line: id, repo, lang, base_commit, query, gold_files, hard, perhaps gold_symbols
    (node ids). `clones` holds OWNER+NAME/repo or OWNER/NAME with history. `languages` keeps questions with those
    values of lang, `limit` the first so many of these. Lists are cut at `top_k`.

    A question whose clone or commit is missing is skipped, with the reason in the report. Raises EvaluationError for
    data that are not as they should be and where no question is left, UsageError for options out of range.
    """
    start = time.perf_counter()
    _check(top_k, limit, processes)
    questions = _chosen(data, languages, limit)
    if not clones.is_dir():
        raise EvaluationError(f"{clones} is not a folder; give the one that holds OWNER+NAME/repo or OWNER/NAME")
    jobs, skipped = _jobs(questions, clones)
    done = len(skipped)

    def asked(n: int) -> None:
        nonlocal done
        done += n
        progress("asking", done, len(questions))

    processes = max(1, min(processes, len(jobs)))
    if processes == 1:
        parts = [ask_repository(job.git_dir, job.questions, top_k, asked) for job in jobs]
    else:
        parts = _in_processes(jobs, top_k, processes, asked)
    results = sorted((r for part in parts for r in part.results), key=lambda r: r.question.line)
    skipped += [s for part in parts for s in part.skipped]
    skipped.sort(key=lambda s: s.question.line)
    if not results:
        first = skipped[0]
        raise EvaluationError(
            f"none of the {len(questions)} questions could be asked; {first.question.id}: {first.reason}"
        )
    indexing_ms = [ms for part in parts for ms in part.indexing_ms]
    files, symbols = summarize_files(results), summarize_symbols(results)
    return Report(
        EvaluationOptions(str(data), top_k, languages, limit),
        tuple(results),
        tuple(skipped),
        files,
        symbols,
        Timings.of(results, indexing_ms, time.perf_counter() - start, processes),
    )


def _check(top_k: int, limit: int | None, processes: int) -> None:
    if top_k < MIN_LIST_LENGTH:
        raise UsageError(f"--top-k must be at least {MIN_LIST_LENGTH} for accuracy@{MIN_LIST_LENGTH}, not {top_k}")
    if limit is not None and limit < 1:
        raise UsageError(f"--limit must be at least 1, not {limit}")
    if processes < 1:
        raise UsageError(f"--processes must be at least 1, not {processes}")


def _chosen(data: Path, languages: tuple[str, ...], limit: int | None) -> list[LabelledQuestion]:
    everything = read_questions(data)
    if not everything:
        raise EvaluationError(f"{data} holds no question; it needs one JSON object a line")
    chosen = [q for q in everything if not languages or q.lang in languages][:limit]
    if not chosen:
        there = ", ".join(sorted({q.lang for q in everything}))
        raise EvaluationError(f"{data} has no question in {', '.join(languages)}; there are {there}")
    return chosen


def _jobs(questions: Sequence[LabelledQuestion], clones: Path) -> tuple[list[_Job], list[Skipped]]:
    """Return one job for each available repository, and the questions on all others."""
    by_repository: dict[str, list[LabelledQuestion]] = {}
    for question in questions:
        by_repository.setdefault(question.repo, []).append(question)
    jobs: list[_Job] = []
    skipped: list[Skipped] = []
    for repo, asked in by_repository.items():
        git_dir = find_clone(clones, repo)
        if git_dir is None:
            places = " or ".join(str(place) for place in clone_places(clones, repo))
            skipped += [Skipped(question, f"no clone at {places}") for question in asked]
        else:
            jobs.append(_Job(git_dir, asked))
    return jobs, skipped


def _in_processes(
    jobs: Sequence[_Job], top_k: int, processes: int, asked: Callable[[int], None]
) -> list[RepositoryResult]:
    """Return an iterator over the results of jobs; the most expensive start first.

    No process then ends with a large job while the others have nothing to do.
    """
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(max_workers=processes, mp_context=context)
    try:
        running = {pool.submit(_ask_silently, job, top_k): job for job in sorted(jobs, key=_cost, reverse=True)}
        parts = []
        for finished in as_completed(running):
            parts.append(finished.result())
            asked(len(running[finished].questions))
        return parts
    finally:
        pool.shutdown(cancel_futures=True)


def _ask_silently(job: _Job, top_k: int) -> RepositoryResult:
    return ask_repository(job.git_dir, job.questions, top_k, lambda n: None)


def _cost(job: _Job) -> int:
    """Return an estimate of a job's duration: bytes of one of its commits times their number."""
    commits = {question.commit for question in job.questions}
    try:
        scan = scan_commit(job.git_dir, job.questions[0].commit)
    except GitError:
        return 0
    return sum(entry.size for entry in scan.entries) * len(commits)
