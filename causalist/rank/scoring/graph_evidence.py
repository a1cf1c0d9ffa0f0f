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
from causalist.rank.pagerank.sparse_product import coo_product
from causalist.rank.top_k import best_of

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
_USING = (EdgeKind.CALLS, EdgeKind.REFERENCES)  # what is named
_HOLDING = (EdgeKind.CONTAINS, EdgeKind.IMPORTS)  # of files: they say nothing of module-level code
_IS_HOLDING = np.isin(np.arange(len(EdgeKind)), _HOLDING)
_N_SEEDS = 30  # that give
_DAMPING = 0.5
_STEPS = 4  # what comes from further off has at most 1/16 of the mass
_FEW_EDGES = 200_000  # that are all looked at
_PICKING_COSTS = 4  # as much an edge as looking at every edge
_DECADES = 8.0  # natural ones: what is given e to the -8 of the most, or less, is given nothing


class _Links(NamedTuple):
    """Entries of M of the walk one way, along edges or back: `weights[k]` of what `sources[k]` has goes to
    `targets[k]`, over an edge of kind `kinds[k]`."""

    targets: NDArray[np.int32]
    sources: NDArray[np.int32]
    weights: Scores
    kinds: NDArray[np.uint8]


class _Ways(NamedTuple):
    """Both ways, from all nodes or from some."""

    along: _Links
    back: _Links
    from_all: bool

    def step(self, scores: Scores) -> Scores:
        given = coo_product(self.along.targets, self.along.sources, self.along.weights, scores)
        return coo_product(self.back.targets, self.back.sources, self.back.weights, scores, given)


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
    ways = _ways(graph, walkable, reached)
    given = ways.step(reached)
    for _ in range(_STEPS - 1):
        reached = _DAMPING * given + (1.0 - _DAMPING * float(given.sum())) * seeds
        if not ways.from_all:
            ways = _ways(graph, walkable, reached)
        given = ways.step(reached)
    is_file = kinds == NodeKind.FILE
    held = [np.flatnonzero(_IS_HOLDING.take(way.kinds) & is_file.take(way.targets)) for way in ways[:2]]
    if any(map(len, held)):
        # In one sum, as what is given was added up.
        parts = [way.weights[some] * reached[way.sources[some]] for way, some in zip(ways[:2], held, strict=True)]
        places = [way.targets[some] for way, some in zip(ways[:2], held, strict=True)]
        given -= np.bincount(np.concatenate(places), np.concatenate(parts), minlength=len(scores))
    given = np.where((nodes > 0) & (kinds != NodeKind.FIELD), given, 0.0)
    return _logarithmic(given, float(given[~is_file].max(initial=0.0)))


def users_of_named(graph: CodeGraph, mention: Scores, inside: NDArray[np.bool_] | None = None) -> Scores:
    """How strongly a question names what a definition calls or refers to: the best of `mention` over these, each times
    the confidence of the edge, and divided by the root of how many it may mean. `mention`: shape (n_nodes,), in [0, 1];
    a file that is named counts for nobody. `inside`: shape (n_nodes,), what may be named. Shape (n_nodes,), in [0, 1].

    Who reports something names what was called from outside; what has to change is often what calls it inside."""
    edges, nodes = graph.edges, graph.nodes
    is_named = (mention > 0) & (nodes.kinds != NodeKind.FILE)
    if inside is not None:
        is_named &= inside
    named = np.flatnonzero(is_named)
    at, which = rows_of(edges.incoming_indptr, named)
    links = edges.incoming[at]
    using = np.isin(edges.kinds[links], _USING)
    links = links[using]
    value = mention[named[which[using]]] * edges.confidences[links] / np.sqrt(edges.candidates[links])
    result = np.zeros(len(nodes))
    np.maximum.at(result, edges.sources[links], value)
    return result


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


def _ways(graph: CodeGraph, walkable: NDArray[np.bool_], reached: Scores) -> _Ways:
    """The links that leave what is `reached`, or all of them where these are many: few steps from few seeds need a
    small part of a large graph. What a node is given is added up in the same order, so that sums are the same to the
    last digit."""
    edges, nodes = graph.edges, np.flatnonzero(reached)
    starts = (edges.indptr, edges.incoming_indptr)
    n_edges = sum(int((indptr[nodes + 1] - indptr[nodes]).sum()) for indptr in starts)
    from_all = len(edges) < _FEW_EDGES or n_edges * _PICKING_COSTS > 2 * len(edges)
    out: NDArray[np.int64] | slice = slice(None)
    back: NDArray[np.int64] | slice = slice(None)
    n_nodes, givers, takers = len(graph.nodes), edges.sources, edges.targets
    if not from_all:
        out, giver = rows_of(edges.indptr, nodes)
        back, taker = rows_of(edges.incoming_indptr, nodes)
        back = edges.incoming[back].astype(np.int64)
        n_nodes, givers, takers = len(nodes), giver.astype(np.int32), taker.astype(np.int32)

    def strengths(some: NDArray[np.int64] | slice) -> Scores:
        """0 where the walk does not go. `take` reads by numbers of 32 bits in half the time of an index."""
        goes = walkable.take(edges.sources[some]) & walkable.take(edges.targets[some])
        return np.asarray(_TABLE.take(edges.kinds[some]) * goes)

    own = strengths(out)
    others = own if from_all else strengths(back)
    # A candidate set is one link of its source, and a link back from each of its members.
    totals = np.bincount(givers, own / edges.candidates[out], minlength=n_nodes)
    totals = np.maximum(totals + np.bincount(takers, others, minlength=n_nodes), np.finfo(np.float64).tiny)
    certain = own * edges.confidences[out]
    certain_back = certain if from_all else others * edges.confidences[back]
    return _Ways(
        _Links(edges.targets[out], edges.sources[out], certain / totals.take(givers), edges.kinds[out]),
        _Links(edges.sources[back], edges.targets[back], certain_back / totals.take(takers), edges.kinds[back]),
        from_all,
    )
