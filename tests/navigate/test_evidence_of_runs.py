"""Evidence that a test runs code: branches around calls, its text, tables of functions and settings of pytest."""

from pathlib import Path

import numpy as np
import pytest

from causalist import navigate
from causalist.navigate.impact import LOOP_SHARE, SHARES_BY_BRANCHES, CallSites
from causalist.pipeline.repository import Repository
from tests.pipeline.sample import in_memory

BRANCHES = """
def plain():
    return target()


def branch(a):
    if a:
        return target()


def deep(a):
    for b in a:
        if b:
            pass
        elif target(b):
            pass


def target(b=0):
    return b
"""
SCRIPT = """
function branch(a) {
  if (a) target();
}

function condition(a) {
  if (target(a)) {
    return 1;
  }
}

function target() {}
"""


def write(folder: Path, files: dict[str, str]) -> Repository:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return in_memory(folder)


def chances_of(repository: Repository, name: str) -> dict[str, float]:
    """Return the probabilities of all tests of a definition, the most probable first, by their last names."""
    choice = repository.choose_tests(name)
    return {each.node.rpartition("::")[2].rpartition(".")[2]: each.probability for each in choice.tests}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", BRANCHES, {"plain": SHARES_BY_BRANCHES[0], "branch": SHARES_BY_BRANCHES[1],
                            "deep": SHARES_BY_BRANCHES[1] * LOOP_SHARE}),
        ("a.js", SCRIPT, {"branch": SHARES_BY_BRANCHES[1], "condition": SHARES_BY_BRANCHES[0]}),
    ],
)  # fmt: skip
def test_share_of_runs_is_by_branches_around_the_call(
    tmp_path: Path, path: str, text: str, expected: dict[str, float]
) -> None:
    """`elif` is the one branch around its own condition; that of an `if` is evaluated whenever the function runs."""
    graph = write(tmp_path, {path: text}).index.graph
    sites, ids = CallSites(graph, lambda _: text), graph.nodes.ids
    into = graph.edges_into(np.array([ids.position(f"{path}::target")])).tolist()
    calls = {graph.edge(e).source.rpartition("::")[2]: sites.share(e) for e in into if graph.edge(e).kind == "calls"}
    assert calls == expected


def test_a_file_without_text_has_the_share_of_unknown_calls(tmp_path: Path) -> None:
    graph = write(tmp_path, {"a.py": BRANCHES}).index.graph
    sites = CallSites(graph, lambda _: "")
    assert sites.share(graph.edges_into(np.array([graph.nodes.ids.position("a.py::target")])).tolist()[-1]) == 0.7


KINDS = "class A:\n    def fold(self):\n        return 1\n\n    def grow(self):\n        return 2\n"
UNTYPED = """
def test_folding(thing):
    assert thing.parts[0].fold() == 1


def test_growth(thing):
    assert thing.parts[0].grow() == 2
"""


def test_a_test_whose_text_names_a_method_may_run_it(tmp_path: Path) -> None:
    """No type is known of the receiver, and too many methods have the name for an edge."""
    many = "".join(
        KINDS.replace("class A", f"class A{i}").replace("fold", "fold" if i else "unfold") for i in range(30)
    )
    repository = write(tmp_path, {"kinds.py": many, "tests/test_kinds.py": UNTYPED})
    found = repository.choose_tests("A1.fold").tests
    assert [(each.node, each.edge.rule) for each in found] == [("tests/test_kinds.py::test_folding", "named-in-text")]
    assert "test_folding" not in chances_of(repository, "A0.unfold")


OPERATORS = """
class Money:
    def __init__(self, n):
        self.n = n

    def __add__(self, other):
        return self
"""
USES = """
from money import Money


def test_one():
    assert Money(1) + Money(2)


def test_two():
    assert Money(1).n == 1
"""


def test_a_test_with_the_operator_runs_a_special_method_more_probably(tmp_path: Path) -> None:
    repository = write(tmp_path, {"money.py": OPERATORS, "tests/test_money.py": USES})
    found = chances_of(repository, "Money.__add__")
    assert list(found) == ["test_one", "test_two"] and found["test_one"] > 2 * found["test_two"]


TABLES = """
from functools import partial


def row_of_html(cells, is_safe):
    return cells


ROWS = {
    "html": partial(row_of_html, True),
}


def render(cells, kind):
    return ROWS[kind](cells)
"""


def test_whoever_reads_a_table_may_run_a_function_in_it(tmp_path: Path) -> None:
    test = "from tables import render\n\n\ndef test_all():\n    render([], 'a')\n"
    repository = write(tmp_path, {"tables.py": TABLES, "tests/test_tables.py": test})
    assert "test_all" in chances_of(repository, "row_of_html")
    users = [each.node for each in repository.impact("row_of_html")]
    assert "tables.py::render" in users


REGISTRY = """
KINDS = {}


def kind(name):
    def keep(function):
        KINDS[name] = function
        return function

    return keep


@kind("list")
def as_list(values):
    return list(values)


def apart(values):
    return values


def render(name, values):
    return KINDS[name](values)
"""


