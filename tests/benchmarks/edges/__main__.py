"""Scores the graph's edges against compiler-grade gold.

    python -m tests.benchmarks.edges --edgebench DIR --clones DIR [--min-confidence 0.5] [--sure 0.99] [--list]
        [--write] [--all | NAME...]

DIR of `--edgebench` holds `score.py`, and `gold/NAME.jsonl.gz` where the gold is not in the folder beside this file,
as all are that the documentation speaks of; `--clones` holds OWNER+NAME/repo or OWNER/NAME with history. Edges of
functions that the gold lists as not covered are left out. Each repository is indexed at the commit of its gold.
Prints one row a repository and kind as Markdown, then how many of the judged calls with a confidence of `--sure` or
more are wrong, then the precision of each rule over all of them; `calibrate` makes confidences of that. `--list` prints
the wrong calls and those that were missed; it is not for repositories that are held out. `--write` puts the scores of
these repositories into `results.json`, from which `docs/languages.md` is made.

Gold for Python is made by `python_oracle.py`, at the commits of `python_repositories.toml`, and by `pycg_oracle.py`; of
the latter every snippet is indexed as a repository of its own.

Gold for Java comes from the compiler, with a JDK of version 17 or later; "-" stands for the class path:

    java tests/benchmarks/edges/JavaOracle.java ROOT OWNER/NAME COMMIT - src/main/java | gzip -9n > gold/NAME.jsonl.gz

gson's sources are in `gson/src/main/java`, zxing's in `core/src/main/java`.

Gold for Go is made by the program in `go/` beside this file, which needs a Go tool chain and nothing else:

    (cd tests/benchmarks/edges/go && go build -o edgeoracle)
    edgeoracle -repo OWNER/NAME -commit SHA CHECKOUT | gzip -9n > gold/NAME.jsonl.gz
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import TextIO

from causalist.graph import load_confidences
from tests.benchmarks.edges.golds import Gold, Judged, all_names, judged, load_gold, load_scorer, scored
from tests.benchmarks.edges.predictions import Prediction, predictions
from tests.benchmarks.edges.results import MIN_CONFIDENCE, row_of, write_results


def write_misses(
    out: TextIO, gold: Gold, scorer: ModuleType, calls: list[Judged], wrong: list[Prediction], shown: list[Prediction]
) -> None:
    """Writes the wrong calls of a gold, the sure ones first, then the calls that no edge of `shown` stands for."""
    for edge in wrong:
        out.write(f"sure and wrong: {edge.source} -> {edge.target} ({edge.parts[0][0]})\n")
    sure = {(edge.source, edge.target) for edge in wrong}
    present = {(edge.source, edge.target) for edge in shown}
    for row in calls:
        pair = row.edge.source, row.edge.target
        if not row.right and pair in present and pair not in sure:
            out.write(f"wrong: {pair[0]} -> {pair[1]} ({row.rule})\n")
    _, required, _, alternatives, _ = scorer.load_gold(str(gold.path))
    normed = {
        (scorer.norm(e.source, "calls"), scorer.norm(e.target, "calls", True)) for e in shown if e.kind == "calls"
    }
    normed |= {alternatives[("calls", *pair)] for pair in normed if ("calls", *pair) in alternatives}
    for (source, target), category in sorted(required["calls"].items()):
        if (source, target) not in normed and source not in gold.uncovered:
            out.write(f"missed: {source} -> {target} ({category})\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["click", "hono", "express"])
    parser.add_argument("--edgebench", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--dumps", type=Path, help="a folder that keeps edges, as for calibrate")
    parser.add_argument("--min-confidence", type=float, default=MIN_CONFIDENCE)
    parser.add_argument("--sure", type=float, default=0.99, metavar="CONFIDENCE")
    parser.add_argument("--list", action="store_true", help="print wrong calls and missed ones")
    parser.add_argument("--all", action="store_true", help="every gold of which there is a clone")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and arguments.min_confidence != MIN_CONFIDENCE:
        parser.error(f"results are written for a confidence of at least {MIN_CONFIDENCE}")
    scorer = load_scorer(arguments.edgebench)
    rules: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    written, sure_rows = [], []
    table = load_confidences()
    out = sys.stdout
    out.write(
        "| gold | kind | gold edges | predicted | strict precision | judged precision | recall | F1 | judged F1 |\n"
    )
    out.write("|---|---|---|---|---|---|---|---|---|\n")
    for name in all_names(arguments.edgebench) if arguments.all else arguments.names:
        gold = load_gold(arguments.edgebench, name)
        edges = predictions(gold.name, gold.meta, arguments.clones, arguments.dumps)
        if edges is None:
            if not arguments.all:
                raise SystemExit(f"no clone of {gold.repo} in {arguments.clones}")
            sys.stderr.write(f"{name}: no clone of {gold.repo}; left out\n")
            continue
        result = scored(gold, edges, scorer, table, arguments.min_confidence)
        for kind, s in result.items():
            shares = " | ".join(f"{s[key]:.3f}" for key in ("P", "Pj", "R", "F1", "F1j"))
            out.write(f"| {name} @ {gold.commit[:7]} | {kind} | {s['gold']} | {s['predicted']} | {shares} |\n")
        calls = [row for row in judged(gold, edges, scorer) if row.kinds == "calls"]
        for row in calls:
            rules[row.rule][0 if row.right else 1] += 1
        sure = [row for row in calls if row.edge.confidence(table) >= arguments.sure]
        wrong = [row.edge for row in sure if not row.right]
        sure_rows.append((gold, len(sure), len(wrong)))
        if arguments.list:
            write_misses(
                out, gold, scorer, calls, wrong, [e for e in edges if e.confidence(table) >= arguments.min_confidence]
            )
        if result["calls"]["gold"]:
            written.append(row_of(gold, edges, result))
    out.write(f"\n| gold | judged calls of {arguments.sure} or more | wrong |\n|---|--:|--:|\n")
    for gold, judged_calls, wrong_calls in sure_rows:
        out.write(f"| {gold.name} @ {gold.commit[:7]} | {judged_calls} | {wrong_calls} |\n")
    out.write("\n| rule of `calls` | judged edges | precision |\n|---|---|---|\n")
    for rule, (right, not_right) in sorted(rules.items(), key=lambda item: -sum(item[1])):
        out.write(f"| {rule} | {right + not_right} | {right / (right + not_right):.3f} |\n")
    if arguments.write:
        write_results(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
