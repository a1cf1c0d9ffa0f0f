"""Weights from labelled candidates: the loss by hand, its gradient by differences, what is learned from plain cases."""

import math

import numpy as np
import pytest

from causalist.evaluate.fit import FitCandidates, Penalty, StackedCandidates, fit_linear, loss_of
from causalist.model.node_ids import NodeKind, Role
from causalist.rank import LinearModel


def question(values: list[list[float]], gold: list[bool], roles: list[Role] | None = None) -> FitCandidates:
    n = len(values)
    return FitCandidates(
        np.arange(n),
        np.array(values),
        np.array([int(role) for role in roles or [Role.CODE] * n]),
        np.full(n, int(NodeKind.FUNCTION)),
        np.array(gold),
    )


def stacked(matrix: list[list[float]], gold: list[bool], sizes: list[int]) -> StackedCandidates:
    n = len(gold)
    asked = np.repeat(np.arange(len(sizes)), sizes)
    roles = np.zeros((n, len(Role)))
    roles[0, Role.TEST] = 1.0
    right = np.bincount(asked[np.array(gold)], minlength=len(sizes))
    return StackedCandidates(np.array(matrix), roles, np.array(gold), asked, np.cumsum(sizes) - np.array(sizes), right)


def test_loss_by_hand() -> None:
    # One right candidate of score 2, wrong ones of 1 and 0: -log(e^2 / (e^2 + e + 1)) = 0.4076. A second question has
    # two right ones of scores 0 and 1 against one of 1, each alone against it: (log(1 + e) + log 2) / 2 = 1.0032.
    given = stacked([[1.0], [2.0], [0.0], [0.0], [1.0], [1.0]], [False, True, False, True, True, False], [3, 3])
    given.roles[:] = 0.0
    loss, _ = loss_of(
        np.concatenate([[1.0], np.zeros(len(Role))]), given, 1, Penalty(np.zeros(1 + len(Role)), 0.0, 0.0)
    )
    assert loss == pytest.approx((0.40760596 + (math.log(1 + math.e) + math.log(2)) / 2) / 2, abs=1e-7)


def test_gradient_is_that_of_the_loss() -> None:
    chance = np.random.default_rng(3)
    gold = [False, True, False, True, False, True, True, False, False]
    given = stacked(chance.random((9, 4)).tolist(), gold, [3, 4, 2])
    at, penalty = chance.random(4 + len(Role)), Penalty(chance.random(4 + len(Role)), 0.01, 0.02)
    _, gradient = loss_of(at, given, 4, penalty)
    for i in range(len(at)):
        step = np.zeros(len(at))
        step[i] = 1e-6
        above, below = loss_of(at + step, given, 4, penalty)[0], loss_of(at - step, given, 4, penalty)[0]
        assert gradient[i] == pytest.approx((above - below) / 2e-6, abs=1e-7)


def test_scores_of_any_size_have_a_finite_loss() -> None:
    given = stacked([[1.0], [0.0]], [False, True], [2])
    loss, gradient = loss_of(
        np.concatenate([[5000.0], np.zeros(len(Role))]), given, 1, Penalty(np.zeros(1 + len(Role)), 0.0, 0.0)
    )
    assert loss == pytest.approx(5000.0)
    assert np.isfinite(gradient).all()


def test_what_tells_right_from_wrong_gets_the_weight() -> None:
    asked = [question([[1.0, 0.5], [0.0, 0.5], [0.2, 0.9]], [True, False, False])] * 5
    weights = fit_linear(asked, ("telling", "misleading"))
    assert weights.signals["telling"] > 1.0
    assert weights.signals["misleading"] == 0.0


def test_the_factor_of_a_role_that_is_never_right_is_small() -> None:
    asked = [question([[1.0], [0.9]], [False, True], [Role.TEST, Role.CODE])] * 5
    weights = fit_linear(asked, ("text",))
    assert weights.role["code"] == 1.0
    assert weights.role["test"] < 0.5


def test_kinds_are_given_something_beforehand() -> None:
    asked = [question([[0.5], [0.5]], [True, False])] * 5
    asked = [
        FitCandidates(q.nodes, q.values, q.roles, np.array([NodeKind.FUNCTION, NodeKind.CLASS]), q.gold) for q in asked
    ]
    weights = fit_linear(asked, ("text",), kinds=(NodeKind.FUNCTION, NodeKind.CLASS))
    assert set(weights.kind) == {"function"}


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ValueError, match="no question has a right and a wrong candidate"):
        fit_linear([question([[1.0], [0.5]], [False, False]), question([[1.0]], [True])], ("text",))


def test_few_questions_stay_near_the_weights_that_they_begin_with() -> None:
    around = LinearModel({"telling": 1.0, "silent": 2.5}, {role.label: 0.5 for role in Role} | {"code": 1.0}, {})
    asked = [question([[1.0, 0.4], [0.0, 0.4]], [True, False])]
    near = fit_linear(asked, ("telling", "silent"), ridge=1.0, around=around)
    far = fit_linear(asked, ("telling", "silent"), ridge=0.01, around=around)
    assert near.signals["silent"] == far.signals["silent"] == 2.5
    assert 1.0 < near.signals["telling"] < 1.2 < far.signals["telling"]
    assert near.role == dict(around.role)
