"""Results of questions -> means with intervals: over all, over hard ones, for each language; and paired differences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from causalist.evaluate.metrics import METRICS, Interval, Ranks, bootstrap, metric_values
from causalist.evaluate.snapshots import QuestionResult
from causalist.evaluate.systems import FILE_SYSTEMS, FUSED, SYMBOL_SYSTEMS

FILE_METRICS = tuple(METRICS)
DIFFERENCE_METRICS = ("accuracy@1", "accuracy@10", "MRR", "recall@20")
SYMBOL_METRICS = ("accuracy@10", "recall@10", "recall@20")

Row = Mapping[str, Interval]  # by metric


@dataclass(frozen=True, slots=True)
class Summary:
    """Metrics by system, and `fused` minus each other system by that system, for `n` questions. `name` is "all",
    "hard" or "language:" and a language."""

    name: str
    n: int
    systems: Mapping[str, Row]
    differences: Mapping[str, Row]


def summarise_files(
    results: Sequence[QuestionResult],
    metrics: Sequence[str] = FILE_METRICS,
    compared: Sequence[str] = DIFFERENCE_METRICS,
) -> tuple[Summary, ...]:
    """Summaries over files, of those groups that have a question; `compared` are among the `metrics`."""
    return _summaries(results, lambda r: r.files, list(FILE_SYSTEMS), metrics, compared)


def summarise_symbols(results: Sequence[QuestionResult]) -> tuple[Summary, ...]:
    """Summaries over symbols, of the questions that name some."""
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
