"""Shares of the tests that ran a user of a function and ran the function, too, by kind of use.

    python -m tests.benchmarks.test_choice.steps CLONE COVERAGE [CLONE COVERAGE ...]

Prints for each kind of use: the uses, the suites, the mean share of all uses, and the mean of the means of the suites.
Calls of functions are told apart by branches and loops around them, and count if their confidence is .9 or more.
Constants of `causalist.navigate.impact` and `implicit_calls` have their figures from here. COVERAGE is as for
`test_choice`.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np

from causalist import Repository
from causalist.index.source_text import SourceText
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role, last_name, split_id
from causalist.navigate.edges import DISPATCHED, find_overridden
from causalist.navigate.impact import DISPATCHED_SHARES, RUN_SHARES, _count_around, _is_behind_condition
from causalist.navigate.implicit_calls import ImplicitUses, is_run_unnamed
from tests.benchmarks.test_choice.__main__ import read_runs, tests_of_contexts

_SURE = 0.9


class Step(NamedTuple):
    """A use of a function: its kind, the user and the function."""

    kind: str
    user: int
    function: int


def tests_by_function(graph: CodeGraph, runs: Mapping[str, Mapping[int, frozenset[str]]]) -> dict[int, frozenset[int]]:
    """Return the tests that ran each function, by node; a test ran itself."""
    nodes, ids = graph.nodes, graph.nodes.ids
    contexts = (each for lines in runs.values() for names in lines.values() for each in names)
    test_of = {name: ids.position(test) for name, test in tests_of_contexts(graph, contexts).items()}
    inner: dict[int, list[int]] = defaultdict(list)
    for node in range(len(nodes)):
        if nodes.kinds[node] != NodeKind.PASSAGE:
            inner[int(nodes.parents[node])].append(node)
    result: dict[int, frozenset[int]] = {}
    for node in np.flatnonzero(np.isin(nodes.kinds, sorted(CALLABLE_KINDS))).tolist():
        lines = runs.get(split_id(ids[node])[0], {})
        aside = {row for each in inner[node] for row in range(nodes.start_rows[each], nodes.end_rows[each] + 1)}
        body = (row for row in range(nodes.start_rows[node] + 1, nodes.end_rows[node] + 1) if row not in aside)
        names = frozenset().union(*(lines.get(row + 1, frozenset()) for row in body))
        if tests := frozenset(test_of[name] for name in names if test_of.get(name, -1) >= 0):
            result[node] = tests
    return {**result, **{test: frozenset({test}) for test in test_of.values() if test >= 0}}


def steps_to(graph: CodeGraph, function: int, uses: ImplicitUses, text: SourceText) -> Iterator[Step]:
    """Yield the uses of a function."""
    edges, nodes = graph.edges, graph.nodes
    name, is_test = last_name(nodes.ids[function]), nodes.roles == Role.TEST
    for number in graph.edges_into(np.array([function])).tolist():
        kind, user = EdgeKind(int(edges.kinds[number])), int(edges.sources[number])
        if kind not in RUN_SHARES:
            continue
        label = f"{kind.label}{' of tests' if is_test[user] else ''}"
        if user == int(nodes.parents[function]) and kind == EdgeKind.REFERENCES:
            label += " to what stands inside"
        elif kind == EdgeKind.CALLS and not is_test[user]:
            row, first = int(edges.rows[number]), int(nodes.start_rows[user])
            lines = text.read_text(split_id(nodes.ids[user])[0]).split("\n")
            if edges.confidences[number] < _SURE or not first <= row < len(lines):
                continue
            n_branches, n_loops = _count_around(lines, first, row)
            n_branches += _is_behind_condition(lines[row], name)
            label = f"calls, branches {min(n_branches, 3)}, loops {min(n_loops, 1)}"
        yield Step(label, user, function)
    for base in find_overridden(graph, [function], 0.0):
        into = graph.edges_into(np.array([base]))
        n_overriding = int(np.count_nonzero(edges.kinds[into] == EdgeKind.OVERRIDES))
        least = next(each for each in DISPATCHED_SHARES if n_overriding >= each)
        for number in into[np.isin(edges.kinds[into], DISPATCHED)].tolist():
            user = int(edges.sources[number])
            yield Step(f"dispatch{' of tests' if is_test[user] else ''}, {least} or more", user, function)
    for use in uses.of(function):
        of_what = "constructor" if use.is_call else name if is_run_unnamed(graph, function) else "unnamed use"
        kind = EdgeKind(int(edges.kinds[use.number]))
        yield Step(f"{of_what}, by {kind.label}", int(edges.sources[use.number]), function)


def main() -> None:
    """Print the shares of the suites of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.test_choice.steps")
    parser.add_argument("paths", nargs="+", type=Path)
    paths = parser.parse_args().paths
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for clone, coverage in zip(paths[::2], paths[1::2], strict=True):
        repository, runs = Repository.open(clone.resolve()), read_runs(clone.resolve(), coverage)
        graph = repository.index.graph
        nodes, ran = graph.nodes, tests_by_function(graph, runs)
        text, uses = SourceText(repository.index.manifest, repository.read), ImplicitUses(graph, is_chained=True)
        is_code = np.isin(nodes.kinds, sorted(CALLABLE_KINDS)) & (nodes.roles != Role.TEST)
        is_code &= nodes.end_rows > nodes.start_rows
        for function in np.flatnonzero(is_code).tolist():
            if split_id(nodes.ids[function])[0] not in runs:
                continue
            for step in steps_to(graph, function, uses, text):
                if step.user in ran and step.user != function:
                    both = len(ran[step.user] & ran.get(function, frozenset()))
                    shares[step.kind][clone.name].append(both / len(ran[step.user]))
    for kind, by_suite in sorted(shares.items()):
        values = [value for each in by_suite.values() for value in each]
        of_suites = mean(mean(each) for each in by_suite.values())
        print(f"{kind}: {len(values)} uses in {len(by_suite)} suites, share {mean(values):.3f}, {of_suites:.3f}")


if __name__ == "__main__":
    main()
