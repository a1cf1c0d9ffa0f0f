"""The commands that look things up: lines, documents, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import invoke, run

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


@pytest.mark.parametrize("command", [("find", "x")])
def test_an_empty_folder_gives_one_document(command: tuple[str, ...], tmp_path: Path) -> None:
    assert document_of(*command, "--repo", str(tmp_path), code=1)
