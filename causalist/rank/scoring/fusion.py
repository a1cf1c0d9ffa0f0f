"""Linear fusion of signals with weights: one score for each node, with its reasons.

The score is the sum of the signals times their weights, times the factor of the file's role. Each term of the sum is a
reason. A score is the logarithm of odds up to a constant: the ratio of the odds of two nodes is e to the difference of
their scores. The weights were fitted with this meaning (`evaluate/fit.py`).
"""

import json
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.graph import CodeGraph
from causalist.model.index import History, LexicalIndex, Postings
from causalist.model.node_ids import NodeKind, Role
from causalist.model.protocols import NO_STEPS, Step, Steps
from causalist.model.scores import PageRankResult, Reason, Scores, Signal, TextMatches
from causalist.rank.lexical.bm25 import impact_on
from causalist.rank.query.query import ParsedQuery
from causalist.rank.scoring.signals import (
    NAME_SIGNALS,
    PRIORS,
    PriorFactors,
    QuerySignals,
    SignalTable,
    Similarities,
    compute_signals,
    effective_kinds,
)

_N_REASONS = 4
RECIPROCAL = 60.0  # k of reciprocal rank fusion, as its authors chose it


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Linear model of one pass.

    `signals`: name -> weight, at least 0; `role`: label -> factor in (0, 1]; `kind`: label -> prior of a definition of
    that kind, at least 0.
    """

    signals: Mapping[str, float]
    role: Mapping[str, float]
    kind: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of definitions in both passes, weights of files, and the prior factors of lexical matches."""

    definition: LinearModel
    file: LinearModel
    factors: PriorFactors

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, Mapping[str, float]]]) -> "Weights":
        """Return the weights from the content of a weights file."""

        def linear(name: str) -> LinearModel:
            part = data[name]
            return LinearModel(part["signals"], part["role"], part.get("kind", {}))

        factors = PriorFactors(data["factors"]["role"], data["factors"]["declarations"])
        return cls(linear("definition"), linear("file"), factors)


@lru_cache(maxsize=1)
def default_weights() -> Weights:
    """Return the shipped weights from `weights.json`, which states their origin."""
    return Weights.from_json(json.loads(shipped_weights()))


def shipped_weights() -> bytes:
    """Return the content of `weights.json`."""
    return Path(__file__).with_name("weights.json").read_bytes()


@dataclass(frozen=True, slots=True)
class WeightedSignals:
    """Weighted signals of all nodes, by name.

    `role` and `file_role` are the factors of their sums.
    """

    definition: Mapping[Signal, Scores]
    file: Mapping[Signal, Scores]
    role: Scores
    file_role: Scores
    reach: Scores  # factor of nodes without a lexical match
    numbers: Mapping[str, int] = field(default_factory=dict)  # number by term, for the query terms in the vocabulary
    mention: Scores | None = None  # how strongly the query names each node; None without weights

    def contributions(self, node: int, is_file: bool) -> list[tuple[Signal, float]]:
        """Return (signal, contribution) of a node, largest first, without signals that contribute nothing."""
        table, role = (self.file, self.file_role) if is_file else (self.definition, self.role)
        parts = [(name, float(value * role[node])) for name, value in _at(table, node)]
        return sorted(((n, v) for n, v in parts if v > 0), key=lambda p: (-p[1], p[0]))


def _at(table: Mapping[Signal, Scores], node: int) -> Iterable[tuple[Signal, float]]:
    return (
        table.values_at(node)
        if isinstance(table, SignalTable)
        else ((name, values[node]) for name, values in table.items())
    )


def weigh_signals(
    question: ParsedQuery,
    graph: CodeGraph,
    lexical: LexicalIndex,
    weights: Weights,
    matched: Mapping[int, TextMatches] | None = None,
    history: History | None = None,
    steps: Steps = NO_STEPS,
    similarities: Similarities | None = None,
    *,
    is_semantic: bool = True,
) -> WeightedSignals:
    """Return the weighted signals of a query for all nodes, before the graph is walked.

    They come from the passes, or, if the linear model is skipped, from the reciprocal ranks of the generators.
    """
    query_signals = compute_signals(
        question, graph, lexical, weights.factors, matched, history, steps, similarities, is_semantic=is_semantic
    )
    numbers = {term: lexical.terms.position(term) for term in {**question.abbreviations, **question.terms}}
    known_numbers = {term: number for term, number in numbers.items() if number >= 0}
    return steps.optional(
        Step.DISTIL_WEIGHTS,
        lambda: _weigh_by_model(query_signals, weights, known_numbers),
        lambda: _weigh_by_rank(query_signals, known_numbers),
    )


