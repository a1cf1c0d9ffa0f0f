"""Dependency order of a set of nodes: what to read, build, port or review first.

In: an `Index` and a set of files, definitions or folders. Out: a `DependencyOrder`, dependencies before dependents.

Uses between two items are one edge, whose strength is the joint certainty of all of them. Items that use one another,
the strongly connected components, are groups. Inside of a group, edges are taken by falling strength, and each is cut
that closes a cycle with those kept (`extract.select_acyclic`), so that every cycle is cut at its weakest edge. A
smallest set of cuts is NP-hard to find, and fewer but more certain cuts would be the wrong trade.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import AmbiguousNode, UnknownNode
from causalist.extract import select_acyclic
from causalist.model.graph import METHOD_SET, ORDERING_KINDS, CodeGraph, EdgeKind
from causalist.model.index import Index
from causalist.model.lookup import CycleCut, DependencyCycle, DependencyOrder, OrderedItem, OrderLevel
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, split_id
from causalist.model.string_table import StringTable
from causalist.navigate.edges import with_overloads_and_members
from causalist.navigate.find import nodes_below, nodes_inside
from causalist.navigate.implicit_calls import find_constructors_run
from causalist.navigate.names import paths_below, resolve_name
from causalist.parse import dialect_of

_MAX_MEANINGS = 8  # definitions of one name that are all taken into the set
_MAX_CONFIDENCE = 0.9999  # of one use in a joint certainty, so that the number of certain uses still counts
_NO_UNITS = (NodeKind.PASSAGE, NodeKind.ENTITY, NodeKind.EXTERNAL)
_NAMED_IN_STRING = "string-target"  # the rule of edges to what a string names
_PATTERN = re.compile(r"[*?\[]")


class NodeSet(NamedTuple):
    """Nodes that a user asks for.

    `named` are those named one by one, `others` those of folders and patterns, shape (n_nodes,) each. `is_definition`
    is True if one is a definition. `notes` say what was taken for granted.
    """

    named: NDArray[np.bool_]
    others: NDArray[np.bool_]
    is_definition: bool
    notes: tuple[str, ...]


def expand_names(index: Index, names: Sequence[str], *, root: Path | None, folder: str) -> NodeSet:
    """Return the nodes that folders, patterns, paths, ids and names denote, with their contents.

    A folder is taken before a node of that name, and a name before a pattern. A name of several definitions means all
    of them. Raises UnknownNode for what nothing has, and AmbiguousNode for a name of too many definitions.
    """
    graph = index.graph
    named, others = (np.zeros(len(graph.nodes), dtype=np.bool_) for _ in range(2))
    notes: list[str] = []
    is_definition = False
    for name in names:
        members = _nodes_of_folder(index, name, root=root, folder=folder)
        if members is None:
            try:
                resolved = resolve_name(index, name, root=root, folder=folder)
                nodes = [resolved.node]
                notes += [resolved.note] * bool(resolved.note)
            except AmbiguousNode as error:
                if len(error.candidates) > _MAX_MEANINGS:
                    raise
                nodes = [graph.nodes.ids.position(each) for each in error.candidates]
                is_definition |= any(graph.kind(node) is not NodeKind.FILE for node in nodes)
                others[with_overloads_and_members(graph, nodes)] = True  # those of tests beside code are hardly meant
                notes.append(f"{len(nodes)} nodes are called {name!r}; all of them are meant")
                continue
            except UnknownNode:
                members = _nodes_of_pattern(graph, name, folder) if _PATTERN.search(name) else None
                if members is None:
                    raise
            else:
                is_definition |= graph.kind(resolved.node) is not NodeKind.FILE
        if members is not None:
            others |= members
        else:
            is_definition |= any(graph.kind(node) is not NodeKind.FILE for node in nodes)
            named[with_overloads_and_members(graph, nodes)] = True
    return NodeSet(named, others, is_definition, tuple(notes))


def _nodes_of_folder(index: Index, name: str, *, root: Path | None, folder: str) -> NDArray[np.bool_] | None:
    """Return the nodes below a folder, None if the name is that of no folder with indexed files."""
    posix = name.strip().replace("\\", "/").rstrip("/") or "/"
    if posix in (".", "/", "./") and not folder:
        return np.asarray(index.graph.nodes.files >= 0, dtype=np.bool_)
    for path in paths_below(index, posix, root=root, folder=folder):
        if path == ".":
            return np.asarray(index.graph.nodes.files >= 0, dtype=np.bool_)
        if len(index.manifest.paths.prefix_range(f"{path}/")):
            return nodes_below(index.graph, path)
    return None


def _nodes_of_pattern(graph: CodeGraph, pattern: str, folder: str) -> NDArray[np.bool_] | None:
    """Return the nodes of files that match, relative to `folder` or else to the root; None if none do."""
    for each in dict.fromkeys((f"./{pattern.removeprefix('./')}", pattern)):
        is_inside = nodes_inside(graph, [each], (), folder)
        if is_inside is not None and is_inside.any():
            return is_inside
    return None


def nodes_reached(graph: CodeGraph, start: Sequence[int], min_confidence: float) -> NDArray[np.bool_]:
    """Return a mask, shape (n_nodes,), of nodes with their members, and of all that they use directly or indirectly.

    A call of a type reaches its constructor, and a member its type. What has a confidence below `min_confidence` is not
    followed. Breadth first, linear in nodes and edges.
    """
    edges, nodes = graph.edges, graph.nodes
    reached = np.zeros(len(nodes), dtype=np.bool_)
    frontier = with_overloads_and_members(graph, start)
    reached[frontier] = True
    usable = _usable(graph, min_confidence)
    while len(frontier):
        numbers = graph.edges_out_of(frontier)
        numbers = numbers[usable[numbers]]
        targets = edges.targets[numbers]
        called = np.unique(targets[edges.kinds[numbers] == EdgeKind.CALLS])
        types = called[np.isin(nodes.kinds[called], sorted(TYPE_KINDS))].tolist()
        owners = nodes.parents[frontier]
        owners = owners[owners >= 0]
        owners = owners[nodes.kinds[owners] != NodeKind.FILE]
        ends = np.concatenate([targets, owners, np.array(find_constructors_run(graph, types), dtype=targets.dtype)])
        frontier = np.unique(ends[~reached[ends]]).astype(np.int64)
        reached[frontier] = True
    return reached


def order_dependencies(
    graph: CodeGraph,
    chosen: NDArray[np.bool_],
    named: NDArray[np.bool_],
    level: OrderLevel,
    *,
    min_confidence: float,
    roles: Collection[Role],
) -> DependencyOrder:
    """Return the dependency order of the items that hold a node of `chosen`, shape (n_nodes,).

    Items of other `roles` than those given are left out, unless they hold a node of `named` or nothing else is there.
    Of the items that may come next, those of the folder of the last one (definitions: of its file) are next, then the
    one with the lowest id. In a part of the repository it is the one that comes first in the order of the whole.
    Linear in nodes and edges, except the order of ready items and for cycles.
    """
    nodes = graph.nodes
    usable = _usable(graph, min_confidence)
    units, names = _units_of_nodes(graph, level, usable)
    is_in = chosen & (units >= 0)
    is_shown = is_in & ((np.isin(nodes.roles, sorted(roles)) & _is_in_code(graph)) | named)
    left_out: tuple[tuple[str, int], ...] = ()
    if is_shown.any():
        files = np.setdiff1d(nodes.files[is_in], nodes.files[is_shown])
        counts = np.bincount(nodes.roles[files], minlength=len(Role))
        left_out = tuple((role.label, int(counts[role])) for role in Role if counts[role] and role not in roles)
    else:
        is_shown = is_in
    members = np.unique(units[is_shown])
    positions = np.full(max(len(names), len(nodes)) + 1, -1, dtype=np.int64)  # the last is for nodes of no unit
    positions[members] = np.arange(len(members))
    uses = _merge_uses(graph, np.where(is_shown, positions[units], -1), members, level, usable)
    ids = [names[unit] for unit in members.tolist()]
    return _arrange(graph, ids, members, uses, level, left_out, _ranks(graph, units, names, members, level, usable))


def _ranks(
    graph: CodeGraph,
    units: NDArray[np.int64],
    names: StringTable | list[str],
    members: NDArray[np.int64],
    level: OrderLevel,
    usable: NDArray[np.bool_],
) -> list[int] | None:
    """Return the place of each item in the order of the whole repository, None if all of it is in the set.

    An item of the set may need another one through items that are not in it.
    """
    every = np.unique(units[units >= 0])
    if len(every) == len(members):
        return None
    positions = np.full(max(len(names), len(graph.nodes)) + 1, -1, dtype=np.int64)
    positions[every] = np.arange(len(every))
    uses = _merge_uses(graph, np.where(units >= 0, positions[units], -1), every, level, usable)
    whole = _arrange(graph, [names[unit] for unit in every.tolist()], every, uses, level, (), None)
    rank_by_node = {item.node: number for number, item in enumerate(whole.items)}
    return [rank_by_node[names[unit]] for unit in members.tolist()]


def _usable(graph: CodeGraph, min_confidence: float) -> NDArray[np.bool_]:
    """Return a mask over edges of uses inside the repository that are confident enough.

    A type that implements an interface by its methods alone does not know of it, and can be built before it. A string
    of a test that is the name of a definition is text, mostly an expected value.
    """
    edges = graph.edges
    is_use = np.isin(edges.kinds, sorted(ORDERING_KINDS)) & (edges.confidences >= min_confidence)
    if METHOD_SET in graph.rule_names:
        is_use &= edges.rules != graph.rule_names.index(METHOD_SET)
    if _NAMED_IN_STRING in graph.rule_names:
        is_in_string = edges.rules == graph.rule_names.index(_NAMED_IN_STRING)
        is_use &= ~(is_in_string & (graph.nodes.roles[edges.sources] == Role.TEST))
    is_inside = graph.nodes.files >= 0
    return np.asarray(is_use & is_inside[edges.sources] & is_inside[edges.targets], dtype=np.bool_)


def _units_of_nodes(
    graph: CodeGraph, level: OrderLevel, usable: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], StringTable | list[str]]:
    """Return (the unit of each node, -1 for none, shape (n_nodes,); the ids of units, ascending)."""
    nodes = graph.nodes
    if level is OrderLevel.FILE:
        return nodes.files.astype(np.int64), nodes.ids
    if level is OrderLevel.FOLDER:
        files = np.flatnonzero(nodes.kinds == NodeKind.FILE)
        folders = [f"{split_id(nodes.ids[file])[0].rpartition('/')[0] or '.'}/" for file in files.tolist()]
        names, of_file = np.unique(np.array(folders, dtype=object), return_inverse=True)
        units = np.full(len(nodes) + 1, -1, dtype=np.int64)
        units[files] = of_file
        return units[nodes.files], names.tolist()
    return _definition_units(graph, usable), nodes.ids


def _definition_units(graph: CodeGraph, usable: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the definition that each node is a part of, -1 for none, shape (n_nodes,).

    A field is a part of its type, and what is inside of a function a part of that. The code outside of all definitions
    is a unit, the file, if it uses something other than by an import, or if nothing is defined.
    """
    nodes, edges = graph.nodes, graph.edges
    parents = nodes.parents.astype(np.int64)
    is_local = np.zeros(len(nodes) + 1, dtype=np.bool_)  # inside of a function; the last is for nodes without parent
    is_callable = np.append(np.isin(nodes.kinds, sorted(CALLABLE_KINDS)), False)
    while True:
        more = (is_callable[parents] | is_local[parents]) & ~is_local[:-1]
        if not more.any():
            break
        is_local[:-1] |= more
    is_part = np.append(is_local[:-1] | (nodes.kinds == NodeKind.FIELD), False)
    units = np.arange(len(nodes))
    while np.any(lifted := is_part[units] & (parents[units] >= 0)):
        units = np.where(lifted, parents[units], units)
    acts = np.zeros(len(nodes), dtype=np.bool_)
    numbers = np.flatnonzero(usable & (edges.kinds != EdgeKind.IMPORTS))
    acts[edges.sources[numbers]] = True
    holds = np.zeros(len(nodes) + 1, dtype=np.bool_)
    holds[parents[~np.isin(nodes.kinds, _NO_UNITS)]] = True
    is_unit = ~np.isin(nodes.kinds, _NO_UNITS) & ((nodes.kinds != NodeKind.FILE) | acts | ~holds[:-1])
    return np.where(is_unit[units], units, -1)


