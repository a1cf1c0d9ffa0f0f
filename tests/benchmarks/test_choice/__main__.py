"""Tests that are found for a definition, against those that ran it.

    python -m tests.benchmarks.test_choice CLONE COVERAGE [--n 40] [--seed 0] [--show]

COVERAGE is the data file of coverage.py of a run of the suite with one context for each test, as `pytest
--cov-context=test` writes it, or its JSON, as `go_suite.py` and `mocha_suite.cjs` make it. A test ran a function if it
ran a line of its body, in the test itself or in its fixtures. Tests with other parameters are one test, and an
inherited one is the one that it inherits. One whose name was made up as it ran is the test whose name begins it.
Examples in documentation are left out, since no definition holds them.

Draws functions that at least one test ran. Prints the means of recall and precision of `tests`, with the range of 95 %
of the means of functions drawn again; of recall within the first quarter of the suite, whatever the list has; and the
tests of each function with --show.
"""

import argparse
import json
import random
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from causalist import Repository
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role
from causalist.navigate.marked_tests import mark_tests

_SHARE = 0.25
_DRAWS = 2000
_FUNCTION = re.compile(r"^(?:::|\.)\w+ ")  # that a title is given to


class Trial(NamedTuple):
    """A function with the tests that ran it, and those that may, the most probable first: `found` is the list given."""

    node: str
    ran: frozenset[str]
    found: tuple[str, ...]
    ranked: tuple[str, ...]


def read_runs(clone: Path, coverage_file: Path) -> dict[str, dict[int, frozenset[str]]]:
    """Return the contexts that ran each line, by path in the clone; lines count from 1."""
    runs: dict[str, dict[int, set[str]]] = {}
    if coverage_file.suffix == ".json":
        files = json.loads(coverage_file.read_text(encoding="utf-8"))["files"]
        return {
            path: {int(line): frozenset(names) for line, names in each["contexts"].items()}
            for path, each in files.items()
        }
    of_names = "JOIN file ON file.id = file_id JOIN context ON context.id = context_id WHERE context != ''"
    with closing(sqlite3.connect(coverage_file)) as data:
        sets = data.execute(f"SELECT path, context, numbits FROM line_bits {of_names}")
        rows = [
            (name, context, 8 * i + k)
            for name, context, bits in sets
            for i, byte in enumerate(bits)
            for k in range(8)
            if byte >> k & 1
        ]
        # Where branches are measured there are pairs of lines; the first of a function comes from a negative one.
        rows += data.execute(f"SELECT path, context, tono FROM arc {of_names} AND tono > 0")
    for name, context, line in rows:
        path = clone / name  # coverage.py may be set to write relative names
        if path.is_relative_to(clone):
            runs.setdefault(path.relative_to(clone).as_posix(), {}).setdefault(line, set()).add(context)
    return {path: {line: frozenset(each) for line, each in lines.items()} for path, lines in runs.items()}


def name_of_test(context: str) -> tuple[str, str]:
    """Return the path and the qualified name of the test of a context.

    >>> name_of_test("tests/test_a.py::TestB::test_c[x-y]|setup")
    ('tests/test_a.py', 'TestB.test_c')
    """
    path, _, names = re.sub(r"\[.*", "", context.rpartition("|")[0] or context).partition("::")
    return path, names.replace("::", ".")


def _node_of(context: str, graph: CodeGraph) -> str:
    """Return the id of the test of a context; of an inherited or imported one, that of its definition."""
    path, name = name_of_test(context)
    ids, edges = graph.nodes.ids, graph.edges
    titled = _titled_tests(graph).get(context)
    if titled is not None:
        return titled
    holder, _, leaf = name.rpartition(".")
    file = ids.position(path)
    imported = [e for e in graph.outgoing(file) if edges.kinds[e] == EdgeKind.IMPORTS] if file >= 0 else []
    for place in (path, *(ids[int(edges.targets[e])] for e in imported)):
        level = [f"{place}::{holder}"] if holder else []
        if ids.position(f"{place}::{name}") >= 0:
            return f"{place}::{name}"
        while level:
            for each in level:
                if ids.position(f"{each}.{leaf}") >= 0:
                    return f"{each}.{leaf}"
            numbers = [e for each in level if ids.position(each) >= 0 for e in graph.outgoing(ids.position(each))]
            level = [ids[int(edges.targets[e])] for e in numbers if edges.kinds[e] == EdgeKind.EXTENDS]
    return f"{path}::{name}"


def tests_of_contexts(graph: CodeGraph, contexts: Iterable[str]) -> dict[str, str]:
    """Return the id of the test of each context; contexts of files that hold no definition are left out.

    A test whose name was made up as it ran is the one beside whose name begins it.
    """
    nodes, ids = graph.nodes, graph.nodes.ids
    tests = sorted((ids[test] for test in np.flatnonzero(mark_tests(graph)).tolist()), key=len, reverse=True)
    code = {ids[int(file)] for file in np.unique(nodes.files[np.isin(nodes.kinds, sorted(CALLABLE_KINDS))])}
    found: dict[str, str] = {}
    for context in sorted(set(contexts)):
        if name_of_test(context)[0] in code:
            node = _node_of(context, graph)
            is_known = ids.position(node) >= 0
            found[context] = node if is_known else next((t for t in tests if "::" in t and node.startswith(t)), node)
    return found