def test_whoever_reads_what_a_decorator_writes_may_run_the_decorated_function(tmp_path: Path) -> None:
    test = "from kinds import render\n\n\ndef test_all():\n    render('list', [])\n"
    repository = write(tmp_path, {"kinds.py": REGISTRY, "tests/test_kinds.py": test})
    assert "test_all" in chances_of(repository, "as_list")
    assert "test_all" not in chances_of(repository, "apart")


META = """
class Checked(type):
    def __init__(cls, name, bases, members):
        check(name)

    def __call__(cls, *args):
        return count(cls)


def check(name):
    return name


def count(cls):
    return cls


class Form(metaclass=Checked):
    pass
"""
MADE = """
from forms import Form


def test_calling():
    assert Form()


def test_deriving():
    class Own(Form):
        pass

    assert Own


def test_neither():
    assert True
"""


def test_a_metaclass_runs_where_its_classes_are_called_and_made(tmp_path: Path) -> None:
    repository = write(tmp_path, {"forms.py": META, "tests/test_forms.py": MADE})
    assert list(chances_of(repository, "count")) == ["test_calling"]
    checked = chances_of(repository, "check")
    assert checked["test_deriving"] > 2 * checked.get("test_calling", 0.0) and "test_neither" not in checked


OVERLOADS = """
from typing import overload


@overload
def make(a: int) -> int: ...


@overload
def make(a: str) -> str: ...


def make(a):
    return helper(a)


def helper(a):
    return a
"""


def test_a_call_of_an_overload_runs_the_implementation(tmp_path: Path) -> None:
    test = "from over import make\n\n\ndef test_it():\n    assert make(1)\n"
    repository = write(tmp_path, {"over.py": OVERLOADS, "tests/test_over.py": test})
    assert "test_it" in chances_of(repository, "helper")


OWN = """
class Card:
    def title(self):
        return 1

    heading = title


def show(card: Card):
    return card.title()
"""


def test_what_a_class_says_of_its_own_function_does_not_run_it(tmp_path: Path) -> None:
    test = (
        "from card import Card, show\n\n\ndef test_making():\n    Card()\n\n\ndef test_showing():\n    show(Card())\n"
    )
    repository = write(tmp_path, {"card.py": OWN, "tests/test_card.py": test})
    node = np.array([repository.resolve("Card.title")])
    found = navigate.find_tests_reaching(repository.index.graph, node, max_depth=None, min_confidence=0.0)
    chances = {each.node.rpartition("::")[2]: each.probability for each in found}
    assert chances["test_showing"] > 0.5 > 0.05 > chances.get("test_making", 0.0)


SPEC = """
import pytest


class DescribeShop:
    def it_sells(self, till):
        assert till.total() == 1

    def helper(self):
        return 1

    @pytest.fixture
    def till(self):
        return Till()


from shop import Till
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npython_functions = ["it_", "they_"]\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\npython_functions = "it_ they_"\n'),
        ("pytest.ini", "[pytest]\npython_functions = it_*\n"),
        ("setup.cfg", "[tool:pytest]\npython_functions =\n    it_\n"),
        ("tests/tox.ini", "[pytest]\npython_functions = it_\n"),
    ],
)
def test_settings_of_pytest_name_the_tests(tmp_path: Path, path: str, text: str) -> None:
    code = "class Till:\n    def total(self):\n        return 1\n"
    repository = write(tmp_path, {"shop.py": code, "tests/test_shop.py": SPEC, path: text})
    assert list(chances_of(repository, "Till.total")) == ["it_sells"]


@pytest.mark.parametrize("text", ["[tool.pytest.ini_options]\npython_functions = 3\n", "python_functions = [\n"])
def test_bad_settings_leave_names_as_they_are(tmp_path: Path, text: str) -> None:
    test = "from shop import total\n\n\ndef test_it():\n    total()\n"
    repository = write(
        tmp_path, {"shop.py": "def total():\n    pass\n", "tests/test_shop.py": test, "pyproject.toml": text}
    )
    assert list(chances_of(repository, "total")) == ["test_it"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("python_files = check_*.py", ["test_by_name", "test_nested"]),
        ("python_files =\n    *.py\n    deep.py", ["test_nested"]),
        ("python_files = *.py", []),
    ],
)
def test_settings_of_pytest_name_the_files_of_tests(tmp_path: Path, settings: str, expected: list[str]) -> None:
    """Only names count, and no pattern of any file. A nearer setting takes the place of one further up."""
    files = {
        "till.py": "def total():\n    return 1\n",
        "pytest.ini": f"[pytest]\n{settings}\n",
        "check_till.py": "from till import total\n\n\ndef test_by_name():\n    assert total()\n",
        "check_x/deep.py": "from till import total\n\n\ndef test_nested():\n    assert total()\n",
        "check_x/tox.ini": "[pytest]\npython_files = deep.py\n" if expected else "",
    }
    repository = write(tmp_path, files)
    assert sorted(chances_of(repository, "total")) == expected
    if expected:
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        assert sorted(chances_of(in_memory(tmp_path), "total")) == ["test_nested"]
