"""The part of the graph that is an answer: nodes, the edges among them, and an order without cycles."""

from causalist._internal.lazy import dataclass


@dataclass(frozen=True, slots=True)
class SubgraphEdge:
    """An edge between two chosen nodes, by their positions among the chosen. `number` is the edge's row in the
    EdgeTable, or -1 when it was lifted from several (to files). `row` is the 0-based row of its first site or -1."""

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
    """`order` holds each chosen position once; every edge of `kept` goes forward in it (backward with
    dependencies first). `kept` + `removed` + `unordered` + `loops` are all edges of the subgraph: `removed` would
    have closed a cycle of edges at least as strong, `unordered` are of kinds that do not order (contains, mentions),
    `loops` start and end at the same node."""

    order: tuple[int, ...]
    kept: tuple[SubgraphEdge, ...]
    removed: tuple[SubgraphEdge, ...]
    unordered: tuple[SubgraphEdge, ...]
    loops: tuple[SubgraphEdge, ...]
