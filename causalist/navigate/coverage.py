"""Coverage data of a repository: which tests ran a definition, or which of its lines any test ran.

In: data files that a run of the tests left in the repository, an index. Out: lines by path, with the tests that ran
them where the data says so, and the tests of a definition. Formats: coverage.py (its data file and JSON), lcov,
Istanbul, JaCoCo, Go, Cobertura. Lines are 1-based.

Data that is older than the file of a definition says where lines were. It then adds tests and removes none.
"""

import json
import os
import re
import sqlite3
import xml.parsers.expat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UnreadableCoverage
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.index import Index
from causalist.model.lookup import Affected, CoverageReport
from causalist.model.symbols import CALLABLE_KINDS, NodeKind, Role, split_id

# Where tools write their data unless they are told otherwise, the most telling first.
_PLACES = (
    ".coverage", "coverage.json", "coverage/coverage-final.json", ".nyc_output/out.json", "lcov.info",
    "coverage/lcov.info", "coverage.xml", "cobertura.xml", "coverage.cobertura.xml", "coverage/cobertura-coverage.xml",
    "target/site/jacoco/jacoco.xml", "build/reports/jacoco/test/jacocoTestReport.xml", "coverage.out", "cover.out",
    "c.out", "cover.profile", "profile.cov",
)  # fmt: skip
_MAX_BYTES = 300_000_000  # of a data file that is not a database
_SQLITE = b"SQLite format 3\0"
OBSERVED = "observed"  # in place of a rule
STALE_PROBABILITY = 0.9  # that a test runs a definition which it ran before its file changed


@dataclass(slots=True)
class Lines:
    """Lines of one file: those that ran, those that did not, and the tests that ran each, where that is known."""

    ran: set[int] = field(default_factory=set)
    missed: set[int] = field(default_factory=set)
    tests: dict[int, set[str]] = field(default_factory=dict)


@dataclass(slots=True)
class CoverageData:
    """Content of a data file; `tests` are all tests that it has runs of, empty where it does not tell them apart."""

    format: str
    files: dict[str, Lines] = field(default_factory=dict)  # by the path in the data
    tests: set[str] = field(default_factory=set)

    def lines(self, path: str) -> Lines:
        """Return the lines of a path, to be filled."""
        return self.files.setdefault(path, Lines())


def find_coverage_files(root: Path) -> list[Path]:
    """Return the data files at the usual places below `root`, the most telling first."""
    found = [root / place for place in _PLACES if (root / place).is_file()]
    with suppress(OSError):
        parallel = sorted(
            entry.name for entry in os.scandir(root) if entry.name.startswith(".coverage.") and entry.is_file()
        )
        found += [root / name for name in parallel]
    return found


def read_coverage(path: Path, is_wanted: Callable[[str], bool]) -> CoverageData:
    """Return the content of a data file, of the paths that are wanted. Raises UnreadableCoverage."""
    try:
        with path.open("rb") as file:
            start = file.read(2_000)
        if start.startswith(_SQLITE):
            return _read_database(path, is_wanted)
        if path.stat().st_size > _MAX_BYTES:
            raise UnreadableCoverage(f"{path} has more than {_MAX_BYTES:,} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableCoverage(f"{path} cannot be read: {error.strerror or error}") from error
    head = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"<"):
        return _read_xml(path, data, is_wanted)
    if head.startswith(b"{"):
        return _read_json(path, data, is_wanted)
    text = data.decode("utf-8", "replace")
    if head.startswith(b"mode:"):
        return _read_go(text, is_wanted)
    if re.search(r"^SF:", text, re.MULTILINE):
        return _read_lcov(text, is_wanted)
    raise UnreadableCoverage(
        f"{path} is no coverage data that is known: coverage.py, lcov, Istanbul, JaCoCo, Go, or Cobertura"
    )


# -- formats


def _read_database(path: Path, is_wanted: Callable[[str], bool]) -> CoverageData:
    """Return the content of a data file of coverage.py, of schema 7: <https://coverage.readthedocs.io/en/latest/dbschema.html>."""
    result = CoverageData("coverage.py")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            contexts = dict(database.execute("SELECT id, context FROM context"))
            result.tests = {name for context in contexts.values() if (name := _name_of_context(context))}
            for number, name in database.execute("SELECT id, path FROM file").fetchall():
                if not is_wanted(name):
                    continue
                lines = result.lines(name)
                of_file = "SELECT context_id, {} FROM {} WHERE file_id = ?"
                for context, bits in database.execute(of_file.format("numbits", "line_bits"), (number,)):
                    _add_lines(lines, contexts.get(context, ""), _numbers_of_bits(bits))
                # Where branches are measured there are pairs of lines; the first of a function has a negative one.
                for context, line in database.execute(of_file.format("tono", "arc"), (number,)):
                    if line > 0:
                        _add_lines(lines, contexts.get(context, ""), (line,))
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise UnreadableCoverage(f"{path} is no data file of coverage.py 5 or later: {error}") from error
    return result


