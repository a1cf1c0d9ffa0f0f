"""Personalized PageRank over many shards: forward push in each, with messages along the edges between them.

In: seeds in some shards, a way to open others, the edges across. Out: scores by repository, with a bound on the error.
The result is that of `rank.push_pagerank` on the joined graph, up to that bound. A shard is opened when mass above the
threshold arrives in it; mass that arrives in a shard that may not be opened stays there and counts in the bound.

Only columns of M of nodes with edges across differ from those of the shard alone: such a node shares its mass among
more links. They are computed again from its edges, so that a shard never depends on what uses it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.fleet.joined import CrossEdges, EdgeEnds
from causalist.model.graph import CodeGraph, rows_of
from causalist.model.index import Index
from causalist.model.node_ids import NodeKind
from causalist.rank import WalkWeights
from causalist.rank.pagerank import always, check_damping, to_csc

_COLUMN_SLACK = 1e-12
MAX_SHARDS = 24  # that one walk opens
_MAX_ROUNDS = 10_000


class FleetScores(NamedTuple):
    """Scores by repository, each of shape (n_nodes,), which sum to 1 over all together with `unopened`.

    `unopened` is the mass of nodes, by repository and id, in shards that were not opened. `bound` is the largest L1
    distance to the exact scores.
    """

    scores: Mapping[str, NDArray[np.float64]]
    unopened: Mapping[str, Mapping[str, float]]
    n_rounds: int
    residual: float
    bound: float


class _Links(NamedTuple):
    """Links that leave nodes: `targets[k]` with `weights[k]` for k in indptr[i]:indptr[i + 1]."""

    indptr: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class ShardColumns:
    """The columns of M of a shard in the fleet.

    `inside` has the links within it, those of nodes at the edge left out; these are in `boundary` and, as places in
    `others`, in `across`. `place` is the row of a node in those two, -1 for all others.
    """

    index: Index
    inside: _Links
    place: NDArray[np.int64]  # (n_nodes,)
    boundary: _Links
    across: _Links
    others: tuple[tuple[str, str], ...]  # (repository, id)
    n_links: NDArray[np.int64]  # (n_nodes,)

    @classmethod
    def of(cls, name: str, index: Index, edges: CrossEdges, weights: WalkWeights | None = None) -> "ShardColumns":
        """Return the columns of a shard with the edges between it and others."""
        table = (weights or WalkWeights()).table()
        indptr, targets, values = to_csc(index.transition)
        graph = index.graph
        columns = [
            _ends_of(graph, edges, name, table, backward=False),
            _ends_of(graph, edges, name, table, backward=True),
        ]
        nodes = np.unique(np.concatenate([each.nodes for each in columns])).astype(np.int64)
        place = np.full(len(graph.nodes), -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        rows, ends, masses, totals = _own_links(graph, nodes, place, table)
        others: dict[tuple[str, str], int] = {}
        cross_rows: list[NDArray[np.int64]] = []
        cross_ends: list[NDArray[np.int64]] = []
        cross_masses: list[NDArray[np.float64]] = []
        for each in columns:
            totals += _sums(place[each.nodes], each.spread, len(nodes))
            numbers = [others.setdefault(other, len(others)) for other in each.others]
            cross_rows.append(place[each.nodes])
            cross_ends.append(np.array(numbers, dtype=np.int64)[each.which])
            cross_masses.append(each.masses)
        row, end, mass = np.concatenate(cross_rows), np.concatenate(cross_ends), np.concatenate(cross_masses)
        masses, mass = masses / totals[rows], mass / totals[row]
        sums = _sums(rows, masses, len(nodes)) + _sums(row, mass, len(nodes))
        scale = np.where(sums > 1 + _COLUMN_SLACK, sums, 1.0)
        boundary = make_links(rows, ends, masses / scale[rows], len(nodes))
        across = make_links(row, end, mass / scale[row], len(nodes))
        owners = np.repeat(np.arange(len(graph.nodes)), np.diff(indptr))
        inside = _Links(indptr.astype(np.int64), targets.astype(np.int64), np.where(place[owners] >= 0, 0.0, values))
        n_links = np.diff(indptr).astype(np.int64)
        n_links[nodes] = np.diff(boundary.indptr) + np.diff(across.indptr)
        return cls(index, inside, place, boundary, across, tuple(others), n_links)


class _Ends(NamedTuple):
    nodes: NDArray[np.int64]  # (n,), of the shard
    others: list[tuple[str, str]]
    which: NDArray[np.int64]  # (n,), index into `others`
    masses: NDArray[np.float64]  # (n,), weight * confidence
    spread: NDArray[np.float64]  # (n,), what each adds to the total of its node


def _ends_of(graph: CodeGraph, edges: CrossEdges, name: str, table: NDArray[np.float64], *, backward: bool) -> _Ends:
    """Return the walked edges across out of a shard, or into it, with nodes that it has."""
    ends: EdgeEnds = edges.ends_at(name, backward=backward)
    positions = np.array([graph.nodes.ids.position(each) for each in ends.nodes] or [-1], dtype=np.int64)
    nodes = positions[ends.places] if len(ends.places) else ends.places
    weights = table[int(backward)][ends.kinds]
    kept = (nodes >= 0) & (weights > 0)
    kept[kept] &= graph.nodes.kinds[nodes[kept]] != NodeKind.EXTERNAL
    keys = ends.repositories * max(len(ends.others), 1) + ends.other_places
    distinct, which = np.unique(keys[kept], return_inverse=True)
    n = max(len(ends.others), 1)
    others = [(edges.names[key // n], ends.others[key % n]) for key in distinct.tolist()]
    return _Ends(nodes[kept], others, which, weights[kept] * ends.confidences[kept], weights[kept])


def _own_links(
    graph: CodeGraph, nodes: NDArray[np.int64], place: NDArray[np.int64], table: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return (place of the node, other end, weight * confidence) of links inside the shard, and totals by place."""
    edges, outside = graph.edges, graph.nodes.kinds == NodeKind.EXTERNAL
    totals = np.zeros(len(nodes))
    rows, ends, masses = [], [], []
    for backward, numbers in ((False, graph.edges_out_of(nodes)), (True, graph.edges_into(nodes))):
        here, there = (edges.targets, edges.sources) if backward else (edges.sources, edges.targets)
        weights = table[int(backward)][edges.kinds[numbers]] * ~outside[there[numbers]]
        at = place[here[numbers]]
        totals += _sums(at, weights if backward else weights / edges.candidates[numbers], len(nodes))
        kept = weights > 0
        rows.append(at[kept])
        ends.append(there[numbers][kept].astype(np.int64))
        masses.append(weights[kept] * edges.confidences[numbers][kept])
    return np.concatenate(rows), np.concatenate(ends), np.concatenate(masses), totals


