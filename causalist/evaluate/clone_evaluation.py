"""Evaluation of labeled questions on clones, and its report and that of an own history, for people and programs.

A file of labeled questions and a folder of clones become a report. Every question is asked of the tree at its own
commit and of nothing later. Repositories are independent of one another, so they are what processes share out; neither
their number nor their timing changes a result. Reports are text for people and documents for programs.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from causalist._internal.text_formatting import align_columns, count_noun
from causalist.errors import EvaluationError, GitError, UsageError
from causalist.evaluate.mining import LabelledQuestion, clone_places, find_clone, read_questions
from causalist.evaluate.own_history import Ablation, Coverage, OwnReport
from causalist.evaluate.results import (
    FUSED,
    GRAPH_OFF,
    LEVEL,
    MIN_LIST_LENGTH,
    N_RESAMPLES,
    SEED,
    WHOLE_FILE_CODE,
    Interval,
    QuestionResult,
    Ranks,
    RepositoryResult,
    SkippedQuestion,
    Summary,
    ask_repository,
    difference,
    render_summaries,
    summarize_files,
    summarize_symbols,
)
from causalist.index.freshness import index_version
from causalist.index.options import Progress
from causalist.source import scan_commit

# 1: the first. Keys may be added to a version, never changed or taken away.
FORMAT_VERSION = 1

_EXAMPLES = 3  # questions that the text names for each reason; the document names all
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Options of an evaluation."""

    data: str
    top_k: int
    languages: tuple[str, ...]
    limit: int | None


@dataclass(frozen=True, slots=True)
class Timings:
    """Times of an evaluation.

    `ranking_ms` is the median of a question (`fused`, index in memory) and `indexing_ms` that of a commit (blobs parsed
    before are not parsed again). `total_s` is wall time, with `processes` at work.
    """

    total_s: float
    ranking_ms: float
    indexing_ms: float
    n_commits: int
    processes: int

    @classmethod
    def of(
        cls, results: Sequence[QuestionResult], indexing_ms: Sequence[float], total_s: float, processes: int
    ) -> "Timings":
        """Compute the timings of results and of indexing each of the commits."""
        return cls(total_s, median(r.ranking_ms for r in results), median(indexing_ms), len(indexing_ms), processes)


