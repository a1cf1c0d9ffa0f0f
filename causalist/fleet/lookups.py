"""Look-ups over a fleet: names, callers, paths, impact, tests and the map, across repositories.

In: a `FleetView` and names, as `repository:name` or a name that some repository has. Out: what look-ups of a single
repository return, with ids that begin with the repository. They run on the joined graph of the repositories that edges
across lead to, so that the result is that of one graph of all; how many are joined is bounded, and the rest is named.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from causalist import navigate
from causalist.errors import AmbiguousNode, CausalistError, UnknownNode
from causalist.fleet.access import FleetView
from causalist.fleet.joined import (
    CrossEdge,
    FleetText,
    GraphPart,
    JoinedGraph,
    join_graphs,
    join_indexes,
    joined_id,
    split_joined,
)
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.lookup import Affected, GraphPath, TestChoice
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS
from causalist.model.scores import Hit
from causalist.model.source import FileEntry, SourceFile
from causalist.pipeline.repository import Repository
from causalist.rank.terms import terms_of

MAX_JOINED = 64  # repositories in one graph
_MAX_SEARCHED = 24  # repositories in which a name without one is looked for
_MAX_NAMED = 8  # candidates that a message lists
_DERIVING = frozenset({EdgeKind.OVERRIDES.label, EdgeKind.EXTENDS.label, EdgeKind.IMPLEMENTS.label})
_Found = TypeVar("_Found")


class FleetNode(NamedTuple):
    """A node of a repository."""

    repository: str
    node: str

    @property
    def id(self) -> str:
        """The id in the fleet."""
        return joined_id(self.repository, self.node)


class Callers(NamedTuple):
    """Calls of a node, indirect ones, other uses, and mentions in documentation; and repositories left out.

    `types` are the targets of indirect calls that are types.
    """

    calls: tuple[Edge, ...]
    through: tuple[Edge, ...]
    references: tuple[Edge, ...]
    documentation: tuple[Edge, ...]
    types: frozenset[str]
    left_out: tuple[str, ...]


class FleetImpact(NamedTuple):
    """Users of nodes over all repositories, mentions in documentation, and repositories left out."""

    affected: tuple[Affected, ...]
    documentation: tuple[Edge, ...]
    left_out: tuple[str, ...]


class RepositorySummary(NamedTuple):
    """A line of the map of a fleet. `uses` and `used_by` count repositories."""

    name: str
    about: str
    commit: str
    n_files: int
    n_nodes: int
    uses: int
    used_by: int


def resolve_node(view: FleetView, name: str) -> FleetNode:
    """Return the node that `name` means in the fleet.

    Raises UnknownNode, and AmbiguousNode if several repositories, or several nodes of one, answer to it.
    """
    repository, inner = view.split_name(name)
    candidates: list[FleetNode] = []
    reasons: list[CausalistError] = []
    for each in [repository] if repository else _repositories_with(view, inner):
        opened = view.repository(each)
        try:
            candidates.append(FleetNode(each, opened.index.graph.nodes.ids[opened.resolve(inner)]))
        except AmbiguousNode as error:
            candidates += [FleetNode(each, candidate) for candidate in error.candidates]
        except CausalistError as error:
            reasons.append(error)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        ids = tuple(sorted(each.id for each in candidates))
        more = f"\n  and {len(ids) - _MAX_NAMED} more" if len(ids) > _MAX_NAMED else ""
        listed = "".join(f"\n  {each}" for each in ids[:_MAX_NAMED])
        raise AmbiguousNode(f"{len(ids)} nodes are called {name!r}:{listed}{more}", name, ids)
    if repository and reasons:
        raise reasons[0]
    raise UnknownNode(f"no repository has a node called {name!r}; `causalist fleet find` searches by similar names")


def _repositories_with(view: FleetView, name: str) -> list[str]:
    """Return the repositories that may have a node of a name, those that have its word most often first."""
    words = re.findall(r"\w+", re.sub(r":\d+(-\d+)?$|\(.*\)$", "", name))
    terms = [terms_of(word)[-1] for word in words if terms_of(word)]
    if not terms:
        return []
    repositories = view.catalog.having(terms[-1])
    # The last word of a path may be the ending of the file.
    paths = {each for term in terms[-2:] for each in view.catalog.having(term, "paths")}
    repositories += sorted(paths - set(repositories))
    others = {each for term in terms[:-1] for field in ("names", "paths") for each in view.catalog.having(term, field)}
    # Of `Client.get` the ones that have both words come first.
    repositories.sort(key=lambda each: each not in others)
    return repositories[:_MAX_SEARCHED]


def find_nodes(view: FleetView, name: str, *, limit: int = 20, kind: str | None = None) -> tuple[Hit, ...]:
    """Return nodes with a name equal or similar to `name`, best first. Raises UsageError."""
    repository, inner = view.split_name(name)
    places = [repository] if repository else _repositories_with(view, inner) or view.catalog.with_names_like(inner)
    rows: list[tuple[float, int, str, Hit]] = []
    for each in places[:_MAX_SEARCHED]:
        hits = navigate.find_nodes(view.repository(each).index, inner, limit, kind)
        rows += [(-hit.score, position, each, hit) for position, hit in enumerate(hits)]
    rows.sort(key=lambda row: row[:3])
    return tuple(_joined_hit(each, hit) for _, _, each, hit in rows[:limit])


def _joined_hit(repository: str, hit: Hit) -> Hit:
    path = f"{repository}:{hit.path}" if hit.path else ""
    return replace(hit, id=joined_id(repository, hit.id), path=path)


def find_callers(view: FleetView, node: FleetNode) -> Callers:
    """Return the calls and other uses of a node: those of other repositories first, then the most confident first."""
    joined, left_out = _join(view, _users_of(view, {node.repository: _trigger(view, node)}), [node.repository])
    place = joined.place(*node)
    graph = joined.graph
    through = navigate.find_indirect_calls(graph, place)
    kinds = {each.target: graph.kind(graph.nodes.ids.position(each.target)) for each in through}

    def others_first(edges: Sequence[Edge]) -> tuple[Edge, ...]:
        return tuple(sorted(edges, key=lambda edge: split_joined(edge.source)[0] == node.repository))

    return Callers(
        others_first(navigate.calls_to(graph, place)),
        others_first(through),
        others_first(navigate.references_to(graph, place)),
        others_first(navigate.mentions_of(graph, [place])),
        frozenset(name for name, kind in kinds.items() if kind in TYPE_KINDS),
        left_out,
    )


def find_impact(
    view: FleetView, nodes: Sequence[FleetNode], *, max_depth: int | None = None, min_confidence: float = 0.0
) -> FleetImpact:
    """Return the direct and indirect users of nodes in all repositories, by depth, then id. Raises UsageError."""

    def search(joined: JoinedGraph) -> tuple[Affected, ...]:
        graph = joined.graph
        given = [navigate.with_overloads_and_members(graph, [joined.place(*node)]) for node in nodes]
        limits = {"max_depth": max_depth, "min_confidence": min_confidence}
        impacts = [navigate.find_affected_nodes(graph, changed, **limits) for changed in given]  # type: ignore[arg-type]
        return impacts[0] if len(impacts) == 1 else navigate.unite_affected(graph, given, impacts)

    joined, affected, left_out = _search_across(view, nodes, search)
    mentions = navigate.mentions_of(joined.graph, [joined.place(*node) for node in nodes])
    kept = tuple(edge for edge in mentions if edge.confidence >= min_confidence)
    return FleetImpact(affected, kept, left_out)


def find_tests(
    view: FleetView, nodes: Sequence[FleetNode], *, max_depth: int | None = None, min_confidence: float = 0.0
) -> tuple[TestChoice, tuple[str, ...]]:
    """Return (tests of all repositories that may run one of some nodes, repositories left out). Raises UsageError."""

    def search(joined: JoinedGraph) -> tuple[Affected, ...]:
        graph = joined.graph
        texts = FleetText({part.name: view.repository(part.name) for part in joined.parts})
        given = [navigate.with_overloads_and_members(graph, [joined.place(*node)]) for node in nodes]
        impacts = [
            navigate.find_tests_reaching(
                graph, changed, max_depth=max_depth, min_confidence=min_confidence,
                lexical=joined.words_of(changed.tolist()), read_text=texts.read_text,
            )
            for changed in given
        ]  # fmt: skip
        return impacts[0] if len(impacts) == 1 else navigate.unite_affected(graph, given, impacts)

    joined, tests_reaching, left_out = _search_across(view, nodes, search, of_users=True)
    tests = tuple(sorted(tests_reaching, key=lambda each: (-each.probability, each.depth, each.node)))
    choice = TestChoice(tests)
    if any(joined.graph.kind(joined.place(*node)) not in CALLABLE_KINDS for node in nodes):
        return choice, left_out
    return choice._replace(n_probable=navigate.count_probable_tests(tests)), left_out


def find_path(view: FleetView, source: FleetNode, target: FleetNode) -> tuple[GraphPath | None, tuple[str, ...]]:
    """Return (the most probable path between two nodes, forward if possible; repositories left out)."""
    names = _between(view, source.repository, target.repository)
    joined, left_out = _join(view, names, [source.repository, target.repository])
    path = navigate.find_graph_path(joined.graph, joined.transition, joined.place(*source), joined.place(*target))
    return path, left_out


def summarize(view: FleetView, limit: int = 50) -> tuple[list[RepositorySummary], int]:
    """Return (the repositories that others use most, then the largest; how many there are)."""
    catalog = view.catalog
    n = len(catalog)
    users, used, _ = view.across.pairs
    of = view.across.names
    place = {name: i for i, name in enumerate(of)}
    n_uses = np.bincount(users, minlength=max(len(of), 1))
    n_users = np.bincount(used, minlength=max(len(of), 1))
    ranks = np.round(catalog.pagerank(view.across), 12)
    sizes = np.array(catalog.columns["n_nodes"], dtype=np.int64)
    order = np.lexsort((np.arange(n), -sizes, -ranks))[:limit]
    rows = []
    for i in order.tolist():
        row = {name: values[i] for name, values in catalog.columns.items()}
        at = place.get(row["name"])
        uses, users_ = (0, 0) if at is None else (int(n_uses[at]), int(n_users[at]))
        rows.append(RepositorySummary(row["name"], row["about"] or "", row["commit"], row["n_files"], row["n_nodes"],
                                      uses, users_))  # fmt: skip
    return rows, n


def open_around(view: FleetView, nodes: Sequence[FleetNode], *, with_users_of_users: bool) -> Repository:
    """Return the repositories of some nodes and those that use them as one repository, for what reads an index.

    With `with_users_of_users`, also those that use these, and so on. Its ids are those of the fleet.
    """
    first = [node.repository for node in nodes]
    if with_users_of_users:
        joined = _search_across(view, nodes, lambda _: (), of_users=True)[0]
    else:
        ids: dict[str, frozenset[str]] = {}
        for node in nodes:
            ids[node.repository] = ids.get(node.repository, frozenset()) | _trigger(view, node)
        used = [e.target_repo for name in first for e in view.across.out_of(name) if e.source_node in ids[name]]
        joined = _join(view, [*sorted(set(used)), *_users_of(view, ids)], first)[0]
    return _as_repository(view, joined)


def open_between(view: FleetView, source: FleetNode, target: FleetNode) -> Repository:
    """Return the repositories between two nodes as one, as `open_around` does."""
    ends = [source.repository, target.repository]
    return _as_repository(view, _join(view, _between(view, *ends), ends)[0])


def _as_repository(view: FleetView, joined: JoinedGraph) -> Repository:
    def read(entry: FileEntry) -> SourceFile | str:
        name, path = split_joined(entry.path)
        return view.repository(name).read(FileEntry(path, entry.size, 0))

    return Repository(Path(view.name), join_indexes(joined), read)


# -- joining


def _trigger(view: FleetView, node: FleetNode) -> frozenset[str]:
    """Return the ids in a repository whose uses may be uses of a node: its own, those inside of it, its type's."""
    graph = view.repository(node.repository).index.graph
    return _with_around(graph, [graph.nodes.ids.position(node.node)])


