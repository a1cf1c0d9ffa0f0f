"""Places for what no word led to: the files into which the walk goes on from what words found, one after the other.

Reach alone fills these places with what everything uses: loggers, error classes, the constructor of a rectangle. So a
file has to belong to what was found as well: a part of what it is linked with, and of what the node is linked with
through which the walk enters it, must be among what was found. Where nothing belongs, the places go back to words.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.model.answer import AskOptions
from causalist.model.graph import CodeGraph, EdgeKind, rows_of
from causalist.model.scores import Transition
from causalist.model.steps import Steps
from causalist.model.symbols import NodeKind
from causalist.rank._order import best_of, distinct
from causalist.rank._product import csr_product
from causalist.rank.push import walked_on
from causalist.rank.scored import Ranking

N_CANDIDATE_FILES = 20  # files that are taken for found by words
# Chosen by hand: on development questions no setting could be told from another, because these places hold a right
# file in one of a hundred. On 28 questions about seven repositories the ones below left out what readers had no use
# for, and kept the chain of the sample repository. docs/decisions/0004 has both.
N_FOUND = 16  # definitions that are taken for found by words
SHARE_OF_LINKS = 0.12  # of what the entry is linked with in other files, that must be among what was found
SHARE_OF_FILES = 0.08  # of the files that its file is linked with
N_TRIED = 30  # files, by reach, of which the first that belongs is taken
LEAST_REACH = 0.2  # of the file reached most; what belongs but is hardly reached is no answer
WEAKEST_REACH = 0.4  # of the first that was taken
N_FOLLOWED = 12  # nodes of a file that was taken, from which a chain goes on
CHAIN_SHARE = 0.3  # of the seeds' mass, that a file takes when it joins them
REACH_SPECIFICITY = 0.5
_AS_FILE = 1e-6  # module-level code stands for its file only where no definition does


class Place(NamedTuple):
    """A file that was reached, the node through which the walk enters it, and how much it is reached."""

    file: int
    entry: int
    reach: float


def reached_places(
    ranking: Ranking,
    graph: CodeGraph,
    transition: Transition,
    options: AskOptions,
    n_places: int,
    second_hop: bool,
    steps: Steps,
) -> list[Place]:
    """At most `n_places`, the most reached first.

    They are taken one by one, and each joins the seeds with a share of their mass before the next is taken, so that a
    chain is followed to its end (middleware -> verifier -> primitives) instead of stopping at what is one step away
    from everything. A file's reach is the PageRank of its nodes times the factors of role and kind, summed, times the
    root of its specificity log(files / linked files).
    """
    if ranking.pagerank is None:
        return []
    owners = graph.nodes.files
    factor = ranking.signals.reach
    specific = _file_specificity(graph, transition) ** REACH_SPECIFICITY
    is_file = graph.nodes.kinds == NodeKind.FILE
    barred = best_of(np.where(is_file, ranking.files, 0.0), N_CANDIDATE_FILES)
    links = _Links(graph, transition)
    links.follow(best_of(ranking.definitions, N_FOUND))
    seeds, walk = ranking.seeds, ranking.pagerank
    own = np.zeros_like(seeds)
    taken: list[Place] = []
    for place in range(n_places):
        if place and second_hop:
            if not steps.in_time():
                steps.leave_out(f"{n_places - place} of {n_places} places of the graph")
                break
            seeds = (1 - CHAIN_SHARE) * seeds + CHAIN_SHARE * own
            walk = walked_on(
                transition,
                walk,
                own,
                CHAIN_SHARE,
                seeds,
                damping=options.damping,
                approximate=options.approximate,
                go_on=steps.in_time,
            )
        scores = walk.scores
        some = np.flatnonzero(scores)  # of a walk near the seeds a small part
        some = some[owners[some] >= 0]
        reach = np.bincount(owners[some], weights=scores[some] * factor[some], minlength=len(scores)) * specific
        reach[barred] = 0.0
        least = max(LEAST_REACH * reach.max(initial=0.0), WEAKEST_REACH * taken[0].reach if taken else 0.0)
        best = best_of(np.where(reach >= least, reach, 0.0), N_TRIED)
        file, nodes = next(((file, nodes) for file in best if (nodes := links.belonging(file))), (-1, []))
        if not nodes:
            break
        entry = _entry(nodes, given_from_outside(file, scores, graph, transition) * factor, is_file)
        # Later reach is measured with more seeds; what came first stays first.
        most = taken[-1].reach * (1 - 1e-9) if taken else 1.0
        taken.append(Place(file, entry, min(float(reach[file]), most)))
        barred.append(file)
        own = np.where(owners == file, scores, 0.0)
        links.follow(best_of(own, N_FOLLOWED))
        own /= own.sum()
    return taken


class _Links:
    """Which nodes and files are linked with what was found, over edges of any kind but `contains`."""

    def __init__(self, graph: CodeGraph, transition: Transition) -> None:
        self._graph = graph
        self._file_degrees = transition.file_degrees
        self._found = np.zeros(len(graph.nodes), dtype=np.int32)  # how many of its links lead to what was found
        self._files: set[tuple[int, int]] = set()  # (file of what was found, file that is linked with it)

    def follow(self, nodes: list[int]) -> None:
        """Takes these for found too."""
        owners = self._graph.nodes.files
        for node in nodes:
            others = self._others(node)
            self._found[others] += 1
            own = int(owners[node])
            self._files.update((own, other) for other in distinct(owners[others]).tolist())

    def belonging(self, file: int) -> list[int]:
        """The nodes of a file that belong to what was found, ascending; none if the file does not."""
        n_linked = sum(other == file for _, other in self._files)
        if n_linked < SHARE_OF_FILES * int(self._file_degrees[file]):
            return []
        nodes = np.flatnonzero((self._graph.nodes.files == file) & (self._found > 0)).tolist()
        return [node for node in nodes if self._found[node] >= SHARE_OF_LINKS * len(self._others(node))]

    def _others(self, node: int) -> NDArray[np.int32]:
        """What a node is linked with in other files, each once."""
        edges, owners = self._graph.edges, self._graph.nodes.files
        out = np.arange(edges.indptr[node], edges.indptr[node + 1])
        back = edges.incoming[edges.incoming_indptr[node] : edges.incoming_indptr[node + 1]]
        uses, users = (some[edges.kinds[some] != EdgeKind.CONTAINS] for some in (out, back))
        others = distinct(np.concatenate([edges.targets[uses], edges.sources[users]]))
        is_elsewhere = (owners[others] >= 0) & (owners[others] != owners[node])
        return np.asarray(others[is_elsewhere], dtype=np.int32)


def _entry(nodes: list[int], given: NDArray[np.float64], is_file: NDArray[np.bool_]) -> int:
    """Of some nodes of a file the one through which the walk enters it: the one that other files give most. Inside of a
    file mass gathers in its own helpers, which say less about why the file is here."""
    return max(nodes, key=lambda node: (given[node] * (_AS_FILE if is_file[node] else 1.0), -node))


def given_from_outside(
    file: int, scores: NDArray[np.float64], graph: CodeGraph, transition: Transition
) -> NDArray[np.float64]:
    """What the nodes of other files hand on in one step to each node of a file, shape (n_nodes,); 0 for all others."""
    owners = graph.nodes.files
    own = np.flatnonzero(owners == file)
    links, of = rows_of(transition.indptr, own)
    givers = transition.indices[links]
    handed = np.where(owners[givers] == file, 0.0, scores[givers])
    starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(own)))]).astype(np.int32)
    given, part = np.zeros(len(scores)), np.empty(len(own))
    csr_product(starts, np.arange(len(links), dtype=np.int32), transition.weights[links], handed, part)
    given[own] = part
    return given


def _file_specificity(graph: CodeGraph, transition: Transition) -> NDArray[np.float64]:
    """log(files / linked files), by the node of the file; 0 for all others."""
    files = np.flatnonzero(graph.nodes.kinds == NodeKind.FILE)
    result = np.zeros(len(graph.nodes))
    result[files] = np.maximum(np.log(len(files) / transition.file_degrees[files]), 0.0)
    return result
