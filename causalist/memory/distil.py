"""What was of use -> how passages are ranked, and how sure that is. Linear, so that it explains itself.

Feedback is one row a question: the features of its candidates and which of them were used. The weights are fitted to
the older part and taken only if they rank the newer part better than reciprocal rank fusion does.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.errors import IndexNotWritable
from causalist.memory.stages import Posterior
from causalist.rank.scoring.calibration import Penalty, Stacked, loss_of

FEATURES = ("dense", "sparse", "graph", "fused", "recency")
FEWEST = 20  # questions with feedback, before anything is learned or called calibrated
OLDER_SHARE = 0.7
_RIDGE = 1e-3
_MOST_ROWS = 5_000
# What is believed of a passage before there is feedback, by its best rank in any list (first, to 3, to 10, further) and
# by how many lists have it: Beta(mean * strength, (1 - mean) * strength). Chosen by hand.
_RANKS = (1, 3, 10)
_PRIOR = ((0.5, 0.6, 0.7), (0.3, 0.4, 0.5), (0.12, 0.2, 0.3), (0.04, 0.06, 0.1))
_STRENGTH = 4.0


@dataclass(frozen=True, slots=True)
class Row:
    """One question: `features` of shape (n, FEATURES), `levels` of shape (n,) as `level_of` has them, `used`."""

    features: NDArray[np.float64]
    levels: tuple[int, ...]
    used: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Learned:
    """`weights` by feature. `heuristic` and `learned`: MRR on the `n_newer` questions that had no part in the fit."""

    weights: Mapping[str, float]
    n_older: int
    n_newer: int
    heuristic: float
    learned: float


class Feedback:
    """Rows in memory, and in a file where one is given: JSON, one a line; what cannot be read is left out."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.rows: list[Row] = []
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()[-_MOST_ROWS:]:
                row = _row_of(line)
                if row is not None:
                    self.rows.append(row)

    def add(self, row: Row) -> None:
        """Raises IndexNotWritable."""
        self.rows.append(row)
        if self.path is None:
            return
        data = {"features": row.features.tolist(), "levels": list(row.levels), "used": row.used.tolist()}
        try:
            with self.path.open("a", encoding="ascii") as file:
                file.write(json.dumps(data) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise IndexNotWritable(f"cannot write {self.path}: {error.strerror or error}") from error

    @property
    def is_calibrated(self) -> bool:
        return len(self.rows) >= FEWEST

    def posterior(self, level: int) -> Posterior:
        """Of a passage of this level: the prior, and what was used of those that were shown."""
        shown = sum(row.levels.count(level) for row in self.rows)
        used = sum(int(row.used[np.array(row.levels) == level].sum()) for row in self.rows)
        mean = _PRIOR[level // 3][level % 3]
        a, b = mean * _STRENGTH + used, (1 - mean) * _STRENGTH + shown - used
        from scipy.special import betaincinv  # type: ignore[import-untyped]

        return Posterior(a / (a + b), float(betaincinv(a, b, 0.05)), float(betaincinv(a, b, 0.95)))


def level_of(ranks: Sequence[int]) -> int:
    """What the lists say of a passage, 0 to 11: by its best rank, and by how many lists have it.

    >>> level_of([1]), level_of([5, 2]), level_of([40, 50, 60])
    (0, 4, 11)
    """
    best = sum(min(ranks) > limit for limit in _RANKS)
    return best * 3 + min(len(ranks), 3) - 1


def learn(rows: Sequence[Row]) -> Learned | None:
    """Weights that rank newer questions better than fusion does, or None: too few questions, or no gain."""
    telling = [row for row in rows if row.used.any() and not row.used.all()]
    if len(telling) < FEWEST:
        return None
    cut = int(OLDER_SHARE * len(telling))
    older, newer = telling[:cut], telling[cut:]
    weights = _fitted(older)
    heuristic = float(np.mean([_reciprocal_rank(row.features[:, FEATURES.index("fused")], row.used) for row in newer]))
    learned = float(np.mean([_reciprocal_rank(row.features @ weights, row.used) for row in newer]))
    if learned <= heuristic:
        return None
    named = {name: round(float(w), 6) for name, w in zip(FEATURES, weights, strict=True)}
    return Learned(named, len(older), len(newer), heuristic, learned)


def _fitted(rows: Sequence[Row]) -> NDArray[np.float64]:
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    sizes = np.array([len(row.used) for row in rows])
    question = np.repeat(np.arange(len(rows)), sizes)
    gold = np.concatenate([row.used for row in rows])
    given = Stacked(
        np.concatenate([row.features for row in rows]),
        np.zeros((int(sizes.sum()), 0)),
        gold,
        question,
        np.cumsum(sizes) - sizes,
        np.bincount(question[gold], minlength=len(rows)),
    )
    n = len(FEATURES)
    penalty = Penalty(np.zeros(n), _RIDGE)
    found = minimize(
        loss_of, np.ones(n), args=(given, n, penalty), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * n
    )
    return np.asarray(found.x, dtype=np.float64)


def _reciprocal_rank(scores: NDArray[np.float64], used: NDArray[np.bool_]) -> float:
    order = np.argsort(-np.round(scores, 12), kind="stable")
    return 1.0 / (1.0 + int(np.flatnonzero(used[order])[0]))


def _row_of(line: str) -> Row | None:
    try:
        data: Any = json.loads(line)
        features = np.array(data["features"], dtype=np.float64)
        used = np.array(data["used"], dtype=np.bool_)
        levels = tuple(int(level) for level in data["levels"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    fits = features.ndim == 2 and features.shape == (len(used), len(FEATURES)) and len(levels) == len(used)
    in_range = all(0 <= level < 3 * len(_PRIOR) for level in levels)
    return Row(features, levels, used) if fits and in_range and np.isfinite(features).all() else None
