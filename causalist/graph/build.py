"""All facts -> the code graph, linked by one process or by several; and its refresh after an edit.

In: (path, facts) of all files. Out: a `LinkedGraph`. What is found for one file does not depend on which others were
linked before it (`Linker`), so that files may be linked anywhere. What another process found is taken over in the order
in which it would have been found here, which makes the graph the same.

`relink` makes the graph of now from the graph of an earlier state. The edges that leave a file follow from its own
facts and from what `model.facts` says of all others. So where no file looks different from outside, the edges that
leave the files that changed are found anew, and all others are taken over with their nodes. What follows from edges,
which is what tests test, is found anew for those files and for the tests that call helpers in them. Where a file looks
different, all files that name what is different are linked again as well (`graph.invalidation`). The result equals
`build_graph` of the same facts, array by array.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist._internal.stage_clock import stage
from causalist.graph.architecture_layers import LayerAssigner
from causalist.graph.invalidation import InvalidationKeys
from causalist.graph.linker import Linker, LinkError
from causalist.graph.node_and_edge_arrays import (
    EdgeCollector,
    EdgeSites,
    NodeDraft,
    build_columns,
    finish_graph,
    splice_edge_table,
)
from causalist.graph.program import Program
from causalist.graph.relations.data_names import LinkEdgeFinder
from causalist.graph.relations.routes import RouteEdgeFinder
from causalist.graph.relations.tests import FoundEdge, TestEdgeFinder
from causalist.graph.rules import RULE_NAMES, RULE_NUMBER, RuleName, load_confidences
from causalist.model.facts import FileFacts, interface_of
from causalist.model.graph import (
    LINK_RULES,
    ROUTE_KINDS,
    USE_KINDS,
    CodeGraph,
    EdgeKind,
    LinkedGraph,
    NodeTable,
    UnresolvedCalls,
)
from causalist.model.language_settings import LanguageSettings
from causalist.model.node_ids import NO_LAYER, NodeKind, Role
from causalist.model.role_by_path import role_of
from causalist.model.string_table import MergedTable, merge_tables

_ROWS = 10_000  # that are numbers of Python at once


@dataclass(frozen=True, slots=True)
class LinkedPart:
    """Edges that leave some files, as arrays that another process can take over.

    `edges`: shape (n, 7), a row (source, target, kind, rule, row, candidates, sites) for each in the order found, by
    drafts. `unresolved`: shape (n, 3), (source, sites, row) of the calls of `unresolved_names`. `says`: shape (n, 2),
    (draft, layer). `externals` are those found on the way, in order, of which the first is the draft `first_external`.
    `troubles` says what went wrong in the files `troubled`.
    """

    edges: NDArray[np.int32]
    unresolved: NDArray[np.int32]
    unresolved_names: tuple[str, ...]
    externals: tuple[str, ...]
    first_external: int
    says: NDArray[np.int32]
    troubled: tuple[int, ...]
    troubles: tuple[str, ...]


Bring = Callable[[str, FileFacts], FileFacts]
Begin = Callable[[Callable[[], LinkedPart]], Callable[[], LinkedPart]]


class ParallelPlan(NamedTuple):
    """Distribution of linking over `n` processes, by the relative `costs` of files in their order.

    `begin` starts work in another process, which has all that this one has, and returns what waits for its result.
    """

    n: int
    costs: Sequence[int]
    begin: Begin


def link_files(
    linker: Linker, bring: Bring, layers: LayerAssigner, spread: ParallelPlan | None = None
) -> list[tuple[int, str]]:
    """Link all files, each with the bodies that `bring` gives it.

    Returns those of which not all was found, with what went wrong, in order.
    """
    if spread is None:
        return list(_link_each(linker, bring, layers, range(len(linker.program.files))))
    own, *others = _split_by_cost(spread)
    waiting = [spread.begin(partial(_link_part, linker, bring, layers, numbers)) for numbers in others]
    troubles = list(_link_each(linker, bring, layers, own))
    for result in waiting:
        troubles += _merge_part(linker, result())
    return troubles


def _link_each(linker: Linker, bring: Bring, layers: LayerAssigner, numbers: range) -> Iterator[tuple[int, str]]:
    for number in numbers:
        symbols = linker.program.files[number]
        with symbols.use_facts(bring(symbols.path, symbols.facts)):
            try:
                linker.link(number)
            except LinkError as error:  # all other files have their edges
                yield number, str(error)
            layers.assign_own(number)


def _split_by_cost(spread: ParallelPlan) -> list[range]:
    """Return ranges of consecutive files of about equal cost; a range is empty only if there are too few files."""
    sums = np.array(list(accumulate(spread.costs)), dtype=np.float64)
    if not len(sums) or sums[-1] <= 0:
        return [range(len(sums))]
    ends = np.searchsorted(sums, sums[-1] * np.arange(1, spread.n) / spread.n) + 1
    bounds = sorted({0, *ends.tolist(), len(sums)})
    return [range(a, b) for a, b in pairwise(bounds)]


def _link_part(linker: Linker, bring: Bring, layers: LayerAssigner, numbers: range) -> LinkedPart:
    """Link `numbers` apart from what the linker has collected so far."""
    drafts, before, n_known = linker.drafts, linker.collector, len(linker.drafts.externals)
    linker.collector = collector = EdgeCollector()
    try:
        troubles = list(_link_each(linker, bring, layers, numbers))
    finally:
        linker.collector = before
    rows = ((*k, RULE_NUMBER[s.rule], s.row, s.candidates, s.count) for k, s in collector.edges.items())
    edges = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=7 * len(collector.edges))
    unresolved = [(source, *sites) for (source, _), sites in collector.unresolved.items()]
    layers_by_draft = [
        (draft, drafts[draft].says)
        for number in numbers
        for draft in (number, *drafts.documents(number))
        if draft in drafts and drafts[draft].says != NO_LAYER
    ]
    return LinkedPart(
        edges=edges.reshape(-1, 7),
        unresolved=np.array(unresolved, dtype=np.int32).reshape(-1, 3),
        unresolved_names=tuple(name for _, name in collector.unresolved),
        externals=tuple(drafts.externals)[n_known:],
        first_external=drafts.n_written + n_known,
        says=np.array(layers_by_draft, dtype=np.int32).reshape(-1, 2),
        troubled=tuple(number for number, _ in troubles),
        troubles=tuple(error for _, error in troubles),
    )


def _merge_part(linker: Linker, part: LinkedPart) -> Iterator[tuple[int, str]]:
    drafts, collector = linker.drafts, linker.collector
    kinds, first = list(EdgeKind), part.first_external
    externals = [drafts.of_external(name) for name in part.externals]
    for start in range(0, len(part.edges), _ROWS):
        for source, target, kind, rule, row, candidates, n in part.edges[start : start + _ROWS].tolist():
            here = target if target < first else externals[target - first]
            collector.add(source, here, kinds[kind], RULE_NAMES[rule], row, candidates, n)
    for name, (source, n, row) in zip(part.unresolved_names, part.unresolved.tolist(), strict=True):
        collector.add_unresolved(source, name, row, n)
    for draft, layer in part.says.tolist():
        drafts[draft].says = layer
    return zip(part.troubled, part.troubles, strict=True)


def _keep_facts(path: str, facts: FileFacts) -> FileFacts:
    return facts


def build_graph(
    files: Sequence[tuple[str, FileFacts]],
    settings: Mapping[str, LanguageSettings],
    with_bodies: Callable[[str, FileFacts], FileFacts] = _keep_facts,
    spread: ParallelPlan | None = None,
    links: Sequence[tuple[str, str]] = (),
) -> LinkedGraph:
    """Build the graph of a repository from (path, facts) pairs in any order; `settings` are by dialect name.

    Files may come without their bodies, except those that `needs_bodies` selects. Then `with_bodies` has to supply
    the bodies. It is called once for each file, and its result is kept only while that file is linked, since bodies
    take more memory than all other facts. `spread` gives the number of processes that link, each a range of files in
    the order of their paths. `links` are those of the scan. The graph depends on the facts, paths and links alone.
    """
    order = sorted(range(len(files)), key=lambda i: files[i][0])
    if order != list(range(len(files))):
        linked = build_graph([files[i] for i in order], settings, with_bodies, links=links)
        original_order = np.argsort(np.array(order))
        nodes = tuple(linked.document_nodes[i] for i in original_order)
        troubles_given = tuple((order[number], error) for number, error in linked.troubles)
        return LinkedGraph(linked.graph, linked.file_nodes[original_order], nodes, troubles_given)
    linker = Linker.from_files(files, settings, links)
    documents = [linker.drafts.documents(number) for number in range(len(files))]
    with stage("link: bases"):
        linker.add_bases()
    layers = LayerAssigner(linker.program, linker.drafts)
    with stage("link: files"):
        troubles = link_files(linker, with_bodies, layers, spread)
    tests = TestEdgeFinder(linker.program, linker.drafts)
    with stage("link: tests"):
        tested = list(tests.find_edges(linker.collector.edges.items()))
    for each in tested:
        linker.collector.add(each.source, each.target, EdgeKind.TESTS, each.rule, each.row, each.candidates)
    routes = RouteEdgeFinder(linker.program, linker.drafts)
    with stage("link: routes"):
        routed = list(routes.find_edges(linker.collector.edges.items()))
    for route in routed:
        linker.collector.add(route.source, route.target, route.kind, route.rule, route.row, route.candidates)
    with stage("link: shared names"):
        for link in list(LinkEdgeFinder(linker.program, linker.drafts).find_edges()):
            linker.collector.add(link.source, link.target, link.kind, link.rule, link.row, link.candidates)
    languages = [symbols.settings.name if symbols.settings else "" for symbols in linker.program.files]
    with stage("link: graph"):
        graph, position = finish_graph(linker.drafts.all_drafts(), linker.collector, languages, load_confidences())
    file_nodes = position[: len(files)]
    linked = LinkedGraph(
        layers.complete(graph, file_nodes),
        file_nodes,
        tuple(position[np.array(each, dtype=np.int64)] for each in documents),
        tuple(troubles),
    )
    linker.release_tables()
    return linked


_Number = TypeVar("_Number", bound=np.generic)
_Position = Callable[[int], int]  # draft -> node
_IS_USE = np.isin(np.arange(max(EdgeKind) + 1), sorted(USE_KINDS))  # by EdgeKind
# Rules of edges, of whatever kind, that all files together say.
_LINK_RULE_NUMBERS = sorted(RULE_NUMBER[rule] for rule in (*LINK_RULES, RuleName.BOUND))
_NO_NODES = np.zeros(0, dtype=np.int32)


class RelinkedGraph(NamedTuple):
    """Graph of which some files were linked again, and its differences from the previous one.

    `linked.document_nodes` has those of the files that were linked again; others have none. `nodes`, shape (n_nodes of
    the previous graph,): the node of each now, -1 for those that are gone; `unread`: the same, and -1 for those of
    files that were edited. `is_other`, shape (n_nodes,): nodes that came, are in such a file, or have edges that came,
    went or were found again. `linker` can link these files again; who does not want that releases its tables.
    """

    linked: LinkedGraph
    nodes: NDArray[np.int32]
    unread: NDArray[np.int32]
    is_other: NDArray[np.bool_]
    linker: Linker


def relink(
    files: Sequence[tuple[str, FileFacts]],
    settings: Mapping[str, LanguageSettings],
    previous: CodeGraph,
    edited: Set[int],
    affected: Set[int] = frozenset(),
    moved: Sequence[InvalidationKeys] = (),
    before: Linker | None = None,
    links: Sequence[tuple[str, str]] = (),
) -> RelinkedGraph:
    """Return the graph of `files` by linking again only those that may differ from `previous`.

    `files` are (path, facts) by path. Those at `edited` are not as they are in `previous`; those at `affected` name
    what looks different from outside in one of these. `moved` are those of `edited` that `previous` does not have, and
    others that it has and that are gone.

    Files may come without bodies unless `needs_bodies` says otherwise. `before` is a linker of what `previous` was made
    of, which is used up. It may be given only where the files look the same from outside, none of them is at
    `affected`, and none came or went. `links` are those of the scan, as they were. Raises ValueError if `previous` is
    not a graph of these files, LinkError where one that came or went stands in the place of another.
    """
    relinked = sorted(edited | affected)
    kept_facts = {number: _facts_to_keep(*files[number], settings) for number in relinked}
    is_routed = before is None or _may_say_routes(before.program, kept_facts)
    linker = before.relink(kept_facts) if before is not None else None
    if linker is None:
        is_routed = True
        linker = Linker.from_files(
            [(path, kept_facts.get(i, facts)) for i, (path, facts) in enumerate(files)], settings, links
        )
    for each in moved:
        _check_no_rival(linker.program, each, settings)
    with ExitStack() as bodies:
        for number in relinked:
            bodies.enter_context(linker.program.files[number].use_facts(files[number][1]))
        return _GraphUpdate(linker, previous, frozenset(edited), frozenset(affected), moved, is_routed).run()


def _may_say_routes(program: Program, changed: Mapping[int, FileFacts]) -> bool:
    """Return True if the facts of changed files, or what they were, say something of routes or shared names.

    Those files look the same from outside. Signatures of types and constants, which hold paths, may differ all the
    same.
    """
    for number, facts in changed.items():
        then = program.files[number].facts
        if then.routes or facts.routes or then.links or facts.links:
            return True
        if [each.signature for each in then.definitions] != [each.signature for each in facts.definitions]:
            return True
    return False


def _facts_to_keep(path: str, facts: FileFacts, settings: Mapping[str, LanguageSettings]) -> FileFacts:
    """Return what a linker holds of a file that is not linked at the moment."""
    kept_facts = facts if needs_bodies(path, facts, settings) else interface_of(facts)
    return kept_facts.without_words()


def _check_no_rival(program: Program, moved: InvalidationKeys, settings: Mapping[str, LanguageSettings]) -> None:
    """Raise LinkError where others would see more of a file that came or went than its names.

    In its absence another file has the names of its module, or its methods say what a trait's are.
    """
    readers = [settings[moved.language]] if moved.language else settings.values()
    if any(program.modules.has_rival(moved.path, each.modules) for each in readers):
        raise LinkError("a module in the place of another")
    if any(program.traits_with(method) for method in moved.methods):
        raise LinkError("a method like one of a trait")


def needs_bodies(path: str, facts: FileFacts, settings: Mapping[str, LanguageSettings]) -> bool:
    """Return True if `relink` may need the bodies of an unchanged file, which say which functions are tests."""
    language = settings.get(facts.language)
    return language is not None and bool(language.tests.marks) and (role_of(path) == Role.TEST or bool(facts.tests))


class _GraphUpdate:
    def __init__(
        self,
        linker: Linker,
        previous: CodeGraph,
        edited: frozenset[int],
        affected: frozenset[int],
        moved: Sequence[InvalidationKeys],
        is_routed: bool,
    ) -> None:
        self.linker = linker
        self.graph = previous
        self.moved = moved
        self.removed = len(linker.program.files)  # stands for all files that are no longer there
        self.edited = edited | {self.removed}
        self.changed = edited | affected  # what is linked again
        nodes = previous.nodes
        file_nodes = np.flatnonzero(nodes.kinds == NodeKind.FILE)
        numbers: dict[str, int] = dict(zip(nodes.ids.some(file_nodes), file_nodes.tolist(), strict=True))
        nodes_of_files = [numbers.pop(each, -1) for each in linker.program.file_groups.ids(linker.program.files)]
        came = {number for number, node in enumerate(nodes_of_files) if node < 0}
        if not came <= edited or len(came) + len(numbers) != len(moved):
            raise ValueError("the previous graph is one of other files")
        self.file_nodes = np.array(nodes_of_files, dtype=np.int32)  # -1 for those that came
        self.file_of = np.full(len(nodes) + 1, -1, dtype=np.int32)  # node of a file -> its number; the last is for -1
        self.file_of[self.file_nodes] = np.arange(len(nodes_of_files), dtype=np.int32)
        self.file_of[list(numbers.values())] = self.removed
        self.file_of[-1] = -1
        self.file_of[:-1] = self.file_of[nodes.files]  # node -> number of its file
        self._keys: dict[int, dict[str, int]] = {}  # file -> id -> draft
        edges = previous.edges
        is_queued = edges.rules == RULE_NUMBER[RuleName.DEFERRED]  # found with the file that it leaves, as calls are
        self.is_route = np.isin(edges.kinds, ROUTE_KINDS) & ~is_queued | np.isin(edges.rules, _LINK_RULE_NUMBERS)
        if not is_routed:  # unless an edge has its row in a file that changed
            changed_nodes = self._mask_files(self.file_of[:-1], self.changed)
            is_routed = bool((self.is_route & (changed_nodes[edges.sources] | changed_nodes[edges.targets])).any())
        self.is_routed = is_routed

    def run(self) -> RelinkedGraph:
        linker, graph = self.linker, self.graph
        for number in sorted(self.changed):
            linker.drafts.documents(number)
        linker.add_bases(self.changed)
        for number in sorted(self.changed):
            linker.link(number)
        layers = LayerAssigner(linker.program, linker.drafts)
        for number in sorted(self.changed):
            layers.assign_own(number)
        retested = self._relink_tests()
        if self.is_routed:
            self._relink_routes()
        edges = graph.edges
        own = self._mask_files(self.file_of[:-1], self.changed | {self.removed})
        is_removed = own[edges.sources]
        if self.is_routed:
            is_removed |= self.is_route
        is_removed |= (edges.kinds == EdgeKind.TESTS) & self._mask_files(self.file_of[:-1], retested)[edges.sources]
        is_outside = self.file_of[:-1] < 0
        is_kept = ~(is_outside | own)
        for ends in (edges.sources, edges.targets):  # what is outside, where it is still used, or a route
            is_kept[ends[is_outside[ends] & ~is_removed]] = True
        new_drafts = {
            key: draft for key, draft in linker.drafts.items() if draft.file in self.changed or draft.file < 0
        }
        ids = merge_tables(graph.nodes.ids, is_kept, [draft.id for draft in new_drafts.values()])
        at = dict(zip(new_drafts, ids.added.tolist(), strict=True))

        def position(draft: int) -> int:
            place = at.get(draft)
            return ids.table.position(linker.drafts[draft].id) if place is None else place

        def positions(drafts: NDArray[np.int64]) -> NDArray[np.int32]:
            distinct, inverse = np.unique(drafts, return_inverse=True)
            return np.array([position(draft) for draft in distinct.tolist()], dtype=np.int32)[inverse.reshape(-1)]

        columns = build_columns(linker.collector, self._language_of, positions, load_confidences())
        is_lost = ids.old < 0
        if min(columns.sources.min(initial=0), columns.targets.min(initial=0)) < 0 or (
            is_lost.any() and (is_lost[edges.targets] & ~is_removed).any()
        ):
            raise LinkError("an edge leads to what is no longer there")
        removed = np.flatnonzero(is_removed)
        now = CodeGraph(
            _nodes(graph.nodes, is_kept, ids, list(new_drafts.values()), position),
            splice_edge_table(edges, removed, ids.old, columns, len(ids.table)),
            RULE_NAMES,
            self._merge_unresolved(ids, own, position),
        )
        documents = [
            np.array([at[each] for each in linker.drafts.documents(number)], dtype=np.int32)
            if number in self.changed
            else _NO_NODES
            for number in range(len(self.file_nodes))
        ]
        file_nodes = ids.old[self.file_nodes]
        for number in np.flatnonzero(self.file_nodes < 0).tolist():
            file_nodes[number] = at[number]
        now = layers.complete(now, file_nodes)
        linked = LinkedGraph(now, file_nodes, tuple(documents))
        read = self._mask_files(self.file_of[:-1], self.edited)
        unread = np.where(read, np.int32(-1), ids.old)
        is_other = np.ones(len(ids.table), dtype=np.bool_)
        is_other[unread[unread >= 0]] = False
        for ends in (ids.old[edges.sources[removed]], ids.old[edges.targets[removed]]):
            is_other[ends[ends >= 0]] = True
        is_other[columns.sources] = is_other[columns.targets] = True
        return RelinkedGraph(linked, ids.old, unread, is_other, linker)

    def _mask_files(self, files: NDArray[np.int32], chosen: Set[int]) -> NDArray[np.bool_]:
        """Return a mask over file numbers that is True for the chosen files; -1 gives False."""
        is_one = np.zeros(self.removed + 2, dtype=np.bool_)
        is_one[sorted(chosen)] = True
        return is_one[files]

    def _language_of(self, draft: int) -> str:
        file = self.linker.drafts[draft].file
        settings = self.linker.program.files[file].settings if file >= 0 else None
        return settings.name if settings is not None else ""

    # -- what tests test

    def _relink_tests(self) -> frozenset[int]:
        """Find what tests test again, and return the files of these tests.

        These are files that changed, and those that call something there that may be a helper.
        """
        graph, edges = self.graph, self.graph.edges
        is_changed = self._mask_files(self.file_of[:-1], self.changed | {self.removed})
        into = edges.incoming[_edges_of_rows(edges.incoming_indptr, np.flatnonzero(is_changed))]
        kinds, targets = edges.kinds[into], edges.targets[into]
        matters = (kinds == EdgeKind.CALLS) & (graph.nodes.roles[targets] == Role.TEST)
        # Tests are also told by the names of what is defined in the file that they are for.
        matters |= (kinds == EdgeKind.TESTS) & self._mask_files(self.file_of[targets], self.edited)
        callers = edges.sources[into[matters]]
        files = self.changed | frozenset(self.file_of[callers].tolist()) | self._named_after_moved()
        files -= {self.removed}
        found_edges: list[FoundEdge] = list(self.linker.collector.edges.items())
        relinked = np.flatnonzero(self._mask_files(self.file_of[:-1], files - self.changed))
        found_edges += self._edges_of_nodes(relinked)
        drafts = self.linker.drafts
        helpers = {
            target
            for (_, target, kind), _ in found_edges
            if kind == EdgeKind.CALLS and drafts[target].role == Role.TEST and drafts[target].file not in files
        }
        positions = {graph.nodes.ids.position(drafts[helper].id) for helper in helpers}
        found_edges += self._edges_of_nodes(np.array(sorted(positions), dtype=np.int64))
        tests = TestEdgeFinder(self.linker.program, drafts)
        for each in list(tests.find_edges(found_edges, files)):
            if drafts[each.source].file in files:
                self.linker.collector.add(
                    each.source, each.target, EdgeKind.TESTS, each.rule, each.row, each.candidates
                )
        return files

    def _relink_routes(self) -> None:
        """Find all edges of routes, events and shared names again: a mount in one file changes the paths of others.

        Where nothing that changed says anything of routes, they stay as they are.
        """
        linker, drafts = self.linker, self.linker.drafts
        finder = RouteEdgeFinder(linker.program, drafts)
        needed = {draft for draft in finder.needed_scopes() if drafts[draft].file not in self.changed}
        positions = {self.graph.nodes.ids.position(drafts[draft].id) for draft in needed}
        edges: list[FoundEdge] = list(linker.collector.edges.items())
        edges += self._edges_of_nodes(np.array(sorted(positions - {-1}), dtype=np.int64))
        for each in list(finder.find_edges(edges)):
            linker.collector.add(each.source, each.target, each.kind, each.rule, each.row, each.candidates)
        for link in list(LinkEdgeFinder(linker.program, drafts).find_edges()):
            linker.collector.add(link.source, link.target, link.kind, link.rule, link.row, link.candidates)

    def _edges_of_nodes(self, nodes: NDArray[np.int64]) -> list[FoundEdge]:
        """Return the edges of use that leave these nodes in the previous graph, between drafts.

        `nodes` ascend. Edges into removed files and external nodes are left out.
        """
        edges = self.graph.edges
        edge_rows = _edges_of_rows(edges.indptr, nodes)
        files = self.file_of[edges.targets[edge_rows]]
        edge_rows = edge_rows[
            _IS_USE[edges.kinds[edge_rows]] & ~self.is_route[edge_rows] & (files >= 0) & (files < self.removed)
        ]
        rows = (
            each[edge_rows].tolist()
            for each in (edges.sources, edges.targets, edges.kinds, edges.rules, edges.candidates, edges.counts,
                         edges.rows)
        )  # fmt: skip
        drafts = {
            node: self._draft_of(node)
            for node in {*edges.sources[edge_rows].tolist(), *edges.targets[edge_rows].tolist()}
        }
        return [
            ((drafts[source], drafts[target], kind), EdgeSites(RULE_NAMES[rule], candidates, count, row))
            for source, target, kind, rule, candidates, count, row in zip(*rows, strict=True)
        ]

    def _named_after_moved(self) -> frozenset[int]:
        """Return the files of tests that may be named after files that were added or removed."""
        subjects = {subject for each in self.moved if (subject := each.stem.lstrip("_"))}
        return frozenset(
            number
            for number, symbols in enumerate(self.linker.program.files if subjects else ())
            if symbols.settings is not None
            and any(subject in symbols.path for subject in subjects)
            and role_of(symbols.path) == Role.TEST
        )

    def _draft_of(self, node: int) -> int:
        """Return the draft of a node of a file."""
        file, drafts = int(self.file_of[node]), self.linker.drafts
        if node == self.file_nodes[file]:
            return file
        if file not in self._keys:
            first = drafts.first_definition(file)
            n = len(self.linker.program.files[file].facts.definitions)
            self._keys[file] = {drafts[draft].id: draft for draft in range(first, first + n)}
        return self._keys[file][self.graph.nodes.ids[node]]

    def _merge_unresolved(self, ids: MergedTable, own: NDArray[np.bool_], position: _Position) -> UnresolvedCalls:
        then, collected = self.graph.unresolved, self.linker.collector.unresolved
        stays = ~own[then.sources]
        used = np.zeros(len(then.texts), dtype=np.bool_)
        used[then.names[stays]] = True
        texts = merge_tables(then.texts, used, [name for _, name in collected])
        sites = np.array(list(collected.values()), dtype=np.int32).reshape(-1, 2)
        sources = np.array([position(source) for source, _ in collected], dtype=np.int32)
        sources = np.concatenate([ids.old[then.sources[stays]], sources])
        names = np.concatenate([texts.old[then.names[stays]], texts.added.astype(np.int32)])
        order = np.lexsort((names, sources))
        return UnresolvedCalls(
            sources=sources[order],
            names=names[order],
            counts=np.concatenate([then.counts[stays], sites[:, 0]])[order],
            rows=np.concatenate([then.rows[stays], sites[:, 1]])[order],
            texts=texts.table,
        )


def _nodes(
    then: NodeTable, kept: NDArray[np.bool_], ids: MergedTable, made: Sequence[NodeDraft], position: _Position
) -> NodeTable:
    """Return the kept and the new nodes, in the order of their ids."""
    order = np.empty(len(ids.table), dtype=np.int64)
    order[ids.old[kept]] = np.flatnonzero(kept)
    order[ids.added] = len(then) + np.arange(len(made))

    def move(old: NDArray[np.int32], new: Sequence[int]) -> NDArray[np.int32]:
        previous = np.where(old >= 0, ids.old[old], np.int32(-1))
        return _merge_columns(previous, [position(draft) if draft >= 0 else -1 for draft in new], order)

    return NodeTable(
        ids=ids.table,
        kinds=_merge_columns(then.kinds, [d.kind for d in made], order),
        roles=_merge_columns(then.roles, [d.role for d in made], order),
        files=move(then.files, [d.file for d in made]),
        parents=move(then.parents, [d.parent for d in made]),
        start_bytes=_merge_columns(then.start_bytes, [d.start_byte for d in made], order),
        end_bytes=_merge_columns(then.end_bytes, [d.end_byte for d in made], order),
        start_rows=_merge_columns(then.start_rows, [d.start_row for d in made], order),
        end_rows=_merge_columns(then.end_rows, [d.end_row for d in made], order),
        signatures=then.signatures.take(order, [d.signature for d in made]),
        docs=then.docs.take(order, [d.doc for d in made]),
        said_layers=_merge_columns(then.said_layers, [d.says for d in made], order),
    )


def _edges_of_rows(indptr: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the entries of these rows, one row after the other."""
    starts, lengths = indptr[rows], indptr[rows + 1] - indptr[rows]
    positions = np.arange(int(lengths.sum()), dtype=np.int64)
    positions += np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return positions


def _merge_columns(then: NDArray[_Number], made: Sequence[int], order: NDArray[np.int64]) -> NDArray[_Number]:
    return np.concatenate([then, np.array(made, dtype=then.dtype)])[order]
