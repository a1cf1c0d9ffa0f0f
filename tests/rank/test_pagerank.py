"""The walk against the design's formulas, a dense solve, and networkx."""

from collections import defaultdict

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.errors import UsageError
from causalist.model.answer import Specificity
from causalist.model.graph import ROUTE_KINDS, SYMMETRIC_KINDS, CodeGraph, EdgeKind
from causalist.model.node_ids import NodeKind
from causalist.model.scores import Transition
from causalist.rank.local_push import compute_origin_shares
from causalist.rank.pagerank import (
    WalkWeights,
    build_transition,
    personalized_pagerank,
    seed_distribution,
)
from tests.graphs import EdgeSpec, make_graph, random_graphs

DEFAULT = WalkWeights()
CALLS_ONLY = WalkWeights(((EdgeKind.CALLS, 1.0),), ())
weight_choices = st.sampled_from(
    [
        DEFAULT,
        CALLS_ONLY,
        WalkWeights(backward=()),
        WalkWeights(((EdgeKind.CALLS, 1.0), (EdgeKind.IMPORTS, 0.25)), ((EdgeKind.IMPORTS, 1.0),)),
        WalkWeights(((EdgeKind.CONTAINS, 0.3), (EdgeKind.SIMILAR, 2.0)), ((EdgeKind.CONTAINS, 3.0),)),
    ]
)


@st.composite
def graphs_with_seeds(draw: st.DrawFn) -> tuple[CodeGraph, np.ndarray]:
    graph = draw(random_graphs())
    walkable = np.flatnonzero(graph.nodes.kinds != NodeKind.EXTERNAL).tolist()
    chosen = draw(st.lists(st.sampled_from(walkable), min_size=1, max_size=4, unique=True))
    seeds = np.zeros(len(graph.nodes))
    seeds[chosen] = [draw(st.sampled_from([1.0, 0.5, 0.01])) for _ in chosen]
    return graph, seeds / seeds.sum()


def dense(transition: Transition) -> np.ndarray:
    n = len(transition.walkable)
    matrix = np.zeros((n, n))
    rows = np.repeat(np.arange(n), np.diff(transition.indptr))
    np.add.at(matrix, (rows, transition.indices), transition.weights)
    return matrix


def reference(graph: CodeGraph, weights: WalkWeights) -> tuple[np.ndarray, list[int]]:
    """M and the degrees, link by link, from the text of the design."""
    forward, backward = dict(weights.forward), dict(weights.backward)
    external = {i for i in range(len(graph.nodes)) if graph.kind(i) is NodeKind.EXTERNAL}
    links: dict[int, list[tuple[int, float, float, int]]] = defaultdict(list)  # source: target, w, confidence, members
    neighbours: dict[int, set[int]] = defaultdict(set)
    for number in range(len(graph.edges)):
        i, j = int(graph.edges.sources[number]), int(graph.edges.targets[number])
        kind, confidence = EdgeKind(int(graph.edges.kinds[number])), float(graph.edges.confidences[number])
        if i in external or j in external or not forward.get(kind, 0):
            continue
        links[i].append((j, forward[kind], confidence, int(graph.edges.candidates[number])))
        back = forward[kind] * (1.0 if kind in SYMMETRIC_KINDS else backward.get(kind, 0))
        if back:
            links[j].append((i, back, confidence, 1))
        if kind is not EdgeKind.CONTAINS and i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    matrix = np.zeros((len(graph.nodes), len(graph.nodes)))
    for source, outgoing in links.items():
        total = sum(w / members for _, w, _, members in outgoing)
        for target, w, confidence, _ in outgoing:
            matrix[target, source] += w * confidence / total
    return matrix, [max(1, len(neighbours[i])) for i in range(len(graph.nodes))]


@given(random_graphs(), weight_choices)
def test_m_is_as_the_design_says(graph: CodeGraph, weights: WalkWeights) -> None:
    transition = build_transition(graph, weights)
    matrix, degrees = reference(graph, weights)
    assert np.allclose(dense(transition), matrix, rtol=1e-13, atol=0)
    assert transition.degrees.tolist() == degrees
    assert transition.walkable.tolist() == [graph.kind(i) is not NodeKind.EXTERNAL for i in range(len(graph.nodes))]
    assert (dense(transition).sum(axis=0) <= 1 + 1e-12).all()


