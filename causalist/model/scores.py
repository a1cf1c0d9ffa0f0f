"""Results of ranking: matches, PageRank, and scored hits with their reasons."""

from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex


def _no_numbers() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Transition:
    """Transition matrix M of the walk.

    Row j holds the mass that arrives at node j: `M[j, indices[k]] = weights[k]` for k in indptr[j]:indptr[j + 1].
    Columns sum to at most 1; the missing mass returns to the seeds. `degrees` counts distinct neighbors over walked
    kinds, without the node itself and without `contains`, at least 1. `walkable` is False for externals. `file_degrees`
    counts, for the node of a file, the other files that its nodes are linked with, at least 1; empty if it is not
    needed.

    `column_*`: the same matrix by columns, for graphs so large that queries use local push: `M[column_indices[k], i] =
    column_weights[k]` for k in column_indptr[i]:column_indptr[i + 1]. Otherwise empty.
    """

    indptr: NDArray[np.int32]  # (n_nodes + 1,)
    indices: NDArray[np.int32]  # (n_entries,), source node of each entry
    weights: NDArray[np.float64]  # (n_entries,), in (0, 1]
    degrees: NDArray[np.int32]  # (n_nodes,)
    walkable: NDArray[np.bool_]  # (n_nodes,)
    file_degrees: NDArray[np.int32] = field(default_factory=_no_numbers)  # (n_nodes,)
    column_indptr: NDArray[np.int32] = field(default_factory=_no_numbers)  # (n_nodes + 1,)
    column_indices: NDArray[np.int32] = field(default_factory=_no_numbers)  # (n_entries,), target node of each entry
    column_weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))  # (n_entries,)


class WalkOutcome(StrEnum):
    """Outcome of PageRank. JSON and reports show the values."""

    CONVERGED = "converged"  # within the tolerance
    RELAXED = "relaxed"  # within a larger tolerance, after further iterations
    DEGREE = "degree"  # neither; the scores are those of degrees
    APPROXIMATE = "approximate"  # local push, with a bound
    STOPPED = "stopped"  # out of time; the scores reached by then


@dataclass(frozen=True, slots=True)
class PageRankResult:
    """Result of PageRank.

    `scores`: float64, shape (n_nodes,), a probability that sums to 1. `residual` is the L1 change of the last step.
    `bound` is the maximum L1 distance to the exact scores, None if they are not approximate; `total` is then their sum
    before scaling, that of a walk that does not return to the seeds.
    """

    scores: NDArray[np.float64]
    n_iterations: int
    residual: float
    outcome: WalkOutcome
    bound: float | None = None
    total: float = 1.0


class Signal(StrEnum):
    """Signals of a ranking. Weights, learned weights and JSON have the values, which therefore never change."""

    TEXT = "text"
    NAME = "name"
    NAME_SHARE = "name share"
    NAME_COVERAGE = "name coverage"
    PATH = "path"
    MENTION = "mention"
    LOOKED_UP = "looked up"
    LITERAL = "literal"
    FRAME = "frame"
    SYNONYMS = "synonyms"
    INDIRECT_SYNONYMS = "leads"
    TESTS = "tests"
    MESSAGES = "messages"
    SIMILAR_COMMITS = "similar commits"
    DENSE = "dense"
    SEMANTIC = "semantic"
    SIZE = "size"  # prior
    KIND = "kind"  # prior
    LEADING_DEFINITION = "leading definition"  # of a file, from the scores of its definitions
    LEADING_DEFINITIONS = "leading definitions"  # likewise
    FOUND_FILE = "found file"  # the last pass has this signal and the next
    IDENTIFIERS = "identifiers"
    GRAPH = "graph"  # support by other definitions
    USES_NAMED = "uses named"  # calls or refers to something that the query names
    PLACES = "places"  # the only signal of a ranking without weights
    PAGERANK = "pagerank"  # the only reason of a node that no word led to


class Reason(NamedTuple):
    """Reason of a hit: a signal, its contribution to the score, and the words or names behind it."""

    signal: Signal
    value: float
    detail: str


class TextMatches(NamedTuple):
    """Matches of a pattern in a node: number, rows (0-based, the first few), and the first line."""

    n: int
    rows: tuple[int, ...]
    sample: str


class SeedShare(NamedTuple):
    """The share of a hit's PageRank that stems from a seed, in (0, 1]."""

    node: str
    share: float


class Hop(NamedTuple):
    """One step of the path from a seed to a hit.

    The first hop is the seed itself and has no edge. `edge` is the kind with a direction: "calls" forward, "calls
    (back)" backward; `line` is 1-based, in `path`.
    """

    node: str
    edge: str | None
    path: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A result.

    `score` decides the rank; `pagerank` is additional. Rows are 0-based. `seeds` are those that gave most of the
    PageRank, largest first; None unless asked for. `layer` and `tier` are None outside of the repository.
    """

    node: int
    id: str
    path: str
    symbol: str | None
    kind: str
    start_row: int
    end_row: int
    start_byte: int
    end_byte: int
    signature: str
    doc: str
    score: float
    pagerank: float
    reasons: tuple[Reason, ...] = ()
    path_from_seed: tuple[Hop, ...] = ()
    seeds: tuple[SeedShare, ...] | None = None
    layer: str | None = None
    tier: str | None = None
