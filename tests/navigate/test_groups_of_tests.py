"""Tests that run with what prepares or holds them: set-up methods, groups, classes and files of tests."""

from collections.abc import Mapping
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from causalist import navigate
from causalist.model.graph import Edge
from causalist.model.lookup import Affected
from causalist.navigate.affected_tests import TEST_WEIGHTS, TYPICAL_SIZE
from causalist.navigate.marked_tests import mark_tests
from causalist.pipeline.repository import Repository
from causalist.rank import rarity_of_shared_words
from tests.cli.commands import write_all
from tests.pipeline.sample import in_memory

STORE = """
class Store:
    def open(self):
        return 1


class Memory(Store):
    pass


def connect():
    return 2


def shared():
    return 3
"""
CASES = """
import unittest
from store import Memory, Store, connect, shared

BASE = shared()


class Mixin:
    kind = None

    def test_mixed(self):
        getattr(self, "ki" + "nd")()

    def helper(self):
        pass


class StoreTest(Mixin, unittest.TestCase):
    kind = Memory

    def setUp(self):
        self.link = connect()

    def test_own(self):
        pass


class DeeperTest(StoreTest):
    def test_deeper(self):
        pass


class OtherTest(unittest.TestCase):
    def test_other(self):
        pass
"""
SPEC = """
import { connect } from "./store";
describe("store", () => {
  beforeEach(() => connect());
  it("opens", () => { expect(1).toBe(1); });
  describe("twice", () => {
    it("opens again", () => {});
  });
});
it("stands apart", () => {});
"""


def ask(folder: Path, files: Mapping[str, str], name: str) -> dict[str, Affected]:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    """The tests of a node by uses alone, which no word changes."""
    repository = in_memory(folder)
    graph = repository.index.graph
    changed = navigate.with_overloads_and_members(graph, [repository.resolve(name)])
    found = navigate.find_tests_reaching(graph, changed, max_depth=None, min_confidence=0.0)
    return {each.node.partition("::")[2]: each for each in found}


@pytest.fixture
def files() -> dict[str, str]:
    return {"store.py": STORE, "tests/test_store.py": CASES}


def test_a_set_up_method_runs_with_the_tests_of_its_class_and_of_those_below(
    tmp_path: Path, files: dict[str, str]
) -> None:
    found = ask(tmp_path, files, "connect")
    assert sorted(found) == ["DeeperTest.test_deeper", "Mixin.test_mixed", "StoreTest.test_own"]
    own = found["StoreTest.test_own"]
    assert own.run_with == "tests/test_store.py::StoreTest.setUp" == own.edge.source
    # setUp calls it as an import does, of which a call of tests runs .95; .95 of the tests run what is set up.
    assert own.probability == pytest.approx(own.edge.confidence * 0.95 * 0.95)
    assert own.depth == 2


def test_a_class_of_tests_that_names_something_runs_it_in_inherited_tests(
    tmp_path: Path, files: dict[str, str]
) -> None:
    found = ask(tmp_path, files, "Memory")
    assert {"Mixin.test_mixed", "StoreTest.test_own"} <= set(found) and "OtherTest.test_other" not in found
    assert found["Mixin.test_mixed"].run_with == "tests/test_store.py::StoreTest"


def test_the_code_of_a_file_runs_before_all_its_tests(tmp_path: Path, files: dict[str, str]) -> None:
    found = ask(tmp_path, files, "shared")
    assert "OtherTest.test_other" in found
    assert found["OtherTest.test_other"].run_with == "tests/test_store.py"
    assert found["OtherTest.test_other"].probability < 0.2


def test_what_runs_before_each_test_of_a_group(tmp_path: Path) -> None:
    files = {"store.js": "export function connect() { return 1; }\n", "store.test.js": SPEC}
    found = ask(tmp_path, files, "connect")
    group = "store.test.js::describe store"
    assert {name for name, each in found.items() if each.run_with == group} == {
        "describe store.it opens",
        "describe store.describe twice.it opens again",
    }
    assert "it stands apart" not in found or found["it stands apart"].run_with != group


def test_depth_bounds_what_runs_with_it(tmp_path: Path, files: dict[str, str]) -> None:
    ask(tmp_path, files, "connect")
    near = Repository.open(tmp_path, exact_root=True).tests("connect", max_depth=1)
    assert not [each for each in near if each.run_with]


