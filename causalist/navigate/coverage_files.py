"""Data files of coverage: the lines of each file that ran, and the tests that ran them where the data says so.

Formats: coverage.py (its data file and JSON), lcov, Istanbul, JaCoCo, Go, Cobertura. Lines are 1-based. Paths are those
of the machine that ran the tests; `PathMatcher` finds those of the index.
"""

import json
import os
import re
import sqlite3
import xml.parsers.expat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from causalist.errors import UnreadableCoverage

# Where tools write their data unless they are told otherwise, the most telling first. "*" stands for any name.
_PLACES = (
    ".coverage", ".coverage.*", "coverage.json", "coverage/coverage-final.json", ".nyc_output/*.json", "lcov.info",
    "coverage/lcov.info", "coverage.lcov", "coverage.xml", "cobertura.xml", "coverage.cobertura.xml",
    "coverage/cobertura-coverage.xml",
    "target/site/jacoco/jacoco.xml", "build/reports/jacoco/test/jacocoTestReport.xml", "coverage.out", "cover.out",
    "c.out", "cover.profile", "profile.cov", "coverage.txt",
)  # fmt: skip
_STARTS = {"coverage.txt": b"mode:"}  # of names that reports for people have, too
# Files of packages, each of which may have its own data.
_PACKAGE_FILES = frozenset((
    "pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "package.json", "go.mod", "pom.xml",
    "build.gradle", "build.gradle.kts",
))  # fmt: skip
_MAX_PACKAGES = 200
_MAX_DATA_FILES = 1_000
_MAX_BYTES = 300_000_000  # of a data file that is not a database
_MAX_LINE = 10_000_000  # more lines has no source file
_SQLITE = b"SQLite format 3\0"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class Lines:
    """Lines of one file: those that ran, those that did not, and the tests that ran each, where that is known.

    `functions` has, by its first line, whether a function ran, where the data counts functions.
    """

    ran: set[int] = field(default_factory=set)
    missed: set[int] = field(default_factory=set)
    tests: dict[int, set[str]] = field(default_factory=dict)
    functions: dict[int, bool] = field(default_factory=dict)

    def update(self, other: "Lines") -> None:
        """Add what another run says of the same file: a line that ran in one of them did run."""
        self.ran |= other.ran
        self.missed = (self.missed | other.missed) - self.ran
        for line, tests in other.tests.items():
            self.tests.setdefault(line, set()).update(tests)
        for line, is_run in other.functions.items():
            self.functions[line] = is_run or self.functions.get(line, False)


@dataclass(slots=True)
class CoverageData:
    """Content of a data file.

    `files` has the lines by the path in the data, of wanted paths alone, and `paths` all paths. `contexts` are the
    names under which lines ran: those of tests, where the data tells tests apart.
    """

    format: str
    files: dict[str, Lines] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)
    contexts: set[str] = field(default_factory=set)

    def lines(self, path: str, is_wanted: Callable[[str], bool]) -> Lines:
        """Return the lines of a path, to be filled."""
        self.paths.add(path)
        return self.files.setdefault(path, Lines()) if is_wanted(path) else Lines()


def find_coverage_files(root: Path, paths: Iterable[str] = ()) -> list[Path]:
    """Return the data files at the usual places of `root` and of its packages, the most telling of each first.

    `paths` are those of the indexed files, which say where packages are.
    """
    packages = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in _PACKAGE_FILES}
    data_files: list[Path] = []
    for folder in [root, *(root / each for each in sorted(packages - {""})[:_MAX_PACKAGES])]:
        for place in _PLACES:
            with suppress(OSError):
                data_files += _at_place(folder, place)
    return data_files[:_MAX_DATA_FILES]


def _at_place(folder: Path, place: str) -> list[Path]:
    if "*" not in place:
        file = folder / place
        if not file.is_file() or place not in _STARTS:
            return [file] if file.is_file() else []
        with file.open("rb") as opened:
            return [file] if opened.read(len(_STARTS[place])) == _STARTS[place] else []
    inner, _, name = place.rpartition("/")
    start, _, end = name.partition("*")
    with os.scandir(folder / inner) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(start) and entry.name.endswith(end)]
    return [folder / inner / each for each in sorted(names) if (folder / inner / each).is_file()]


