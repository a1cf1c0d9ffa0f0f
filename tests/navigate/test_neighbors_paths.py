"""The way between two nodes, on graphs with the arithmetic beside them."""

import pytest

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.lookup import GraphPath
from causalist.model.node_ids import Role
from causalist.navigate import find_graph_path
from causalist.rank import build_transition
from causalist.rank.pagerank import WalkWeights
from tests.graphs import EdgeSpec, NodeSpec, make_graph

# a calls b and c; b calls d; c is doubtful about d. e uses a. x and d change together.
GRAPH = make_graph(
    ["m.py", *(f"m.py::{name}" for name in "abcdex")],
    [
        EdgeSpec("m.py::a", "m.py::b", EdgeKind.CALLS, 0.8, row=3),
        EdgeSpec("m.py::a", "m.py::c", EdgeKind.CALLS, 1.0, row=4),
        EdgeSpec("m.py::b", "m.py::d", EdgeKind.CALLS, 1.0, row=6, rule="same-file"),
        EdgeSpec("m.py::c", "m.py::d", EdgeKind.CALLS, 0.4, row=8, rule="name-only"),
        EdgeSpec("m.py::e", "m.py::a", EdgeKind.CALLS, 1.0, row=10),
        EdgeSpec("m.py::d", "m.py::x", EdgeKind.CO_CHANGES, 1.0, row=-1),
    ],
)
WEIGHTS = WalkWeights(forward=((EdgeKind.CALLS, 1.0), (EdgeKind.CO_CHANGES, 0.5)), backward=((EdgeKind.CALLS, 0.2),))


def trail(source: str, target: str, graph: CodeGraph = GRAPH) -> GraphPath | None:
    m = build_transition(graph, WEIGHTS)
    ids = graph.nodes.ids
    return find_graph_path(graph, m, ids.position(f"m.py::{source}"), ids.position(f"m.py::{target}"))


def names(way: GraphPath | None) -> list[tuple[str, str | None]]:
    assert way is not None
    return [(hop.node.partition("::")[2], hop.edge) for hop in way.hops]


def test_the_most_probable_way_forward() -> None:
    way = trail("a", "d")
    assert names(way) == [("a", None), ("b", "calls"), ("d", "calls")]
    assert way is not None and way.forward
    # D_a = 1 + 1 forward + 0.2 back to e = 2.2; D_b = 1 + 0.2 = 1.2.
    # By c it is 1 / 2.2 * 0.4 / 1.2, half of 0.8 / 2.2 * 1 / 1.2.
    assert way.probability == pytest.approx(0.8 / 2.2 * 1 / 1.2)
    assert [(e.source, e.target, e.rule, e.confidence, e.line) for e in way.edges] == [
        ("m.py::a", "m.py::b", "import", 0.8, 4),
        ("m.py::b", "m.py::d", "same-file", 1.0, 7),
    ]


def test_against_the_edges_only_where_there_is_no_way_along_them() -> None:
    way = trail("d", "e")
    assert names(way) == [("d", None), ("b", "calls (back)"), ("a", "calls (back)"), ("e", "calls (back)")]
    assert way is not None and not way.forward
    assert [(e.source, e.target) for e in way.edges] == [
        ("m.py::b", "m.py::d"), ("m.py::a", "m.py::b"), ("m.py::e", "m.py::a")
    ]  # fmt: skip


# a calls b, for sure; c and d override b, d calls e, and a may call e by a doubtful edge.
DISPATCHED = make_graph(
    ["m.py", *(f"m.py::{name}" for name in "abcdefg")],
    [
        EdgeSpec("m.py::a", "m.py::b", EdgeKind.CALLS, 0.9, row=3),
        EdgeSpec("m.py::c", "m.py::b", EdgeKind.OVERRIDES, 0.9, row=5),
        EdgeSpec("m.py::d", "m.py::b", EdgeKind.OVERRIDES, 0.9, row=7),
        EdgeSpec("m.py::d", "m.py::e", EdgeKind.CALLS, 1.0, row=8),
        EdgeSpec("m.py::a", "m.py::g", EdgeKind.CALLS, 0.2, row=4),
        EdgeSpec("m.py::g", "m.py::f", EdgeKind.CALLS, 1.0, row=9),
        EdgeSpec("m.py::b", "m.py::f", EdgeKind.CALLS, 0.9, row=10),
        EdgeSpec("m.py::a", "m.py::c", EdgeKind.CALLS, 0.2, row=4),
    ],
)


