"""Which seeds the PageRank of a node stems from."""

from collections.abc import Sequence

import numpy as np

from causalist.model.answer import AskOptions, Level
from causalist.model.graph import CodeGraph
from causalist.model.scores import SeedShare, Transition
from causalist.model.steps import UNWATCHED, Steps
from causalist.rank._order import SCORE_DECIMALS
from causalist.rank.scored import Ranking
from causalist.rank.walk import attribute_to_seeds

N_SHARES = 5  # seeds that a hit names
LEAST_SHARE = 0.01
# Shares are shown in per cent.
SHARE_TOLERANCE = 1e-6


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
    shares = attribute_to_seeds(
        transition, ranking.seeds, damping=options.damping, tolerance=SHARE_TOLERANCE, go_on=steps.in_time
    )
    owners = graph.nodes.files
    result: list[tuple[SeedShare, ...]] = []
    for node in nodes:
        inside = owners == node if options.level is Level.FILE else np.arange(len(owners)) == node
        parts = shares[:, inside].sum(axis=1)
        if parts.sum() <= 0:
            result.append(())
            continue
        parts = parts / parts.sum()
        best = np.lexsort((seeds, -np.round(parts, SCORE_DECIMALS)))[:N_SHARES]
        named = [SeedShare(graph.nodes.ids[int(seeds[i])], float(parts[i])) for i in best if parts[i] >= LEAST_SHARE]
        result.append(tuple(named))
    return result
