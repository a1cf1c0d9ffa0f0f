"""Scaling of scores to signals between 0 and 1, and from definitions to their files.

Cosines of an embedder become a signal as well. Cosines of one model are all close together, and lower for one query
than for another. The informative number is how far a definition exceeds the others of the same repository: their
median. The form, and the weights of the signal in `weights.json`, were chosen on short queries with one small model;
docs/embedders.md has the figures.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from causalist.model.index import LexicalIndex
from causalist.rank.lexical.bm25 import query_coverage
from causalist.rank.lexical.question_encoder import bag_similarities, shipped_encoder
from causalist.rank.query.query import Generator, GeneratorRun, ParsedQuery

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex

_N_SUMMED = 5  # best definitions of a file, whose scores are summed


def scale_to_max(scores: Scores) -> Scores:
    """Return the scores divided by the largest, if that is positive."""
    top = scores.max(initial=0.0)
    return scores / top if top > 0 else scores


def relative_to_max(scores: Scores, others: Scores) -> Scores:
    """Return the scores divided by the largest of both arrays.

    Scores that are small beside the others stay small.
    """
    top = max(scores.max(initial=0.0), others.max(initial=0.0))
    return scores / top if top > 0 else scores


def max_and_sum(scores: Scores, files: NDArray[np.int32], n: int) -> tuple[Scores, Scores]:
    """Return (best score, sum of the five best) of the nodes of each file."""
    nodes = np.flatnonzero((scores > 0) & (files >= 0))
    best, total = np.zeros(n), np.zeros(n)
    if not len(nodes):
        return best, total
    owners = files[nodes]
    # Nodes of a file are mostly adjacent, so that one pass is enough; sorting the scores takes ten times as long.
    if (owners[1:] < owners[:-1]).any():
        nodes = nodes[np.argsort(owners, kind="stable")]
        owners = files[nodes]
    remaining = scores[nodes]
    is_first = np.ones(len(owners), dtype=np.bool_)
    np.not_equal(owners[1:], owners[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    group = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(starts, append=len(owners)))
    sums = np.zeros(len(starts))
    for n_removed in range(_N_SUMMED):
        top = np.maximum.reduceat(remaining, starts)
        if n_removed == 0:
            best[owners[starts]] = top
        sums += top
        if n_removed + 1 == _N_SUMMED:
            break
        # Remove one of the best scores; 0 remains if there are fewer.
        top_positions = np.flatnonzero(remaining == top.take(group))
        remaining[top_positions[np.concatenate([[True], group[top_positions[1:]] != group[top_positions[:-1]]])]] = 0.0
    total[owners[starts]] = sums
    return best, total


# (n_nodes,), indexed by NodeIndex
# Returns the cosines of all nodes with the query, 0 for nodes without a vector. May fail.
Similarities = Callable[[], Scores]

N_NEAREST = 200  # nodes with the largest cosines, which are candidates


def dense_scores(similarities: Similarities | None, by: GeneratorRun, n_nodes: int) -> Scores:
    """Return the signal of a query; zeros, and no step, without an embedder."""
    if similarities is None:
        return np.zeros(n_nodes)
    (found,) = by.scores(Generator.DENSE, 1, lambda: (dense_signal(similarities()),))
    return found


# A question whose words the code has needs no other words. Up to the first numbers the encoder counts in full, from the
# second ones on by _LEAST_SEMANTIC: words of the question that the best definition has, and their share.
_FEW_WORDS, _MANY_WORDS = 3.5, 7.0
_LOW_SHARE, _HIGH_SHARE = 0.75, 1.0
_LEAST_SEMANTIC = 0.2


def semantic_scores(
    question: ParsedQuery, terms: Mapping[int, float], lexical: LexicalIndex, files: NDArray[np.int32], by: GeneratorRun
) -> Scores:
    """Return the signal of the shipped encoder; zeros for patterns, and without a known word.

    `terms`: weight by number of the words of the query that the repository has. Without any, nothing is found, as
    somebody who asks for `frobnicate` wants no other code. `files`: the file nodes of all nodes.
    """

    def work() -> tuple[Scores]:
        encoder = shipped_encoder()
        vector = encoder.encode(question.prose)
        if vector is None:
            return (np.zeros(n_nodes),)
        covered = float(query_coverage(terms, lexical.definitions, n_nodes).max(initial=0.0))
        excess = max(
            (covered * len(terms) - _FEW_WORDS) / (_MANY_WORDS - _FEW_WORDS),
            (covered - _LOW_SHARE) / (_HIGH_SHARE - _LOW_SHARE),
        )
        factor = 1.0 - (1.0 - _LEAST_SEMANTIC) * min(max(excess, 0.0), 1.0)
        return (dense_signal(bag_similarities(vector, lexical, files, encoder)) * factor,)

    n_nodes = len(files)
    if question.is_pattern or not terms:
        return np.zeros(n_nodes)
    (found,) = by.scores(Generator.SEMANTIC, 1, work)
    return found


def _median(values: Scores) -> float:
    """Return the median. `numpy.median` would import masked arrays, 4 ms of every question."""
    half = len(values) // 2
    parted = np.partition(values, (half - 1, half))
    return float(parted[half] if len(values) % 2 else (parted[half - 1] + parted[half]) / 2)


def dense_signal(cosines: Scores) -> Scores:
    """Return the signal of the N_NEAREST nodes by cosine; 0 for all others.

    The signal is the square of how far the cosine exceeds the median of all nonzero cosines, divided by how far the
    best does.

    >>> dense_signal(np.array([0.6, 0.0, 0.2, 0.4, 0.1])).round(2).tolist()  # the median is 0.3
    [1.0, 0.0, 0.0, 0.11, 0.0]
    """
    found = cosines[cosines > 0]
    middle = _median(found) if len(found) > 1 else 0.0
    top = float(cosines.max(initial=0.0))
    if top <= middle:
        return np.zeros(len(cosines))
    result: Scores = (np.maximum(cosines - middle, 0.0) / (top - middle)) ** 2
    if len(result) > N_NEAREST:
        result = np.where(result >= np.partition(result, -N_NEAREST)[-N_NEAREST], result, 0.0)
    return result
