"""Coverage data: what each format says, in the shape that its tool writes, and the tests that follow from it."""

import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from causalist.errors import UnreadableCoverage
from causalist.navigate.coverage import describe_coverage
from causalist.navigate.coverage_files import PathMatcher, find_coverage_files, name_test, read_coverage
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
        assert run("to" + "tal", [3])
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
        ("c.xml", COBERTURA, "Cobertura", "/ci/build/shop.py", {2}, {3}),
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
    assert read_coverage(tmp_path / "c.json", everything).contexts == {"test_shop.py::test_total"}
    write_database(tmp_path / ".coverage", RUNS)
    found = read_coverage(tmp_path / ".coverage", lambda path: path.endswith("/shop.py"))
    assert found.contexts == {
        "test_shop.py::test_total", "test_shop.py::TestMore::test_by_name", "test_shop.py::test_nothing",
        "test_shop.py::test_other",
    }  # fmt: skip
    lines = found.files["/elsewhere/project/shop.py"]
    assert lines.ran == {1, 2, 3, 4, 7} and lines.tests[3] == {"test_shop.py::test_nothing"} and 1 not in lines.tests


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not coverage data of a known format"),
        (b"SQLite format 3\0" + b"x" * 200, "not a data file of coverage.py"),
        (b'{"a": 1}', "neither of coverage.py nor of Istanbul"),
        (b'{"meta": {}, "files": {"a.py": {}}}', "KeyError 'executed_lines'"),
        (b'{"a": [', "not coverage data"),
        (b"<html></html>", "neither of JaCoCo nor of Cobertura"),
        (b"<report><package", "not XML"),
        (b"<report><line nr='x' ci='1'/></report>", "'x' is not a line number"),
        ("<report><line nr='4' ci='\u00b2'/></report>".encode(), "is not a count of line '4'"),
        (b"mode: set\na.go:3.24,4.12 1 1\na.go:4.12,6", "damaged at line 3"),
        (b"mode: set\na.go:3.24,999999999.1 1 1\n", "damaged at line 2"),
        (b"SF:a.py\nDA:1\n", "damaged at line 2: '' is not a count"),
        ("SF:a.py\nDA:\u00b2,1\n".encode(), "damaged at line 2: '\u00b2' is not a line number"),
        (b'<!DOCTYPE report [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><report>&b;</report>', "declares entities"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "data").write_bytes(data)
    with pytest.raises(UnreadableCoverage, match=said.replace(".", r"\.")):
        read_coverage(tmp_path / "data", everything)


def test_a_path_of_another_machine_is_the_one_that_ends_alike() -> None:
    matcher = PathMatcher(["src/a/b.py", "src/b.py", "lib/x.go", "web/x.go"])
    assert matcher.match(["/ci/src/b.py", "C:\\ci\\src\\a\\b.py", "a/b.py"]) == {
        "/ci/src/b.py": "src/b.py", "C:\\ci\\src\\a\\b.py": "src/a/b.py", "a/b.py": "src/a/b.py",
    }  # fmt: skip
    assert matcher.match(["x.go", "other/b.py", "none.py"]) == {}


def test_paths_that_end_alike_lie_where_the_others_lie() -> None:
    matcher = PathMatcher(["a/tests/test_x.py", "b/tests/test_x.py", "b/tests/test_y.py", "web/x.go", "x.go"])
    assert matcher.match(["tests/test_x.py", "tests/test_y.py"]) == {
        "tests/test_x.py": "b/tests/test_x.py", "tests/test_y.py": "b/tests/test_y.py",
    }  # fmt: skip
    assert matcher.match(["tests/test_x.py"]) == {}
    assert matcher.match(["x.go", "./web/x.go"]) == {"x.go": "x.go", "./web/x.go": "web/x.go"}


def test_a_library_is_no_file_at_the_root() -> None:
    matcher = PathMatcher(["util.py", "shop.py", "src/a.py"])
    assert matcher.match(["/usr/lib/python3/util.py"]) == {}
    assert matcher.match(["/v/lib/python3.12/site-packages/util.py", "/ci/shop.py"]) == {"/ci/shop.py": "shop.py"}
    assert matcher.match(["/x/util.py", "/ci/src/a.py", "/ci/shop.py"]) == {
        "/ci/src/a.py": "src/a.py", "/ci/shop.py": "shop.py",
    }  # fmt: skip
    assert matcher.match(["/usr/src/app/util.py"]) == {"/usr/src/app/util.py": "util.py"}


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
    assert (report.files, report.format, report.n_tests) == ((".coverage",), "coverage.py", 3)


