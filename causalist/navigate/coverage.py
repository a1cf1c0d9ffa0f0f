"""Coverage data of a repository: which tests ran a definition, or which of its lines any test ran.

In: data files that a run of the tests left in the repository, an index. Out: the tests of a definition, and how many of
its lines ran.

Data that is older than the file of a definition says where lines were. It then adds tests and removes none. Nor does it
remove a test whose own file changed since, or that reaches the definition through code that did.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UnreadableCoverage
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.index import Index
from causalist.model.lookup import Affected, CoverageReport, TestChoice
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role, split_id
from causalist.navigate.affected_tests import NAMED, find_tests_reaching
from causalist.navigate.coverage_files import Lines, PathMatcher, plain_path, read_coverage
from causalist.navigate.impact import find_affected_nodes
from causalist.navigate.marked_tests import mark_tests
from causalist.parse import dialect_of

# Dialects in which the line of a definition, with the defaults of its parameters, runs when the file is loaded.
_DEFINED_AT_LOAD = frozenset(("python", "javascript", "typescript", "tsx", "ruby"))
OBSERVED = "observed"  # in place of a rule
STALE_PROBABILITY = 0.7  # that a test runs a definition at the lines that it ran before, see docs/benchmarks.md


class _Run(NamedTuple):
    """Lines that a data file has of the files of a definition, by their paths in the index, and its tests."""

    file: Path
    format: str
    measured: int  # time of the file, in nanoseconds
    files: dict[str, Lines]
    tests: dict[str, int]  # by name, the node of each test that the data tells apart and the index knows


class _Body(NamedTuple):
    """Lines of a file that run when definitions do, and the first lines of definitions of one line."""

    lines: set[int]
    single: set[int]


def join_coverage(
    index: Index,
    changed: NDArray[np.int64],
    tests: Sequence[Affected],
    files: Sequence[Path],
    root: Path,
    *,
    is_named: bool,
    read_text: Callable[[str], str],
) -> TestChoice:
    """Return the tests of `changed` with what data files say, a report of that, and what cannot be read.

    Tests that ran one of them come first. Those that the data has and that did not are left out, unless what they run
    may have changed since. All files that tell tests apart count together; if there are none, tests stay as they are,
    and the lines are counted. `read_text` returns the text of a path. Raises UnreadableCoverage for a file that
    `is_named` by the user; of others that is a problem of the result.
    """
    graph = index.graph
    bodies = _bodies(graph, changed, read_text)
    runs, problems = _read_runs(index, bodies, files, root, is_named=is_named)
    apart = [run for run in runs if run.tests]
    if not apart:
        chosen = [run for run in runs if run.format == runs[0].format]
        report = _report(chosen, bodies, root, _Ages(index), None, 0) if chosen else None
        return TestChoice(tuple(tests), report, problems)
    if not any(bodies[path].lines for run in apart for path in run.files):
        return TestChoice(tuple(tests), None, problems)
    ages = _Ages(index)
    certain, observed, absent = set[int](), set[int](), set[int]()
    for run in apart:
        ran = {
            run.tests[name]
            for path, lines in run.files.items()
            for line in bodies[path].lines
            for name in lines.tests.get(line, ())
            if name in run.tests
        }
        observed |= ran
        if not ages.is_stale(run, run.files):
            certain |= ran
            absent |= _unchanged_tests(graph, changed, set(run.tests.values()) - ran, ages.changed_since(run))
    absent -= observed
    suite = {node for run in apart for node in run.tests.values()}
    given = {graph.nodes.ids.position(each.node) for each in tests}
    report = _report(apart, bodies, root, ages, len(observed), len((suite - absent - observed) & given))
    return TestChoice(_with_observed(graph, changed, tests, observed, certain, absent), report, problems)


def definitions_by_test(
    index: Index, files: Mapping[Path, str], paths: Collection[str], read_text: Callable[[str], str]
) -> dict[int, set[int]]:
    """Return, by the node of each test that data files tell apart, the callables of `paths` whose lines it ran.

    `files` has, for a data file of one test alone, the name of that test, "" for others. What cannot be read is left
    out.
    """
    graph, matcher, tests = index.graph, PathMatcher(index.manifest.paths), TestNodes(index)
    nodes = graph.nodes
    in_file: dict[str, list[int]] = {}
    for node in np.flatnonzero(np.isin(nodes.kinds, sorted(CALLABLE_KINDS))).tolist():
        in_file.setdefault(split_id(nodes.ids[node])[0], []).append(node)
    bodies: dict[int, set[int]] = {}
    definitions: dict[int, set[int]] = {}
    for file, test in sorted(files.items()):
        try:
            data = read_coverage(file, lambda written: True)
        except (UnreadableCoverage, OSError):
            continue
        places = matcher.match(sorted(data.paths))
        names = tests.find({test} if test else data.contexts)
        for written, lines in sorted(data.files.items()):
            path = places.get(written, "")
            for node in in_file.get(path, ()) if names and path in paths else ():
                if node not in bodies:
                    bodies[node] = _bodies(graph, np.array([node], dtype=np.int64), read_text)[path].lines
                ran = bodies[node] & lines.ran
                who = {test} if test and ran else {name for line in ran for name in lines.tests.get(line, ())}
                for name in sorted(who & names.keys()):
                    if names[name] != node:
                        definitions.setdefault(names[name], set()).add(node)
    return definitions


class TestRecord(NamedTuple):
    """A recorded test. `is_current`: its code is unchanged. `ran`: nodes that ran, True if their code is unchanged."""

    is_current: bool
    ran: Mapping[int, bool]


def join_records(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    tests: Sequence[Affected],
    records: Mapping[int, TestRecord],
    newer: Collection[str],
    same_before: Collection[str] = (),
) -> tuple[Affected, ...]:
    """Return the tests of `changed` with what was recorded of tests, by their nodes.

    Tests that ran one of `changed` come first; with a lower probability if the test or what it ran changed since.
    Others that were recorded are left out, unless what they run may have changed since. `newer` are the paths of files
    that changed since. Of those of `same_before` nothing but functions of `changed` did, so that a test enters them as
    it did. Nothing is left out for what no recorded test ran: it may run where nothing is recorded.
    """
    wanted = set(changed.tolist())
    ran = {test: [record.ran[node] for node in wanted & record.ran.keys()] for test, record in records.items()}
    observed = {test for test, nodes in ran.items() if nodes}
    if not observed:
        return tuple(tests)
    entered = {node for node in wanted if split_id(graph.nodes.ids[node])[0] in same_before}
    certain = {
        test
        for test in observed
        if records[test].is_current and (any(ran[test]) or not entered.isdisjoint(records[test].ran))
    }
    silent = {test for test, record in records.items() if record.is_current} - observed
    absent = _unchanged_tests(graph, changed, silent, newer)
    return _with_observed(graph, changed, tests, observed, certain, absent)


def join_proofs(
    graph: CodeGraph, changed: NDArray[np.int64], tests: Sequence[Affected], proven: Collection[int]
) -> tuple[Affected, ...]:
    """Return the tests of `changed` with those first that are proven to need one of it, by the numbers of edges."""
    edges, nodes, ids = graph.edges, graph.nodes, graph.nodes.ids
    given = {each.node: each for each in tests}
    test_by_id: dict[str, Affected] = {}
    for number in graph.edges_into(changed).tolist():
        if number not in proven or edges.kinds[number] != EdgeKind.TESTS:
            continue
        edge, node = graph.edge(number), int(edges.sources[number])
        role, layer, tier = Role(int(nodes.roles[node])).label, graph.layer(node), graph.tier(node)
        affected = given.get(ids[node], Affected(ids[node], 1, edge, role, "", layer, tier, "", 1.0))
        test_by_id.setdefault(ids[node], affected._replace(edge=edge, overridden_by="", runs="", probability=1.0))
    first = sorted(test_by_id.values(), key=lambda each: (each.depth, each.node))
    return (*first, *(each for each in tests if each.node not in test_by_id))


def _read_runs(
    index: Index, bodies: Mapping[str, _Body], files: Sequence[Path], root: Path, *, is_named: bool
) -> tuple[list[_Run], tuple[str, ...]]:
    """Return what data files say of files of definitions, and sentences on those that say nothing."""
    matcher, tests = PathMatcher(index.manifest.paths), TestNodes(index)
    last_names = {path.rpartition("/")[2] for path in bodies}
    runs: list[_Run] = []
    problems: list[str] = []
    for file in files:
        try:
            data = read_coverage(file, lambda written: plain_path(written).rpartition("/")[2] in last_names)
            measured = file.stat().st_mtime_ns
        except (UnreadableCoverage, OSError) as error:
            if is_named:
                raise UnreadableCoverage(str(error)) from error
            problems.append(str(error))
            continue
        places = matcher.match(sorted(data.paths))
        lines_by_path: dict[str, Lines] = {}
        for written, lines in data.files.items():
            path = places.get(written, "")
            if path in bodies:
                lines_by_path.setdefault(path, Lines()).update(lines)
        if lines_by_path:
            runs.append(_Run(file, data.format, measured, lines_by_path, tests.find(data.contexts)))
        elif is_named:
            problems.append(f"{_relative_name(file, root)} has no lines of {', '.join(sorted(bodies)) or 'it'}")
    return runs, tuple(problems)


def _relative_name(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


class _Ages:
    """Times of indexed files against those of data files."""

    def __init__(self, index: Index) -> None:
        self._mtimes = dict(zip(index.manifest.paths, index.manifest.mtimes.tolist(), strict=True))

    def is_stale(self, run: _Run, paths: Iterable[str]) -> bool:
        """Return True if one of the files changed after the run."""
        return any(self._mtimes.get(path, 0) > run.measured for path in paths)

    def changed_since(self, run: _Run) -> set[str]:
        """Return the paths of the files that changed after the run."""
        return {path for path, mtime in self._mtimes.items() if mtime > run.measured}


def _unchanged_tests(graph: CodeGraph, changed: NDArray[np.int64], tests: set[int], newer: Collection[str]) -> set[int]:
    """Return those of `tests` that are not in newer files, nor reach `changed` through code of newer files."""
    if not newer or not tests:
        return tests
    ids = graph.nodes.ids
    users = find_affected_nodes(graph, changed, max_depth=None, min_confidence=0.0)
    between = sorted(ids.position(each.node) for each in users if split_id(each.node)[0] in newer)
    through: set[int] = set()
    if between:
        reaching = find_tests_reaching(graph, np.array(between, dtype=np.int64), max_depth=None, min_confidence=0.0)
        through = {ids.position(each.node) for each in reaching}
    return {test for test in tests if split_id(ids[test])[0] not in newer} - through


def _report(
    runs: Sequence[_Run], bodies: Mapping[str, _Body], root: Path, ages: _Ages, n_tests: int | None, n_kept: int
) -> CoverageReport | None:
    """Return what data says of the lines of definitions; None if it cannot say whether they ran."""
    lines_by_path: dict[str, Lines] = {}
    for run in runs:
        for path, lines in run.files.items():
            lines_by_path.setdefault(path, Lines()).update(lines)
    n_ran = n_missed = 0
    for path, lines in lines_by_path.items():
        of_rows = [lines.functions[row] for row in bodies[path].single if row in lines.functions]
        n_ran += len(bodies[path].lines & lines.ran) + sum(of_rows)
        n_missed += len(bodies[path].lines & lines.missed) + len(of_rows) - sum(of_rows)
    if not (n_ran or n_missed or any(bodies[path].lines for path in lines_by_path)):
        return None
    written = datetime.fromtimestamp(min(run.measured for run in runs) / 1e9).isoformat(" ", "minutes")
    n_lines = n_ran + n_missed if n_missed and n_tests is None else 0
    is_stale = any(ages.is_stale(run, run.files) for run in runs)
    names = tuple(_relative_name(run.file, root) for run in runs)
    return CoverageReport(names, runs[0].format, n_ran, n_lines, n_tests, n_kept, is_stale, written)


def _with_observed(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    tests: Sequence[Affected],
    observed: set[int],
    certain: set[int],
    absent: set[int],
) -> tuple[Affected, ...]:
    """Return the tests with the `observed` ones added and the `absent` ones left out, the most probable first."""
    ids, nodes = graph.nodes.ids, graph.nodes
    given = {ids.position(each.node): each for each in tests}
    around_others = _nodes_around(graph, (observed | given.keys()) - absent)
    left_out = absent | (_nodes_around(graph, absent) - around_others)
    test_by_node = {node: each for node, each in given.items() if node not in left_out}
    target = ids[int(changed[0])]
    for node in sorted(observed):
        chance = 1.0 if node in certain else STALE_PROBABILITY
        affected = test_by_node.get(node)
        if affected is not None and affected.edge.rule != NAMED:
            probability = max(affected.probability, chance)
            test_by_node[node] = affected._replace(probability=probability, edge=_seen_edge(graph, affected.edge))
            continue
        edge = Edge(ids[node], target, EdgeKind.TESTS.label, OBSERVED, chance, int(nodes.start_rows[node]) + 1, 1)
        role, layer, tier = Role(int(nodes.roles[node])).label, graph.layer(node), graph.tier(node)
        test_by_node[node] = Affected(ids[node], 1, edge, role, "", layer, tier, "", chance)
    order = sorted(
        test_by_node,
        key=lambda node: (-test_by_node[node].probability, node not in observed, test_by_node[node].depth, ids[node]),
    )
    return tuple(test_by_node[node] for node in order)


def _seen_edge(graph: CodeGraph, edge: Edge) -> Edge:
    """Return an edge between the same ends that a run saw, else the given one."""
    if edge.observed is None:
        source, target = graph.nodes.ids.position(edge.source), graph.nodes.ids.position(edge.target)
        for number in graph.outgoing(source) if min(source, target) >= 0 else ():
            if graph.edges.targets[number] == target:
                other = graph.edge(number)
                if other.observed is not None and other.observed.n + other.observed.n_through:
                    return other
    return edge


def _nodes_around(graph: CodeGraph, tests: Iterable[int]) -> set[int]:
    """Return the files, types and groups that hold some of these tests."""
    around: set[int] = set()
    for test in tests:
        outer = int(graph.nodes.parents[test])
        around.add(int(graph.nodes.files[test]))
        while outer >= 0 and outer not in around:
            around.add(outer)
            outer = int(graph.nodes.parents[outer])
    return around


def _bodies(graph: CodeGraph, changed: NDArray[np.int64], read_text: Callable[[str], str]) -> dict[str, _Body]:
    """Return, by path, the lines that run when these definitions do.

    What stands in a type outside of its methods runs when it is defined. So do, where the language runs definitions,
    the first lines of a function: its decorators, the defaults of its parameters, all of it if it has one line.
    """
    nodes = graph.nodes
    body_by_path: dict[str, _Body] = {}
    texts: dict[str, list[str]] = {}
    given = set(changed.tolist())
    for node in sorted(given):
        if nodes.kinds[node] not in CALLABLE_KINDS or nodes.files[node] < 0:
            continue
        path = split_id(nodes.ids[node])[0]
        body = body_by_path.setdefault(path, _Body(set(), set()))
        first, last = int(nodes.start_rows[node]), int(nodes.end_rows[node])
        dialect = dialect_of(path)
        if dialect in _DEFINED_AT_LOAD:
            if path not in texts:
                texts[path] = read_text(path).splitlines()
            start = first
            first = _first_row_of_body(texts[path], first, last, is_python=dialect == "python")
            if first > last:
                body.single.add(start + 1)
        rows = set(range(first, last + 1))
        inner = np.flatnonzero((nodes.parents == node) & (nodes.kinds != NodeKind.PASSAGE))
        for each in inner.tolist():
            if nodes.kinds[each] in CALLABLE_KINDS and each not in given:
                rows -= set(range(int(nodes.start_rows[each]), int(nodes.end_rows[each]) + 1))
        body.lines.update(row + 1 for row in rows)
    return body_by_path


_IN_QUOTES = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`""")


