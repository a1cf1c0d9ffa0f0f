"""What ranking says of every node for one question."""

from collections.abc import Mapping
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.history import History
from causalist.model.scores import Matched, PageRankResult
from causalist.rank.query.query import Question
from causalist.rank.scoring.fusion import Signals


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores of all nodes, shape (n_nodes,). `pagerank` is None where the graph was not walked; then `seeds` are
    zeros. `matches` are the candidates with their scores without PageRank, divided by the best."""

    question: Question
    definitions: NDArray[np.float64]
    files: NDArray[np.float64]
    signals: Signals
    matches: Mapping[int, float]
    seeds: NDArray[np.float64]
    pagerank: PageRankResult | None
    matched: Mapping[int, Matched] = field(default_factory=dict)
    history: History = field(default_factory=History)
