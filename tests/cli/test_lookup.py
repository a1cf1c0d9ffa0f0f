"""The commands that look things up: lines, documents, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import invoke, run, write_all

NODE_KEYS = ["node", "path", "symbol", "kind", "start_line", "end_line", "signature", "doc"]


def document_of(*arguments: str, code: int = 0) -> dict[str, Any]:
    done = invoke(*arguments, "--json")
    assert done.code == code, done.stderr
    document = json.loads(done.stdout)
    assert document["format_version"] == 1
    return document


class TestFind:
    def test_lines(self, small: Path) -> None:
        done = run("find", "Cart", cwd=small)
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
        assert (done.code, done.stdout) == (1, "") and "nothing is called 'qqqzzz'" in done.stderr
        assert document_of("find", "qqqzzz", "--repo", str(small), code=1)["results"] == []
        assert "of kind class" in invoke("find", "total", "--kind", "class", "--repo", str(small)).stderr

    def test_another_kind(self, small: Path) -> None:
        assert "klass" in invoke("find", "total", "--kind", "klass", "--repo", str(small)).failed("usage")


class TestShow:
    def test_lines(self, small: Path) -> None:
        done = run("show", "prices.py:2", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout == (
            "function  shop/prices.py::price_of\n"
            "  at         shop/prices.py:1-3\n"
            "  signature  def price_of(item)\n"
            "  says       The price of an item with tax.\n"
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
        assert list(document)[1:9] == NODE_KEYS
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


@pytest.mark.parametrize("command", [("find", "x"), ("show", "x")])
def test_an_empty_folder_gives_one_document(command: tuple[str, ...], tmp_path: Path) -> None:
    assert document_of(*command, "--repo", str(tmp_path), code=1)
