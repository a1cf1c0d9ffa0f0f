"""Constructors and special methods, on graphs that fit in the head."""

import pytest

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.lookup import Certainty, Direction, VerdictReason
from causalist.model.node_ids import NodeKind
from causalist.navigate import (
    calls_to,
    describe_definition,
    find_affected_nodes,
    find_indirect_calls,
    list_neighbors,
    verify_use,
    with_overloads_and_members,
)
from tests.graphs import EdgeSpec, NodeSpec, make_graph

# Coat has a constructor that calls that of Cloth; Scarf inherits it. Pin is made by one who also names Cloth.
GRAPH = make_graph(
    [
        "a.py",
        NodeSpec("a.py::Cloth", NodeKind.CLASS),
        NodeSpec("a.py::Cloth.__init__", NodeKind.METHOD),
        NodeSpec("a.py::Cloth.__eq__", NodeKind.METHOD),
        NodeSpec("a.py::Cloth.fold", NodeKind.METHOD),
        NodeSpec("a.py::Coat", NodeKind.CLASS),
        NodeSpec("a.py::Coat.__init__", NodeKind.METHOD),
        NodeSpec("a.py::Scarf", NodeKind.CLASS),
        "a.py::cut",
        "b.py",
        "b.py::named",
        "b.py::sew",
        "b.py::shop",
        "b.py::knit",
    ],
    [
        EdgeSpec("a.py::Cloth.__init__", "a.py::cut", EdgeKind.CALLS, 0.9, row=2),
        EdgeSpec("a.py::Coat", "a.py::Cloth", EdgeKind.EXTENDS, 0.9, row=4),
        EdgeSpec("a.py::Scarf", "a.py::Cloth", EdgeKind.EXTENDS, 0.5, row=6),
        EdgeSpec("a.py::Coat.__init__", "a.py::Cloth.__init__", EdgeKind.CALLS, 0.9, row=5, rule="super"),
        EdgeSpec("b.py::sew", "a.py::Coat", EdgeKind.CALLS, 0.8, row=1),
        EdgeSpec("b.py::shop", "b.py::sew", EdgeKind.CALLS, 0.9, row=2),
        EdgeSpec("b.py::knit", "a.py::Scarf", EdgeKind.CALLS, 0.8, row=3),
        EdgeSpec("b.py::named", "a.py::Cloth", EdgeKind.REFERENCES, 0.8, row=4),
    ],
)


def at(name: str, graph: CodeGraph = GRAPH) -> int:
    position = graph.nodes.ids.position(name)
    assert position >= 0
    return position


def callers(name: str, graph: CodeGraph = GRAPH) -> list[tuple[str, str, float]]:
    return [(e.source, e.target, pytest.approx(e.confidence)) for e in calls_to(graph, at(name, graph))]


def affected(name: str, min_confidence: float = 0.0) -> list[tuple[str, int, str, str]]:
    found = find_affected_nodes(
        GRAPH, with_overloads_and_members(GRAPH, [at(name)]), max_depth=None, min_confidence=min_confidence
    )
    return [(each.node, each.depth, each.edge.target, each.runs) for each in found]


def test_a_call_of_a_class_is_one_of_its_constructor() -> None:
    assert callers("a.py::Coat.__init__") == [("b.py::sew", "a.py::Coat", 0.8)]
    # Scarf has the one of Cloth: 0.8 that it is called, 0.5 that it derives. Who only names Cloth calls nothing.
    assert callers("a.py::Cloth.__init__") == [
        ("a.py::Coat.__init__", "a.py::Cloth.__init__", 0.9),
        ("b.py::knit", "a.py::Scarf", 0.4),
    ]
    assert callers("a.py::Cloth.fold") == []
    assert describe_definition(GRAPH, at("a.py::Cloth.__init__")).n_callers == 2


