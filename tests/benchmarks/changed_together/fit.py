"""The weights by which `impact` ranks files that are likely to change with another.

    python -m tests.benchmarks.changed_together.fit --clones DIR [--commits 30] OWNER/NAME...

Commits are drawn as `tests.benchmarks.changed_together` draws them. Up to four changed files of each are queries. A
logistic regression foretells the other changed files from the evidence of `navigate.likely_changes`. Prints the mean
average precision on each repository by weights of the others, how often the said probability was right, and the
weights of all, once with history and once without.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.model.node_ids import file_id
from causalist.navigate.likely_changes import ChangeEvidence, gather_evidence, scale_evidence
from tests.benchmarks.changed_together.__main__ import BOUNDS, SEED, average_precision, best_first, draw_cases

MOST_QUERIES = 4
WITH_HISTORY = ("together", "words", "name", "use", "idle")
WITHOUT_HISTORY = ("words", "name", "use", "size")


class Query(NamedTuple):
    """The scaled evidence of each file, of shape (n, 6), and which of them changed too."""

    paths: list[str]
    evidence: NDArray[np.float64]
    is_right: NDArray[np.bool_]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", metavar="OWNER/NAME")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=30)
    arguments = parser.parse_args()
    queries = {
        repo: collect(arguments.clones / repo.replace("/", "+") / "repo", arguments.commits)
        for repo in arguments.repositories
    }
    for names in (WITH_HISTORY, WITHOUT_HISTORY):
        report(queries, [ChangeEvidence._fields.index(name) for name in names])
    return 0


def collect(git_dir: Path, n: int) -> list[Query]:
    """The queries of `n` commits of a repository."""
    found = []
    for number, (repository, query, right) in enumerate(draw_cases(git_dir, n)):
        index, others = repository.index, sorted(right)
        random.Random(SEED + number).shuffle(others)
        for path in [query, *others][:MOST_QUERIES]:
            owner = index.graph.nodes.ids.position(file_id(path))
            paths, evidence = gather_evidence(index, owner, repository.impact(path))
            kept = np.array([other != path for other in paths])
            changed = (right | {query}) - {path}
            is_right = np.array([other in changed for other in paths])
            paths = [other for other in paths if other != path]
            found.append(Query(paths, scale_evidence(evidence)[kept], is_right[kept]))
    return found


def fit_logistic(evidence: NDArray[np.float64], is_right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The bias and the weights of a logistic regression, by Newton's method."""
    columns = np.column_stack([np.ones(len(evidence)), evidence])
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        chances = 1.0 / (1.0 + np.exp(-columns @ weights))
        hessian = (columns * (chances * (1.0 - chances))[:, None]).T @ columns
        step = np.linalg.solve(hessian + 1e-6 * np.eye(len(weights)), columns.T @ (is_right - chances))
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def fit_queries(queries: Sequence[Query], columns: Sequence[int]) -> NDArray[np.float64]:
    return fit_logistic(
        np.concatenate([each.evidence[:, columns] for each in queries]),
        np.concatenate([each.is_right for each in queries]),
    )


def report(queries: dict[str, list[Query]], columns: Sequence[int]) -> None:
    said: list[NDArray[np.float64]] = []
    true: list[NDArray[np.bool_]] = []
    everything = [each for of_repo in queries.values() for each in of_repo]
    for repo, own in queries.items() if len(queries) > 1 else ():
        others = [each for other, of_repo in queries.items() if other != repo for each in of_repo]
        weights = fit_queries(others, columns)
        precisions = []
        for each in own:
            chances = 1.0 / (1.0 + np.exp(-(each.evidence[:, columns] @ weights[1:] + weights[0])))
            right = frozenset(path for path, is_right in zip(each.paths, each.is_right, strict=True) if is_right)
            ranking = best_first(dict(zip(each.paths, chances.tolist(), strict=True)))
            precisions.append(average_precision(ranking, right))
            said.append(chances)
            true.append(each.is_right)
        sys.stdout.write(f"{repo}: {np.mean(precisions):.3f} of {len(own)} queries\n")
    for low, high in pairwise(BOUNDS) if said else ():
        chances, is_right = np.concatenate(said), np.concatenate(true)
        inside = (chances > low) & (chances <= high)
        if inside.any():
            means = f"said {chances[inside].mean():.3f}, right {is_right[inside].mean():.3f}"
            sys.stdout.write(f"probability {low} to {high}: {inside.sum()} files, {means}\n")
    weights = fit_queries(everything, columns)
    named = zip(("bias", *(ChangeEvidence._fields[column] for column in columns)), weights.tolist(), strict=True)
    sys.stdout.write(", ".join(f"{name} {weight:.3f}" for name, weight in named) + "\n")


if __name__ == "__main__":
    sys.exit(main())