def test_a_marked_test_that_only_asks_for_a_route_is_one(tmp_path: Path) -> None:
    files = {
        "src/main/Cars.java": (
            'package a;\n@RestController\nclass Cars {\n    @GetMapping("/cars/{id}")\n'
            '    String car(long id) { return ""; }\n}\n'
        ),
        "src/test/CarsTest.java": (
            "package a;\nclass CarsTest {\n    @BeforeEach\n    void setUp() { ask(); }\n"
            "    @Test\n    void shows() {\n"
            '        mockMvc.perform(get("/cars/1"));\n    }\n    void ask() { mockMvc.perform(get("/cars/2")); }\n}\n'
        ),
    }
    found = ask(tmp_path, files, "Cars.car")
    assert "CarsTest.shows" in found and not {"CarsTest.setUp", "CarsTest.ask"} & set(found)


BOX = """
class Box:
    def fill(self):
        return 1


def drain(box):
    return 2


def seal():
    return 3


def label():
    return 4
"""
CONFTEST = """
import pytest
from box import drain, label, seal


@pytest.fixture(autouse=True)
def drained():
    drain(None)


@pytest.fixture
def sealed():
    seal()


@pytest.fixture
def labelled():
    label()
"""
PREPARED = """
import pytest
from box import Box


def setup_module(module):
    Box().fill()


@pytest.mark.usefixtures("sealed")
class TestSealed:
    def test_one(self):
        pass


@pytest.mark.usefixtures("other", "labelled")
def test_two():
    pass


def test_three():
    assert "labelled"
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("drain", ["TestSealed.test_one", "test_three", "test_two"]),
        ("seal", ["TestSealed.test_one"]),
        ("label", ["test_two"]),
        ("Box.fill", ["TestSealed.test_one", "test_three", "test_two"]),
    ],
)
def test_fixtures_that_no_parameter_names_run_with_their_tests(tmp_path: Path, name: str, expected: list[str]) -> None:
    """One that is automatic, those that a decorator asks for, and what runs before a module."""
    others = "def test_apart():\n    pass\n"
    files = {"box.py": BOX, "a/conftest.py": CONFTEST, "a/test_box.py": PREPARED, "b/test_apart.py": others}
    ask(tmp_path, files, name)
    found = Repository.open(tmp_path, exact_root=True).choose_tests(name).tests
    assert sorted(each.node.partition("::")[2] for each in found if each.run_with) == expected


WORDS = """
from store import connect


def test_connect():
    connect()


def test_alone():
    connect()


def test_neither():
    test_alone()
"""


def odds_of_size(text: str, name: str) -> float:
    """Return by what the odds of a test are multiplied because of the size of its text."""
    definition = text[text.index(f"def {name}(") :].partition("\n\n\n")[0].strip()
    return (len(definition.encode()) / TYPICAL_SIZE) ** TEST_WEIGHTS.size


def test_words_of_the_name_say_which_tests_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "store.py").write_text(STORE)
    (tmp_path / "tests/test_store.py").write_text(WORDS)
    repository = in_memory(tmp_path)
    found = {each.node.rpartition("::")[2]: each.probability for each in repository.tests("connect")}
    assert list(found) == ["test_connect", "test_alone", "test_neither"]
    lexical, graph = repository.index.lexical, repository.index.graph
    shared = dict(
        zip(
            graph.nodes.ids,
            rarity_of_shared_words(["connect"], lexical, np.arange(len(graph.nodes)), len(graph.nodes)),
            strict=True,
        )
    )
    rarest = shared["tests/test_store.py::test_connect"]
    # By its text and by its name, by its text, and not at all.
    assert shared["tests/test_store.py::test_alone"] == pytest.approx(rarest / 2)
    assert shared["tests/test_store.py::test_neither"] == 0.0
    changed = navigate.with_overloads_and_members(graph, [repository.resolve("connect")])
    by_uses = navigate.find_tests_reaching(graph, changed, max_depth=None, min_confidence=0.0)
    chance = {each.node: each.probability for each in by_uses}["tests/test_store.py::test_alone"]
    odds = chance / (1 - chance)
    expected = odds**TEST_WEIGHTS.way * exp(TEST_WEIGHTS.bias - TEST_WEIGHTS.words * rarest / 2)  # nothing dispatched
    expected *= odds_of_size(WORDS, "test_alone")
    assert found["test_alone"] == pytest.approx(expected / (1 + expected))


def test_names_of_changed_tests_are_no_subjects(tmp_path: Path) -> None:
    """A test has all words of its own name: beside it no other test seemed likely."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "store.py").write_text(STORE)
    (tmp_path / "tests/test_store.py").write_text(WORDS)
    repository = in_memory(tmp_path)
    graph, lexical = repository.index.graph, repository.index.lexical
    code, test = (repository.resolve(name) for name in ("connect", "test_neither"))

    def chances(*changed: int) -> dict[str, float]:
        numbers = np.array(sorted(changed), dtype=np.int64)
        found = navigate.find_tests_reaching(graph, numbers, max_depth=None, min_confidence=0.0, lexical=lexical)
        return {each.node: each.probability for each in found}

    alone, beside = chances(code), chances(code, test)
    for name in ("test_connect", "test_alone"):
        node = f"tests/test_store.py::{name}"
        assert beside[node] == pytest.approx(alone[node])