@given(random_graphs(), weight_choices)
def test_m_is_in_the_stated_form(graph: CodeGraph, weights: WalkWeights) -> None:
    m = build_transition(graph, weights)
    assert (m.indptr.dtype, m.indices.dtype, m.weights.dtype) == (np.int32, np.int32, np.float64)
    assert (m.degrees.dtype, m.walkable.dtype) == (np.int32, np.bool_)
    assert len(m.indptr) == len(graph.nodes) + 1
    assert m.indptr[-1] == len(m.indices) == len(m.weights)
    for j in range(len(graph.nodes)):
        row = m.indices[m.indptr[j] : m.indptr[j + 1]].tolist()
        assert row == sorted(set(row))
    assert ((m.weights > 0) & (m.weights <= 1)).all()


@pytest.mark.slow
@given(random_graphs(), weight_choices)
def test_normalised_columns_sum_to_1(graph: CodeGraph, weights: WalkWeights) -> None:
    plain = dense(build_transition(graph, weights)).sum(axis=0)
    sums = dense(build_transition(graph, weights, normalise=True)).sum(axis=0)
    assert np.allclose(sums, plain > 0, rtol=1e-12)


def test_a_hand_worked_transition() -> None:
    """Calls weigh 1 (back 0.5), imports 0.5 (back 0.25): a calls b (0.9), a imports b (1.0), and
    a calls c or d, precision 0.6, so 0.3 each with 2 candidates.
    D_a = 1 + 1/2 + 1/2 + 0.5 = 2.5. Back links: D_b = 0.5 + 0.25 = 0.75, D_c = D_d = 0.5 (undivided).
    M_ba = (1 * 0.9 + 0.5 * 1) / 2.5 = 0.56, M_ca = M_da = 1 * 0.3 / 2.5 = 0.12
    M_ab = (0.5 * 0.9 + 0.25 * 1) / 0.75 = 14/15, M_ac = M_ad = 0.5 * 0.3 / 0.5 = 0.3
    """
    edges = [
        EdgeSpec("a", "b", EdgeKind.CALLS, 0.9, n=17),
        EdgeSpec("a", "c", EdgeKind.CALLS, 0.3, candidates=2),
        EdgeSpec("a", "d", EdgeKind.CALLS, 0.3, candidates=2),
        EdgeSpec("a", "b", EdgeKind.IMPORTS, 1.0),
        EdgeSpec("a", "external:os", EdgeKind.IMPORTS, 1.0),
    ]
    weights = WalkWeights(
        ((EdgeKind.CALLS, 1.0), (EdgeKind.IMPORTS, 0.5)), ((EdgeKind.CALLS, 0.5), (EdgeKind.IMPORTS, 0.5))
    )
    m = build_transition(make_graph(["a", "b", "c", "d", "external:os"], edges), weights)
    expected = np.zeros((5, 5))
    expected[1, 0], expected[2, 0], expected[3, 0] = 0.56, 0.12, 0.12
    expected[0, 1], expected[0, 2], expected[0, 3] = 14 / 15, 0.3, 0.3
    assert np.allclose(dense(m), expected, rtol=1e-15)
    assert m.degrees.tolist() == [3, 1, 1, 1, 1]


def test_confidences_that_are_no_shares_do_not_make_a_column_exceed_1() -> None:
    m = build_transition(make_graph("abc", [("a", t, EdgeKind.CALLS, 0.9, 2) for t in "bc"]), CALLS_ONLY)
    assert np.allclose(dense(m)[:, 0], [0, 0.5, 0.5])


def test_links_that_add_up_do_not_exceed_1_by_rounding() -> None:
    kinds = list(EdgeKind)[:10]
    for n in range(2, 11):
        for value in (0.1, 0.3, 0.7):
            weights = WalkWeights(tuple((kind, value + 0.01 * kind) for kind in kinds), ())
            m = build_transition(make_graph("ab", [("a", "b", kind) for kind in kinds[:n]]), weights)
            assert 1 - 1e-15 < m.weights[0] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("normalise", [False, True])