def _weigh_by_model(query_signals: QuerySignals, weights: Weights, numbers: Mapping[str, int]) -> WeightedSignals:
    definition, role = definition_signals(query_signals, weights.definition)
    before = sum_signals(definition, role)
    file, file_role = file_signals(query_signals, before, weights.file)
    definition = definitions_again(query_signals, definition, before, sum_signals(file, file_role), weights.definition)
    return WeightedSignals(
        definition, file, role, file_role, _reach_factor(query_signals), numbers, query_signals.mention
    )


def _reach_factor(query_signals: QuerySignals) -> Scores:
    """Return the factor of nodes without a lexical match; it is very small for tests and documentation."""
    return query_signals.role**3 * query_signals.kind


def _weigh_by_rank(query_signals: QuerySignals, numbers: Mapping[str, int]) -> WeightedSignals:
    """Return signals without weights: the sum over the generators of 1 / (RECIPROCAL + place).

    Equal scores share the better place (reciprocal rank fusion, Cormack, Clarke and Büttcher 2009). The sum is
    multiplied by the factors of roles and kinds.
    """
    own = (
        query_signals.text,
        query_signals.name,
        query_signals.mention,
        query_signals.literal,
        query_signals.frame,
        query_signals.synonyms,
        query_signals.dense,
        query_signals.semantic,
    )
    first = query_signals.first_files()
    definitions = sum(map(_reciprocal_ranks, own), np.zeros(len(query_signals.role)))
    files = sum((_reciprocal_ranks(first[name]) for name in sorted(first)), np.zeros(len(query_signals.role)))
    if query_signals.question.is_pattern:
        definitions = np.where(query_signals.literal > 0, definitions, 0.0)
    factor = query_signals.role * query_signals.kind
    return WeightedSignals(
        {Signal.PLACES: definitions},
        {Signal.PLACES: files},
        factor,
        query_signals.role,
        _reach_factor(query_signals),
        numbers,
    )


def _reciprocal_ranks(scores: Scores) -> Scores:
    rounded = np.round(scores, 12)
    levels, counts = np.unique(-rounded, return_counts=True)  # the best first
    ranks = 1 + np.cumsum(counts) - counts
    return np.where(rounded > 0, 1.0 / (RECIPROCAL + ranks[np.searchsorted(levels, -rounded)]), 0.0)


def definition_signals(
    query_signals: QuerySignals, weights: LinearModel, raw: Mapping[Signal, Scores] | None = None
) -> tuple[SignalTable, Scores]:
    """Return (weighted signals of definitions, factors of the roles).

    `raw`: the signals without weights, if they are already computed.
    """
    raw = raw or query_signals.definitions()
    kind_weights = np.array([weights.kind.get(kind.label, 0.0) for kind in NodeKind])
    # Only definitions with a match get the prior: else they would match every query.
    kind = np.where(raw[Signal.SIZE] > 0, kind_weights[effective_kinds(query_signals.graph)], 0.0)
    # These come last because `without_signals` removes them: the sum of the others is then available.
    later = [name for name in raw if name in NAME_SIGNALS]
    signals: dict[Signal, Scores] = {
        name: values for name, values in raw.items() if name is not Signal.KIND and name not in later
    }
    table = SignalTable({**signals, Signal.KIND: kind}, len(kind), weights={**weights.signals, Signal.KIND: 1.0})
    for name in later:
        table = table.with_one(name, raw[name], weights.signals.get(name, 0.0))
    return table, _role_factors(query_signals, weights)


def definitions_again(
    query_signals: QuerySignals, signals: SignalTable, before: Scores, files: Scores, weights: LinearModel
) -> SignalTable:
    """Return the weighted signals of the last pass.

    `signals` and `before`: those of definitions in the first pass and their sum. `files`: scores of files.
    """
    again = signals
    for name, values in query_signals.definitions_again(files, before).items():
        again = again.with_one(name, values, weights.signals.get(name, 0.0))
    return again


def file_signals(
    query_signals: QuerySignals, definitions: Scores, weights: LinearModel
) -> tuple[Mapping[Signal, Scores], Scores]:
    """Return (weighted signals of files, factors of the roles).

    `definitions`: the scores of definitions in the first pass.
    """
    return _apply_weights(query_signals.files(definitions), weights), _role_factors(query_signals, weights)