def read_coverage(path: Path, is_wanted: Callable[[str], bool]) -> CoverageData:
    """Return the content of a data file, with lines of the paths that are wanted. Raises UnreadableCoverage."""
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
    text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig", "replace")
    head = text[:2_000].lstrip()
    if head.startswith("<"):
        return _read_xml(path, data, is_wanted)
    if head.startswith("{"):
        return _read_json(path, text, is_wanted)
    if head.startswith("mode:"):
        return _read_go(path, text, is_wanted)
    if re.search(r"^SF:", text, re.MULTILINE):
        return _read_lcov(path, text, is_wanted)
    raise UnreadableCoverage(
        f"{path} is not coverage data of a known format: coverage.py, lcov, Istanbul, JaCoCo, Go, or Cobertura"
    )


# -- formats


def _read_database(path: Path, is_wanted: Callable[[str], bool]) -> CoverageData:
    """Return the content of a data file of coverage.py, of schema 7: <https://coverage.readthedocs.io/en/latest/dbschema.html>."""
    result = CoverageData("coverage.py")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            contexts = dict(database.execute("SELECT id, context FROM context"))
            result.contexts = {name for context in contexts.values() if (name := name_test(context))}
            for number, name in database.execute("SELECT id, path FROM file").fetchall():
                lines = result.lines(name, is_wanted)
                if name not in result.files:
                    continue
                of_file = "SELECT context_id, {} FROM {} WHERE file_id = ?"
                for context, bits in database.execute(of_file.format("numbits", "line_bits"), (number,)):
                    _add_lines(lines, contexts.get(context, ""), _numbers_of_bits(bits))
                # Where branches are measured there are pairs of lines; the first of a function has a negative one.
                for context, line in database.execute(of_file.format("tono", "arc"), (number,)):
                    if line > 0:
                        _add_lines(lines, contexts.get(context, ""), (line,))
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise UnreadableCoverage(f"{path} is not a data file of coverage.py 5 or later: {error}") from error
    return result


def _numbers_of_bits(bits: bytes) -> Iterator[int]:
    return (8 * i + k for i, byte in enumerate(bits) for k in range(8) if byte >> k & 1)


def _add_lines(lines: Lines, context: str, numbers: Iterable[int]) -> None:
    name = name_test(context)
    for line in numbers:
        lines.ran.add(line)
        if name:
            lines.tests.setdefault(line, set()).add(name)


def name_test(context: str) -> str:
    """Return the name of the test in a context, without a static context, its parameters and its phase.

    >>> name_test("nightly|tests/test_a.py::TestB::test_c[x|y]|setup"), name_test("a.test_b.TestC.test_d")
    ('tests/test_a.py::TestB::test_c', 'a.test_b.TestC.test_d')
    """
    return re.sub(r"\|(?:run|setup|teardown)$", "", context).partition("[")[0].rpartition("|")[2]


def _line(number: Any) -> int:
    """Return a number of a line. Raises ValueError if it is none."""
    line = int(number) if not isinstance(number, str) or re.fullmatch(r"[0-9]{1,9}", number) else 0
    if not 0 < line <= _MAX_LINE:
        raise ValueError(f"{str(number)[:40]!r} is not a line number")
    return line


def _read_json(path: Path, text: str, is_wanted: Callable[[str], bool]) -> CoverageData:
    try:
        document = json.loads(text)
        files = document.get("files") if isinstance(document.get("meta"), dict) else None
        if isinstance(files, dict):
            return _read_coverage_py_json(files, is_wanted)
        if document and all(isinstance(each, dict) and "statementMap" in each for each in document.values()):
            return _read_istanbul(document, is_wanted)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise UnreadableCoverage(f"{path} is not coverage data: {type(error).__name__} {error}") from error
    raise UnreadableCoverage(f"{path} is JSON, but neither of coverage.py nor of Istanbul")


def _read_coverage_py_json(files: Mapping[str, Any], is_wanted: Callable[[str], bool]) -> CoverageData:
    result = CoverageData("coverage.py")
    for name, file in files.items():
        lines, contexts = result.lines(name, is_wanted), file.get("contexts", {})
        result.contexts.update(test for names in contexts.values() for one in names if (test := name_test(one)))
        if name in result.files:
            lines.ran.update(map(_line, file["executed_lines"]))
            lines.missed.update(map(_line, file["missing_lines"]))
            for line, names in contexts.items():
                for context in names:
                    _add_lines(lines, context, (_line(line),))
    return result


