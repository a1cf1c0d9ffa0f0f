"""The code graph as arrays, and the subgraph of an answer.

An edge points from cause to effect: **the source uses the target**. A row of the CSR is a source, a column a target.
Nodes are sorted by id, so that a `NodeIndex` follows from the set of ids alone and never from the order of discovery.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted
from causalist._internal.lazy import dataclass, lazy_regex, with_direct_members
from causalist.model.node_ids import (
    DECLARING_ENDINGS,
    LabelledEnum,
    Layer,
    NodeKind,
    Tier,
    declared_as,
    declaring_path,
    defining_path,
    split_id,
    symbol_id,
)
from causalist.model.string_table import StringTable

_REPEATED = lazy_regex(r"~\d+$")  # the number of a repeated id


@with_direct_members
class EdgeKind(LabelledEnum):
    """Kinds of edges; the numbers are what index files hold."""

    CONTAINS = 0
    IMPORTS = 1
    CALLS = 2
    REFERENCES = 3
    EXTENDS = 4
    IMPLEMENTS = 5
    OVERRIDES = 6
    READS = 7
    WRITES = 8
    TESTS = 9
    MENTIONS = 10
    CO_CHANGES = 11
    SIMILAR = 12  # this and the next are reserved: no producer yet
    RELATED_TO = 13
    ROUTES = 14  # from a route to what handles it, and from what requests a path to the route
    EMITS = 15  # from what emits an event, queues a job, or looks up a member by a computed name, to what runs then


SYMMETRIC_KINDS = frozenset({EdgeKind.CO_CHANGES, EdgeKind.SIMILAR, EdgeKind.RELATED_TO})
ORDERING_KINDS = frozenset(
    {
        EdgeKind.IMPORTS,
        EdgeKind.CALLS,
        EdgeKind.REFERENCES,
        EdgeKind.EXTENDS,
        EdgeKind.IMPLEMENTS,
        EdgeKind.OVERRIDES,
        EdgeKind.READS,
        EdgeKind.WRITES,
        EdgeKind.TESTS,
        EdgeKind.ROUTES,
        EdgeKind.EMITS,
    }
)


ROUTE_KINDS = (EdgeKind.ROUTES, EdgeKind.EMITS)

# Those that say by themselves that something is used; the others of these kinds say more of a use, or of nothing used.
USE_KINDS = ORDERING_KINDS - {EdgeKind.OVERRIDES, EdgeKind.READS, EdgeKind.WRITES, EdgeKind.TESTS, *ROUTE_KINDS}


def _no_labels() -> NDArray[np.uint8]:
    return np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class NodeTable:
    """All arrays have shape (n_nodes,) and are indexed by NodeIndex."""

    ids: StringTable  # sorted, unique
    kinds: NDArray[np.uint8]  # NodeKind
    roles: NDArray[np.uint8]  # Role: that of the node's file, or TEST for tests that stand in code
    files: NDArray[np.int32]  # NodeIndex of the node's file; -1 for externals
    parents: NDArray[np.int32]  # NodeIndex of the enclosing node; -1 for files and externals
    start_bytes: NDArray[np.int64]
    end_bytes: NDArray[np.int64]  # exclusive
    start_rows: NDArray[np.int32]  # 0-based
    end_rows: NDArray[np.int32]  # 0-based, inclusive
    signatures: StringTable
    docs: StringTable  # first line of the documentation
    said_layers: NDArray[np.uint8] = field(default_factory=_no_labels)  # Layer that files and types say, or NO_LAYER
    layers: NDArray[np.uint8] = field(default_factory=_no_labels)  # Layer; means nothing for externals
    tiers: NDArray[np.uint8] = field(default_factory=_no_labels)  # Tier; means nothing for externals

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """All arrays have shape (n_edges,), sorted by (source, target, kind), one row for each such triple."""

    indptr: NDArray[np.int64]  # (n_nodes + 1,); edges of source i are indptr[i]:indptr[i + 1]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    kinds: NDArray[np.uint8]  # EdgeKind
    rules: NDArray[np.uint8]  # index into CodeGraph.rule_names
    confidences: NDArray[np.float64]  # in (0, 1]
    candidates: NDArray[np.int32]  # size of the candidate set that the edge belongs to; 1 when unambiguous
    counts: NDArray[np.int32]  # number of sites
    rows: NDArray[np.int32]  # 0-based row of the first site, in the source's file, or the target's; -1: none
    incoming: NDArray[np.int32]  # edge numbers sorted by (target, source, kind)
    incoming_indptr: NDArray[np.int64]  # (n_nodes + 1,)

    def __len__(self) -> int:
        return len(self.sources)


class Sighting(NamedTuple):
    """Calls that were seen when code ran: `n` direct ones, `n_through` by way of code from outside of the repository.

    Meanwhile the caller ran `n_runs` times, 0 if that is not known. `time`, in seconds, and `command` are those of the
    last run that saw one, or that saw none.
    """

    n: int
    n_through: int
    n_runs: int
    time: int
    command: str


class Proof(NamedTuple):
    """An edge whose target was broken, after which its source broke: test `test` fails only with a mutant of `node`.

    `mutant` says in words what is other in it, `n` counts the mutants of `node` with which the test fails. `time` is in
    seconds.
    """

    node: str
    mutant: str
    test: str
    n: int
    time: int


METHOD_SET = "method-set"  # the rule of edges from types to interfaces that no code says they implement
BUILD_VARIANT = "build-variant"  # the rule of edges to functions of which a build compiles one
RUN_RULES = frozenset(("observed", "observed-through", "observed-alike", "proven"))  # of edges that runs alone show


# The rules of edges of names that code and data share. No edge of another rule has the ends and the kind of one of
# these.
LINK_RULES = frozenset(
    {
        *("table", "model-table", "query", "env-set", "env-read", "env-asked", "template", "template-include"),
        *("view-name", "text-key", "text", "run-file", "run-target", "operation", "procedure", "resource"),
    }
)


class Edge(NamedTuple):
    """One edge with names, for people. `line` is 1-based, or None where the edge has no site.

    `observed` is what runs saw of a call, `proven` what broke with its target; None without.
    """

    source: str
    target: str
    kind: str
    rule: str
    confidence: float
    line: int | None
    n: int
    candidates: int = 1
    observed: Sighting | None = None
    proven: Proof | None = None

    @property
    def certainty(self) -> float:
        """Confidence; of functions between which a build chooses, that one of them is meant."""
        return min(1.0, self.confidence * self.candidates) if self.rule == BUILD_VARIANT else self.confidence


def _no_integers() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class UnresolvedCalls:
    """Calls with a known name and no known target.

    They are calls of a member of an unknown receiver, of a variable or parameter, or of a computed value (name "?").
    They have no edge, and their node may use anything of that name.

    All arrays have shape (n_unresolved,), sorted by (source, name), one row for each such pair.
    """

    sources: NDArray[np.int32] = field(default_factory=_no_integers)  # NodeIndex
    names: NDArray[np.int32] = field(default_factory=_no_integers)  # index into `texts`
    counts: NDArray[np.int32] = field(default_factory=_no_integers)  # number of sites
    rows: NDArray[np.int32] = field(default_factory=_no_integers)  # 0-based row of the first site
    texts: StringTable = field(default_factory=lambda: StringTable.from_strings(()))  # sorted, unique

    def __len__(self) -> int:
        return len(self.sources)


# A look-up takes a fifth of the time of a call of the enum, and an answer asks for very many nodes.
_KIND_BY_NUMBER = {int(kind): kind for kind in NodeKind}
_LAYER_LABELS = {int(layer): layer.label for layer in Layer}
_TIER_LABELS = {int(tier): tier.label for tier in Tier}


@dataclass(frozen=True, slots=True)
class CodeGraph:
    """Nodes, edges, the names of the rules of the edges, and unresolved calls."""

    nodes: NodeTable
    edges: EdgeTable
    rule_names: tuple[str, ...]
    unresolved: UnresolvedCalls = field(default_factory=UnresolvedCalls)

    def edge(self, number: int) -> Edge:
        """Return edge `number` with ids, labels and a 1-based line."""
        e = self.edges
        row = int(e.rows[number])
        return Edge(
            source=self.nodes.ids[int(e.sources[number])],
            target=self.nodes.ids[int(e.targets[number])],
            kind=EdgeKind(int(e.kinds[number])).label,
            rule=self.rule_names[int(e.rules[number])],
            confidence=float(e.confidences[number]),
            line=row + 1 if row >= 0 else None,
            n=int(e.counts[number]),
            candidates=int(e.candidates[number]),
        )

    def edges_of(self, numbers: NDArray[np.int64]) -> list[Edge]:
        """Return edges as `edge` does, in less time for many."""
        e, ids = self.edges, self.nodes.ids
        labels = {kind: EdgeKind(kind).label for kind in unique_sorted(e.kinds[numbers]).tolist()}
        rows = zip(
            ids.some(e.sources[numbers].astype(np.int64)), ids.some(e.targets[numbers].astype(np.int64)),
            e.kinds[numbers].tolist(), e.rules[numbers].tolist(), e.confidences[numbers].tolist(),
            e.rows[numbers].tolist(), e.counts[numbers].tolist(), e.candidates[numbers].tolist(), strict=True,
        )  # fmt: skip
        return [
            Edge(source, target, labels[kind], self.rule_names[rule], confidence, row + 1 if row >= 0 else None, n, of)
            for source, target, kind, rule, confidence, row, n, of in rows
        ]

    def certainties(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return `Edge.certainty` of edges by number, as a new array of shape (n,)."""
        certainties = self.edges.confidences[numbers]
        if BUILD_VARIANT in self.rule_names:
            shared = self.edges.rules[numbers] == self.rule_names.index(BUILD_VARIANT)
            certainties[shared] = np.minimum(1.0, certainties[shared] * self.edges.candidates[numbers][shared])
        return certainties

    def outgoing(self, node: int) -> range:
        """Return edge numbers with the source `node`."""
        return range(int(self.edges.indptr[node]), int(self.edges.indptr[node + 1]))

    def incoming(self, node: int) -> Iterator[int]:
        """Yield edge numbers with the target `node`, by ascending source."""
        start, stop = int(self.edges.incoming_indptr[node]), int(self.edges.incoming_indptr[node + 1])
        return (int(number) for number in self.edges.incoming[start:stop])

    def edges_into(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of all edges that lead to one of `nodes`, by target."""
        return np.asarray(self.edges.incoming[_ranges(self.edges.incoming_indptr, nodes)], dtype=np.int64)

    def edges_out_of(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of all edges that leave one of `nodes`, by source."""
        return _ranges(self.edges.indptr, nodes)

    def with_contents(self, nodes: Sequence[int]) -> NDArray[np.int64]:
        """Return `nodes` and everything inside them, ascending."""
        parents = self.nodes.parents
        inside = np.zeros(len(self.nodes) + 1, dtype=np.bool_)  # the last entry answers for nodes without a parent
        inside[np.asarray(nodes, dtype=np.int64)] = True
        while True:
            more = inside[parents] & ~inside[:-1]
            if not more.any():
                return np.flatnonzero(inside[:-1])
            inside[:-1] |= more

    def namesakes(self, node: int) -> list[int]:
        """Return the other nodes whose ids differ only by the number of a repeated name: overloads, accessors."""
        ids = self.nodes.ids
        own = ids[node]
        if "::" not in own:
            return []
        name = _REPEATED.sub("", own)
        repeated = [other for other in ids.prefix_range(f"{name}~") if ids[other].removeprefix(f"{name}~").isdigit()]
        first = node if name == own else ids.position(name)
        return [other for other in (first, *repeated) if other not in (node, -1)]

    def definition_of(self, node: int) -> int:
        """Return the definition with the body of what a node of an interface file declares, else the node itself."""
        path, symbol = split_id(self.nodes.ids[node])
        defining = defining_path(path) if symbol else ""
        if not defining:
            return node
        meant, found = declared_as(self.kind(node)), node
        for other in self._namesakes_in(defining, symbol or ""):  # of which others see the last
            if declared_as(self.kind(other)) is meant:
                found = other
        return found

    def _namesakes_in(self, path: str, symbol: str) -> Iterator[int]:
        """Yield the definitions of a file that have the name of a symbol, in order."""
        name = _REPEATED.sub("", symbol)
        for number in count(1):
            other = self.nodes.ids.position(symbol_id(path, name if number == 1 else f"{name}~{number}"))
            if other < 0:
                return
            yield other

    def documentation(self, node: int) -> str:
        """Return what the code says of a node, or else what an interface file says that declares it."""
        doc = self.nodes.docs[node]
        path, symbol = split_id(self.nodes.ids[node])
        declaring = "" if doc or not symbol else declaring_path(path)
        if not declaring:
            return doc
        for other in self._namesakes_in(declaring, symbol or ""):
            if self.nodes.docs[other] and self.definition_of(other) == node:
                return self.nodes.docs[other]
        return ""

    def declarations(self) -> NDArray[np.int64]:
        """Return the nodes of files that declare what others define; some of them are defined nowhere."""
        files = np.flatnonzero(self.nodes.kinds == NodeKind.FILE)
        files = files[self.nodes.ids.ending_in(files, DECLARING_ENDINGS)]
        if not len(files):
            return files
        return np.flatnonzero(np.isin(self.nodes.files, files) & (self.nodes.kinds != NodeKind.FILE))

    def kind(self, node: int) -> NodeKind:
        """Return the kind of a node."""
        return _KIND_BY_NUMBER[int(self.nodes.kinds[node])]

    def layer(self, node: int) -> str | None:
        """Return the label of a node's layer; None outside of the repository."""
        outside = self.kind(node) is NodeKind.EXTERNAL
        return None if outside else _LAYER_LABELS[int(self.nodes.layers[node])]

    def tier(self, node: int) -> str | None:
        """Return the label of a node's tier; None outside of the repository."""
        outside = self.kind(node) is NodeKind.EXTERNAL
        return None if outside else _TIER_LABELS[int(self.nodes.tiers[node])]

    def layers_and_tiers(self, nodes: NDArray[np.int64]) -> list[tuple[str | None, str | None]]:
        """Return (`layer`, `tier`) of each of some nodes, in less time for many."""
        is_outside = self.nodes.kinds[nodes] == NodeKind.EXTERNAL
        columns = (is_outside, self.nodes.layers[nodes], self.nodes.tiers[nodes])
        return [
            (None, None) if outside else (_LAYER_LABELS[layer], _TIER_LABELS[tier])
            for outside, layer, tier in zip(*(column.tolist() for column in columns), strict=True)
        ]


_MAX_BASE_VISITS = 200  # visits along the bases of one type; a cycle of bases ends here


def linearize(owner: int, bases_of: Callable[[int], Sequence[int]]) -> tuple[int, ...]:
    """Return a type and its bases, nearest first, each once; `bases_of` gives the direct bases of a type in order.

    The order is depth first and left to right. It is Python's C3 order except some crossed diamonds: a base that
    several types share comes after all of them. Cycles end where they close.

    >>> linearize(0, {0: (1, 2), 1: (3,), 2: (3,), 3: (0,)}.__getitem__)
    (0, 1, 2, 3)
    """
    last_visits: dict[int, None] = {}  # in the order of the last visit
    stack, n_visits = [owner], 0
    while stack and n_visits < _MAX_BASE_VISITS:
        each = stack.pop()
        if each == owner and last_visits:
            continue
        n_visits += 1
        last_visits.pop(each, None)
        last_visits[each] = None
        stack.extend(reversed(bases_of(each)))
    return tuple(last_visits)


def rows_of(
    indptr: NDArray[np.int64] | NDArray[np.int32], nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (the rows `indptr[node]:indptr[node + 1]` of nodes, the position of the node of each).

    >>> [each.tolist() for each in rows_of(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[2, 3, 4, 0, 1], [0, 0, 0, 1, 1]]
    """
    starts = indptr[nodes].astype(np.int64)
    n_rows = indptr[nodes + 1] - starts
    before = np.cumsum(n_rows) - n_rows
    return np.arange(int(n_rows.sum())) + np.repeat(starts - before, n_rows), np.repeat(np.arange(len(nodes)), n_rows)


@dataclass(frozen=True, slots=True)
class LinkedGraph:
    """A new graph, and the nodes of the facts it was built from.

    `file_nodes[i]` is the node of file i, `document_nodes[i][j]` that of its definition (or, for prose, passage) j.
    `troubles` are files whose edges may be incomplete, with the exception.
    """

    graph: CodeGraph
    file_nodes: NDArray[np.int32]  # (n_files,)
    document_nodes: tuple[NDArray[np.int32], ...]
    troubles: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SubgraphEdge:
    """An edge between two selected nodes, by their positions.

    `number` is the edge's row in the EdgeTable, or -1 if it stands for several (lifted to files). `row` is the 0-based
    row of its first site or -1.
    """

    source: int
    target: int
    kind: int
    rule: int
    confidence: float
    candidates: int
    n: int
    row: int
    number: int


@dataclass(frozen=True, slots=True)
class OrderedSubgraph:
    """A subgraph in an order without cycles.

    `order` holds each position once; every edge of `kept` goes forward in it (backward with dependencies first). `kept`
    + `removed` + `unordered` + `loops` are all edges of the subgraph: `removed` would close a cycle of edges at least
    as strong, `unordered` are of kinds that do not order (contains, mentions), `loops` start and end at the same node.
    """

    order: tuple[int, ...]
    kept: tuple[SubgraphEdge, ...]
    removed: tuple[SubgraphEdge, ...]
    unordered: tuple[SubgraphEdge, ...]
    loops: tuple[SubgraphEdge, ...]


def _ranges(indptr: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = indptr[rows]
    lengths = indptr[rows + 1] - starts
    first = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(starts - first, lengths), dtype=np.int64)
