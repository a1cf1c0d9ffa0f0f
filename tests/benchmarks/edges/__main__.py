"""Scores the graph's edges against compiler-grade gold.

    python -m tests.benchmarks.edges --edgebench DIR --clones DIR [--min-confidence 0.5] [NAME...]

DIR of `--edgebench` holds `score.py` and `gold/NAME.jsonl.gz`, where the gold is not in the folder beside this file
(`rust_oracle.py` made that); `--clones` holds OWNER+NAME/repo or OWNER/NAME with history. Edges of functions that the
gold lists as not covered are left out. Each repository is indexed at the commit of its gold. Prints one row a
repository and kind as Markdown, then the precision of each rule over all of them, which is what
`causalist/graph/rules.py` claims as confidence.

Gold for Java comes from the compiler, with a JDK of version 17 or later; "-" stands for the class path:

    java tests/benchmarks/edges/JavaOracle.java ROOT OWNER/NAME COMMIT - src/main/java | gzip > gold/NAME.jsonl.gz

Gold for Go is made by the program in `go/` beside this file, which needs a Go tool chain and nothing else; put it where
`--edgebench` looks:

    (cd tests/benchmarks/edges/go && go build -o edgeoracle)
    edgeoracle -repo OWNER/NAME -commit SHA CHECKOUT | gzip > DIR/gold/NAME.jsonl.gz
"""

import argparse
import gzip
import importlib.util
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from causalist.evaluate.clones import find_clone
from causalist.model.graph import Edge
from causalist.model.symbols import unescape_path
from causalist.pipeline import Repository

_KINDS = ("calls", "imports", "extends", "contains")
_REPEATED = re.compile(r"~\d+$")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["click", "hono", "express"])
    parser.add_argument("--edgebench", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--min-confidence", type=float, default=0.5)
    arguments = parser.parse_args()
    scorer = _load(arguments.edgebench / "score.py")
    rules: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    out = sys.stdout
    out.write(
        "| gold | kind | gold edges | predicted | strict precision | judged precision | recall | F1 | judged F1 |\n"
    )
    out.write("|---|---|---|---|---|---|---|---|---|\n")
    for name in arguments.names:
        gold = Path(__file__).parent / "gold" / f"{name}.jsonl.gz"
        if not gold.is_file():
            gold = arguments.edgebench / "gold" / f"{name}.jsonl.gz"
        with gzip.open(gold, "rt", encoding="utf-8") as lines:
            meta = json.loads(next(lines))["meta"]
        clone = find_clone(arguments.clones, meta["repo"])
        if clone is None:
            raise SystemExit(f"no clone of {meta['repo']} in {arguments.clones}")
        repository = Repository.at_commit(clone, meta["commit"])
        uncovered = frozenset(meta.get("uncovered", ()))
        found = list(repository.edges(kinds=(*_KINDS, "implements"), min_confidence=0.0))
        known = [each for each in merged(found) if each["src"] not in uncovered]
        edges = [each for each in known if each["confidence"] >= arguments.min_confidence]
        result = scorer.score(str(gold), edges)
        for kind, s in result["kinds"].items():
            shares = " | ".join(f"{s[key]:.3f}" for key in ("P", "Pj", "R", "F1", "F1j"))
            out.write(f"| {name} @ {meta['commit'][:7]} | {kind} | {s['gold']} | {s['predicted']} | {shares} |\n")
        calls = [each for each in merged(e for e in found if e.kind == "calls") if each["src"] not in uncovered]
        _count_rules(scorer, str(gold), calls, rules)
    out.write("\n| rule of `calls` | judged edges | precision |\n|---|---|---|\n")
    for rule, (right, wrong, _) in sorted(rules.items(), key=lambda item: -sum(item[1][:2])):
        out.write(f"| {rule} | {right + wrong} | {right / max(right + wrong, 1):.3f} |\n")
    return 0


def merged(edges: Iterable[Edge]) -> list[dict[str, Any]]:
    """Rows of edges. The scorer does not tell overloads apart: the probability that a call leads to a name is the sum
    over the overloads that share the doubt."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for edge in edges:
        each = row(edge)
        known = rows.setdefault((each["kind"], each["src"], each["dst"]), each)
        if known is not each:
            known["confidence"] = min(1.0, known["confidence"] + each["confidence"])
    return list(rows.values())


def row(edge: Edge) -> dict[str, Any]:
    """An edge in the scorer's terms: `path:Qual.name`, `path:<module>` for a file."""
    return {
        "kind": edge.kind,
        "src": _name(edge.source),
        "dst": _name(edge.target),
        "confidence": edge.confidence,
        "rule": edge.rule,
    }


def _name(node: str) -> str:
    path, separator, symbol = node.partition("::")
    return f"{unescape_path(path)}:{_REPEATED.sub('', symbol) if separator else '<module>'}"


def _count_rules(scorer: ModuleType, gold: str, rows: list[dict[str, Any]], rules: dict[str, list[int]]) -> None:
    """Adds right, wrong and unjudged call edges of each rule."""
    meta, required, optional, alternatives, unknown = scorer.load_gold(gold)
    files = set(meta["files"])
    for predicted in rows:
        edge = (scorer.norm(predicted["src"], "calls"), scorer.norm(predicted["dst"], "calls", True))
        if edge[0].partition(":")[0] not in files or edge in optional["calls"]:
            continue
        if edge in required["calls"] or ("calls", *edge) in alternatives:
            rules[predicted["rule"]][0] += 1
        elif (edge[0], edge[1].partition(":")[2].split(".")[-1]) in unknown:
            rules[predicted["rule"]][2] += 1
        else:
            rules[predicted["rule"]][1] += 1


def _load(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location("edge_scorer", path)
    if specification is None or specification.loader is None or not path.is_file():
        raise SystemExit(f"no scorer at {path}; --edgebench names the folder that holds score.py and gold/")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
