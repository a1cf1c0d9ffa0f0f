"""Probability that at least one of the first five files of a ranking is right.

The probability comes from a logistic model of a few features, none of which can lower it. Scores are logarithms of
odds, so the share of the odds of the best files says how far they stand out; the other features say how much evidence
there is. The weights are fitted on labelled queries. Each repository is tested with weights fitted on the others:
docs/ranking.md has the table.

The module also has the loss by which the linear weights of the ranking are fitted, for code and for prose.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import SCORE_DECIMALS
from causalist._internal.lazy import dataclass
from causalist.model.answer import Level
from causalist.model.graph import CodeGraph
from causalist.model.index import LexicalIndex
from causalist.model.node_ids import NodeKind
from causalist.model.scores import Signal
from causalist.rank.scoring.fusion import Ranking

N_LEADING = 3  # files whose share of the odds counts; the most informative of 1, 3 and 5
CONFIDENCE_DECIMALS = 4
MAX_SCORE = 10.0  # a larger score, by a name, a frame or a literal, does not raise the probability
# Contribution of messages to the score of the first file, the mean over the queries of the fit. So a repository with a
# short history, or a shallow clone, has no lower probability.
MEAN_MESSAGE_SCORE = 1.4
MIN_COMMITS = 20  # commits that touched an existing file


class CalibrationFeatures(NamedTuple):
    """The evidence that a ranking is right, more of each field being better.

    `lead`: the share of the odds, in [0, 1], that the best definitions of three files hold among those of all files;
    the scores of whole files tell less. `words`: ln(1 + words of the query that the repository has). `coverage`: the
    share of those words, by weight and rarity, that the first file has. `score`: the score of the first file,
    MAX_SCORE at most. It says how many signals agree that the file is meant; where there is no history, it includes
    what the messages of a history would add on average. Co-occurring words are no evidence: with their signal,
    the score predicts less well whether an answer is right.
    """

    lead: float
    words: float
    coverage: float
    score: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of the features, none negative, and what an answer is given beforehand by its level."""

    weights: Mapping[str, float]
    level: Mapping[Level, float]

    def probability(self, evidence: CalibrationFeatures, level: Level) -> float:
        """Return the probability, in (0, 1)."""
        parts = (self.weights[name] * value for name, value in zip(CalibrationFeatures._fields, evidence, strict=True))
        return float(1.0 / (1.0 + np.exp(-(self.level[level] + sum(parts)))))


@lru_cache(maxsize=1)
def default_calibration() -> Calibration:
    """Return the shipped calibration from `confidence.json`, which states its origin."""
    data = json.loads(Path(__file__).with_name("calibration.json").read_text(encoding="utf-8"))
    return Calibration(data["weights"], {Level(name): value for name, value in data["level"].items()})


def confidence_of(
    ranking: Ranking, graph: CodeGraph, lexical: LexicalIndex, level: Level, terms: Mapping[str, float] | None = None
) -> float | None:
    """Return the probability that one of the first five files is right.

    `terms` is the same as in `calibration_features`. The result is None for a pattern: its matches are certain, and
    nothing was fitted to patterns. The result is 0 without any match.
    """
    if ranking.question.is_pattern:
        return None
    evidence = calibration_features(ranking, graph, lexical, terms)
    if evidence is None:
        return 0.0
    return round(default_calibration().probability(evidence, level), CONFIDENCE_DECIMALS)


def calibration_features(
    ranking: Ranking, graph: CodeGraph, lexical: LexicalIndex, terms: Mapping[str, float] | None = None
) -> CalibrationFeatures | None:
    """Return the features of a ranking, or None if no file has a score.

    `terms`: the terms of the original query, if the ranking is of other terms.
    """
    owners, n = graph.nodes.files, len(graph.nodes)
    files = np.flatnonzero((graph.nodes.kinds == NodeKind.FILE) & (ranking.files > 0))
    definitions = np.flatnonzero((ranking.definitions > 0) & (owners >= 0))
    if not len(files) or not len(definitions):
        return None
    first = int(files[np.argmax(np.round(ranking.files[files], SCORE_DECIMALS))])  # of equal ones the first
    # The encoder is left out: the model was fitted to scores without it, and what it adds is no surer for that.
    by_words = ranking.definitions - _from_encoder(ranking.signals.definition, ranking.signals.role)
    best = np.zeros(n)
    np.maximum.at(best, owners[definitions], by_words[definitions])
    best = np.sort(best[best > 0])[::-1]
    odds = np.exp(best - best[0])
    query_terms = ranking.question.terms if terms is None else terms
    n_known, coverage = _words_of(first, query_terms, lexical)
    lead, score = float(odds[:N_LEADING].sum() / odds.sum()), float(ranking.files[first])
    score -= float(_from_encoder(ranking.signals.file, ranking.signals.file_role)[first])
    if np.count_nonzero(np.diff(ranking.history.indptr)) < MIN_COMMITS:
        score += MEAN_MESSAGE_SCORE
    return CalibrationFeatures(lead, float(np.log1p(n_known)), coverage, min(score, MAX_SCORE))


