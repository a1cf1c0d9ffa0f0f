"""Questions with their right answers, read against their repositories -> fitted weights, and what weights make of them.

The weights of definitions are fitted first; with these, those of files. The first pass and what is fixed by hand stay
as they are. Which signals there are is what a reading says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from causalist.evaluate.fit import RIDGE, Candidates, candidates, fit_linear
from causalist.evaluate.gold import DEFINITION_KINDS, MOST_DEFINITIONS
from causalist.evaluate.metrics import Ranks
from causalist.evaluate.readings import Kept, kept_of
from causalist.evaluate.snapshots import ranks_of
from causalist.model.graph import CodeGraph
from causalist.model.symbols import NodeId, NodeKind, file_id, split_id
from causalist.rank import Linear, Weights
from causalist.rank.scoring.fusion import definition_signals, definitions_again, file_signals, first_scores, summed
from causalist.rank.scoring.signals import Reading, Scores, kinds_as_judged

# Look-ups and walks: exact where they say anything, so that the few questions that have them must not decide. What an
# embedder says is nothing where none is chosen. What the last pass has of its own comes after both fits.
FIXED = frozenset(
    {"literal", "frame", "looked up", "graph", "dense", "found file", "named around", "identifiers", "uses named"}
)
DEEPEST_FILES = 100  # of a list of files
DEEPEST_DEFINITIONS = 30
_SCORE_DECIMALS = 12
_NOT_FITTED = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.FIELD)


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its answers. `gold_definitions` is empty where only the files are known; names that are in no
    index stay, so that missing them counts. `candidates` are those of definitions."""

    reading: Kept
    first: Scores
    gold_files: tuple[str, ...]
    gold_definitions: tuple[str, ...]
    candidates: Candidates


@dataclass(frozen=True, slots=True)
class Found:
    """Ranks of the right files, and of the right definitions; empty where none are known."""

    files: Ranks
    definitions: Ranks


def example_of(
    reading: Reading, weights: Weights, gold_files: Sequence[str], gold_definitions: Sequence[str]
) -> Example:
    """`gold_definitions`: ids; where they are too many to be an answer, they are left out. `weights` are those to
    start from: they choose what is kept."""
    definitions = tuple(gold_definitions) if len(gold_definitions) <= MOST_DEFINITIONS else ()
    gold = _numbers([file_id(path) for path in gold_files] + list(definitions), reading.graph)
    kept = kept_of(reading, weights, gold)
    first = first_scores(kept, weights.first)
    return Example(
        kept, first, tuple(gold_files), definitions, _definition_candidates(kept, first, weights, definitions)
    )


def fit_weights(examples: Sequence[Example], start: Weights, *, ridge: float = RIDGE, near: bool = False) -> Weights:
    """The weights of definitions and of files that make the right answers likeliest; the rest is that of `start`.

    With `near`, it is the distance from `start` that is kept small, and not the weights. Where no question names a
    definition, their weights are then those of `start`.

    Raises ValueError where no question can teach anything, of definitions or of files."""
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


def ranks_with(example: Example, weights: Weights) -> Found:
    """Where the right answers stand by some weights of definitions and files, without the places of the graph."""
    reading, ids = example.reading, example.reading.graph.nodes.ids
    scores = _definition_scores(example, weights)
    files = summed(*file_signals(reading, scores, weights.file))
    signals, role = definition_signals(reading, example.first, weights.definition)
    scores = summed(definitions_again(reading, signals, scores, files, weights.definition), role)
    paths = [split_id(ids[node])[0] for node in best(np.where(reading.is_file, files, 0.0), DEEPEST_FILES)]
    found = [ids[node] for node in best(np.where(reading.is_file, 0.0, scores), DEEPEST_DEFINITIONS)]
    return Found(ranks_of(example.gold_files, paths), ranks_of(example.gold_definitions, found))


def first_ranks(example: Example) -> Found:
    """Where the right files stand after the first pass, whose weights are chosen by hand; it ranks no definitions."""
    ids = example.reading.graph.nodes.ids
    order = best(np.where(example.reading.is_file, example.first, 0.0), DEEPEST_FILES)
    return Found(ranks_of(example.gold_files, [split_id(ids[node])[0] for node in order]), ())


def best(scores: Scores, most: int) -> list[int]:
    """At most so many nodes with a positive score, best first, by number where scores are equal."""
    rounded = np.round(scores, _SCORE_DECIMALS)
    found = np.flatnonzero(rounded > 0)
    order: list[int] = found[np.lexsort((found, -rounded[found]))][:most].tolist()
    return order


def _definition_scores(example: Example, weights: Weights) -> Scores:
    return summed(*definition_signals(example.reading, example.first, weights.definition))


def _fitted_names(signals: Mapping[str, Scores]) -> list[str]:
    return [name for name in signals if name not in FIXED]


def _with_fixed(fitted: Linear, start: Linear) -> Linear:
    fixed = {name: weight for name, weight in start.signals.items() if name in FIXED}
    return replace(fitted, signals={**fitted.signals, **fixed})


def _definition_candidates(kept: Kept, first: Scores, weights: Weights, gold: Sequence[str]) -> Candidates:
    nodes = kept.graph.nodes
    raw = kept.definitions(first)
    return candidates(
        raw,
        _fitted_names(raw),
        summed(*definition_signals(kept, first, weights.definition)),
        ~np.isin(nodes.kinds, _NOT_FITTED),
        _roles(kept),
        kinds_as_judged(kept.graph).astype(np.int64),
        _numbers(gold, kept.graph),
    )


def _file_candidates(example: Example, weights: Weights) -> tuple[Candidates, Mapping[str, Scores]]:
    """The candidates among files with the scores of definitions that `weights` give, and their signals."""
    kept = example.reading
    scores = _definition_scores(example, weights)
    raw = kept.files(scores)
    weighted = {name: values * weights.file.signals.get(name, 0.0) for name, values in raw.items()}
    gold = _numbers([file_id(path) for path in example.gold_files], kept.graph)
    kinds = np.full(len(scores), int(NodeKind.FILE), dtype=np.int64)
    chosen = candidates(raw, _fitted_names(raw), summed(weighted, kept.role), kept.is_file, _roles(kept), kinds, gold)
    return chosen, raw


def _roles(kept: Kept) -> NDArray[np.int64]:
    roles: NDArray[np.int64] = np.where(kept.asked, -1, kept.graph.nodes.roles.astype(np.int64))
    return roles


def _numbers(ids: Sequence[str], graph: CodeGraph) -> list[int]:
    """Numbers of those nodes that are there."""
    found = [graph.nodes.ids.position(NodeId(each)) for each in ids]
    return [node for node in found if node >= 0]