_TITLED: dict[int, dict[str, str]] = {}


def _titled_tests(graph: CodeGraph) -> dict[str, str]:
    """Return the ids of tests that have a title for a name, by path and the titles around them: `a.js::A::is empty`."""
    if id(graph) not in _TITLED:
        _TITLED.clear()
        found = _TITLED[id(graph)] = {}
        nodes = graph.nodes
        for node in range(len(nodes)):
            titles, outer = [], node
            while outer >= 0 and nodes.kinds[outer] == NodeKind.HANDLER:
                own = nodes.ids[outer].removeprefix(f"{nodes.ids[int(nodes.parents[outer])]}")
                titles.append(_FUNCTION.sub("", unquote(own)).partition("~")[0])
                outer = int(nodes.parents[outer])
            if titles:
                found.setdefault("::".join([nodes.ids[int(nodes.files[node])], *reversed(titles)]), nodes.ids[node])
    return _TITLED[id(graph)]


def draw_trials(
    repository: Repository, runs: Mapping[str, Mapping[int, frozenset[str]]], n: int, seed: int
) -> tuple[list[Trial], int]:
    """Return trials for at most `n` functions, and the number of tests of the suite."""
    graph = repository.index.graph
    nodes, node_of = (
        graph.nodes,
        tests_of_contexts(graph, (each for lines in runs.values() for contexts in lines.values() for each in contexts)),
    )
    ids = {node_id: i for i, node_id in enumerate(nodes.ids)}
    suite = set(node_of.values())
    ran: dict[str, frozenset[str]] = {}
    for node_id, i in ids.items():
        path = node_id.partition("::")[0]
        if path not in runs or nodes.kinds[i] not in CALLABLE_KINDS or nodes.roles[i] == Role.TEST:
            continue
        inner = [k for k in ids.values() if nodes.parents[k] == i and nodes.kinds[k] != NodeKind.PASSAGE]
        aside = {row for k in inner for row in range(nodes.start_rows[k], nodes.end_rows[k] + 1)}
        body = (row for row in range(nodes.start_rows[i] + 1, nodes.end_rows[i] + 1) if row not in aside)
        contexts = frozenset().union(*(runs[path].get(row + 1, frozenset()) for row in body))
        if tests := frozenset(node_of[each] for each in contexts if each in node_of):
            ran[node_id] = tests
    chosen = sorted(random.Random(seed).sample(sorted(ran), min(n, len(ran))))
    trials: list[Trial] = []
    for node in chosen:
        choice = repository.choose_tests(node, coverage=())
        ranked = tuple(each.node for each in choice.tests)
        trials.append(Trial(node, ran[node], ranked[: choice.n_probable], ranked))
    return trials, len(suite)


def _interval(values: Sequence[float]) -> str:
    """Return where 95 % of the means of functions drawn again lie."""
    draws = np.random.default_rng(0).choice(np.asarray(values), (_DRAWS, len(values))).mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    return f" ({low:.3f} to {high:.3f})"


def main() -> None:
    """Run the trials of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.test_choice")
    parser.add_argument("clone", type=Path)
    parser.add_argument("coverage", type=Path)
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    clone = arguments.clone.resolve()
    trials, n_tests = draw_trials(
        Repository.open(clone), read_runs(clone, arguments.coverage), arguments.n, arguments.seed
    )
    recalls = [len(each.ran.intersection(each.found)) / len(each.ran) for each in trials]
    precisions = [len(each.ran.intersection(each.found)) / len(each.found) for each in trials if each.found]
    first = int(_SHARE * n_tests)
    early = [len(each.ran.intersection(each.ranked[:first])) / len(each.ran) for each in trials]
    print(f"{clone.name}: {len(trials)} functions, {n_tests} tests")
    print(f"recall {mean(recalls):.3f}{_interval(recalls)}, ", end="")
    print(f"precision {mean(precisions):.3f}{_interval(precisions)} ({len(precisions)} lists), ", end="")
    most = mean(min(first, len(each.ran)) / len(each.ran) for each in trials)
    print(f"recall in the first {first} tests {mean(early):.3f} of at most {most:.3f}")
    for trial in trials if arguments.show else ():
        right = trial.ran.intersection(trial.found)
        print(f"{trial.node}: {len(right)} of {len(trial.ran)} that ran, {len(trial.found)} found")
        for title, these in (("missing", sorted(trial.ran - right)), ("too much", sorted(set(trial.found) - right))):
            for each in these[:6]:
                print(f"    {title} {each}")


if __name__ == "__main__":
    main()
