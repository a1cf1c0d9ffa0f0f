"""Pictures: what stands in them and where, read back from the SVG."""

import random
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from causalist.pipeline.repository import Repository
from causalist.serialize.svg import (
    MAX_PICTURE_NODES,
    EdgeSource,
    NodeMark,
    PictureEdge,
    PictureNode,
    draw_impact,
    draw_picture,
    draw_users,
)

SVG = "{http://www.w3.org/2000/svg}"


class Read:
    """Boxes by id as (left, top, width, height), arrows as (first point, last point, element), and lines of text."""

    def __init__(self, svg: str) -> None:
        self.root = ElementTree.fromstring(svg)
        self.boxes = {}
        for group in self.root.iter(f"{SVG}g"):
            rect = group.find(f"{SVG}rect")
            assert rect is not None
            self.boxes[group.attrib["data-node"]] = tuple(float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
        paths = [each for each in self.root.findall(f"{SVG}path") if "marker-end" in each.attrib]
        self.arrows = []
        for path in paths:
            numbers = [float(n) for n in re.findall(r"-?[0-9.]+", path.attrib["d"])]
            self.arrows.append(((numbers[0], numbers[1]), (numbers[-2], numbers[-1]), path))
        self.texts = ["".join(each.itertext()) for each in self.root.iter(f"{SVG}text")]


def draw(edges: Sequence[tuple[str, str]], *more: str) -> Read:
    names = dict.fromkeys([*(name for edge in edges for name in edge), *more])
    arrows = [PictureEdge(source, target, "calls", 0.99) for source, target in edges]
    return Read(draw_picture([PictureNode(name) for name in names], arrows, "title"))


def test_a_column_is_the_longest_chain_of_uses() -> None:
    read = draw([("a", "b"), ("b", "c"), ("a", "c")])
    lefts = [read.boxes[name][0] for name in "abc"]
    assert lefts == sorted(lefts) and len(set(lefts)) == 3


def test_arrows_lead_from_box_to_box() -> None:
    read = draw([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")])
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")]
    for (source, target), (start, end, _) in zip(edges, read.arrows, strict=True):
        left, top, width, height = read.boxes[source]
        assert start == pytest.approx((left + width, top + height / 2), abs=0.1)
        left, top, _, height = read.boxes[target]
        assert end == pytest.approx((left, top + height / 2), abs=0.1)


def test_a_cycle_stands_in_one_column() -> None:
    read = draw([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])
    assert read.boxes["b"][0] == read.boxes["c"][0]
    assert read.boxes["a"][0] < read.boxes["b"][0] < read.boxes["d"][0]


def test_rows_follow_their_neighbours() -> None:
    """As listed, the arrows would cross."""
    read = draw([("a", "y"), ("b", "x")], "x", "y")
    assert (read.boxes["a"][1] < read.boxes["b"][1]) == (read.boxes["y"][1] < read.boxes["x"][1])


def test_boxes_overlap_neither_one_another_nor_the_edge_of_the_drawing() -> None:
    rng = random.Random(7)
    for n in (1, 2, 9, 40):
        names = [f"package{i % 5}/module{i}.py::function{i}" for i in range(n)]
        edges = [(rng.choice(names), rng.choice(names)) for _ in range(2 * n)]
        read = draw(edges, *names)
        width, height = (float(read.root.attrib[k]) for k in ("width", "height"))
        placed = list(read.boxes.values())
        assert len(placed) == n
        for i, (x, y, w, h) in enumerate(placed):
            assert x >= 0 and x + w <= width and y >= 0 and y + h <= height
            for x2, y2, w2, h2 in placed[:i]:
                assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_both_lines_of_a_box_are_read_and_fit_into_it() -> None:
    node, place = "a.js::test res%2Eend() ends", "test/response.test.js:1234567890"
    read = Read(draw_picture([PictureNode(node, place)], (), "title"))
    assert read.texts[1:3] == ["test res.end() ends", place]
    assert read.boxes[node][2] >= 8 + len(place) * 6  # a character of the small font is 6 pixels wide


def test_a_line_says_how_an_edge_is_known() -> None:
    nodes = [PictureNode(name) for name in "abcdef"]
    edges = [
        PictureEdge("a", "b", "calls", 0.3),
        PictureEdge("a", "c", "calls", 0.99),
        PictureEdge("a", "d", "calls", 0.2, EdgeSource.OBSERVED),
        PictureEdge("a", "e", "tests", 0.99, EdgeSource.PROVEN),
        PictureEdge("a", "f", "uses", 1.0, alert="to cut"),
    ]
    read = Read(draw_picture(nodes, edges, "title"))
    widths = [float(path.attrib["stroke-width"]) for _, _, path in read.arrows]
    dashed = ["stroke-dasharray" in path.attrib for _, _, path in read.arrows]
    assert widths[0] < widths[1] < widths[2] < widths[3]
    assert dashed == [True, False, False, False, True]
    assert (
        "an arrow leads from the user to what it uses; firm: proven; thick: observed; thin: read from the code; "
        "dashed: below .5; red: to cut" in read.texts
    )


def test_of_two_edges_the_stronger_one_is_drawn() -> None:
    nodes = [PictureNode("a"), PictureNode("b")]
    edges = [
        PictureEdge("a", "b", "references", 0.4),
        PictureEdge("a", "b", "calls", 0.9),
        PictureEdge("a", "a", "calls", 1),
    ]
    (arrow,) = Read(draw_picture(nodes, edges, "title")).arrows
    assert "".join(arrow[2].itertext()) == "a calls b, 0.90, code"


def test_what_is_left_out_is_counted() -> None:
    nodes = [PictureNode(f"n{i}") for i in range(MAX_PICTURE_NODES + 3)]
    read = Read(draw_picture(nodes, [PictureEdge("n0", f"n{len(nodes) - 1}", "calls", 1.0)], "title", ("a note",)))
    assert len(read.boxes) == MAX_PICTURE_NODES and not read.arrows
    assert read.texts[-3:-1] == ["a note", "3 nodes more, not drawn"]


def test_names_never_become_markup() -> None:
    hostile = 'a.py::<script>&"\x1b]0;\x07\u202e'
    svg = draw_picture([PictureNode(hostile, "<b>", NodeMark.CHANGED)], [], "<title>")
    read = Read(svg)
    assert "<script>" not in svg and "\x1b" not in svg and "\u202e" not in svg
    assert len(read.boxes) == 1 and any("<script>" in text for text in read.texts)


def test_nothing_is_a_picture_with_its_title() -> None:
    assert Read(draw_picture([], [], "nothing")).texts[0] == "nothing"


def test_of_a_hub_only_the_steps_that_have_room_are_followed(tmp_path: Path) -> None:
    users = [f"def user{i}():\n    hub()\n" for i in range(MAX_PICTURE_NODES + 5)]
    chain = ["def far():\n    user1()\n", "def farther():\n    far()\n"]
    (tmp_path / "hub.py").write_text("\n".join(["def hub():\n    pass\n", *users, *chain]))
    repository = Repository.open(tmp_path)
    hub, few = Read(draw_users("hub.py::hub", repository)), Read(draw_users("hub.py::user1", repository))
    whole = Read(draw_impact(["hub.py::hub"], repository.impact("hub.py::hub"), "hub.py::hub"))
    assert hub.boxes == whole.boxes
    assert "what is more than 1 step away is not counted" in hub.texts
    assert "hub.py::far" in few.boxes and "hub.py::farther" in few.boxes
    assert not any("not counted" in text for text in few.texts)
