"""The graph with what was proven: edges from tests to the functions that they need, and those on the way.

In: a graph, perhaps with what runs saw, and the store. Out: an `ObservedGraph`; the index stays as it is. Only proofs
count of which all definitions are as they were; the others are listed as stale.

- A test that fails only with a mutant of a function gets an edge `tests` to it with confidence 1.
- A use on the way of the failure has confidence 1. One that the graph does not have gets the rule `proven`: `calls` if
  nothing from elsewhere stood in between, else `references`, or `imports` of a file.
"""

from collections.abc import Iterator
from typing import NamedTuple

from causalist.model.graph import CodeGraph, EdgeKind, Proof
from causalist.model.symbols import NodeKind
from causalist.observe.overlay import AddedEdge, EdgeNumbers, ObservedGraph, as_written, merge_edges
from causalist.observe.store import Freshness, Version
from causalist.prove.store import NodeRecord, ProofStore, describe_mutant

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

    def mark(found: list[int], key: tuple[int, int, int], row: int, proof: Proof) -> None:
        for number in found:
            confidences[number] = 1.0
            proofs.setdefault(number, proof)
        if not found and key not in added:
            added[key], new[key] = AddedEdge(1.0, row, RULE), proof

    for _, edge in sorted(store.edges.items()):
        source, target = ids.position(edge.source.id), ids.position(edge.target.id)
        if source < 0 or target < 0 or not store.is_current(edge[:2], freshness):
            continue
        proof = Proof(edge.node, edge.mutant, edge.test, 1, edge.time)
        calls = numbers.calls_of(source, target)
        is_file = graph.kind(target) is NodeKind.FILE
        kind = EdgeKind.CALLS if edge.is_direct else EdgeKind.IMPORTS if is_file else EdgeKind.REFERENCES
        end = as_written(graph, source, target) if edge.is_direct else target
        known = numbers.of(source, end, kind)
        mark(calls or ([known] if known >= 0 else []), (source, end, int(kind)), edge.row, proof)
    for node, record in sorted(store.nodes.items()):
        target = ids.position(node)
        for test, proof in _proofs_of(record):
            source = ids.position(test)
            if source >= 0 and target >= 0 and store.is_current(_concerned(record, test), freshness):
                known = numbers.of(source, target, EdgeKind.TESTS)
                row = int(graph.nodes.start_rows[source])
                mark([known] if known >= 0 else [], (source, target, int(EdgeKind.TESTS)), row, proof)
    table, rules, places, numbers_of_new = merge_edges(graph, confidences, added, (RULE,))
    by_number = {places[number]: proof for number, proof in proofs.items()}
    by_number |= {number: new[key] for key, number in numbers_of_new.items()}
    seen = graph.sightings if isinstance(graph, ObservedGraph) else {}
    sightings = {places[number]: each for number, each in seen.items()}
    return ObservedGraph(graph.nodes, table, rules, graph.unresolved, sightings, by_number)


def stale_proofs(store: ProofStore, freshness: Freshness) -> Iterator[StaleProof]:
    """Yield the edges that were proven before a definition changed, by source and target."""
    found: dict[tuple[str, str], StaleProof] = {}
    for (source, target), edge in store.edges.items():
        if not store.is_current(edge[:2], freshness):
            found[source, target] = StaleProof(source, target, Proof(edge.node, edge.mutant, edge.test, 1, edge.time))
    for node, record in store.nodes.items():
        for test, proof in _proofs_of(record):
            if not store.is_current(_concerned(record, test), freshness):
                found.setdefault((test, node), StaleProof(test, node, proof))
    for _, stale in sorted(found.items()):
        yield stale


def _proofs_of(record: NodeRecord) -> Iterator[tuple[str, Proof]]:
    """Yield the tests that need the definition of a record, with the proof."""
    for test in sorted(record.tests):
        mutants = record.proving(test)
        if mutants:
            what = describe_mutant(mutants[0].line, mutants[0].what)
            yield test, Proof(record.version.id, what, test, len(mutants), record.time)


def _concerned(record: NodeRecord, test: str) -> tuple[Version, ...]:
    return (record.version, record.tests[test].version, *record.tests[test].way)