def _with_around(graph: CodeGraph, nodes: Collection[int]) -> frozenset[str]:
    """Return the ids of nodes, of what is inside of them, and of the types around them."""
    inside = navigate.with_overloads_and_members(graph, sorted(nodes))
    around: set[int] = set()
    for node in inside.tolist():
        outer = int(graph.nodes.parents[node])
        while outer >= 0 and graph.kind(outer) in TYPE_KINDS:
            around.add(outer)
            outer = int(graph.nodes.parents[outer])
    wanted = np.array(sorted({*inside.tolist(), *around}), dtype=np.int64)
    return frozenset(graph.nodes.ids.some(wanted))


def _users_of(view: FleetView, ids: dict[str, frozenset[str]]) -> list[str]:
    """Return the repositories with edges into these nodes, or that these nodes override, those with most first."""
    counts: dict[str, int] = {}
    for repository, nodes in sorted(ids.items()):
        users = (each.source_repo for each in view.across.into(repository) if each.target_node in nodes)
        bases = (
            each.target_repo
            for each in view.across.out_of(repository)
            if each.kind in _DERIVING and each.source_node in nodes
        )
        for name in (*users, *bases):
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))


def _join(view: FleetView, names: Iterable[str], first: Sequence[str]) -> tuple[JoinedGraph, tuple[str, ...]]:
    """Return (the joined graph of repositories, those in `first` at any rate; the names of those left out)."""
    wanted = list(dict.fromkeys([*first, *names]))
    kept, left_out = wanted[:MAX_JOINED], wanted[MAX_JOINED:]
    parts = [GraphPart(name, view.repository(name).index) for name in kept]
    across: list[CrossEdge] = view.across.between(kept) if len(kept) > 1 else []
    return join_graphs(parts, across), tuple(sorted(left_out))


