"""Fit ranking weights to labeled questions by maximum likelihood.

In: questions with their right answers, read against their repositories. Out: fitted weights, and the ranks under given
weights. The weights of definitions are fitted first; with these, those of files. Constants set by hand stay as they
are. The signals are those that a reading holds.

The probability that a node is the right answer is the softmax of the scores (a conditional logit model; McFadden 1974).
The weights maximize the likelihood of the right nodes, each right one against all wrong ones; every question counts the
same. A ridge penalty prefers small weights. None is negative, so that an uninformative signal gets 0. Only the
candidates of a question take part: the best by any signal.

A reading holds an array of all nodes for every signal. Weights can only move what is near the top of one of them, so
that the files which lead by any signal are kept, with what leads in them, and the rest is dropped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]

from causalist.evaluate.mining import DEFINITION_KINDS, MAX_DEFINITIONS
from causalist.evaluate.results import Ranks, find_ranks
from causalist.index.source_text import SourceText
from causalist.model.graph import CodeGraph, EdgeTable
from causalist.model.node_ids import NodeId, NodeKind, Role, file_id, split_id
from causalist.model.scores import Scores, Signal
from causalist.pipeline.repository import Repository
from causalist.pipeline.text_search import find_all_matches
from causalist.rank import LinearModel, Weights, parse_query, with_corpus_spelling
from causalist.rank.scoring.answer_confidence import Penalty, StackedCandidates, loss_of
from causalist.rank.scoring.fusion import definition_signals, definitions_again, file_signals, sum_signals
from causalist.rank.scoring.signals import QuerySignals, compute_signals, effective_kinds

_BEST_FILES = 60  # by each signal of files
_BEST_DEFINITIONS = 40  # by each signal of definitions; their files are kept
_BEST = 60  # nodes of kept files by the score and by each signal
_BEST_IN_FILE = 8  # by the score; the first five make a signal of the file


@dataclass(frozen=True, slots=True)
class CompactSignals(QuerySignals):
    """The part of a reading that weights can bring to the top; nodes are numbered anew."""

    of_files: Mapping[Signal, Scores]
    of_definitions: Mapping[Signal, Scores]

    def first_files(self) -> dict[Signal, Scores]:
        """Return the signals of files of the first pass by name."""
        return dict(self.of_files)

    def definitions(self) -> dict[Signal, Scores]:
        """Return the signals of definitions by name."""
        return dict(self.of_definitions)


def read_query_signals(repository: Repository, query: str, weights: Weights) -> QuerySignals:
    """Compute the signals of a question in a repository; of the weights, only the factors count."""
    index = repository.index
    question = with_corpus_spelling(parse_query(query), index.lexical)
    matched = find_all_matches(question.patterns, index, SourceText(index.manifest, repository.read))
    return compute_signals(question, index.graph, index.lexical, weights.factors, matched, index.history)


def compact_signals(reading: QuerySignals, weights: Weights, gold: Sequence[int]) -> CompactSignals:
    """Return the compact form of a reading. The files of `gold`, node numbers of the whole, are always kept."""
    of_files = reading.first_files()
    of_definitions = reading.definitions()
    owners = reading.graph.nodes.files
    files = {int(node) for values in of_files.values() for node in _best(values, _BEST_FILES)}
    files |= {int(owners[n]) for values in of_definitions.values() for n in _best(values, _BEST_DEFINITIONS)}
    files |= {int(owners[node]) for node in gold}
    score = sum_signals(*definition_signals(reading, weights.definition, of_definitions))
    kept = _standing_out(reading.graph, sorted(files - {-1}), score, of_definitions, gold)
    given = dict(_slice_fields(reading, kept))
    given["graph"] = _part(reading.graph, kept)
    return CompactSignals(**given, of_files=_take(of_files, kept), of_definitions=_take(of_definitions, kept))


def _standing_out(
    graph: CodeGraph, files: Sequence[int], score: Scores, signals: Mapping[Signal, Scores], gold: Sequence[int]
) -> NDArray[np.int64]:
    """Return the nodes of `files` that lead by the score or a signal, and what encloses these, ascending.

    The leading nodes are the best of all files by the score and each signal, and the best by the score in each file.
    `files` and `gold` are always included.
    """
    owners, parents = graph.nodes.files, graph.nodes.parents
    inside = np.zeros(len(owners), dtype=np.bool_)
    inside[files] = True
    inside = (owners >= 0) & inside[np.maximum(owners, 0)]
    kept = {int(node) for values in (score, *signals.values()) for node in _best(np.where(inside, values, 0.0), _BEST)}
    nodes = np.flatnonzero(inside & (score > 0))
    order = nodes[np.lexsort((-score[nodes], owners[nodes]))]
    place = np.arange(len(order)) - np.searchsorted(owners[order], owners[order])
    kept |= {int(node) for node in order[place < _BEST_IN_FILE]} | {*files, *gold}
    for node in sorted(kept):
        while parents[node] >= 0 and int(parents[node]) not in kept:
            node = int(parents[node])
            kept.add(node)
    return np.array(sorted(kept), dtype=np.int64)


def _best(values: Scores, most: int) -> NDArray[np.int64]:
    positive = np.flatnonzero(values > 0)
    return positive[np.argsort(-values[positive], kind="stable")[:most]]


def _take(signals: Mapping[Signal, Scores], kept: NDArray[np.int64]) -> dict[Signal, Scores]:
    return {name: values[kept] for name, values in signals.items()}


def _slice_fields(reading: QuerySignals, kept: NDArray[np.int64]) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each field of the signals, arrays over nodes cut down to `kept`."""
    for field in fields(QuerySignals):
        value = getattr(reading, field.name)
        if isinstance(value, np.ndarray):
            yield field.name, value[kept]
        elif isinstance(value, Mapping):
            yield field.name, _take(value, kept)
        else:
            yield field.name, value


