"""Which seeds the PageRank of a node stems from."""

from collections.abc import Sequence

import numpy as np

from causalist.model.answer import AskOptions, Level
from causalist.model.graph import CodeGraph
from causalist.model.protocols import UNWATCHED, Steps
from causalist.model.scores import SeedShare, Transition
from causalist.rank.pagerank.origins import origins
from causalist.rank.scoring.scored import Ranking
from causalist.rank.top_k import SCORE_DECIMALS

N_SHARES = 5  # seeds that a hit names
LEAST_SHARE = 0.01


def seed_shares(
    nodes: Sequence[int],
    ranking: Ranking,
    graph: CodeGraph,
    transition: Transition,
    options: AskOptions,
    steps: Steps = UNWATCHED,
) -> list[tuple[SeedShare, ...]]:
    """For each of `nodes` the seeds that most of its PageRank stems from, largest share first. A file's is that of all
    its nodes together. Empty where the walk gives a node nothing."""
    if ranking.pagerank is None:
        return [() for _ in nodes]
    seeds = np.flatnonzero(ranking.seeds)
    owners = graph.nodes.files
    is_file = options.level is Level.FILE
    groups = [np.flatnonzero(owners == node) if is_file else np.array([node]) for node in nodes]
    shares = origins(transition, ranking.seeds, groups, damping=options.damping, go_on=steps.in_time)
    result: list[tuple[SeedShare, ...]] = []
    for parts in shares:
        best = np.lexsort((seeds, -np.round(parts, SCORE_DECIMALS)))[:N_SHARES]
        named = [SeedShare(graph.nodes.ids[int(seeds[i])], float(parts[i])) for i in best if parts[i] >= LEAST_SHARE]
        result.append(tuple(named))
    return result