def test_a_change_reaches_who_makes_instances_of_derived_classes() -> None:
    assert affected("a.py::cut") == [
        ("a.py::Cloth.__init__", 1, "a.py::cut", ""),
        ("a.py::Coat.__init__", 2, "a.py::Cloth.__init__", ""),
        ("b.py::knit", 2, "a.py::Scarf", "a.py::Cloth.__init__"),
        ("b.py::sew", 2, "a.py::Coat", "a.py::Cloth.__init__"),  # making a Coat runs both constructors
        ("b.py::shop", 3, "b.py::sew", ""),
    ]
    # Of sew 0.8 * 0.9 = 0.72 is left, of knit 0.8 * 0.5 = 0.4.
    assert [node for node, *_ in affected("a.py::cut", 0.7)] == [
        "a.py::Cloth.__init__", "a.py::Coat.__init__", "b.py::sew", "b.py::shop"
    ]  # fmt: skip
    # At 0.75 the bases do not lead to sew any more, but its own call of the constructor of Coat does.
    assert affected("a.py::cut", 0.75)[2:] == [
        ("b.py::sew", 3, "a.py::Coat", "a.py::Coat.__init__"), ("b.py::shop", 4, "b.py::sew", "")
    ]  # fmt: skip


def test_users_of_a_class_may_run_its_special_methods() -> None:
    found = find_indirect_calls(GRAPH, at("a.py::Cloth.__eq__"))
    # A call of a class counts 0.05, naming it 0.01: 0.8 * 0.9 * 0.05, 0.8 * 0.5 * 0.05 and 0.8 * 0.01.
    assert [(e.source, e.target, pytest.approx(e.confidence)) for e in found] == [
        ("b.py::sew", "a.py::Coat", 0.036), ("b.py::knit", "a.py::Scarf", 0.02), ("b.py::named", "a.py::Cloth", 0.008)
    ]  # fmt: skip
    assert callers("a.py::Cloth.__eq__") == []
    assert [node for node, *_ in affected("a.py::Cloth.__eq__")] == [
        "b.py::knit", "b.py::named", "b.py::sew", "b.py::shop"
    ]  # fmt: skip
    assert affected("a.py::Cloth.__eq__", 0.04) == []


def test_verdicts_know_constructors_and_doubt_special_methods() -> None:
    assert verify_use(GRAPH, at("b.py::sew"), at("a.py::Coat.__init__"), 0.5).known is Certainty.YES
    inherited = verify_use(GRAPH, at("b.py::knit"), at("a.py::Cloth.__init__"), 0.3)
    assert (inherited.known, [edge.target for edge in inherited.edges]) == (Certainty.YES, ["a.py::Scarf"])
    special = verify_use(GRAPH, at("b.py::sew"), at("a.py::Cloth.__eq__"), 0.5)
    assert (special.known, special.reason) == (Certainty.UNKNOWN, VerdictReason.WEAK)
    assert verify_use(GRAPH, at("b.py::named"), at("a.py::Cloth.__init__"), 0.5).known is Certainty.NO


def test_neighbors_step_through_a_call_of_a_class() -> None:
    def steps(node: str, direction: Direction) -> list[tuple[int, str, str]]:
        groups = list_neighbors(GRAPH, at(node), hops=3, kinds=("calls",), direction=direction, limit=9)
        return [(group.hop, edge.source, edge.target) for group in groups for edge in group.edges]

    assert steps("b.py::sew", Direction.OUT) == [
        (1, "b.py::sew", "a.py::Coat"),
        (2, "a.py::Coat.__init__", "a.py::Cloth.__init__"),
        (3, "a.py::Cloth.__init__", "a.py::cut"),
    ]
    assert steps("a.py::Coat.__init__", Direction.IN) == [
        (1, "b.py::sew", "a.py::Coat"), (2, "b.py::shop", "b.py::sew")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("signature", "first"), [("class Both(Late, Early)", "Late"), ("class Both(Early, Late)", "Early")]
)
def test_of_several_bases_the_first_in_the_signature_has_the_constructor(signature: str, first: str) -> None:
    graph = make_graph(
        [
            "a.py",
            NodeSpec("a.py::Both", NodeKind.CLASS, signature=signature),
            *(NodeSpec(f"a.py::{name}", NodeKind.CLASS) for name in ("Early", "Late")),
            *(NodeSpec(f"a.py::{name}.__init__", NodeKind.METHOD) for name in ("Early", "Late")),
            "a.py::f",
        ],
        [
            EdgeSpec("a.py::Both", "a.py::Early", EdgeKind.EXTENDS),
            EdgeSpec("a.py::Both", "a.py::Late", EdgeKind.EXTENDS),
            EdgeSpec("a.py::f", "a.py::Both", EdgeKind.CALLS),
        ],
    )
    found = {
        name: [e.source for e in calls_to(graph, at(f"a.py::{name}.__init__", graph))] for name in ("Early", "Late")
    }
    assert found == {"Early": [], "Late": []} | {first: ["a.py::f"]}
