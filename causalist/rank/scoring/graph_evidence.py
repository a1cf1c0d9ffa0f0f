"""Signals from the graph for lexical matches, and result slots for files without a lexical match.

The signal of a definition is its support: how much the best definitions use it or are used by it. It is in [0, 1] on a
logarithmic scale, because scores are logarithms of odds: 1 for the node with the most support, less by 1/8 for every
factor of e. On a linear scale only the first few nodes would differ. Nodes without a lexical match get no support;
`ranking` keeps slots for them. The weights of edge kinds differ from those of the walk that fills these slots: the
users of a good definition count as much here as what it uses.

The slots go to the files that PageRank reaches from the lexical matches, filled one by one.

Reach alone would fill these slots with files that everything uses: loggers, error classes, the constructor of a
rectangle. So a file must also belong to the found nodes: a share of its links must lead to them, and so must a share of
the links of the node through which the walk enters the file. If no file belongs, lexical matches get the slots.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import select_top, unique_sorted
from causalist.model.answer import AskOptions
from causalist.model.graph import CodeGraph, EdgeKind, rows_of
from causalist.model.node_ids import NodeKind
from causalist.model.protocols import Steps
from causalist.model.scores import Scores, Transition
from causalist.rank.local_push import extend_push
from causalist.rank.scoring.fusion import Ranking
from causalist.rank.sparse_product import coo_product, csr_product

# Chosen on the questions of one half of the repositories; docs/decisions/0004 has the figures of the other half.
# Values within a factor of two give the same results.
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
_USING = (EdgeKind.CALLS, EdgeKind.REFERENCES)  # kinds of edges to named nodes
_HOLDING = (EdgeKind.CONTAINS, EdgeKind.IMPORTS)  # kinds that belong to a whole file, not to its module-level code
_IS_HOLDING = np.isin(np.arange(len(EdgeKind)), _HOLDING)
_N_SEEDS = 30  # best definitions, from which the walk starts
_DAMPING = 0.5
_STEPS = 4  # nodes further away have at most 1/16 of the mass
_MAX_SCANNED_EDGES = 200_000  # edges; a graph with fewer is scanned as a whole
_PICKING_COSTS = 4  # cost of selecting an edge, relative to scanning one
_DECADES = 8.0  # natural logarithm; a share of e to the -8 of the largest, or less, becomes 0


class _Links(NamedTuple):
    """Entries of M of the walk in one direction, along edges or back.

    `weights[k]` of the mass of `sources[k]` goes to `targets[k]`, over an edge of kind `kinds[k]`.
    """

    targets: NDArray[np.int32]
    sources: NDArray[np.int32]
    weights: Scores
    kinds: NDArray[np.uint8]


class _LinkPair(NamedTuple):
    """Links in both directions, from all nodes or from some."""

    forward: _Links
    backward: _Links
    from_all: bool

    def step(self, scores: Scores) -> Scores:
        support = coo_product(self.forward.targets, self.forward.sources, self.forward.weights, scores)
        return coo_product(self.backward.targets, self.backward.sources, self.backward.weights, scores, support)


def definition_support(graph: CodeGraph, scores: Scores, inside: NDArray[np.bool_] | None = None) -> Scores:
    """Return the support that each definition, passage or piece of module-level code gets.

    The _N_SEEDS best ones give it, each by its probability of being meant. It comes from a walk of _STEPS steps along
    and against the edges that returns to these with probability 1/2:

        s = softmax of the best scores        r = (M r + (1 - sum(M r)) s) / 2 + s / 2        support = M r

    with M as in `build_transition`: kinds have weights, uncertain edges count less, and columns may sum to less than 1.
    `scores`: logarithms of odds, 0 without a lexical match. `inside`: shape (n_nodes,), the nodes that may be reached.

    The result has shape (n_nodes,), in [0, 1]; it is 0 where the score is 0.
    """
    kinds = graph.nodes.kinds
    nodes = np.where(kinds == NodeKind.EXTERNAL, 0.0, scores)
    # Module-level code gives no support, because its links are those of the whole file.
    seeds = _seed_weights(np.where(kinds == NodeKind.FILE, 0.0, nodes))
    if not seeds.any():
        return np.zeros(len(scores))
    walkable = kinds != NodeKind.EXTERNAL
    if inside is not None:
        walkable &= inside
    reached = seeds
    links = _select_links(graph, walkable, reached)
    support = links.step(reached)
    for _ in range(_STEPS - 1):
        reached = _DAMPING * support + (1.0 - _DAMPING * float(support.sum())) * seeds
        if not links.from_all:
            links = _select_links(graph, walkable, reached)
        support = links.step(reached)
    is_file = kinds == NodeKind.FILE
    is_reached = reached > 0
    at_files = [
        np.flatnonzero(_IS_HOLDING.take(direction.kinds) & is_file.take(direction.targets)) for direction in links[:2]
    ]
    if any(map(len, at_files)):
        # In one sum, in the order in which the support was added. What was not reached adds nothing.
        targets, parts = [], []
        for direction, some in zip(links[:2], at_files, strict=True):
            sources = direction.sources.take(some)
            gives = is_reached.take(sources)
            some, sources = some[gives], sources[gives]
            targets.append(direction.targets.take(some))
            parts.append(direction.weights.take(some) * reached.take(sources))
        support -= np.bincount(np.concatenate(targets), np.concatenate(parts), minlength=len(scores))
    support = np.where((nodes > 0) & (kinds != NodeKind.FIELD), support, 0.0)
    return _to_log_scale(support, float(support[~is_file].max(initial=0.0)))


def mention_users(graph: CodeGraph, mention: Scores, inside: NDArray[np.bool_] | None = None) -> Scores:
    """Return a signal for each definition that calls or refers to what a query names.

    The signal is the best of `mention` over what the definition calls or refers to, each times the confidence of the
    edge, and divided by the square root of the number of nodes that the edge may mean. `mention`: shape (n_nodes,), in
    [0, 1]; a file that is named counts for no definition. `inside`: shape (n_nodes,), what may be named. The result has
    shape (n_nodes,), in [0, 1].

    A report names a function that was called from outside; the code to change is often an internal caller of it.
    """
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


def _seed_weights(scores: Scores) -> Scores:
    """Return the softmax over the _N_SEEDS best positive scores, equal ones by node; 0 elsewhere."""
    nodes = np.array(select_top(scores, _N_SEEDS), dtype=np.int64)
    result = np.zeros(len(scores))
    if len(nodes):
        result[nodes] = np.exp(scores[nodes] - scores[nodes[0]])
        result /= result.sum()
    return result


def _to_log_scale(support: Scores, largest: float) -> Scores:
    result = np.zeros(len(support))
    has_support = support > 0
    if largest > 0:
        result[has_support] = np.clip(1.0 + np.log(support[has_support] / largest) / _DECADES, 0.0, 1.0)
    return result


def _select_links(graph: CodeGraph, walkable: NDArray[np.bool_], reached: Scores) -> _LinkPair:
    """Return the links that leave the `reached` nodes, or all links if these are many.

    A few steps from a few seeds need a small part of a large graph. The mass of a node is added up in the same order in
    both cases, so that the sums are identical to the last digit.
    """
    edges, nodes = graph.edges, np.flatnonzero(reached)
    starts = (edges.indptr, edges.incoming_indptr)
    n_edges = sum(int((indptr[nodes + 1] - indptr[nodes]).sum()) for indptr in starts)
    from_all = len(edges) < _MAX_SCANNED_EDGES or n_edges * _PICKING_COSTS > 2 * len(edges)
    out: NDArray[np.int64] | slice = slice(None)
    back: NDArray[np.int64] | slice = slice(None)
    n_nodes, givers, takers = len(graph.nodes), edges.sources, edges.targets
    if not from_all:
        out, giver = rows_of(edges.indptr, nodes)
        back, taker = rows_of(edges.incoming_indptr, nodes)
        back = edges.incoming[back].astype(np.int64)
        n_nodes, givers, takers = len(nodes), giver.astype(np.int32), taker.astype(np.int32)

    def strengths(numbers: NDArray[np.int64] | slice) -> Scores:
        """Return the weight of each edge, 0 if not walked. `take` is twice as fast as indexing by 32-bit numbers."""
        result = _TABLE.take(edges.kinds[numbers])
        result *= walkable.take(edges.sources[numbers])
        result *= walkable.take(edges.targets[numbers])
        return result

    own = strengths(out)
    others = own if from_all else strengths(back)
    # A candidate set is one link of its source, and a link back from each of its members.
    totals = np.bincount(givers, own / edges.candidates[out], minlength=n_nodes)
    totals = np.maximum(totals + np.bincount(takers, others, minlength=n_nodes), np.finfo(np.float64).tiny)
    # In place: new arrays of all edges cost more than what is computed.
    own *= edges.confidences[out]
    if not from_all:
        others *= edges.confidences[back]
    ahead, behind = totals.take(givers), totals.take(takers)
    np.divide(own, ahead, out=ahead)
    np.divide(others, behind, out=behind)
    return _LinkPair(
        _Links(edges.targets[out], edges.sources[out], ahead, edges.kinds[out]),
        _Links(edges.sources[back], edges.targets[back], behind, edges.kinds[back]),
        from_all,
    )


N_CANDIDATE_FILES = 20  # best files at most, which count as lexical matches
# Chosen by hand: the development questions do not distinguish settings, because one in a hundred of these slots has a
# right file. On 28 questions about seven repositories, the values below left out files without use to readers, and kept
# the chain of the sample repository. docs/decisions/0004 has both.
N_FOUND = 16  # best definitions, which count as found
SHARE_OF_LINKS = 0.12  # least share of a node's links to other files that lead to found nodes
SHARE_OF_FILES = 0.08  # least share of the files linked with a file that have found nodes
N_TRIED = 30  # files with the largest reach; the first that belongs to the found nodes gets the slot
MIN_REACH = 0.2  # relative to the largest reach; a file below it gets no slot
MIN_REACH_OF_FIRST = 0.4  # relative to the reach of the first slot
N_FOLLOWED = 12  # nodes of the file in a slot that count as found for the next slot
CHAIN_SHARE = 0.3  # of the seeds' mass goes to a file that joins the seeds
REACH_SPECIFICITY = 0.5
_AS_FILE = 1e-6  # module-level code represents its file only if no definition does


class GraphSlot(NamedTuple):
    """A file that the walk reached, the node through which it enters the file, and its reach."""

    file: int
    entry: int
    reach: float


def graph_slots(
    ranking: Ranking,
    graph: CodeGraph,
    transition: Transition,
    options: AskOptions,
    n_places: int,
    second_hop: bool,
    steps: Steps,
) -> list[GraphSlot]:
    """Return at most `n_places` files without a lexical match, the most reached first.

    They are taken one by one. Each joins the seeds with a share of their mass before the next is taken. So a chain is
    followed to its end (middleware -> verifier -> primitives), instead of stopping at files that are one step away from
    everything. The reach of a file is the PageRank of its nodes times the factors of role and kind, summed, times the
    root of its specificity log(files / linked files).
    """
    if ranking.pagerank is None:
        return []
    owners = graph.nodes.files
    factor = ranking.signals.reach
    specific = _file_specificity(graph, transition) ** REACH_SPECIFICITY
    is_file = graph.nodes.kinds == NodeKind.FILE
    # Words show these themselves. What they rank lower may still be what the first ones call.
    barred = select_top(np.where(is_file, ranking.files, 0.0), min(N_CANDIDATE_FILES, options.top_k - n_places))
    links = _SlotLinks(graph, transition)
    links.follow(select_top(ranking.definitions, N_FOUND))
    seeds, walk = ranking.seeds, ranking.pagerank
    own = np.zeros_like(seeds)
    slots: list[GraphSlot] = []
    for slot in range(n_places):
        if slot and second_hop:
            if not steps.in_time():
                steps.leave_out(f"{n_places - slot} of {n_places} places of the graph")
                break
            seeds = (1 - CHAIN_SHARE) * seeds + CHAIN_SHARE * own
            walk = extend_push(
                transition,
                walk,
                own,
                CHAIN_SHARE,
                seeds,
                damping=options.damping,
                approximate=options.approximate,
                should_continue=steps.in_time,
            )
        scores = walk.scores
        reached_nodes = np.flatnonzero(scores)  # few nodes after a local push
        reached_nodes = reached_nodes[owners[reached_nodes] >= 0]
        reach = (
            np.bincount(
                owners[reached_nodes], weights=scores[reached_nodes] * factor[reached_nodes], minlength=len(scores)
            )
            * specific
        )
        reach[barred] = 0.0
        least = max(MIN_REACH * reach.max(initial=0.0), MIN_REACH_OF_FIRST * slots[0].reach if slots else 0.0)
        best = select_top(np.where(reach >= least, reach, 0.0), N_TRIED)
        file, nodes = next(((file, nodes) for file in best if (nodes := links.belonging(file))), (-1, []))
        if not nodes:
            break
        entry = _entry(nodes, external_mass(file, scores, graph, transition) * factor, is_file)
        # Later reach is computed with more seeds; the order of the slots stays.
        most = slots[-1].reach * (1 - 1e-9) if slots else 1.0
        slots.append(GraphSlot(file, entry, min(float(reach[file]), most)))
        barred.append(file)
        own = np.where(owners == file, scores, 0.0)
        links.follow(select_top(own, N_FOLLOWED))
        own /= own.sum()
    return slots


class _SlotLinks:
    """Links of nodes and files to the found nodes.

    Links are edges of any kind but `contains`.
    """

    def __init__(self, graph: CodeGraph, transition: Transition) -> None:
        self._graph = graph
        self._file_degrees = transition.file_degrees
        self._found = np.zeros(len(graph.nodes), dtype=np.int32)  # number of links to found nodes
        self._files: set[tuple[int, int]] = set()  # (file of a found node, file that is linked with it)

    def follow(self, nodes: list[int]) -> None:
        """Add these nodes to those that count as found."""
        owners = self._graph.nodes.files
        for node in nodes:
            others = self._others(node)
            self._found[others] += 1
            own = int(owners[node])
            self._files.update((own, other) for other in unique_sorted(owners[others]).tolist())

    def belonging(self, file: int) -> list[int]:
        """Return the nodes of a file that belong to the found ones, ascending; none if the file does not."""
        n_linked = sum(other == file for _, other in self._files)
        if n_linked < SHARE_OF_FILES * int(self._file_degrees[file]):
            return []
        nodes = np.flatnonzero((self._graph.nodes.files == file) & (self._found > 0)).tolist()
        return [node for node in nodes if self._found[node] >= SHARE_OF_LINKS * len(self._others(node))]

    def _others(self, node: int) -> NDArray[np.int32]:
        """Return the nodes of other files that a node is linked with, each once."""
        edges, owners = self._graph.edges, self._graph.nodes.files
        out = np.arange(edges.indptr[node], edges.indptr[node + 1])
        back = edges.incoming[edges.incoming_indptr[node] : edges.incoming_indptr[node + 1]]
        uses, users = (numbers[edges.kinds[numbers] != EdgeKind.CONTAINS] for numbers in (out, back))
        others = unique_sorted(np.concatenate([edges.targets[uses], edges.sources[users]]))
        is_elsewhere = (owners[others] >= 0) & (owners[others] != owners[node])
        return np.asarray(others[is_elsewhere], dtype=np.int32)


def _entry(nodes: list[int], external: NDArray[np.float64], is_file: NDArray[np.bool_]) -> int:
    """Return the node through which the walk enters a file: the one that gets most from other files.

    Inside of a file, mass gathers in its own helpers, which explain less why the file is listed.
    """
    return max(nodes, key=lambda node: (external[node] * (_AS_FILE if is_file[node] else 1.0), -node))


def external_mass(
    file: int, scores: NDArray[np.float64], graph: CodeGraph, transition: Transition
) -> NDArray[np.float64]:
    """Return the score that nodes of other files hand on in one step to each node of a file.

    The result has shape (n_nodes,); it is 0 for the nodes that are not of this file.
    """
    owners = graph.nodes.files
    own = np.flatnonzero(owners == file)
    links, of = rows_of(transition.indptr, own)
    givers = transition.indices[links]
    handed = np.where(owners[givers] == file, 0.0, scores[givers])
    starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(own)))]).astype(np.int32)
    mass, part = np.zeros(len(scores)), np.empty(len(own))
    csr_product(starts, np.arange(len(links), dtype=np.int32), transition.weights[links], handed, part)
    mass[own] = part
    return mass


def _file_specificity(graph: CodeGraph, transition: Transition) -> NDArray[np.float64]:
    """Return log(files / linked files), by the node of the file; 0 for all others."""
    files = np.flatnonzero(graph.nodes.kinds == NodeKind.FILE)
    result = np.zeros(len(graph.nodes))
    result[files] = np.maximum(np.log(len(files) / transition.file_degrees[files]), 0.0)
    return result
