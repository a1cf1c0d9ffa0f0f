"""Fits the confidence of each rule to what compilers and type checkers say, and tells how well that holds elsewhere.

    python -m tests.benchmarks.edges.calibrate --edgebench DIR --clones DIR [--dumps DIR] [--write] [NAME...]

Without names every gold is taken of which there is a clone. `--write` puts the table into
`causalist/graph/rule_precision.json`, and calibration and scores by repository into `results.json` beside this file;
then `python -m tests.docs.tables --write`, `python -m tests.docs.languages --write` and the golden tests are to be run.
With `--dumps` the edges of each repository are kept in a folder and read from there as long as code and grammars are
the same. `--wrong RULE` prints the wrong calls of a rule, to be read.

A rule's confidence is the share of its edges that are right, of those that the gold judges. A candidate set of k
counts as k claims of 1/k, so that the precision of a set is fitted and each candidate gets its part. A repository
counts for at most `cap` claims of a rule, because its edges are wrong together. Small counts are drawn towards what is
known of more: the mean of the rules with the same kind of evidence (each rule has one vote), as if `of_rule` claims of
that precision had been seen; and a language towards its rule, as if `of_language` claims had; to the mean of its rule
a repository adds no more right edges than claims. That is the mean of a Beta distribution whose prior has that weight.
A language has a number of its own where that differs by `_WORTH_SAYING` or more. Edges at calls that the oracle cannot
resolve itself (`unjudged`) are counted beside: they decide which guesses may claim more than a half
(`Confidences.max_confidence`). `--schemes` prints what other choices of the three would give; they are compared by the
log loss of repositories that were left out of the fit.

The calibration error is that of the confidences of calls, in ten bins, each repository with the table that is fitted
to all others. Its interval is the 95 % of 1,000 resamplings of the judged edges.
"""

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.graph import RULES, Confidences, Evidence, load_confidences, read_confidences
from tests.benchmarks.edges.golds import (
    MISREAD,
    Gold,
    Judged,
    all_names,
    load_gold,
    load_scorer,
    scored,
    seen,
)
from tests.benchmarks.edges.predictions import Prediction, predictions
from tests.benchmarks.edges.results import MIN_CONFIDENCE, row_of, write_results

TABLE = Path(__file__).parents[3] / "causalist" / "graph" / "rule_precision.json"
_COMMAND = "python -m tests.benchmarks.edges.calibrate --edgebench DIR --clones DIR --write"
_WORTH_SAYING = 0.01
_SUREST = 0.999  # no count of edges makes a rule certain
_RESAMPLINGS = 1000
_MOST_ERROR, _MOST_GAP, _MANY = 0.04, 0.10, 50  # what is asked: of a language, and of its bins with so many edges
_GROUPS = ("calls", "imports", "extends")


class Count(NamedTuple):
    """Judged edges of one repository, rule and group of kinds."""

    repo: str
    language: str
    right: float
    wrong: int
    claims: float
    unjudged: int = 0  # at calls that the oracle could not resolve


class Scheme(NamedTuple):
    """`cap`: claims of a rule that one repository counts for at most; `of_rule`, `of_language`: weights of priors."""

    cap: float = 300.0
    of_rule: float = 20.0
    of_language: float = 5.0


_SCHEME = Scheme()
Counts = Mapping[tuple[str, str], Sequence[Count]]  # by (kinds, rule)


def counted(rows: Iterable[Judged]) -> Counts:
    sums: dict[tuple[str, str, str, str], list[float]] = defaultdict(lambda: [0, 0, 0.0, 0])
    for row in rows:
        counts = sums[row.kinds, row.rule, row.repo, row.edge.language]
        counts[(0 if row.right else 1) if row.known else 3] += 1
        counts[2] += row.claim if row.known else 0.0
    result: dict[tuple[str, str], list[Count]] = defaultdict(list)
    for (kinds, rule, repo, language), (right, wrong, claims, unjudged) in sorted(sums.items()):
        result[kinds, rule].append(Count(repo, language, int(right), int(wrong), claims, int(unjudged)))
    return result


def without(counts: Counts, repo: str) -> Counts:
    return {key: kept for key, every in counts.items() if (kept := [each for each in every if each.repo != repo])}


def fitted(counts: Counts, scheme: Scheme = _SCHEME) -> dict[str, Any]:
    """`rules` and `evidence` of the table."""
    evidence = {
        kind.name.lower(): _mean_of(kind, counts, scheme) for kind in Evidence if kind is not Evidence.STRUCTURE
    }
    rules: dict[str, Any] = {}
    for rule in RULES:
        if rule.evidence is Evidence.STRUCTURE:
            continue
        rules[rule.name] = {}
        for kinds in _GROUPS:
            every = counts.get((kinds, rule.name))
            if not every:
                continue
            mean = _share(_claimed(every), scheme.cap, evidence[rule.evidence.name.lower()], scheme.of_rule)
            languages = {}
            for language in sorted({each.language for each in every}):
                own = [each for each in every if each.language == language]
                share = _share(own, scheme.cap, mean, scheme.of_language)
                is_worth_saying = abs(share - mean) >= _WORTH_SAYING
                languages[language] = _sums(own, share if is_worth_saying else None)
            rules[rule.name][kinds] = {**_sums(every, mean), "languages": languages}
    return {"evidence": evidence, "rules": rules}


