"""Lexical signals, exact mentions and the graph's support -> one score for each node, with its reasons.

The score is linear in the signals, so that it explains itself. Each signal is scaled by its largest value for the
question, weighted by `weights.json` and multiplied by the role of the file. Files and definitions are scored apart.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files as resource_files

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph
from causalist.model.lexical import LexicalIndex, Postings
from causalist.model.scores import Matched, Reason
from causalist.model.symbols import NodeKind, Role
from causalist.rank.lexical import bm25, impacts
from causalist.rank.mentions import mention_scores
from causalist.rank.question import Question, question_asks_for

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex

_DECLARATIONS = (NodeKind.INTERFACE, NodeKind.TYPE, NodeKind.CONSTANT)
_ASKED_WORDS: dict[Role, tuple[str, ...]] = {
    Role.TEST: ("test", "tests", "testing", "spec", "fixture", "mock"),
    Role.DOCS: ("docs", "documentation", "readme", "changelog", "guide"),
    Role.EXAMPLE: ("example", "examples", "benchmark", "demo", "sample"),
    Role.CONFIG: ("ci", "workflow", "config", "lint", "build", "packaging", "setup", "pyproject", "tsconfig"),
    Role.MIGRATION: ("migration", "migrations"),
    Role.GENERATED: ("generated",),
    Role.VENDORED: ("vendored", "vendor"),
}


@dataclass(frozen=True, slots=True)
class Weights:
    """`definition` and `file`: signal -> weight; `role` and `kind`: label -> factor in (0, 1]."""

    definition: Mapping[str, float]
    file: Mapping[str, float]
    role: Mapping[str, float]
    kind: Mapping[str, float]


@lru_cache(maxsize=1)
def default_weights() -> Weights:
    """The weights that are shipped, from `weights.json`, which states where they come from."""
    data = json.loads(resource_files("causalist.rank").joinpath("weights.json").read_text(encoding="utf-8"))
    return Weights(data["definition"], data["file"], data["role"], data["kind"])


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals of all nodes, each already scaled to at most 1 and weighted, by name; `role` and `kind` are factors."""

    definition: Mapping[str, Scores]
    file: Mapping[str, Scores]
    role: Scores
    kind: Scores

    def of(self, node: int, is_file: bool) -> list[tuple[str, float]]:
        """(signal, contribution) of a node, largest first; what contributes nothing is left out."""
        table = self.file if is_file else self.definition
        parts = [(name, float(values[node] * self.role[node])) for name, values in table.items()]
        return sorted(((n, v) for n, v in parts if v > 0), key=lambda p: (-p[1], p[0]))


def lexical_signals(
    question: Question,
    graph: CodeGraph,
    lexical: LexicalIndex,
    weights: Weights,
    matched: Mapping[int, Matched] | None = None,
) -> Signals:
    """Everything that the question says about nodes without walking the graph. `matched`: where its patterns stand;
    if it is nothing but a pattern, no other node has a signal."""
    n = len(graph.nodes)
    terms = known_terms(question, lexical)
    files = graph.nodes.files
    is_file = graph.nodes.kinds == NodeKind.FILE
    kind = _kind_factors(question, graph, weights)
    by_definition = bm25(lexical.definitions, terms, n) * kind
    by_file = bm25(lexical.files, terms, n)
    if question.asks_for_behaviour:
        by_file = by_file * np.where(_runs(graph), 1.0, weights.kind["declarations only"])
    whole = _rarest(terms, lexical, n)
    by_path = np.minimum(bm25(lexical.paths, terms, n) / whole, 1.0)
    by_name = np.minimum(bm25(lexical.symbol_names, terms, n) / whole, 1.0) * kind
    mentioned = mention_scores(question, graph, lexical)
    role = _role_factors(question, graph, weights)

    per_file_best, per_file_sum = _best_and_sum(by_definition * role, files, n)
    mentioned_in_file = np.zeros(n)
    np.maximum.at(mentioned_in_file, files[files >= 0], mentioned[files >= 0])
    name_in_file = np.zeros(n)
    np.maximum.at(name_in_file, files[files >= 0], by_name[files >= 0])
    literal, literal_in_file = _matched_scores(matched or {}, files, n)
    of_file = np.maximum(files, 0)
    searched = (files >= 0) & (graph.nodes.kinds != NodeKind.FIELD)
    file_score = _scaled(by_file)
    definition = {
        "text": _scaled(by_definition),
        "name": by_name,
        "file text": np.where(searched, file_score[of_file], 0.0),
        "path": np.where(searched, by_path[of_file], 0.0),
        "mention": mentioned,
        "literal": literal,
    }
    file = {
        "text": file_score,
        "best definition": _scaled(per_file_best),
        "definitions": _scaled(per_file_sum),
        "path": by_path,
        "name": name_in_file,
        "mention": mentioned_in_file,
        "literal": literal_in_file,
    }
    if question.is_pattern:
        definition = {name: np.where(literal > 0, values, 0.0) for name, values in definition.items()}
        file = {name: np.where(literal_in_file > 0, values, 0.0) for name, values in file.items()}
    return Signals(
        {name: values * weights.definition.get(name, 0.0) for name, values in definition.items()},
        {name: np.where(is_file, values, 0.0) * weights.file.get(name, 0.0) for name, values in file.items()},
        role,
        kind,
    )


