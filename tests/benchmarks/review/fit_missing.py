"""Weights of files that are missing: python -m tests.benchmarks.review.fit_missing -n 1000 REPOSITORY...

One file is left out of each past commit of three to thirty known files. The history is that of the parent, the graph
that of a commit at most `--every` commits older, because one index for each takes hours. The weights are logistic,
with an L2 of 1. Each repository is judged by the weights of the others, or by the shipped ones, beside plain counts of
common commits.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.index.history import build_history, read_commits
from causalist.model.index import Index
from causalist.model.node_ids import Role, file_id
from causalist.navigate.likely_changes import (
    MAX_MISSING,
    MIN_BEST,
    MIN_OTHER,
    MISSING_WEIGHTS,
    MissingWeights,
    gather_missing,
)
from causalist.pipeline.repository import Repository
from causalist.review.versions import compare_commits, first_parent
from causalist.source.git import RunningGit, git_arguments
from causalist.store import FactsCache, facts_path
from tests.benchmarks.review.__main__ import interval

_SEED = 20_26
_L2 = 1.0


class Case(NamedTuple):
    """The candidates of one commit: what the weights multiply, and which is missing; and those of plain counts."""

    scaled: NDArray[np.float64]
    is_missing: NDArray[np.bool_]
    plain: NDArray[np.int64]
    is_missing_of_plain: NDArray[np.bool_]


def collect(root: Path, n: int, every: int) -> Iterator[Case]:
    """Yield the cases of the last `n` commits, the oldest first."""
    cache, chosen = FactsCache(facts_path()), random.Random(_SEED)
    arguments = ("--no-merges", "--min-parents=1", f"--max-count={n}", "HEAD", "--")
    names = RunningGit(git_arguments(root), "rev-list", *arguments).finish().check().output.decode().split()
    index: Index | None = None
    built = -every
    for number, commit in enumerate(reversed(names)):
        base = first_parent(root, commit)
        there = [each.before for each in compare_commits(root, base, commit) if each.before and each.after]
        if base is None or not 3 <= len(there) <= 30:
            continue
        if index is None or number - built >= every:
            index, built = Repository.at_commit(root, base, cache=cache, known=index).index, number
        nodes = index.graph.nodes
        commits = read_commits(root, base, index.history.commits)
        history = build_history(commits, list(index.history.paths), index.history.nodes, index.history)
        then = Index(**{name: getattr(index, name) for name in index.__slots__} | {"history": history})
        places = {path: nodes.ids.position(file_id(path)) for path in there}
        there = sorted(p for p in there if places[p] >= 0 and nodes.roles[places[p]] in (Role.CODE, Role.TEST))
        if len(there) < 3:
            continue
        left = chosen.choice(there)
        rest = [path for path in there if path != left]
        evidence = gather_missing(then, rest)
        given = [places[path] for path in rest]
        scaled = np.zeros((0, len(MISSING_WEIGHTS) - 1)) if evidence is None else evidence.scaled
        found = np.zeros(0, dtype=np.int64) if evidence is None else evidence.nodes
        is_open = np.isin(nodes.roles[history.nodes], (Role.CODE, Role.TEST)) & ~np.isin(history.nodes, given)
        counted = history.nodes[is_open]
        yield Case(scaled, found == places[left], _count_plain(then, given)[is_open], counted == places[left])


def _count_plain(index: Index, given: Sequence[int]) -> NDArray[np.int64]:
    """Return, for each file of the history, its commits with changed files, each counted as often as it has some."""
    history = index.history
    owners = np.repeat(np.arange(len(history.indptr) - 1), np.diff(history.indptr))
    is_given = np.isin(history.nodes, given)
    hits = np.bincount(owners[is_given[history.files]], minlength=len(history.indptr) - 1)
    return np.bincount(history.files, weights=hits[owners], minlength=len(history)).astype(np.int64)


def fit(cases: Sequence[Case]) -> MissingWeights:
    """Return the weights by Newton's method on standardized columns."""
    signals = np.concatenate([each.scaled for each in cases])
    right = np.concatenate([each.is_missing for each in cases]).astype(np.float64)
    mean, spread = signals.mean(axis=0), signals.std(axis=0) + 1e-9
    rows = np.column_stack([(signals - mean) / spread, np.ones(len(signals))])
    weights = np.zeros(rows.shape[1])
    penalty = np.append(np.full(len(weights) - 1, _L2), 1e-6)
    for _ in range(30):
        chances = 1.0 / (1.0 + np.exp(-np.clip(rows @ weights, -30, 30)))
        curvature = (rows * (chances * (1 - chances))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, rows.T @ (right - chances) - penalty * weights)
        weights = weights + step
    raw = weights[:-1] / spread
    return MissingWeights(float(weights[-1] - raw @ mean), *(float(each) for each in raw))


class Judged(NamedTuple):
    """One case: how many files are named, and is the missing one among them.

    `is_first` asks for the three likeliest, however unlikely; `is_plain` for as many plain counts as are named, and
    `is_plain_first` for three of these.
    """

    n_named: int
    is_named: bool
    is_first: bool
    is_plain: bool
    is_plain_first: bool


def judge(cases: Sequence[Case], weights: MissingWeights) -> list[Judged]:
    """Return what these weights say of each case."""
    found: list[Judged] = []
    for each in cases:
        chances = 1.0 / (1.0 + np.exp(-(weights.bias + each.scaled @ np.array(weights[1:]))))
        first = np.argsort(-chances, kind="stable")[:MAX_MISSING]
        best = first[chances[first] >= MIN_OTHER]
        said = best if len(best) and chances[best[0]] >= MIN_BEST else best[:0]
        plain = each.is_missing_of_plain[np.argsort(-each.plain, kind="stable")[:MAX_MISSING]]
        named, is_first = bool(each.is_missing[said].any()), bool(each.is_missing[first].any())
        found.append(Judged(len(said), named, is_first, bool(plain[: len(said)].any()), bool(plain.any())))
    return found


def main() -> None:
    """Print the figures of each repository by the weights of the others, and the weights of all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("-n", type=int, default=1_000)
    parser.add_argument("--every", type=int, default=300)
    parser.add_argument("--shipped", action="store_true", help="judge by the weights of the program; fit none")
    given = parser.parse_args()
    every: list[Judged] = []
    if given.shipped:
        for root in given.repositories:
            judged = judge(list(collect(root, given.n, given.every)), MISSING_WEIGHTS)
            every += judged
            _print(root.name, judged)
        _print("all", every)
        return
    cases = {root: list(collect(root, given.n, given.every)) for root in given.repositories}
    for root, own in cases.items():
        others = [case for other in cases if other != root for case in cases[other]]
        judged = judge(own, fit(others or own))
        every += judged
        _print(root.name, judged)
    _print("all", every)
    print(fit([case for own in cases.values() for case in own]))


def _print(name: str, judged: Sequence[Judged]) -> None:
    spoken = [each for each in judged if each.n_named]
    print(f"{name}: {len(judged)} cases, it speaks of {interval([bool(e.n_named) for e in judged])}")
    print(f"  named {interval([e.is_named for e in spoken])}, plain, as many {interval([e.is_plain for e in spoken])}")
    print(
        f"  always three {interval([e.is_first for e in judged])}, plain {interval([e.is_plain_first for e in judged])}"
    )
    print(f"  three plain where it speaks {interval([e.is_plain_first for e in spoken])}", flush=True)


if __name__ == "__main__":
    main()