def test_data_from_before_a_change_adds_tests_and_removes_none(shop: Path) -> None:
    write_database(shop / ".coverage", {"shop.py": {"test_shop.py::TestMore::test_by_name|run": [2], "x|run": [9]}})
    os.utime(shop / ".coverage", ns=(10**17, 10**17))
    choice = Repository.open(shop, exact_root=True).choose_tests("total")
    assert choice.coverage is not None and choice.coverage.is_stale
    chances = {each.node: each.probability for each in choice.tests}
    assert chances["test_shop.py::TestMore.test_by_name"] == 0.7 and "test_shop.py::test_total" in chances


def test_without_tests_lines_are_counted(shop: Path) -> None:
    write_all(shop, {"lcov.info": LCOV})
    done = invoke("tests", "total", "--repo", str(shop))
    assert done.stdout.splitlines()[0].startswith("coverage: 2 of 3 lines of it ran (lcov.info of lcov, ")
    assert "test_shop.py::test_total" in done.stdout
    assert "coverage: no test ran it" in invoke("tests", "unused", "--repo", str(shop)).stdout
    assert "coverage" not in invoke("tests", "total", "--repo", str(shop), "--no-coverage").stdout
    said = json.loads(invoke("tests", "total", "--repo", str(shop), "--json").stdout)["coverage"]
    assert (said["files"], said["n_ran"], said["n_lines"], said["n_tests"]) == (["lcov.info"], 2, 3, None)
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
    assert names == [".coverage.host.1", "coverage/coverage-final.json", "lcov.info"]
    write_all(tmp_path, {"go/go.mod": "", "go/coverage.txt": "mode: set\n", "coverage.txt": "TOTAL 90%\n"})
    write_all(tmp_path, {"go/coverage.lcov": ""})  # where coverage.py writes it
    found = find_coverage_files(tmp_path, ["go/go.mod"])
    assert [path.name for path in found if path.parent.name == "go"] == ["coverage.lcov", "coverage.txt"]
    assert tmp_path / "coverage.txt" not in found


def chances(repository: Repository, name: str) -> dict[str, float]:
    return {each.node: each.probability for each in repository.choose_tests(name).tests if "::" in each.node}


def test_contexts_without_their_surroundings() -> None:
    assert name_test("") == "" and name_test("nightly") == "nightly"
    assert name_test("nightly|t.py::T::test_a|setup") == "t.py::T::test_a"
    assert name_test("t.py::test_a[x|y]|run") == name_test("t.py::test_a[x|y]") == "t.py::test_a"


def test_a_static_context_is_no_test(shop: Path) -> None:
    write_database(shop / ".coverage", {"shop.py": {"nightly": [2, 4]}})
    choice = Repository.open(shop, exact_root=True).choose_tests("total")
    assert choice.coverage is not None and choice.coverage.n_tests is None and choice.coverage.n_ran == 2
    assert "test_shop.py::test_nothing" in [each.node for each in choice.tests]
    write_database(shop / ".coverage.1", {"shop.py": {"nightly|test_shop.py::test_total|run": [2, 4], "nightly": [1]}})
    choice = Repository.open(shop, exact_root=True).choose_tests("total")
    assert choice.coverage is not None and choice.coverage.n_tests == 1
    found = chances(Repository.open(shop, exact_root=True), "total")
    assert found["test_shop.py::test_total"] == 1.0
    assert 0.5 < found["test_shop.py::test_nothing"] < 1.0  # the data has no run of it