def _matched_scores(matched: Mapping[int, Matched], files: NDArray[np.int32], n: int) -> tuple[Scores, Scores]:
    """(by node, by file): 1/2 for one match, towards 1 with the logarithm of their number."""
    counts = np.zeros(n)
    for node, found in matched.items():
        counts[node] = found.n
    inside = files >= 0
    by_file = np.bincount(files[inside], weights=counts[inside], minlength=n)
    return _saturated(counts), _saturated(by_file.astype(np.float64))


def _saturated(counts: Scores) -> Scores:
    top = max(float(np.log1p(counts.max(initial=0.0))), 1.0)
    return np.where(counts > 0, 0.5 + 0.5 * np.log1p(counts) / top, 0.0)


def with_support(signals: Signals, support: Scores, graph: CodeGraph, weights: Weights) -> Signals:
    """The signals and what the graph gives: the support of a definition; of a file, the sum over its nodes."""
    files = graph.nodes.files
    per_file = np.bincount(files[files >= 0], weights=support[files >= 0], minlength=len(support)).astype(np.float64)
    return Signals(
        {**signals.definition, "graph": _scaled(support) * weights.definition.get("graph", 0.0)},
        {**signals.file, "graph": _scaled(per_file) * weights.file.get("graph", 0.0)},
        signals.role,
        signals.kind,
    )


def fused(signals: Signals, graph: CodeGraph) -> tuple[Scores, Scores]:
    """(scores of definitions, passages and module-level code; scores of files as a whole)."""
    definitions = sum(signals.definition.values(), np.zeros(len(graph.nodes))) * signals.role
    files = sum(signals.file.values(), np.zeros(len(graph.nodes))) * signals.role
    return definitions, files


def reasons_of(
    node: int, file: int, signals: Signals, question: Question, lexical: LexicalIndex, *, is_file: bool
) -> tuple[Reason, ...]:
    """Why a node is here: each signal's contribution, the words of the question that stand in it."""
    places = {
        "text": (node, lexical.files if is_file else lexical.definitions),
        "definitions": (node, lexical.files),
        "best definition": (node, lexical.files),
        "file text": (file, lexical.files),
        "path": (file, lexical.paths),
    }
    if not is_file:
        places["name"] = (node, lexical.symbol_names)
    return tuple(
        Reason(
            name,
            round(value, 6),
            ", ".join(_matching_words(*places[name], question, lexical)) if name in places else "",
        )
        for name, value in signals.of(node, is_file)[:4]
    )


