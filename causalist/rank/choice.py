"""Fused scores -> the nodes that answer.

Of the places of a list of definitions one in eight is for the best files that have none in it, by their best
definition, and some at the end are for what PageRank reached and no word led to: the answer to a question that names
nothing stands there. These go back to words where what words would put there is nearly as good as what they put first.
"""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.lazily import expression
from causalist.model.answer import AskOptions, Level, RankMode
from causalist.model.graph import CodeGraph
from causalist.model.scores import Transition
from causalist.model.steps import UNWATCHED, Steps
from causalist.model.symbols import NodeKind
from causalist.rank._order import SCORE_DECIMALS, best_of, first_by
from causalist.rank.reached import reached_places
from causalist.rank.routes import ROUTES, RoutePlan
from causalist.rank.scored import Ranking
from causalist.rank.spread import spread

FILE_SHARE = 1 / 8  # of the places of a list of definitions, for files that have none in it
# Of the best score; what words find below it is right as seldom as what only the graph reaches. docs/decisions/0018.
WEAK = {Level.SYMBOL: 0.65, Level.FILE: 0.5}
_BEHIND = 1 - 1e-9
_REPEATED = expression(r"~\d+$", needs=("~",))


class Chosen(NamedTuple):
    """A node that answers, with its place in the list decided by `score`; `by_graph` if only PageRank reached it."""

    node: int
    score: float
    by_graph: bool


def choose(
    ranking: Ranking, graph: CodeGraph, transition: Transition, options: AskOptions, steps: Steps = UNWATCHED
) -> list[Chosen]:
    """The nodes that answer, best first: at most `top_k`, none that nothing reached."""
    by_file = options.level is Level.FILE
    if options.rank is RankMode.PAGERANK:
        pagerank = _pagerank_of(ranking, graph, by_file)
        return [Chosen(n, float(pagerank[n]), True) for n in best_of(pagerank, options.top_k)]
    plan = ROUTES[options.route or ranking.question.route]
    files = np.where(graph.nodes.kinds == NodeKind.FILE, ranking.files, 0.0)
    scores, toll = (files, 0.0) if by_file else (ranking.definitions, plan.toll)
    best = best_of(scores, (4 if toll else 2) * options.top_k)
    distinct = steps.optional("assemble.duplicates", lambda: _distinct(best, graph), lambda: best)
    found = spread(distinct, scores, graph.nodes.files, graph.nodes.parents, options.top_k, toll)
    reached: dict[int, float] = {}
    n_places = min(_places_of_the_graph(plan, options, list(found.values())), options.top_k - 1)
    if ranking.pagerank is not None and n_places:

        def filled() -> dict[int, float]:
            taken = reached_places(ranking, graph, transition, options, n_places, plan.second_hop, steps)
            steps.found("pagerank", len(taken))
            return {place.file if by_file else place.entry: place.reach for place in taken}

        reached = steps.optional("candidates.places", filled, dict)
    n_found = options.top_k - len(reached)
    found = {node: worth for node, worth in found.items() if node not in reached}
    if toll:
        have = {int(graph.nodes.files[node]) for node in reached}
        others = [file for file in best_of(files, options.top_k) if file not in have]
        found = _with_best_files(found, n_found, others, ranking.definitions, graph.nodes.files)
    chosen = [Chosen(n, worth, False) for n, worth in islice(found.items(), n_found)]
    # What only the graph reached stands behind what was found, in the order of PageRank.
    floor = min((each.score for each in chosen), default=1.0)
    top = max(reached.values(), default=1.0)
    by_reach = sorted(reached.items(), key=_by_value)
    return chosen + [Chosen(n, floor * value / top * _BEHIND, True) for n, value in by_reach]


def _places_of_the_graph(plan: RoutePlan, options: AskOptions, found: Sequence[float]) -> int:
    """How many places are kept for what only PageRank reached, given the scores of what words would put there."""
    kept = round(options.top_k * plan.graph_share)
    if not plan.words_first:
        return kept
    tail = found[options.top_k - kept :]
    return kept - sum(score >= WEAK[options.level] * found[0] for score in tail)


def _with_best_files(
    found: dict[int, float],
    n: int,
    files: Sequence[int],
    scores: NDArray[np.float64],
    owners: NDArray[np.int32],
) -> dict[int, float]:
    """`n` of the definitions that were `found`, of which the last places go to the best of the `files`, best first,
    that would have none: each has its best definition there."""
    n_for_files = round(n * FILE_SHARE)
    kept = dict(islice(found.items(), n - n_for_files))
    have = {int(owners[node]) for node in kept}
    standing: list[int] = []
    for file in files:
        if len(standing) == n_for_files:
            break
        if file not in have:
            inside = np.flatnonzero(owners == file)
            standing += first_by(scores, inside[scores[inside] > 0], 1).tolist()
    # Where there are too few, what was found has these places as well.
    kept = dict(islice((item for item in found.items() if item[0] not in standing), n - len(standing)))
    floor = min(kept.values(), default=1.0)
    for node in standing:
        floor = min(float(scores[node]), floor * _BEHIND)
        kept[node] = floor
    return kept


def _distinct(nodes: Sequence[int], graph: CodeGraph) -> list[int]:
    """`nodes` without repeats of a name in one file, such as the setter beside a getter: the better one stands."""
    kept: dict[str, int] = {}
    for node in nodes:
        kept.setdefault(_REPEATED.sub("", graph.nodes.ids[node]), node)
    return list(kept.values())


def _by_value(item: tuple[int, float]) -> tuple[float, int]:
    return (-round(item[1], SCORE_DECIMALS), item[0])


def _pagerank_of(ranking: Ranking, graph: CodeGraph, by_file: bool) -> NDArray[np.float64]:
    """PageRank itself; a file's is the sum over its nodes, the probability of standing anywhere in it."""
    if ranking.pagerank is None:
        return np.zeros(len(graph.nodes))
    if not by_file:
        return ranking.pagerank.scores
    owners = graph.nodes.files
    inside = owners >= 0
    weights = ranking.pagerank.scores[inside]
    return np.bincount(owners[inside], weights=weights, minlength=len(graph.nodes)).astype(np.float64)
