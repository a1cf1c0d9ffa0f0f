"""Coverage data: what each format says, in the shape that its tool writes, and the tests that follow from it."""

import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from causalist.errors import UnreadableCoverage
from causalist.navigate.coverage import PathMatcher, find_coverage_files, read_coverage
from causalist.pipeline.repository import Repository
from causalist.servers.mcp.more_tools import MORE_TOOLS
from tests.cli.commands import invoke, write_all

SHOP = """\
def total(items):
    if not items:
        return 0
    return sum(items)


def unused():
    return 1
"""
TESTS = """\
from shop import total


def test_total():
    assert total([1, 2]) == 3


def test_nothing():
    assert total([]) == 0


def test_other():
    assert 1


class TestMore:
    def test_by_name(self):
        assert run("total", [3])
"""
LCOV = "TN:\nSF:/ci/build/shop.py\nFN:1,total\nFNDA:2,total\nDA:1,1\nDA:2,2\nDA:3,0\nDA:4,2\nDA:8,0\nend_of_record\n"
ISTANBUL = {
    "/ci/build/shop.js": {
        "path": "/ci/build/shop.js",
        "statementMap": {
            "0": {"start": {"line": 2, "column": 2}, "end": {"line": 2, "column": 20}},
            "1": {"start": {"line": 3, "column": 4}, "end": {"line": 3, "column": 13}},
        },
        "fnMap": {},
        "branchMap": {},
        "s": {"0": 4, "1": 0},
        "f": {},
        "b": {},
    }
}
JACOCO = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">
<report name="shop"><package name="org/shop"><class name="org/shop/Cart" sourcefilename="Cart.java">
<method name="total" desc="()I" line="4"><counter type="LINE" missed="1" covered="1"/></method></class>
<sourcefile name="Cart.java"><line nr="4" mi="0" ci="3" mb="0" cb="0"/><line nr="5" mi="2" ci="0" mb="0" cb="0"/>
</sourcefile></package></report>"""
COBERTURA = """<?xml version="1.0" ?>
<coverage version="7.6" line-rate="0.5"><sources><source>/ci/build</source></sources><packages><package name=".">
<classes><class name="shop.py" filename="shop.py" line-rate="0.5"><methods/>
<lines><line number="2" hits="1"/><line number="3" hits="0"/></lines></class></classes></package></packages>
</coverage>"""
GO = "mode: set\nexample.org/shop/pkg/a.go:3.24,4.12 1 1\nexample.org/shop/pkg/a.go:4.12,6.3 1 0\n"
COVERAGE_JSON = {
    "meta": {"format": 3, "show_contexts": True},
    "files": {
        "shop.py": {
            "executed_lines": [1, 2, 4],
            "missing_lines": [3, 8],
            "contexts": {"1": [""], "2": ["test_shop.py::test_total|run"], "4": ["test_shop.py::test_total|run"]},
        }
    },
}


def everything(_: str) -> bool:
    return True


def write_database(path: Path, runs: Mapping[str, Mapping[str, list[int]]]) -> None:
    """A data file as coverage.py writes it: lines by file and context, as bits."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT)")
        database.execute("CREATE TABLE context (id INTEGER PRIMARY KEY, context TEXT)")
        database.execute("CREATE TABLE line_bits (file_id INTEGER, context_id INTEGER, numbits BLOB)")
        database.execute("CREATE TABLE arc (file_id INTEGER, context_id INTEGER, fromno INTEGER, tono INTEGER)")
        contexts = sorted({context for of_file in runs.values() for context in of_file})
        for number, context in enumerate(contexts, start=1):
            database.execute("INSERT INTO context VALUES (?, ?)", (number, context))
        for file, (name, of_file) in enumerate(runs.items(), start=1):
            database.execute("INSERT INTO file VALUES (?, ?)", (file, name))
            for context, lines in of_file.items():
                bits = bytearray(max(lines) // 8 + 1)
                for line in lines:
                    bits[line // 8] |= 1 << line % 8
                row = file, contexts.index(context) + 1, bytes(bits)
                database.execute("INSERT INTO line_bits VALUES (?, ?, ?)", row)


RUNS = {
    "/elsewhere/project/shop.py": {
        "": [1, 7],
        "test_shop.py::test_total|run": [2, 4],
        "test_shop.py::TestMore::test_by_name[3-x]|run": [2, 4],
        "test_shop.py::test_nothing|setup": [2, 3],
    },
    "/elsewhere/project/test_shop.py": {"test_shop.py::test_other|run": [13]},
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write_all(tmp_path, {"shop.py": SHOP, "test_shop.py": TESTS})
    for path in tmp_path.iterdir():
        os.utime(path, ns=(10**18, 10**18))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "data", "kind", "path", "ran", "missed"),
    [
        ("lcov.info", LCOV, "lcov", "/ci/build/shop.py", {1, 2, 4}, {3, 8}),
        ("c.json", json.dumps(ISTANBUL), "Istanbul", "/ci/build/shop.js", {2}, {3}),
        ("j.xml", JACOCO, "JaCoCo", "org/shop/Cart.java", {4}, {5}),
        ("c.xml", COBERTURA, "Cobertura", "shop.py", {2}, {3}),
        ("cover.out", GO, "Go", "example.org/shop/pkg/a.go", {3, 4}, {5, 6}),
        ("d.json", json.dumps(COVERAGE_JSON), "coverage.py", "shop.py", {1, 2, 4}, {3, 8}),
    ],
)
def test_lines_of_each_format(
    tmp_path: Path, name: str, data: str, kind: str, path: str, ran: set[int], missed: set[int]
) -> None:
    (tmp_path / name).write_text(data)
    found = read_coverage(tmp_path / name, everything)
    assert (found.format, list(found.files)) == (kind, [path])
    assert (found.files[path].ran, found.files[path].missed) == (ran, missed)
    assert read_coverage(tmp_path / name, lambda _: False).files == {}


def test_contexts_are_tests(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps(COVERAGE_JSON))
    assert read_coverage(tmp_path / "c.json", everything).tests == {"test_shop.py::test_total"}
    write_database(tmp_path / ".coverage", RUNS)
    found = read_coverage(tmp_path / ".coverage", lambda path: path.endswith("/shop.py"))
    assert found.tests == {
        "test_shop.py::test_total", "test_shop.py::TestMore::test_by_name", "test_shop.py::test_nothing",
        "test_shop.py::test_other",
    }  # fmt: skip
    lines = found.files["/elsewhere/project/shop.py"]
    assert lines.ran == {1, 2, 3, 4, 7} and lines.tests[3] == {"test_shop.py::test_nothing"} and 1 not in lines.tests


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no coverage data that is known"),
        (b"SQLite format 3\0" + b"x" * 200, "no data file of coverage.py"),
        (b'{"a": 1}', "neither of coverage.py nor of Istanbul"),
        (b'{"meta": {}, "files": {"a.py": {}}}', "KeyError 'executed_lines'"),
        (b'{"a": [', "no coverage data"),
        (b"<html></html>", "neither of JaCoCo nor of Cobertura"),
        (b"<report><package", "no XML"),
        (b'<!DOCTYPE report [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><report>&b;</report>', "declares entities"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "data").write_bytes(data)
    with pytest.raises(UnreadableCoverage, match=said.replace(".", r"\.")):
        read_coverage(tmp_path / "data", everything)


def test_a_path_of_another_machine_is_the_one_that_ends_alike() -> None:
    matcher = PathMatcher(["src/a/b.py", "src/b.py", "lib/x.go", "web/x.go"])
    assert matcher.find("/ci/src/b.py") == "src/b.py"
    assert matcher.find("C:\\ci\\src\\a\\b.py") == "src/a/b.py"
    assert matcher.find("a/b.py") == "src/a/b.py"
    assert matcher.find("x.go") == "" and matcher.find("other/b.py") == "" and matcher.find("none.py") == ""


def test_tests_that_ran_it_come_first_and_others_of_the_run_go(shop: Path) -> None:
    assert [each.node for each in Repository.open(shop, exact_root=True).tests("total")][:2] == [
        "test_shop.py::test_total", "test_shop.py::test_nothing",
    ]  # fmt: skip
    write_database(shop / ".coverage", RUNS)
    choice = Repository.open(shop, exact_root=True).choose_tests("total")
    assert [(each.node, each.probability) for each in choice.tests if "::" in each.node] == [
        ("test_shop.py::TestMore.test_by_name", 1.0),  # no edge leads there
        ("test_shop.py::test_nothing", 1.0),
        ("test_shop.py::test_total", 1.0),
    ]
    assert choice.tests[0].edge.rule == "observed"
    report = choice.coverage
    assert report is not None and not report.is_stale
    assert (report.file, report.format, report.n_tests) == (".coverage", "coverage.py", 3)


def test_data_from_before_a_change_adds_tests_and_removes_none(shop: Path) -> None:
    write_database(shop / ".coverage", {"shop.py": {"test_shop.py::TestMore::test_by_name|run": [2], "x|run": [9]}})
    os.utime(shop / ".coverage", ns=(10**17, 10**17))
    choice = Repository.open(shop, exact_root=True).choose_tests("total")
    assert choice.coverage is not None and choice.coverage.is_stale
    chances = {each.node: each.probability for each in choice.tests}
    assert chances["test_shop.py::TestMore.test_by_name"] == 0.9 and "test_shop.py::test_total" in chances


def test_without_tests_lines_are_counted(shop: Path) -> None:
    write_all(shop, {"lcov.info": LCOV})
    done = invoke("tests", "total", "--repo", str(shop))
    assert done.stdout.splitlines()[0].startswith("coverage: 2 of 3 lines of it ran (lcov.info of lcov, ")
    assert "test_shop.py::test_total" in done.stdout
    assert "coverage: no test ran it" in invoke("tests", "unused", "--repo", str(shop)).stdout
    assert "coverage" not in invoke("tests", "total", "--repo", str(shop), "--no-coverage").stdout
    said = json.loads(invoke("tests", "total", "--repo", str(shop), "--json").stdout)["coverage"]
    assert (said["file"], said["n_ran"], said["n_lines"], said["n_tests"]) == ("lcov.info", 2, 3, None)
    tool = MORE_TOOLS["tests"]
    reply = tool.answer(Repository.open(shop, exact_root=True), tool.read({"name": "total"}))
    assert "coverage: 2 of 3 lines of it ran" in getattr(reply, "text", reply)


def test_bad_data_is_an_error_if_it_is_named_and_a_note_if_not(shop: Path) -> None:
    write_all(shop, {"coverage.xml": "<html/>"})
    done = invoke("tests", "total", "--repo", str(shop))
    assert done.code == 0 and "coverage.xml is XML, but neither of JaCoCo nor of Cobertura" in done.stderr
    named = invoke("tests", "total", "--repo", str(shop), "--coverage", str(shop / "coverage.xml"))
    named.failed("unreadable-coverage")
    invoke("tests", "total", "--repo", str(shop), "--coverage", str(shop / "none")).failed("unreadable-coverage")


def test_files_at_the_usual_places(tmp_path: Path) -> None:
    assert find_coverage_files(tmp_path) == []
    write_all(tmp_path, {"lcov.info": "", "coverage/coverage-final.json": "", ".coverage.host.1": "", "other.xml": ""})
    names = [path.relative_to(tmp_path).as_posix() for path in find_coverage_files(tmp_path)]
    assert names == ["coverage/coverage-final.json", "lcov.info", ".coverage.host.1"]
