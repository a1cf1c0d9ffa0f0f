"""Question and repository -> compact signals by which weights are judged, for hundreds of questions.

A reading holds an array of all nodes for every signal. Weights can only move what is near the top of one of them, so
that the files which lead by any signal are kept, with what leads in them, and the rest is dropped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.index.source_text import SourceText
from causalist.model.graph import CodeGraph, EdgeTable
from causalist.model.scores import Signal
from causalist.pipeline.repository import Repository
from causalist.pipeline.text_search import find_all_matches
from causalist.rank import Weights, parse_query, with_corpus_spelling
from causalist.rank.scoring.fusion import definition_signals, sum_signals
from causalist.rank.scoring.signals import QuerySignals, Scores, compute_signals

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
    given = dict(_sliced(reading, kept))
    given["graph"] = _part(reading.graph, kept)
    return CompactSignals(**given, of_files=_taken(of_files, kept), of_definitions=_taken(of_definitions, kept))


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
    found = np.flatnonzero(inside & (score > 0))
    order = found[np.lexsort((-score[found], owners[found]))]
    place = np.arange(len(order)) - np.searchsorted(owners[order], owners[order])
    kept |= {int(node) for node in order[place < _BEST_IN_FILE]} | {*files, *gold}
    for node in sorted(kept):
        while parents[node] >= 0 and int(parents[node]) not in kept:
            node = int(parents[node])
            kept.add(node)
    return np.array(sorted(kept), dtype=np.int64)


def _best(values: Scores, most: int) -> NDArray[np.int64]:
    found = np.flatnonzero(values > 0)
    return found[np.argsort(-values[found], kind="stable")[:most]]


def _taken(signals: Mapping[Signal, Scores], kept: NDArray[np.int64]) -> dict[Signal, Scores]:
    return {name: values[kept] for name, values in signals.items()}


def _sliced(reading: QuerySignals, kept: NDArray[np.int64]) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each field of the signals, arrays over nodes cut down to `kept`."""
    for field in fields(QuerySignals):
        value = getattr(reading, field.name)
        if isinstance(value, np.ndarray):
            yield field.name, value[kept]
        elif isinstance(value, Mapping):
            yield field.name, _taken(value, kept)
        else:
            yield field.name, value


def _part(graph: CodeGraph, kept: NDArray[np.int64]) -> CodeGraph:
    """Return a graph of the nodes `kept`, ascending, without edges.

    The file and the parent of each kept node have to be among them.
    """
    nodes = graph.nodes

    def renumbered(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        chosen = numbers[kept]
        places: NDArray[np.int32] = np.where(chosen >= 0, np.searchsorted(kept, chosen), -1).astype(np.int32)
        return places

    part = replace(
        nodes,
        ids=nodes.ids.take(kept),
        kinds=nodes.kinds[kept],
        roles=nodes.roles[kept],
        files=renumbered(nodes.files),
        parents=renumbered(nodes.parents),
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
