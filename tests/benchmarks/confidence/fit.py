"""A logistic model without negative weights, fitted to rows of features."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]

RIDGE = 1.0  # of the weights of features scaled to a standard deviation of 1


def fitted(
    features: NDArray[np.float64], levels: NDArray[np.int64], right: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(what each level is given, weights >= 0) of the likeliest model; `features`: (n, k), `levels`: (n,) from 0."""
    n_levels = int(levels.max()) + 1
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    scaled = (features - mean) / spread
    inputs = np.hstack([np.eye(n_levels)[levels], scaled])
    costs = np.concatenate([np.zeros(n_levels), np.full(features.shape[1], RIDGE)])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = inputs @ weights
        gradient = inputs.T @ (1 / (1 + np.exp(-logits)) - right) + costs * weights
        return float((np.logaddexp(0, logits) - right * logits).sum() + (costs * weights**2).sum() / 2), gradient

    bounds = [(None, None)] * n_levels + [(0, None)] * features.shape[1]
    found = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = found[n_levels:] / spread
    return found[:n_levels] - float(weights @ mean), weights


def held_out(
    features: NDArray[np.float64],
    levels: NDArray[np.int64],
    right: NDArray[np.bool_],
    repositories: NDArray[np.str_],
) -> NDArray[np.float64]:
    """Probabilities of all rows, those of each repository by a model fitted to the others."""
    result = np.empty(len(features))
    for repository in sorted(set(repositories)):
        rows = repositories == repository
        given, weights = fitted(features[~rows], levels[~rows], right[~rows])
        result[rows] = 1 / (1 + np.exp(-(given[levels[rows]] + features[rows] @ weights)))
    return result
