"""Observed calls beside the index: complete, or as they were before; and the graph with them.

`observed.jsonl` has two lines: the format and the CRC-32 of the second one, and a JSON document. It is written under
another name and renamed over the old file, under a lock. The index does not depend on it.

Each call keeps the hashes of both definitions as they were when it was seen, so that one whose definition changed since
is known to be stale. Calls of the graph that a caller never made while it ran are kept with count 0: they existed then.

`observed_graph` makes an `ObservedGraph` of a graph, the store and the definitions as they are now. Look-ups take it in
place of the graph; the index stays as it is. Only calls count of which both definitions are as they were.

- A call that was seen has confidence 1. Without an edge, it gets one, by the rule `observed`.
- Code that ran by way of code from elsewhere (a callback, a decorator of a library, an event loop) gives an edge
  `references` by the rule `observed-through`, or `imports` of a file. It confirms a call that the graph has already.
- A call that no run saw, but that code like its caller makes, has its probability and the rule `observed-alike`.
- A call that was never seen, though its caller ran n times, is lowered by Bayes' rule; see `unseen_confidence`.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import exp, lgamma
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from causalist.index.source_text import SourceText
from causalist.model.graph import CodeGraph, Edge, EdgeKind, EdgeTable, Proof, Sighting
from causalist.model.index import Index
from causalist.model.lookup import ObservedRun, ObservedStatus
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, split_id
from causalist.navigate.coverage import TestRecord
from causalist.navigate.implicit_calls import class_of_constructor, find_constructors_run
from causalist.observe.command_runs import ObservedCalls, RunFolder, abandoned_runs, delete_run, read_run
from causalist.observe.likely_calls import likely_calls
from causalist.store import OBSERVED_LOCK, OBSERVED_NAME, delete_data_file, hold_data_file
from causalist.store.index_folder import replace_file

FORMAT_VERSION = 1
MAX_RUNS = 200  # that are remembered by their command
_MAX_BYTES = 512 << 20
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_Store = TypeVar("_Store")


class Version(NamedTuple):
    """A definition as it was: its id and the hash of its text."""

    id: str
    hash: str


class CallCount(NamedTuple):
    """Calls of one version of a definition by another, 0 for one that the graph has and no run made.

    `n_through` counts those by way of code from elsewhere. `row` is the 0-based row of one, -1 if unknown. `run` is the
    position of the last run that saw one, or that saw none.
    """

    source: Version
    target: Version
    n: int
    n_through: int
    row: int
    run: int


class LikelyCall(NamedTuple):
    """A call that no run saw, with the probability that one version of a definition makes it of another."""

    source: Version
    target: Version
    probability: float


@dataclass(slots=True)
class ObservedStore:
    """Calls that runs saw. Definitions in `calls`, `n_runs` and `tests` are known by id; later versions replace."""

    runs: list[ObservedRun] = field(default_factory=list)
    blobs: dict[Version, str] = field(default_factory=dict)  # the file in which a version was seen
    n_runs: dict[str, tuple[Version, int]] = field(default_factory=dict)  # starts of callables
    calls: dict[tuple[str, str], CallCount] = field(default_factory=dict)
    tests: dict[str, tuple[Version, tuple[Version, ...]]] = field(default_factory=dict)  # what ran in each
    likely: list[LikelyCall] = field(default_factory=list)  # by source and target


class Freshness:
    """Hashes of definitions as they are now. `texts` reads the files of the index."""

    def __init__(self, index: Index, texts: SourceText) -> None:
        self._index = index
        self._texts = texts
        self._hashes: dict[str, str] = {}
        self._data: dict[str, bytes] = {}
        self._blobs = dict(zip(index.manifest.paths, index.manifest.blobs, strict=True))

    def is_current(self, version: Version, blob: str) -> bool:
        """Return True if a definition is as it was: its file is the same, or else its own text."""
        path = split_id(version.id)[0]
        if blob and self._blobs.get(path) == blob:
            return True
        return bool(version.hash) and self.hash_of(version.id) == version.hash

    def blob_of(self, node_id: str) -> str:
        """Return the name of the content of a definition's file, "" for none."""
        return self._blobs.get(split_id(node_id)[0], "")

    def hash_of(self, node_id: str) -> str:
        """Return the hash of the text of a definition with line feeds only, "" if there is none."""
        if node_id not in self._hashes:
            text = self.text_of(node_id).replace(b"\r\n", b"\n")
            self._hashes[node_id] = hashlib.sha256(text).hexdigest()[:16] if text else ""
        return self._hashes[node_id]

    def version_of(self, node_id: str) -> Version:
        """Return a definition as it is now."""
        return Version(node_id, self.hash_of(node_id))

    def text_of(self, node_id: str) -> bytes:
        """Return the text of a definition, all of a file; b"" if there is none or the file changed since."""
        nodes = self._index.graph.nodes
        node, path = nodes.ids.position(node_id), split_id(node_id)[0]
        if node < 0 or path not in self._blobs:
            return b""
        if path not in self._data:
            self._data[path] = self._texts.read_bytes(path)
        data = self._data[path]
        return data if nodes.files[node] == node else data[int(nodes.start_bytes[node]) : int(nodes.end_bytes[node])]


