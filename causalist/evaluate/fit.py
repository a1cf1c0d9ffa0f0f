"""Labelled questions -> the weights of a pass, by maximum likelihood.

The chance that a node is what a question means is taken as the softmax of the scores (a conditional logit model;
McFadden 1974), and the weights are those under which the right nodes are likeliest, each right one against all wrong
ones, every question counting the same. Small weights are preferred (ridge), and none is negative, so that a signal
that says nothing gets 0. Only the candidates of a question are looked at: the best by any signal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]

from causalist.model.symbols import NodeKind, Role
from causalist.rank import Linear
from causalist.rank.scoring.likelihood import Penalty, Stacked, loss_of

Scores = NDArray[np.float64]

RIDGE = 1e-3  # of the weights, per question; 3e-4 to 3e-3 cannot be told apart on the development questions
_ROLE_RIDGE = 2e-3  # of the logarithms of the factors of roles
_BY_SCORE = 60  # candidates of a question by the score so far
_BY_SIGNAL = 20  # and by each signal
_START_FACTOR = -1.3  # logarithm of the factor of a role, where the search begins
_SMALLEST_FACTOR = -3.0
_ITERATIONS = 200


@dataclass(frozen=True, slots=True)
class Candidates:
    """Those of one question: `values` of shape (n, signals), `roles` and `kinds` of shape (n,), -1 where the question
    asks for the role; `gold`, shape (n,): what is right."""

    nodes: NDArray[np.int64]
    values: NDArray[np.float64]
    roles: NDArray[np.int64]
    kinds: NDArray[np.int64]
    gold: NDArray[np.bool_]

    @property
    def is_telling(self) -> bool:
        """Whether anything can be learned from it: something right and something wrong."""
        return bool(self.gold.any() and not self.gold.all())


def candidates(
    signals: Mapping[str, Scores],
    names: Sequence[str],
    score: Scores,
    fits: NDArray[np.bool_],
    roles: NDArray[np.int64],
    kinds: NDArray[np.int64],
    gold: Sequence[int],
) -> Candidates:
    """The candidates among the nodes that `fits`, all of shape (n_nodes,); `gold` are node numbers."""
    chosen: set[int] = set()
    for values, most in [(score, _BY_SCORE), *((signals[name], _BY_SIGNAL) for name in names)]:
        kept = np.where(fits, values, 0.0)
        best = np.argsort(-kept, kind="stable")[:most]
        chosen.update(int(node) for node in best if kept[node] > 0)
    nodes = np.array(sorted(chosen), dtype=np.int64)
    values = np.stack([signals[name][nodes] for name in names], axis=1) if len(nodes) else np.zeros((0, len(names)))
    return Candidates(nodes, values, roles[nodes], kinds[nodes], np.isin(nodes, list(gold)))


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the vector of parameters is laid out: signals, kinds, logarithms of the factors of roles."""

    names: tuple[str, ...]
    kinds: tuple[NodeKind, ...]

    @property
    def n_linear(self) -> int:
        return len(self.names) + len(self.kinds)

    def matrix(self, given: Candidates) -> NDArray[np.float64]:
        kinds = given.kinds[:, None] == np.array(self.kinds, dtype=np.int64)[None, :]
        joined: NDArray[np.float64] = np.hstack([given.values, kinds.astype(np.float64)])
        return joined

    def parameters(self, given: Linear) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(weights, logarithms of the factors) that say what `given` says."""
        weights = [given.signals.get(name, 0.0) for name in self.names]
        weights += [given.kind.get(kind.label, 0.0) for kind in self.kinds]
        factors = np.log([given.role.get(role.label, 1.0) for role in Role])
        return np.array(weights), np.clip(factors, _SMALLEST_FACTOR, 0.0)

    def linear(self, found: NDArray[np.float64]) -> Linear:
        weights = [round(float(v), 4) for v in found[: self.n_linear]]
        factors = np.exp(found[self.n_linear :])
        return Linear(
            dict(zip(self.names, weights, strict=False)),
            {role.label: round(float(factors[role]), 4) for role in Role},
            {kind.label: w for kind, w in zip(self.kinds, weights[len(self.names) :], strict=True) if w > 0},
        )


def fit_linear(
    questions: Sequence[Candidates],
    names: Sequence[str],
    *,
    kinds: Sequence[NodeKind] = (),
    start: Mapping[str, float] | None = None,
    ridge: float = RIDGE,
    around: Linear | None = None,
) -> Linear:
    """The weights of `names`, of `kinds` and of all roles that make the right candidates of `questions` likeliest.

    With `around`, what is small is the distance from those weights, by `ridge` for the factors of roles as well: a few
    questions then change what they are sure of and leave the rest.

    Raises ValueError where no question has both a right and a wrong candidate.
    """
    shape = _Shape(tuple(names), tuple(kinds))
    telling = [q for q in questions if q.is_telling]
    if not telling:
        raise ValueError("no question has a right and a wrong candidate")
    first = np.array([(start or {}).get(name, 1.0) for name in names] + [0.0] * len(kinds))
    factors = np.full(len(Role), _START_FACTOR)
    factors[Role.CODE] = 0.0
    centre, role_ridge = np.zeros(shape.n_linear + len(Role)), _ROLE_RIDGE
    if around is not None:
        first, factors = shape.parameters(around)
        centre, role_ridge = np.concatenate([first, factors]), ridge
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * shape.n_linear
    bounds += [(0.0, 0.0) if role is Role.CODE else (_SMALLEST_FACTOR, 0.0) for role in Role]
    found = minimize(
        loss_of,
        np.concatenate([first, factors]),
        args=(_stacked(telling, shape), shape.n_linear, Penalty(centre, ridge, role_ridge)),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": _ITERATIONS},
    )
    return shape.linear(found.x)


def _stacked(questions: Sequence[Candidates], shape: _Shape) -> Stacked:
    sizes = np.array([len(q.gold) for q in questions])
    gold = np.concatenate([q.gold for q in questions])
    question = np.repeat(np.arange(len(questions)), sizes)
    roles = np.concatenate([q.roles for q in questions])
    return Stacked(
        np.concatenate([shape.matrix(q) for q in questions]),
        (roles[:, None] == np.arange(len(Role))[None, :]).astype(np.float64),
        gold,
        question,
        np.cumsum(sizes) - sizes,
        np.bincount(question[gold], minlength=len(questions)),
    )