def _from_encoder(signals: Mapping[Signal, NDArray[np.float64]], role: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the encoder adds to the score of each node, shape (n_nodes,)."""
    return signals[Signal.SEMANTIC] * role if Signal.SEMANTIC in signals else np.zeros(len(role))


def _words_of(file: int, terms: Mapping[str, float], lexical: LexicalIndex) -> tuple[int, float]:
    """Return (number of terms that the repository has, the share of these that a file has).

    The share is by weight and rarity.
    """
    postings = lexical.files
    n_known, matched, total = 0, 0.0, 0.0
    for term, weight in terms.items():
        number = lexical.terms.position(term)
        if number < 0:
            continue
        n_known += 1
        documents = postings.documents[int(postings.indptr[number]) : int(postings.indptr[number + 1])]
        n_with = len(documents)
        value = weight * float(np.log1p((postings.n_documents - n_with + 0.5) / (n_with + 0.5)))
        total += value
        at = int(np.searchsorted(documents, file))
        if at < n_with and documents[at] == file:
            matched += value
    return n_known, matched / total if total > 0 else 0.0


_MAX_EXPONENT = 700.0  # exp of more overflows


@dataclass(frozen=True, slots=True)
class StackedCandidates:
    """Candidates of all queries in one table, n rows; those of a query are adjacent.

    `matrix`: (n, linear parameters); `roles`: (n, roles), 1 if the factor of the role applies; `gold`: (n,);
    `question`: (n,), ascending from 0; `starts`: (questions,), the first row of each; `n_right`: (questions,), the
    number of right candidates. To count a query three times, a third of its number is stored there.
    """

    matrix: NDArray[np.float64]
    roles: NDArray[np.float64]
    gold: NDArray[np.bool_]
    question: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_right: NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Penalty:
    """`ridge` times the squares of the distances of weights from the `center`, `role_ridge` times those of roles."""

    center: NDArray[np.float64]
    ridge: float
    role_ridge: float = 0.0


def loss_of(
    parameters: NDArray[np.float64], stacked: StackedCandidates, n_linear: int, penalty: Penalty
) -> tuple[float, NDArray[np.float64]]:
    """Return (mean negative log-likelihood and penalties, its gradient).

    With W the logarithm of the sum of e to the scores of a question's wrong candidates, a right one of score s is
    taken before all of them with probability 1 / (1 + e to W - s).
    """
    weights, logs = parameters[:n_linear], parameters[n_linear:]
    factor = np.exp(stacked.roles @ logs)
    score = factor * (stacked.matrix @ weights)
    gold, question = stacked.gold, stacked.question
    wrong = np.where(gold, -np.inf, score)
    top = np.maximum.reduceat(wrong, stacked.starts)
    against = np.exp(wrong - top[question])
    total = np.add.reduceat(against, stacked.starts)
    behind = (np.log(total) + top)[question[gold]] - score[gold]
    share = 1.0 / stacked.n_right[question[gold]]
    n = len(stacked.starts)
    loss = float(np.sum(np.logaddexp(0.0, behind) * share)) / n
    missed = share / (1.0 + np.exp(np.minimum(-behind, _MAX_EXPONENT)))
    slope = against / total[question] * np.bincount(question[gold], weights=missed, minlength=n)[question]
    slope[gold] = -missed
    away = parameters - penalty.center
    pull = np.concatenate([np.full(n_linear, penalty.ridge), np.full(len(logs), penalty.role_ridge)]) * away
    loss += float(pull @ away)
    by_weight, by_log = (slope * factor) @ stacked.matrix / n, (slope * score) @ stacked.roles / n
    return loss, np.concatenate([by_weight, by_log]) + 2 * pull
