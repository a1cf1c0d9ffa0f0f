"""Pushed PageRank against a dense solve: never farther from it than it says, and never more work than it says."""

import gc
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.errors import UsageError
from causalist.model.graph import CodeGraph
from causalist.model.scores import Transition
from causalist.rank import local_push as push
from causalist.rank import pagerank as _transition
from causalist.rank import sparse_product as _product
from causalist.rank.local_push import compute_pagerank, extend_push, push_pagerank
from causalist.rank.pagerank import WalkWeights, build_transition, personalized_pagerank, restrict_to
from tests.rank.test_pagerank import dense, graphs_with_seeds, weight_choices
from tests.trials import count_of

dampings = st.sampled_from([0.0, 0.3, 0.85, 0.99])
epsilons = st.sampled_from([1.0, 0.3, 0.03, 1e-3, 1e-5, 1e-9])


def solved(transition: Transition, seeds: np.ndarray, damping: float) -> np.ndarray:
    """The fixed point, by a dense solve of the equation with the mass that returns:
    r = damping * (M + s * lacking) r + (1 - damping) * s for a sum of 1, where lacking_j = 1 - sum(M[:, j])."""
    matrix = dense(transition)
    lacking = 1.0 - matrix.sum(axis=0)
    returning = matrix + np.outer(seeds, lacking)
    r = np.linalg.solve(np.eye(len(seeds)) - damping * returning, (1.0 - damping) * seeds)
    return np.asarray(r / r.sum())


def ring(n: int) -> Transition:
    """Node i leads to i + 1, the last to the first."""
    nodes = np.arange(n, dtype=np.int32)
    return Transition(
        np.arange(n + 1, dtype=np.int32), np.roll(nodes, 1), np.ones(n), np.ones(n, np.int32), np.ones(n, np.bool_)
    )


@pytest.mark.slow
@settings(max_examples=count_of(40, 120))
@given(graphs_with_seeds(), weight_choices, dampings, epsilons)
def test_is_never_farther_than_its_bound(
    case: tuple[CodeGraph, np.ndarray], weights: WalkWeights, damping: float, epsilon: float
) -> None:
    graph, seeds = case
    transition = build_transition(graph, weights)
    result = push_pagerank(transition, seeds, damping=damping, epsilon=epsilon)
    error = np.abs(result.scores - solved(transition, seeds, damping)).sum()
    assert result.outcome == "approximate" and result.bound is not None
    assert error <= result.bound + 1e-12
    assert result.scores.min() >= 0 and abs(result.scores.sum() - 1) < 1e-12
    # What is left was below the threshold of every node.
    links = np.maximum((dense(transition) > 0).sum(axis=0), 1)
    assert result.residual <= epsilon * links.sum() + 1e-15


@given(graphs_with_seeds(), weight_choices)
def test_a_small_epsilon_is_exact(case: tuple[CodeGraph, np.ndarray], weights: WalkWeights) -> None:
    graph, seeds = case
    transition = build_transition(graph, weights)
    result = push_pagerank(transition, seeds, damping=0.85, epsilon=1e-15)
    assert np.abs(result.scores - solved(transition, seeds, 0.85)).sum() < 1e-9


def test_the_bound_is_reached() -> None:
    """A ring of 2 with damping 1/2 and epsilon 0.6: the seed is pushed, q_1 = 1/2 is not. y = (1, 1/2); the exact
    x = (4/3, 2/3) is in the same proportion, so the error is 0, but E = 1/2 is just what is missing in sum."""
    result = push_pagerank(ring(2), np.array([1.0, 0.0]), damping=0.5, epsilon=0.6)
    assert result.scores.tolist() == [2 / 3, 1 / 3]
    assert (result.n_iterations, result.residual, result.bound) == (1, 0.5, 0.5)


@pytest.mark.parametrize("n", [100, 10_000, 1_000_000])
def test_the_size_of_the_graph_costs_nothing(n: int) -> None:
    """0.5 ** k is at least 0.001 for k <= 9: ten nodes are pushed, one a round, and an eleventh is reached."""
    result = push_pagerank(ring(n), np.eye(1, n, 5)[0], damping=0.5, epsilon=0.001)
    assert result.n_iterations == 10
    assert np.flatnonzero(result.scores).tolist() == list(range(5, 16))
    assert result.residual == 0.5**10