@given(case=graphs_with_seeds(), weights=weight_choices, damping=st.sampled_from([0.0, 0.3, 0.5, 0.85, 0.97]))
def test_scores_solve_the_equation(
    normalise: bool, case: tuple[CodeGraph, np.ndarray], weights: WalkWeights, damping: float
) -> None:
    graph, seeds = case
    transition = build_transition(graph, weights, normalise=normalise)
    result = personalized_pagerank(transition, seeds, damping=damping, tolerance=1e-13, max_iterations=3000)
    # r = damping M r + c s with a number c, hence r is proportional to the solution of (I - damping M) x = s.
    solved = np.linalg.solve(np.eye(len(seeds)) - damping * dense(transition), seeds)
    assert np.abs(result.scores - solved / solved.sum()).max() < 1e-9
    assert result.outcome == "converged"
    assert (result.scores >= 0).all()
    assert abs(result.scores.sum() - 1) < 1e-12
    assert (result.scores[~transition.walkable] == 0).all()


@settings(deadline=None)  # networkx is imported by the first case
@given(graphs_with_seeds(), weight_choices)
def test_scores_agree_with_networkx(case: tuple[CodeGraph, np.ndarray], weights: WalkWeights) -> None:
    graph, seeds = case
    transition = build_transition(graph, weights, normalise=True)
    result = personalized_pagerank(transition, seeds, tolerance=1e-13, max_iterations=1000)
    walked = nx.DiGraph()
    walked.add_nodes_from(np.flatnonzero(transition.walkable).tolist())
    matrix = dense(transition)
    walked.add_weighted_edges_from((int(i), int(j), matrix[j, i]) for j, i in zip(*np.nonzero(matrix), strict=True))
    restart = {i: float(seeds[i]) for i in walked}
    expected = nx.pagerank(walked, alpha=0.85, personalization=restart, dangling=restart, tol=1e-13, max_iter=1000)
    assert all(abs(result.scores[i] - expected[i]) < 1e-6 for i in walked)


def test_a_hand_worked_walk() -> None:
    """a calls b with confidence 1, b calls c with confidence 0.5, nothing back; the seed is a, damping 0.8.

    x_a = 1, x_b = 0.8 * 1 = 0.8, x_c = 0.8 * 0.5 * 0.8 = 0.32; their sum is 2.12, r = x / 2.12.
    Check of the equation at a: sum(M r) = r_a + 0.5 r_b = 1.4 / 2.12, and
    0.8 * (1 - 1.4 / 2.12) + 0.2 = 0.8 * 0.72 / 2.12 + 0.424 / 2.12 = 1 / 2.12 = r_a.
    """
    m = build_transition(make_graph("abc", [("a", "b"), EdgeSpec("b", "c", confidence=0.5)]), CALLS_ONLY)
    result = personalized_pagerank(m, np.array([1.0, 0.0, 0.0]), damping=0.8, tolerance=1e-14, max_iterations=500)
    assert np.allclose(result.scores, [1 / 2.12, 0.8 / 2.12, 0.32 / 2.12], rtol=1e-12)


@pytest.mark.slow
@given(graphs_with_seeds(), st.randoms(use_true_random=False))
def test_relabelling_permutes_scores(case: tuple[CodeGraph, np.ndarray], random) -> None:
    graph, seeds = case
    n = len(graph.nodes)
    position = list(range(n))
    random.shuffle(position)  # node i gets the position[i]-th name
    external = [graph.kind(i) is NodeKind.EXTERNAL for i in range(n)]
    names = [f"n{position[i]:02}" for i in range(n)]
    specs = [(names[i], NodeKind.EXTERNAL if external[i] else NodeKind.FILE) for i in range(n)]
    table = graph.edges
    edges = [
        EdgeSpec(
            names[int(table.sources[e])],
            names[int(table.targets[e])],
            EdgeKind(int(table.kinds[e])),
            float(table.confidences[e]),
            int(table.candidates[e]),
        )
        for e in range(len(table))
    ]
    moved_seeds = np.zeros(n)
    moved_seeds[position] = seeds
    scores = personalized_pagerank(build_transition(graph, DEFAULT), seeds).scores
    moved = personalized_pagerank(build_transition(make_graph(specs, edges), DEFAULT), moved_seeds).scores
    assert np.allclose(moved[position], scores, rtol=0, atol=1e-14)


