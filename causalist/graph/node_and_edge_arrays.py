"""Nodes and edges while they are collected, and the sorted arrays that they become.

In: the program, then edges as they are found. Out: a `CodeGraph` and the position of each draft in it. Drafts are
numbered: files by their own numbers, then definitions by theirs (those of `Program`), passages, and externals in the
order in which they are found. Only the end sorts nodes by id.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import plan_splice
from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.program import Program
from causalist.graph.rules import RULE_NAMES, RULE_NUMBER, Confidences, evidence_sort_key
from causalist.model.facts import MODULE_SCOPE
from causalist.model.graph import CodeGraph, EdgeKind, EdgeTable, NodeTable, UnresolvedCalls
from causalist.model.node_ids import NO_LAYER, NodeId, NodeKind, Role, external_id, file_id, section_id
from causalist.model.role_by_path import role_of
from causalist.model.source import SetAside
from causalist.model.string_table import StringTable

_KINDS = {int(kind): kind for kind in NodeKind}


@dataclass(slots=True)
class NodeDraft:
    """Node before ids are sorted; `file` and `parent` are positions among the drafts, -1 for none.

    `says` is set by `LayerAssigner.assign_own`.
    """

    id: str
    kind: NodeKind
    role: Role
    file: int
    parent: int
    start_byte: int
    end_byte: int
    start_row: int
    end_row: int
    signature: str
    doc: str
    says: int = NO_LAYER  # Layer


class RelationEdge(NamedTuple):
    """Edge between drafts that a shared name, a route or an event makes.

    `row` is in the file of the source, or of the target of a route.
    """

    source: int
    target: int
    kind: EdgeKind
    rule: str
    row: int
    candidates: int = 1


class NodeDrafts(dict[int, NodeDraft]):
    """Drafts by number, made when they are asked for: all of them, or those of a few files."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.n_files = len(program.files)
        self.n_written = self.n_files + len(program.definition_of)  # and passages, as they are made
        self.externals: dict[str, int] = {}
        self._passages: dict[int, range] = {}

    def __missing__(self, number: int) -> NodeDraft:
        file = number if number < self.n_files else self.program.file_of[number - self.n_files]
        symbols = self.program.files[file]
        if number == file:
            self[file] = _file_draft(symbols, file, self.program)
        else:
            self.update(enumerate(_definition_drafts(symbols, file, self), self.first_definition(file)))
        return self[number]

    def first_definition(self, file: int) -> int:
        """Return the draft of the first definition of a file."""
        return self.n_files + self.program.files[file].first

    def of_definition(self, number: int) -> int:
        """Return the draft of a definition."""
        return self.n_files + number

    def passages(self, file: int) -> range:
        """Return the drafts of the passages of a file, made on the first call, before those of externals."""
        if file not in self._passages:
            facts, first = self.program.files[file].facts, self.n_written
            self.update(enumerate(_passage_drafts(self.program.files[file], file, self[file].role, first), first))
            self.n_written += len(facts.passages)
            self._passages[file] = range(first, self.n_written)
        return self._passages[file]

    def documents(self, file: int) -> list[int]:
        """Return the drafts of the definitions of a file, then those of its passages."""
        first = self.first_definition(file)
        return [*range(first, first + len(self.program.files[file].facts.definitions)), *self.passages(file)]

    def of_external(self, package: str) -> int:
        """Return the draft of a definition outside of the repository."""
        number = self.externals.get(package)
        if number is None:
            number = self.externals[package] = self.n_written + len(self.externals)
            self[number] = NodeDraft(
                external_id(package), NodeKind.EXTERNAL, Role.CODE, -1, -1, 0, 0, 0, 0, "", ""
            )  # fmt: skip
        return number

    def all_drafts(self) -> list[NodeDraft]:
        """Return all drafts, once all passages and externals are made."""
        return [self[number] for number in range(self.n_written + len(self.externals))]


def _file_draft(symbols: FileSymbols, number: int, program: Program) -> NodeDraft:
    facts, role = symbols.facts, _role(symbols)
    role = Role.TEST if role == Role.CODE and program.is_named_test(symbols) else role
    return NodeDraft(
        file_id(symbols.path), NodeKind.FILE, role, number, -1,
        0, facts.n_bytes, 0, max(facts.n_rows - 1, 0), "", facts.doc,
    )  # fmt: skip


