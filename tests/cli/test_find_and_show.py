"""The commands that look things up: lines, documents, exit codes."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import invoke, write_all
from tests.confidences import IMPORT, SAME_FILE, said
from tests.edits import begin
from tests.pasts import Past

pytestmark = pytest.mark.slow

NODE_KEYS = ["node", "path", "symbol", "kind", "start_line", "end_line", "signature", "doc", "layer", "tier"]


def document_of(*arguments: str, code: int = 0) -> dict[str, Any]:
    done = invoke(*arguments, "--json")
    assert done.code == code, done.stderr
    document = json.loads(done.stdout)
    assert document["format_version"] == 1
    return document


class TestFind:
    def test_lines(self, small: Path) -> None:
        done = invoke("find", "Cart", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout.splitlines()[:3] == [
            "class  shop/cart.py::Cart  shop/cart.py:4",
            "    class Cart",
            "    Holds what a customer wants to buy.",
        ]
        assert "file  shop/cart.py  shop/cart.py" in done.stdout.splitlines()

    def test_document(self, small: Path) -> None:
        document = document_of("find", "price", "--kind", "function", "--repo", str(small))
        assert list(document) == ["format_version", "name", "results"]
        (hit,) = document["results"]
        assert list(hit) == [*NODE_KEYS, "score"]
        assert (hit["node"], hit["start_line"], hit["end_line"]) == ("shop/prices.py::price_of", 1, 3)
        assert hit["doc"] == "The price of an item with tax."

    def test_nothing(self, small: Path) -> None:
        done = invoke("find", "qqqzzz", "--repo", str(small))
        assert (done.code, done.stdout) == (1, "") and "nothing has a name like 'qqqzzz'" in done.stderr
        assert document_of("find", "qqqzzz", "--repo", str(small), code=1)["results"] == []
        assert "of kind class" in invoke("find", "total", "--kind", "class", "--repo", str(small)).stderr

    def test_another_kind(self, small: Path) -> None:
        assert "klass" in invoke("find", "total", "--kind", "klass", "--repo", str(small)).failed("usage")


class TestShow:
    def test_lines(self, small: Path) -> None:
        done = invoke("show", "prices.py:2", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout == (
            "function  shop/prices.py::price_of\n"
            "  at         shop/prices.py:1-3\n"
            "  signature  def price_of(item)\n"
            "  says       The price of an item with tax.\n"
            "  layer      logic, leaf\n"
            "  used by    1 node, uses 1\n"
            "  calls      1 to it, 1 from it\n"
            "\n"
            "def price_of(item):\n"
            '    """The price of an item with tax."""\n'
            "    return with_tax(item.net)\n"
        )

    def test_outline_of_a_file(self, small: Path) -> None:
        lines = invoke("show", "cart.py", "--repo", str(small)).stdout.splitlines()
        assert lines[-2:] == [
            "4  class Cart  — Holds what a customer wants to buy.",
            "7    def total(self, items)",
        ]

    def test_document(self, small: Path) -> None:
        document = document_of("show", "Cart.total", "--repo", str(small))
        assert list(document)[1:11] == NODE_KEYS
        assert (document["node"], document["role"]) == ("shop/cart.py::Cart.total", "code")
        assert (document["callers"], document["callees"], document["outline"]) == (1, 1, [])
        assert document["text"].startswith("    def total(self, items):\n") and document["stale"] is False
        assert [n["node"] for n in document_of("show", "cart.py", "--repo", str(small))["outline"]] == [
            "shop/cart.py::Cart", "shop/cart.py::Cart.total"
        ]  # fmt: skip

    def test_a_section(self, small: Path) -> None:
        assert invoke("show", "README.md#shop", "--repo", str(small)).stdout.endswith(
            "\n# Shop\n\nInvoices are printed from carts.\n"
        )

    def test_a_name_that_drives_a_terminal(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"a.py": "def f():\n    return '\x1b[31m\u202e'\n"})
        shown = invoke("show", "f", "--repo", str(tmp_path)).stdout
        assert "\\x1b[31m\\u202e" in shown and "\x1b" not in shown

    def test_repeated_names(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"a.py": "def f():\n    return 1\n\n\ndef f():\n    return 2\n"})
        assert "  also       a.py::f~2\n" in invoke("show", "f", "--repo", str(tmp_path)).stdout
        assert "  also       a.py::f\n" in invoke("show", "f~2", "--repo", str(tmp_path)).stdout


UNKNOWN = {
    "gate.py": (
        "from door import Door\n\n\ndef enter(thing):\n    thing.unlock()\n    return push()\n\n\n"
        "def push():\n    return 1\n\n\ndef lonely():\n    return 0\n"
    ),
    "door.py": "class Door:\n    def unlock(self):\n        return self.slide()\n\n"
    "    def slide(self):\n        return 2\n"
    + "".join(f"\n\nclass Other{i}:\n    def unlock(self):\n        pass\n" for i in range(9)),
}


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    """`thing.unlock()` may be that of ten classes, too many to guess."""
    return write_all(tmp_path / "gates", UNKNOWN)


class TestPath:
    def test_lines(self, small: Path) -> None:
        done = invoke("path", "print_invoice", "with_tax", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        first, *hops, last = done.stdout.splitlines()
        assert first == "shop/report.py::print_invoice  shop/report.py:4"
        assert [line.split()[:3] for line in hops] == [
            ["calls", "shop/cart.py::Cart.total", "shop/report.py:5"],
            ["calls", "shop/prices.py::price_of", "shop/cart.py:8"],
            ["calls", "shop/prices.py::with_tax", "shop/prices.py:3"],
        ]
        assert last.startswith("probability ")

    def test_document(self, small: Path) -> None:
        document = document_of("path", "Cart.total", "with_tax", "--repo", str(small))
        assert list(document)[1:] == ["source", "target", "forward", "probability", "hops", "gaps"]
        assert document["forward"] is True and 0 < document["probability"] < 1
        assert document["hops"][0] == {
            "node": "shop/cart.py::Cart.total", "edge": None, "path": "shop/cart.py", "line": 7, "rule": None,
            "confidence": None,
        }  # fmt: skip
        assert document["hops"][2]["rule"] == "same-file" and f"{document['hops'][2]['confidence']:.2f}" == SAME_FILE

    def test_against_uses(self, small: Path) -> None:
        done = invoke("path", "with_tax", "Cart.total", "--repo", str(small))
        assert done.code == 0 and "calls (back)" in done.stdout
        assert "no forward path is known" in done.stderr
        assert document_of("path", "with_tax", "Cart.total", "--repo", str(small))["forward"] is False

    def test_picture(self, small: Path) -> None:
        write_all(small, {"alone.py": "def alone():\n    return 1\n"})
        svg = invoke("path", "print_invoice", "with_tax", "--format", "svg", cwd=small)
        assert svg.code == 0 and svg.stdout.count("data-node=") == 4 and "marker-end" in svg.stdout
        none = invoke("path", "alone.py", "with_tax", "--format", "svg", "--repo", str(small))
        assert (none.code, none.stdout) == (1, "") and "no path from alone.py" in none.stderr

    def test_not_connected(self, small: Path) -> None:
        write_all(small, {"alone.py": "def alone():\n    return 1\n"})
        done = invoke("path", "alone.py", "with_tax", "--repo", str(small))
        assert (done.code, done.stdout) == (1, "")
        assert "the graph has no path from alone.py to shop/prices.py::with_tax" in done.stderr
        assert document_of("path", "alone.py", "with_tax", "--repo", str(small), code=1)["hops"] == []

    def test_cannot_be_known(self, tmp_path: Path) -> None:
        write_all(tmp_path, {**UNKNOWN, "gate.py": UNKNOWN["gate.py"].removeprefix("from door import Door\n")})
        done = invoke("path", "enter", "Door.slide", "--repo", str(tmp_path))
        assert (done.code, done.stdout) == (1, "")
        assert "these unresolved calls could hide one" in done.stderr
        assert "gate.py:4  gate.py::enter calls something called 'unlock'" in done.stderr
        gaps = document_of("path", "enter", "Door.slide", "--repo", str(tmp_path), code=1)["gaps"]
        assert gaps == [{"node": "gate.py::enter", "name": "unlock", "line": 4, "n": 1}]


class TestNeighbors:
    def test_lines(self, small: Path) -> None:
        lines = invoke("neighbors", "price_of", cwd=small).stdout.splitlines()
        assert lines[:5] == [
            "in contains (1)",
            "  1.000  contains  shop/prices.py  shop/prices.py:1",
            "",
            "in calls (1)",
            f"  {said('import', 3)}  import  shop/cart.py::Cart.total  shop/cart.py:8",
        ]
        assert "out calls (1)" in lines

    def test_the_rest_is_counted(self, small: Path) -> None:
        lines = invoke("neighbors", "shop/prices.py", "--repo", str(small), "--limit", "1").stdout.splitlines()
        assert "out contains (2)" in lines and "  and 1 more" in lines

    def test_document(self, small: Path) -> None:
        document = document_of("neighbors", "price_of", "--kind", "calls", "--hops", "2", "--repo", str(small))
        assert [(g["hop"], g["direction"], g["kind"], g["n"]) for g in document["groups"]] == [
            (1, "in", "calls", 1), (1, "out", "calls", 1), (2, "in", "calls", 1)
        ]  # fmt: skip
        ends = [(edge["source"], edge["layer"], edge["tier"]) for g in document["groups"] for edge in g["edges"]]
        assert ends[2] == ("shop/report.py::print_invoice", "logic", "leaf")  # the end that is farther away

    def test_what_changes_together(self, tmp_path: Path) -> None:
        past = Past(tmp_path / "shop")
        past.commit("begin", {"cart.py": "x = 1\n"})
        past.commit("one", {"cart.py": "x = 2\n", "prices.py": "y = 1\n"}, time=1)
        past.commit("two", {"cart.py": "x = 3\n", "prices.py": "y = 2\n"}, time=1)
        done = invoke("neighbors", "cart.py", "--kind", "co_changes", cwd=past.path)
        # Two commits of two files, and two changes of the file itself: 2 / (2 + 2).
        assert done.stdout.splitlines() == ["both co_changes (1)", "  0.500  history  prices.py  2 commits"]

    def test_none(self, small: Path) -> None:
        done = invoke("neighbors", "with_tax", "--kind", "extends", "--repo", str(small))
        assert (done.code, done.stdout) == (1, "") and "has no such edges" in done.stderr
        invoke("neighbors", "with_tax", "--kind", "uses", "--repo", str(small)).failed("usage")


class TestImpact:
    def test_picture_of_users(self, small: Path) -> None:
        svg = invoke("impact", "with_tax", "--format", "svg", cwd=small)
        assert svg.code == 0 and "<title>what depends on shop/prices.py::with_tax</title>" in svg.stdout
        assert 'data-node="shop/cart.py::Cart.total"' in svg.stdout and svg.stdout.count("marker-end") >= 2
        write_all(small, {"alone.py": "def alone():\n    return 1\n"})
        none = invoke("impact", "alone", "--format", "svg", cwd=small)
        assert (none.code, none.stdout) == (1, "") and "nothing is known to use alone.py::alone" in none.stderr

    def test_lines(self, small: Path) -> None:
        write_all(small, {"tests/test_prices.py": (
            "from shop.prices import price_of\n\n\ndef test_price():\n    assert price_of(1)\n"
        )})  # fmt: skip
        done = invoke("impact", "with_tax", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        assert [line.split("  calls")[0].rstrip() for line in done.stdout.splitlines()] == [
            "4 affected, 1 of them in tests",
            "by layer: logic 3; 1 of them hot",
            "",
            "depth 1",
            "  shop/prices.py::price_of",
            "",
            "depth 2",
            "  shop/cart.py::Cart.total",
            "",
            "depth 3",
            "  shop/report.py::print_invoice",
            "",
            "tests",
            "  tests/test_prices.py::test_price",
        ]
        assert "(depth 2)" in done.stdout

    def test_document_and_bounds(self, small: Path) -> None:
        document = document_of("impact", "with_tax", "--limit", "1", "--repo", str(small))
        assert (document["changed"], document["n"], len(document["affected"])) == (["shop/prices.py::with_tax"], 3, 1)
        assert list(document["affected"][0]) == [
            "node",
            "depth",
            "probability",
            "role",
            "layer",
            "tier",
            "edge",
            "overridden_by",
            "run_with",
        ]
        assert document_of("impact", "with_tax", "--max-depth", "2", "--repo", str(small))["n"] == 2
        document_of("impact", "with_tax", "--min-confidence", "0.9999", "--repo", str(small), code=1)

    def test_nothing(self, small: Path) -> None:
        done = invoke("impact", "print_invoice", "--repo", str(small))
        assert (done.code, done.stdout) == (1, "") and "nothing is known to use" in done.stderr

    def test_changes_since_a_commit(self, committed: Path) -> None:
        prices = (committed / "shop" / "prices.py").read_text()
        write_all(
            committed, {"shop/prices.py": prices.replace("1.2", "1.19"), "shop/new.py": "def fresh():\n    pass\n"}
        )
        (committed / "shop" / "report.py").unlink()
        done = invoke("impact", "--diff", "HEAD", cwd=committed)
        assert done.code == 0
        assert "changed since HEAD: shop/new.py::fresh, shop/prices.py::with_tax" in done.stderr
        assert "deleted files is not known: shop/report.py" in done.stderr
        document = json.loads(invoke("impact", "--diff", "HEAD", "--json", cwd=committed).stdout)
        assert [a["node"] for a in document["affected"]] == ["shop/prices.py::price_of", "shop/cart.py::Cart.total"]
        assert document["deleted"] == ["shop/report.py"]

    def test_changes_below_a_folder(self, committed: Path) -> None:
        write_all(committed, {"shop/prices.py": "def with_tax(net):\n    return net\n", "README.md": "# Other\n"})
        document = json.loads(
            invoke("impact", "--diff", "HEAD", "--repo", ".", "--json", cwd=committed / "shop").stdout
        )
        assert all(node.startswith("prices.py") for node in document["changed"]) and document["changed"]
        assert document["deleted"] == []

    def test_no_changes(self, committed: Path) -> None:
        done = invoke("impact", "--diff", "HEAD", cwd=committed)
        assert (done.code, done.stdout) == (1, "") and "no definition changed since HEAD" in done.stderr

    @pytest.mark.parametrize("revision", ["nonsense", "--output=x", "", "HEAD\x01"])
    def test_unknown_revisions(self, revision: str, committed: Path) -> None:
        invoke("impact", f"--diff={revision}", cwd=committed).failed("git")

    def test_without_git(self, small: Path) -> None:
        invoke("impact", "--diff", "HEAD", cwd=small).failed("git")

    def test_a_filter_of_the_repository_is_not_run(self, committed: Path) -> None:
        """`git diff` would run it for a file whose time changed."""
        write_all(
            committed, {".gitattributes": "*.py filter=x\n", "shop/prices.py": "def with_tax(net):\n    return 0\n"}
        )
        with (committed / ".git" / "config").open("a") as config:
            config.write(f'[filter "x"]\n\tclean = touch {committed}/was-run; cat\n\trequired = true\n')
        assert invoke("impact", "--diff", "HEAD", cwd=committed).code in (0, 1)
        assert not (committed / "was-run").exists()

    @pytest.mark.parametrize("arguments", [(), ("with_tax", "--diff", "HEAD")])
    def test_one_of_the_two(self, arguments: tuple[str, ...], small: Path) -> None:
        done = invoke("impact", *arguments, "--repo", str(small))
        assert (done.code, done.stdout) == (2, "") and "Give either NODE or --diff REV" in done.stderr


class TestVerify:
    def test_yes(self, small: Path) -> None:
        done = invoke("verify", "Cart", "price_of", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        *lines, basis = done.stdout.splitlines()
        assert lines == [
            "yes: shop/cart.py::Cart -> shop/prices.py::price_of",
            f"  shop/cart.py:8  calls  import {IMPORT}  shop/cart.py::Cart.total -> shop/prices.py::price_of",
            "    return sum(price_of(item) for item in items)",
        ]
        told = r"    a name that the file imports .*; right in [\d,]+ of [\d,]+ that were checked, in \d+ repositories"
        assert re.match(told, basis)

    def test_no(self, small: Path) -> None:
        done = invoke("verify", "print_invoice", "with_tax", "--repo", str(small))
        assert (done.code, done.stderr) == (1, "")
        first, why, known = done.stdout.splitlines()
        assert why == "  it calls nothing named 'with_tax'"
        assert first == "no: shop/report.py::print_invoice -> shop/prices.py::with_tax"
        assert "it is known to call shop/cart.py::Cart.total" in known or "shop/cart.py::Cart" in known

    def test_unknown(self, gates: Path) -> None:
        done = invoke("verify", "enter", "Door.unlock", "--repo", str(gates))
        assert done.code == 1
        assert done.stdout.splitlines() == [
            "unknown: gate.py::enter -> door.py::Door.unlock",
            "  cannot be told: gate.py:5  gate.py::enter calls something called 'unlock' on what is of no known type",
            "    gate.py:5  thing.unlock(…)",
            "  it is known to call gate.py::push",
        ]
        assert invoke("verify", "lonely", "Door.unlock", "--repo", str(gates)).stdout.startswith("no: ")

    def test_what_runs_may_be_decided_when_it_runs(self, tmp_path: Path) -> None:
        write_all(
            tmp_path,
            {
                "a.py": "class Base:\n    def go(self): ...\n\n\nclass Sub(Base):\n    def go(self): ...\n\n\n"
                "class Other:\n    def go(self): ...\n\n\ndef f(x: Base):\n    x.go()\n"
            },
        )
        done = invoke("verify", "f", "Sub.go", "--repo", str(tmp_path))
        assert done.code == 1
        assert done.stdout.splitlines()[:3] == [
            "unknown: a.py::f -> a.py::Sub.go",
            "  cannot be told: a.py:14  a.py::f calls a.py::Base.go",
            "    the target overrides that; which of the two it is, is decided when it runs",
        ]
        document = document_of("verify", "f", "Other.go", "--repo", str(tmp_path), code=1)
        assert (document["known"], document["reason"]) == ("no", "elsewhere")
        assert [edge["target"] for edge in document["others"]] == ["a.py::Base.go"]
        assert document["sites"] == [{"line": 14, "callee": "x.go"}]
        assert document_of("verify", "f", "Base.go", "--repo", str(tmp_path))["reason"] == "uses"

    def test_what_is_taken_for_something_else_is_not_sure(self, tmp_path: Path) -> None:
        write_all(
            tmp_path,
            {
                "a.py": "import os\n\n\nclass Store:\n    def __init__(self): ...\n    def getenv(self): ...\n"
                "    def len(self): ...\n\n\ndef f(x):\n    Store()\n    os.getenv(x)\n    return len(x)\n"
            },
        )
        document = document_of("verify", "f", "Store.getenv", "--repo", str(tmp_path), code=1)
        assert (document["known"], document["reason"]) == ("unknown", "unclear")
        assert document["sites"] == [{"line": 12, "callee": "os.getenv"}]
        document = document_of("verify", "f", "Store.len", "--repo", str(tmp_path), code=1)
        assert (document["known"], document["reason"]) == ("no", "outside")
        document = document_of("verify", "f", "Store.__init__", "--repo", str(tmp_path))
        assert [(edge["target"], edge["line"]) for edge in document["edges"]] == [("a.py::Store", 11)]

    def test_document(self, gates: Path, small: Path) -> None:
        document = document_of("verify", "Cart", "price_of", "--repo", str(small))
        assert document["known"] == "yes"
        (edge,) = document["edges"]
        assert edge["text"] == "return sum(price_of(item) for item in items)"
        assert list(edge["basis"]) == ["meaning", "right", "wrong", "repositories", "language"]
        assert edge["basis"]["right"] > 10 * edge["basis"]["wrong"] and edge["basis"]["repositories"] > 10
        document = document_of("verify", "enter", "Door.unlock", "--repo", str(gates), code=1)
        assert (document["known"], document["gaps"][0]["name"]) == ("unknown", "unlock")


class TestLint:
    def test_nothing_to_find(self, small: Path) -> None:
        done = invoke("lint", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        # price_of, with_tax, Cart, Cart().total; sum is a builtin function, and item.net is no call.
        assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
            "calls: resolved, guessed by name, outside, of unknown receivers",
            "python 4 (100 %) 0 (0 %) 0 (0 %) 0 (0 %)",
        ]

    def test_damage_that_no_time_tells_of_is_found(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        later = time.time_ns() + 3 * 10**9
        monkeypatch.setattr("time.time_ns", lambda: later)
        begin(small)
        for _ in range(3):  # indexed, found current, taken without a look
            assert invoke("find", "Cart", "--repo", str(small)).code == 0
        monkeypatch.setattr("causalist.store.index_file._checksum", lambda data: -1)  # as if other bits were read
        assert invoke("find", "Cart", "--repo", str(small)).stderr == ""
        done = invoke("lint", "--repo", str(small))
        assert done.code == 0 and "note: index-unreadable: " in done.stderr

    def test_what_could_not_be_parsed_is_a_finding(self, small: Path) -> None:
        write_all(small, {"broken.py": "x = 1\ndef price(:\n"})
        done = invoke("lint", "--repo", str(small))
        assert done.code == 1 and done.stderr == "causalist: 1 finding\n"
        assert done.stdout.startswith("syntax-error  broken.py:2  ")
        document = document_of("lint", "--repo", str(small), code=1)
        assert list(document) == ["format_version", "findings", "calls", "cycles", "unmeasured"]
        assert document["findings"][0]["slug"] == "syntax-error"

    def test_circles_are_said_and_no_finding(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"a.py": "import b\n", "b.py": "import c\n", "c.py": "import a\n", "d.py": "import a\n"})
        done = invoke("lint", "--repo", str(tmp_path))
        assert done.code == 0 and "  3 files: a.py, b.py, c.py\n" in done.stdout
        assert document_of("lint", "--repo", str(tmp_path))["cycles"] == [["a.py", "b.py", "c.py"]]


class TestMap:
    def test_lines(self, small: Path) -> None:
        done = invoke("map", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert lines[0] == "small"
        assert "python 3 files, 24 lines; text 1 file, 3 lines" in lines
        assert "  shop/ (3 files)" in lines and "    prices.py" in lines
        assert "      class Cart — Holds what a customer wants to buy. [total]" in lines

    def test_budget_and_formats(self, small: Path) -> None:
        short = invoke("map", "--max-tokens", "40", "--repo", str(small)).stdout
        assert 0 < len(short) < len(invoke("map", "--repo", str(small)).stdout)
        assert invoke("map", "--format", "markdown", "--repo", str(small)).stdout.startswith("# small\n")
        assert json.loads(invoke("map", "--format", "json", "--repo", str(small)).stdout)["name"] == "small"
        invoke("map", "--max-tokens", "1", "--repo", str(small)).failed("budget-too-small")

    def test_document(self, small: Path) -> None:
        document = document_of("map", "--repo", str(small))
        assert list(document) == ["format_version", "overview", "map"]
        assert document["map"]["tokens"] <= document["map"]["max_tokens"] == 2000
        assert document["overview"]["folders"][0]["path"] == "shop/"


LOOKUPS = [
    ("find", "x"), ("show", "x"), ("path", "x", "y"), ("neighbors", "x"), ("impact", "x"), ("tests", "x"),
    ("verify", "x", "y"),
]  # fmt: skip


@pytest.mark.parametrize("command", [c for c in LOOKUPS if c[0] != "find"])
def test_an_unknown_name(command: tuple[str, ...], small: Path) -> None:
    invoke(*command, "--repo", str(small)).failed("unknown-node")


@pytest.mark.parametrize("command", [*LOOKUPS, ("map",), ("lint",)])
def test_an_empty_folder_gives_one_document(command: tuple[str, ...], tmp_path: Path) -> None:
    assert document_of(*command, "--repo", str(tmp_path), code=1)
