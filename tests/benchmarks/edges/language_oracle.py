"""Scores calls against what a compiler says of them, for the languages of the extra.

    python -m tests.benchmarks.edges.language_oracle ORACLE.jsonl --clone DIR [--min-confidence 0.5] [--misses N]

ORACLE holds a call a line, as the scripts beside this file write it (`solidity_oracle.cjs`, …): `path`, `line` and
`name` of what is called, and `targets`, the places (`[path, line]`) of the definitions that it means; none for what is
defined outside of the repository. `local` says that it may be a parameter or a variable. What is read is left out.
Sites of one name in one line are judged together. An edge to another definition, or from a call that means something
outside, is wrong. Calls that the compiler does not mention are left aside and counted.
Prints precision, recall and F1 of edges with enough confidence, with intervals of 95 %, and the calibration error: the
mean distance of confidence and precision over ten bins of all edges that are judged.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from causalist.graph import load_confidences
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import NodeKind
from tests.benchmarks.edges.rust_sites import wilson
from tests.benchmarks.edges.sites import _NO_CODE, Sites

_BINS = 10
Key = tuple[str, int, str]


def read_gold(path: Path, sites: Sites) -> dict[Key, set[str]]:
    """Return the ids of the definitions that each judged call means; an id that begins with "?" is none of ours."""
    places: dict[str, list[tuple[int, int, str, int]]] = defaultdict(list)
    for names in sites._program.files:
        for number, definition in enumerate(names.facts.definitions):
            of = (definition.start_row + 1, definition.end_row + 1, definition.name, names.first + number)
            places[names.path].append(of)
    gold: dict[Key, set[str]] = defaultdict(set)
    fields: set[Key] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        site = json.loads(line)
        key = site["path"], site["line"], site["name"]
        found = gold[key]
        for target, row in site["targets"]:
            around = [each for each in places[target] if each[0] <= row <= each[1]]
            around.sort(key=lambda each: (each[1] - each[0], -each[0]))
            named = [each for each in around if each[2] == site["name"]]
            named = named if site.get("local") else named or around
            if not named and site.get("local"):
                continue  # a parameter or variable
            found.add(sites._id(named[0][3]) if named else f"?{target}:{row}")
            if named and sites._program.definition_of[named[0][3]].kind in (NodeKind.FIELD, NodeKind.CONSTANT):
                fields.add(key)  # which is read
    return {key: found for key, found in gold.items() if key not in fields}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oracle", type=Path)
    parser.add_argument("--clone", type=Path, required=True)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--min-confidence", type=float, default=0.5)
    parser.add_argument("--misses", type=int, default=0)
    arguments = parser.parse_args()
    sites = Sites(arguments.clone, arguments.commit, 0.0)
    gold = read_gold(arguments.oracle, sites)
    covered = {path for path, _, _ in gold}
    found: dict[Key, dict[str, tuple[float, str]]] = defaultdict(dict)
    table = load_confidences()
    for (path, line), calls in sites._at.items():
        for number, call in calls if path in covered else ():
            targets, _ = sites._resolver.resolve(
                number, call.scope, call.callee, guess=True, arguments=call.arguments, values=call.values
            )
            settings = sites._program.files[number].settings
            language = settings.name if settings else ""
            key = (path, line, call.callee.rpartition(".")[2])
            for target in targets:
                confidence = table.confidence_of_edge(target.rule, EdgeKind.CALLS, language, target.candidates)
                kind = sites._program.definition_of[target.definition].kind
                is_conversion = settings is not None and settings.types.listed and kind == NodeKind.INTERFACE
                # Calls of these make references.
                if kind not in (*_NO_CODE, NodeKind.FIELD) and not is_conversion:
                    # Making an instance is a call of its type, whose constructor runs.
                    made = sites._id(target.definition).removesuffix(".constructor")
                    found[key][made] = (confidence, target.rule)
    counts: Counter[str] = Counter()
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    rules: dict[str, Counter[bool]] = defaultdict(Counter)
    said: list[str] = []
    for key, wanted in sorted(gold.items()):
        edges = found.get(key, {})
        sure = {target for target, (confidence, _) in edges.items() if confidence >= arguments.min_confidence}
        counts.update(right=len(sure & wanted), wrong=len(sure - wanted), missed=len(wanted - sure))
        for target, (confidence, rule) in edges.items():
            bins[min(int(confidence * _BINS), _BINS - 1)].append((confidence, target in wanted))
            rules[rule][target in wanted] += 1
        if sure != wanted:
            said.append(f"{key[0]}:{key[1]} {key[2]}: wanted {sorted(wanted)}, found {edges}")
    aside = sum(confidence >= arguments.min_confidence for key, each in found.items() if key not in gold
                for confidence, _ in each.values())  # fmt: skip
    given, wanted_n = counts["right"] + counts["wrong"], counts["right"] + counts["missed"]
    precision, recall = counts["right"] / max(given, 1), counts["right"] / max(wanted_n, 1)
    judged = sum(map(len, bins.values()))
    error = sum(abs(sum(c for c, _ in each) - sum(ok for _, ok in each)) for each in bins.values()) / max(judged, 1)
    out = sys.stdout
    for name, value, of in (("precision", precision, given), ("recall", recall, wanted_n)):
        low, high = wilson(counts["right"], of)
        out.write(f"{name} {value:.3f} [{low:.3f}–{high:.3f}] of {of}\n")
    both = 2 * precision * recall / max(precision + recall, 1e-9)
    out.write(f"F1 {both:.3f}, calibration error {error:.3f}, {len(gold)} sites judged, {aside} edges not judged\n")
    for rule, seen in sorted(rules.items(), key=lambda item: -item[1].total()):
        out.write(f"  {rule}: {seen[True]} right, {seen[False]} wrong\n")
    step = max(1, len(said) // arguments.misses) if arguments.misses else 1
    out.writelines(f"{each}\n" for each in said[::step][: arguments.misses])
    return 0


if __name__ == "__main__":
    sys.exit(main())
