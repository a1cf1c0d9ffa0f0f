"""Fits the confidence of answers to labelled questions, and says how far it can be trusted.

    python -m tests.benchmarks.confidence FILE... --clones DIR [--indexes DIR] [--each N] [--processes 1] [--write]

FILE holds labelled questions as `causalist eval --data` reads them, `--clones` holds OWNER+NAME/repo with history.
`--indexes` keeps the indexes of commits in a folder, as `tests.benchmarks.fit` does. Every question
is asked at both levels. The printed figures are those of held-out questions: each repository is judged by a model that
was fitted to the others. `--write` fits one to all and writes it to causalist/rank/scoring/calibration.json.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.evaluate.mining import LabelledQuestion, find_clone, read_questions, sort_oldest_first
from causalist.evaluate.results import SnapshotFacts
from causalist.model.answer import AskOptions, Level
from causalist.model.node_ids import split_id
from causalist.pack.plan import CERTAINTY
from causalist.pipeline.repository import Repository
from causalist.rank import calibration_features
from causalist.rank.scoring.answer_confidence import CalibrationFeatures
from tests.benchmarks.confidence.fit import fitted, held_out
from tests.benchmarks.states import at_commit
from tests.docs.blocks import ROOT

CALIBRATION = ROOT / "causalist/rank/scoring/calibration.json"
N_BINS = 5
MINED = "mined"  # the name of the file of `tests.benchmarks.mined`
N_FIRST = 5  # files of which one has to be right


class Row(NamedTuple):
    """One question at one level. `is_right`: one of the first five files is."""

    source: str
    repo: str
    level: Level
    evidence: CalibrationFeatures
    is_right: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--indexes", type=Path)
    parser.add_argument("--each", type=int, help="questions about each repository in each file, at most, evenly drawn")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write causalist/rank/scoring/calibration.json")
    arguments = parser.parse_args()
    by_repository: dict[str, list[tuple[str, LabelledQuestion]]] = defaultdict(list)
    for data in arguments.files:
        for repo, questions in of_repositories(data).items():
            n = min(arguments.each or len(questions), len(questions))
            by_repository[repo] += [(data.stem, questions[i * len(questions) // n]) for i in range(n)]
    ask = partial(asked, clones=arguments.clones, indexes=arguments.indexes)
    with ProcessPoolExecutor(arguments.processes) as pool:
        rows = [row for found in pool.map(ask, by_repository.values()) for row in found]
    features, right, repositories, levels = as_arrays(rows)
    probabilities = held_out(features, levels, right, repositories)
    sys.stdout.write("\n".join(report(rows, probabilities, right)) + "\n")
    if arguments.write:
        CALIBRATION.write_text(document(features, levels, right, repositories), encoding="utf-8")
    return 0


def of_repositories(data: Path) -> dict[str, list[LabelledQuestion]]:
    found: dict[str, list[LabelledQuestion]] = defaultdict(list)
    for question in read_questions(data):
        found[question.repo].append(question)
    return found


def asked(questions: Sequence[tuple[str, LabelledQuestion]], *, clones: Path, indexes: Path | None) -> list[Row]:
    """Both levels of all questions about one repository; a question for which nothing is found has no row."""
    repo = questions[0][1].repo
    clone = find_clone(clones, repo)
    if clone is None:
        raise SystemExit(f"no clone of {repo} in {clones}")
    facts, known, rows = SnapshotFacts(), None, []
    for commit in sort_oldest_first(clone, sorted({question.commit for _, question in questions})):
        repository = at_commit(clone, repo, commit, facts, known, indexes)
        known = repository.index
        for source, question in questions:
            if question.commit == commit:
                rows += [row for level in Level if (row := row_of(repository, source, question, level)) is not None]
    return rows


def row_of(repository: Repository, source: str, question: LabelledQuestion, level: Level) -> Row | None:
    attempt = repository.attempt(question.query, AskOptions(level=level))
    graph = repository.index.graph
    evidence = calibration_features(attempt.ranking, graph, repository.index.lexical)
    if evidence is None or attempt.ranking.question.is_pattern:
        return None
    files = list(dict.fromkeys(split_id(graph.nodes.ids[c.node])[0] for c in attempt.chosen))[:N_FIRST]
    return Row(source, question.repo, level, evidence, bool(set(files) & set(question.gold_files)))


def as_arrays(
    rows: Sequence[Row],
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.str_], NDArray[np.int64]]:
    """(features, rightness, repositories, number of the level) by row."""
    return (
        np.array([row.evidence for row in rows]),
        np.array([row.is_right for row in rows]),
        np.array([row.repo for row in rows]),
        np.array([list(Level).index(row.level) for row in rows]),
    )


def report(rows: Sequence[Row], probabilities: NDArray[np.float64], right: NDArray[np.bool_]) -> list[str]:
    """Tables: by level and file of questions, bins of equal mass, and the words that a header says."""
    levels = np.array([row.level.value for row in rows])
    sources = np.array([row.source for row in rows])
    # Commits are answered worse than questions, and are many.
    parts = {"all": np.ones(len(rows), dtype=np.bool_), f"all but {MINED}": sources != MINED}
    groups = [(level.value, name, part & (levels == level.value)) for name, part in parts.items() for level in Level]
    groups += [(lv.value, s, (levels == lv.value) & (sources == s)) for lv in Level for s in dict.fromkeys(sources)]
    lines = ["| level | questions from | rows | right | mean confidence | Brier skill |", "|---|---|--:|--:|--:|--:|"]
    for level, source, rows_of in groups:
        p, y = probabilities[rows_of], right[rows_of]
        lines.append(f"| {level} | {source} | {len(p)} | {y.mean():.3f} | {p.mean():.3f} | {brier_skill(p, y):.3f} |")
    lines += ["", "| level | questions from | bin | rows | mean confidence | right |", "|---|---|--:|--:|--:|--:|"]
    for level, source, rows_of in groups[: 2 * len(parts)]:
        p, y = probabilities[rows_of], right[rows_of]
        for number, bin_ in enumerate(np.array_split(np.argsort(p, kind="stable"), N_BINS), 1):
            if len(bin_):
                mean, share = p[bin_].mean(), y[bin_].mean()
                lines.append(f"| {level} | {source} | {number} | {len(bin_)} | {mean:.3f} | {share:.3f} |")
    lines += ["", "| level | word | rows | mean confidence | right |", "|---|---|--:|--:|--:|"]
    for each in Level:
        p, y = probabilities[levels == each.value], right[levels == each.value]
        above = 1.1
        for least, word in CERTAINTY:
            said = (p >= least) & (p < above)
            above = least
            lines.append(f"| {each.value} | {word} | {said.sum()} | {p[said].mean():.3f} | {y[said].mean():.3f} |")
    return lines


def brier_skill(probabilities: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """1 - the mean squared error over that of always saying the share that is right (Brier 1950)."""
    base = float(right.mean() * (1 - right.mean()))
    return 1 - float(((probabilities - right) ** 2).mean()) / base if base else float("nan")


def document(
    features: NDArray[np.float64],
    levels: NDArray[np.int64],
    right: NDArray[np.bool_],
    repositories: NDArray[np.str_],
) -> str:
    """confidence.json, fitted to all rows."""
    given, weights = fitted(features, levels, right)
    data = {
        "provenance": (
            f"fitted on {len(features)} rows, questions at both levels, of {len(set(repositories))} "
            "repositories (logistic regression, ridge 1, no weight below 0) by tests/benchmarks/confidence"
        ),
        "level": {level.value: round(float(value), 4) for level, value in zip(Level, given, strict=True)},
        "weights": {
            name: round(float(value), 4) for name, value in zip(CalibrationFeatures._fields, weights, strict=True)
        },
    }
    return json.dumps(data, indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(main())