def _sums(places: NDArray[np.int64], values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the sums of values by place, of shape (n,)."""
    return np.bincount(places, weights=values, minlength=n).astype(np.float64)  # of nothing, numpy makes integers


def make_links(rows: NDArray[np.int64], ends: NDArray[np.int64], weights: NDArray[np.float64], n: int) -> _Links:
    """Return the links from `n` nodes, given by node, end and weight, each of shape (n_links,)."""
    order = np.lexsort((ends, rows))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    return _Links(indptr, ends[order], weights[order])


@dataclass
class _Shard:
    """Mass in a shard: `pushed` is settled, `rest` is still to be pushed on."""

    columns: ShardColumns
    pushed: NDArray[np.float64] = field(init=False)
    rest: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.pushed = np.zeros(len(self.columns.place))
        self.rest = np.zeros(len(self.columns.place))

    def push(self, epsilon: float, damping: float) -> dict[tuple[str, str], float] | None:
        """Push all mass above the threshold one link on; return what leaves the shard, None if nothing was pushed."""
        columns = self.columns
        due = np.flatnonzero(self.rest >= epsilon * np.maximum(columns.n_links, 1))
        if not len(due):
            return None
        moved = self.rest[due]
        self.pushed[due] += moved
        self.rest[due] = 0.0
        moved = damping * moved
        at = columns.place[due]
        is_edge = at >= 0
        for links, rows, masses in (
            (columns.inside, due[~is_edge], moved[~is_edge]),
            (columns.boundary, at[is_edge], moved[is_edge]),
        ):
            numbers, givers = rows_of(links.indptr, rows)
            self.rest += _sums(links.targets[numbers], links.weights[numbers] * masses[givers], len(self.rest))
        numbers, givers = rows_of(columns.across.indptr, at[is_edge])
        across = columns.across
        sent = _sums(across.targets[numbers], across.weights[numbers] * moved[is_edge][givers], len(columns.others))
        return {columns.others[i]: float(sent[i]) for i in np.flatnonzero(sent).tolist()}


def walk_across(
    seeds: Mapping[str, NDArray[np.float64]],
    columns_of: Callable[[str], ShardColumns | None],
    *,
    damping: float,
    epsilon: float,
    max_shards: int = MAX_SHARDS,
    should_continue: Callable[[], bool] = always,
) -> FleetScores:
    """Return PageRank from seeds in some shards, approximated from below as `push_pagerank` does.

    `seeds` are by repository, of shape (n_nodes,) each; their sum is scaled to 1. `columns_of` opens a shard, None if
    it cannot be opened. With the mass p that was pushed and q that was not, scores are (p + q) / sum(p + q). What is
    missing has a sum of at most E = damping / (1 - damping) * sum(q), as no column of M exceeds 1, and the bound is
    2 * E / (sum(p + q) + E). Raises UsageError for seeds without mass, and for damping and epsilon out of range.
    """
    check_damping(damping)
    if not 0 < epsilon <= 1:
        raise UsageError(f"epsilon is {epsilon}; it lies above 0 and is at most 1")
    mass = sum(float(each.sum()) for each in seeds.values())
    if not mass > 0 or not np.isfinite(mass) or any(bool((each < 0).any()) for each in seeds.values()):
        raise UsageError("the seeds of a walk must be numbers of at least 0, some of them above")
    shards: dict[str, _Shard] = {}
    for name in sorted(seeds):
        columns = columns_of(name)
        if columns is None or len(columns.place) != len(seeds[name]):
            raise UsageError(f"the seeds in {name} are not those of its nodes")
        shards[name] = _Shard(columns)
        shards[name].rest += seeds[name] / mass
    unopened: dict[str, dict[str, float]] = {}
    shut: set[str] = set()
    rounds = 0
    while rounds < _MAX_ROUNDS and should_continue():
        messages: dict[str, dict[str, float]] = {}
        is_done = True
        for name in sorted(shards):
            sent = shards[name].push(epsilon, damping)
            is_done = is_done and sent is None
            for (other, node), value in (sent or {}).items():
                inbox = messages.setdefault(other, {})
                inbox[node] = inbox.get(node, 0.0) + value
        if is_done:
            break
        rounds += 1
        for other, inbox in sorted(messages.items()):
            waiting = unopened.setdefault(other, {}) if other not in shards else {}
            for node, value in inbox.items():
                waiting[node] = waiting.get(node, 0.0) + value
            if other not in shards and other not in shut and max(waiting.values()) >= epsilon:
                opened = columns_of(other) if len(shards) < max_shards else None
                if opened is None:
                    shut.add(other)
                else:
                    shards[other] = _Shard(opened)
            if other in shards:
                _deliver(shards[other], unopened.pop(other, waiting))
    return _finish(shards, unopened, rounds, damping)


def _deliver(shard: _Shard, inbox: Mapping[str, float]) -> None:
    ids = shard.columns.index.graph.nodes.ids
    for node, value in inbox.items():
        position = ids.position(node)
        if position >= 0:  # else a row of the table that is older than the shard: its mass is lost, as at a dead end
            shard.rest[position] += value


def _finish(
    shards: Mapping[str, _Shard], unopened: Mapping[str, Mapping[str, float]], rounds: int, damping: float
) -> FleetScores:
    outside = sum(sum(each.values()) for each in unopened.values())
    residual = sum(float(each.rest.sum()) for each in shards.values()) + outside
    total = sum(float(each.pushed.sum()) for each in shards.values()) + residual
    missing = damping / (1.0 - damping) * residual
    return FleetScores(
        {name: (each.pushed + each.rest) / total for name, each in sorted(shards.items())},
        {
            name: {node: value / total for node, value in sorted(each.items())}
            for name, each in sorted(unopened.items())
        },
        rounds,
        residual,
        2.0 * missing / (total + missing),
    )
