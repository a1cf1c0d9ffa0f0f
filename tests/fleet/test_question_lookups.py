"""Look-ups across repositories find what one graph of all would."""

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")

from causalist import navigate
from causalist.errors import AmbiguousNode, UnknownNode
from causalist.fleet.access import FleetView
from causalist.fleet.joined import GraphPart, join_graphs
from causalist.fleet.lookups import (
    FleetNode,
    find_callers,
    find_impact,
    find_nodes,
    find_path,
    find_tests,
    resolve_node,
    summarize,
)
from tests.fleet.test_question import make_fleet

ROUND = FleetNode("money", "money/rounding.py::round_amount")
TOTAL = "shop:shop/invoice.py::total_of_invoice"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> FleetView:
    fleet = make_fleet(tmp_path_factory.mktemp("fleet"), ["money", "shop", "zoo"])
    return FleetView.of(fleet.file, fleet.store)


def test_callers_are_those_of_all_repositories(view: FleetView) -> None:
    found = find_callers(view, resolve_node(view, "round_amount"))
    assert [(edge.source, edge.line) for edge in found.calls] == [
        (TOTAL, 6),
        ("money:tests/test_rounding.py::test_round_amount", 5),
    ]
    assert found.left_out == ()


def test_impact_goes_on_inside_of_the_repository_that_uses_it(view: FleetView) -> None:
    found = find_impact(view, [ROUND])
    depths = {each.node: each.depth for each in found.affected}
    assert depths[TOTAL] == 1
    assert depths["shop:shop/cart.py::checkout"] == 2
    assert all(not node.startswith("zoo:") for node in depths)


def test_impact_is_that_of_one_graph(view: FleetView) -> None:
    parts = [GraphPart(name, view.repository(name).index) for name in view.names]
    joined = join_graphs(parts, view.across.between(view.names))
    changed = navigate.with_overloads_and_members(joined.graph, [joined.place(*ROUND)])
    every = navigate.find_affected_nodes(joined.graph, changed, max_depth=None, min_confidence=0.0)
    assert find_impact(view, [ROUND]).affected == every


def test_tests_are_found_across_repositories(view: FleetView) -> None:
    choice, _ = find_tests(view, [ROUND])
    assert choice.tests[0].node == "money:tests/test_rounding.py::test_round_amount"


def test_a_path_crosses_repositories(view: FleetView) -> None:
    path, left_out = find_path(view, resolve_node(view, "checkout"), ROUND)
    assert path is not None and path.forward and left_out == ()
    assert [hop.node for hop in path.hops] == ["shop:shop/cart.py::checkout", TOTAL, ROUND.id]
    assert [edge.rule for edge in path.edges] == ["import", "symbol-call"]


def test_there_is_no_path_to_what_nothing_leads_to(view: FleetView) -> None:
    path, _ = find_path(view, resolve_node(view, "plan_feeding"), ROUND)
    assert path is None


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("plan_feeding", "zoo:zoo/feeding.py::plan_feeding"),
        ("zoo:plan_feeding", "zoo:zoo/feeding.py::plan_feeding"),
        ("zoo:zoo/feeding.py", "zoo:zoo/feeding.py"),
        ("shop/invoice.py::total_of_invoice", TOTAL),
        ("shop:shop/invoice.py:5", TOTAL),
    ],
)
def test_names_are_resolved(view: FleetView, name: str, node: str) -> None:
    assert resolve_node(view, name).id == node


def test_a_name_of_several_repositories_is_ambiguous(view: FleetView) -> None:
    with pytest.raises(AmbiguousNode) as caught:
        resolve_node(view, "README.md")
    assert caught.value.candidates == ("money:README.md", "shop:README.md", "zoo:README.md")


@pytest.mark.parametrize("name", ["round_amounts", "nowhere:x", "zoo:round_amount"])
def test_unknown_names_are_refused(view: FleetView, name: str) -> None:
    with pytest.raises(UnknownNode):
        resolve_node(view, name)


def test_names_are_found_whole_first(view: FleetView) -> None:
    assert find_nodes(view, "round_amount")[0].id == ROUND.id
    assert [hit.id for hit in find_nodes(view, "nvoice", kind="function")] == [TOTAL]
    assert find_nodes(view, "zoo:plan")[0].id == "zoo:zoo/feeding.py::plan_feeding"


def test_the_map_has_what_others_use_first(view: FleetView) -> None:
    rows, n = summarize(view)
    assert n == 3 and rows[0].name == "money"
    assert (rows[0].used_by, rows[0].uses) == (1, 0)
    assert rows[0].about == "Amounts of currencies, rounded as banks do."
