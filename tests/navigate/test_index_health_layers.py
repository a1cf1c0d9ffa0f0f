"""How a repository is layered, on a graph that is laid out by hand."""

from causalist.model.graph import EdgeKind
from causalist.model.node_ids import Layer
from causalist.navigate import summarize_layers
from tests.graphs import NodeSpec, make_graph

_NODES = [
    NodeSpec("api.py", layer=Layer.API),
    NodeSpec("api.py::get", layer=Layer.API),
    NodeSpec("model.py", layer=Layer.DATA),
    NodeSpec("model.py::Cart", layer=Layer.DATA),
    NodeSpec("page.py", layer=Layer.UI),
    NodeSpec("page.py::draw", layer=Layer.UI),
    NodeSpec("test_page.py", layer=Layer.TEST),
    NodeSpec("external:os"),
]
_EDGES = [
    ("api.py", "api.py::get", EdgeKind.CONTAINS),  # is no use
    ("api.py", "external:os", EdgeKind.IMPORTS),  # leads outside
    ("api.py::get", "model.py::Cart", EdgeKind.CALLS),
    ("page.py::draw", "api.py::get", EdgeKind.CALLS, 0.4),  # below 0.5
    ("page.py::draw", "model.py::Cart", EdgeKind.CALLS, 0.9),
    ("page.py::draw", "model.py::Cart", EdgeKind.READS, 0.9),  # says no more than the call
    ("model.py::Cart", "page.py::draw", EdgeKind.REFERENCES, 0.8, 1, 2, 6),
    ("model.py", "page.py", EdgeKind.IMPORTS, 0.99),
    ("model.py::Cart", "api.py::get", EdgeKind.CALLS, 1.0),
    ("test_page.py", "page.py::draw", EdgeKind.CALLS),
]


def test_layers_from_the_highest_down_with_sizes_and_what_is_used_most() -> None:
    found = summarize_layers(make_graph(_NODES, _EDGES), min_confidence=0.5)
    rows = [(s.layer, s.n_files, s.n_definitions, [(u.hit.id, u.fan_in) for u in s.hottest]) for s in found.sizes]
    assert rows == [
        ("ui", 1, 1, [("page.py::draw", 2)]),  # by Cart and the test
        ("api", 1, 1, [("api.py::get", 1)]),  # by Cart; the call of draw is not certain enough
        ("data", 1, 1, [("model.py::Cart", 2)]),
        ("test", 1, 0, []),
    ]


def test_uses_are_counted_and_those_that_lead_upwards_are_listed_farthest_first() -> None:
    found = summarize_layers(make_graph(_NODES, _EDGES), min_confidence=0.5)
    assert [tuple(use) for use in found.uses] == [
        ("ui", "data", 1),
        ("api", "data", 1),
        ("data", "ui", 2),
        ("data", "api", 1),
        ("test", "ui", 1),
    ]
    rows = [
        (b.edge.source, b.edge.target, b.edge.line, b.source_layer, b.target_layer, b.steps) for b in found.back_edges
    ]
    assert rows == [
        ("model.py", "page.py", 1, "data", "ui", 3),
        ("model.py::Cart", "page.py::draw", 7, "data", "ui", 3),
        ("model.py::Cart", "api.py::get", 1, "data", "api", 2),
    ]


def test_the_confidence_and_the_number_of_hottest_are_the_callers() -> None:
    found = summarize_layers(make_graph(_NODES, _EDGES), min_confidence=0.99, n_hottest=0)
    assert [(b.edge.source, b.edge.kind) for b in found.back_edges] == [
        ("model.py", "imports"),
        ("model.py::Cart", "calls"),
    ]
    assert not any(size.hottest for size in found.sizes)
    weak = summarize_layers(make_graph(_NODES, _EDGES), min_confidence=0.0)
    assert ("ui", "api", 1) in [tuple(use) for use in weak.uses]