def _mean_of(kind: Evidence, counts: Counts, scheme: Scheme) -> float:
    """The mean precision of calls over rules with that evidence, each with the prior Beta(1/2, 1/2)."""
    names = [rule.name for rule in RULES if rule.evidence is kind and counts.get(("calls", rule.name))]
    shares = [_share(counts["calls", name], scheme.cap, 0.5, 1.0) for name in names]
    return round(sum(shares) / len(shares), 3) if shares else 0.5


def _claimed(counts: Sequence[Count]) -> list[Count]:
    """With no more right edges than claims: several candidates of a set are right where a receiver is of several types,
    which says nothing of sets in languages that have no such types."""
    return [each._replace(right=min(each.right, each.claims)) for each in counts]


def _share(counts: Sequence[Count], cap: float, prior: float, weight: float) -> float:
    right, claims = prior * weight, weight
    for count in counts:
        part = min(1.0, cap / max(1.0, count.claims))
        right += part * count.right
        claims += part * count.claims
    return round(min(_SUREST, right / claims), 3)


def _sums(counts: Sequence[Count], share: float | None) -> dict[str, Any]:
    said: dict[str, Any] = {} if share is None else {"confidence": share}
    return {
        **said,
        "right": sum(c.right for c in counts),
        "wrong": sum(c.wrong for c in counts),
        "unjudged": sum(c.unjudged for c in counts),
        "claims": round(sum(c.claims for c in counts), 1),
        "repositories": len({c.repo for c in counts if c.right + c.wrong}),
    }


def table_of(content: Mapping[str, Any]) -> Confidences:
    return read_confidences(json.dumps(content).encode())


def held_out(rows: Sequence[Judged], scheme: Scheme = _SCHEME) -> NDArray[np.float64]:
    """The confidence of each row by the table of all repositories but its own."""
    counts = counted(rows)
    tables = {repo: table_of(fitted(without(counts, repo), scheme)) for repo in sorted({row.repo for row in rows})}
    known: dict[tuple[str, str, str, tuple[tuple[str, int], ...]], float] = {}
    result = []
    for row in rows:
        key = (row.repo, row.edge.kind, row.edge.language, row.edge.parts)
        if key not in known:
            known[key] = row.edge.confidence(tables[row.repo])
        result.append(known[key])
    return np.array(result)


def calibration(said: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, Any]:
    """Expected calibration error with its interval, and the bins that hold anything."""
    generator = np.random.default_rng(0)
    picks = (generator.integers(0, len(said), len(said)) for _ in range(_RESAMPLINGS))
    resampled = [error(said[pick], right[pick]) for pick in picks]
    places = _bins(said)
    bins = [
        {
            "from": round(i / 10, 1),
            "to": round((i + 1) / 10, 1),
            "edges": int((places == i).sum()),
            "confidence": round(float(said[places == i].mean()), 3),
            "precision": round(float(right[places == i].mean()), 3),
        }
        for i in range(10)
        if (places == i).any()
    ]
    low, high = (round(float(np.quantile(resampled, q)), 4) for q in (0.025, 0.975))
    return {"edges": len(said), "error": round(error(said, right), 4), "interval": [low, high], "bins": bins}