def _is_in_code(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return a mask, shape (n_nodes,), of nodes in files that a grammar reads or that define something."""
    nodes = graph.nodes
    is_code = np.zeros(len(nodes) + 1, dtype=np.bool_)
    is_code[nodes.files[~np.isin(nodes.kinds, (*_NO_UNITS, NodeKind.FILE))]] = True
    for file in np.flatnonzero((nodes.kinds == NodeKind.FILE) & ~is_code[:-1]).tolist():
        is_code[file] = bool(dialect_of(split_id(nodes.ids[file])[0]))
    return is_code[nodes.files]


class _Uses(NamedTuple):
    """Uses between items, one for each pair, sorted by (source, target); shape (n_uses,) each.

    `strengths` are -log(1 - joint certainty), `counts` the sites, `numbers` the most confident edge, -1 for none.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    strengths: NDArray[np.float64]
    counts: NDArray[np.int64]
    numbers: NDArray[np.int64]


def _merge_uses(
    graph: CodeGraph,
    position_of_node: NDArray[np.int64],
    members: NDArray[np.int64],
    level: OrderLevel,
    usable: NDArray[np.bool_],
) -> _Uses:
    """Return the uses between the items with these positions, -1 for nodes of no item."""
    edges, nodes = graph.edges, graph.nodes
    numbers = np.flatnonzero(usable & ((edges.kinds != EdgeKind.IMPORTS) | (level is not OrderLevel.DEFINITION)))
    sources, targets = position_of_node[edges.sources[numbers]], position_of_node[edges.targets[numbers]]
    if level is OrderLevel.DEFINITION:
        made, by = _constructor_uses(graph, numbers)
        numbers = np.concatenate([numbers, by])
        sources = np.concatenate([sources, position_of_node[edges.sources[by]]])
        targets = np.concatenate([targets, position_of_node[made]])
    is_between = (sources >= 0) & (targets >= 0) & (sources != targets)
    sources, targets, numbers = sources[is_between], targets[is_between], numbers[is_between]
    strengths = -np.log1p(-np.minimum(edges.confidences[numbers], _MAX_CONFIDENCE))
    if level is OrderLevel.DEFINITION:  # a type is there before its members, and uses of them are its own
        parents = nodes.parents[members]
        in_type = (parents >= 0) & (nodes.kinds[parents] != NodeKind.FILE)
        owners = np.append(np.where(in_type, position_of_node[parents], -1), -1)
        around, is_own = owners[targets], np.zeros(len(targets), dtype=np.bool_)
        while np.any(around >= 0):
            is_own |= around == sources
            around = owners[around]
        inside = np.flatnonzero(owners[:-1] >= 0)
        sources = np.concatenate([sources[~is_own], inside])
        targets = np.concatenate([targets[~is_own], owners[inside]])
        numbers = np.concatenate([numbers[~is_own], np.full(len(inside), -1)])
        strengths = np.concatenate([strengths[~is_own], np.full(len(inside), np.inf)])
    keys = sources * (len(members) + 1) + targets
    order = np.lexsort((numbers, -strengths, keys))
    keys, numbers, strengths = keys[order], numbers[order], strengths[order]
    pairs, first = np.unique(keys, return_index=True)
    if not len(pairs):
        none = np.zeros(0, dtype=np.int64)
        return _Uses(none, none, np.zeros(0), none, none)
    counts = np.where(numbers >= 0, edges.counts[numbers], 0)
    return _Uses(
        pairs // (len(members) + 1),
        pairs % (len(members) + 1),
        np.add.reduceat(strengths, first),
        np.add.reduceat(counts, first).astype(np.int64),
        numbers[first],
    )


def _constructor_uses(graph: CodeGraph, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the constructors that calls of types run, and the number of each such call's edge."""
    edges, nodes = graph.edges, graph.nodes
    calls = numbers[edges.kinds[numbers] == EdgeKind.CALLS]
    calls = calls[np.isin(nodes.kinds[edges.targets[calls]], sorted(TYPE_KINDS))]
    runs = {node: find_constructors_run(graph, [node]) for node in np.unique(edges.targets[calls]).tolist()}
    pairs = [(made, number) for number in calls.tolist() for made in runs[int(edges.targets[number])]]
    made, by = zip(*pairs, strict=True) if pairs else ((), ())
    return np.array(made, dtype=np.int64), np.array(by, dtype=np.int64)


def _arrange(
    graph: CodeGraph,
    ids: Sequence[str],
    members: NDArray[np.int64],
    uses: _Uses,
    level: OrderLevel,
    left_out: tuple[tuple[str, int], ...],
    ranks: Sequence[int] | None,
) -> DependencyOrder:
    """Return the order of the items with these ids: Kahn's algorithm over groups of items that use one another.

    Of ready groups, that with the lowest of `ranks` is next, if they are given.
    """
    from scipy.sparse import csr_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    n = len(ids)
    if not n:
        return DependencyOrder(level, (), (), left_out)
    matrix = csr_array((np.ones(len(uses.sources), dtype=np.int8), (uses.sources, uses.targets)), shape=(n, n))
    n_groups, group_of = connected_components(matrix, directed=True, connection="strong")
    in_groups: list[list[int]] = [[] for _ in range(n_groups)]
    for item, group in enumerate(group_of.tolist()):
        in_groups[group].append(item)
    cuts = _cut_cycles(uses, group_of, in_groups)
    needed = _lists(group_of[uses.sources], group_of[uses.targets], n_groups)
    users = _lists(group_of[uses.targets], group_of[uses.sources], n_groups)
    places = _places(graph, ids, members, level) if ranks is None else [""] * n
    keys = [min(each if ranks is None else [ranks[item] for item in each]) for each in in_groups]
    depths = [0] * n_groups

    def ready_groups() -> Iterator[int]:
        """Yield groups whose dependencies were yielded, of the place of the last one if possible."""
        waiting = [len(each) for each in needed]
        ready: dict[str, list[tuple[int, int]]] = {}
        fronts: list[tuple[int, str]] = []  # of each place the lowest key that was ready, also if it is gone

        def add(group: int) -> None:
            place = places[in_groups[group][0]]
            heappush(ready.setdefault(place, []), (keys[group], group))
            heappush(fronts, (keys[group], place))

        for group in range(n_groups):
            if not waiting[group]:
                add(group)
        place = ""
        while fronts:
            if not ready.get(place):
                key, place = heappop(fronts)
                if not ready[place] or ready[place][0][0] != key:
                    continue
            _, group = heappop(ready[place])
            yield group
            for user in users[group]:
                depths[user] = max(depths[user], depths[group] + 1)
                waiting[user] -= 1
                if not waiting[user]:
                    add(user)

    starts = np.searchsorted(uses.sources, np.arange(n + 1)).tolist()
    targets, n_users = uses.targets.tolist(), np.bincount(uses.targets, minlength=n).tolist()
    items: list[OrderedItem] = []
    cycles: list[DependencyCycle] = []
    for group in ready_groups():
        inside, cycle = in_groups[group], None
        if len(inside) > 1:
            inside, cycle = _order_inside(inside, uses, starts, cuts[group]), len(cycles)
            named_cuts = tuple(_name_cut(graph, uses, number, ids) for number in cuts[group])
            cycles.append(DependencyCycle(tuple(ids[item] for item in inside), named_cuts))
        for item in inside:
            used = tuple(ids[target] for target in targets[starts[item] : starts[item + 1]])
            kind, path, line = _describe(graph, ids[item], int(members[item]), level)
            items.append(OrderedItem(ids[item], kind, path, line, depths[group], cycle, used, n_users[item]))
    return DependencyOrder(level, tuple(items), tuple(cycles), left_out)


def _lists(keys: NDArray[np.int32], values: NDArray[np.int32], n: int) -> list[list[int]]:
    """Return the distinct values of each key, ascending, without the key itself."""
    is_other = keys != values
    pairs = np.unique(keys[is_other].astype(np.int64) * n + values[is_other])
    starts = np.searchsorted(pairs, np.arange(n + 1, dtype=np.int64) * n).tolist()
    flat = (pairs % n).tolist()
    return [flat[starts[key] : starts[key + 1]] for key in range(n)]


def _places(graph: CodeGraph, ids: Sequence[str], members: NDArray[np.int64], level: OrderLevel) -> list[str]:
    """Return for each item what holds it: the file of a definition, the folder of a file or folder."""
    if level is OrderLevel.DEFINITION:
        return [str(file) for file in graph.nodes.files[members].tolist()]
    return [each.rstrip("/").rpartition("/")[0] for each in ids]


def _cut_cycles(uses: _Uses, group_of: NDArray[np.int32], in_groups: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Return the numbers of the uses to cut in each group of several items, weakest first."""
    inside = np.flatnonzero(group_of[uses.sources] == group_of[uses.targets])
    inside = inside[np.lexsort((inside, -uses.strengths[inside]))]
    of_group: dict[int, list[int]] = {}
    for number, group in zip(inside.tolist(), group_of[uses.sources[inside]].tolist(), strict=True):
        of_group.setdefault(group, []).append(number)
    cuts = {}
    for group, numbers in of_group.items():
        local = {item: i for i, item in enumerate(in_groups[group])}
        sources = [local[int(uses.sources[number])] for number in numbers]
        targets = [local[int(uses.targets[number])] for number in numbers]
        is_kept = select_acyclic(sources, targets, len(local))
        cuts[group] = [number for number, kept in zip(numbers, is_kept, strict=True) if not kept][::-1]
    return cuts


def _order_inside(inside: Iterable[int], uses: _Uses, starts: Sequence[int], cuts: Iterable[int]) -> list[int]:
    """Return the items of one group, dependencies first, without the uses that are cut."""
    members, cut = set(inside), set(cuts)
    users: dict[int, list[int]] = {item: [] for item in members}
    waiting = dict.fromkeys(members, 0)
    for item in members:
        for number in range(starts[item], starts[item + 1]):
            target = int(uses.targets[number])
            if target in members and number not in cut:
                users[target].append(item)
                waiting[item] += 1
    ready = [item for item in members if not waiting[item]]
    heapify(ready)
    order = []
    while ready:
        order.append(heappop(ready))
        for user in users[order[-1]]:
            waiting[user] -= 1
            if not waiting[user]:
                heappush(ready, user)
    return order


def _name_cut(graph: CodeGraph, uses: _Uses, number: int, ids: Sequence[str]) -> CycleCut:
    confidence = -float(np.expm1(-uses.strengths[number]))
    edge = graph.edge(int(uses.numbers[number]))
    return CycleCut(
        ids[int(uses.sources[number])], ids[int(uses.targets[number])], confidence, int(uses.counts[number]), edge
    )


def _describe(graph: CodeGraph, item: str, member: int, level: OrderLevel) -> tuple[str, str, int | None]:
    """Return kind, path and 1-based line of an item."""
    if level is OrderLevel.FOLDER:
        return "folder", item, None
    kind = graph.kind(member)
    line = None if kind is NodeKind.FILE else int(graph.nodes.start_rows[member]) + 1
    return kind.label, split_id(item)[0], line
