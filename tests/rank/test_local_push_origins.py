"""The seeds of a score against the design's formula, solved densely."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.errors import ConvergenceError
from causalist.model.graph import CodeGraph
from causalist.model.scores import Transition
from causalist.rank import local_push as module
from causalist.rank.local_push import compute_origin_shares
from causalist.rank.pagerank import WalkWeights, build_transition
from tests.rank.test_pagerank import dense, graphs_with_seeds, weight_choices

# 0 -> 1 and 2 -> 1, half a link each; nothing leads to 3.
_MEET = Transition(
    np.array([0, 0, 2, 2, 2], dtype=np.int32), np.array([0, 2], dtype=np.int32), np.array([0.5, 0.5]),
    np.array([1, 2, 1, 1], dtype=np.int32), np.ones(4, dtype=np.bool_),
)  # fmt: skip


def test_a_node_has_its_score_from_those_that_lead_to_it() -> None:
    seeds = np.array([0.6, 0.1, 0.3, 0.0])
    groups = [np.array([1]), np.array([0]), np.array([3]), np.array([0, 2])]
    # 1 has 0.1 itself and half of 0.5 of the others: 0.15 : 0.1 : 0.075
    expected = [[0.15 / 0.325, 0.1 / 0.325, 0.075 / 0.325], [1, 0, 0], [0, 0, 0], [2 / 3, 0, 1 / 3]]
    assert np.allclose(compute_origin_shares(_MEET, seeds, groups, damping=0.5), expected, rtol=0, atol=1e-12)


@pytest.mark.slow
@given(graphs_with_seeds(), weight_choices, st.sampled_from([0.0, 0.5, 0.85]), st.integers(0, 3))
def test_shares_are_those_of_the_solved_equation(
    case: tuple[CodeGraph, np.ndarray], weights: WalkWeights, damping: float, n_more: int
) -> None:
    graph, seeds = case
    n, transition = len(seeds), build_transition(graph, weights)
    groups = [np.arange(node, min(node + 1 + n_more, n)) for node in range(n)]
    given_by = np.linalg.inv(np.eye(n) - damping * dense(transition)) * seeds  # column i: what seed i gives
    given_by = given_by[:, np.flatnonzero(seeds)]
    found = compute_origin_shares(transition, seeds, groups, damping=damping)
    assert found.shape == (n, np.count_nonzero(seeds)) and (found >= 0).all()
    for group, row in zip(groups, found, strict=True):
        parts = given_by[group].sum(axis=0)
        if parts.sum() > 1e-6:
            assert np.abs(row - parts / parts.sum()).max() <= 2 * module.ORIGIN_TOLERANCE
        elif parts.sum() == 0:
            assert not row.any()


def test_a_group_comes_out_as_it_would_alone() -> None:
    seeds, groups = np.array([0.6, 0.1, 0.3, 0.0]), [np.array([1]), np.array([3]), np.array([0, 2])]
    together = compute_origin_shares(_MEET, seeds, groups)
    assert [row.tolist() for row in together] == [
        compute_origin_shares(_MEET, seeds, [each])[0].tolist() for each in groups
    ]


def test_it_says_when_it_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Transition(np.array([0, 1], dtype=np.int32), np.array([0], dtype=np.int32), np.ones(1), np.ones(1, np.int32),
                      np.ones(1, dtype=np.bool_))  # fmt: skip
    with pytest.raises(ConvergenceError, match="stopped"):
        compute_origin_shares(loop, np.ones(1), [np.array([0])], should_continue=lambda: False)
    monkeypatch.setattr(module, "MAX_ITERATIONS", 5)
    with pytest.raises(ConvergenceError, match=r"damping < 0\.9"):
        compute_origin_shares(loop, np.ones(1), [np.array([0])], damping=0.9)
