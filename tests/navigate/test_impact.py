"""What a change reaches, against a plain search in networkx."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.errors import UsageError
from causalist.model.graph import ORDERING_KINDS, CodeGraph, EdgeKind
from causalist.model.lookup import Affected
from causalist.model.node_ids import NodeKind, Role
from causalist.navigate import (
    find_affected_nodes,
    find_indirect_calls,
    find_nodes_of_rows,
    mark_tests,
    with_overloads_and_members,
)
from causalist.pipeline.repository import Repository
from tests.graphs import EdgeSpec, NodeSpec, make_graph, random_graphs


def reached(
    graph: CodeGraph, *changed: str, max_depth: int | None = None, min_confidence: float = 0.0
) -> tuple[Affected, ...]:
    nodes = [graph.nodes.ids.position(node) for node in changed]
    assert min(nodes) >= 0
    return find_affected_nodes(
        graph, with_overloads_and_members(graph, nodes), max_depth=max_depth, min_confidence=min_confidence
    )


GRAPH = make_graph(
    ["a.py", "a.py::C", "a.py::C.m", "b.py", "b.py::f", "b.py::g", "c.py", "c.py::h"],
    [
        EdgeSpec("b.py::f", "a.py::C.m", EdgeKind.CALLS, 0.4, row=1, rule="name-only"),
        EdgeSpec("b.py::f", "a.py::C.m", EdgeKind.REFERENCES, 0.9, row=2),
        EdgeSpec("b.py::g", "b.py::f", EdgeKind.CALLS, 0.9, row=3),
        EdgeSpec("b.py::f", "b.py::g", EdgeKind.CALLS, 0.9, row=4),
        EdgeSpec("c.py::h", "a.py::C", EdgeKind.EXTENDS, 0.9, row=5),
        EdgeSpec("c.py", "a.py", EdgeKind.IMPORTS, 1.0, row=0),
        EdgeSpec("a.py", "a.py::C", EdgeKind.CONTAINS, 1.0),
        EdgeSpec("a.py::C", "a.py::C.m", EdgeKind.CONTAINS, 1.0),
    ],
)


def test_users_of_users_by_depth() -> None:
    assert [(a.node, a.depth, a.edge.target, a.edge.kind) for a in reached(GRAPH, "a.py::C.m")] == [
        ("b.py::f", 1, "a.py::C.m", "references"),  # the more confident of the two
        ("b.py::g", 2, "b.py::f", "calls"),
    ]


def test_a_change_of_a_class_or_file_is_one_of_what_it_holds() -> None:
    assert [(a.node, a.depth) for a in reached(GRAPH, "a.py::C")] == [("b.py::f", 1), ("c.py::h", 1), ("b.py::g", 2)]
    assert [(a.node, a.depth) for a in reached(GRAPH, "a.py")] == [
        ("b.py::f", 1), ("c.py", 1), ("c.py::h", 1), ("b.py::g", 2)
    ]  # fmt: skip


def test_probabilities_are_products_along_chains() -> None:
    """m: C.m is called by f at .4 (a share of .7 runs) and referred to at .9 (.85); f and g call one another at .9."""
    chances = {each.node: each.probability for each in reached(GRAPH, "a.py::C.m")}
    called, named = 0.4 * 0.7, 0.9 * 0.85
    by_g = (named * 0.9 * 0.7) * 0.9 * 0.7  # g runs f, which may run m, and f calls g in turn
    assert chances["b.py::f"] == pytest.approx(1 - (1 - called) * (1 - named) * (1 - by_g))
    assert chances["b.py::g"] == pytest.approx(named * 0.9 * 0.7)


def test_a_function_named_like_a_test_is_one(named: Repository) -> None:
    """It calls nothing, so that no edge says so. Its file is one by the name of the file that it tests."""
    graph = named.index.graph
    assert [graph.nodes.ids[node] for node in np.flatnonzero(mark_tests(graph)).tolist()] == [
        "tests/test_auth.py",
        "tests/test_auth.py::test_auth",
    ]


def test_a_handler_that_declares_a_test_is_one() -> None:
    """Whom it calls is guessed, so that no edge says so. `before` prepares what others run."""
    graph = make_graph(
        ["spec/a.spec.ts", *(
            NodeSpec(f"spec/a.spec.ts::{name}", kind=NodeKind.HANDLER, role=Role.TEST)
            for name in ("describe add", "describe add.it adds", "beforeEach db", "describe add.test sums")
        )],
        [],
    )  # fmt: skip
    assert [graph.nodes.ids[node] for node in np.flatnonzero(mark_tests(graph)).tolist()] == [
        "spec/a.spec.ts::describe add.it adds",
        "spec/a.spec.ts::describe add.test sums",
    ]


def test_bounds() -> None:
    assert [a.node for a in reached(GRAPH, "a.py::C.m", max_depth=1)] == ["b.py::f"]
    with pytest.raises(UsageError, match="at least 1"):
        reached(GRAPH, "a.py::C.m", max_depth=0)
    assert reached(GRAPH, "a.py::C.m", min_confidence=0.95) == ()
    assert [a.node for a in reached(GRAPH, "a.py", min_confidence=0.95)] == ["c.py"]


def test_overloads_are_one() -> None:
    graph = make_graph(["a.py", "a.py::f", "a.py::f~2", "a.py::f~x", "a.py::g"], [("a.py::g", "a.py::f")])
    assert [a.node for a in reached(graph, "a.py::f~2")] == ["a.py::g"]
    assert reached(graph, "a.py::f~x") == ()


def test_members_beside_their_type_are_its_members() -> None:
    """As in Go, where the parent of a method is the file."""
    graph = make_graph(["a.go", "a.go::T", "a.go::T.m", "a.go::Tx", "a.go::g"], [("a.go::g", "a.go::T.m")])
    parents = graph.nodes.parents.copy()
    parents[graph.nodes.ids.position("a.go::T.m")] = graph.nodes.ids.position("a.go")
    graph = dataclasses.replace(graph, nodes=dataclasses.replace(graph.nodes, parents=parents))
    assert [a.node for a in reached(graph, "a.go::T")] == ["a.go::g"]
    assert reached(graph, "a.go::Tx") == ()


def test_callers_of_what_is_overridden_may_run_what_overrides_it() -> None:
    graph = make_graph(
        [
            "a.py",
            "a.py::I",
            "a.py::I.m",
            "a.py::B.m",
            "a.py::D.m",
            "a.py::E.m",
            "b.py",
            "b.py::f",
            "b.py::g",
            "b.py::h",
        ],
        [
            EdgeSpec("a.py::B.m", "a.py::I.m", EdgeKind.OVERRIDES, 0.9),
            EdgeSpec("a.py::D.m", "a.py::B.m", EdgeKind.OVERRIDES, 0.9),
            EdgeSpec("a.py::E.m", "a.py::I.m", EdgeKind.OVERRIDES, 0.9),
            EdgeSpec("b.py::f", "a.py::I.m", EdgeKind.CALLS, 0.9, row=1),
            EdgeSpec("b.py::g", "a.py::D.m", EdgeKind.CALLS, 0.8, row=2),
            EdgeSpec("b.py::g", "a.py::B.m", EdgeKind.CALLS, 0.9, row=3),
            EdgeSpec("b.py::h", "b.py::f", EdgeKind.CALLS, 0.9, row=4),
        ],
    )
    # D.m overrides B.m, which implements I.m: f calls I.m, and D.m may run. Its siblings and bases are as they were.
    assert [(a.node, a.depth, a.edge.target, a.overridden_by) for a in reached(graph, "a.py::D.m")] == [
        ("b.py::f", 1, "a.py::I.m", "a.py::D.m"),
        ("b.py::g", 1, "a.py::D.m", ""),  # the direct use, although another is more certain
        ("b.py::h", 2, "b.py::f", ""),
    ]
    # What the interface asks for concerns all that implements it.
    assert [(a.node, a.depth) for a in reached(graph, "a.py::I.m")] == [
        ("a.py::B.m", 1), ("a.py::E.m", 1), ("b.py::f", 1), ("a.py::D.m", 2), ("b.py::g", 2), ("b.py::h", 2)
    ]  # fmt: skip
    through = find_indirect_calls(graph, graph.nodes.ids.position("a.py::D.m"))
    assert [(e.source, e.target) for e in through] == [("b.py::f", "a.py::I.m"), ("b.py::g", "a.py::B.m")]
    assert reached(graph, "a.py::D.m", min_confidence=0.95) == ()


def test_a_deep_chain_of_overriding_methods_is_climbed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each method calls that of the class above, and overrides it: `m0` is called by all, directly or not."""
    climbed: list[int] = []
    edges_out_of = CodeGraph.edges_out_of

    def counted(graph: CodeGraph, nodes: np.ndarray) -> np.ndarray:
        climbed.append(len(nodes))
        return edges_out_of(graph, nodes)

    monkeypatch.setattr(CodeGraph, "edges_out_of", counted)

    def n_climbed(depth: int) -> int:
        nodes = ["a.py", *(f"a.py::m{i}" for i in range(depth))]
        pairs = [(f"a.py::m{i + 1}", f"a.py::m{i}") for i in range(depth - 1)]
        kinds = (EdgeKind.CALLS, EdgeKind.OVERRIDES)
        graph = make_graph(nodes, [EdgeSpec(source, to, kind, 0.9) for source, to in pairs for kind in kinds])
        climbed.clear()
        assert [each.depth for each in reached(graph, "a.py::m0")] == list(range(1, depth))
        return sum(climbed)

    assert n_climbed(40) < 2.3 * n_climbed(20)


