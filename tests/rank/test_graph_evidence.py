"""What the graph gives to what words found, worked out by hand."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import NodeKind
from causalist.rank.pagerank import WalkWeights, build_transition
from causalist.rank.scoring import graph_evidence as support
from causalist.rank.scoring.graph_evidence import definition_support, mention_users
from tests.graphs import EdgeSpec, NodeSpec, make_graph, random_graphs

SURE = 60.0  # of odds: all that gives is at the node that has it
LEAST = 1e-9  # found by some word, gives next to nothing
KINDS = {"calls": 1, "references": 1, "extends": 1, "implements": 1, "overrides": 0.5, "reads": 0.5, "writes": 0.5}
LINKS = tuple((EdgeKind[name.upper()], float(w)) for name, w in {**KINDS, "contains": 0.3, "imports": 0.1}.items())


def scores_of(graph: CodeGraph, told: dict[str, float], rest: float = LEAST) -> np.ndarray:
    return np.array([told.get(graph.nodes.ids[i], rest) for i in range(len(graph.nodes))])


def by_id(graph: CodeGraph, values: np.ndarray) -> dict[str, float]:
    return {graph.nodes.ids[i]: float(v) for i, v in enumerate(values) if v > 0}


def functions(*names: str) -> list[str]:
    """f is that of f.py."""
    return [part for name in names for part in (f"{name}.py", f"{name}.py::{name}")]


def test_a_chain_is_followed_both_ways_for_four_steps() -> None:
    """f calls g, g calls h; f is meant. From g half goes on and half back; half of the mass returns to f each time.

    (f, g, h) begins as (1, 0, 0) and gives (0, 1, 0); halved, with the rest at f: (1/2, 1/2, 0).
    That gives (1/4, 1/2, 1/4), then (5/8, 1/4, 1/8); that (1/8, 3/4, 1/8), then (9/16, 3/8, 1/16).
    The fourth step gives (3/16, 9/16 + 1/16, 3/16), so that f and h have 3/10 of what g has.
    """
    graph = make_graph(functions("f", "g", "h"), [("f.py::f", "g.py::g"), ("g.py::g", "h.py::h")])
    found = by_id(graph, definition_support(graph, scores_of(graph, {"f.py::f": SURE})))
    less = 1 + log(0.3) / 8
    assert found == pytest.approx({"f.py::f": less, "g.py::g": 1.0, "h.py::h": less})


def test_what_is_uncertain_is_given_less() -> None:
    """f calls s, and g or k: two links, of which the second has two ends at 0.4 each. s gets 1/2, g and k 0.2."""
    edges = [EdgeSpec("f.py::f", "s.py::s")]
    edges += [EdgeSpec("f.py::f", f"{x}.py::{x}", confidence=0.4, candidates=2) for x in "gk"]
    graph = make_graph(functions("f", "g", "k", "s"), edges)
    found = by_id(graph, definition_support(graph, scores_of(graph, {"f.py::f": SURE})))
    assert found["g.py::g"] == found["k.py::k"]
    assert found["s.py::s"] - found["g.py::g"] == pytest.approx(log(0.5 / 0.2) / 8)


def test_several_that_may_be_meant_give_more_than_one() -> None:
    """a and b are equally likely and call both; only a calls one. No way leads on, so that both has twice as much."""
    edges = [("a.py::a", "both.py::both"), ("b.py::b", "both.py::both"), ("a.py::a", "one.py::one")]
    edges.append(("b.py::b", "two.py::two"))
    graph = make_graph(functions("a", "b", "both", "one", "two"), edges)
    found = by_id(graph, definition_support(graph, scores_of(graph, {"a.py::a": SURE, "b.py::b": SURE})))
    assert found["both.py::both"] - found["one.py::one"] == pytest.approx(log(2) / 8)
    assert found["one.py::one"] == pytest.approx(found["two.py::two"])


def test_module_level_code_is_given_nothing_for_holding_or_importing() -> None:
    """f stands in f.py, which is imported; the module-level code of run.py calls f, that of f.py does nothing."""
    edges = [
        EdgeSpec("f.py", "f.py::f", EdgeKind.CONTAINS),
        EdgeSpec("user.py", "f.py", EdgeKind.IMPORTS),
        EdgeSpec("run.py", "f.py::f", EdgeKind.CALLS),
    ]
    graph = make_graph([*functions("f"), "user.py", "run.py"], edges)
    assert set(by_id(graph, definition_support(graph, scores_of(graph, {"f.py::f": SURE})))) == {"f.py::f", "run.py"}


def test_only_what_words_found_is_given_anything() -> None:
    """h is not found, a field never is meant by itself; both still hand on what they are given."""
    nodes = [*functions("f", "h", "k"), NodeSpec("f.py::n", NodeKind.FIELD), "external:os"]
    edges = [("f.py::f", "h.py::h"), ("h.py::h", "k.py::k"), ("f.py::f", "f.py::n", EdgeKind.READS)]
    graph = make_graph(nodes, [*edges, ("f.py::f", "external:os")])
    found = by_id(graph, definition_support(graph, scores_of(graph, {"f.py::f": SURE, "h.py::h": 0.0})))
    assert set(found) == {"f.py::f", "k.py::k"}


def test_the_walk_stays_inside() -> None:
    graph = make_graph(functions("f", "g", "h"), [("f.py::f", "g.py::g"), ("g.py::g", "h.py::h")])
    inside = np.array([not graph.nodes.ids[i].startswith("g.py") for i in range(len(graph.nodes))])
    scores = scores_of(graph, {"f.py::f": SURE}) * inside
    assert by_id(graph, definition_support(graph, scores, inside)) == {}


def test_who_uses_what_is_named_has_the_best_of_it() -> None:
    """f calls a (named in full) and b (0.6): 1. g may mean either of two of confidence 0.4: 0.4 / root 2. h imports the
    file of a, which is named as well: nothing. c, which a calls, has nothing either."""
    edges = [EdgeSpec("f.py::f", "a.py::a"), EdgeSpec("f.py::f", "b.py::b", EdgeKind.REFERENCES)]
    edges += [EdgeSpec("g.py::g", f"{x}.py::{x}", confidence=0.4, candidates=2) for x in "ac"]
    edges += [EdgeSpec("h.py::h", "a.py", EdgeKind.IMPORTS), EdgeSpec("a.py::a", "c.py::c")]
    edges += [EdgeSpec("k.py::k", "b.py::b")]
    graph = make_graph(functions("a", "b", "c", "f", "g", "h", "k"), edges)
    mention = scores_of(graph, {"a.py": 1.0, "a.py::a": 1.0, "b.py::b": 0.6}, 0.0)
    expected = {"f.py::f": 1.0, "g.py::g": 0.4 / 2**0.5, "k.py::k": 0.6}
    assert by_id(graph, mention_users(graph, mention)) == pytest.approx(expected)
    inside = np.array([not graph.nodes.ids[i].startswith("a.py") for i in range(len(graph.nodes))])
    assert by_id(graph, mention_users(graph, mention, inside)) == {"f.py::f": 0.6, "k.py::k": 0.6}


def test_where_no_word_led_there_is_nothing_to_give() -> None:
    graph = make_graph(["a.py", "b.py"], [EdgeSpec("a.py", "b.py", EdgeKind.IMPORTS)])
    assert not definition_support(graph, np.zeros(2)).any()


@pytest.mark.slow
@given(random_graphs(), st.data())
def test_it_is_the_walk_of_the_transition_both_ways(graph: CodeGraph, data: st.DataObject) -> None:
    """Against a dense matrix that `build_transition` made, step by step, at what is no file."""
    n = len(graph.nodes)
    scores = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    transition = build_transition(graph, WalkWeights(LINKS, tuple((kind, 1.0) for kind, _ in LINKS)))
    matrix = np.zeros((n, n))
    np.add.at(matrix, (np.repeat(np.arange(n), np.diff(transition.indptr)), transition.indices), transition.weights)
    plain = ~np.isin(graph.nodes.kinds, [NodeKind.FILE, NodeKind.EXTERNAL])
    seeds = np.where((scores > 0) & plain, np.exp(scores), 0.0)
    found = definition_support(graph, scores)
    assert ((found >= 0) & (found <= 1)).all()
    assert not found[scores == 0].any()
    if not seeds.any():
        assert not found.any()
        return
    seeds = reached = seeds / seeds.sum()
    for _ in range(3):
        given_ = matrix @ reached
        reached = 0.5 * given_ + (1 - 0.5 * given_.sum()) * seeds
    expected = np.where((scores > 0) & plain, matrix @ reached, 0.0)
    top = expected.max()
    for node in np.flatnonzero(plain):
        if top > 0 and expected[node] > top * exp(-8) * 1.001:
            assert found[node] == pytest.approx(1 + log(expected[node] / top) / 8, abs=1e-9)
        else:
            assert found[node] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.slow
@given(random_graphs(), st.data())
def test_links_that_are_picked_give_what_all_give(graph: CodeGraph, data: st.DataObject) -> None:
    """To the last digit, whether the links of what is reached are picked out of those of a large graph or not."""
    n = len(graph.nodes)
    scores = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    inside = np.array(data.draw(st.lists(st.sampled_from([True, True, False]), min_size=n, max_size=n)), dtype=np.bool_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(support, "_MAX_SCANNED_EDGES", 0)
        patch.setattr(support, "_PICKING_COSTS", 0)
        picked = definition_support(graph, scores * inside, inside)
        patch.setattr(support, "_PICKING_COSTS", 1 << 40)
        of_all = definition_support(graph, scores * inside, inside)
    assert picked.tolist() == of_all.tolist()
