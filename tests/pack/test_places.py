"""What a pack says of its items: where they are, and which lines of the file it shows under each."""

import pytest

from causalist.model.answer import ShownRange
from causalist.pack import render_pack
from tests.pack.builders import item, pack_input

CLASS = "class Retry:\n    limit = 3\n    def wait(self):\n        return 1\n    def stop(self):\n        return 2"
METHOD = "    def wait(self):\n        return 1"
INPUT = pack_input(
    item("a.py", "Retry", CLASS, start=10, score=0.9, kind="class"),
    item("a.py", "Retry.wait", METHOD, start=12, score=0.8, kind="method"),
    item("b.py", "main", "def main(): ...", start=3, score=0.1, via=True),
)


@pytest.mark.parametrize("format", ["text", "markdown", "xml", "json"])
def test_an_inner_item_has_its_own_lines(format: str) -> None:
    places = render_pack(INPUT, max_tokens=2000, format=format).places
    assert all(place.tokens > 0 for place in places)
    assert tuple(place._replace(tokens=0) for place in places) == (
        ShownRange("a.py::Retry", "a.py", "Retry", "class", 10, 15, ((10, 11), (14, 15)), rank=1),
        ShownRange("a.py::Retry.wait", "a.py", "Retry.wait", "method", 12, 13, ((12, 13),), rank=2),
        ShownRange("b.py::main", "b.py", "main", "function", 3, 3, ((3, 3),)),
    )


def test_a_drawing_shows_no_lines() -> None:
    places = render_pack(INPUT, max_tokens=2000, format="mermaid").places
    assert [(place.shown, place.tokens) for place in places] == [((), 0)] * 3


def test_what_is_cut_is_not_shown() -> None:
    text = "\n".join(["def retry():", *(f"    step_{n} = wait({n})" for n in range(2, 41))])
    pack = render_pack(pack_input(item("a.py", "retry", text, start=1)), max_tokens=220, format="text")
    ((first, last),) = pack.places[0].shown
    assert first == 1 and 3 <= last < 40
    assert f"step_{last} =" in pack.text and f"step_{last + 1} =" not in pack.text


def test_an_item_that_has_no_room_is_no_place() -> None:
    items = [item(f"src/module_{n}.py", f"handler_{n}", "x = 1", score=1 / (n + 1)) for n in range(40)]
    pack = render_pack(pack_input(*items), max_tokens=200, format="text")
    left_out = {omitted.node for omitted in pack.omitted if omitted.what == "item"}
    assert left_out and left_out.isdisjoint(place.node for place in pack.places)
    assert len(left_out) + len(pack.places) == 40