def test_a_call_may_run_what_overrides_its_target() -> None:
    way = trail("a", "e", DISPATCHED)
    assert names(way) == [("a", None), ("b", "calls"), ("d", "overrides (back)"), ("e", "calls")]
    assert way is not None and way.forward
    assert way.probability == pytest.approx(0.9 * 0.9 * 1.0)
    assert [(edge.source, edge.target) for edge in way.edges] == [
        ("m.py::a", "m.py::b"), ("m.py::d", "m.py::b"), ("m.py::d", "m.py::e")
    ]  # fmt: skip
    assert [(hop.path, hop.line) for hop in way.hops[1:]] == [("m.py", 4), ("m.py", 8), ("m.py", 9)]


def test_what_overrides_does_not_run_what_it_overrides() -> None:
    assert names(trail("b", "d", DISPATCHED))[1:] == [("d", "overrides (back)")]
    assert trail("d", "b", DISPATCHED) is None and trail("c", "e", DISPATCHED) is None


def test_a_doubtful_path_stays_only_if_it_is_shorter() -> None:
    assert names(trail("a", "f", DISPATCHED)) == [("a", None), ("b", "calls"), ("f", "calls")]
    assert names(trail("a", "c", DISPATCHED)) == [("a", None), ("c", "calls")]


def test_tests_connect_nothing_if_code_does() -> None:
    """A test calls a and d; what calls both in the program is longer, and is shown."""
    tests = [NodeSpec("t.py", role=Role.TEST), NodeSpec("t.py::test", role=Role.TEST)]
    graph = make_graph(
        ["m.py", *(f"m.py::{name}" for name in "abcd"), *tests],
        [
            EdgeSpec("t.py::test", "m.py::a"), EdgeSpec("t.py::test", "m.py::d"),
            EdgeSpec("m.py::b", "m.py::a"), EdgeSpec("m.py::b", "m.py::c"), EdgeSpec("m.py::c", "m.py::d"),
        ],
    )  # fmt: skip
    assert [name for name, _ in names(trail("a", "d", graph))] == ["a", "b", "c", "d"]
    alone = make_graph(
        ["m.py", "m.py::a", "m.py::d", *tests],
        [EdgeSpec("t.py::test", "m.py::a"), EdgeSpec("t.py::test", "m.py::d")],
    )
    assert [name for name, _ in names(trail("a", "d", alone))] == ["a", "test", "d"]


@pytest.mark.parametrize("pair", [("d", "x"), ("x", "d")])
def test_changing_together_is_no_use(pair: tuple[str, str]) -> None:
    way = trail(*pair)
    assert names(way) == [(pair[0], None), (pair[1], "co_changes")]
    assert way is not None and not way.forward
    assert [(e.source, e.target) for e in way.edges] == [("m.py::d", "m.py::x")]


def test_from_a_node_to_itself() -> None:
    way = trail("a", "a")
    assert names(way) == [("a", None)]
    assert way is not None and (way.probability, way.edges, way.forward) == (1.0, (), True)


def test_no_way() -> None:
    graph = make_graph(["m.py", "m.py::a", "m.py::b", "m.py::c"], [("m.py::a", "m.py::c")])
    assert trail("a", "b", graph) is None


def test_externals_are_not_walked() -> None:
    graph = make_graph(["m.py", "m.py::a", "m.py::b", "external:os"], [("m.py::a", "external:os")])
    m = build_transition(graph, WEIGHTS)
    assert (
        find_graph_path(graph, m, graph.nodes.ids.position("m.py::a"), graph.nodes.ids.position("external:os")) is None
    )
