"""Calls that no run saw: what code that never ran shares with code that was seen to make them."""

import json
import sys
import zlib
from pathlib import Path

import pytest

from causalist import Repository
from causalist.observe.likely_calls import MAX_LIKELY, MIN_LIKELY, likely_calls, read_tokens
from tests.cli.commands import invoke, write_all
from tests.observe.programs import freshness_of, store_of

BOX = """class Box:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other

    @property
    def size(self):
        return 1


class Base:
    def run(self):
        return self.step()

    def step(self):
        return 0


class First(Base):
    def step(self):
        return 1


class Second(Base):
    def step(self):
        return 2


class Third(Base):
    def step(self):
        return 3
"""
USERS = "from box import Box, First, Second, Third\n\n\n" + "\n\n".join(
    f"def same_{name}():\n    return Box({name!r}) == {name!r}\n" for name in "abcde"
)
MAIN = """
import users


def other():
    return users.Box(1).value


for name in "abcd":
    getattr(users, "same_" + name)()
users.First().run()
users.Second().run()
other()
"""
FILES = {"box.py": BOX, "users.py": USERS, "main.py": MAIN}
SAME = "users.py::same_e"  # the one that does not run


@pytest.fixture
def boxes(tmp_path: Path) -> Path:
    root = write_all(tmp_path, FILES)
    assert invoke("observe", "--repo", str(root), "--", sys.executable, str(root / "main.py")).code == 0
    return root


def _likely(root: Path) -> dict[tuple[str, str], float]:
    return {(call.source.id, call.target.id): call.probability for call in store_of(root).likely}


def test_tokens_are_those_of_code_alone() -> None:
    assert read_tokens(b'"a.b(" # c.d(') == frozenset()
    assert {".size", "==", "[", "with", "f(", ")("} <= read_tokens(b"f = g()\nwith x[0].size == f(1): pass")


@pytest.mark.slow
def test_an_operator_that_others_like_it_ran(boxes: Path) -> None:
    likely = _likely(boxes)
    assert 0.5 <= likely[SAME, "box.py::Box.__eq__"] <= MAX_LIKELY
    assert (SAME, "box.py::Box.size") not in likely  # nobody reads it
    assert min(likely.values()) >= MIN_LIKELY
    assert not any(source == "main.py::other" for source, _ in likely)  # it ran: what it calls is known


@pytest.mark.slow
def test_an_override_of_what_was_dispatched_to(boxes: Path) -> None:
    likely = _likely(boxes)
    assert likely["box.py::Base.run", "box.py::Third.step"] >= 0.5
    assert ("box.py::Base.run", "box.py::Second.step") not in likely  # it was seen


@pytest.mark.slow
def test_it_is_an_edge_of_its_own_rule_until_one_end_changes(boxes: Path) -> None:
    def edges(*more: str) -> dict[str, tuple[str, float]]:
        done = invoke("callers", "Box.__eq__", "--json", "--repo", str(boxes), *more)
        return {each["source"]: (each["rule"], each["confidence"]) for each in json.loads(done.stdout)["edges"]}

    found = edges()
    rule, confidence = found[SAME]
    assert rule == "observed-alike" and confidence == _likely(boxes)[SAME, "box.py::Box.__eq__"]
    assert found["users.py::same_a"] == ("observed", 1.0)
    assert SAME not in edges("--no-observed")
    write_all(boxes, {"users.py": USERS.replace("Box('e') == 'e'", "Box('e').value")})
    assert SAME not in edges()


@pytest.mark.slow
def test_nothing_is_likely_without_calls_and_the_rest_is_the_same_each_time(boxes: Path) -> None:
    repository = Repository.open(boxes, exact_root=True)
    graph, freshness = repository.index.graph, freshness_of(boxes)

    def text_of(node: int) -> bytes:
        return freshness.text_of(graph.nodes.ids[node])

    assert likely_calls(graph, text_of, (), ()) == {}
    seen = {(call.source.id, call.target.id) for call in store_of(boxes).calls.values() if call.n}
    pairs = sorted((graph.nodes.ids.position(a), graph.nodes.ids.position(b)) for a, b in seen)
    ran = sorted({node for pair in pairs for node in pair})
    once = likely_calls(graph, text_of, pairs, ran)
    assert once == likely_calls(graph, text_of, pairs[::-1], ran[::-1]) and once


@pytest.mark.slow
def test_a_store_without_likely_calls_is_read(boxes: Path) -> None:
    """Stores that were written before there were any."""
    path = boxes / ".causalist" / "observed.jsonl"
    document = json.loads(path.read_bytes().partition(b"\n")[2])
    assert document.pop("likely")
    body = json.dumps(document).encode()
    path.write_bytes(json.dumps({"format": 1, "checksum": zlib.crc32(body)}).encode() + b"\n" + body)
    store = store_of(boxes)
    assert store.calls and store.likely == []
