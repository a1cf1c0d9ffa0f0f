"""Most probable paths against networkx, and the words of each hop."""

import math
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.errors import UsageError
from causalist.extract.ordered_subgraph import best_products, paths_from_seeds
from causalist.model.graph import SYMMETRIC_KINDS, CodeGraph, EdgeKind
from causalist.model.node_ids import NodeKind
from causalist.model.scores import Hop, Transition
from causalist.rank.pagerank import WalkWeights, build_transition
from tests.graphs import EdgeSpec, NodeSpec, make_graph, random_graphs

DEFAULT = WalkWeights()
FORWARD_CALLS = WalkWeights(((EdgeKind.CALLS, 1.0),), ())


@st.composite
def cases(draw: st.DrawFn) -> tuple[CodeGraph, Transition, np.ndarray, WalkWeights]:
    graph = draw(random_graphs())
    weights = draw(st.sampled_from([DEFAULT, FORWARD_CALLS, WalkWeights(backward=())]))
    walkable = np.flatnonzero(graph.nodes.kinds != NodeKind.EXTERNAL).tolist()
    seeds = np.zeros(len(graph.nodes))
    for node in draw(st.lists(st.sampled_from(walkable), min_size=1, max_size=3, unique=True)):
        seeds[node] = draw(st.sampled_from([1.0, 0.5, 0.1]))
    transition = build_transition(graph, weights, normalise=draw(st.booleans()))
    return graph, transition, seeds / seeds.sum(), weights


def brute_force(transition: Transition, seeds: np.ndarray) -> dict[int, float]:
    """Largest product to each node that any path reaches, by networkx over logarithms from one common source."""
    walked = nx.DiGraph()
    for i in np.flatnonzero(seeds).tolist():
        walked.add_edge("start", i, weight=-math.log(seeds[i]))
    for j in range(len(seeds)):
        for k in range(transition.indptr[j], transition.indptr[j + 1]):
            # Normalised entries may exceed 1 by rounding, and Dijkstra's algorithm allows no negative weight.
            walked.add_edge(int(transition.indices[k]), j, weight=max(0.0, -math.log(transition.weights[k])))
    lengths = nx.single_source_dijkstra_path_length(walked, "start")
    return {node: math.exp(-length) for node, length in lengths.items() if node != "start"}


def product_of(graph: CodeGraph, transition: Transition, seeds: np.ndarray, hops: tuple[Hop, ...]) -> float:
    way = [graph.nodes.ids.position(hop.node) for hop in hops]
    product = float(seeds[way[0]])
    for i, j in pairwise(way):
        row = slice(int(transition.indptr[j]), int(transition.indptr[j + 1]))
        product *= float(transition.weights[row][transition.indices[row] == i][0])
    return product


@given(cases())
@pytest.mark.slow
def test_paths_are_the_most_probable(case: tuple[CodeGraph, Transition, np.ndarray, WalkWeights]) -> None:
    graph, transition, seeds, weights = case
    everything = range(len(graph.nodes))
    paths = paths_from_seeds(graph, transition, seeds, everything, kind_weights=weights.table())
    expected = brute_force(transition, seeds)
    assert list(paths) == list(everything)
    for node, hops in paths.items():
        assert bool(hops) == (node in expected)
        if hops:
            assert hops[-1].node == graph.nodes.ids[node]
            assert math.isclose(product_of(graph, transition, seeds, hops), expected[node], rel_tol=1e-9)
            assert len({hop.node for hop in hops}) == len(hops)


@given(cases(), st.data())
@pytest.mark.slow
def test_stopping_early_changes_nothing(
    case: tuple[CodeGraph, Transition, np.ndarray, WalkWeights], data: st.DataObject
) -> None:
    graph, transition, seeds, weights = case
    everything = range(len(graph.nodes))
    targets = data.draw(st.lists(st.sampled_from(everything), min_size=1, max_size=2, unique=True))
    full = paths_from_seeds(graph, transition, seeds, everything, kind_weights=weights.table())
    some = paths_from_seeds(graph, transition, seeds, targets, kind_weights=weights.table())
    assert some == {target: full[target] for target in targets}