def _read_istanbul(files: Mapping[str, Any], is_wanted: Callable[[str], bool]) -> CoverageData:
    result = CoverageData("Istanbul")
    for name, file in files.items():
        lines = result.lines(name, is_wanted)
        if name in result.files:
            for number, place in file["statementMap"].items():
                (lines.ran if file["s"][number] else lines.missed).add(_line(place["start"]["line"]))
            for number, function in file.get("fnMap", {}).items():
                line = _line((function.get("decl") or function["loc"])["start"]["line"])
                lines.functions[line] = bool(file["f"][number]) or lines.functions.get(line, False)
            lines.missed -= lines.ran
    return result


def _read_lcov(path: Path, text: str, is_wanted: Callable[[str], bool]) -> CoverageData:
    """Return the content of a trace file of lcov: <https://manpages.debian.org/geninfo.1>, with names of tests (TN)."""
    result, lines, test = CoverageData("lcov"), Lines(), ""
    starts: dict[str, int] = {}  # of functions, by name
    for number, row in enumerate(text.splitlines(), start=1):
        key, _, value = row.strip().partition(":")
        try:
            if key == "TN":
                test = value.strip()
                result.contexts.update({test} - {""})
            elif key == "SF":
                lines, starts = result.lines(value, is_wanted), {}
            elif key == "DA":
                line, hits = (*value.split(","), "")[:2]
                if hits.strip().lstrip("-").isdecimal() and not hits.startswith("-") and int(hits[:20]) > 0:
                    _add_lines(lines, test, (_line(line),))
                elif re.fullmatch(r"-?[0-9]+|=+|#+|-", hits.strip()):
                    lines.missed.add(_line(line))
                else:
                    raise ValueError(f"{hits[:40]!r} is not a count")
            elif key in ("FN", "FNL"):
                fields = value.split(",")
                starts[fields[0] if key == "FNL" else fields[-1]] = _line(fields[1 if key == "FNL" else 0])
            elif key in ("FNDA", "FNA"):
                fields = value.split(",")
                place = starts.get(fields[0] if key == "FNA" else ",".join(fields[1:]))
                if place is not None:
                    is_run = int(fields[1 if key == "FNA" else 0]) > 0
                    lines.functions[place] = is_run or lines.functions.get(place, False)
        except (ValueError, IndexError) as error:
            raise UnreadableCoverage(f"{path} is damaged at line {number}: {error}") from error
    for each in result.files.values():
        each.missed -= each.ran
    return result


_GO_BLOCK = re.compile(r"(.+):([0-9]{1,9})\.[0-9]+,([0-9]{1,9})\.[0-9]+ [0-9]+ ([0-9]+)")


def _read_go(path: Path, text: str, is_wanted: Callable[[str], bool]) -> CoverageData:
    result = CoverageData("Go")
    for number, row in enumerate(text.splitlines(), start=1):
        if not row.strip() or row.startswith("mode:"):  # which stands within joined profiles again
            continue
        match = _GO_BLOCK.fullmatch(row.strip())
        if match is None or not 0 < int(match[2]) <= int(match[3]) <= _MAX_LINE:
            raise UnreadableCoverage(f"{path} is damaged at line {number}: {row[:80]!r} is not a block of a Go profile")
        lines = result.lines(match[1], is_wanted)
        if match[1] in result.files:
            (lines.ran if match[4].strip("0") else lines.missed).update(range(int(match[2]), int(match[3]) + 1))
    for each in result.files.values():
        each.missed -= each.ran
    return result


