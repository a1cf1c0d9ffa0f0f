"""Edges while they are collected, and their final arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.arrays import spliced
from causalist.graph.confidence import Confidences
from causalist.graph.drafts import NodeDraft
from causalist.graph.rules import RULE_NAMES, RULE_NUMBER, strength
from causalist.model.graph import CodeGraph, EdgeKind, EdgeTable, NodeTable, UnresolvedCalls
from causalist.model.string_table import StringTable


@dataclass(slots=True)
class Sites:
    """One edge: its strongest evidence so far and how often it was seen."""

    rule: str
    candidates: int
    count: int
    row: int


@dataclass(slots=True)
class EdgeCollector:
    """One edge per (source, target, kind): the strongest evidence counts, sites add up, the first row is kept.
    Unresolved calls are kept by (source, name), as [number of sites, first row]."""

    edges: dict[tuple[int, int, int], Sites] = field(default_factory=dict)
    unresolved: dict[tuple[int, str], list[int]] = field(default_factory=dict)

    def add(
        self, source: int, target: int, kind: EdgeKind, rule: str, row: int, candidates: int = 1, n: int = 1
    ) -> None:
        """`n` sites, of which the first stands in `row`."""
        key = (source, target, int(kind))
        sites = self.edges.get(key)
        if sites is None:
            self.edges[key] = Sites(rule, candidates, n, row)
            return
        sites.count += n
        if 0 <= row < sites.row or sites.row < 0:
            sites.row = row
        if rule == sites.rule and candidates == sites.candidates:
            return
        if strength(rule, candidates) < strength(sites.rule, sites.candidates):
            sites.rule, sites.candidates = rule, candidates

    def add_unresolved(self, source: int, name: str, row: int, n: int) -> None:
        sites = self.unresolved.setdefault((source, name), [0, row])
        sites[0] += n
        sites[1] = min(sites[1], row)


def finish(
    drafts: Sequence[NodeDraft], collector: EdgeCollector, languages: Sequence[str], confidences: Confidences
) -> tuple[CodeGraph, NDArray[np.int32]]:
    """(graph, position of each draft in it): nodes sorted by id, edges by (source, target, kind). `languages` has that
    of each file that a draft may name. Layers and tiers of nodes are not there yet (`layering.with_layers`)."""
    order = sorted(range(len(drafts)), key=lambda i: drafts[i].id)
    position = np.empty(len(drafts), dtype=np.int32)
    position[order] = np.arange(len(drafts), dtype=np.int32)
    placed = [drafts[i] for i in order]

    def moved(numbers: list[int]) -> NDArray[np.int32]:
        array = np.array(numbers, dtype=np.int32)
        result: NDArray[np.int32] = np.where(array >= 0, position[array], -1).astype(np.int32)
        return result

    nodes = NodeTable(
        ids=StringTable.from_strings(d.id for d in placed),
        kinds=np.array([d.kind for d in placed], dtype=np.uint8),
        roles=np.array([d.role for d in placed], dtype=np.uint8),
        files=moved([d.file for d in placed]),
        parents=moved([d.parent for d in placed]),
        start_bytes=np.array([d.start_byte for d in placed], dtype=np.int64),
        end_bytes=np.array([d.end_byte for d in placed], dtype=np.int64),
        start_rows=np.array([d.start_row for d in placed], dtype=np.int32),
        end_rows=np.array([d.end_row for d in placed], dtype=np.int32),
        signatures=StringTable.from_strings(d.signature for d in placed),
        docs=StringTable.from_strings(d.doc for d in placed),
        said_layers=np.array([d.says for d in placed], dtype=np.uint8),
    )
    columns = columns_of(collector, lambda draft: languages[drafts[draft].file], position.__getitem__, confidences)
    edges = edge_table(columns, len(drafts))
    return CodeGraph(nodes, edges, RULE_NAMES, _unresolved(collector, position)), position


def _confidences(collector: EdgeCollector, language_of: Callable[[int], str], confidences: Confidences) -> list[float]:
    """Of each edge, by the language in which its source is written."""
    language = {source: language_of(source) for source, _, _ in collector.edges}
    known: dict[tuple[str, int, str, int], float] = {}
    result = []
    for (source, _, kind), sites in collector.edges.items():
        key = (sites.rule, kind, language[source], sites.candidates)
        if key not in known:
            known[key] = confidences.of_edge(sites.rule, EdgeKind(kind), language[source], sites.candidates)
        result.append(known[key])
    return result


def _unresolved(collector: EdgeCollector, position: NDArray[np.int32]) -> UnresolvedCalls:
    texts = sorted({name for _, name in collector.unresolved})
    number = {name: i for i, name in enumerate(texts)}
    rows = sorted(
        (int(position[source]), number[name], *sites) for (source, name), sites in collector.unresolved.items()
    )
    columns = np.array(rows, dtype=np.int32).reshape(-1, 4)
    sources, names, counts, first = (np.ascontiguousarray(columns[:, i]) for i in range(4))
    return UnresolvedCalls(sources, names, counts, first, StringTable.from_strings(texts))


class EdgeColumns(NamedTuple):
    """Edges in any order, as the arrays of `EdgeTable` have them."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    rules: NDArray[np.uint8]
    confidences: NDArray[np.float64]
    candidates: NDArray[np.int32]
    counts: NDArray[np.int32]
    rows: NDArray[np.int32]