def _matching_words(node: int, postings: Postings, question: Question, lexical: LexicalIndex) -> list[str]:
    """The question's terms in a document, those that weigh most first."""
    found: list[tuple[float, str]] = []
    for term, weight in {**question.abbreviations, **question.terms}.items():
        number = lexical.terms.position(term)
        if number < 0:
            continue
        documents, values = impacts(postings, number)
        at = int(np.searchsorted(documents, node))
        if at < len(documents) and documents[at] == node:
            found.append((-weight * float(values[at]), term))
    return list(dict.fromkeys(question.written.get(term, term) for _, term in sorted(found)))[:5]


def known_terms(question: Question, lexical: LexicalIndex) -> dict[int, float]:
    """Weight by term number, of those terms of the question that the repository has."""
    numbers = {lexical.terms.position(term): weight for term, weight in question.terms.items()}
    for term, weight in question.abbreviations.items():
        numbers.setdefault(lexical.terms.position(term), weight)
    numbers.pop(-1, None)
    return numbers


def _rarest(terms: Mapping[int, float], lexical: LexicalIndex, n: int) -> float:
    """What a name or path has to say to say all: the weight of the question's three rarest terms.

    Scaled by the best instead, a name that shares one common word with the question would count in full wherever no
    name shares more.
    """
    frequency = np.diff(lexical.definitions.indptr)
    weights = sorted(
        (weight * float(np.log1p((n - frequency[t] + 0.5) / (frequency[t] + 0.5))) for t, weight in terms.items()),
        reverse=True,
    )
    return sum(weights[:3]) or 1.0


def _best_and_sum(scores: Scores, files: NDArray[np.int32], n: int) -> tuple[Scores, Scores]:
    """Per file: the best score among its nodes, and the sum of the five best."""
    nodes = np.flatnonzero((scores > 0) & (files >= 0))
    owners = files[nodes]
    order = np.lexsort((-scores[nodes], owners))
    nodes, owners = nodes[order], owners[order]
    best, total = np.zeros(n), np.zeros(n)
    if len(nodes):
        starts = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
        place = np.arange(len(nodes)) - np.repeat(starts, np.diff(np.append(starts, len(nodes))))
        best[owners[starts]] = scores[nodes[starts]]
        total += np.bincount(owners[place < 5], weights=scores[nodes[place < 5]], minlength=n)
    return best, total


def _role_factors(question: Question, graph: CodeGraph, weights: Weights) -> Scores:
    factors = np.ones(len(Role))
    for role in Role:
        asked = role in _ASKED_WORDS and question_asks_for(question, _ASKED_WORDS[role])
        factors[role] = 1.0 if asked else weights.role.get(role.label, 1.0)
    result: Scores = factors[graph.nodes.roles]
    return result


def _kind_factors(question: Question, graph: CodeGraph, weights: Weights) -> Scores:
    """Declarations say less than code that runs, above all about what happens."""
    factors = np.ones(len(NodeKind))
    for kind in _DECLARATIONS:
        factors[kind] = weights.kind.get(kind.label, 1.0)
        if question.asks_for_behaviour:
            factors[kind] *= weights.kind["declarations only"]
    kinds, parents = graph.nodes.kinds, graph.nodes.parents
    # The methods of an interface are declarations as well.
    around = np.where(parents >= 0, kinds[np.maximum(parents, 0)], NodeKind.FILE)
    judged = np.where(around == NodeKind.INTERFACE, NodeKind.INTERFACE, kinds)
    result: Scores = factors[judged]
    return result


def _runs(graph: CodeGraph) -> NDArray[np.bool_]:
    """Files that define a function or method with a body, or are prose; others declare, or pass on definitions."""
    files, kinds, parents = graph.nodes.files, graph.nodes.kinds, graph.nodes.parents
    inside = np.isin(kinds, [NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.PASSAGE]) & (files >= 0)
    inside &= (parents < 0) | (kinds[np.maximum(parents, 0)] != NodeKind.INTERFACE)
    result = np.zeros(len(graph.nodes), dtype=np.bool_)
    result[files[inside]] = True
    return result


def _scaled(scores: Scores) -> Scores:
    top = scores.max(initial=0.0)
    return scores / top if top > 0 else scores