_ROLES_ASIDE = {SetAside.COPY: Role.VENDORED}


def _role(symbols: FileSymbols) -> Role:
    """Return the role of a file; one that is set aside is code, documentation or configuration no more."""
    role, kind = role_of(symbols.path), symbols.facts.aside
    return role if not kind or role in (Role.TEST, Role.VENDORED) else _ROLES_ASIDE.get(SetAside(kind), Role.GENERATED)


def _definition_drafts(symbols: FileSymbols, number: int, drafts: NodeDrafts) -> Iterator[NodeDraft]:
    facts, first, file = symbols.facts, drafts.first_definition(number), file_id(symbols.path)
    # The last one is the file's, for definitions whose parent is MODULE_SCOPE, -1.
    tests, roles = frozenset(facts.tests), [drafts[number].role] * (len(facts.definitions) + 1)
    for local, (definition, repeat) in enumerate(zip(facts.definitions, _number_duplicates(symbols), strict=True)):
        parent = number if definition.parent == MODULE_SCOPE else first + definition.parent
        roles[local] = Role.TEST if local in tests else roles[definition.parent]
        yield NodeDraft(
            NodeId(f"{file}::{definition.qualname}{repeat}"), _KINDS[definition.kind], roles[local],
            number, parent, definition.start_byte, definition.end_byte, definition.start_row,
            definition.end_row, definition.signature, definition.doc,
        )  # fmt: skip


def _passage_drafts(symbols: FileSymbols, number: int, role: Role, first: int) -> Iterator[NodeDraft]:
    for passage in symbols.facts.passages:
        parent = number if passage.parent < 0 else first + passage.parent
        yield NodeDraft(
            section_id(symbols.path, passage.slug), NodeKind.PASSAGE, role, number, parent,
            passage.start_byte, passage.end_byte, passage.start_row, passage.end_row, passage.title, "",
        )  # fmt: skip


def _number_duplicates(symbols: FileSymbols) -> list[str]:
    """Return a suffix for the name of each definition of a file so that no two are alike.

    Where a field shares its name with functions, a question for callers means the functions: the field gets the
    suffix. So does what is only declared, in languages that say so.
    """
    definitions, names = symbols.facts.definitions, symbols.settings.names if symbols.settings is not None else None
    has_bodies = names is not None and names.bodies_first
    declared = (
        {local for local, text in symbols.facts.returns if text.endswith(";")} if has_bodies else frozenset[int]()
    )
    used: dict[str, int] = {}
    result = [""] * len(definitions)
    order = sorted(range(len(definitions)), key=lambda i: (definitions[i].kind == NodeKind.FIELD, i in declared, i))
    for i in order:
        name = definitions[i].qualname
        used[name] = used.get(name, 0) + 1
        result[i] = "" if used[name] == 1 else f"~{used[name]}"
    return result


@dataclass(slots=True)
class EdgeSites:
    """One edge: its strongest evidence so far and how often it was seen."""

    rule: str
    candidates: int
    count: int
    row: int


@dataclass(slots=True)
class EdgeCollector:
    """One edge per (source, target, kind).

    The strongest evidence counts, sites add up, the first row is kept. Unresolved calls are kept by (source, name), as
    [number of sites, first row].
    """

    edges: dict[tuple[int, int, int], EdgeSites] = field(default_factory=dict)
    unresolved: dict[tuple[int, str], list[int]] = field(default_factory=dict)

    def add(
        self, source: int, target: int, kind: EdgeKind, rule: str, row: int, candidates: int = 1, n: int = 1
    ) -> None:
        """Add `n` sites of an edge, of which the first stands in `row`."""
        key = (source, target, int(kind))
        sites = self.edges.get(key)
        if sites is None:
            self.edges[key] = EdgeSites(rule, candidates, n, row)
            return
        sites.count += n
        if 0 <= row < sites.row or sites.row < 0:
            sites.row = row
        if rule == sites.rule and candidates == sites.candidates:
            return
        if evidence_sort_key(rule, candidates) < evidence_sort_key(sites.rule, sites.candidates):
            sites.rule, sites.candidates = rule, candidates

    def add_unresolved(self, source: int, name: str, row: int, n: int) -> None:
        """Count `n` unresolved calls of a name in a node; `row` is the first of their rows."""
        sites = self.unresolved.setdefault((source, name), [0, row])
        sites[0] += n
        sites[1] = min(sites[1], row)