def _search_across(
    view: FleetView,
    nodes: Sequence[FleetNode],
    search: Callable[[JoinedGraph], tuple[Affected, ...]],
    *,
    of_users: bool = False,
) -> tuple[JoinedGraph, tuple[Affected, ...], tuple[str, ...]]:
    """Return (the joined graph, what `search` finds in it, repositories left out), when no more can be reached.

    Repositories that use what was reached are joined, and the search begins again, until there are no more of them.
    With `of_users`, `search` finds only some users of what it reaches, and repositories are joined by all of them.
    """
    reached: dict[str, set[str]] = {}
    for node in nodes:
        reached.setdefault(node.repository, set()).update(_trigger(view, node))
    names = sorted(reached)
    while True:
        joined, left_out = _join(view, names, sorted({node.repository for node in nodes}))
        affected = search(joined)
        every = _all_users(joined, nodes) if of_users else [each.node for each in affected]
        by_repository: dict[str, list[int]] = {}
        for each in every:
            repository, inner = split_joined(each)
            position = view.repository(repository).index.graph.nodes.ids.position(inner)
            by_repository.setdefault(repository, []).append(position)
        for repository, positions in by_repository.items():
            graph = view.repository(repository).index.graph
            reached.setdefault(repository, set()).update(_with_around(graph, [each for each in positions if each >= 0]))
        more = _users_of(view, {name: frozenset(ids) for name, ids in reached.items()})
        added = [name for name in more if name not in names]
        if not added or left_out:
            return joined, affected, tuple(sorted({*left_out, *added}))
        names += added