@given(cases(), st.data())
@pytest.mark.slow
def test_looking_only_at_neighbours_changes_nothing(
    case: tuple[CodeGraph, Transition, np.ndarray, WalkWeights], data: st.DataObject
) -> None:
    graph, transition, seeds, _ = case
    targets = np.array(data.draw(st.lists(st.sampled_from(range(len(graph.nodes))), min_size=1, max_size=2)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("causalist.extract.ordered_subgraph._FEW_ENTRIES", 0)
        patch.setattr("causalist.extract.ordered_subgraph._PICKING_COSTS", 0.5)
        near = best_products(transition, seeds, targets, graph)
    everywhere = best_products(transition, seeds, targets)
    least = everywhere[targets].min()  # what is no more than that need not be final
    assert near[targets].tolist() == everywhere[targets].tolist()
    assert np.where(near > least, near, 0.0).tolist() == np.where(everywhere > least, everywhere, 0.0).tolist()


@pytest.mark.slow
@given(cases())
def test_every_hop_names_its_strongest_edge(case: tuple[CodeGraph, Transition, np.ndarray, WalkWeights]) -> None:
    graph, transition, seeds, weights = case
    paths = paths_from_seeds(graph, transition, seeds, range(len(graph.nodes)), kind_weights=weights.table())
    named = [graph.edge(number) for number in range(len(graph.edges))]
    table = weights.table()
    for hops in filter(None, paths.values()):
        assert hops[0].edge is None
        for before, hop in pairwise(hops):
            links = []
            for e in named:
                kind = EdgeKind[e.kind.upper()]
                for ends, against in (((e.source, e.target), 0), ((e.target, e.source), 1)):
                    if ends == (before.node, hop.node):
                        back = " (back)" if against and kind not in SYMMETRIC_KINDS else ""
                        path = e.source.partition("::")[0]
                        links.append((-table[against, kind] * e.confidence, kind, against, e.kind + back, path, e.line))
            assert (hop.edge, hop.path, hop.line) == min(links)[3:]


GRAPH = make_graph(
    ["dir/a.py", NodeSpec("dir/a.py::f", start_row=6), "b%23.py", NodeSpec("b%23.py::g", start_row=2), "c.py"],
    [
        EdgeSpec("dir/a.py::f", "b%23.py::g", EdgeKind.CALLS, 0.9, row=8),
        EdgeSpec("dir/a.py::f", "b%23.py::g", EdgeKind.REFERENCES, 1.0, row=7),
        EdgeSpec("c.py", "b%23.py::g", EdgeKind.IMPORTS, 1.0, row=0),
        EdgeSpec("c.py", "dir/a.py", EdgeKind.CO_CHANGES, 1.0, row=-1),
    ],
)


def index(node: str) -> int:
    return GRAPH.nodes.ids.position(node)


def path_to(node: str, seeds: dict[str, float], weights: WalkWeights = DEFAULT) -> tuple[Hop, ...]:
    s = np.zeros(len(GRAPH.nodes))
    for seed, mass in seeds.items():
        s[index(seed)] = mass
    m = build_transition(GRAPH, weights)
    return paths_from_seeds(GRAPH, m, s, [index(node)], kind_weights=weights.table())[index(node)]


def test_hops_say_edge_direction_and_place() -> None:
    assert path_to("dir/a.py", {"dir/a.py::f": 1.0}) == (
        Hop("dir/a.py::f", None, "dir/a.py", 7),
        Hop("b%23.py::g", "calls", "dir/a.py", 9),
        Hop("c.py", "imports (back)", "c.py", 1),
        Hop("dir/a.py", "co_changes", "c.py", None),
    )


def test_the_way_back_over_a_symmetric_edge_is_no_way_back() -> None:
    assert path_to("c.py", {"dir/a.py": 1.0})[1] == Hop("c.py", "co_changes", "c.py", None)


def test_a_path_needs_a_seed_behind_it() -> None:
    assert path_to("dir/a.py::f", {"c.py": 1.0}, WalkWeights(backward=())) == ()


def test_a_seed_stands_for_itself_unless_another_gives_more() -> None:
    """f calls g with probability 0.9 and references it: M_gf = (1 * 0.9 + 0.5 * 1) / 1.5 = 0.933 forward only."""
    forward = WalkWeights(backward=())
    assert len(path_to("b%23.py::g", {"b%23.py::g": 0.49, "dir/a.py::f": 0.51}, forward)) == 1
    assert len(path_to("b%23.py::g", {"b%23.py::g": 0.4, "dir/a.py::f": 0.6}, forward)) == 2


def test_ties_go_to_fewer_hops_then_to_the_lower_node() -> None:
    """Columns normalised to 1: d is reached from a directly, and over b or c, always with the whole of a seed."""
    two_ways = make_graph("abcd", [("b", "d"), ("c", "d")])
    m, table = build_transition(two_ways, FORWARD_CALLS), FORWARD_CALLS.table()
    hops = paths_from_seeds(two_ways, m, np.array([0.0, 0.5, 0.5, 0.0]), [3], kind_weights=table)[3]
    assert [hop.node for hop in hops] == ["b", "d"]
    chain = make_graph("abcd", [("a", "b"), ("b", "d"), ("c", "d")])
    m = build_transition(chain, FORWARD_CALLS)
    hops = paths_from_seeds(chain, m, np.array([0.5, 0.0, 0.5, 0.0]), [3], kind_weights=table)[3]
    assert [hop.node for hop in hops] == ["c", "d"]


def test_cycles_of_probability_1_are_no_trap() -> None:
    ring = make_graph("abcd", [("b", "c"), ("c", "b"), ("d", "b")])
    m = build_transition(ring, FORWARD_CALLS)
    paths = paths_from_seeds(ring, m, np.array([0.0, 0.0, 0.0, 1.0]), [1, 2], kind_weights=FORWARD_CALLS.table())
    assert [[hop.node for hop in hops] for hops in paths.values()] == [["d", "b"], ["d", "b", "c"]]


def test_a_long_chain() -> None:
    nodes = [f"n{i:04}" for i in range(1500)]
    chain = make_graph(nodes, pairwise(nodes))
    seeds = np.zeros(len(nodes))
    seeds[0] = 1.0
    m = build_transition(chain, FORWARD_CALLS)
    assert len(paths_from_seeds(chain, m, seeds, [1499], kind_weights=FORWARD_CALLS.table())[1499]) == 1500


def test_nothing_to_walk() -> None:
    graph = make_graph(["a", "external:x"], [("a", "external:x")])
    m, seeds = build_transition(graph, DEFAULT), np.array([1.0, 0.0])
    paths = paths_from_seeds(graph, m, seeds, [0, 1], kind_weights=DEFAULT.table())
    assert paths == {0: (Hop("a", None, "a", 1),), 1: ()}
    assert paths_from_seeds(graph, m, seeds, [], kind_weights=DEFAULT.table()) == {}
    assert best_products(m, seeds, np.array([0])).tolist() == [1.0, 0.0]


def test_what_is_given_is_checked() -> None:
    m, table, seeds = build_transition(GRAPH, DEFAULT), DEFAULT.table(), np.full(5, 0.2)
    for wrong in ([5], [-1]):
        with pytest.raises(UsageError, match=str(wrong[0])):
            paths_from_seeds(GRAPH, m, seeds, wrong, kind_weights=table)
    with pytest.raises(UsageError, match="shape"):
        paths_from_seeds(GRAPH, m, seeds[:4], [0], kind_weights=table)
    with pytest.raises(UsageError, match="weights of kinds"):
        paths_from_seeds(GRAPH, m, seeds, [0], kind_weights=table[0])
    for bad in (-0.1, np.nan):
        with pytest.raises(UsageError, match="negative"):
            paths_from_seeds(GRAPH, m, np.array([1.0, bad, 0, 0, 0]), [0], kind_weights=table)
    with pytest.raises(UsageError, match="do not belong together"):
        paths_from_seeds(make_graph(GRAPH.nodes.ids), m, seeds * [0, 0, 1, 0, 0], [0, 1, 2, 3, 4], kind_weights=table)