def _read_xml(path: Path, data: bytes, is_wanted: Callable[[str], bool]) -> CoverageData:
    """Return the content of a report of JaCoCo or Cobertura. Entities, which may expand without bound, are refused.

    The paths of Cobertura are below one of its sources: with one source they are joined to it.
    """
    result = CoverageData("")
    sources: list[str] = []
    around = {"package": "", "text": ""}
    current: list[Lines] = [Lines()]

    def refuse(*_: object) -> None:
        raise UnreadableCoverage(f"{path} declares entities, which coverage reports do not")

    def start(name: str, given: dict[str, str]) -> None:
        around["text"] = ""
        if not result.format:
            if name not in ("report", "coverage"):
                raise UnreadableCoverage(f"{path} is XML, but neither of JaCoCo nor of Cobertura: <{name}>")
            result.format = "JaCoCo" if name == "report" else "Cobertura"
        elif name == "package":
            around["package"] = given.get("name", "")
        elif result.format == "JaCoCo" and name == "sourcefile":
            current[0] = result.lines(f"{around['package']}/{given.get('name', '')}".lstrip("/"), is_wanted)
        elif result.format == "Cobertura" and name == "class":
            written = given.get("filename", "")
            is_joined = len(sources) == 1 and not re.match(r"[/\\]|[A-Za-z]:", written)
            current[0] = result.lines(f"{sources[0].rstrip('/')}/{written}" if is_joined else written, is_wanted)
        elif name == "line":
            number, hits = given.get("nr") or given.get("number", ""), given.get("ci") or given.get("hits", "")
            if not re.fullmatch("[0-9]+", hits):
                raise UnreadableCoverage(f"{path} is damaged: {hits[:40]!r} is not a count of line {number[:40]!r}")
            (current[0].ran if hits.strip("0") else current[0].missed).add(_line(number))

    def end(name: str) -> None:
        if name == "source" and around["text"].strip() not in ("", "."):
            sources.append(around["text"].strip())

    def add_text(text: str) -> None:
        around["text"] += text

    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = add_text, refuse
    try:
        parser.Parse(data, True)
    except xml.parsers.expat.ExpatError as error:
        raise UnreadableCoverage(f"{path} is not XML: {error}") from error
    except ValueError as error:
        raise UnreadableCoverage(f"{path} is damaged: {error}") from error
    for each in result.files.values():
        each.missed -= each.ran
    return result


# -- paths

_OF_LIBRARIES = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|\.venv|venv|\.tox|\.nox)/|^/usr/(?:local/)?lib"
)


class PathMatcher:
    """Paths of coverage data, which may be those of another machine, matched with paths of the index."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def match(self, written: Iterable[str]) -> dict[str, str]:
        r"""Return the path of the index, by the path in the data, of those that have one.

        It is the path that ends like the other, one of them whole. Where several end alike, it is the one that lies
        where most of the other files lie. A file at the root of the index lies at the root of the data, too.

        >>> PathMatcher(["src/a/b.py", "src/b.py"]).match(["C:\\work\\src\\a\\b.py"])
        {'C:\\work\\src\\a\\b.py': 'src/a/b.py'}
        """
        choices = {each: self._ending_alike(each) for each in written}
        votes: Counter[tuple[str, str]] = Counter()
        roots: Counter[str] = Counter()
        for each, paths in choices.items():
            if len(paths) == 1:
                votes[_roots(each, paths[0])] += 1
            for path in paths:
                roots[_roots(each, path)[0]] += 1 + 2 * path.count("/")
        path_by_name: dict[str, str] = {}
        for name, paths in choices.items():
            placed = [path for path in paths if _is_placed(_roots(name, path), path, roots)]
            most = max((votes[_roots(name, path)] for path in placed), default=0)
            best = [path for path in placed if votes[_roots(name, path)] == most]
            if len(best) > 1 and plain_path(name) in best:
                best = [plain_path(name)]
            if len(best) == 1:
                path_by_name[name] = best[0]
        return path_by_name

    def _ending_alike(self, written: str) -> list[str]:
        """Return the paths that share the longest end with `written`, where it is all of the one or the other."""
        parts = plain_path(written).split("/")
        best: list[str] = []
        n_best = 0
        for path in self._by_name.get(parts[-1], ()):
            own = path.split("/")
            n = 0
            while n < min(len(own), len(parts)) and own[-1 - n] == parts[-1 - n]:
                n += 1
            if n in (len(own), len(parts)) and n >= n_best:
                best = [*best, path] if n == n_best else [path]
                n_best = n
        return best


def plain_path(written: str) -> str:
    """Return a path of coverage data with slashes, and without `./`."""
    return written.replace("\\", "/").removeprefix("./")


def _roots(written: str, path: str) -> tuple[str, str]:
    """Return what stands before the common end of both paths."""
    own = plain_path(written)
    if len(own) >= len(path):
        return own[: len(own) - len(path)], ""
    return "", path[: len(path) - len(own)]


def _is_placed(roots: tuple[str, str], path: str, n_by_root: Mapping[str, int]) -> bool:
    """Return False for a file at the root of the index where the other one lies in a folder that is not the root."""
    root = roots[0]
    if "/" in path or not root or roots[1]:
        return True
    others = [each for each in n_by_root if each and not _OF_LIBRARIES.search(each)]
    return bool(others) and root == min(others, key=lambda each: (-n_by_root[each], each))
