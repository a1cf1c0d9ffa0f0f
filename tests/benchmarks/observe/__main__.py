"""Measure `causalist observe` on the test suite of a clone, and print figures as JSON.

    python -m tests.benchmarks.observe CLONE --python /venv/bin/python [--rounds 5] [-- ARGUMENTS OF PYTEST]

`share_seen`: of the pairs of definitions that a tracer sees calling each other, those that observing records.
`recall`: the test files are drawn into two halves, the first is observed, the second traced. Of the pairs that the
second calls, those that have a call of at least .5 by rules alone (`rules`), with the calls that the first half showed
(`runs`), and with those that are likely after it (`likely`); `_shown` counts calls of any confidence, which `callers`
lists. `pairs_of_code` are the pairs without a test at either end, and so a part of them. Constructors count as their
classes. `likely_calls` has (at least this probability, pairs, their mean probability, share that the second half calls)
of pairs of which both ends ran there, `lowered` (mean confidence before and after, share called) of weak edges.
`overhead`: the CPU time of the suite when observed by that without, the median of rounds in which both take turns.
`prior`: see `fit_prior`.
"""

import argparse
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from causalist import Repository
from causalist.index.source_text import SourceText
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import TYPE_KINDS, Role
from causalist.observe import (
    Freshness,
    ObservedStore,
    add_run,
    begin_run,
    delete_run,
    observed_graph,
    read_run,
    run_command,
    unseen_confidence,
)
from causalist.observe.command_runs import ObservedCalls, RunFolder
from causalist.observe.observed_calls import OBSERVED_ALIKE, ObservedGraph, add_likely_calls
from tests.benchmarks.edges.called_pairs import Nodes

_OWN = Path(__file__).parent
_SEED = 20_240
_BANDS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7)  # of probabilities
_SURE = 0.97  # an edge of that confidence is right whether it runs or not

Pairs = set[tuple[int, int]]


class Suite:
    """The tests of a clone, run by an interpreter."""

    def __init__(self, clone: Path, python: str, arguments: Sequence[str]) -> None:
        self.clone = clone
        self.command = [
            python,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            "-o",
            "addopts=",
            *arguments,
        ]
        self.repository = Repository.open(clone, exact_root=True)
        self.graph = self.repository.index.graph
        self.folder = clone / ".causalist"
        self.nodes = Nodes(self.graph)

    def test_files(self) -> tuple[list[str], list[str]]:
        """Return two halves of the files of tests."""
        listed = subprocess.run([*self.command, "--collect-only"], cwd=self.clone, capture_output=True, text=True)
        found = (re.match(r"(\S+\.py)(?:::|: \d)", line) for line in listed.stdout.splitlines())
        files = sorted({each[1] for each in found if each})
        random.Random(_SEED).shuffle(files)
        return sorted(files[::2]), sorted(files[1::2])

    def observe(self, files: Sequence[str] = ()) -> tuple[RunFolder, ObservedCalls]:
        """Run files of tests, all without any, and return what was recorded."""
        run = begin_run(self.folder, self.clone, self.repository.index, self.command)
        self.run_in(run, files)
        return run, read_run(run, self.repository.index)

    def run_in(self, run: RunFolder, files: Sequence[str] = ()) -> None:
        """Run files of tests with the recorder."""
        with _inside(self.clone):
            run_command(run, [*self.command, *files], subprocess.DEVNULL)

    def run(self, files: Sequence[str] = (), more: Sequence[str] = (), **variables: str) -> None:
        """Run files of tests without the recorder."""
        environment = os.environ | variables
        subprocess.run([*self.command, *more, *files], cwd=self.clone, env=environment, stdout=subprocess.DEVNULL)

    def trace(self, files: Sequence[str] = ()) -> Pairs:
        """Return the pairs of definitions that the tracer sees in files of tests."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "trace.json")
            path = os.pathsep.join(filter(None, (str(_OWN), os.environ.get("PYTHONPATH", ""))))
            self.run(files, ("-p", "tracer"), TRACED=str(self.clone), TRACE=str(out), PYTHONPATH=path)
            traced = json.loads(out.read_text(encoding="utf-8"))
        found: Pairs = set()
        for caller, callee in traced:
            if callee[2].startswith("<"):  # parts of definitions
                continue
            pair = self._node(caller), self._node(callee)
            is_body = pair[1] >= 0 and self.graph.nodes.kinds[pair[1]] in TYPE_KINDS  # the body of a class
            if min(pair) >= 0 and not is_body and callee[2] == _leaf(self.graph, pair[1]):
                found.add(pair)
        return found

    def _node(self, place: Sequence[Any]) -> int:
        path, line, name = place
        node = self.nodes.at((path, line)) if name != "<module>" else -1
        return node if node >= 0 else self.graph.nodes.ids.position(path)


class _inside:  # noqa: N801 - used like a function
    """Work in a folder, with the paths of the clone for imports and not those of this program."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        self._before = Path.cwd()
        os.chdir(self._folder)

    def __exit__(self, *_: object) -> None:
        os.chdir(self._before)