@pytest.mark.slow
@given(graphs_with_seeds(), weight_choices, dampings, epsilons)
def test_follows_no_more_links_than_stated(
    case: tuple[CodeGraph, np.ndarray], weights: WalkWeights, damping: float, epsilon: float
) -> None:
    """Counted by pushing once more in the plainest way, round by round."""
    graph, seeds = case
    transition = build_transition(graph, weights)
    matrix = dense(transition)
    links = np.maximum((matrix > 0).sum(axis=0), 1)
    q, p, followed, rounds = seeds / seeds.sum(), np.zeros(len(seeds)), 0, 0
    while (due := q >= epsilon * links).any() and rounds < 3000:
        p, q = p + q * due, q * ~due + damping * matrix @ (q * due)
        followed += int(links[due].sum())
        rounds += 1
    assert followed <= 1 / (epsilon * (1 - damping)) * (1 + 1e-9)
    result = push_pagerank(transition, seeds, damping=damping, epsilon=epsilon)
    assert np.allclose(result.scores, (p + q) / (p + q).sum(), rtol=1e-9, atol=1e-15)


def test_stops_when_told_with_a_bound_that_holds() -> None:
    answers = iter([True, True, False])
    result = push_pagerank(
        ring(50), np.eye(1, 50)[0], damping=0.85, epsilon=1e-9, should_continue=lambda: next(answers)
    )
    assert (result.outcome, result.n_iterations) == ("stopped", 2)
    error = np.abs(result.scores - solved(ring(50), np.eye(1, 50)[0], 0.85)).sum()
    assert result.bound is not None and 0 < error <= result.bound


def test_which_walk_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = np.eye(1, 30)[0]
    outcomes = [compute_pagerank(ring(30), seeds, damping=0.5, approximate=a).outcome for a in (None, 0.0, 0.1)]
    assert outcomes == ["converged", "converged", "approximate"]
    monkeypatch.setattr(push, "EXACT_UP_TO", 29)
    outcomes = [compute_pagerank(ring(30), seeds, damping=0.5, approximate=a).outcome for a in (None, 0.0, 0.1)]
    assert outcomes == ["approximate", "converged", "approximate"]
    exact = personalized_pagerank(ring(30), seeds, damping=0.5)
    assert compute_pagerank(ring(30), seeds, damping=0.5, approximate=0.0).scores.tolist() == exact.scores.tolist()


shares = st.sampled_from([0.01, 0.3, 0.9])


@pytest.mark.slow
@settings(max_examples=count_of(40, 120))
@given(graphs_with_seeds(), st.randoms(use_true_random=False), weight_choices, dampings, epsilons, shares)
def test_a_walk_that_goes_on_is_within_its_bound(
    case: tuple[CodeGraph, np.ndarray],
    chooser: random.Random,
    weights: WalkWeights,
    damping: float,
    epsilon: float,
    share: float,
) -> None:
    """Twice, from the joined seeds of the time before; every bound is one to a dense solve for all seeds at once."""
    graph, seeds = case
    transition = build_transition(graph, weights)
    walk = push_pagerank(transition, seeds, damping=damping, epsilon=epsilon)
    for _ in range(2):
        others = np.array([1.0 + chooser.randrange(9) for _ in seeds]) * transition.walkable
        others /= others.sum()
        seeds = (1 - share) * seeds + share * others
        walk = extend_push(transition, walk, others, share, seeds, damping=damping, approximate=epsilon)
        assert walk.outcome == "approximate" and walk.bound is not None
        assert np.abs(walk.scores - solved(transition, seeds, damping)).sum() <= walk.bound + 1e-9
        assert walk.scores.min() >= 0 and abs(walk.scores.sum() - 1) < 1e-12
        links = np.maximum((dense(transition) > 0).sum(axis=0), 1)
        assert walk.residual <= 2 * epsilon * links.sum() + 1e-15


def test_a_walk_that_goes_on_pushes_the_new_seeds_alone() -> None:
    """From one node of a ring to the next: half a share each, and what is handed on from both."""
    transition = ring(1000)
    seeds, others = np.zeros((2, 1000))
    seeds[0] = others[10] = 1.0
    walk = push_pagerank(transition, seeds, damping=0.5, epsilon=1e-9)
    both = extend_push(transition, walk, others, 0.5, (seeds + others) / 2, damping=0.5, approximate=1e-9)
    # (1 - d) * d ** k at k steps, half from each; what came round the ring is below 1e-300.
    assert both.scores[0] == pytest.approx(0.25, abs=1e-8) and both.scores[1] == pytest.approx(0.125, abs=1e-8)
    assert both.scores[10] == pytest.approx(0.25 + 0.25 / 1024, abs=1e-8)
    # 28 and 29 rounds bring 0.5 ** k below the threshold, 1e-9 and twice that.
    assert walk.n_iterations == 30 and both.n_iterations == 30 + 29
    exact = personalized_pagerank(transition, seeds, damping=0.5)
    again = extend_push(transition, exact, others, 0.5, (seeds + others) / 2, damping=0.5, approximate=0.0)
    assert again.bound is None
    assert again.scores == pytest.approx(
        personalized_pagerank(transition, (seeds + others) / 2, damping=0.5).scores, abs=0
    )


