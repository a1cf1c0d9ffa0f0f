"""Every invariant that lint checks, broken once."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from causalist.model.graph import CodeGraph, EdgeKind, UnresolvedCalls
from causalist.model.index import FileNote, Index
from causalist.model.lookup import ResolutionCounts, UnresolvedCall
from causalist.model.string_table import StringTable
from causalist.navigate import find_defects
from causalist.pipeline.repository import Repository
from tests.graphs import EdgeSpec, NodeSpec, make_graph, random_graphs

GRAPH = make_graph(
    [NodeSpec("a.py", end_row=9, end_byte=90), NodeSpec("a.py::f", end_row=4, end_byte=40), "a.py::g", "external:os"],
    [
        EdgeSpec("a.py::f", "a.py::g", EdgeKind.CALLS, 0.9, n=2),
        EdgeSpec("a.py::g", "a.py::f", EdgeKind.CALLS, 0.4, rule="name-only"),
        EdgeSpec("a.py::f", "external:os", EdgeKind.CALLS, 0.9, n=3, rule="external"),
    ],
)


def slugs(named: Repository, graph: CodeGraph, **changes: Any) -> list[str]:
    index = dataclasses.replace(named.index, graph=graph, **changes)
    return [finding.slug for finding in find_defects(index).findings]


def nodes(**changes: Any) -> CodeGraph:
    return dataclasses.replace(GRAPH, nodes=dataclasses.replace(GRAPH.nodes, **changes))


def edges(**changes: Any) -> CodeGraph:
    return dataclasses.replace(GRAPH, edges=dataclasses.replace(GRAPH.edges, **changes))


def changed(array: np.ndarray, at: int, value: float) -> np.ndarray:
    copy = array.copy()
    copy[at] = value
    return copy


def test_a_whole_index(named: Repository) -> None:
    assert slugs(named, GRAPH, notes=()) == []


@pytest.mark.parametrize(
    ("graph", "slug"),
    [
        (nodes(ids=StringTable.from_strings(["a.py", "a.py::g", "a.py::g", "external:os"])), "wrong-id"),
        (nodes(ids=StringTable.from_strings(["a.py::f", "a.py", "a.py::g", "external:os"])), "wrong-id"),
        (nodes(files=changed(GRAPH.nodes.files, 1, -1)), "wrong-place"),
        (nodes(files=changed(GRAPH.nodes.files, 1, 99)), "wrong-place"),
        (nodes(parents=changed(GRAPH.nodes.parents, 1, 99)), "wrong-place"),
        (nodes(end_bytes=changed(GRAPH.nodes.end_bytes, 1, 91)), "span-outside"),
        (nodes(end_rows=changed(GRAPH.nodes.end_rows, 1, 10)), "span-outside"),
        (nodes(start_bytes=changed(GRAPH.nodes.start_bytes, 1, 41)), "span-outside"),
        (edges(targets=changed(GRAPH.edges.targets, 0, 9)), "dangling-edge"),
        (edges(sources=changed(GRAPH.edges.sources, 0, -1)), "dangling-edge"),
        (edges(rules=changed(GRAPH.edges.rules, 0, 77)), "missing-rule"),
        (edges(confidences=changed(GRAPH.edges.confidences, 0, 0.0)), "wrong-confidence"),
        (edges(confidences=changed(GRAPH.edges.confidences, 0, 1.5)), "wrong-confidence"),
        (edges(confidences=changed(GRAPH.edges.confidences, 0, np.nan)), "wrong-confidence"),
        (edges(candidates=changed(GRAPH.edges.candidates, 0, 0)), "wrong-confidence"),
    ],
)
def test_what_is_broken_is_found(graph: CodeGraph, slug: str, named: Repository) -> None:
    assert slugs(named, graph, notes=()) == [slug]


def test_what_was_read_in_part_is_found(named: Repository) -> None:
    notes = (FileNote("a.py", "syntax-error", "one place", 3), FileNote("b.py", "not-utf-8", "a byte", -1))
    index: Index = dataclasses.replace(named.index, graph=GRAPH, notes=notes)
    assert [(f.slug, f.where) for f in find_defects(index).findings] == [
        ("syntax-error", "a.py:4"),
        ("not-utf-8", "b.py"),
    ]


def test_calls_by_language(named: Repository) -> None:
    assert find_defects(dataclasses.replace(named.index, graph=GRAPH)).calls == (
        ResolutionCounts("python", 2, 1, 3, 0),
    )


def test_unresolved_calls_have_examples(named: Repository) -> None:
    calls = [("f", "x", 4, 1), ("f", "y", 5, 2), ("f", "?", 6, 9), ("g", "x", 2, 3), ("g", "z", 7, 1), ("g", "w", 8, 1)]
    texts = StringTable.from_strings(["?", "w", "x", "y", "z"])
    columns = (
        [GRAPH.nodes.ids.position(f"a.py::{source}") for source, *_ in calls],
        [list(texts).index(name) for _, name, *_ in calls],
        [n for *_, n in calls],
        [row for _, _, row, _ in calls],
    )
    unresolved = UnresolvedCalls(*(np.array(column, dtype=np.int32) for column in columns), texts)
    graph = dataclasses.replace(GRAPH, unresolved=unresolved)
    (python,) = find_defects(dataclasses.replace(named.index, graph=graph)).calls
    # x is called four times, y twice, w before z by name; "?" is no name.
    assert python.unresolved == 17
    assert python.examples == (
        UnresolvedCall("a.py::f", "x", 5, 4),
        UnresolvedCall("a.py::f", "y", 6, 2),
        UnresolvedCall("a.py::g", "w", 9, 1),
    )


def test_a_rule_that_nobody_knows_is_found(named: Repository) -> None:
    graph = dataclasses.replace(GRAPH, rule_names=("gone", *GRAPH.rule_names[1:]))
    assert "gone" not in GRAPH.rule_names and slugs(named, graph, notes=()) == ["missing-rule"]


def test_rules_without_a_measured_precision_are_said(named: Repository) -> None:
    (each,) = find_defects(dataclasses.replace(named.index, graph=GRAPH)).unmeasured
    assert (each.rule, each.evidence, each.edges) == ("external", "names", 1) and 0.9 < each.confidence < 1


@pytest.mark.slow
@given(graph=random_graphs())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_graphs_are_whole(graph: CodeGraph, named: Repository) -> None:
    assert slugs(named, graph, notes=()) == []