def _leaf(graph: CodeGraph, node: int) -> str:
    return graph.nodes.ids[node].rpartition("::")[2].partition("~")[0].rpartition(".")[2]


def _as_class(graph: CodeGraph, pairs: Pairs) -> Pairs:
    """Return pairs in which a constructor is its class."""
    parents = graph.nodes.parents
    return {
        (a, int(parents[b]) if _leaf(graph, b) in ("__init__", "__new__", "__post_init__") else b) for a, b in pairs
    }


def calls_of(graph: CodeGraph, kinds: Sequence[EdgeKind] = (EdgeKind.CALLS,), least: float = 0.5) -> Pairs:
    """Return the pairs with an edge of these kinds of at least that confidence."""
    edges = graph.edges
    numbers = np.flatnonzero(np.isin(edges.kinds, kinds) & (edges.confidences >= least))
    return set(zip(edges.sources[numbers].tolist(), edges.targets[numbers].tolist(), strict=True))


def run_calls(graph: CodeGraph, pairs: Pairs, calls: Pairs) -> Pairs:
    """Return those of the traced pairs that a call stands for; one of a class stands for its inherited constructor."""
    from causalist.navigate.implicit_calls import find_constructors_run

    made = {
        (a, constructor)
        for a, b in calls
        if graph.nodes.kinds[b] in TYPE_KINDS
        for constructor in find_constructors_run(graph, [b])
    }
    reached = _as_class(graph, calls | made)
    return {pair for pair in pairs if next(iter(_as_class(graph, {pair}))) in reached or pair in calls | made}


def measure_overhead(suite: Suite, rounds: int) -> dict[str, Any]:
    """Return CPU seconds of the suite, in pairs, and the median of their ratios."""
    plain, observed = [], []
    for _ in range(rounds):
        start = _cpu_of_children()
        suite.run()
        plain.append(_cpu_of_children() - start)
        run = begin_run(suite.folder, suite.clone, suite.repository.index, suite.command)
        start = _cpu_of_children()
        suite.run_in(run)
        observed.append(_cpu_of_children() - start)
        delete_run(run)
    ratios = [b / a for a, b in zip(plain, observed, strict=True)]
    return {"plain_s": [round(x, 2) for x in plain], "observed_s": [round(x, 2) for x in observed],
            "ratio": round(statistics.median(ratios), 3)}  # fmt: skip


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_recall(suite: Suite) -> dict[str, Any]:
    """Return the recall of calls on one half of the tests, by rules and with what the other half showed."""
    first, second = suite.test_files()
    index, graph = suite.repository.index, suite.graph
    run, seen = suite.observe(first)
    store = ObservedStore()
    texts = SourceText(index.manifest, suite.repository.read)
    freshness = Freshness(index, texts)
    add_run(store, run, seen, index, freshness)
    delete_run(run)
    wanted = suite.trace(second)
    with_runs = observed_graph(index, store, freshness)
    add_likely_calls(store, graph, freshness)
    with_likely = observed_graph(index, store, freshness)
    if not first or not second or not wanted:
        return {"files": [len(first), len(second)], "pairs": len(wanted), "missed": [], "unseen": []}
    roles = graph.nodes.roles
    of_code = {pair for pair in wanted if Role.TEST not in (roles[pair[0]], roles[pair[1]])}
    found = {
        f"{name}{suffix}": run_calls(graph, wanted, calls_of(each, least=least))
        for name, each in (("rules", graph), ("runs", with_runs), ("likely", with_likely))
        for suffix, least in (("", 0.5), ("_shown", 0.0))
    }
    missed = sorted(wanted - found["likely"])
    return {
        "files": [len(first), len(second)],
        "pairs": len(wanted),
        **{name: _share(wanted, each) for name, each in found.items()},
        "pairs_of_code": len(of_code),
        **{f"of_code_{name}": _share(of_code, each) for name, each in found.items() if "_" not in name},
        "likely_calls": _bands_of_likely(with_likely, wanted, found["runs"]),
        **_lowered(graph, with_runs, wanted),
        "missed": [f"{graph.nodes.ids[a]} -> {graph.nodes.ids[b]}" for a, b in missed],
        "unseen": _unseen(suite, wanted, seen),
    }


def _bands_of_likely(graph: CodeGraph, wanted: Pairs, known: Pairs) -> list[tuple[float, int, float, float]]:
    """Return (least probability, pairs, mean probability, share called) of likely calls whose ends ran."""
    edges, ran = graph.edges, {node for pair in wanted for node in pair}
    by_class = {_as_class_of(graph, pair): pair for pair in wanted}
    found: dict[float, list[tuple[float, bool]]] = defaultdict(list)
    for number in np.flatnonzero(edges.rules == graph.rule_names.index(OBSERVED_ALIKE)).tolist():
        pair = int(edges.sources[number]), int(edges.targets[number])
        ends = by_class.get(pair, pair)
        if ends in known or not ran.issuperset(ends):
            continue
        chance = float(edges.confidences[number])
        found[max(band for band in _BANDS if band <= chance)].append((chance, ends in wanted))
    return [
        (band, len(rows), round(statistics.mean(chance for chance, _ in rows), 2),
         round(statistics.mean(is_called for _, is_called in rows), 2))
        for band, rows in sorted(found.items())
    ]  # fmt: skip


