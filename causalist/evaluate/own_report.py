"""What `own` measured, as text for people and as a document for programs."""

from collections.abc import Mapping
from typing import Any

from causalist.evaluate.metrics import LEVEL, N_RESAMPLES, SEED, Interval
from causalist.evaluate.own_history import Ablation, Coverage, OwnReport
from causalist.evaluate.report import counted, examples, interval_json, row_json, summary_json
from causalist.evaluate.summary import Summary
from causalist.evaluate.systems import FUSED, GRAPH_OFF, WHOLE_FILE_CODE
from causalist.evaluate.table import aligned, difference, render_summaries
from causalist.index.versions import index_version

# 1: the first. Keys may be added to a version, never changed or taken away.
FORMAT_VERSION = 1


def own_text(report: OwnReport) -> str:
    """A compact table; may change freely."""
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


def own_json(report: OwnReport) -> dict[str, Any]:
    """One JSON document; rows are named by the commits that answered, and hold the ranks of their files by system."""
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
    asked = counted(len(report.results), "question")
    fewer = "" if len(report.results) >= report.n_wanted else f" (of {report.n_wanted} wanted)"
    return (
        f"{report.root}: {asked} from its history{fewer}, each asked of the state before its answer; "
        f"lists of {report.top_k}; {LEVEL:.0%} intervals from {N_RESAMPLES:,} resamples"
    )


def _in_short(everything: Summary) -> list[str]:
    """What most people want to know, before the tables."""
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
    """What each signal brings, without the places of the graph."""
    if not report.ablations:
        return ["no signal changes any rank"]
    metrics = list(report.ablations[0].differences)
    return aligned([["what a signal brings (* interval without 0)", *metrics], *map(_ablation_row, report.ablations)])


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
        lines.append(f"{counted(len(missing), 'right answer')} not in the index [{examples(missing)}]")
    return lines


def _differences_json(differences: Mapping[str, Interval]) -> dict[str, Any]:
    return {metric: interval_json(each) for metric, each in differences.items()}
