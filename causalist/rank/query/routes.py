"""Which candidate generators run on which route, and what else a route decides: one row of one table each.

The table is what the code reads: a generator that a row does not name is not run, and its signals are zero.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.answer import Route
from causalist.model.protocols import Steps

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex

# In the order in which they run; `graph` and `pagerank` start from what the others found.
GENERATORS: Mapping[str, str] = {
    "literals": "quoted texts, expressions and printed messages, looked for in the text of files",
    "words": "BM25 over the text of definitions, passages and module-level code",
    "files": "BM25 over the text of whole files",
    "tests": "files whose tests have the words, by the names of both",
    "names": "words of the question in names and paths",
    "mentions": "names, paths, imports, options and error codes that stand in the question",
    "frames": "frames of tracebacks",
    "synonyms": "BM25 over words that mean the same, or that code about the same has",
    "expansion": "BM25 over words that stand beside those of a brief question, in whole files",
    "dense": "definitions that mean what the question means, where an embedder is chosen",
    "history": "messages of commits, and commits that are like the question",
    "graph": "what the best definitions give to others that words found, and who uses what is named",
    "pagerank": "places for what the walk reaches and no word led to",
}


def above_zero(signals: Sequence[Scores]) -> NDArray[np.bool_]:
    """Which nodes have any of some signals, at least one."""
    result = signals[0] > 0
    for each in signals[1:]:
        result |= each > 0
    return result


@dataclass(frozen=True, slots=True)
class RoutePlan:
    """One row. `generators`: those that run. `graph_share`: the share of the places that is kept for nodes which only
    PageRank reached; a route with more trust in the graph keeps more. `second_hop`: what takes such a place joins the
    seeds before the next is filled, so that a chain is followed to its end. `names_decide`: what is named counts once
    more (`looked up`), because the question is little more than that name. `toll`: on a further
    definition of a file, times ln(1 + n) where n stand before it (`spread`). `words_first`: places for what only
    PageRank reached go back to words that would fill them well."""

    generators: tuple[str, ...]
    graph_share: float
    second_hop: bool
    names_decide: bool
    toll: float
    words_first: bool = True


_ALL = tuple(GENERATORS)
_TOLL = 0.7

# That a route gains by leaving a generator out was never measured, so that every row has all of them, and rows differ
# in what they do with the graph, with names and with files. What is named needs no places for what nothing named leads
# to. The tolls were measured (docs/decisions/0018, 0036). `skip` has no generator: the answer is at hand.
ROUTES: Mapping[Route, RoutePlan] = {
    Route.LOOKUP: RoutePlan(_ALL, 0.0, second_hop=False, names_decide=True, toll=_TOLL),
    Route.SIMPLE: RoutePlan(_ALL, 0.2, second_hop=True, names_decide=False, toll=_TOLL),
    Route.MULTI_HOP: RoutePlan(_ALL, 0.3, second_hop=True, names_decide=False, toll=_TOLL, words_first=False),
    Route.EXPLORATORY: RoutePlan(_ALL, 0.2, second_hop=True, names_decide=False, toll=1.0),
    Route.SKIP: RoutePlan((), 0.0, second_hop=False, names_decide=False, toll=0.0),
}


class Generating:
    """Runs those generators that the plan of a route names, each as an optional step `candidates.NAME`."""

    def __init__(self, plan: RoutePlan, n_nodes: int, steps: Steps) -> None:
        self._plan = plan
        self._n_nodes = n_nodes
        self._steps = steps

    def scores(self, name: str, n: int, work: Callable[[], tuple[Scores, ...]]) -> tuple[Scores, ...]:
        """The `n` signals of a generator, each of shape (n_nodes,); zeros where it does not run or is skipped. A node
        with any of them is a candidate."""
        nothing = (np.zeros(self._n_nodes),) * n
        if name not in self._plan.generators:
            return nothing
        signals = self._steps.optional(f"candidates.{name}", work, lambda: nothing)
        if signals is not nothing:
            self._steps.found(name, int(np.count_nonzero(above_zero(signals))))
        return signals
