"""Results of questions -> means with intervals, paired differences, and the lines of aligned tables.

Summaries cover all questions, the hard ones, and each language. Tables show percentages, MRR as a number, and intervals
in brackets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from causalist._internal.text import align_columns
from causalist.evaluate.metrics import METRICS, Interval, Ranks, bootstrap, metric_values
from causalist.evaluate.results import FILE_SYSTEMS, FUSED, SYMBOL_SYSTEMS, QuestionResult

FILE_METRICS = tuple(METRICS)
DIFFERENCE_METRICS = ("accuracy@1", "accuracy@10", "MRR", "recall@20")
SYMBOL_METRICS = ("accuracy@10", "recall@10", "recall@20")

Row = Mapping[str, Interval]  # by metric


@dataclass(frozen=True, slots=True)
class Summary:
    """Metrics by system, and `fused` minus each other system by that system, for `n` questions.

    `name` is "all", "hard" or "language:" and a language.
    """

    name: str
    n: int
    systems: Mapping[str, Row]
    differences: Mapping[str, Row]


def summarize_files(
    results: Sequence[QuestionResult],
    metrics: Sequence[str] = FILE_METRICS,
    compared: Sequence[str] = DIFFERENCE_METRICS,
) -> tuple[Summary, ...]:
    """Return summaries over files, of each group that has a question; `compared` are among the `metrics`."""
    return _summaries(results, lambda r: r.files, list(FILE_SYSTEMS), metrics, compared)


def summarize_symbols(results: Sequence[QuestionResult]) -> tuple[Summary, ...]:
    """Return summaries over symbols, of the questions that name some."""
    named = [result for result in results if result.symbols]
    return _summaries(named, lambda r: r.symbols, list(SYMBOL_SYSTEMS), SYMBOL_METRICS, SYMBOL_METRICS)


def _summaries(
    results: Sequence[QuestionResult],
    ranks: Callable[[QuestionResult], Mapping[str, Ranks]],
    systems: Sequence[str],
    metrics: Sequence[str],
    compared: Sequence[str],
) -> tuple[Summary, ...]:
    groups = [("all", list(results)), ("hard", [r for r in results if r.question.hard])]
    languages = sorted({r.question.lang for r in results})
    groups += [(f"language:{lang}", [r for r in results if r.question.lang == lang]) for lang in languages]
    return tuple(
        _summary(name, {system: [ranks(r)[system] for r in group] for system in systems}, metrics, compared)
        for name, group in groups
        if group
    )


def _summary(
    name: str, ranks: Mapping[str, Sequence[Ranks]], metrics: Sequence[str], compared: Sequence[str]
) -> Summary:
    values = {system: metric_values(rows, metrics) for system, rows in ranks.items()}
    paired = [list(metrics).index(metric) for metric in compared]
    return Summary(
        name,
        len(values[FUSED]),
        {system: dict(zip(metrics, bootstrap(table), strict=True)) for system, table in values.items()},
        {
            system: dict(zip(compared, bootstrap((values[FUSED] - table)[:, paired]), strict=True))
            for system, table in values.items()
            if system != FUSED
        },
    )


def render_summaries(summaries: Sequence[Summary]) -> list[str]:
    """Return one block for each group with a line for each system, then the differences of all and hard questions.

    A group that is the same as "all" is left out. A star marks a difference whose interval does not contain zero.
    """
    if not summaries:
        return []
    everything = summaries[0]
    shown = [s for s in summaries if s is everything or s.n < everything.n]
    metrics = list(next(iter(everything.systems.values())))
    rows = [["", *metrics]]
    for summary in shown:
        rows.append([f"{summary.name.removeprefix('language:')} ({summary.n})", *[""] * len(metrics)])
        rows += _system_rows(summary.systems, metrics)
    lines = align_columns(rows)
    compared = list(next(iter(everything.differences.values())))
    rows = [["paired difference (* interval without 0)", *compared]]
    for summary in shown:
        if summary.name in ("all", "hard"):
            rows += [
                [f"{summary.name}: fused − {other}", *(difference(metric, row[metric]) for metric in compared)]
                for other, row in summary.differences.items()
            ]
    return [*lines, "", *align_columns(rows)]


def _system_rows(systems: Mapping[str, Mapping[str, Interval]], metrics: Sequence[str]) -> list[list[str]]:
    return [[f"  {name}", *(_cell(metric, row[metric]) for metric in metrics)] for name, row in systems.items()]


def _cell(metric: str, interval: Interval) -> str:
    """Return a cell of the table: a value with its interval, shares in percent.

    >>> _cell("accuracy@1", Interval(0.415, 0.331, 0.5)), _cell("MRR", Interval(0.5561, 0.489, 0.62))
    ('41.5 [33–50]', '0.556 [0.49–0.62]')
    """
    value, low, high = interval
    if metric == "MRR":
        return f"{value:.3f} [{low:.2f}–{high:.2f}]"
    return f"{100 * value:.1f} [{100 * low:.0f}–{100 * high:.0f}]"


def difference(metric: str, interval: Interval) -> str:
    """Return a cell with a paired difference and its interval; a star marks an interval without 0.

    >>> difference("accuracy@1", Interval(0.033, -0.01, 0.08)), difference("MRR", Interval(0.05, 0.012, 0.09))
    ('+3.3 [-1.0 … +8.0]', '+0.050 [+0.012 … +0.090]*')
    """
    value, low, high = interval if metric == "MRR" else (100 * part for part in interval)
    digits = 3 if metric == "MRR" else 1
    star = "*" if low > 0 or high < 0 else ""
    return f"{value:+.{digits}f} [{low:+.{digits}f} … {high:+.{digits}f}]{star}"