def _apply_weights(signals: Mapping[Signal, Scores], weights: LinearModel) -> Mapping[Signal, Scores]:
    if isinstance(signals, SignalTable):
        return signals.with_weights(weights.signals)
    return {name: values * weights.signals.get(name, 0.0) for name, values in signals.items()}


def _role_factors(query_signals: QuerySignals, weights: LinearModel) -> Scores:
    factors = np.array([weights.role.get(role.label, 1.0) for role in Role])
    result: Scores = np.where(query_signals.asked, 1.0, factors[query_signals.graph.nodes.roles])
    return result * query_signals.demotion


def sum_signals(signals: Mapping[Signal, Scores], role: Scores) -> Scores:
    """Return the score: the sum of the signals, times the factor of the role."""
    if isinstance(signals, SignalTable):
        return signals.weighted_sum(role)
    result: Scores = sum(signals.values(), np.zeros(len(role))) * role
    return result


def with_support(signals: WeightedSignals, support: Scores, weights: Weights) -> WeightedSignals:
    """Return the signals and the support of definitions by the graph, in [0, 1].

    Files get none of it (decision 4).
    """
    return with_signal(signals, Signal.GRAPH, support, weights)


def with_signal(signals: WeightedSignals, name: Signal, values: Scores, weights: Weights) -> WeightedSignals:
    """Return the signals and one more of definitions, of `values` in [0, 1]."""
    table, weight = signals.definition, weights.definition.signals.get(name, 0.0)
    extended = (
        table.with_one(name, values, weight) if isinstance(table, SignalTable) else {**table, name: values * weight}
    )
    return replace(signals, definition=extended)


def without_signals(signals: WeightedSignals, names: AbstractSet[Signal]) -> WeightedSignals:
    """Return the signals without the given ones of definitions."""
    table = signals.definition
    fewer = (
        table.without(names) if isinstance(table, SignalTable) else {k: v for k, v in table.items() if k not in names}
    )
    return replace(signals, definition=fewer)


def fuse(signals: WeightedSignals) -> tuple[Scores, Scores]:
    """Return (scores of definitions, passages and module-level code; scores of files as a whole)."""
    return sum_signals(signals.definition, signals.role), sum_signals(signals.file, signals.file_role)


def reasons_of(
    node: int, file: int, signals: WeightedSignals, question: ParsedQuery, lexical: LexicalIndex, *, is_file: bool
) -> tuple[Reason, ...]:
    """Return the reasons for a node: contribution of each signal, and the query words that match.

    Signals that do not depend on a query (length, kind) are no reasons.
    """
    postings_by_signal = {
        Signal.TEXT: (node, lexical.files if is_file else lexical.definitions),
        Signal.PATH: (file, lexical.paths),
    }
    if not is_file:
        postings_by_signal |= dict.fromkeys(
            (Signal.NAME, Signal.NAME_SHARE, Signal.NAME_COVERAGE), (node, lexical.symbol_names)
        )
    contributions = [(name, value) for name, value in signals.contributions(node, is_file) if name not in PRIORS]
    return tuple(
        Reason(
            name,
            round(value, 6),
            ", ".join(_matching_words(*postings_by_signal[name], question, signals.numbers))
            if name in postings_by_signal
            else "",
        )
        for name, value in contributions[:_N_REASONS]
    )


def _matching_words(node: int, postings: Postings, question: ParsedQuery, numbers: Mapping[str, int]) -> list[str]:
    """Return the words of the query that a document contains, those with the largest weight first."""
    terms: list[tuple[float, str]] = []
    for term, weight in {**question.abbreviations, **question.terms}.items():
        impact = impact_on(postings, numbers[term], node) if term in numbers else 0.0
        if impact > 0:
            terms.append((-weight * impact, term))
    return list(dict.fromkeys(question.written.get(term, term) for _, term in sorted(terms)))[:5]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores of all nodes for one query, shape (n_nodes,).

    `pagerank` is None if the graph was not walked; then `seeds` are zeros. `matches` are the candidates with their
    scores without PageRank, divided by the best.
    """

    question: ParsedQuery
    definitions: NDArray[np.float64]
    files: NDArray[np.float64]
    signals: WeightedSignals
    matches: Mapping[int, float]
    seeds: NDArray[np.float64]
    pagerank: PageRankResult | None
    matched: Mapping[int, TextMatches] = field(default_factory=dict)
    history: History = field(default_factory=History)

    @property
    def uses_similarity(self) -> bool:
        """True if the question encoder found definitions near to the query."""
        signals = self.signals.definition
        return Signal.SEMANTIC in signals and bool(signals[Signal.SEMANTIC].any())
