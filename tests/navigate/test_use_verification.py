"""Verdicts on a use, on the graph of the neighbors."""

import dataclasses

import numpy as np

from causalist.model.graph import CodeGraph, UnresolvedCalls
from causalist.model.lookup import Certainty, VerdictReason
from causalist.model.string_table import StringTable
from causalist.navigate import verify_use
from tests.navigate.test_neighbors import GRAPH, at


def with_unresolved(source: str, name: str) -> CodeGraph:
    one = np.ones(1, dtype=np.int32)
    unresolved = UnresolvedCalls(one * at(source), one * 0, one, one * 6, StringTable.from_strings([name]))
    return dataclasses.replace(GRAPH, unresolved=unresolved)


def test_yes() -> None:
    verdict = verify_use(GRAPH, at("m.py::a"), at("m.py::b"), 0.5)
    assert verdict.known is Certainty.YES
    assert [(e.kind, e.confidence) for e in verdict.edges] == [("references", 0.9), ("calls", 0.4)]


def test_what_stands_inside_counts() -> None:
    assert verify_use(GRAPH, at("m.py::C"), at("m.py::d"), 0.5).known is Certainty.YES


def test_containing_is_no_use() -> None:
    assert verify_use(GRAPH, at("m.py::C"), at("m.py::C.run"), 0.5).known is Certainty.NO


def test_no_says_what_is_called() -> None:
    verdict = verify_use(GRAPH, at("m.py::c"), at("m.py::C"), 0.5)
    assert (verdict.known, verdict.edges, verdict.gaps) == (Certainty.NO, (), ())
    assert verdict.reason is VerdictReason.ABSENT
    assert [e.target for e in verdict.calls] == ["m.py::b", "m.py::d"]


def test_a_weak_edge_is_unknown() -> None:
    verdict = verify_use(GRAPH, at("m.py::a"), at("m.py::b"), 0.95)
    assert (verdict.known, verdict.reason) == (Certainty.UNKNOWN, VerdictReason.WEAK) and len(verdict.edges) == 2


def test_a_call_by_that_name_is_unknown() -> None:
    graph = with_unresolved("m.py::b", "run")
    verdict = verify_use(graph, at("m.py::b"), at("m.py::C.run"), 0.5)
    assert (verdict.known, verdict.reason) == (Certainty.UNKNOWN, VerdictReason.RECEIVER)
    assert [tuple(gap) for gap in verdict.gaps] == [("m.py::b", "run", 7, 1)]
    assert verify_use(graph, at("m.py::b"), at("m.py::C"), 0.5).known is Certainty.NO
    assert verify_use(graph, at("m.py::c"), at("m.py::C.run"), 0.5).known is Certainty.NO