def _numbers_of_bits(bits: bytes) -> Iterator[int]:
    return (8 * i + k for i, byte in enumerate(bits) for k in range(8) if byte >> k & 1)


def _add_lines(lines: Lines, context: str, numbers: Iterable[int]) -> None:
    name = _name_of_context(context)
    for line in numbers:
        lines.ran.add(line)
        if name:
            lines.tests.setdefault(line, set()).add(name)


def _name_of_context(context: str) -> str:
    """Return the test of a context, without its parameters and its phase.

    >>> _name_of_context("tests/test_a.py::TestB::test_c[x-y]|setup"), _name_of_context("a.test_b.TestC.test_d")
    ('tests/test_a.py::TestB::test_c', 'a.test_b.TestC.test_d')
    """
    return re.sub(r"\[.*", "", context.rpartition("|")[0] or context)


def _read_json(path: Path, data: bytes, is_wanted: Callable[[str], bool]) -> CoverageData:
    try:
        document = json.loads(data)
        files = document.get("files") if isinstance(document.get("meta"), dict) else None
        if isinstance(files, dict):
            return _read_coverage_py_json(files, is_wanted)
        if document and all(isinstance(each, dict) and "statementMap" in each for each in document.values()):
            return _read_istanbul(document, is_wanted)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableCoverage(f"{path} is no coverage data: {type(error).__name__} {error}") from error
    raise UnreadableCoverage(f"{path} is JSON, but neither of coverage.py nor of Istanbul")


def _read_coverage_py_json(files: Mapping[str, Any], is_wanted: Callable[[str], bool]) -> CoverageData:
    result = CoverageData("coverage.py")
    for name, each in files.items():
        result.tests.update(
            t for names in each.get("contexts", {}).values() for c in names if (t := _name_of_context(c))
        )
        if is_wanted(name):
            lines = result.lines(name)
            lines.ran.update(map(int, each["executed_lines"]))
            lines.missed.update(map(int, each["missing_lines"]))
            for line, names in each.get("contexts", {}).items():
                for context in names:
                    _add_lines(lines, context, (int(line),))
    return result


def _read_istanbul(files: Mapping[str, Any], is_wanted: Callable[[str], bool]) -> CoverageData:
    result = CoverageData("Istanbul")
    for name, each in files.items():
        if is_wanted(name):
            lines = result.lines(name)
            for number, place in each["statementMap"].items():
                (lines.ran if each["s"][number] else lines.missed).add(int(place["start"]["line"]))
            lines.missed -= lines.ran
    return result


def _read_lcov(text: str, is_wanted: Callable[[str], bool]) -> CoverageData:
    result, lines = CoverageData("lcov"), Lines()
    for row in text.splitlines():
        key, _, value = row.strip().partition(":")
        if key == "SF":
            lines = result.lines(value) if is_wanted(value) else Lines()
        elif key == "DA" and (match := re.match(r"(\d+),(-?\d+)", value)):
            (lines.ran if int(match[2]) > 0 else lines.missed).add(int(match[1]))
    for each in result.files.values():
        each.missed -= each.ran
    return result


_GO_BLOCK = re.compile(r"(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)")


def _read_go(text: str, is_wanted: Callable[[str], bool]) -> CoverageData:
    result = CoverageData("Go")
    known: dict[str, bool] = {}
    for row in text.splitlines():
        match = _GO_BLOCK.fullmatch(row.strip())
        if match is None:
            continue
        name = match[1]
        if name not in known:
            known[name] = is_wanted(name)
        if known[name]:
            lines = result.lines(name)
            (lines.ran if int(match[4]) else lines.missed).update(range(int(match[2]), int(match[3]) + 1))
    for each in result.files.values():
        each.missed -= each.ran
    return result