def _lowered(before: CodeGraph, after: ObservedGraph, wanted: Pairs) -> dict[str, Any]:
    """Return counts of lowered edges whose caller ran in the second half, and of the weak ones the shares."""
    callers, weak, n, n_called, n_below = {pair[0] for pair in wanted}, list[tuple[float, float, bool]](), 0, 0, 0
    old = {
        (int(a), int(b)): float(c)
        for a, b, kind, c in zip(
            before.edges.sources, before.edges.targets, before.edges.kinds, before.edges.confidences, strict=True
        )
        if kind == EdgeKind.CALLS
    }
    for number, each in sorted(after.sightings.items()):
        pair = int(after.edges.sources[number]), int(after.edges.targets[number])
        if each.n + each.n_through or pair[0] not in callers:
            continue
        confidence, is_called = float(after.edges.confidences[number]), pair in wanted
        n, n_called = n + 1, n_called + is_called
        n_below += is_called and confidence < 0.5 <= old[pair]
        if old[pair] < _SURE:
            weak.append((old[pair], confidence, is_called))
    means = [round(statistics.mean(column), 2) for column in zip(*weak, strict=True)]
    return {"lowered": n, "lowered_and_called": n_called, "lowered_below_half_and_called": n_below,
            "lowered_weak": [len(weak), *means]}  # fmt: skip


def _as_class_of(graph: CodeGraph, pair: tuple[int, int]) -> tuple[int, int]:
    return next(iter(_as_class(graph, {pair})))


def _share(wanted: Pairs, found: Pairs) -> float | None:
    return round(len(wanted & found) / len(wanted), 4) if wanted else None


def _unseen(suite: Suite, wanted: Pairs, seen: ObservedCalls) -> list[tuple[int, bool]]:
    """Return (runs of the caller in the first half, True if not seen there) of edges that the second half confirms."""
    edges, found = suite.graph.edges, []
    for number in np.flatnonzero(edges.kinds == EdgeKind.CALLS).tolist():
        pair = int(edges.sources[number]), int(edges.targets[number])
        n = seen.n_runs.get(pair[0], 0)
        if n and pair in wanted:
            found.append((n, pair not in seen.direct and pair not in seen.through))
    return found


def fit_prior(unseen: Sequence[tuple[int, bool]]) -> dict[str, float]:
    """Return the prior of the share of runs that make a call, by the greatest likelihood on a grid.

    It is 0 with the probability `never`, else Beta(a, b).

    `unseen`: for edges that are right, as the second half shows, the runs of the caller in the first half, and whether
    the call was not among them.
    """
    best = (-np.inf, 0.0, 0.0, 0.0)
    for a, b, never in product((0.2, 0.5, 1.0, 2.0), (0.05, 0.2, 0.5, 1.0), (0.0, 0.02, 0.05, 0.2, 0.5, 0.7, 0.9)):
        total = 0.0
        for n, is_unseen in unseen:
            odds = unseen_confidence(0.5, n, a, b, never)
            chance = min(max(odds / (1.0 - odds), 1e-9), 1.0 - 1e-9)
            total += np.log(chance if is_unseen else 1.0 - chance)
        best = max(best, (float(total), a, b, never))
    n_unseen = sum(is_unseen for _, is_unseen in unseen)
    return {"a": best[1], "b": best[2], "never": best[3], "edges": len(unseen), "unseen": n_unseen}


def main() -> int:
    """Print the figures of one suite."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.observe", description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skip", action="append", default=[], choices=["seen", "recall", "overhead"])
    parser.add_argument("--prior", type=Path, help="file for what the prior is fitted to")
    parser.add_argument("--show", type=int, default=10, help="missed pairs to print")
    parser.add_argument("arguments", nargs="*")
    given = parser.parse_args()
    suite = Suite(given.clone.resolve(), given.python, given.arguments)
    figures: dict[str, Any] = {"suite": suite.clone.name, "python": given.python}
    if "seen" not in given.skip:
        run, seen = suite.observe()
        delete_run(run)
        wanted = suite.trace()
        missed = sorted(wanted - seen.direct.keys())
        figures["seen"] = {
            "pairs": len(wanted),
            "share_seen": round(1.0 - len(missed) / len(wanted), 4),
            "more": len(seen.direct.keys() - wanted),
            "through": len(seen.through),
            "processes": seen.n_processes,
            "tests": len(seen.tests),
            "missed": [f"{suite.graph.nodes.ids[a]} -> {suite.graph.nodes.ids[b]}" for a, b in missed[: given.show]],
        }
    if "recall" not in given.skip:
        recall = measure_recall(suite)
        recall["missed"] = recall["missed"][: given.show]
        if given.prior is not None:
            given.prior.write_text(json.dumps(recall["unseen"]), encoding="utf-8")
        recall["prior"] = fit_prior(recall.pop("unseen"))
        figures["recall"] = recall
    if "overhead" not in given.skip:
        figures["overhead"] = measure_overhead(suite, given.rounds)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