def take_up_runs(folder: Path, index: Index, texts: SourceText) -> tuple[ObservedRun, ...]:
    """Put the ended runs below the folder of an index into its store and delete them; return them.

    A run that ends between the two is not counted twice. Raises IndexNotWritable; then all is as it was.
    """
    with hold_data_file(folder / OBSERVED_NAME, OBSERVED_LOCK):
        waiting = abandoned_runs(folder)
        if not waiting:
            return ()
        store = read_store((folder,)) or ObservedStore()
        done = {run.name for run in store.runs}
        freshness = Freshness(index, texts)
        taken = []
        for run in waiting:
            if run.folder.name not in done:
                add_run(store, run, read_run(run, index), index, freshness)
                taken.append(store.runs[-1])
        if taken:
            add_likely_calls(store, index.graph, freshness)
            replace_file(folder / OBSERVED_NAME, _encode(store))
        for run in waiting:
            delete_run(run)
    return tuple(taken)


def forget(folder: Path) -> bool:
    """Delete what was observed; return True if there was anything. Raises IndexNotWritable."""
    path = folder / OBSERVED_NAME
    with hold_data_file(path, OBSERVED_LOCK):
        waiting = abandoned_runs(folder)
        for run in waiting:
            delete_run(run)
        return delete_data_file(path) or bool(waiting)


def add_run(store: ObservedStore, run: RunFolder, seen: ObservedCalls, index: Index, freshness: Freshness) -> None:
    """Add the calls of a run to the store."""
    ids, number = index.graph.nodes.ids, len(store.runs)
    store.runs.append(ObservedRun(run.folder.name, run.command, run.time, seen.n_processes))

    def version(node: int) -> Version:
        version_now = freshness.version_of(ids[node])
        store.blobs[version_now] = freshness.blob_of(ids[node])
        return version_now

    for node, n in sorted(seen.n_runs.items()):
        own = version(node)
        before, n_before = store.n_runs.get(own.id, (own, 0))
        store.n_runs[own.id] = own, n + (n_before if before == own else 0)
    pairs = sorted(seen.direct.keys() | seen.through.keys())
    for source, target in [*pairs, *sorted(_calls_not_made(index.graph, seen, freshness))]:
        pair = source, target
        n, n_through = seen.direct.get(pair, 0), seen.through.get(pair, 0)
        added = CallCount(version(source), version(target), n, n_through, seen.rows.get(pair, -1), number)
        earlier = store.calls.get((ids[source], ids[target]))
        if earlier is not None and earlier[:2] == added[:2]:
            if not n + n_through and earlier.n + earlier.n_through:
                continue  # seen before
            added = added._replace(
                n=n + earlier.n,
                n_through=n_through + earlier.n_through,
                row=added.row if added.row >= 0 else earlier.row,
            )
        store.calls[ids[source], ids[target]] = added
    for test, ran in sorted(seen.tests.items()):
        own = version(test)
        versions = {version(node) for node in sorted(ran)}
        known_test = store.tests.get(own.id)
        if known_test is not None and known_test[0] == own:
            changed = {each.id for each in versions}
            versions |= {each for each in known_test[1] if each.id not in changed}
        store.tests[own.id] = own, tuple(sorted(versions))


def add_likely_calls(store: ObservedStore, graph: CodeGraph, freshness: Freshness) -> None:
    """Replace the likely calls of the store by those that follow from what it has of definitions as they are now."""
    ids = graph.nodes.ids

    def is_as_it_was(version: Version) -> bool:
        return ids.position(version.id) >= 0 and freshness.is_current(version, store.blobs.get(version, ""))

    current = [call for call in store.calls.values() if is_as_it_was(call.source) and is_as_it_was(call.target)]
    seen = {(ids.position(call.source.id), ids.position(call.target.id)) for call in current if call.n}
    ran = {ids.position(version.id) for version, _ in store.n_runs.values() if is_as_it_was(version)}
    ran |= {ids.position(call.target.id) for call in current if call.n_through and "::" not in call.target.id}
    likely = likely_calls(graph, lambda node: freshness.text_of(ids[node]), seen, ran)
    store.likely = [
        LikelyCall(freshness.version_of(ids[source]), freshness.version_of(ids[target]), probability)
        for (source, target), probability in sorted(likely.items())
    ]
    for call in store.likely:
        for version in call[:2]:
            store.blobs[version] = freshness.blob_of(version.id)