def finish_graph(
    drafts: Sequence[NodeDraft], collector: EdgeCollector, languages: Sequence[str], confidences: Confidences
) -> tuple[CodeGraph, NDArray[np.int32]]:
    """Return the graph and the position of each draft in it.

    Nodes are sorted by id, edges by (source, target, kind). `languages` has that of each file that a draft may name.
    Layers and tiers of nodes are not there yet (`LayerAssigner.complete`).
    """
    order = sorted(range(len(drafts)), key=lambda i: drafts[i].id)
    position = np.empty(len(drafts), dtype=np.int32)
    position[order] = np.arange(len(drafts), dtype=np.int32)
    placed = [drafts[i] for i in order]

    def move(numbers: list[int]) -> NDArray[np.int32]:
        array = np.array(numbers, dtype=np.int32)
        result: NDArray[np.int32] = np.where(array >= 0, position[array], -1).astype(np.int32)
        return result

    nodes = NodeTable(
        ids=StringTable.from_strings(d.id for d in placed),
        kinds=np.array([d.kind for d in placed], dtype=np.uint8),
        roles=np.array([d.role for d in placed], dtype=np.uint8),
        files=move([d.file for d in placed]),
        parents=move([d.parent for d in placed]),
        start_bytes=np.array([d.start_byte for d in placed], dtype=np.int64),
        end_bytes=np.array([d.end_byte for d in placed], dtype=np.int64),
        start_rows=np.array([d.start_row for d in placed], dtype=np.int32),
        end_rows=np.array([d.end_row for d in placed], dtype=np.int32),
        signatures=StringTable.from_strings(d.signature for d in placed),
        docs=StringTable.from_strings(d.doc for d in placed),
        said_layers=np.array([d.says for d in placed], dtype=np.uint8),
    )
    columns = build_columns(
        collector,
        lambda draft: languages[drafts[draft].file] if drafts[draft].file >= 0 else "",
        position.__getitem__,
        confidences,
    )
    edges = build_edge_table(columns, len(drafts))
    return CodeGraph(nodes, edges, RULE_NAMES, _unresolved_calls(collector, position)), position


def _confidence_column(
    collector: EdgeCollector, language_of: Callable[[int], str], confidences: Confidences
) -> list[float]:
    """Return the confidences of all edges, each by the language of its source."""
    language = {source: language_of(source) for source, _, _ in collector.edges}
    cached: dict[tuple[str, int, str, int], float] = {}
    result = []
    for (source, _, kind), sites in collector.edges.items():
        key = (sites.rule, kind, language[source], sites.candidates)
        if key not in cached:
            cached[key] = confidences.confidence_of_edge(sites.rule, EdgeKind(kind), language[source], sites.candidates)
        result.append(cached[key])
    return result


def _unresolved_calls(collector: EdgeCollector, position: NDArray[np.int32]) -> UnresolvedCalls:
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


def build_columns(
    collector: EdgeCollector,
    language_of: Callable[[int], str],
    positions: Callable[[NDArray[np.int64]], NDArray[np.int32]],
    confidences: Confidences,
) -> EdgeColumns:
    """Return what was collected as arrays.

    `positions` are the nodes of drafts, `language_of` a draft is the language of its file.
    """
    keys = np.array(list(collector.edges), dtype=np.int64).reshape(-1, 3)
    sites = list(collector.edges.values())
    return EdgeColumns(
        sources=positions(keys[:, 0]),
        targets=positions(keys[:, 1]),
        kinds=keys[:, 2].astype(np.uint8),
        rules=np.array([RULE_NUMBER[s.rule] for s in sites], dtype=np.uint8),
        confidences=np.array(_confidence_column(collector, language_of, confidences), dtype=np.float64),
        candidates=np.array([s.candidates for s in sites], dtype=np.int32),
        counts=np.array([s.count for s in sites], dtype=np.int32),
        rows=np.array([s.row for s in sites], dtype=np.int32),
    )


