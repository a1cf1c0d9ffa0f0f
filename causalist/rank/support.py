"""What the graph says of definitions that words found already: how much the best ones use them or are used by them.

A signal in [0, 1] on a logarithmic scale, because scores are logarithms of odds: 1 for the node that is given most,
less by 1/8 for every e times less. A plain share would tell the first few apart and nobody else. Nodes without any word
of the question are left to the places that are kept for them (`ranking.py`). The kinds of edges weigh other than in
the walk that fills those: what a good definition is *used by* says as much here as what it uses.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.symbols import NodeKind
from causalist.rank._product import coo_product

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex

# Chosen on one half of the development questions, by repository; the other half has the numbers in docs/decisions/0004.
# Within a factor of two none of these can be told from another.
_LINKS: dict[EdgeKind, float] = {
    EdgeKind.CALLS: 1.0,
    EdgeKind.REFERENCES: 1.0,
    EdgeKind.EXTENDS: 1.0,
    EdgeKind.IMPLEMENTS: 1.0,
    EdgeKind.OVERRIDES: 0.5,
    EdgeKind.READS: 0.5,
    EdgeKind.WRITES: 0.5,
    EdgeKind.CONTAINS: 0.3,
    EdgeKind.IMPORTS: 0.1,
}
_HOLDING = (EdgeKind.CONTAINS, EdgeKind.IMPORTS)  # of files: they say nothing of module-level code
_N_SEEDS = 30  # that give
_DAMPING = 0.5
_STEPS = 4  # what comes from further off has at most 1/16 of the mass
_DECADES = 8.0  # natural ones: what is given e to the -8 of the most, or less, is given nothing


class _Links(NamedTuple):
    """M of the walk both ways by its entries: `weights[k]` of what `sources[k]` has goes to `targets[k]`."""

    targets: NDArray[np.int32]
    sources: NDArray[np.int32]
    weights: Scores
    holding: NDArray[np.bool_]  # of a kind that only holds things together

    def step(self, scores: Scores) -> Scores:
        return coo_product(self.targets, self.sources, self.weights, scores)


def definition_support(graph: CodeGraph, scores: Scores, inside: NDArray[np.bool_] | None = None) -> Scores:
    """How much a definition, passage or piece of module-level code is given by the 30 best of them, by how likely each
    is meant: a walk of four steps along and against the edges that returns to them with probability 1/2,

        s = softmax of the best scores        r = (M r + (1 - sum(M r)) s) / 2 + s / 2        given = M r

    with M as in `build_transition`: kinds have weights, what is uncertain counts less, a column lacks what is left of
    1. `scores`: logarithms of odds; 0 where no word led. `inside`: shape (n_nodes,), where the walk may go. Shape
    (n_nodes,), in [0, 1]; 0 where the score is 0."""
    kinds = graph.nodes.kinds
    nodes = np.where(kinds == NodeKind.EXTERNAL, 0.0, scores)
    # Module-level code gives nothing: its links are those of the whole file.
    seeds = _odds(np.where(kinds == NodeKind.FILE, 0.0, nodes))
    if not seeds.any():
        return np.zeros(len(scores))
    links = _links(graph, inside)
    reached = seeds
    for _ in range(_STEPS - 1):
        given = links.step(reached)
        reached = _DAMPING * given + (1.0 - _DAMPING * float(given.sum())) * seeds
    given = links.step(reached)
    is_file = kinds == NodeKind.FILE
    used = links.holding & is_file[links.targets]
    if used.any():
        given -= np.bincount(links.targets[used], (links.weights * reached[links.sources])[used], minlength=len(scores))
    given = np.where((nodes > 0) & (kinds != NodeKind.FIELD), given, 0.0)
    return _logarithmic(given, float(given[~is_file].max(initial=0.0)))


def _odds(scores: Scores) -> Scores:
    """The softmax over the _N_SEEDS best positive scores, equal ones by node; 0 elsewhere."""
    rounded = np.round(scores, 12)
    nodes = np.flatnonzero(rounded > 0)
    if len(nodes) > 4 * _N_SEEDS:
        least = np.partition(rounded[nodes], len(nodes) - _N_SEEDS)[len(nodes) - _N_SEEDS]
        nodes = nodes[rounded[nodes] >= least]
    nodes = nodes[np.lexsort((nodes, -rounded[nodes]))][:_N_SEEDS]
    result = np.zeros(len(scores))
    if len(nodes):
        result[nodes] = np.exp(scores[nodes] - scores[nodes[0]])
        result /= result.sum()
    return result


def _logarithmic(given: Scores, most: float) -> Scores:
    result = np.zeros(len(given))
    some = given > 0
    if most > 0:
        result[some] = np.clip(1.0 + np.log(given[some] / most) / _DECADES, 0.0, 1.0)
    return result


def _links(graph: CodeGraph, inside: NDArray[np.bool_] | None) -> _Links:
    edges, n = graph.edges, len(graph.nodes)
    walkable = graph.nodes.kinds != NodeKind.EXTERNAL
    if inside is not None:
        walkable &= inside
    table = np.array([_LINKS.get(kind, 0.0) for kind in EdgeKind])
    weights = table[edges.kinds]
    at = np.flatnonzero((weights > 0) & walkable[edges.sources] & walkable[edges.targets])
    sources, targets, weights, kinds = edges.sources[at], edges.targets[at], weights[at], edges.kinds[at]
    # A candidate set is one link of its source, and a link back from each of its members.
    totals = np.bincount(sources, weights / edges.candidates[at], minlength=n)
    totals += np.bincount(targets, weights, minlength=n)
    certain = weights * edges.confidences[at]
    holding = np.isin(kinds, _HOLDING)
    return _Links(
        np.concatenate([targets, sources]),
        np.concatenate([sources, targets]),
        np.concatenate([certain / totals[sources], certain / totals[targets]]),
        np.concatenate([holding, holding]),
    )
