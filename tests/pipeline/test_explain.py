"""Which seeds the PageRank of a hit stems from."""

import numpy as np
import pytest

from causalist.model.answer import AskOptions, Level
from causalist.pipeline.repository import Repository
from causalist.rank import default_weights, parse_query, rank_question
from causalist.rank.scoring.ranking import MIN_SHARE, N_SHARES, seed_shares

_QUESTION = "where does user authentication happen?"


@pytest.mark.slow
def test_shares_are_asked_for(sample: Repository) -> None:
    assert all(hit.seeds is None for hit in sample.ask(_QUESTION).results)
    answer = sample.ask(_QUESTION, AskOptions(explain=True, top_k=8))
    assert all(hit.seeds for hit in answer.results if hit.pagerank > 0)
    for hit in answer.results:
        shares = [seed.share for seed in hit.seeds or ()]
        assert shares == sorted(shares, reverse=True) and len(shares) <= N_SHARES
        assert all(MIN_SHARE <= share <= 1 for share in shares) and sum(shares) <= 1 + 1e-9
    assert all(hit.seeds == () for hit in sample.ask(_QUESTION, AskOptions(explain=True, graph=False)).results)


@pytest.mark.slow
@pytest.mark.parametrize("level", list(Level))
def test_shares_agree_with_a_dense_solve(level: Level, sample: Repository) -> None:
    """(I - damping M) x = s_i e_i for each seed, by elimination instead of iteration."""
    index, options = sample.index, AskOptions(explain=True, level=level)
    question = parse_query(_QUESTION)
    ranking = rank_question(question, index.graph, index.lexical, index.transition, default_weights(), options)
    t = index.transition
    n = len(t.walkable)
    matrix = np.zeros((n, n))
    for target in range(n):
        for k in range(t.indptr[target], t.indptr[target + 1]):
            matrix[target, t.indices[k]] += t.weights[k]
    seeds = np.flatnonzero(ranking.seeds)
    sources = np.zeros((n, len(seeds)))
    sources[seeds, range(len(seeds))] = ranking.seeds[seeds]
    solved = np.linalg.solve(np.eye(n) - options.damping * matrix, sources)
    hits = sample.ask(_QUESTION, options).results
    shares = seed_shares([hit.node for hit in hits], ranking, index.graph, t, options)
    for hit, told in zip(hits, shares, strict=True):
        rows = index.graph.nodes.files == hit.node if level is Level.FILE else np.arange(n) == hit.node
        expected = solved[rows].sum(axis=0)
        expected = dict(zip([index.graph.nodes.ids[int(s)] for s in seeds], expected / expected.sum(), strict=True))
        assert {s.node: s.share for s in told} == pytest.approx({s.node: expected[s.node] for s in told}, abs=1e-4)
        largest = sorted(expected.values(), reverse=True)[: len(told)]
        assert [s.share for s in told] == pytest.approx(largest, abs=1e-4)