def _first_row_of_body(lines: Sequence[str], first: int, last: int, *, is_python: bool) -> int:
    """Return the 0-based row after the decorators and parameters of a function; `last` + 1 if none is left."""
    depth, is_opened = 0, False
    for row in range(first, min(last, len(lines) - 1) + 1):
        text = _IN_QUOTES.sub("", lines[row])
        text = text.partition("#" if is_python else "//")[0].strip()
        is_decorator = not is_opened and depth == 0 and text.startswith("@")
        is_opened = is_opened or (not is_decorator and "(" in text)
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if depth > 0 or is_decorator or not text:
            continue
        is_head = re.match(r"(?:async\s+)?def\b", text) or is_opened
        if not is_python or (is_head and (text.endswith(":") or re.search(r":\s", text))):
            return row + 1
    return last + 1


class TestNodes:
    """Nodes of tests by the names that coverage data has for them."""

    def __init__(self, index: Index) -> None:
        self._graph = index.graph
        self._matcher = PathMatcher(index.manifest.paths)
        self._dotted: dict[str, int] | None = None

    def find(self, names: Collection[str]) -> dict[str, int]:
        """Return the nodes of those of the names that are tests; of an inherited test the one that is inherited.

        A name is that of pytest, whose path may begin at a folder inside of the repository, or has the module, the
        type and the function joined by dots. A name without either is that of a test if one test alone has it.
        """
        node_by_name: dict[str, int] = {}
        places = self._matcher.match(sorted({name.partition("::")[0] for name in names if "::" in name}))
        for name in names:
            path, colons, rest = name.partition("::")
            if colons:
                node = self._find_in(places[path], rest.replace("::", ".")) if path in places else -1
            else:
                node = self._by_dots().get(name, -1)
            if node >= 0:
                node_by_name[name] = node
        return node_by_name

    def _find_in(self, path: str, symbol: str) -> int:
        """Return the node of a test of a file, of an inherited one the definition that it inherits; -1 for none."""
        ids = self._graph.nodes.ids
        node = ids.position(f"{path}::{symbol}")
        holder, _, leaf = symbol.rpartition(".")
        level = [ids.position(f"{path}::{holder}")] if node < 0 and holder else []
        n_steps = 0
        while node < 0 and level and n_steps < 100:
            n_steps += 1
            owner = level.pop(0)
            if owner < 0:
                continue
            node = ids.position(f"{ids[owner]}.{leaf}")
            edges = self._graph.edges
            level += [int(edges.targets[e]) for e in self._graph.outgoing(owner) if edges.kinds[e] == EdgeKind.EXTENDS]
        return node

    def _by_dots(self) -> dict[str, int]:
        """Return the nodes of tests by the ends of their module and name joined by dots, -1 where several share one."""
        if self._dotted is None:
            nodes, self._dotted = self._graph.nodes, {}
            is_test = mark_tests(self._graph)
            for node in np.flatnonzero(nodes.roles == Role.TEST).tolist():
                path, symbol = split_id(nodes.ids[node])
                parts = [*path.rpartition(".")[0].split("/"), *(symbol or "").split(".")]
                n_ends = len(parts) if is_test[node] else len(parts) - (symbol or "").count(".") - 1
                for i in range(n_ends if symbol else 0):
                    name = ".".join(parts[i:])
                    self._dotted[name] = node if self._dotted.setdefault(name, node) == node else -1
        return self._dotted


def describe_coverage(report: CoverageReport) -> str:
    """Return a sentence on what coverage data says of a definition."""
    if report.n_tests is not None:
        what = f"{report.n_tests} tests ran it" if report.n_tests != 1 else "1 test ran it"
    elif report.n_lines:
        what = f"{report.n_ran} of {report.n_lines} lines of it ran" if report.n_ran else "no test ran it"
    else:
        lines = "1 line" if report.n_ran == 1 else f"{report.n_ran} lines"
        what = f"{lines} of it ran" if report.n_ran else "no line of it is known to have run"
    if report.is_stale:
        what += "; its code changed since, so that lines may have moved"
    elif report.n_unsure:
        what += f"; {report.n_unsure} more did not, but they or code on their way changed since"
    more = f" and {len(report.files) - 1} more" if len(report.files) > 1 else ""
    return f"coverage: {what} ({report.files[0]}{more} of {report.format}, {report.written})"