def _read_xml(path: Path, data: bytes, is_wanted: Callable[[str], bool]) -> CoverageData:
    """Return the content of a report of JaCoCo or Cobertura. Entities, which may expand without bound, are refused."""
    result = CoverageData("")
    around: list[str] = []  # package of JaCoCo
    current: list[Lines | None] = [None]

    def refuse(*_: object) -> None:
        raise UnreadableCoverage(f"{path} declares entities, which coverage reports do not")

    def start(name: str, given: dict[str, str]) -> None:
        if not result.format:
            if name not in ("report", "coverage"):
                raise UnreadableCoverage(f"{path} is XML, but neither of JaCoCo nor of Cobertura: <{name}>")
            result.format = "JaCoCo" if name == "report" else "Cobertura"
        elif name == "package":
            around[:] = [given.get("name", "")]
        elif name in ("sourcefile", "class") and (name == "sourcefile") == (result.format == "JaCoCo"):
            folder = f"{around[0]}/" if result.format == "JaCoCo" and around and around[0] else ""
            place = f"{folder}{given.get('name' if name == 'sourcefile' else 'filename', '')}"
            current[0] = result.lines(place) if is_wanted(place) else None
        elif name == "line" and current[0] is not None:
            number, hits = given.get("nr") or given.get("number", ""), given.get("ci") or given.get("hits", "")
            if number.isdigit() and hits.isdigit():
                (current[0].ran if int(hits) else current[0].missed).add(int(number))

    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except xml.parsers.expat.ExpatError as error:
        raise UnreadableCoverage(f"{path} is no XML: {error}") from error
    for each in result.files.values():
        each.missed -= each.ran
    return result


# -- paths


