"""The graph of an index with what runs saw: edges that are confirmed, added and lowered.

In: a graph, the store, the definitions as they are now. Out: an `ObservedGraph`, which look-ups take in place of the
graph; the index stays as it is. Only calls count of which both definitions are as they were.

- A call that was seen has confidence 1. Without an edge, it gets one, by the rule `observed`.
- Code that ran by way of code from elsewhere (a callback, a decorator of a library, an event loop) gives an edge
  `references` by the rule `observed-through`, or `imports` of a file. It confirms a call that the graph has already.
- A call that no run saw, but that code like its caller makes, has its probability and the rule `observed-alike`.
- A call that was never seen, though its caller ran n times, is lowered by Bayes' rule; see `unseen_confidence`.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import exp, lgamma
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph, Edge, EdgeKind, EdgeTable, Proof, Sighting
from causalist.model.index import Index
from causalist.model.lookup import ObservedStatus
from causalist.model.symbols import TYPE_KINDS, NodeKind, split_id
from causalist.navigate.coverage import TestRecord
from causalist.navigate.implicit_calls import class_of_constructor, find_constructors_run
from causalist.observe.store import CallCount, Freshness, ObservedStore, Version

OBSERVED = "observed"
OBSERVED_THROUGH = "observed-through"
OBSERVED_ALIKE = "observed-alike"
_RULES = (OBSERVED, OBSERVED_THROUGH, OBSERVED_ALIKE)
# Of an edge that stands for a run by way of code from elsewhere: what handed it on may be another one above it.
THROUGH_CONFIDENCE = 0.9
# What is assumed of the share of the runs of a caller that make a call which it does have: 0 with the probability
# NEVER_RUN, because nothing that is observed reaches it, and else Beta(a, b). See docs/benchmarks.md.
CALL_SHARE_A, CALL_SHARE_B = 0.5, 0.5
NEVER_RUN = 0.7


class StaleCall(NamedTuple):
    """A call that was seen before one of the two definitions changed."""

    source: str
    target: str
    seen: Sighting


@dataclass(frozen=True, slots=True)
class ObservedGraph(CodeGraph):
    """A graph with evidence of runs: what was seen and what was proven of an edge, by its number."""

    sightings: Mapping[int, Sighting] = field(default_factory=dict)
    proofs: Mapping[int, Proof] = field(default_factory=dict)

    def edge(self, number: int) -> Edge:
        """Return edge `number` with what was seen and proven of it."""
        return self._with_evidence(number, CodeGraph.edge(self, number))

    def edges_of(self, numbers: NDArray[np.int64]) -> list[Edge]:
        """Return edges as `edge` does, in less time for many."""
        edges = CodeGraph.edges_of(self, numbers)
        return [self._with_evidence(number, edge) for number, edge in zip(numbers.tolist(), edges, strict=True)]

    def _with_evidence(self, number: int, edge: Edge) -> Edge:
        return edge._replace(observed=self.sightings.get(number), proven=self.proofs.get(number))


def unseen_confidence(
    confidence: float, n_runs: int, a: float = CALL_SHARE_A, b: float = CALL_SHARE_B, never: float = NEVER_RUN
) -> float:
    """Return the probability of a call that was not seen in `n_runs` runs of its caller.

    `confidence` is that before. Let t be the share of runs that make the call if there is one: 0 with the probability
    `never`, else with the prior Beta(a, b). Then n runs without it have the probability
    L = never + (1 - never) * B(a, b + n) / B(a, b), and 1 if there is no such call. By Bayes' rule the result is
    confidence * L / (confidence * L + 1 - confidence).

    >>> round(unseen_confidence(0.5, 1), 3), round(unseen_confidence(0.5, 100), 3), unseen_confidence(1.0, 100)
    (0.459, 0.418, 1.0)
    """
    if confidence >= 1.0:
        return confidence
    unlikely = exp(lgamma(b + n_runs) - lgamma(b) + lgamma(a + b) - lgamma(a + b + n_runs))
    unlikely = never + (1.0 - never) * unlikely
    return confidence * unlikely / (confidence * unlikely + 1.0 - confidence)


def observed_graph(index: Index, store: ObservedStore, freshness: Freshness) -> ObservedGraph:
    """Return the graph of the index with what the store has of definitions that are as they were."""
    graph = index.graph
    edges = graph.edges
    confidences = edges.confidences.copy()
    sightings: dict[int, Sighting] = {}
    added: dict[tuple[int, int, int], AddedEdge] = {}
    numbers = EdgeNumbers(graph)
    for call in store.calls.values():
        source, target = graph.nodes.ids.position(call.source.id), graph.nodes.ids.position(call.target.id)
        if source < 0 or target < 0 or not is_current(call, store, freshness):
            continue
        seen = _sighting(call, store)
        if not call.n + call.n_through:
            number = numbers.of(source, target, EdgeKind.CALLS)
            if number >= 0 and seen.n_runs:
                confidences[number] = unseen_confidence(float(edges.confidences[number]), seen.n_runs)
                sightings[number] = seen
            continue
        own = numbers.calls_of(source, target)
        for number in own:
            before = float(confidences[number])
            confidences[number] = 1.0 if call.n else max(before, 1.0 - (1.0 - before) * (1.0 - THROUGH_CONFIDENCE))
            sightings[number] = seen
        if own:
            continue
        is_direct = bool(call.n)
        is_file = graph.kind(target) is NodeKind.FILE
        kind = EdgeKind.CALLS if is_direct else EdgeKind.IMPORTS if is_file else EdgeKind.REFERENCES
        end = as_written(graph, source, target) if is_direct else target
        number = numbers.of(source, end, kind)
        confidence = 1.0 if is_direct else THROUGH_CONFIDENCE
        if number >= 0:
            confidences[number] = max(float(confidences[number]), confidence)
            sightings[number] = seen
        else:
            rule = OBSERVED if is_direct else OBSERVED_THROUGH
            added.setdefault((source, end, int(kind)), AddedEdge(confidence, call.row, rule, seen))
    alike = _add_likely(graph, store, freshness, numbers, confidences, sightings, added)
    return _merge(graph, confidences, sightings, added, alike)


def _add_likely(
    graph: CodeGraph,
    store: ObservedStore,
    freshness: Freshness,
    numbers: "EdgeNumbers",
    confidences: NDArray[np.float64],
    sightings: Mapping[int, Sighting],
    added: "dict[tuple[int, int, int], AddedEdge]",
) -> set[int]:
    """Add the likely calls to `added`; return the numbers of weaker edges that are raised to them."""
    raised = set[int]()
    for call in store.likely:
        source, target = graph.nodes.ids.position(call.source.id), graph.nodes.ids.position(call.target.id)
        versions = call.source, call.target
        if min(source, target) < 0 or not all(freshness.is_current(v, store.blobs.get(v, "")) for v in versions):
            continue
        own = numbers.calls_of(source, target)
        if not own:
            key = source, as_written(graph, source, target), int(EdgeKind.CALLS)
            if numbers.of(source, key[1], EdgeKind.CALLS) < 0:
                added.setdefault(key, AddedEdge(call.probability, -1, OBSERVED_ALIKE, None))
        for number in own:
            if number not in sightings and confidences[number] < call.probability:
                confidences[number] = call.probability
                raised.add(number)
    return raised


def stale_calls(store: ObservedStore, freshness: Freshness) -> Iterator[StaleCall]:
    """Yield the calls that were seen before one of their definitions changed, by source and target."""
    for _, call in sorted(store.calls.items()):
        if call.n + call.n_through and not is_current(call, store, freshness):
            yield StaleCall(call.source.id, call.target.id, _sighting(call, store))


def test_records(index: Index, store: ObservedStore, freshness: Freshness) -> dict[int, TestRecord]:
    """Return what is known of each test that was recorded and still exists, by its node."""
    ids, found = index.graph.nodes.ids, dict[int, TestRecord]()

    def is_as_it_was(version: Version) -> bool:
        if version not in known:
            known[version] = freshness.is_current(version, store.blobs.get(version, ""))
        return known[version]

    known: dict[Version, bool] = {}
    for test, ran in store.tests.values():
        node = ids.position(test.id)
        if node >= 0:
            nodes = {position: is_as_it_was(each) for each in ran if (position := ids.position(each.id)) >= 0}
            found[node] = TestRecord(is_as_it_was(test), nodes)
    return found


def changed_paths(index: Index, store: ObservedStore) -> frozenset[str]:
    """Return the paths of Python files that changed, or came, since they were last recorded; others never ran."""
    recorded: dict[str, set[str]] = {}
    for version, blob in store.blobs.items():
        recorded.setdefault(split_id(version.id)[0], set()).add(blob)
    manifest = index.manifest
    return frozenset(
        path
        for path, blob in zip(manifest.paths, manifest.blobs, strict=True)
        if path in recorded and blob not in recorded[path]
    )


def count_observed(graph: ObservedGraph, store: ObservedStore, n_stale: int) -> ObservedStatus:
    """Return counts of what the store has and what the graph takes of it."""
    rules = graph.edges.rules
    known = {number: graph.rule_names[int(rules[number])] not in _RULES for number in graph.sightings}
    is_seen = {number: bool(each.n + each.n_through) for number, each in graph.sightings.items()}
    return ObservedStatus(
        tuple(store.runs),
        sum(bool(call.n) for call in store.calls.values()),
        sum(bool(call.n_through) and not call.n for call in store.calls.values()),
        sum(is_seen[number] for number, is_known in known.items() if is_known),
        sum(not is_known for is_known in known.values()),
        sum(not seen for seen in is_seen.values()),
        n_stale,
        len(store.tests),
    )


def is_current(call: CallCount, store: ObservedStore, freshness: Freshness) -> bool:
    """Return True if both definitions of a call are as they were."""
    return all(freshness.is_current(each, store.blobs.get(each, "")) for each in (call.source, call.target))


def _sighting(call: CallCount, store: ObservedStore) -> Sighting:
    run = store.runs[call.run]
    version, n_runs = store.n_runs.get(call.source.id, (call.source, 0))
    return Sighting(call.n, call.n_through, n_runs if version == call.source else 0, run.time, run.command)


class EdgeNumbers:
    """Numbers of edges by their ends and kind."""

    def __init__(self, graph: CodeGraph) -> None:
        self._graph = graph
        self._constructors: dict[int, frozenset[int]] = {}

    def of(self, source: int, target: int, kind: EdgeKind) -> int:
        """Return the number of an edge, -1 for none."""
        edges = self._graph.edges
        for number in self._graph.outgoing(source):
            if edges.targets[number] == target and edges.kinds[number] == kind:
                return number
        return -1

    def calls_of(self, source: int, target: int) -> list[int]:
        """Return the numbers of the calls of a target, or of classes whose constructor it is."""
        edges, kinds = self._graph.edges, self._graph.nodes.kinds
        found = []
        is_constructor = class_of_constructor(self._graph, target) >= 0
        for number in self._graph.outgoing(source):
            if edges.kinds[number] == EdgeKind.CALLS:
                end = int(edges.targets[number])
                is_made = is_constructor and kinds[end] in TYPE_KINDS and target in self._constructors_of(end)
                if end == target or is_made:
                    found.append(number)
        return found

    def _constructors_of(self, owner: int) -> frozenset[int]:
        if owner not in self._constructors:
            self._constructors[owner] = frozenset(find_constructors_run(self._graph, [owner]))
        return self._constructors[owner]


def as_written(graph: CodeGraph, source: int, target: int) -> int:
    """Return the class of a constructor that something other than a constructor calls, else the target."""
    owner = class_of_constructor(graph, target)
    return owner if owner >= 0 and class_of_constructor(graph, source) < 0 else target


class AddedEdge(NamedTuple):
    """An edge that the graph does not have, and what runs saw of it. `row` as in `EdgeTable`."""

    confidence: float
    row: int
    rule: str
    seen: Sighting | None = None


def merge_edges(
    graph: CodeGraph,
    confidences: NDArray[np.float64],
    added: Mapping[tuple[int, int, int], AddedEdge],
    new_rules: tuple[str, ...],
    changed_rules: Mapping[int, str] = MappingProxyType({}),
) -> tuple[EdgeTable, tuple[str, ...], list[int], dict[tuple[int, int, int], int]]:
    """Return edges with other confidences, other rules and more of them, by (source, target, kind).

    The result is (the edges, the names of rules, the new number of each old edge, the numbers of the added ones).
    """
    edges, n = graph.edges, len(graph.edges)
    new = sorted(added)
    rules = (*graph.rule_names, *new_rules)
    number_of = {rule: len(graph.rule_names) + i for i, rule in enumerate(new_rules)}
    old_rules = edges.rules.copy()
    for number, rule in changed_rules.items():
        old_rules[number] = number_of[rule]
    sources = np.concatenate([edges.sources, np.array([key[0] for key in new], dtype=np.int32)])
    targets = np.concatenate([edges.targets, np.array([key[1] for key in new], dtype=np.int32)])
    kinds = np.concatenate([edges.kinds, np.array([key[2] for key in new], dtype=np.uint8)])
    numbers = [number_of[added[key].rule] for key in new]
    order = np.lexsort((kinds, targets, sources))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    indptr = np.zeros(len(graph.nodes) + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources, minlength=len(graph.nodes)), out=indptr[1:])
    incoming_indptr = np.zeros(len(graph.nodes) + 1, dtype=np.int64)
    np.cumsum(np.bincount(targets, minlength=len(graph.nodes)), out=incoming_indptr[1:])

    def with_new(
        old: np.ndarray[tuple[int], np.dtype[np.int32]], values: list[int]
    ) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.concatenate([old, np.array(values, dtype=old.dtype)])[order]

    table = EdgeTable(
        indptr,
        sources[order],
        targets[order],
        kinds[order],
        np.concatenate([old_rules, np.array(numbers, dtype=np.uint8)])[order],
        np.concatenate([confidences, np.array([added[key].confidence for key in new])])[order],
        with_new(edges.candidates, [1] * len(new)),
        with_new(edges.counts, [1] * len(new)),
        with_new(edges.rows, [added[key].row for key in new]),
        np.lexsort((kinds[order], sources[order], targets[order])).astype(edges.incoming.dtype),
        incoming_indptr,
    )
    return table, rules, place[:n].tolist(), {key: int(place[n + i]) for i, key in enumerate(new)}


def _merge(
    graph: CodeGraph,
    confidences: NDArray[np.float64],
    sightings: Mapping[int, Sighting],
    added: Mapping[tuple[int, int, int], AddedEdge],
    alike: Collection[int],
) -> ObservedGraph:
    """Return the graph with other confidences and more edges; those of `alike` have another rule."""
    table, rules, places, numbers = merge_edges(graph, confidences, added, _RULES, dict.fromkeys(alike, OBSERVED_ALIKE))
    seen = {places[number]: sighting for number, sighting in sightings.items()}
    seen |= {number: each for key, number in numbers.items() if (each := added[key].seen) is not None}
    return ObservedGraph(graph.nodes, table, rules, graph.unresolved, seen)