@dataclass(frozen=True, slots=True)
class Report:
    """Results of an evaluation.

    `results` and `skipped` have the order of the data file. `files` and `symbols` contain one summary for each nonempty
    group of questions; `symbols` is empty if no question names any. All fields but `timings` are deterministic.
    """

    settings: EvaluationOptions
    results: tuple[QuestionResult, ...]
    skipped: tuple[SkippedQuestion, ...]
    files: tuple[Summary, ...]
    symbols: tuple[Summary, ...]
    timings: Timings

    def to_text(self) -> str:
        """Return a compact table; its form may change."""
        lines = [self._headline(), "", *render_summaries(self.files)]
        if self.symbols:
            lines += ["", "Symbols", *render_summaries(self.symbols)]
        lines += ["", self._timing_line(), *self._reservations()]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return one JSON document; its rows have the ranks of gold files by system, null for those not listed."""
        settings = self.settings
        return {
            "format_version": FORMAT_VERSION,
            "settings": {
                "data": settings.data,
                "top_k": settings.top_k,
                "languages": list(settings.languages),
                "limit": settings.limit,
                "index_version": index_version(),
                "bootstrap": {"level": LEVEL, "n_resamples": N_RESAMPLES, "seed": SEED},
            },
            "files": {summary.name: summary_json(summary) for summary in self.files},
            "symbols": {summary.name: summary_json(summary) for summary in self.symbols},
            "timings": {
                "total_s": round(self.timings.total_s, 3),
                "ranking_ms_median": round(self.timings.ranking_ms, 3),
                "indexing_ms_median": round(self.timings.indexing_ms, 3),
                "commits": self.timings.n_commits,
                "processes": self.timings.processes,
            },
            "skipped": [
                {"id": s.question.id, "line": s.question.line, "repo": s.question.repo, "reason": s.reason}
                for s in self.skipped
            ],
            "rows": [row_json(result) for result in self.results],
        }

    def _headline(self) -> str:
        asked = f"{count_noun(len(self.results), 'question')} on {count_noun(self._n_repositories(), 'repository')}"
        skipped = f" ({len(self.skipped)} skipped)" if self.skipped else ""
        return (
            f"{self.settings.data}: {asked}{skipped}; lists of {self.settings.top_k}; "
            f"{LEVEL:.0%} intervals from {N_RESAMPLES:,} resamples"
        )

    def _n_repositories(self) -> int:
        return len({result.question.repo for result in self.results})

    def _timing_line(self) -> str:
        t = self.timings
        return (
            f"ranking {t.ranking_ms:.1f} ms a question (median); indexing {t.indexing_ms:.0f} ms a commit (median of "
            f"{t.n_commits}); {t.total_s:.1f} s in all with {count_noun(t.processes, 'process')}"
        )

    def _reservations(self) -> list[str]:
        """Return the lines on skipped questions, and on gold that no system could have found."""
        by_reason: dict[str, list[str]] = {}
        for skipped in self.skipped:
            by_reason.setdefault(f"{skipped.question.repo}: {skipped.reason}", []).append(skipped.question.id)
        lines = [f"skipped {len(ids)}, {reason} [{examples(ids)}]" for reason, ids in by_reason.items()]
        missing = [f"{r.question.id} {name}" for r in self.results for name in r.unindexed]
        if missing:
            lines.append(
                f"{len(missing)} right answers are not in the index, so nothing can find them [{examples(missing)}]"
            )
        return lines


def examples(names: Sequence[str]) -> str:
    """Return the first few names, joined."""
    shown = ", ".join(names[:_EXAMPLES])
    return f"{shown}, …" if len(names) > _EXAMPLES else shown


def summary_json(summary: Summary) -> dict[str, Any]:
    """Return the means and intervals by system, and the differences, as plain data."""

    def rows(table: Mapping[str, Mapping[str, Interval]]) -> dict[str, Any]:
        return {system: {metric: interval_json(i) for metric, i in row.items()} for system, row in table.items()}

    return {"n": summary.n, "systems": rows(summary.systems), "fused_minus": rows(summary.differences)}


def interval_json(interval: Interval) -> dict[str, float]:
    """Return `value`, `low` and `high` as plain data."""
    return {key: round(value, _DECIMALS) for key, value in interval._asdict().items()}


def row_json(result: QuestionResult) -> dict[str, Any]:
    """Return a question with the ranks of its answers as plain data."""

    def ranks(table: Mapping[str, Ranks]) -> dict[str, list[int | None]]:
        return {system: list(system_ranks) for system, system_ranks in table.items()}

    question = result.question
    return {
        "id": question.id,
        "line": question.line,
        "repo": question.repo,
        "lang": question.lang,
        "hard": question.hard,
        "gold_files": list(question.gold_files),
        "ranks": ranks(result.files),
        "gold_symbols": list(question.gold_symbols),
        "symbol_ranks": ranks(result.symbols),
        "unindexed": list(result.unindexed),
    }


# 1: the first. Keys may be added to a version, never changed or taken away.


def render_own_report(report: OwnReport) -> str:
    """Return a compact table; its form may change."""
    lines = [_headline(report), ""]
    if report.results:
        lines += [*_in_short(report.files[0]), "", *render_summaries(report.files)]
        if report.symbols:
            lines += ["", "Definitions that the commits changed", *render_summaries(report.symbols)]
        if report.coverage is not None:
            lines += ["", _coverage_line(report.coverage)]
        lines += ["", *_ablation_lines(report)]
        lines += ["", f"{report.total_s:.1f} s in all"]
    lines += _reservations(report)
    return "\n".join(lines) + "\n"


def own_report_data(report: OwnReport) -> dict[str, Any]:
    """Return one JSON document; its rows have the name of the answering commit and the ranks by system."""
    coverage = report.coverage
    return {
        "format_version": FORMAT_VERSION,
        "settings": {
            "repository": str(report.root),
            "questions": report.n_wanted,
            "top_k": report.top_k,
            "index_version": index_version(),
            "bootstrap": {"level": LEVEL, "n_resamples": N_RESAMPLES, "seed": SEED},
        },
        "files": {summary.name: summary_json(summary) for summary in report.files},
        "symbols": {summary.name: summary_json(summary) for summary in report.symbols},
        "tokens": None
        if coverage is None
        else {
            "covered": interval_json(coverage.share),
            "mean": None if coverage.mean is None else interval_json(coverage.mean),
            "median": coverage.median,
        },
        "ablation": {each.signal: _differences_json(each.differences) for each in report.ablations},
        "left_out": dict(report.left_out),
        "timings": {"total_s": round(report.total_s, 3)},
        "skipped": [{"commit": s.question.id, "reason": s.reason} for s in report.skipped],
        "rows": [
            {"commit": result.question.id, "query": result.question.query, "tokens": tokens}
            | {key: value for key, value in row_json(result).items() if key not in ("id", "line", "repo")}
            for result, tokens in zip(report.results, report.tokens, strict=True)
        ],
    }


def _headline(report: OwnReport) -> str:
    if not report.results:
        return f"{report.root}: no commit of its history is a question"
    asked = count_noun(len(report.results), "question")
    fewer = "" if len(report.results) >= report.n_wanted else f" (of {report.n_wanted} wanted)"
    return (
        f"{report.root}: {asked} from its history{fewer}, each asked of the state before its answer; "
        f"lists of {report.top_k}; {LEVEL:.0%} intervals from {N_RESAMPLES:,} resamples"
    )


def _in_short(everything: Summary) -> list[str]:
    """Return the lines of the summary before the tables."""
    ours, plain = everything.systems[FUSED], everything.systems[WHOLE_FILE_CODE]
    first, among = (
        f"{what} in {_per_cent(ours[metric])} of the questions (BM25 of code: {100 * plain[metric].value:.0f} %)"
        for what, metric in (("a right file is first", "any@1"), ("all of them are among the first five", "accuracy@5"))
    )
    lines = [f"in short: {first};", f"          {among}"]
    gain = everything.differences[WHOLE_FILE_CODE]["MRR"]
    if gain.low <= 0 <= gain.high:
        lines.append("          by MRR the difference from that baseline may be chance")
    if not any(each.value or each.low or each.high for each in everything.differences[GRAPH_OFF].values()):
        lines.append(
            "          the graph has no part in the order of files: it decides about definitions and what is added"
        )
    return lines


def _coverage_line(coverage: Coverage) -> str:
    share = f"all right files are among the results of {_per_cent(coverage.share)} of the questions"
    if coverage.mean is None or coverage.median is None:
        return share
    value, low, high = coverage.mean
    return f"{share}, after {coverage.median:,.0f} tokens (median; mean {value:,.0f} [{low:,.0f}–{high:,.0f}])"


def _per_cent(interval: Interval) -> str:
    value, low, high = (100 * part for part in interval)
    return f"{value:.0f} % [{low:.0f}–{high:.0f}]"


def _ablation_lines(report: OwnReport) -> list[str]:
    """Return the lines on the contribution of each signal, without graph slots."""
    if not report.ablations:
        return ["no signal changes any rank"]
    metrics = list(report.ablations[0].differences)
    return align_columns(
        [["what a signal brings (* interval without 0)", *metrics], *map(_ablation_row, report.ablations)]
    )


def _ablation_row(ablation: Ablation) -> list[str]:
    return [f"  {ablation.signal}", *(difference(metric, each) for metric, each in ablation.differences.items())]


def _reservations(report: OwnReport) -> list[str]:
    lines = []
    if report.left_out:
        reasons = ", ".join(f"{n} {reason}" for reason, n in report.left_out.items())
        lines.append(f"commits that are no question: {reasons}")
    by_reason: dict[str, list[str]] = {}
    for skipped in report.skipped:
        by_reason.setdefault(skipped.reason, []).append(skipped.question.id)
    lines += [f"skipped {len(ids)}, {reason} [{examples(ids)}]" for reason, ids in by_reason.items()]
    missing = [f"{r.question.id[:12]} {name}" for r in report.results for name in r.unindexed]
    if missing:
        lines.append(f"{count_noun(len(missing), 'right answer')} not in the index [{examples(missing)}]")
    return lines


def _differences_json(differences: Mapping[str, Interval]) -> dict[str, Any]:
    return {metric: interval_json(each) for metric, each in differences.items()}


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
    questions = _choose_questions(data, languages, limit)
    if not clones.is_dir():
        raise EvaluationError(f"{clones} is not a folder; give the one that holds OWNER+NAME/repo or OWNER/NAME")
    jobs, skipped = _jobs(questions, clones)
    done = len(skipped)

    def report_progress(n: int) -> None:
        nonlocal done
        done += n
        progress("asking", done, len(questions))

    processes = max(1, min(processes, len(jobs)))
    if processes == 1:
        parts = [ask_repository(job.git_dir, job.questions, top_k, report_progress) for job in jobs]
    else:
        parts = _in_processes(jobs, top_k, processes, report_progress)
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


def _choose_questions(data: Path, languages: tuple[str, ...], limit: int | None) -> list[LabelledQuestion]:
    everything = read_questions(data)
    if not everything:
        raise EvaluationError(f"{data} holds no question; it needs one JSON object a line")
    chosen = [q for q in everything if not languages or q.lang in languages][:limit]
    if not chosen:
        there = ", ".join(sorted({q.lang for q in everything}))
        raise EvaluationError(f"{data} has no question in {', '.join(languages)}; there are {there}")
    return chosen


def _jobs(questions: Sequence[LabelledQuestion], clones: Path) -> tuple[list[_Job], list[SkippedQuestion]]:
    """Return one job for each available repository, and the questions on all others."""
    by_repository: dict[str, list[LabelledQuestion]] = {}
    for question in questions:
        by_repository.setdefault(question.repo, []).append(question)
    jobs: list[_Job] = []
    skipped: list[SkippedQuestion] = []
    for repo, asked in by_repository.items():
        git_dir = find_clone(clones, repo)
        if git_dir is None:
            places = " or ".join(str(place) for place in clone_places(clones, repo))
            skipped += [SkippedQuestion(question, f"no clone at {places}") for question in asked]
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