def test_a_walk_that_goes_on_may_be_stopped() -> None:
    transition, seeds, others = ring(50), *np.eye(50)[:2]
    walk = push_pagerank(transition, seeds, damping=0.85, epsilon=1e-6)
    asked = iter([True, True, False])
    stopped = extend_push(
        transition,
        walk,
        others,
        0.5,
        (seeds + others) / 2,
        damping=0.85,
        approximate=1e-6,
        should_continue=lambda: next(asked),
    )
    error = np.abs(stopped.scores - solved(transition, (seeds + others) / 2, 0.85)).sum()
    assert stopped.outcome == "stopped" and walk.bound is not None and stopped.bound is not None
    assert walk.bound < error <= stopped.bound + 1e-12


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 1.5, float("nan")])
def test_a_threshold_out_of_range(epsilon: float) -> None:
    with pytest.raises(UsageError, match="epsilon is"):
        push_pagerank(ring(3), np.ones(3), damping=0.5, epsilon=epsilon)


@pytest.mark.slow
def test_a_graph_is_turned_once_and_forgotten() -> None:
    gc.collect()
    before = len(push._turned)
    transition = ring(40)
    for _ in range(2):
        push_pagerank(transition, np.eye(1, 40)[0], damping=0.5, epsilon=0.1)
    assert len(push._turned) == before + 1
    del transition
    gc.collect()
    assert len(push._turned) == before


@pytest.mark.slow
@given(graphs_with_seeds(), weight_choices)
def test_both_ways_to_transpose_agree(case: tuple[CodeGraph, np.ndarray], weights: WalkWeights) -> None:
    m = build_transition(case[0], weights)
    fast = _product.csr_transpose(m.indptr, m.indices, m.weights)
    assert _product._fastest_transpose() is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_product, "_fastest_transpose", lambda: None)
        slow = _product.csr_transpose(m.indptr, m.indices, m.weights)
    assert all(a.dtype == b.dtype and a.tolist() == b.tolist() for a, b in zip(fast, slow, strict=True))
    turned = Transition(*fast, m.degrees, m.walkable)
    assert (dense(turned) == dense(m).T).all()


@given(graphs_with_seeds(), weight_choices)
def test_the_columns_of_a_large_graph_are_turned_when_it_is_built(
    case: tuple[CodeGraph, np.ndarray], weights: WalkWeights
) -> None:
    graph, seeds = case
    small = build_transition(graph, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_transition, "EXACT_UP_TO", 0)
        large = build_transition(graph, weights)
    assert len(small.column_indptr) == 0 and len(large.column_indptr) == len(seeds) + 1
    by_columns = Transition(
        large.column_indptr, large.column_indices, large.column_weights, small.degrees, small.walkable
    )
    assert (dense(by_columns) == dense(small).T).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_transition, "csr_transpose", _never)
        pushed = push_pagerank(large, seeds, damping=0.85, epsilon=1e-6)
    assert pushed.scores.tolist() == push_pagerank(small, seeds, damping=0.85, epsilon=1e-6).scores.tolist()
    # A walk that stays inside has other entries than those that were turned.
    inside = np.arange(len(seeds)) % 2 == 0
    confined = restrict_to(large, inside)
    expected = push_pagerank(restrict_to(small, inside), seeds, damping=0.85, epsilon=1e-6)
    assert push_pagerank(confined, seeds, damping=0.85, epsilon=1e-6).scores.tolist() == expected.scores.tolist()


def _never(*_: object) -> None:
    raise AssertionError("turned once more")


def test_each_once_by_marks_and_by_sorting() -> None:
    for n_nodes in (8, 8 * push.MARKING_COSTS):  # marked, sorted
        marks = np.zeros(n_nodes, dtype=np.bool_)
        assert push._unique_nodes(np.array([5, 2, 5, 7], dtype=np.int32), marks).tolist() == [2, 5, 7]
        assert not marks.any()