def columns_of(
    collector: EdgeCollector,
    language_of: Callable[[int], str],
    positions: Callable[[NDArray[np.int64]], NDArray[np.int32]],
    confidences: Confidences,
) -> EdgeColumns:
    """What was collected: `positions` are the nodes of drafts, `language_of` a draft the language of its file."""
    keys = np.array(list(collector.edges), dtype=np.int64).reshape(-1, 3)
    sites = list(collector.edges.values())
    return EdgeColumns(
        sources=positions(keys[:, 0]),
        targets=positions(keys[:, 1]),
        kinds=keys[:, 2].astype(np.uint8),
        rules=np.array([RULE_NUMBER[s.rule] for s in sites], dtype=np.uint8),
        confidences=np.array(_confidences(collector, language_of, confidences), dtype=np.float64),
        candidates=np.array([s.candidates for s in sites], dtype=np.int32),
        counts=np.array([s.count for s in sites], dtype=np.int32),
        rows=np.array([s.row for s in sites], dtype=np.int32),
    )


def edge_table(columns: EdgeColumns, n_nodes: int) -> EdgeTable:
    """Edges in order, with what finds them by their ends."""
    # As one number, by a stable sort: of edges of which most are in order already, that is a merge.
    order = np.argsort(_keys(columns.sources, columns.targets, columns.kinds, n_nodes), kind="stable")
    sources, targets, kinds = columns.sources[order], columns.targets[order], columns.kinds[order]
    incoming = _in_order(targets)  # those of a node by source and kind, as all of them stand
    return EdgeTable(
        indptr=_pointers(sources, n_nodes),
        sources=sources,
        targets=targets,
        kinds=kinds,
        rules=columns.rules[order],
        confidences=columns.confidences[order],
        candidates=columns.candidates[order],
        counts=columns.counts[order],
        rows=columns.rows[order],
        incoming=incoming,
        incoming_indptr=_pointers(targets[incoming], n_nodes),
    )


def respliced(
    then: EdgeTable, gone: NDArray[np.int64], nodes: NDArray[np.int32], new: EdgeColumns, n: int
) -> EdgeTable:
    """An earlier table without the edges `gone`, which ascend, and with others, which it does not have without them.
    `nodes`: shape (n_nodes then,), where each node is now, in the same order; -1 if it has no edge that stays. `n`: how
    many nodes there are now."""
    # What is gone counts as what stands before it, so that numbers still ascend.
    here = np.maximum(np.maximum.accumulate(nodes), 0)
    keys = _keys(here.take(then.sources), here.take(then.targets), then.kinds, n)
    np.maximum.accumulate(keys, out=keys)
    keys_of_new = _keys(new.sources, new.targets, new.kinds, n)
    order = np.argsort(keys_of_new)
    # Behind an edge that is gone, where it is found again: what comes after both does not move then.
    rows = spliced(len(keys), gone, then.sources[gone], np.searchsorted(keys, keys_of_new[order], side="right"))
    moves = not np.array_equal(here, np.arange(len(here)))
    sources = rows.of(here.take(then.sources) if moves else then.sources, new.sources[order])
    targets = rows.of(here.take(then.targets) if moves else then.targets, new.targets[order])
    is_same = not moves and sources is then.sources and targets is then.targets and n == len(nodes)
    incoming = then.incoming if is_same else _in_order(targets)
    return EdgeTable(
        indptr=then.indptr if is_same else _pointers(sources, n),
        sources=sources,
        targets=targets,
        kinds=rows.of(then.kinds, new.kinds[order]),
        rules=rows.of(then.rules, new.rules[order]),
        confidences=rows.of(then.confidences, new.confidences[order]),
        candidates=rows.of(then.candidates, new.candidates[order]),
        counts=rows.of(then.counts, new.counts[order]),
        rows=rows.of(then.rows, new.rows[order]),
        incoming=incoming,
        incoming_indptr=then.incoming_indptr if is_same else _pointers(targets[incoming], n),
    )


def _keys(
    sources: NDArray[np.int32], targets: NDArray[np.int32], kinds: NDArray[np.uint8], n_nodes: int
) -> NDArray[np.int64]:
    """One number for each edge, in the order of edges."""
    keys = sources.astype(np.int64)
    keys *= n_nodes
    keys += targets
    keys *= max(EdgeKind) + 1
    keys += kinds
    return keys


def _in_order(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """What sorts them, ties in the order in which they stand; none is negative. By their halves, because numpy counts
    instead of comparing where there are 16 bits: that takes a fifth of the time."""
    order = np.argsort(numbers.astype(np.uint16), kind="stable")  # the lower ones
    return order[np.argsort((numbers >> 16).astype(np.uint16)[order], kind="stable")].astype(np.int32)


def _pointers(sorted_rows: NDArray[np.int32], n_nodes: int) -> NDArray[np.int64]:
    pointers = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(sorted_rows, minlength=n_nodes), out=pointers[1:])
    return pointers