def _part(graph: CodeGraph, kept: NDArray[np.int64]) -> CodeGraph:
    """Return a graph of the nodes `kept`, ascending, without edges.

    The file and the parent of each kept node have to be among them.
    """
    nodes = graph.nodes

    def renumber(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        chosen = numbers[kept]
        places: NDArray[np.int32] = np.where(chosen >= 0, np.searchsorted(kept, chosen), -1).astype(np.int32)
        return places

    part = replace(
        nodes,
        ids=nodes.ids.take(kept),
        kinds=nodes.kinds[kept],
        roles=nodes.roles[kept],
        files=renumber(nodes.files),
        parents=renumber(nodes.parents),
        start_bytes=nodes.start_bytes[kept],
        end_bytes=nodes.end_bytes[kept],
        start_rows=nodes.start_rows[kept],
        end_rows=nodes.end_rows[kept],
        signatures=nodes.signatures.take(kept[:0]),
        docs=nodes.docs.take(kept[:0]),
    )
    return CodeGraph(part, _no_edges(len(kept)), ())


def _no_edges(n_nodes: int) -> EdgeTable:
    none, indptr = np.zeros(0, dtype=np.int32), np.zeros(n_nodes + 1, dtype=np.int64)
    small = np.zeros(0, dtype=np.uint8)
    return EdgeTable(
        indptr=indptr,
        sources=none,
        targets=none,
        kinds=small,
        rules=small,
        confidences=np.zeros(0),
        candidates=none,
        counts=none,
        rows=none,
        incoming=none,
        incoming_indptr=indptr,
    )


RIDGE = 1e-3  # of the weights, per question; 3e-4 to 3e-3 cannot be told apart on the development questions
_ROLE_RIDGE = 2e-3  # of the logarithms of the factors of roles
_BY_SCORE = 60  # candidates of a question by the score so far
_BY_SIGNAL = 20  # and by each signal
_START_FACTOR = -1.3  # logarithm of the factor of a role, where the search begins
_SMALLEST_FACTOR = -3.0
_ITERATIONS = 200


@dataclass(frozen=True, slots=True)
class FitCandidates:
    """Candidates of one question, with the values that the weights multiply.

    `values` has the shape (n, signals). `roles` and `kinds` have the shape (n,), -1 if the question asks for the role.
    `gold`, shape (n,), is True for right answers.
    """

    nodes: NDArray[np.int64]
    values: NDArray[np.float64]
    roles: NDArray[np.int64]
    kinds: NDArray[np.int64]
    gold: NDArray[np.bool_]

    @property
    def is_telling(self) -> bool:
        """Return True if it has a right and a wrong answer, so that weights can be learned from it."""
        return bool(self.gold.any() and not self.gold.all())


def candidates(
    signals: Mapping[Signal, Scores],
    names: Sequence[Signal],
    score: Scores,
    fits: NDArray[np.bool_],
    roles: NDArray[np.int64],
    kinds: NDArray[np.int64],
    gold: Sequence[int],
) -> FitCandidates:
    """Return the candidates among the nodes that `fits`; `gold` are node numbers.

    All arrays have the shape (n_nodes,).
    """
    chosen: set[int] = set()
    for values, most in [(score, _BY_SCORE), *((signals[name], _BY_SIGNAL) for name in names)]:
        kept = np.where(fits, values, 0.0)
        best = np.argsort(-kept, kind="stable")[:most]
        chosen.update(int(node) for node in best if kept[node] > 0)
    nodes = np.array(sorted(chosen), dtype=np.int64)
    values = np.stack([signals[name][nodes] for name in names], axis=1) if len(nodes) else np.zeros((0, len(names)))
    return FitCandidates(nodes, values, roles[nodes], kinds[nodes], np.isin(nodes, list(gold)))


@dataclass(frozen=True, slots=True)
class _Shape:
    """Layout of the parameter vector: signals, kinds, logarithms of the role factors."""

    names: tuple[str, ...]
    kinds: tuple[NodeKind, ...]

    @property
    def n_linear(self) -> int:
        return len(self.names) + len(self.kinds)

    def matrix(self, given: FitCandidates) -> NDArray[np.float64]:
        kinds = given.kinds[:, None] == np.array(self.kinds, dtype=np.int64)[None, :]
        joined: NDArray[np.float64] = np.hstack([given.values, kinds.astype(np.float64)])
        return joined

    def parameters(self, given: LinearModel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(weights, logarithms of the factors) that say what `given` says."""
        weights = [given.signals.get(name, 0.0) for name in self.names]
        weights += [given.kind.get(kind.label, 0.0) for kind in self.kinds]
        factors = np.log([given.role.get(role.label, 1.0) for role in Role])
        return np.array(weights), np.clip(factors, _SMALLEST_FACTOR, 0.0)

    def linear(self, parameters: NDArray[np.float64]) -> LinearModel:
        weights = [round(float(v), 4) for v in parameters[: self.n_linear]]
        factors = np.exp(parameters[self.n_linear :])
        return LinearModel(
            dict(zip(self.names, weights, strict=False)),
            {role.label: round(float(factors[role]), 4) for role in Role},
            {kind.label: w for kind, w in zip(self.kinds, weights[len(self.names) :], strict=True) if w > 0},
        )


def fit_linear(
    questions: Sequence[FitCandidates],
    names: Sequence[str],
    *,
    kinds: Sequence[NodeKind] = (),
    start: Mapping[str, float] | None = None,
    ridge: float = RIDGE,
    around: LinearModel | None = None,
) -> LinearModel:
    """Fit the weights of `names`, of `kinds` and of all roles to the right candidates of `questions`.

    The weights maximize the likelihood of the right candidates. With `around`, the penalty applies to the distance from
    those weights, with `ridge` for the factors of roles as well. A few questions then change only the weights that they
    determine.

    Raises ValueError if no question has both a right and a wrong candidate.
    """
    shape = _Shape(tuple(names), tuple(kinds))
    informative = [q for q in questions if q.is_telling]
    if not informative:
        raise ValueError("no question has a right and a wrong candidate")
    first = np.array([(start or {}).get(name, 1.0) for name in names] + [0.0] * len(kinds))
    factors = np.full(len(Role), _START_FACTOR)
    factors[Role.CODE] = 0.0
    center, role_ridge = np.zeros(shape.n_linear + len(Role)), _ROLE_RIDGE
    if around is not None:
        first, factors = shape.parameters(around)
        center, role_ridge = np.concatenate([first, factors]), ridge
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * shape.n_linear
    bounds += [(0.0, 0.0) if role is Role.CODE else (_SMALLEST_FACTOR, 0.0) for role in Role]
    optimum = minimize(
        loss_of,
        np.concatenate([first, factors]),
        args=(_stack_questions(informative, shape), shape.n_linear, Penalty(center, ridge, role_ridge)),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": _ITERATIONS},
    )
    return shape.linear(optimum.x)


def _stack_questions(questions: Sequence[FitCandidates], shape: _Shape) -> StackedCandidates:
    sizes = np.array([len(q.gold) for q in questions])
    gold = np.concatenate([q.gold for q in questions])
    question = np.repeat(np.arange(len(questions)), sizes)
    roles = np.concatenate([q.roles for q in questions])
    return StackedCandidates(
        np.concatenate([shape.matrix(q) for q in questions]),
        (roles[:, None] == np.arange(len(Role))[None, :]).astype(np.float64),
        gold,
        question,
        np.cumsum(sizes) - sizes,
        np.bincount(question[gold], minlength=len(questions)),
    )


# Look-ups and walks: exact where they say anything, so that the few questions that have them must not decide. What an
# embedder says is nothing where none is chosen. What the last pass has of its own comes after both fits.
FIXED = frozenset(
    {
        Signal.LITERAL,
        Signal.FRAME,
        Signal.LOOKED_UP,
        Signal.GRAPH,
        Signal.DENSE,
        Signal.FOUND_FILE,
        Signal.IDENTIFIERS,
        Signal.USES_NAMED,
    }
)
MAX_RANKED_FILES = 100  # ranks beyond do not count
MAX_RANKED_DEFINITIONS = 30
_SCORE_DECIMALS = 12
_NOT_FITTED = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.FIELD)


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its answers.

    `gold_definitions` is empty where only the files are known; names that are in no index stay, so that missing
    them counts. `candidates` are those of definitions.
    """

    reading: CompactSignals
    gold_files: tuple[str, ...]
    gold_definitions: tuple[str, ...]
    candidates: FitCandidates


@dataclass(frozen=True, slots=True)
class GoldRanks:
    """Ranks of the right files, and of the right definitions; empty where none are known."""

    files: Ranks
    definitions: Ranks


def build_example(
    reading: QuerySignals, weights: Weights, gold_files: Sequence[str], gold_definitions: Sequence[str]
) -> Example:
    """Build an example from signals and the right files and definitions, as ids.

    Definitions that are too many to be an answer are left out. `weights` are the start of the fit: they choose which
    nodes are kept.
    """
    definitions = tuple(gold_definitions) if len(gold_definitions) <= MAX_DEFINITIONS else ()
    gold = _numbers([file_id(path) for path in gold_files] + list(definitions), reading.graph)
    kept = compact_signals(reading, weights, gold)
    return Example(kept, tuple(gold_files), definitions, _definition_candidates(kept, weights, definitions))


def fit_weights(examples: Sequence[Example], start: Weights, *, ridge: float = RIDGE, near: bool = False) -> Weights:
    """Fit the weights of definitions and of files to the right answers; the others are those of `start`.

    The weights maximize the likelihood of the right answers. With `near`, the penalty applies to the distance from
    `start` instead of the weights. If no question names a definition, the weights of definitions are those of `start`.

    Raises ValueError if no question has both a right and a wrong candidate, among definitions or among files.
    """
    weights = start
    if not near or any(example.candidates.is_telling for example in examples):
        definition = fit_linear(
            [example.candidates for example in examples],
            _fitted_names(examples[0].reading.of_definitions),
            kinds=DEFINITION_KINDS,
            start=start.definition.signals,
            ridge=ridge,
            around=start.definition if near else None,
        )
        weights = replace(start, definition=_with_fixed(definition, start.definition))
    asked = [_file_candidates(example, weights) for example in examples]
    file = fit_linear(
        [each for each, _ in asked],
        _fitted_names(asked[0][1]),
        start=start.file.signals,
        ridge=ridge,
        around=start.file if near else None,
    )
    return replace(weights, file=_with_fixed(file, start.file))


def ranks_with(example: Example, weights: Weights) -> GoldRanks:
    """Return the ranks of the right answers under given weights of definitions and files, without graph slots."""
    reading, ids = example.reading, example.reading.graph.nodes.ids
    scores = _definition_scores(example, weights)
    files = sum_signals(*file_signals(reading, scores, weights.file))
    signals, role = definition_signals(reading, weights.definition)
    scores = sum_signals(definitions_again(reading, signals, scores, files, weights.definition), role)
    paths = [split_id(ids[node])[0] for node in best(np.where(reading.is_file, files, 0.0), MAX_RANKED_FILES)]
    definitions = [ids[node] for node in best(np.where(reading.is_file, 0.0, scores), MAX_RANKED_DEFINITIONS)]
    return GoldRanks(find_ranks(example.gold_files, paths), find_ranks(example.gold_definitions, definitions))


def best(scores: Scores, most: int) -> list[int]:
    """Return at most so many nodes with a positive score, best first, by number if scores are equal."""
    rounded = np.round(scores, _SCORE_DECIMALS)
    positive = np.flatnonzero(rounded > 0)
    order: list[int] = positive[np.lexsort((positive, -rounded[positive]))][:most].tolist()
    return order


def _definition_scores(example: Example, weights: Weights) -> Scores:
    return sum_signals(*definition_signals(example.reading, weights.definition))


def _fitted_names(signals: Mapping[Signal, Scores]) -> list[Signal]:
    return [name for name in signals if name not in FIXED]


def _with_fixed(fitted: LinearModel, start: LinearModel) -> LinearModel:
    fixed = {name: weight for name, weight in start.signals.items() if name in FIXED}
    return replace(fitted, signals={**fitted.signals, **fixed})


def _definition_candidates(kept: CompactSignals, weights: Weights, gold: Sequence[str]) -> FitCandidates:
    nodes = kept.graph.nodes
    raw = kept.definitions()
    return candidates(
        raw,
        _fitted_names(raw),
        sum_signals(*definition_signals(kept, weights.definition)),
        ~np.isin(nodes.kinds, _NOT_FITTED),
        _roles(kept),
        effective_kinds(kept.graph).astype(np.int64),
        _numbers(gold, kept.graph),
    )


def _file_candidates(example: Example, weights: Weights) -> tuple[FitCandidates, Mapping[Signal, Scores]]:
    """Return the candidates among files under the definition scores of `weights`, and their signals."""
    kept = example.reading
    scores = _definition_scores(example, weights)
    raw = kept.files(scores)
    weighted = {name: values * weights.file.signals.get(name, 0.0) for name, values in raw.items()}
    gold = _numbers([file_id(path) for path in example.gold_files], kept.graph)
    kinds = np.full(len(scores), int(NodeKind.FILE), dtype=np.int64)
    chosen = candidates(
        raw, _fitted_names(raw), sum_signals(weighted, kept.role), kept.is_file, _roles(kept), kinds, gold
    )
    return chosen, raw


def _roles(kept: CompactSignals) -> NDArray[np.int64]:
    roles: NDArray[np.int64] = np.where(kept.asked, -1, kept.graph.nodes.roles.astype(np.int64))
    return roles


def _numbers(ids: Sequence[str], graph: CodeGraph) -> list[int]:
    """Return the numbers of those nodes that exist."""
    nodes = [graph.nodes.ids.position(NodeId(each)) for each in ids]
    return [node for node in nodes if node >= 0]