def test_data_files_of_one_run_count_together_and_bad_ones_not(shop: Path) -> None:
    write_database(shop / ".coverage.a", {"shop.py": {"test_shop.py::test_total|run": [2, 4]}})
    write_database(shop / ".coverage.b", {"shop.py": {"test_shop.py::test_nothing|run": [2, 3], "x": [1]}})
    write_database(
        shop / ".coverage.c", {"/x/test_shop.py": {"test_shop.py::test_other|run": [13]}, "shop.py": {"": [1]}}
    )
    write_all(shop, {".coverage.d": "damaged"})
    choice = Repository.open(shop, exact_root=True).choose_tests("total")
    assert [each.node for each in choice.tests] == ["test_shop.py::test_nothing", "test_shop.py::test_total"]
    assert choice.coverage is not None and choice.coverage.n_tests == 2
    assert choice.coverage.files == (".coverage.a", ".coverage.b", ".coverage.c")
    assert len(choice.problems) == 1 and ".coverage.d is not coverage data of a known format" in choice.problems[0]
    tool = MORE_TOOLS["tests"]
    reply = tool.answer(Repository.open(shop, exact_root=True), tool.read({"name": "total"}))
    text = getattr(reply, "text", reply)
    assert ".coverage.d is not coverage data" in text and "(.coverage.a and 2 more of coverage.py" in text


def test_a_test_that_changed_after_the_data_stays(shop: Path) -> None:
    write_database(shop / ".coverage", {"shop.py": {"test_shop.py::test_total|run": [2, 4], "": [1]},
                                        "test_shop.py": {"test_shop.py::test_nothing|run": [9]}})  # fmt: skip
    os.utime(shop / ".coverage", ns=(10**18 + 5, 10**18 + 5))
    assert list(chances(Repository.open(shop, exact_root=True), "total")) == ["test_shop.py::test_total"]
    os.utime(shop / "test_shop.py", ns=(10**18 + 9, 10**18 + 9))
    repository = Repository.open(shop, exact_root=True)
    assert list(chances(repository, "total")) == ["test_shop.py::test_total", "test_shop.py::test_nothing"]
    report = repository.choose_tests("total").coverage
    assert report is not None and not report.is_stale and (report.n_tests, report.n_unsure) == (1, 1)
    assert "1 test ran it; 1 more did not, but they or code on their way changed since" in describe_coverage(report)


def test_a_test_whose_way_changed_after_the_data_stays(tmp_path: Path) -> None:
    write_all(tmp_path, {
        "low.py": "def low():\n    x = 1\n    return x\n",
        "middle.py": "from low import low\n\n\ndef middle():\n    return low()\n",
        "test_a.py": "from middle import middle\n\n\ndef test_a():\n    middle()\n",
        "test_b.py": "from low import low\n\n\ndef test_b():\n    if unset:\n        low()\n",
    })  # fmt: skip
    for path in tmp_path.iterdir():
        os.utime(path, ns=(10**18, 10**18))
    runs = {"low.py": {"": [1]}, "test_a.py": {"test_a.py::test_a": [5]}, "test_b.py": {"test_b.py::test_b": [5]}}
    write_database(tmp_path / ".coverage", runs)
    os.utime(tmp_path / ".coverage", ns=(10**18 + 5, 10**18 + 5))
    assert chances(Repository.open(tmp_path, exact_root=True), "low") == {}
    os.utime(tmp_path / "middle.py", ns=(10**18 + 9, 10**18 + 9))
    assert list(chances(Repository.open(tmp_path, exact_root=True), "low")) == ["test_a.py::test_a"]


def test_a_run_in_a_folder_of_the_repository(tmp_path: Path) -> None:
    write_all(tmp_path, {
        "backend/pyproject.toml": "", "backend/shop.py": SHOP, "backend/tests/test_shop.py": TESTS,
        "other/tests/test_shop.py": "def test_total():\n    pass\n", "backend/tests/test_more.py": "x = 1\n",
    })  # fmt: skip
    write_database(tmp_path / "backend/.coverage", {
        "/ci/backend/shop.py": {"tests/test_shop.py::test_total|run": [2, 4]},
        "/ci/backend/tests/test_shop.py": {"tests/test_more.py::test_more|run": [1]},
    })  # fmt: skip
    choice = Repository.open(tmp_path, exact_root=True).choose_tests("total")
    assert choice.coverage is not None
    assert (choice.coverage.files, choice.coverage.n_tests) == (("backend/.coverage",), 1)
    assert choice.tests[0].node == "backend/tests/test_shop.py::test_total" and choice.tests[0].probability == 1.0


def test_a_file_under_two_names_has_the_lines_of_both(shop: Path) -> None:
    write_database(shop / ".coverage", {
        "/a/shop.py": {"test_shop.py::test_total|run": [2, 4]}, "shop.py": {"test_shop.py::test_nothing|run": [2, 3]},
    })  # fmt: skip
    report = Repository.open(shop, exact_root=True).choose_tests("total").coverage
    assert report is not None and report.n_tests == 2 and report.n_ran == 3


