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


def test_a_reader_of_a_table_runs_what_makes_and_uses_its_classes(tmp_path: Path) -> None:
    """Only one test reads the table whose classes it calls; the other names neither it nor them."""
    code = """
class Plain:
    def __init__(self):
        self.n = 1

    def render(self):
        return self.n


class Other:
    pass


FORMATS = [Plain]
READY = {"plain": Plain()}
"""
    tests = """
from shapes import FORMATS, READY, Other


def test_classes():
    for each in FORMATS:
        each()


def test_instances():
    getattr(READY["plain"], "ren" + "der")()


def test_neither():
    Other()
"""
    repository = write(tmp_path, {"shapes.py": code, "tests/test_shapes.py": tests})
    assert list(chances_of(repository, "Plain.__init__")) == ["test_classes"]
    assert "test_instances" in chances_of(repository, "Plain.render")
    assert "test_neither" not in chances_of(repository, "Plain.render")


def test_a_class_that_derives_from_outside_runs_methods_of_its_mixin(tmp_path: Path) -> None:
    """The base from outside may call `visit_name`; `Alone` has none, so that code that names it runs nothing."""
    code = """
from elsewhere import Walker


class Names:
    def visit_name(self):
        return 1


class Alone:
    def visit_name(self):
        return 1


class Both(Names, Walker):
    pass
"""
    tests = """
from names import Alone, Both
from elsewhere import walk


def test_handed_on():
    walk(Both)


def test_handed_on_alone():
    walk(Alone)
"""
    repository = write(tmp_path, {"names.py": code, "tests/test_names.py": tests})
    assert list(chances_of(repository, "Names.visit_name")) == ["test_handed_on"]
    assert list(chances_of(repository, "Alone.visit_name")) == []


def test_a_test_that_names_a_user_by_an_unknown_receiver_may_run_what_that_runs(tmp_path: Path) -> None:
    code = "class Store:\n    def update(self):\n        return refill()\n\n\ndef refill():\n    return 1\n"
    tests = "def test_named(box):\n    box.update()\n\n\ndef test_other(box):\n    box.close()\n"
    repository = write(tmp_path, {"store.py": code, "tests/test_store.py": tests})
    assert list(chances_of(repository, "refill")) == ["test_named"]


def test_chains_with_a_step_in_common_are_not_independent(tmp_path: Path) -> None:
    """Of calls .94 run, and .7 below a branch. Four in a row are .78, and three with a branch in them .62.

    Two chains with a branch each give .88, more than the four; two through one branch stay below its .7.
    """
    code = """
def common(a):
    return left(a) + right(a)


def left(a):
    return gate(a)


def right(a):
    return gate(a)


def gate(a):
    if a:
        return target()


def own(a):
    return first(a) + second(a)


def first(a):
    if a:
        return target()


def second(a):
    if a:
        return target()


def single(a):
    return second_step(a)


def second_step(a):
    return third_step(a)


def third_step(a):
    return fourth_step(a)


def fourth_step(a):
    return target()


def target():
    return 1
"""
    tests = """
from steps import common, own, single


def test_common():
    common(1)


def test_own():
    own(1)


def test_single():
    single(1)
"""
    repository = write(tmp_path, {"steps.py": code, "tests/test_steps.py": tests})
    chances = chances_of(repository, "target")
    assert list(chances) == ["test_own", "test_single", "test_common"]
    assert chances == chances_of(repository, "target")