SHAPES = """
class Shape:
    def area(self):
        return 0


class Square(Shape):
    def area(self):
        return 4


class Circle(Shape):
    def area(self):
        return 3


def measure(shape: Shape):
    return shape.area()
"""
MEASURED = """
from shapes import Circle, Square, measure


def test_round():
    measure(Circle())


def test_flat():
    measure(Square())
"""


def test_a_call_runs_the_method_of_a_class_that_the_test_makes(tmp_path: Path) -> None:
    """Both tests call Square.area by dispatch, as probably; test_round makes no square."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "shapes.py").write_text(SHAPES)
    (tmp_path / "tests/test_shapes.py").write_text(MEASURED)
    repository = in_memory(tmp_path)
    graph = repository.index.graph
    node = repository.resolve("Square.area")
    read_text = {"shapes.py": SHAPES, "tests/test_shapes.py": MEASURED}.__getitem__
    by_uses = navigate.find_tests_reaching(
        graph, np.array([node]), max_depth=None, min_confidence=0.0, read_text=read_text
    )
    chance = by_uses[0].probability
    assert [each.probability for each in by_uses] == [chance, chance]
    made = navigate.find_tests_reaching(
        graph, np.array([repository.resolve("Square")]), max_depth=None, min_confidence=0.0
    )
    assert [each.node for each in made] == ["tests/test_shapes.py::test_flat"]
    choice = repository.choose_tests("Square.area")
    found = {each.node.rpartition("::")[2]: each.probability for each in choice.tests}
    assert choice.n_probable == 1
    assert list(found) == ["test_flat", "test_round"]
    shared = rarity_of_shared_words(
        ["Square.area"], repository.index.lexical, np.arange(len(graph.nodes)), len(graph.nodes)
    )
    flat, round_ = (
        float(shared[graph.nodes.ids.position(f"tests/test_shapes.py::test_{n}")]) for n in ("flat", "round")
    )
    weights = TEST_WEIGHTS
    way = weights.bias + weights.way * log(chance / (1 - chance))
    expected = {
        "test_flat": way + weights.maker * log(made[0].probability),
        "test_round": way + weights.maker * log(0.01) + weights.words * (round_ - flat),  # .01 at least
    }
    for name, log_odds in expected.items():
        odds = exp(log_odds) * odds_of_size(MEASURED, name)
        assert found[name] == pytest.approx(odds / (1 + odds))


def test_a_long_test_is_before_a_short_one(tmp_path: Path) -> None:
    """Both call the function, and neither has another word of it; by their ids the short one is first."""
    files = {
        "store.py": STORE,
        "tests/test_store.py": "from store import connect\n\n\ndef test_a():\n    connect()\n\n\n"
        f"def test_b():\n    connect()\n    assert {' + '.join(['1'] * 40)}\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    found = in_memory(tmp_path).tests("connect")
    assert [each.node.rpartition("::")[2] for each in found] == ["test_b", "test_a"]


SEVERAL = """
class Base:
    def run(self):
        return 0


def start(base: Base):
    return base.run()