def test_a_named_file_without_the_definition_is_said(shop: Path) -> None:
    write_all(shop, {"cover.out": GO})
    done = invoke("tests", "total", "--repo", str(shop), "--coverage", str(shop / "cover.out"))
    assert done.code == 0 and "note: cover.out has no lines of shop.py" in done.stderr
    assert "cover.out" not in invoke("tests", "total", "--repo", str(shop)).stderr


AT_LOAD = """\
@cached
@marked(
    1)
def total(
    items,
    rate=rate(":)"),
):
    return 1


def one(): return 2
"""


def test_lines_that_run_at_load_are_no_run(tmp_path: Path) -> None:
    tests = "from shop import total, one\n\n\ndef test_a():\n    total()\n    one()\n\n\ndef test_b():\n    total()\n"
    write_all(tmp_path, {"shop.py": AT_LOAD, "test_shop.py": tests})
    runs = {"test_shop.py::test_a": [1, 2, 3, 4, 6, 11], "test_shop.py::test_b": [8]}
    write_database(tmp_path / ".coverage", {"shop.py": runs})
    repository = Repository.open(tmp_path, exact_root=True)
    assert list(chances(repository, "total")) == ["test_shop.py::test_b"]
    assert list(chances(repository, "one")) == ["test_shop.py::test_a"]  # its line runs at load: nothing is known
    assert repository.choose_tests("one").coverage is None


def test_functions_of_one_line_are_counted_by_function(tmp_path: Path) -> None:
    write_all(tmp_path, {"shop.js": "export const one = () => 1;\nexport const two = () => 2;\n"})
    place = {"start": {"line": 1, "column": 0}, "end": {"line": 1, "column": 9}}
    other = {"start": {"line": 2, "column": 0}, "end": {"line": 2, "column": 9}}
    data = {"shop.js": {
        "path": "shop.js", "statementMap": {"0": place, "1": other}, "s": {"0": 1, "1": 1}, "branchMap": {}, "b": {},
        "fnMap": {"0": {"name": "a", "decl": place, "loc": place}, "1": {"name": "b", "decl": other, "loc": other}},
        "f": {"0": 0, "1": 3},
    }}  # fmt: skip
    write_all(tmp_path, {".nyc_output/1234.json": json.dumps(data)})
    repository = Repository.open(tmp_path, exact_root=True)
    one, two = repository.choose_tests("one").coverage, repository.choose_tests("two").coverage
    assert one is not None and (one.n_ran, one.n_lines) == (0, 1) and one.files == (".nyc_output/1234.json",)
    assert two is not None and (two.n_ran, two.n_lines) == (1, 0)
    write_all(tmp_path, {".nyc_output/1234.json": "", "lcov.info": (
        "SF:shop.js\nFN:1,one\nFNL:0,2,2\nFNDA:0,one\nFNA:0,4,two\nDA:1,1\nDA:2,1\nend_of_record\n"
    )})  # fmt: skip
    (tmp_path / ".nyc_output/1234.json").unlink()
    one, two = repository.choose_tests("one").coverage, repository.choose_tests("two").coverage
    assert one is not None and one.n_ran == 0 and two is not None and two.n_ran == 1


def test_names_of_tests_of_lcov(shop: Path) -> None:
    write_all(
        shop,
        {"lcov.info": "TN:test_total\nSF:shop.py\nDA:2,1\nDA:3,0\nend_of_record\nTN:test_other\nSF:shop.py\nDA:8,1\n"},
    )
    report = Repository.open(shop, exact_root=True).choose_tests("total").coverage
    assert report is not None and report.n_tests == 1
    assert next(iter(chances(Repository.open(shop, exact_root=True), "total"))) == "test_shop.py::test_total"


def test_a_report_in_utf_16(tmp_path: Path) -> None:
    (tmp_path / "c.xml").write_bytes(
        COBERTURA.replace('version="1.0" ?', 'version="1.0" encoding="utf-16" ?').encode("utf-16")
    )
    assert read_coverage(tmp_path / "c.xml", everything).files["/ci/build/shop.py"].ran == {2}
    (tmp_path / "c.json").write_bytes(json.dumps(COVERAGE_JSON).encode("utf-16"))
    assert read_coverage(tmp_path / "c.json", everything).files["shop.py"].ran == {1, 2, 4}
