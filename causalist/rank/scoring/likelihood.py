"""How likely linear weights make what is right: the loss that weights are fitted by, for code and for free text."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LARGEST_EXPONENT = 700.0  # e to more is infinite


@dataclass(frozen=True, slots=True)
class Stacked:
    """The candidates of all questions below one another, n of them; those of a question stand together.

    `matrix`: (n, linear parameters); `roles`: (n, roles), a one where the role's factor holds; `gold`: (n,);
    `question`: (n,), ascending from 0; `starts`: (questions,), the first row of each; `n_right`: (questions,).
    A question that is to count three times has a third of its number there.
    """

    matrix: NDArray[np.float64]
    roles: NDArray[np.float64]
    gold: NDArray[np.bool_]
    question: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_right: NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Penalty:
    """`ridge` times the squares of the distances of weights from the `centre`, `role_ridge` times those of roles."""

    centre: NDArray[np.float64]
    ridge: float
    role_ridge: float = 0.0


def loss_of(
    parameters: NDArray[np.float64], given: Stacked, n_linear: int, penalty: Penalty
) -> tuple[float, NDArray[np.float64]]:
    """(mean negative log-likelihood and penalties, its gradient).

    With W the logarithm of the sum of e to the scores of a question's wrong candidates, a right one of score s is
    taken before all of them with probability 1 / (1 + e to W - s).
    """
    weights, logs = parameters[:n_linear], parameters[n_linear:]
    factor = np.exp(given.roles @ logs)
    score = factor * (given.matrix @ weights)
    gold, question = given.gold, given.question
    wrong = np.where(gold, -np.inf, score)
    top = np.maximum.reduceat(wrong, given.starts)
    against = np.exp(wrong - top[question])
    total = np.add.reduceat(against, given.starts)
    behind = (np.log(total) + top)[question[gold]] - score[gold]
    share = 1.0 / given.n_right[question[gold]]
    n = len(given.starts)
    loss = float(np.sum(np.logaddexp(0.0, behind) * share)) / n
    missed = share / (1.0 + np.exp(np.minimum(-behind, _LARGEST_EXPONENT)))
    slope = against / total[question] * np.bincount(question[gold], weights=missed, minlength=n)[question]
    slope[gold] = -missed
    away = parameters - penalty.centre
    pull = np.concatenate([np.full(n_linear, penalty.ridge), np.full(len(logs), penalty.role_ridge)]) * away
    loss += float(pull @ away)
    by_weight, by_log = (slope * factor) @ given.matrix / n, (slope * score) @ given.roles / n
    return loss, np.concatenate([by_weight, by_log]) + 2 * pull
