"""Edges among chosen nodes, and their lifting to files, against naive versions."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.errors import UsageError
from causalist.extract.ordered_subgraph import extract_subgraph, lift_to_files, without_implied_edges
from causalist.model.graph import CodeGraph, EdgeKind, SubgraphEdge
from causalist.model.node_ids import NodeKind, Role
from tests.graph.relations.test_routes import EXPRESS, graph_of
from tests.graphs import EdgeSpec, NodeSpec, make_graph, random_graphs


@pytest.mark.slow
@given(random_graphs(), st.data())
def test_all_edges_among_the_chosen(graph: CodeGraph, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(graph.nodes) - 1), unique=True))
    found = [
        edge for edge in extract_subgraph(graph, chosen) if edge.number >= 0
    ]  # others lead over what is not chosen
    expected = []
    for number in range(len(graph.edges)):
        source, target = int(graph.edges.sources[number]), int(graph.edges.targets[number])
        if source in chosen and target in chosen:
            expected.append((chosen.index(source), chosen.index(target), number))
    assert [(e.source, e.target, e.number) for e in found] == expected
    for e in found:
        named = graph.edge(e.number)
        assert (EdgeKind(e.kind).label, graph.rule_names[e.rule], e.confidence) == (
            named.kind,
            named.rule,
            named.confidence,
        )
        assert (e.candidates, e.n, e.row) == (named.candidates, named.n, -1 if named.line is None else named.line - 1)
        assert all(type(value) in (int, float) for value in (e.source, e.rule, e.confidence, e.n, e.number))


def naive_lift(graph: CodeGraph, files: list[int]) -> list[SubgraphEdge]:
    groups = defaultdict(list)
    for number in range(len(graph.edges)):
        source = int(graph.nodes.files[graph.edges.sources[number]])
        target = int(graph.nodes.files[graph.edges.targets[number]])
        kind = int(graph.edges.kinds[number])
        if source in files and target in files and source != target and kind != EdgeKind.CONTAINS:
            groups[source, target, kind].append(number)
    edges = graph.edges
    lifted = []
    for (source, target, kind), numbers in sorted(groups.items()):
        best = max(numbers, key=lambda number: (edges.confidences[number], -number))
        rows = [int(edges.rows[number]) for number in numbers if edges.rows[number] >= 0]
        lifted.append(
            SubgraphEdge(
                source=files.index(source),
                target=files.index(target),
                kind=kind,
                rule=int(edges.rules[best]),
                confidence=float(edges.confidences[best]),
                candidates=int(edges.candidates[best]),
                n=sum(int(edges.counts[number]) for number in numbers),
                row=min(rows, default=-1),
                number=-1,
            )
        )
    return lifted


@pytest.mark.slow
@given(random_graphs(max_nodes=12, max_links=40), st.data())
def test_lifting_agrees_with_the_naive_version(graph: CodeGraph, data: st.DataObject) -> None:
    all_files = [i for i in range(len(graph.nodes)) if graph.kind(i) is NodeKind.FILE]
    files = data.draw(st.lists(st.sampled_from(all_files), unique=True))
    assert lift_to_files(graph, files) == naive_lift(graph, files)


def test_a_lifted_edge() -> None:
    nodes = ["a.py", "a.py::f", "a.py::g", "b.py", "b.py::h", "external:os"]
    edges = [
        EdgeSpec("a.py", "a.py::f", EdgeKind.CONTAINS),
        EdgeSpec("a.py::f", "a.py::g"),
        EdgeSpec("a.py::f", "b.py::h", confidence=0.3, candidates=3, n=2, row=4, rule="name-only"),
        EdgeSpec("a.py::g", "b.py::h", confidence=0.9, n=1, row=11, rule="import"),
        EdgeSpec("a.py", "b.py::h", confidence=0.9, n=5, row=-1, rule="same-file"),
        EdgeSpec("a.py", "external:os", EdgeKind.IMPORTS),
    ]
    graph = make_graph(nodes, edges, rules=("import", "name-only", "same-file"))
    b, a = graph.nodes.ids.position("b.py"), graph.nodes.ids.position("a.py")
    assert lift_to_files(graph, [b, a]) == [
        SubgraphEdge(
            source=1, target=0, kind=EdgeKind.CALLS, rule=2, confidence=0.9, candidates=1, n=8, row=4, number=-1
        )
    ]


def test_what_another_edge_says_already_is_left_out() -> None:
    nodes = ["a.py", "a.py::f", "a.py::x", "a.py::y"]
    edges = [
        EdgeSpec("a.py::f", "a.py::x", EdgeKind.REFERENCES),
        EdgeSpec("a.py::f", "a.py::x", EdgeKind.READS),
        EdgeSpec("a.py::f", "a.py::x", EdgeKind.WRITES),
        EdgeSpec("a.py::f", "a.py::y", EdgeKind.READS),
        EdgeSpec("a.py", "a.py::f", EdgeKind.CONTAINS),
        EdgeSpec("a.py", "a.py::f", EdgeKind.TESTS),
    ]
    graph = make_graph(nodes, edges)
    kept = without_implied_edges(extract_subgraph(graph, range(4)))
    assert [(graph.nodes.ids[e.source], graph.nodes.ids[e.target], EdgeKind(e.kind).label) for e in kept] == [
        ("a.py", "a.py::f", "contains"),
        ("a.py", "a.py::f", "tests"),
        ("a.py::f", "a.py::x", "references"),
        ("a.py::f", "a.py::x", "writes"),
        ("a.py::f", "a.py::y", "reads"),
    ]


def test_what_is_chosen_is_checked() -> None:
    graph = make_graph(["a.py", "a.py::f"], [("a.py::f", "a.py")])
    for call in (extract_subgraph, lift_to_files):
        for wrong in ([2], [-1]):
            with pytest.raises(UsageError, match=str(wrong[0])):
                call(graph, wrong)
        with pytest.raises(UsageError, match=r"a\.py is chosen twice"):
            call(graph, [0, 0])
    with pytest.raises(UsageError, match="not a file"):
        lift_to_files(graph, [1])


def test_nothing_chosen_gives_nothing() -> None:
    graph = make_graph(["a.py", "b.py"], [("a.py", "b.py")])
    assert extract_subgraph(graph, []) == []
    assert lift_to_files(graph, []) == []
    assert lift_to_files(make_graph([]), []) == []


def test_a_request_leads_to_what_serves_its_route() -> None:
    """The route between them is a node that no answer chooses."""
    graph = graph_of(EXPRESS)
    names = ["client.ts::load", "client.ts::pay", "control.js::show", "routes/pay.js::pay"]
    chosen = [graph.nodes.ids.position(name) for name in names]
    found = {(names[e.source], names[e.target], EdgeKind(e.kind).label, e.row) for e in extract_subgraph(graph, chosen)}
    assert found == {
        ("client.ts::load", "control.js::show", "routes", 2),
        ("client.ts::pay", "routes/pay.js::pay", "routes", 3),
    }
    edge = extract_subgraph(graph, chosen)[0]
    assert edge.confidence == pytest.approx(0.80 * 0.95)  # of a request and of a registration
    assert edge.number == -1


def test_a_route_that_is_chosen_stands_between() -> None:
    graph = graph_of(EXPRESS)
    names = ["client.ts::load", "external:route:GET /api/users/:id", "control.js::show"]
    chosen = [graph.nodes.ids.position(name) for name in names]
    assert [(e.source, e.target) for e in extract_subgraph(graph, chosen)] == [(0, 1), (1, 2)]


def test_a_call_of_a_declared_method_leads_to_what_overrides_it() -> None:
    """Two types of the program and one of a test override it; the method itself stands between if it is chosen."""
    names = ["a.py::call", "a.py::Port.send", "b.py::Mail.send", "c.py::Push.send", "tests/test_a.py::Fake.send"]
    overriding = [EdgeSpec(name, names[1], EdgeKind.OVERRIDES, confidence=0.9) for name in names[2:]]
    graph = make_graph(
        ["a.py", "b.py", "c.py", NodeSpec("tests/test_a.py", role=Role.TEST)]
        + [NodeSpec(name, role=Role.TEST if name.startswith("tests") else Role.CODE) for name in names],
        [EdgeSpec(names[0], names[1], confidence=0.8, row=4), *overriding],
    )
    at = [graph.nodes.ids.position(name) for name in names]
    (edge,) = extract_subgraph(graph, [at[0], at[3]])
    assert (edge.source, edge.target, edge.kind, edge.row, edge.number) == (0, 1, EdgeKind.CALLS, 4, -1)
    assert edge.confidence == pytest.approx(0.8 * 0.9 / 2)
    assert edge.candidates == 2
    between = extract_subgraph(graph, [at[0], at[1], at[3]])
    assert sorted((e.source, e.target, e.kind) for e in between) == [(0, 1, EdgeKind.CALLS), (2, 1, EdgeKind.OVERRIDES)]
