"""Which definitions a commit says were the right ones, and which commit answered a question."""

from pathlib import Path

import pytest

from causalist.errors import GitError
from causalist.evaluate.mining import (
    find_changed_definitions,
)
from causalist.pipeline.repository import Repository
from tests.benchmarks.gold import children_of, find_answering_commit, find_changed_definitions_since
from tests.pasts import Past

BEFORE = """\
import os

LIMIT = 3


class Cart:
    def add(self, item):
        self.items.append(item)

    def total(self):
        def price(item):
            return item.price

        return sum(map(price, self.items))


def clear(cart):
    cart.items = []
"""
OTHER = "def helper():\n    return 1\n"


@pytest.fixture
def past(tmp_path: Path) -> Past:
    past = Past(tmp_path / "shop")
    past.commit("start", {"cart.py": BEFORE, "odd [name].py": OTHER})
    return past


def changed(past: Past, text: str, path: str = "cart.py") -> list[str]:
    base = past.head()
    answer = past.commit("change", {path: text})
    graph = Repository.at_commit(past.path, base).index.graph
    return find_changed_definitions(past.path, base, answer, graph, [path])


def test_a_changed_row_belongs_to_the_innermost_definition(past: Past) -> None:
    assert changed(past, BEFORE.replace("item.price", "item.price * 2")) == ["cart.py::Cart.total.price"]


def test_several_hunks(past: Past) -> None:
    after = BEFORE.replace("append", "insert").replace("LIMIT = 3", "LIMIT = 4").replace("import os", "import sys")
    assert changed(past, after) == ["cart.py::Cart.add", "cart.py::LIMIT"]


def test_lines_that_were_added_inside(past: Past) -> None:
    after = BEFORE.replace("        self.items.append", "        check(item)\n        self.items.append")
    assert changed(past, after) == ["cart.py::Cart.add"]


def test_what_is_added_behind_a_definition_does_not_change_it(past: Past) -> None:
    assert changed(past, BEFORE + "\n\ndef new():\n    pass\n") == []


def test_a_new_method_changes_its_class(past: Past) -> None:
    after = BEFORE.replace("    def total", "    def pay(self):\n        pass\n\n    def total")
    assert changed(past, after) == ["cart.py::Cart"]


def test_names_of_files_are_no_patterns(past: Past) -> None:
    assert changed(past, OTHER.replace("1", "2"), "odd [name].py") == ["odd [name].py::helper"]


def test_long_hunks_are_cut(past: Past) -> None:
    text = "".join(f"def f{i}():\n    return 1\n\n\n" for i in range(40))
    past.commit("many", {"many.py": text})
    found = changed(past, text.replace("def", "async def").replace("\n\n\n", "\n#\n#\n").replace("1", "2"), "many.py")
    # Rows 0 to 59 of the only hunk; every definition has four rows with what is between.
    assert found == sorted(f"many.py::f{i}" for i in range(15))


def test_the_answer_changed_all_gold_files_and_the_fewest_others(past: Past) -> None:
    base = past.head()
    wide = past.commit("wide", {"cart.py": "A = 1\n", "odd [name].py": "B = 1\n", "c.py": "C = 1\n"})
    past.git("checkout", "-q", "-b", "second", base)
    narrow = past.commit("narrow", {"cart.py": "A = 2\n"})
    children = children_of(past.path)
    assert set(children[base]) == {wide, narrow}
    assert find_answering_commit(past.path, base, children[base], ["cart.py"]) == narrow
    assert find_answering_commit(past.path, base, children[base], ["cart.py", "c.py"]) == wide
    assert find_answering_commit(past.path, base, children[base], ["absent.py"]) is None
    assert find_answering_commit(past.path, base, [], ["cart.py"]) is None


def test_unknown_commits(past: Past) -> None:
    with pytest.raises(GitError):
        find_answering_commit(past.path, past.head(), ["0" * 40], ["cart.py"])


def test_rows_are_followed_back_to_an_earlier_state(past: Past) -> None:
    base = past.head()
    written = "def discount():\n    return 0\n\n\n"
    later = BEFORE.replace("class Cart", written + "class Cart").replace("LIMIT = 3\n\n\n", "")
    before = past.commit("moves everything", {"cart.py": later})
    after = later.replace("cart.items = []", "cart.items.clear()").replace("return 0", "return 1")
    answer = past.commit("changes what is old and what is new", {"cart.py": after})
    graph = Repository.at_commit(past.path, base).index.graph
    assert find_changed_definitions_since(past.path, base, before, answer, graph, ["cart.py"]) == ["cart.py::clear"]