def build_edge_table(columns: EdgeColumns, n_nodes: int) -> EdgeTable:
    """Return the edges in order, with the arrays that find them by their ends."""
    # As one number, by a stable sort: of edges of which most are in order already, that is a merge.
    order = np.argsort(_edge_keys(columns.sources, columns.targets, columns.kinds, n_nodes), kind="stable")
    sources, targets, kinds = columns.sources[order], columns.targets[order], columns.kinds[order]
    incoming = _stable_order(targets)  # those of a node by source and kind, as all of them stand
    return EdgeTable(
        indptr=_build_indptr(sources, n_nodes),
        sources=sources,
        targets=targets,
        kinds=kinds,
        rules=columns.rules[order],
        confidences=columns.confidences[order],
        candidates=columns.candidates[order],
        counts=columns.counts[order],
        rows=columns.rows[order],
        incoming=incoming,
        incoming_indptr=_build_indptr(targets[incoming], n_nodes),
    )


def splice_edge_table(
    previous: EdgeTable, removed: NDArray[np.int64], nodes: NDArray[np.int32], new: EdgeColumns, n: int
) -> EdgeTable:
    """Return an earlier table without the edges `removed`, which ascend, and with new ones.

    The table must not have the new ones without those that are gone. `nodes`: shape (n_nodes of the previous
    table,), the node of each now, in the same order; -1 if it has no edge that stays. `n`: the number of nodes now.
    """
    # What is gone counts as what stands before it, so that numbers still ascend.
    here = np.maximum(np.maximum.accumulate(nodes), 0)
    keys = _edge_keys(here.take(previous.sources), here.take(previous.targets), previous.kinds, n)
    np.maximum.accumulate(keys, out=keys)
    keys_of_new = _edge_keys(new.sources, new.targets, new.kinds, n)
    order = np.argsort(keys_of_new)
    # Behind an edge that is gone, where it is found again: what comes after both does not move then.
    rows = plan_splice(
        len(keys), removed, previous.sources[removed], np.searchsorted(keys, keys_of_new[order], side="right")
    )
    moves = not np.array_equal(here, np.arange(len(here)))
    sources = rows.of(here.take(previous.sources) if moves else previous.sources, new.sources[order])
    targets = rows.of(here.take(previous.targets) if moves else previous.targets, new.targets[order])
    is_same = not moves and sources is previous.sources and targets is previous.targets and n == len(nodes)
    incoming = previous.incoming if is_same else _stable_order(targets)
    return EdgeTable(
        indptr=previous.indptr if is_same else _build_indptr(sources, n),
        sources=sources,
        targets=targets,
        kinds=rows.of(previous.kinds, new.kinds[order]),
        rules=rows.of(previous.rules, new.rules[order]),
        confidences=rows.of(previous.confidences, new.confidences[order]),
        candidates=rows.of(previous.candidates, new.candidates[order]),
        counts=rows.of(previous.counts, new.counts[order]),
        rows=rows.of(previous.rows, new.rows[order]),
        incoming=incoming,
        incoming_indptr=previous.incoming_indptr if is_same else _build_indptr(targets[incoming], n),
    )


def _edge_keys(
    sources: NDArray[np.int32], targets: NDArray[np.int32], kinds: NDArray[np.uint8], n_nodes: int
) -> NDArray[np.int64]:
    """Return one number for each edge, ascending in the order of edges."""
    keys = sources.astype(np.int64)
    keys *= n_nodes
    keys += targets
    keys *= max(EdgeKind) + 1
    keys += kinds
    return keys


def _stable_order(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the order that sorts numbers, ties as they stand; none is negative.

    It sorts by their halves, because numpy counts instead of comparing where there are 16 bits: that takes a fifth of
    the time.
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")  # the lower ones
    return order[np.argsort((numbers >> 16).astype(np.uint16)[order], kind="stable")].astype(np.int32)


def _build_indptr(sorted_rows: NDArray[np.int32], n_nodes: int) -> NDArray[np.int64]:
    pointers = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(sorted_rows, minlength=n_nodes), out=pointers[1:])
    return pointers
