"""A question and the history -> scores of files.

What somebody wrote when changing a file says in other words than the code what the file is for. Two signals read that:
the messages of all commits of a file as one document, and the commits whose messages are like the question. Two
others do not read: what changes together with the best files, and how often and how lately a file changed.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from causalist.model.history import History
from causalist.rank.lexical.build import bm25
from causalist.rank.query.query import Question

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex; only files have any

# A commit that says all of the question counts, and many that share a word with it do not outweigh it.
LIKENESS_POWER = 2
TOLD = ("messages", "similar commits")  # the signals that read messages
HALF_TOLD = 50  # commits of which the messages count half
N_BEST = 3  # files whose partners are supported
_DAY = 86_400.0


def history_terms(terms: Mapping[str, float], history: History) -> dict[int, float]:
    """Weight by number, of those terms of a question that any message has; `terms` by the term itself."""
    numbers = {history.commits.terms.position(term): weight for term, weight in terms.items()}
    numbers.pop(-1, None)
    return numbers


def asked_of_history(question: Question, others: Mapping[str, float], history: History) -> dict[int, float]:
    """Weight by number, of what is looked for in messages: the terms of a question, what may abbreviate them, and
    `others` that stand for them."""
    return history_terms({**others, **question.abbreviations, **question.terms}, history)


def history_signals(
    question: Question, history: History, n_nodes: int, others: Mapping[str, float] = MappingProxyType({})
) -> dict[str, Scores]:
    """The two signals that read messages, by name, each divided by its largest value and times n / (n + HALF_TOLD) for
    n commits that touch these files: of a young history one message decides, and it may be about anything. `others`:
    weight by term, of words that stand for those of the question."""
    terms = asked_of_history(question, others, history)
    n_commits = int(np.count_nonzero(np.diff(history.indptr)))
    told = n_commits / (n_commits + HALF_TOLD)
    signals = (message_scores(terms, history, n_nodes), similar_commit_scores(terms, history, n_nodes))
    scaled = (told * scores / (scores.max(initial=0.0) or 1.0) for scores in signals)
    return dict(zip(TOLD, scaled, strict=True))


def message_scores(terms: Mapping[int, float], history: History, n_nodes: int) -> Scores:
    """BM25 of the messages of each file. `terms` as `history_terms` gives them."""
    return _of_nodes(bm25(history.messages, terms, len(history)), history, n_nodes)


def similar_commit_scores(terms: Mapping[int, float], history: History, n_nodes: int) -> Scores:
    """Of each file, the sum of `likeness ** LIKENESS_POWER / files` over the commits that touched it, with likeness the
    BM25 of a message divided by the best one, and files as many as the commit changed."""
    return _of_nodes(_sums(_commit_weights(terms, history), history), history, n_nodes)


def similar_commits(terms: Mapping[int, float], history: History, node: int, limit: int) -> list[str]:
    """Names of the commits that gave a file most of its `similar_commit_scores`, the largest part first."""
    file = int(np.searchsorted(history.nodes, node))
    if file == len(history) or history.nodes[file] != node:
        return []
    owners = np.repeat(np.arange(len(history.commits)), np.diff(history.indptr))
    touching = owners[history.files == file]
    weights = _commit_weights(terms, history)[touching]
    order = np.lexsort((touching, -weights))[:limit]
    return [history.commits.names[i] for i in touching[order[weights[order] > 0]].tolist()]


def co_change_scores(scores: Scores, history: History, n_best: int = N_BEST) -> Scores:
    """What changes together with the `n_best` files of `scores`, (n_nodes,): the sum of their scores, divided by the
    best, times the strength of the partnership."""
    own = scores[history.nodes]
    best = np.lexsort((history.nodes, -own))[:n_best]
    result = np.zeros(len(history))
    pairs = history.co_changes
    for file in best[own[best] > 0].tolist():
        start, stop = int(pairs.indptr[file]), int(pairs.indptr[file + 1])
        # A partner stands at most once among those of a file.
        result[pairs.others[start:stop]] += pairs.strengths[start:stop] * own[file] / own[best[0]]
    return _of_nodes(result, history, len(scores))


def churn_scores(history: History, n_nodes: int) -> Scores:
    """log(1 + commits) of each file, the commits decayed by age, divided by the largest."""
    values = np.log1p(history.churn)
    top = values.max(initial=0.0)
    return _of_nodes(values / top if top > 0 else values, history, n_nodes)


def recency_scores(history: History, n_nodes: int, half_life_days: float) -> Scores:
    """0.5 ** (age / half life) of the last commit of each file, the age counted from the newest; 0 without any."""
    newest = history.last.max(initial=0)
    values = np.exp2(-(newest - history.last) / _DAY / half_life_days)
    return _of_nodes(np.where(history.last > 0, values, 0.0), history, n_nodes)


def _commit_weights(terms: Mapping[int, float], history: History) -> NDArray[np.float64]:
    likeness = bm25(history.commits.words, terms, len(history.commits))
    # A commit whose files are all gone is no measure for the others.
    likeness[np.diff(history.indptr) == 0] = 0.0
    top = likeness.max(initial=0.0)
    if top == 0:
        return likeness
    result: NDArray[np.float64] = (likeness / top) ** LIKENESS_POWER / np.maximum(history.commits.n_files, 1)
    return result


def _sums(weights: NDArray[np.float64], history: History) -> NDArray[np.float64]:
    spread = np.repeat(weights, np.diff(history.indptr))
    return np.bincount(history.files, weights=spread, minlength=len(history)).astype(np.float64)


def _of_nodes(values: NDArray[np.float64], history: History, n_nodes: int) -> Scores:
    scores = np.zeros(n_nodes)
    scores[history.nodes] = values
    return scores