def _calls_not_made(graph: CodeGraph, seen: ObservedCalls, freshness: Freshness) -> set[tuple[int, int]]:
    """Return the calls of functions that the graph has for a function that ran, and that were not seen.

    Those that would not be seen as calls of their caller are left out: what is decorated may run below its wrapper, and
    the body of a generator or coroutine where that is iterated over.
    """
    edges, kinds = graph.edges, graph.nodes.kinds
    numbers = graph.edges_out_of(np.array(sorted(seen.n_runs), dtype=np.int64))
    is_call = (edges.kinds[numbers] == EdgeKind.CALLS) & np.isin(kinds[edges.targets[numbers]], sorted(CALLABLE_KINDS))
    numbers = numbers[is_call]
    pairs = set(zip(edges.sources[numbers].tolist(), edges.targets[numbers].tolist(), strict=True))
    pairs -= seen.direct.keys() | seen.through.keys()
    texts = {target: freshness.text_of(graph.nodes.ids[target]).lstrip() for _, target in pairs}
    aside = {target for target, text in texts.items() if text.startswith((b"@", b"async ")) or b"yield" in text}
    return {pair for pair in pairs if pair[1] not in aside}


def read_store(folders: Sequence[Path]) -> ObservedStore | None:
    """Return the content of the first folder that has the file; None if no folder has it or it is damaged."""
    return read_evidence(folders, OBSERVED_NAME, FORMAT_VERSION, _decode)


def read_evidence(
    folders: Sequence[Path], name: str, format_version: int, decode: Callable[[Any], _Store]
) -> _Store | None:
    """Return the decoded file `name` of the first of the folders that has one; None if none has, or it is damaged."""
    for folder in folders:
        with suppress(OSError):
            descriptor = os.open(folder / name, _OPEN_FLAGS)
            with os.fdopen(descriptor, "rb") as file:
                head, _, body = file.read(_MAX_BYTES).partition(b"\n")
            with suppress(ValueError, KeyError, TypeError, IndexError, RecursionError):
                about = json.loads(head)
                if about["format"] == format_version and about["checksum"] == zlib.crc32(body):
                    return decode(json.loads(body))
            return None
    return None


def encode_evidence(document: Mapping[str, Any], format_version: int) -> bytes:
    """Return the bytes that `read_evidence` reads: format and CRC-32 on the first line, the document on the second."""
    body = json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n"
    return json.dumps({"format": format_version, "checksum": zlib.crc32(body)}).encode("ascii") + b"\n" + body


def _encode(store: ObservedStore) -> bytes:
    used = {store.runs[call.run] for call in store.calls.values()}
    kept = [run for i, run in enumerate(store.runs) if run in used or i >= len(store.runs) - MAX_RUNS]
    places = {run: i for i, run in enumerate(kept)}
    blobs = {blob: i for i, blob in enumerate(sorted(set(store.blobs.values())))}
    named = {each for call in store.calls.values() for each in call[:2]}
    named |= {version for version, _ in store.n_runs.values()}
    named |= {each for test, ran in store.tests.values() for each in (test, *ran)}
    named |= {each for call in store.likely for each in call[:2]}
    versions = {version: i for i, version in enumerate(sorted(named))}
    document: dict[str, Any] = {
        "runs": kept,
        "blobs": list(blobs),
        "definitions": [[*version, blobs.get(store.blobs.get(version, ""), -1)] for version in versions],
        "n_runs": sorted([versions[version], n] for version, n in store.n_runs.values()),
        "calls": sorted(
            [
                versions[call.source],
                versions[call.target],
                call.n,
                call.n_through,
                call.row,
                places[store.runs[call.run]],
            ]
            for call in store.calls.values()
        ),
        "tests": sorted([versions[test], [versions[each] for each in ran]] for test, ran in store.tests.values()),
        "likely": sorted([versions[call.source], versions[call.target], call.probability] for call in store.likely),
    }
    return encode_evidence(document, FORMAT_VERSION)


def _decode(document: Any) -> ObservedStore:
    store, blobs = ObservedStore(), document["blobs"]
    store.runs = [
        ObservedRun(str(name), str(command), int(time), int(n)) for name, command, time, n in document["runs"]
    ]
    versions = [Version(str(each[0]), str(each[1])) for each in document["definitions"]]
    store.blobs = {
        version: str(blobs[each[2]]) if each[2] >= 0 else ""
        for version, each in zip(versions, document["definitions"], strict=True)
    }
    store.n_runs = {versions[number].id: (versions[number], int(n)) for number, n in document["n_runs"]}
    for source, target, n, n_through, row, run in document["calls"]:
        call = CallCount(versions[source], versions[target], int(n), int(n_through), int(row), int(run))
        store.runs[call.run]
        store.calls[call.source.id, call.target.id] = call
    store.tests = {
        versions[test].id: (versions[test], tuple(versions[each] for each in ran)) for test, ran in document["tests"]
    }
    store.likely = [
        LikelyCall(versions[source], versions[target], float(probability))
        for source, target, probability in document.get("likely", ())
    ]
    return store