class PathMatcher:
    """Paths of coverage data, which may be those of another machine, matched with paths of the index."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def find(self, written: str) -> str:
        r"""Return the path that ends like the other, or "" if none does, or several do alike.

        >>> PathMatcher(["src/a/b.py", "src/b.py"]).find("C:\\work\\src\\a\\b.py")
        'src/a/b.py'
        """
        parts = written.replace("\\", "/").split("/")
        best, n_best, is_sole = "", 0, False
        for path in self._by_name.get(parts[-1], ()):
            own = path.split("/")
            n = 0
            while n < min(len(own), len(parts)) and own[-1 - n] == parts[-1 - n]:
                n += 1
            if n in (len(own), len(parts)) and n >= n_best:
                best, is_sole, n_best = path, n > n_best, n
        return best if is_sole else ""


# -- tests of definitions


def join_coverage(
    index: Index,
    changed: NDArray[np.int64],
    tests: Sequence[Affected],
    files: Sequence[Path],
    root: Path,
    mtimes: Mapping[str, int],
) -> tuple[tuple[Affected, ...], CoverageReport | None]:
    """Return the tests of `changed` with what the first data file that knows them says, and a report of that.

    Tests that ran one of them come first. Those that the data has and that did not are left out unless it is stale.
    Where the data does not tell tests apart they stay as they are. `mtimes` are those of indexed files, in
    nanoseconds. Raises UnreadableCoverage.
    """
    graph = index.graph
    bodies = _lines_of_bodies(graph, changed)
    matcher = PathMatcher(index.manifest.paths)
    best: tuple[Path, CoverageData, dict[str, Lines]] | None = None
    for file in files:
        data = read_coverage(file, lambda written: matcher.find(written) in bodies)
        known = {matcher.find(written): lines for written, lines in data.files.items()}
        if known and (best is None or (data.tests and not best[1].tests)):
            best = file, data, known
    if best is None:
        return tuple(tests), None
    file, data, known = best
    measured = file.stat().st_mtime_ns
    is_stale = any(mtimes.get(path, 0) > measured for path in known)
    lines = {(path, line) for path in known for line in bodies[path]}
    ran = {(path, line) for path, line in lines if line in known[path].ran}
    missed = {(path, line) for path, line in lines if line in known[path].missed}
    names = {name for path, line in lines for name in known[path].tests.get(line, ())}
    shown = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
    written = datetime.fromtimestamp(measured / 1e9).isoformat(" ", "minutes")
    if not data.tests:
        n_lines = len(ran) + len(missed) if missed else 0
        report = CoverageReport(shown, data.format, len(ran), n_lines, None, is_stale, written)
        return tuple(tests), report
    node_of = _TestNodes(graph)
    observed = {node for name in names if (node := node_of.find(name)) >= 0}
    suite = {node for name in data.tests if (node := node_of.find(name)) >= 0}
    report = CoverageReport(shown, data.format, len(ran), 0, len(observed), is_stale, written)
    return _with_observed(graph, changed, tests, observed, suite, is_stale), report


def _with_observed(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    tests: Sequence[Affected],
    observed: set[int],
    suite: set[int],
    is_stale: bool,
) -> tuple[Affected, ...]:
    ids, nodes = graph.nodes.ids, graph.nodes
    chance = STALE_PROBABILITY if is_stale else 1.0
    around_suite, around_observed = _nodes_around(graph, suite), _nodes_around(graph, observed)
    found: dict[int, Affected] = {}
    for each in tests:
        node = ids.position(each.node)
        if node in observed:
            found[node] = each._replace(probability=max(each.probability, chance))
        elif is_stale or node in around_observed or not (node in suite or node in around_suite):
            found[node] = each
    target = ids[int(changed[0])]
    for node in sorted(observed - found.keys()):
        edge = Edge(ids[node], target, EdgeKind.TESTS.label, OBSERVED, chance, int(nodes.start_rows[node]) + 1, 1)
        role, layer, tier = Role(int(nodes.roles[node])).label, graph.layer(node), graph.tier(node)
        found[node] = Affected(ids[node], 1, edge, role, "", layer, tier, "", chance)
    order = sorted(
        found, key=lambda node: (-found[node].probability, node not in observed, found[node].depth, ids[node])
    )
    return tuple(found[node] for node in order)


def _nodes_around(graph: CodeGraph, tests: Iterable[int]) -> set[int]:
    """Return the files, types and groups that hold some of these tests."""
    found: set[int] = set()
    for test in tests:
        outer = int(graph.nodes.parents[test])
        found.add(int(graph.nodes.files[test]))
        while outer >= 0 and outer not in found:
            found.add(outer)
            outer = int(graph.nodes.parents[outer])
    return found


def _lines_of_bodies(graph: CodeGraph, changed: NDArray[np.int64]) -> dict[str, set[int]]:
    """Return, by path, the lines that run when these definitions do.

    The first line of a function runs when it is defined, and so does what stands in a type outside of its methods.
    """
    nodes = graph.nodes
    found: dict[str, set[int]] = {}
    given = set(changed.tolist())
    for node in sorted(given):
        if nodes.kinds[node] not in CALLABLE_KINDS or nodes.files[node] < 0:
            continue
        first, last = int(nodes.start_rows[node]), int(nodes.end_rows[node])
        rows = set(range(first + 1, last + 1)) or {first}
        inner = np.flatnonzero((nodes.parents == node) & (nodes.kinds != NodeKind.PASSAGE))
        for each in inner.tolist():
            if nodes.kinds[each] in CALLABLE_KINDS and each not in given:
                rows -= set(range(int(nodes.start_rows[each]), int(nodes.end_rows[each]) + 1))
        path = split_id(nodes.ids[node])[0]
        found.setdefault(path, set()).update(row + 1 for row in rows)
    return found


class _TestNodes:
    """Nodes of tests by the names that coverage data has for them."""

    def __init__(self, graph: CodeGraph) -> None:
        self._graph = graph
        self._dotted: dict[str, int] | None = None

    def find(self, name: str) -> int:
        """Return the node of a test, of an inherited one the definition that it inherits; -1 if there is none."""
        path, colons, rest = name.partition("::")
        if not colons:
            return self._by_dots().get(name, -1)
        symbol = rest.replace("::", ".")
        ids = self._graph.nodes.ids
        found = ids.position(f"{path}::{symbol}")
        holder, _, leaf = symbol.rpartition(".")
        level = [ids.position(f"{path}::{holder}")] if found < 0 and holder else []
        n_steps = 0
        while found < 0 and level and n_steps < 100:
            n_steps += 1
            owner = level.pop(0)
            if owner < 0:
                continue
            found = ids.position(f"{ids[owner]}.{leaf}")
            edges = self._graph.edges
            level += [int(edges.targets[e]) for e in self._graph.outgoing(owner) if edges.kinds[e] == EdgeKind.EXTENDS]
        return found

    def _by_dots(self) -> dict[str, int]:
        """Return the nodes of tests by their module and name joined by dots, and by all ends of that."""
        if self._dotted is None:
            nodes, self._dotted = self._graph.nodes, {}
            for node in np.flatnonzero(nodes.roles == Role.TEST).tolist():
                path, symbol = split_id(nodes.ids[node])
                if symbol:
                    parts = [*path.rpartition(".")[0].split("/"), *symbol.split(".")]
                    for i in range(len(parts) - symbol.count(".") - 1):
                        self._dotted.setdefault(".".join(parts[i:]), node)
        return self._dotted


def describe_coverage(report: CoverageReport) -> str:
    """Return a sentence on what coverage data says of a definition."""
    stale = "; the code changed since, so that lines may have moved" if report.is_stale else ""
    if report.n_tests is not None:
        what = f"{report.n_tests} tests ran it" if report.n_tests != 1 else "1 test ran it"
    elif report.n_lines:
        what = f"{report.n_ran} of {report.n_lines} lines of it ran" if report.n_ran else "no test ran it"
    else:
        what = f"{report.n_ran} lines of it ran" if report.n_ran else "no line of it is known to have run"
    return f"coverage: {what} ({report.file} of {report.format}, {report.written}{stale})"
