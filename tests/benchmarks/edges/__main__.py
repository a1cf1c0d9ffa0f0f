"""Scores the graph's edges against compiler-grade gold.

    python -m tests.benchmarks.edges --edgebench DIR --clones DIR [--min-confidence 0.5] [--write] [--all | NAME...]

DIR of `--edgebench` holds `score.py`, and `gold/NAME.jsonl.gz` where the gold is not in the folder beside this file,
as all are that the documentation speaks of; `--clones` holds OWNER+NAME/repo or OWNER/NAME with history. Edges of
functions that the gold lists as not covered are left out. Each repository is indexed at the commit of its gold.
Prints one row a repository and kind as Markdown, then the precision of each rule over all of them; `calibrate` makes
confidences of that. `--write` puts the scores of these repositories into `results.json`, from which
`docs/languages.md` is made.

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

from causalist.graph import load_confidences
from tests.benchmarks.edges.golds import all_names, judged, load_gold, load_scorer, scored
from tests.benchmarks.edges.predictions import predictions
from tests.benchmarks.edges.results import MIN_CONFIDENCE, row_of, write_results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["click", "hono", "express"])
    parser.add_argument("--edgebench", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--dumps", type=Path, help="a folder that keeps edges, as for calibrate")
    parser.add_argument("--min-confidence", type=float, default=MIN_CONFIDENCE)
    parser.add_argument("--all", action="store_true", help="every gold of which there is a clone")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and arguments.min_confidence != MIN_CONFIDENCE:
        parser.error(f"results are written for a confidence of at least {MIN_CONFIDENCE}")
    scorer = load_scorer(arguments.edgebench)
    rules: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    written = []
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
        result = scored(gold, edges, scorer, load_confidences(), arguments.min_confidence)
        for kind, s in result.items():
            shares = " | ".join(f"{s[key]:.3f}" for key in ("P", "Pj", "R", "F1", "F1j"))
            out.write(f"| {name} @ {gold.commit[:7]} | {kind} | {s['gold']} | {s['predicted']} | {shares} |\n")
        for row in judged(gold, edges, scorer):
            if row.kinds == "calls":
                rules[row.rule][0 if row.right else 1] += 1
        if result["calls"]["gold"]:
            written.append(row_of(gold, edges, result))
    out.write("\n| rule of `calls` | judged edges | precision |\n|---|---|---|\n")
    for rule, (right, wrong) in sorted(rules.items(), key=lambda item: -sum(item[1])):
        out.write(f"| {rule} | {right + wrong} | {right / (right + wrong):.3f} |\n")
    if arguments.write:
        write_results(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