OBSERVED = "observed"
OBSERVED_THROUGH = "observed-through"
OBSERVED_ALIKE = "observed-alike"
_RULES = (OBSERVED, OBSERVED_THROUGH, OBSERVED_ALIKE)
# Of an edge that stands for a run by way of code from elsewhere: what handed it on may be another one above it.
THROUGH_CONFIDENCE = 0.9
# Prior of the share of the runs of a caller that make a call in its code: 0 with the probability NEVER_RUN, for calls
# that no observed run reaches, and else Beta(a, b). See docs/benchmarks.md.
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
        end = find_written_target(graph, source, target) if is_direct else target
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
            key = source, find_written_target(graph, source, target), int(EdgeKind.CALLS)
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
    ids, record_by_node = index.graph.nodes.ids, dict[int, TestRecord]()

    def is_as_it_was(version: Version) -> bool:
        if version not in is_current_by_version:
            is_current_by_version[version] = freshness.is_current(version, store.blobs.get(version, ""))
        return is_current_by_version[version]

    is_current_by_version: dict[Version, bool] = {}
    for test, ran in store.tests.values():
        node = ids.position(test.id)
        if node >= 0:
            nodes = {position: is_as_it_was(each) for each in ran if (position := ids.position(each.id)) >= 0}
            record_by_node[node] = TestRecord(is_as_it_was(test), nodes)
    return record_by_node


def changed_paths(
    index: Index, store: ObservedStore, before: Mapping[str, str] = MappingProxyType({})
) -> frozenset[str]:
    """Return the paths of files that changed, or came, since they were last recorded; others never ran.

    `before` are blobs by path that count like those of now.
    """
    recorded: dict[str, set[str]] = {}
    for version, blob in store.blobs.items():
        recorded.setdefault(split_id(version.id)[0], set()).add(blob)
    manifest = index.manifest
    return frozenset(
        path
        for path, blob in zip(manifest.paths, manifest.blobs, strict=True)
        if path in recorded and blob not in recorded[path] and before.get(path) not in recorded[path]
    )


def list_killed(folder: Path, store: ObservedStore) -> Iterator[ObservedRun]:
    """Yield the runs below the folder of an index that ended before their calls were put into its store."""
    stored = {run.name for run in store.runs}
    for run in abandoned_runs(folder):
        if run.folder.name not in stored:
            yield ObservedRun(run.folder.name, run.command, run.time, sum(1 for _ in run.folder.glob("*.rec")))


def count_observed(graph: CodeGraph, store: ObservedStore, n_stale: int) -> ObservedStatus:
    """Return counts of what the store has and what the graph takes of it."""
    rules, sightings = graph.edges.rules, graph.sightings if isinstance(graph, ObservedGraph) else {}
    is_known_by_edge = {number: graph.rule_names[int(rules[number])] not in _RULES for number in sightings}
    is_seen = {number: bool(each.n + each.n_through) for number, each in sightings.items()}
    return ObservedStatus(
        tuple(store.runs),
        sum(bool(call.n) for call in store.calls.values()),
        sum(bool(call.n_through) and not call.n for call in store.calls.values()),
        sum(is_seen[number] for number, is_known in is_known_by_edge.items() if is_known),
        sum(not is_known for is_known in is_known_by_edge.values()),
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
        numbers = []
        is_constructor = class_of_constructor(self._graph, target) >= 0
        for number in self._graph.outgoing(source):
            if edges.kinds[number] == EdgeKind.CALLS:
                end = int(edges.targets[number])
                is_made = is_constructor and kinds[end] in TYPE_KINDS and target in self._constructors_of(end)
                if end == target or is_made:
                    numbers.append(number)
        return numbers

    def _constructors_of(self, owner: int) -> frozenset[int]:
        if owner not in self._constructors:
            self._constructors[owner] = frozenset(find_constructors_run(self._graph, [owner]))
        return self._constructors[owner]


def find_written_target(graph: CodeGraph, source: int, target: int) -> int:
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
    new_position = np.empty(len(order), dtype=np.int64)
    new_position[order] = np.arange(len(order))
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
    return table, rules, new_position[:n].tolist(), {key: int(new_position[n + i]) for i, key in enumerate(new)}


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
