"""Proofs beside the index: what broke when a definition was broken; and the graph with these proofs.

`proven.jsonl` has two lines: the format and the CRC-32 of the second one, and a JSON document. It is written under
another name and renamed over the old file, under a lock. The index does not depend on it. Each row keeps the hashes of
the definitions that it concerns, so that one that changed since is known to be stale.

The graph has edges from tests to the functions that they need, and those on the way. In: a graph, perhaps with what
runs saw, and the store. Out: an `ObservedGraph`; the index stays as it is. Only proofs count of which all definitions
are as they were; the others are listed as stale.

- A test that fails only with a mutant of a function gets an edge `tests` to it with confidence 1.
- A use on the way of the failure has confidence 1. One that the graph does not have gets the rule `proven`: `calls` if
  nothing from elsewhere stood in between, else `references`, or `imports` of a file.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from causalist.model.graph import CodeGraph, EdgeKind, Proof
from causalist.model.lookup import ProvenStatus
from causalist.model.node_ids import NodeKind
from causalist.observe.observed_calls import (
    AddedEdge,
    EdgeNumbers,
    Freshness,
    ObservedGraph,
    Version,
    encode_evidence,
    find_written_target,
    merge_edges,
    read_evidence,
)
from causalist.store import PROVEN_LOCK, PROVEN_NAME, delete_data_file, hold_data_file
from causalist.store.index_folder import replace_file

FORMAT_VERSION = 1

PROVEN, FAILED, PASSED, UNSURE, HANGS = "proven", "failed", "passed", "unsure", "hangs"  # how a test ends with a mutant
FLAKY = "ends differently each time without a mutant"
RUNS = ""  # a test that runs the definition, or may do so where nothing sees it


class TestState(NamedTuple):
    """A test of a definition: why it is left out, "" if it is not, and the definitions on its way there.

    `is_unseen`: it was not seen to run the definition, but may, mostly in a process that it starts.
    """

    version: Version
    left_out: str
    way: tuple[Version, ...] = ()
    is_unseen: bool = False


class MutantRecord(NamedTuple):
    """A mutant, and how each test ended with it.

    `proven`: the test fails with it, again and again, and passes without it. `failed`: it does so, too, where another
    mutant is the proof. `unsure`: not each time. `hangs`: the time limit passed, or the process ended.
    """

    id: str
    line: int
    what: str
    outcomes: dict[str, str]


@dataclass(slots=True)
class NodeRecord:
    """Experiments on one version of a definition. `state` is a hash of all files of the repository.

    `plain_runs` is the document of the runs of tests without a mutant, as long as they are of use.
    """

    version: Version
    state: str
    time: int
    mutants: dict[str, MutantRecord] = field(default_factory=dict)
    tests: dict[str, TestState] = field(default_factory=dict)
    plain_runs: dict[str, Any] | None = None

    def is_decided(self, mutant: str, tests: Collection[str]) -> bool:
        """Return True if it is known how each of `tests` that is not left out ends with a mutant."""
        outcomes = self.mutants[mutant].outcomes if mutant in self.mutants else None
        return outcomes is not None and all(
            test in outcomes for test in tests if test in self.tests and self.tests[test].left_out == RUNS
        )

    def is_in_doubt(self, test: str) -> bool:
        """Return True if nothing shows that a test that was tried runs the definition."""
        return not self.tests[test].left_out and self.tests[test].is_unseen and not self.proving(test)

    def proving(self, test: str) -> list[MutantRecord]:
        """Return the mutants with which a test fails, that of the proof first; none without a proof."""
        is_flaky = test in self.tests and self.tests[test].left_out == FLAKY
        proving = [each for each in self.mutants.values() if each.outcomes.get(test) == PROVEN and not is_flaky]
        return proving + [m for m in self.mutants.values() if m.outcomes.get(test) == FAILED] if proving else []


class ProvenEdge(NamedTuple):
    """A use on the way of a failure: breaking `node` by a mutant broke the target, then the source, then the test.

    `is_direct`: no code from elsewhere stood in between. `row` is the 0-based row of the use, -1 if unknown.
    """

    source: Version
    target: Version
    is_direct: bool
    row: int
    node: str
    mutant: str
    test: str
    time: int


class NodeProof(NamedTuple):
    """A function after its experiments: its record, and proven edges on the ways of tests.

    `n_undecided` mutants are left to try, and `n_more_tests` less probable tests are beyond the limit.
    """

    node: str
    record: NodeRecord
    edges: tuple[ProvenEdge, ...]
    n_undecided: int
    n_more_tests: int


@dataclass(slots=True)
class ProofStore:
    """Records of definitions by id, edges by their ends, and the file in which each version was seen."""

    nodes: dict[str, NodeRecord] = field(default_factory=dict)
    edges: dict[tuple[str, str], ProvenEdge] = field(default_factory=dict)
    blobs: dict[Version, str] = field(default_factory=dict)

    def is_current(self, versions: Sequence[Version], freshness: Freshness) -> bool:
        """Return True if all definitions are as they were."""
        return all(freshness.is_current(each, self.blobs.get(each, "")) for each in versions)


def describe_mutant(line: int, what: str) -> str:
    """Return a mutant in words.

    >>> describe_mutant(3, "raises an error at the start")
    'line 3: raises an error at the start'
    """
    return f"line {line}: {what}"


def read_proofs(folders: Sequence[Path]) -> ProofStore | None:
    """Return the store in the first folder that has one; None if no folder has one or it is damaged."""
    return read_evidence(folders, PROVEN_NAME, FORMAT_VERSION, _decode)


def save_record(
    folder: Path, node: str, record: NodeRecord, edges: Sequence[ProvenEdge], freshness: Freshness
) -> ProofStore:
    """Put the record of a definition, and edges, into the store below a folder; return it. Raises IndexNotWritable.

    Edges that were proven before are kept if nothing about them changed, and those of other definitions. Those of tests
    that turned out to be flaky are not.
    """
    with hold_data_file(folder / PROVEN_NAME, PROVEN_LOCK):
        store = read_proofs((folder,)) or ProofStore()
        store.nodes[node] = record
        flaky = {test for test, state in record.tests.items() if state.left_out == FLAKY}
        store.edges = {
            ends: edge
            for ends, edge in store.edges.items()
            if edge.node != node or (store.is_current(edge[:2], freshness) and edge.test not in flaky)
        }
        for edge in edges:
            key = edge.source.id, edge.target.id
            earlier = store.edges.get(key)
            if earlier is None or earlier[:2] != edge[:2] or (edge.is_direct and not earlier.is_direct):
                store.edges[key] = edge
        versions = {record.version, *(each.version for each in record.tests.values())}
        versions |= {each for test in record.tests.values() for each in test.way}
        versions |= {each for edge in edges for each in edge[:2]}
        for version in versions:
            store.blobs[version] = freshness.blob_of(version.id)
        replace_file(folder / PROVEN_NAME, _encode(store))
    return store


def forget_proofs(folder: Path) -> bool:
    """Delete what was proven; return True if there was anything. Raises IndexNotWritable."""
    path = folder / PROVEN_NAME
    with hold_data_file(path, PROVEN_LOCK):
        return delete_data_file(path)


def _encode(store: ProofStore) -> bytes:
    named = {each for edge in store.edges.values() for each in edge[:2]}
    for record in store.nodes.values():
        named |= {record.version, *(test.version for test in record.tests.values())}
        named |= {each for test in record.tests.values() for each in test.way}
    numbers = {version: i for i, version in enumerate(sorted(named))}
    nodes = [
        {
            "version": numbers[record.version],
            "state": record.state,
            "time": record.time,
            "tests": sorted(
                [numbers[test.version], test.left_out, [numbers[each] for each in test.way], *[1] * test.is_unseen]
                for test in record.tests.values()
            ),
            "mutants": [
                [each.id, each.line, each.what, dict(sorted(each.outcomes.items()))]
                for each in sorted(record.mutants.values(), key=lambda m: (m.line, m.what, m.id))
            ],
            **({"plain_runs": record.plain_runs} if record.plain_runs is not None else {}),
        }
        for _, record in sorted(store.nodes.items())
    ]
    document: dict[str, Any] = {
        "definitions": [[*version, store.blobs.get(version, "")] for version in numbers],
        "nodes": nodes,
        "edges": [
            [numbers[edge.source], numbers[edge.target], int(edge.is_direct), *edge[3:]]
            for _, edge in sorted(store.edges.items())
        ],
    }
    return encode_evidence(document, FORMAT_VERSION)


def _decode(document: Any) -> ProofStore:
    store = ProofStore()
    versions = [Version(str(each[0]), str(each[1])) for each in document["definitions"]]
    store.blobs = {v: str(each[2]) for v, each in zip(versions, document["definitions"], strict=True)}
    for each in document["nodes"]:
        record = NodeRecord(versions[each["version"]], str(each["state"]), int(each["time"]))
        record.plain_runs = each.get("plain_runs")
        for number, left_out, way, *unseen in each["tests"]:
            version = versions[number]
            record.tests[version.id] = TestState(version, str(left_out), tuple(versions[i] for i in way), bool(unseen))
        for key, line, what, outcomes in each["mutants"]:
            record.mutants[str(key)] = MutantRecord(str(key), int(line), str(what), dict(outcomes))
        store.nodes[record.version.id] = record
    for source, target, is_direct, row, node, mutant, test, time in document["edges"]:
        edge = ProvenEdge(
            versions[source], versions[target], bool(is_direct), int(row), str(node), str(mutant), str(test), int(time)
        )
        store.edges[edge.source.id, edge.target.id] = edge
    return store


RULE = "proven"


class StaleProof(NamedTuple):
    """An edge that was proven before a definition that it concerns changed."""

    source: str
    target: str
    proof: Proof


def proven_graph(graph: CodeGraph, store: ProofStore, freshness: Freshness) -> ObservedGraph:
    """Return the graph with the proofs of the store whose definitions are as they were."""
    ids = graph.nodes.ids
    confidences = graph.edges.confidences.copy()
    proofs: dict[int, Proof] = {}
    added: dict[tuple[int, int, int], AddedEdge] = {}
    new: dict[tuple[int, int, int], Proof] = {}
    numbers = EdgeNumbers(graph)

    def mark(numbers: list[int], key: tuple[int, int, int], row: int, proof: Proof) -> None:
        for number in numbers:
            confidences[number] = 1.0
            proofs.setdefault(number, proof)
        if not numbers and key not in added:
            added[key], new[key] = AddedEdge(1.0, row, RULE), proof

    for _, edge in sorted(store.edges.items()):
        source, target = ids.position(edge.source.id), ids.position(edge.target.id)
        if source < 0 or target < 0 or not store.is_current(edge[:2], freshness):
            continue
        proof = Proof(edge.node, edge.mutant, edge.test, 1, edge.time)
        calls = numbers.calls_of(source, target)
        is_file = graph.kind(target) is NodeKind.FILE
        kind = EdgeKind.CALLS if edge.is_direct else EdgeKind.IMPORTS if is_file else EdgeKind.REFERENCES
        end = find_written_target(graph, source, target) if edge.is_direct else target
        edge_number = numbers.of(source, end, kind)
        mark(calls or ([edge_number] if edge_number >= 0 else []), (source, end, int(kind)), edge.row, proof)
    for node, record in sorted(store.nodes.items()):
        target = ids.position(node)
        for test, proof in _proofs_of(record):
            source = ids.position(test)
            if source >= 0 and target >= 0 and store.is_current(_list_concerned(record, test), freshness):
                edge_number = numbers.of(source, target, EdgeKind.TESTS)
                row = int(graph.nodes.start_rows[source])
                mark([edge_number] if edge_number >= 0 else [], (source, target, int(EdgeKind.TESTS)), row, proof)
    table, rules, places, numbers_of_new = merge_edges(graph, confidences, added, (RULE,))
    by_number = {places[number]: proof for number, proof in proofs.items()}
    by_number |= {number: new[key] for key, number in numbers_of_new.items()}
    seen = graph.sightings if isinstance(graph, ObservedGraph) else {}
    sightings = {places[number]: each for number, each in seen.items()}
    return ObservedGraph(graph.nodes, table, rules, graph.unresolved, sightings, by_number)


def stale_proofs(store: ProofStore, freshness: Freshness) -> Iterator[StaleProof]:
    """Yield the edges that were proven before a definition changed, by source and target."""
    stale_by_ends: dict[tuple[str, str], StaleProof] = {}
    for (source, target), edge in store.edges.items():
        if not store.is_current(edge[:2], freshness):
            stale_by_ends[source, target] = StaleProof(
                source, target, Proof(edge.node, edge.mutant, edge.test, 1, edge.time)
            )
    for node, record in store.nodes.items():
        for test, proof in _proofs_of(record):
            if not store.is_current(_list_concerned(record, test), freshness):
                stale_by_ends.setdefault((test, node), StaleProof(test, node, proof))
    for _, stale in sorted(stale_by_ends.items()):
        yield stale


def count_proofs(store: ProofStore, n_stale: int) -> ProvenStatus:
    """Return counts of what the store has."""
    n_pairs = sum(1 for record in store.nodes.values() for _ in _proofs_of(record))
    n_functions = sum(bool(record.tests) or record.plain_runs is None for record in store.nodes.values())
    return ProvenStatus(n_functions, n_pairs, len(store.edges), n_stale)


def _proofs_of(record: NodeRecord) -> Iterator[tuple[str, Proof]]:
    """Yield the tests that need the definition of a record, with the proof."""
    for test in sorted(record.tests):
        mutants = record.proving(test)
        if mutants:
            what = describe_mutant(mutants[0].line, mutants[0].what)
            yield test, Proof(record.version.id, what, test, len(mutants), record.time)


def _list_concerned(record: NodeRecord, test: str) -> tuple[Version, ...]:
    return (record.version, record.tests[test].version, *record.tests[test].way)
