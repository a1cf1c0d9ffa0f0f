"""What the graph says of definitions that words found already: how much the best ones use them or are used by them.

A signal in [0, 1] on a logarithmic scale, because scores are logarithms of odds: 1 for the node that is given most,
less by 1/8 for every e times less. A plain share would tell the first few apart and nobody else. Nodes without any word
of the question are left to the places that are kept for them (`ranking.py`). The kinds of edges weigh other than in
the walk that fills those: what a good definition is *used by* says as much here as what it uses.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph, EdgeKind, rows_of
from causalist.model.symbols import NodeKind
from causalist.rank._order import best_of
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
_TABLE = np.array([_LINKS.get(kind, 0.0) for kind in EdgeKind])
_HOLDING = (EdgeKind.CONTAINS, EdgeKind.IMPORTS)  # of files: they say nothing of module-level code
_IS_HOLDING = np.isin(np.arange(len(EdgeKind)), _HOLDING)
_N_SEEDS = 30  # that give
_DAMPING = 0.5
_STEPS = 4  # what comes from further off has at most 1/16 of the mass
_FEW_EDGES = 200_000  # that are all looked at
_PICKING_COSTS = 4  # as much an edge as looking at every edge
_DECADES = 8.0  # natural ones: what is given e to the -8 of the most, or less, is given nothing


class _Links(NamedTuple):
    """Entries of M of the walk both ways: `weights[k]` of what `sources[k]` has goes to `targets[k]`."""

    targets: NDArray[np.int32]
    sources: NDArray[np.int32]
    weights: Scores
    holding: NDArray[np.bool_]  # of a kind that only holds things together
    of_all: bool  # whether they are those of all nodes

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
    walkable = kinds != NodeKind.EXTERNAL
    if inside is not None:
        walkable &= inside
    reached = seeds
    links = _links(graph, walkable, reached)
    given = links.step(reached)
    for _ in range(_STEPS - 1):
        reached = _DAMPING * given + (1.0 - _DAMPING * float(given.sum())) * seeds
        if not links.of_all:
            links = _links(graph, walkable, reached)
        given = links.step(reached)
    is_file = kinds == NodeKind.FILE
    used = links.holding & is_file[links.targets]
    if used.any():
        given -= np.bincount(links.targets[used], (links.weights * reached[links.sources])[used], minlength=len(scores))
    given = np.where((nodes > 0) & (kinds != NodeKind.FIELD), given, 0.0)
    return _logarithmic(given, float(given[~is_file].max(initial=0.0)))


def _odds(scores: Scores) -> Scores:
    """The softmax over the _N_SEEDS best positive scores, equal ones by node; 0 elsewhere."""
    nodes = np.array(best_of(scores, _N_SEEDS), dtype=np.int64)
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


def _links(graph: CodeGraph, walkable: NDArray[np.bool_], reached: Scores) -> _Links:
    """The links that leave what is `reached`, or all of them where these are many: few steps from few seeds need a
    small part of a large graph. What a node is given is added up in the same order, so that sums are the same to the
    last digit."""
    edges, nodes = graph.edges, np.flatnonzero(reached)
    starts = (edges.indptr, edges.incoming_indptr)
    n_edges = sum(int((indptr[nodes + 1] - indptr[nodes]).sum()) for indptr in starts)
    of_all = len(edges) < _FEW_EDGES or n_edges * _PICKING_COSTS > 2 * len(edges)

    def is_walked(some: NDArray[np.int64] | slice) -> NDArray[np.bool_]:
        ends = walkable[edges.sources[some]] & walkable[edges.targets[some]]
        return np.asarray((_TABLE[edges.kinds[some]] > 0) & ends)

    if of_all:
        n_nodes = len(graph.nodes)
        out = back = np.flatnonzero(is_walked(slice(None)))
        givers, takers = edges.sources[out], edges.targets[out]
    else:
        n_nodes = len(nodes)
        out, giver = rows_of(edges.indptr, nodes)
        back, taker = rows_of(edges.incoming_indptr, nodes)
        back = edges.incoming[back].astype(np.int64)
        kept, kept_back = is_walked(out), is_walked(back)
        out, back = out[kept], back[kept_back]
        givers, takers = giver[kept].astype(np.int32), taker[kept_back].astype(np.int32)
    own, certain, held = _TABLE[edges.kinds[out]], edges.confidences[out], _IS_HOLDING[edges.kinds[out]]
    others, certain_back, held_back = own, certain, held
    if not of_all:
        others, certain_back = _TABLE[edges.kinds[back]], edges.confidences[back]
        held_back = _IS_HOLDING[edges.kinds[back]]
    # A candidate set is one link of its source, and a link back from each of its members.
    totals = np.bincount(givers, own / edges.candidates[out], minlength=n_nodes)
    totals = totals + np.bincount(takers, others, minlength=n_nodes)
    weights = np.empty(len(out) + len(back))
    np.divide(own * certain, totals[givers], out=weights[: len(out)])
    np.divide(others * certain_back, totals[takers], out=weights[len(out) :])
    return _Links(
        np.concatenate([edges.targets[out], edges.sources[back]]),
        np.concatenate([edges.sources[out], edges.targets[back]]),
        weights,
        np.concatenate([held, held_back]),
        of_all,
    )
