"""Neighbours by hop, direction and kind, and verdicts, on graphs that fit in the head."""

import dataclasses

import numpy as np
import pytest

from causalist.errors import UsageError
from causalist.model.graph import CodeGraph, EdgeKind, UnresolvedCalls
from causalist.model.lookup import Certainty, Direction, VerdictReason
from causalist.model.string_table import StringTable
from causalist.navigate import list_neighbors, verify_use
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


def with_unresolved(source: str, name: str) -> CodeGraph:
    one = np.ones(1, dtype=np.int32)
    unresolved = UnresolvedCalls(one * at(source), one * 0, one, one * 6, StringTable.from_strings([name]))
    return dataclasses.replace(GRAPH, unresolved=unresolved)


class TestVerdicts:
    def test_yes(self) -> None:
        verdict = verify_use(GRAPH, at("m.py::a"), at("m.py::b"), 0.5)
        assert verdict.known is Certainty.YES
        assert [(e.kind, e.confidence) for e in verdict.edges] == [("references", 0.9), ("calls", 0.4)]

    def test_what_stands_inside_counts(self) -> None:
        assert verify_use(GRAPH, at("m.py::C"), at("m.py::d"), 0.5).known is Certainty.YES

    def test_containing_is_no_use(self) -> None:
        assert verify_use(GRAPH, at("m.py::C"), at("m.py::C.run"), 0.5).known is Certainty.NO

    def test_no_says_what_is_called(self) -> None:
        verdict = verify_use(GRAPH, at("m.py::c"), at("m.py::C"), 0.5)
        assert (verdict.known, verdict.edges, verdict.gaps) == (Certainty.NO, (), ())
        assert verdict.reason is VerdictReason.ABSENT
        assert [e.target for e in verdict.calls] == ["m.py::b", "m.py::d"]

    def test_a_weak_edge_is_unknown(self) -> None:
        verdict = verify_use(GRAPH, at("m.py::a"), at("m.py::b"), 0.95)
        assert (verdict.known, verdict.reason) == (Certainty.UNKNOWN, VerdictReason.WEAK) and len(verdict.edges) == 2

    def test_a_call_by_that_name_is_unknown(self) -> None:
        graph = with_unresolved("m.py::b", "run")
        verdict = verify_use(graph, at("m.py::b"), at("m.py::C.run"), 0.5)
        assert (verdict.known, verdict.reason) == (Certainty.UNKNOWN, VerdictReason.RECEIVER)
        assert [tuple(gap) for gap in verdict.gaps] == [("m.py::b", "run", 7, 1)]
        assert verify_use(graph, at("m.py::b"), at("m.py::C"), 0.5).known is Certainty.NO
        assert verify_use(graph, at("m.py::c"), at("m.py::C.run"), 0.5).known is Certainty.NO
