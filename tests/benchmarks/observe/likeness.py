"""Fit the weights of likely calls on some suites, and say how right they are on others.

    python -m tests.benchmarks.observe.likeness --python PYTHON --fit CLONE... --on CLONE... [--ignore PATH]

Of each suite, one half of the test files is observed and the other one traced, as for `recall`. A row is a pair that
`CallLikeness` looks at, of two definitions that ran in the second half, that no rule and no run has as a call. The
weights are those of the greatest likelihood with a penalty. With each suite of `--fit` left out in turn, and for those
of `--on`, it prints by bands of probability: (pairs, mean probability, share that the second half calls).
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.index.source_text import SourceText
from causalist.observe import Freshness, delete_run
from causalist.observe.likely_calls import TARGET_WEIGHTS, WEIGHTS, CallLikeness
from tests.benchmarks.observe.__main__ import Suite, calls_of, run_calls

_PENALTY = 3.0
_BANDS = 10


class Rows(NamedTuple):
    """Values of pairs, of shape (n_pairs, n_weights), and if they were called, of shape (n_pairs,)."""

    values: NDArray[np.float64]
    is_called: NDArray[np.float64]


def read_rows(suite: Suite) -> tuple[Rows, Rows]:
    """Return the rows of callers that never ran, and those of callees that never ran."""
    first, second = suite.test_files()
    index, graph = suite.repository.index, suite.graph
    run, seen = suite.observe(first)
    delete_run(run)
    wanted = suite.trace(second)
    freshness = Freshness(index, SourceText(index.manifest, suite.repository.read))
    direct = {pair for pair, n in seen.direct.items() if n}
    imported = {target for _, target in seen.through if "::" not in graph.nodes.ids[target]}
    likeness = CallLikeness(
        graph, lambda node: freshness.text_of(graph.nodes.ids[node]), direct, seen.n_runs.keys() | imported
    )
    known = run_calls(graph, wanted, calls_of(graph)) | calls_of(graph) | direct
    ran = {node for pair in wanted for node in pair}
    rows: dict[bool, list[tuple[Sequence[float], bool]]] = {True: [], False: []}
    for caller in likeness.callers if ran else ():
        has_run = caller in likeness.ran
        for callee, values in likeness.alike_targets(caller) if has_run else likeness.pairs_of(caller):
            pair = caller, callee
            if pair not in known and ran.issuperset(pair if has_run else (caller,)):
                rows[has_run].append((values, pair in wanted))
    return _table(rows[False], len(WEIGHTS)), _table(rows[True], len(TARGET_WEIGHTS))


def _table(rows: Sequence[tuple[Sequence[float], bool]], width: int) -> Rows:
    values = np.array([each for each, _ in rows], dtype=np.float64).reshape(len(rows), width)
    return Rows(values, np.array([is_called for _, is_called in rows], dtype=np.float64))


def fit_weights(tables: Iterable[Rows], penalty: float = _PENALTY) -> NDArray[np.float64]:
    """Return the weights of a logistic function with the greatest likelihood, less penalty / 2 times their squares."""
    given = list(tables)
    values, is_called = np.vstack([each.values for each in given]), np.concatenate([each.is_called for each in given])
    weights = np.zeros(values.shape[1])
    for _ in range(50):
        chances = 1.0 / (1.0 + np.exp(-values @ weights))
        gradient = values.T @ (is_called - chances) - penalty * weights
        curvature = (values * (chances * (1.0 - chances))[:, None]).T @ values + penalty * np.eye(len(weights))
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-7:
            break
    return weights


def bands_of(tables: Iterable[tuple[Rows, NDArray[np.float64]]]) -> list[tuple[float, int, float, float]]:
    """Return (least probability, pairs, mean probability, share called) of rows with weights."""
    found: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for rows, weights in tables:
        for chance, is_called in zip(1.0 / (1.0 + np.exp(-rows.values @ weights)), rows.is_called, strict=True):
            found[min(int(chance * _BANDS), _BANDS - 1)].append((float(chance), float(is_called)))
    return [
        (band / _BANDS, len(each), round(float(np.mean([a for a, _ in each])), 2),
         round(float(np.mean([b for _, b in each])), 2))
        for band, each in sorted(found.items())
    ]  # fmt: skip


def main() -> int:
    """Print weights and bands as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.observe.likeness")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--fit", type=Path, nargs="+", required=True)
    parser.add_argument("--on", type=Path, nargs="*", default=[])
    parser.add_argument("--ignore", action="append", default=[], help="path that pytest leaves out")
    given = parser.parse_args()
    ignored = [f"--ignore={path}" for path in given.ignore]
    tables = {clone: read_rows(Suite(clone.resolve(), given.python, ignored)) for clone in [*given.fit, *given.on]}
    document = {}
    for i, name in enumerate(("callers", "callees")):
        weights = fit_weights(tables[clone][i] for clone in given.fit)
        left_out = [
            (tables[clone][i], fit_weights(tables[other][i] for other in given.fit if other != clone))
            for clone in given.fit
            if len(given.fit) > 1
        ]
        document[name] = {
            "weights": np.round(weights, 2).tolist(),
            "left_out": bands_of(left_out),
            "on": bands_of((tables[clone][i], weights) for clone in given.on),
        }
    sys.stdout.write(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