def _all_users(joined: JoinedGraph, nodes: Sequence[FleetNode]) -> list[str]:
    changed = navigate.with_overloads_and_members(joined.graph, [joined.place(*node) for node in nodes])
    users = navigate.find_affected_nodes(joined.graph, changed, max_depth=None, min_confidence=0.0)
    return [each.node for each in users]


def _between(view: FleetView, source: str, target: str) -> list[str]:
    """Return the repositories on ways of edges from one to another, the shortest ways first; then against edges."""
    if source == target:
        return [source]
    users, used, _ = view.across.pairs
    names = view.across.names
    ways = [(users, used), (used, users), (np.concatenate([users, used]), np.concatenate([used, users]))]
    repositories: list[str] = []
    for here, there in ways:
        if source not in names or target not in names:
            break
        ahead = _distances(here, there, names.index(source), len(names))
        back = _distances(there, here, names.index(target), len(names))
        length = np.where((ahead < 0) | (back < 0), -1, ahead + back)
        on_way = np.flatnonzero(length >= 0)
        order = on_way[np.lexsort((on_way, length[on_way]))]
        repositories = [names[i] for i in order.tolist()]
        if repositories:
            break
    return repositories


def _distances(here: NDArray[np.int64], there: NDArray[np.int64], start: int, n: int) -> NDArray[np.int64]:
    """Return the number of steps from `start` to each of n, -1 where none lead."""
    distances = np.full(n, -1, dtype=np.int64)
    distances[start] = 0
    level = 0
    while True:
        ends = there[distances[here] == level]
        ends = ends[distances[ends] < 0]
        if not len(ends):
            return distances
        level += 1
        distances[ends] = level