"""


@pytest.mark.parametrize(("n_classes", "share"), [(1, 0.36), (2, 0.28), (7, 0.28), (8, 0.12)])
def test_the_more_classes_override_a_method_the_less_one_runs(tmp_path: Path, n_classes: int, share: float) -> None:
    """The test calls `start`, .95, and that the method of its argument, of whose class nothing is known."""
    derived = "\n\n".join(f"class C{i}(Base):\n    def run(self):\n        return {i}\n" for i in range(n_classes))
    (tmp_path / "tests").mkdir()
    (tmp_path / "base.py").write_text(f"{SEVERAL}\n\n{derived}")
    (tmp_path / "tests/test_base.py").write_text("from base import start\n\n\ndef test_start(one):\n    start(one)\n")
    repository = in_memory(tmp_path)
    graph = repository.index.graph
    changed = np.array([repository.resolve("C0.run")])
    (found,) = navigate.find_tests_reaching(graph, changed, max_depth=None, min_confidence=0.0)
    known = [
        edge.confidence
        for edge in map(graph.edge, range(len(graph.edges.kinds)))
        if edge.kind == "calls" and edge.target in ("base.py::Base.run", "base.py::start")
    ]
    assert found.probability == pytest.approx(0.95 * share * known[0] * known[1], abs=0.003)  # of 256 samples


def test_the_body_of_a_class_makes_objects_before_all_tests(tmp_path: Path) -> None:
    """What only uses the class of `Outer` runs no constructor; a class inside of a test makes it in that."""
    code = "class Part:\n    def __init__(self):\n        self.size = 1\n\n\n"
    files = {
        "store.py": f"{code}class Outer:\n    part = Part()\n",
        "tests/test_store.py": "from store import Outer, Part\n\n\ndef test_outer():\n    assert Outer()\n\n\n"
        "def test_inner():\n    class Inner:\n        part = Part()\n\n    assert Inner()\n",
    }
    found = ask(tmp_path, files, "Part.__init__")
    assert found["test_outer"].probability < 0.1  # .95 of a call, and .1
    assert found["test_inner"].probability > 0.6


def test_probable_are_those_that_raise_recall_and_precision() -> None:
    """The sum is that of the expected recall and of 1.7 of the precision.

    Of .6, .5 and .1 it is .5 + 1.7 x .6 = 1.52 for one, 1.1 / 1.2 + 1.7 x .55 = 1.85 for two, and 1 + 1.7 x .4 = 1.68
    for three. Of .8, .36 and .34 it is 1.89, 1.76 and 1.85. Further tests as sure as the first cost nothing.
    """
    edge = Edge("test.py::a", "a.py::f", "calls", "import", 1.0, 1, 1, 1)

    def n_probable(*chances: float) -> int:
        return navigate.count_probable_tests(
            [Affected("test.py::a", 1, edge, probability=chance) for chance in chances]
        )

    assert n_probable(0.6, 0.5, 0.1) == 2
    assert n_probable(0.8, 0.36, 0.34) == 1
    assert n_probable(0.25, 0.25, 0.25, 0.25) == 4
    assert n_probable() == 0


def test_a_file_is_left_out_if_a_test_in_it_is_found(tmp_path: Path, files: dict[str, str]) -> None:
    assert "" not in ask(tmp_path, files, "shared")


def test_a_function_inside_of_a_test_is_none(tmp_path: Path) -> None:
    inner = "from store import connect\n\n\ndef test_outer():\n    def test():\n        connect()\n    test()\n"
    assert list(ask(tmp_path, {"store.py": STORE, "tests/test_inner.py": inner}, "connect")) == ["test_outer"]


def test_what_gives_tests_their_data_is_no_test(tmp_path: Path) -> None:
    (tmp_path / "RateTest.php").write_text("""<?php
class RateTest extends TestCase {
    #[Test]
    #[DataProvider('provideRates')]
    public function ratesASong(int $rate): void {}
    #[Test]
    public static function runsAlone(): void {}
    public static function provideRates(): array { return [[1]]; }
}
""")
    graph = in_memory(tmp_path).index.graph
    marked = {graph.nodes.ids[node].rpartition(".")[2] for node in np.flatnonzero(navigate.mark_tests(graph)).tolist()}
    assert marked == {"ratesASong", "runsAlone"}


def test_helpers_in_files_of_tests_are_no_tests(tmp_path: Path) -> None:
    """What a container calls in a class beside the tests, and what gives them data, is none; `opens` has a mark."""
    tests = (
        "<?php\nclass DoorTest extends TestCase {\n    /** @test */\n    public function opens() { new Door(); }\n"
        "    public function closes() { $this->assertTrue(true); }\n"
        "    public function provideDoors(): array { return [[1]]; }\n"
        "    public function ends(): void { new Door(); }\n}\n\n"
        "class CustomDoor {\n    public function __invoke() { return 1; }\n"
        "    public function handle() { return 2; }\n}\n"
    )
    root = write_all(tmp_path, {"src/Door.php": "<?php\nclass Door {}\n", "tests/DoorTest.php": tests})
    graph = in_memory(root).index.graph
    found = [graph.nodes.ids[node] for node in np.flatnonzero(mark_tests(graph)).tolist()]
    assert [each.partition("::")[2] for each in found if "." in each.partition("::")[2]] == [
        "DoorTest.closes",
        "DoorTest.ends",
        "DoorTest.opens",
    ]