def test_nothing_uses_it() -> None:
    assert reached(GRAPH, "c.py::h") == ()


@pytest.mark.slow
@given(random_graphs(), st.data())
def test_is_breadth_first_search_against_the_edges(graph: CodeGraph, data: st.DataObject) -> None:
    ids = list(graph.nodes.ids)
    start = data.draw(st.sampled_from(ids))
    reverse = nx.DiGraph()
    reverse.add_nodes_from(ids)
    labels = {kind.label for kind in ORDERING_KINDS}
    edges = [graph.edge(e) for e in range(len(graph.edges))]
    reverse.add_edges_from((e.target, e.source) for e in edges if e.kind in labels)
    derived = nx.DiGraph([(e.source, e.target) for e in edges if e.kind == "overrides"])
    through = {(node, base) for node in derived for base in nx.descendants(derived, node)}
    reverse.add_edges_from(
        (node, e.source)
        for node, base in through
        for e in edges
        if e.target == base and e.kind in ("calls", "references")
    )
    # make_graph's symbols stand in their file.
    inside = {n for n in ids if n == start or n.startswith(f"{start}::")}
    expected: dict[str, int] = {}
    for node in inside:
        for other, depth in nx.single_source_shortest_path_length(reverse, node).items():
            expected[other] = min(depth, expected.get(other, depth))
    found = reached(graph, start)
    assert {a.node: a.depth for a in found} == {n: d for n, d in expected.items() if n not in inside}
    assert list(found) == sorted(found, key=lambda a: (a.depth, a.node))
    for a in found:
        if a.overridden_by:
            assert (a.overridden_by, a.edge.target) in through and expected.get(a.overridden_by) == a.depth - 1
            assert a.edge.source == a.node and a.edge.kind in ("calls", "references")
            continue
        same = [e for e in edges if e.source == a.node and e.kind in labels and expected.get(e.target) == a.depth - 1]
        assert a.edge in same and a.edge.confidence == max(e.confidence for e in same)


def test_rows_belong_to_the_innermost_node() -> None:
    graph = make_graph(
        [
            NodeSpec("a.py", end_row=20),
            NodeSpec("a.py::C", start_row=3, end_row=12, start_byte=30),
            NodeSpec("a.py::C.m", start_row=5, end_row=7, start_byte=50),
            NodeSpec("a.py::f", start_row=14, end_row=16, start_byte=140),
            NodeSpec("b.py", end_row=3),
        ]
    )

    def nodes(**rows: list[tuple[int, int]]) -> list[str]:
        found = find_nodes_of_rows(graph, {f"{name}.py": ranges for name, ranges in rows.items()})
        return [graph.nodes.ids[node] for node in found.tolist()]

    assert nodes(a=[(6, 6)]) == ["a.py::C.m"]
    assert nodes(a=[(4, 4)]) == ["a.py::C"]
    assert nodes(a=[(7, 8), (13, 13)]) == ["a.py", "a.py::C", "a.py::C.m"]
    assert nodes(a=[(16, 30)], b=[(0, 0)], gone=[(0, 5)]) == ["a.py", "a.py::f", "b.py"]
    assert nodes() == []