@pytest.mark.slow
@given(graphs_with_seeds())
def test_damping_0_returns_the_seeds(case: tuple[CodeGraph, np.ndarray]) -> None:
    graph, seeds = case
    result = personalized_pagerank(build_transition(graph, DEFAULT), 3 * seeds, damping=0.0)
    assert np.allclose(result.scores, seeds, rtol=1e-15)
    assert (result.n_iterations, result.outcome) == (1, "converged")


@pytest.mark.slow
@given(graphs_with_seeds())
def test_seeds_are_not_changed(case: tuple[CodeGraph, np.ndarray]) -> None:
    graph, seeds = case
    before = seeds.copy()
    personalized_pagerank(build_transition(graph, DEFAULT), seeds)
    assert (seeds == before).all()


RING = make_graph("abcd", [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
ALL_AT_A = np.array([1.0, 0.0, 0.0, 0.0])


def test_the_defaults_converge_within_76_iterations() -> None:
    """The k-th step moves at most 2 * 0.85 ** k, which is below 1e-5 from k = 76 on; the ring is a worst case."""
    result = personalized_pagerank(build_transition(RING, CALLS_ONLY), ALL_AT_A)
    assert result.outcome == "converged"
    assert result.n_iterations == 76
    assert result.residual < 1e-5


def test_the_relaxed_rung_goes_on_from_where_it_stood() -> None:
    """Each step on the ring moves damping times what the last one moved, 2 * 0.85 ** k at the k-th: the 61st is the
    first below 1e-4 (2 * 0.85 ** 61 = 0.99e-4), and with 50 iterations the first attempt ends above 1e-5."""
    m = build_transition(RING, CALLS_ONLY)
    result = personalized_pagerank(m, ALL_AT_A, max_iterations=50)
    assert (result.outcome, result.n_iterations) == ("relaxed", 61)
    assert 0.9e-4 < result.residual < 1e-4
    exact = personalized_pagerank(m, ALL_AT_A, tolerance=1e-14, max_iterations=1000).scores
    assert np.abs(result.scores - exact).sum() < 1e-3


def test_the_relaxed_rung_may_hold_already() -> None:
    result = personalized_pagerank(build_transition(RING, CALLS_ONLY), ALL_AT_A, max_iterations=65)
    assert (result.outcome, result.n_iterations) == ("relaxed", 65)


def test_the_last_rung_ranks_by_degree() -> None:
    """Degrees with calls only: a 2, b 1, c 1, d 1; N = 4 with the external left out; the seed is b.

    degree * (1 + N s): a 2, b 1 * 5 = 5, c 1, d 1; their sum is 9.
    """
    edges = [("a", "b"), ("a", "c"), ("a", "a"), ("b", "a"), ("a", "d", EdgeKind.IMPORTS), ("d", "external:x")]
    m = build_transition(make_graph(["a", "b", "c", "d", "external:x"], edges), CALLS_ONLY)
    seeds = np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    result = personalized_pagerank(m, seeds, damping=0.99, max_iterations=1)
    assert (result.outcome, result.n_iterations) == ("degree", 3)
    assert np.allclose(result.scores, [2 / 9, 5 / 9, 1 / 9, 1 / 9, 0])


@pytest.mark.parametrize(
    ("seeds", "found"),
    [
        ([0.5, 0.5], "shape"),
        ([0.0, 0.0, 0.0], "zero"),
        ([1.0, np.nan, 0.0], "nan"),
        ([1.0, np.inf, 0.0], "inf"),
        ([1.0, -0.5, 0.0], "-0.5"),
        ([1.0, 0.0, 0.5], "outside"),
    ],
)
def test_seeds_are_checked(seeds: list[float], found: str) -> None:
    m = build_transition(make_graph(["a", "b", "external:x"], [("a", "b")]), DEFAULT)
    for call in (personalized_pagerank, lambda *given: compute_origin_shares(*given, [np.array([0])])):
        with pytest.raises(UsageError, match=found):
            call(m, np.array(seeds))


def test_settings_are_checked() -> None:
    m, seeds = build_transition(RING, DEFAULT), ALL_AT_A
    for damping in (-0.1, 1.0, 1.5, np.nan):
        with pytest.raises(UsageError, match="damping"):
            personalized_pagerank(m, seeds, damping=damping)
    for tolerance in (0.0, -1e-5, np.nan, np.inf):
        with pytest.raises(UsageError, match="tolerance"):
            personalized_pagerank(m, seeds, tolerance=tolerance)
    with pytest.raises(UsageError, match="max_iterations"):
        personalized_pagerank(m, seeds, max_iterations=0)


def test_weights_and_edges_are_checked() -> None:
    for value in (-1.0, np.nan, np.inf):
        with pytest.raises(UsageError, match="calls"):
            WalkWeights(((EdgeKind.CALLS, value),)).table()
    with pytest.raises(UsageError, match="two backward"):
        WalkWeights(backward=((EdgeKind.CALLS, 1.0), (EdgeKind.CALLS, 0.5))).table()
    for confidence in (0.0, -0.5, 1.5, np.nan):
        with pytest.raises(UsageError, match="confidences"):
            build_transition(make_graph("ab", [EdgeSpec("a", "b", confidence=confidence)]), DEFAULT)
    with pytest.raises(UsageError, match="candidates"):
        build_transition(make_graph("ab", [EdgeSpec("a", "b", candidates=0)]), DEFAULT)


def test_every_kind_has_a_default_weight() -> None:
    """Of kinds of which no measurement says that an answer gains by them, it is 0."""
    aside = [EdgeKind.OVERRIDES, EdgeKind.READS, EdgeKind.WRITES, EdgeKind.TESTS, EdgeKind.MENTIONS, *ROUTE_KINDS]
    assert {kind for kind, _ in DEFAULT.forward} == set(EdgeKind)
    assert np.flatnonzero((DEFAULT.table() == 0).all(axis=0)).tolist() == aside
    assert np.flatnonzero((DEFAULT.table() > 0).all(axis=0)).tolist() == [k for k in EdgeKind if k not in aside]
    assert {kind for kind, _ in DEFAULT.forward} == set(EdgeKind)


def seeds_of(matches: dict[int, float], specificity: Specificity, **settings: object) -> list[float]:
    """In a star with center a (degree 3) and b, c, d (degree 1), and an external: N = 4."""
    graph = make_graph(["a", "b", "c", "d", "external:x"], [("a", t) for t in ("b", "c", "d", "external:x")])
    return seed_distribution(matches, build_transition(graph, DEFAULT), specificity, **settings).tolist()


def test_seed_distribution() -> None:
    high, low = 0.5 * np.log(4 / 1), 1.0 * np.log(4 / 3)
    expected = [low / (low + high), high / (low + high), 0, 0, 0]
    assert np.allclose(seeds_of({1: 0.5, 0: 1.0}, Specificity.LOG), expected)
    assert np.allclose(seeds_of({1: 0.5, 0: 1.0}, Specificity.NONE), [2 / 3, 1 / 3, 0, 0, 0])
    counts = np.array([4, 0, 0, 0, 0], dtype=np.int32)
    by_passages = seeds_of({1: 0.5, 0: 1.0}, Specificity.PASSAGES, passage_counts=counts)
    assert np.allclose(by_passages, [1 / 3, 2 / 3, 0, 0, 0])


def test_a_lone_node_is_a_seed_though_its_log_is_zero() -> None:
    m = build_transition(make_graph(["a"]), DEFAULT)
    assert seed_distribution({0: 0.3}, m, Specificity.LOG).tolist() == [1.0]


@pytest.mark.parametrize(
    ("matches", "specificity", "found"),
    [
        ({}, Specificity.LOG, "no node"),
        ({0: 0.0}, Specificity.LOG, "0.0"),
        ({0: 1.5}, Specificity.LOG, "1.5"),
        ({0: float("nan")}, Specificity.NONE, "nan"),
        ({-1: 0.5}, Specificity.NONE, "-1"),
        ({5: 0.5}, Specificity.NONE, "5"),
        ({4: 0.5}, Specificity.NONE, "outside"),
        ({0: 0.5}, Specificity.PASSAGES, "passage count"),
    ],
)
def test_matches_are_checked(matches: dict[int, float], specificity: Specificity, found: str) -> None:
    with pytest.raises(UsageError, match=found):
        seeds_of(matches, specificity)