def _bins(said: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.clip((said * 10 - 1e-9).astype(np.int64), 0, 9)


def error(said: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """The expected calibration error: over ten bins, |sum of confidences - number of right ones| / number of rows.

    >>> float(round(error(np.array([0.95, 0.95, 0.25]), np.array([True, False, False])), 4))
    0.3833
    """
    places = _bins(said)
    gaps = np.bincount(places, said, 10) - np.bincount(places, right, 10)
    return float(np.abs(gaps).sum() / len(said))


def log_loss(said: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    clipped = np.clip(said, 0.001, 0.999)
    return float(-np.log(np.where(right, clipped, 1 - clipped)).mean())


def by_language(
    rows: Sequence[Judged], said: NDArray[np.float64], measure: Callable[[NDArray[np.float64], NDArray[np.bool_]], Any]
) -> dict[str, Any]:
    right = np.array([row.right for row in rows])
    languages = np.array([row.edge.language for row in rows])
    return {name: measure(said[languages == name], right[languages == name]) for name in sorted(set(languages))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--edgebench", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--dumps", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--schemes", action="store_true")
    parser.add_argument("--wrong", metavar="RULE")
    arguments = parser.parse_args()
    if arguments.write and arguments.names:
        parser.error("--write takes every gold; leave the names out")
    scorer = load_scorer(arguments.edgebench)
    known: list[tuple[Gold, list[Prediction]]] = []
    rows: list[Judged] = []
    for name in arguments.names or all_names(arguments.edgebench):
        gold = load_gold(arguments.edgebench, name)
        edges = predictions(gold.name, gold.meta, arguments.clones, arguments.dumps)
        if edges is None:
            sys.stderr.write(f"{name}: no clone of {gold.repo}; left out\n")
            continue
        found = list(seen(gold, edges, scorer))
        sys.stderr.write(f"{name}: {sum(row.known for row in found)} judged edges\n")
        rows += found
        if found:
            known.append((gold, edges))
    if arguments.wrong:
        _say_wrong(rows, arguments.wrong)
        return 0
    if arguments.schemes:
        _say_schemes(rows)
        return 0
    said = held_out(rows)
    is_call = np.array([row.kinds == "calls" and row.known for row in rows])
    measured = by_language([row for row in rows if row.kinds == "calls" and row.known], said[is_call], calibration)
    content = {
        "command": _COMMAND,
        "formula": "(right + prior * weight) / (claims + weight) over judged edges; "
        f"at most {_SCHEME.cap:g} claims of a rule and repository; a rule's prior is the mean of its kind of evidence "
        f"with the weight of {_SCHEME.of_rule:g} claims, a language's that of its rule with {_SCHEME.of_language:g}",
        "repositories": [{"name": g.name, "repository": g.repo, "commit": g.commit} for g, _ in known],
        "not_judged": [{"name": name, "target": start, "reason": why} for (name, start), why in MISREAD.items()],
        **fitted(counted(rows)),
    }
    _say(measured, load_confidences(), content)
    if arguments.write:
        TABLE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
        table = table_of(content)
        scores = [row_of(gold, edges, scored(gold, edges, scorer, table, MIN_CONFIDENCE)) for gold, edges in known]
        write_results(repositories=scores, calibration=measured)
    return 0


def _say_wrong(rows: Sequence[Judged], rule: str) -> None:
    for row in rows:
        if row.rule == rule and row.kinds == "calls" and row.known and not row.right:
            sys.stdout.write(f"{row.repo} {row.edge.source} -> {row.edge.target} {row.edge.parts}\n")


def _say_schemes(rows: Sequence[Judged]) -> None:
    """Log loss, mean over languages, and calibration error of each, for calls of repositories left out."""
    calls = [row for row in rows if row.kinds == "calls"]
    known = np.array([row.known for row in calls])
    judged = [row for row in calls if row.known]
    for cap in (math.inf, 1000.0, 300.0, 100.0):
        for of_rule in (1.0, 5.0, 20.0):
            for of_language in (1e9, 200.0, 50.0, 20.0, 5.0):
                said = held_out(calls, Scheme(cap, of_rule, of_language))[known]
                losses, errors = by_language(judged, said, log_loss), by_language(judged, said, error)
                shares = "  ".join(f"{name} {errors[name]:.4f}" for name in errors)
                mean = sum(losses.values()) / len(losses)
                scheme = f"cap {cap:6g}  rule {of_rule:5g}  language {of_language:5g}"
                sys.stdout.write(f"{scheme}  log loss {mean:.5f}  error {shares}\n")


def _say(measured: Mapping[str, Any], before: Confidences, after: Mapping[str, Any]) -> None:
    out = sys.stdout
    out.write("| language | judged calls | calibration error | 95 % | widest gap of a bin with many | |\n")
    out.write("|---|--:|--:|---|--:|---|\n")
    for language, each in measured.items():
        gap = max((abs(b["confidence"] - b["precision"]) for b in each["bins"] if b["edges"] >= _MANY), default=0.0)
        low, high = each["interval"]
        is_good = each["error"] <= _MOST_ERROR and gap <= _MOST_GAP
        out.write(f"| {language} | {each['edges']} | {each['error']:.4f} | {low:.4f}–{high:.4f} | {gap:.3f} ")
        out.write(f"| {'' if is_good else 'too much'} |\n")
    out.write("\n| language | confidence | calls | mean confidence | right |\n|---|---|--:|--:|--:|\n")
    for language, each in measured.items():
        for b in each["bins"]:
            out.write(f"| {language} | {b['from']}–{b['to']} | {b['edges']} ")
            out.write(f"| {b['confidence']:.3f} | {b['precision']:.3f} |\n")
    out.write("\n| evidence | before | after |\n|---|--:|--:|\n")
    for kind, mean in after["evidence"].items():
        out.write(f"| {kind} | {before.evidence.get(kind)} | {mean} |\n")
    out.write("\n| rule | kinds | before | after | right | wrong | repositories | languages |\n")
    out.write("|---|---|--:|--:|--:|--:|--:|---|\n")
    for rule, groups in after["rules"].items():
        for kinds, each in groups.items():
            was = before.rules.get(rule, {}).get(kinds, {}).get("confidence", "")
            languages = ", ".join(f"{f} {m['confidence']}" for f, m in each["languages"].items() if "confidence" in m)
            out.write(
                f"| {rule} | {kinds} | {was} | {each['confidence']} | {each['right']} | {each['wrong']} "
                f"| {each['repositories']} | {languages} |\n"
            )
        if not groups:
            out.write(f"| {rule} | | | | | | | not measured |\n")


if __name__ == "__main__":
    sys.exit(main())
