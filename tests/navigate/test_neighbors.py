"""Neighbors by hop, direction and kind, on a graph that fits in the head."""

import pytest

from causalist.errors import UsageError
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.lookup import Direction
from causalist.navigate import list_neighbors
from tests.graphs import EdgeSpec, make_graph

GRAPH = make_graph(
    ["m.py", *(f"m.py::{name}" for name in ("C", "C.run", "a", "b", "c", "d")), "external:os"],
    [
        EdgeSpec("m.py::a", "m.py::b", EdgeKind.CALLS, 0.4, row=3, rule="name-only"),
        EdgeSpec("m.py::a", "m.py::c", EdgeKind.CALLS, 0.9, row=4),
        EdgeSpec("m.py::a", "m.py::b", EdgeKind.REFERENCES, 0.9, row=5),
        EdgeSpec("m.py::a", "external:os", EdgeKind.CALLS, 0.9, row=6),
        EdgeSpec("m.py::c", "m.py::d", EdgeKind.CALLS, 0.9, row=8),
        EdgeSpec("m.py::c", "m.py::b", EdgeKind.CALLS, 0.9, row=9),
        EdgeSpec("m.py::d", "m.py::a", EdgeKind.CALLS, 0.8, row=10),
        EdgeSpec("m.py::C", "m.py::C.run", EdgeKind.CONTAINS),
        EdgeSpec("m.py::C.run", "m.py::d", EdgeKind.CALLS, 0.9, row=12),
    ],
)


def at(node: str, graph: CodeGraph = GRAPH) -> int:
    position = graph.nodes.ids.position(node)
    assert position >= 0
    return position


def groups(
    node: str, hops: int = 1, kinds: tuple[str, ...] = (), direction: Direction = Direction.BOTH, limit: int = 10
) -> list[tuple[int, str, str, int, list[tuple[str, str]]]]:
    found = list_neighbors(GRAPH, at(node), hops=hops, kinds=kinds, direction=direction, limit=limit)
    short = [[(e.source[6:], e.target[6:]) for e in group.edges] for group in found]
    return [(g.hop, g.direction.value, g.kind, g.n, edges) for g, edges in zip(found, short, strict=True)]


class TestNeighbors:
    def test_by_direction_and_kind(self) -> None:
        assert groups("m.py::a") == [
            (1, "in", "calls", 1, [("d", "a")]),
            (1, "out", "calls", 3, [("a", "al:os"), ("a", "c"), ("a", "b")]),  # the most confident first
            (1, "out", "references", 1, [("a", "b")]),
        ]

    def test_limit_counts_the_rest(self) -> None:
        assert groups("m.py::a", limit=1, kinds=("calls",), direction=Direction.OUT) == [
            (1, "out", "calls", 3, [("a", "al:os")])
        ]

    def test_hops_lead_to_what_was_not_seen(self) -> None:
        # b is one step away already, and what is outside is not stepped through.
        assert groups("m.py::a", hops=3, direction=Direction.OUT, kinds=("calls",))[1:] == [
            (2, "out", "calls", 1, [("c", "d")])
        ]
        assert groups("m.py::b", hops=3, direction=Direction.IN, kinds=("calls",)) == [
            (1, "in", "calls", 2, [("c", "b"), ("a", "b")]),
            (2, "in", "calls", 1, [("d", "a")]),
            (3, "in", "calls", 1, [("C.run", "d")]),
        ]

    def test_out_of_range(self) -> None:
        for wrong in ({"hops": 0}, {"limit": 0}, {"kinds": ("uses",)}):
            with pytest.raises(UsageError):
                groups("m.py::a", **wrong)  # type: ignore[arg-type]
