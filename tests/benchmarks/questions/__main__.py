"""Labelled questions, repository by repository and question by question.

    python -m tests.benchmarks.questions FILE... --clones DIR [--top-k 20] [--processes 1] [--no-questions]

FILE holds one question a line, as `causalist eval --data` reads it; `--clones` holds OWNER+NAME/repo or OWNER/NAME with
history. Each question is asked of the tree at its own commit. Prints Markdown: for files and for symbols a table with a
row for each repository and system (those of `causalist.evaluate.results`: fused, graph off, two BM25 baselines;
BM25 ranks files only), then a row for each question with the places of its right answers. Intervals, hard questions and
languages are what `causalist eval` prints.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from causalist.evaluate import evaluate
from causalist.evaluate.results import (
    FILE_SYSTEMS,
    FUSED,
    METRICS,
    SYMBOL_SYSTEMS,
    QuestionResult,
    Ranks,
    metric_values,
)

Select = Callable[[QuestionResult], Mapping[str, Ranks]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--top-k", type=int, default=20)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--no-questions", action="store_true", help="only the tables of repositories")
    arguments = parser.parse_args()
    for data in arguments.files:
        report = evaluate(
            data, arguments.clones, top_k=arguments.top_k, processes=arguments.processes, progress=lambda *_: None
        )
        lines = [f"## {data.name}", "", *describe(report.results, with_questions=not arguments.no_questions)]
        lines += [f"skipped: {s.question.id}: {s.reason}" for s in report.skipped]
        sys.stdout.write("\n".join(lines) + "\n")
    return 0


def describe(results: Sequence[QuestionResult], *, with_questions: bool) -> list[str]:
    """The tables over files, then those over symbols (of the questions that name some)."""
    named = [result for result in results if result.symbols]
    lines = ["### Files", "", *by_repository(results, lambda r: r.files, list(FILE_SYSTEMS)), ""]
    if with_questions:
        lines += [*by_question(results, lambda r: r.files, lambda r: r.question.gold_files), ""]
    lines += ["### Symbols", "", *by_repository(named, lambda r: r.symbols, list(SYMBOL_SYSTEMS)), ""]
    if with_questions:
        lines += [*by_question(named, lambda r: r.symbols, lambda r: r.question.gold_symbols), ""]
    return lines


def by_repository(results: Sequence[QuestionResult], ranks: Select, systems: Sequence[str]) -> list[str]:
    """One row for each repository, in the order of the questions, and system; "all" comes last. Shares in percent."""
    repositories = list(dict.fromkeys(result.question.repo for result in results))
    groups = [(name, [r for r in results if r.question.repo == name]) for name in repositories]
    groups.append(("all", list(results)))
    lines = [f"| repository | system | {' | '.join(METRICS)} |", f"|---|---|{'---|' * len(METRICS)}"]
    for name, group in groups:
        if not group:
            continue
        for system in systems:
            means = metric_values([ranks(r)[system] for r in group], list(METRICS)).mean(axis=0)
            cells = " | ".join(
                f"{mean:.3f}" if metric == "MRR" else f"{100 * mean:.1f}"
                for metric, mean in zip(METRICS, means, strict=True)
            )
            lines.append(f"| {name} ({len(group)}) | {system} | {cells} |")
    return lines


def by_question(
    results: Sequence[QuestionResult], ranks: Select, gold: Callable[[QuestionResult], Sequence[str]]
) -> list[str]:
    """One row for each question: the place of every right answer in the fused list ("–" where it is not in it, "?"
    where the index has no such node), the best place by each system, and the question."""
    systems = list(ranks(results[0])) if results else []
    lines = [f"| question | places, fused | {' | '.join(f'first, {s}' for s in systems)} | asked |"]
    lines.append(f"|---|---|{'---|' * len(systems)}---|")
    for result in results:
        places = [
            str(rank) if rank else "?" if name in result.unindexed else "–"
            for name, rank in zip(gold(result), ranks(result)[FUSED], strict=True)
        ]
        firsts = [min((rank for rank in ranks(result)[system] if rank), default=None) for system in systems]
        asked = result.question.query.replace("|", "\\|")
        cells = " | ".join(str(first) if first else "–" for first in firsts)
        lines.append(f"| {result.question.id} | {' '.join(places)} | {cells} | {asked} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
