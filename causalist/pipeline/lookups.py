"""Queries that need no ranking: names, definitions, edges, paths, layers and the map."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist import navigate
from causalist.errors import UnreadNode, UsageError
from causalist.index.source_text import SourceText
from causalist.model.answer import RepositoryInfo
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.index import Index
from causalist.model.node_ids import CALLABLE_KINDS, Layer, Role, split_id
from causalist.model.source import Changes, Diagnostic, FileEntry, SourceFile
from causalist.pipeline.answer_notes import build_repository_info
from causalist.rank import WalkWeights, build_transition
from causalist.store import OBSERVED_NAME, PROVEN_NAME, index_stamp

if TYPE_CHECKING:  # a question needs none of these
    from causalist.index.source_text import UnreadFile
    from causalist.model.lookup import (
        Affected,
        ChangesWith,
        DefinitionDetails,
        DependencyOrder,
        Direction,
        GraphPath,
        Health,
        Impact,
        LayerFile,
        Layering,
        Map,
        Neighbors,
        ObservedStatus,
        OrderLevel,
        ProvenStatus,
        ServedRoute,
        SimilarCluster,
        SimilarPair,
        TestChoice,
        UnresolvedCall,
        Verdict,
    )
    from causalist.model.scores import Hit
    from causalist.observe import Freshness, ObservedGraph, ObservedStore, StaleCall
    from causalist.prove import ProofStore, StaleProof


class _ObservedView(NamedTuple):
    """The graph with observed and proven calls, the stale ones, and the stores of all of them."""

    graph: ObservedGraph
    stale: tuple[StaleCall, ...]
    stale_proofs: tuple[StaleProof, ...]
    store: ObservedStore | None
    proofs: ProofStore | None
    freshness: Freshness


class Observations:
    """Observed and proven calls beside an index, which may be in one of the folders `places`.

    It is read when a look-up needs it, without proofs if not `with_proofs`.
    """

    def __init__(self, places: Sequence[Path], *, with_proofs: bool = True) -> None:
        self.places = tuple(places)
        self._names = (OBSERVED_NAME, PROVEN_NAME) if with_proofs else (OBSERVED_NAME,)
        self._loaded: tuple[Index, object, _ObservedView | None] | None = None

    def load(self, index: Index, read: Callable[[FileEntry], SourceFile | str]) -> _ObservedView | None:
        """Return what is known of the definitions of an index beside it; None if nothing is kept."""
        stamps = tuple(evidence_stamp(self.places, name) for name in self._names)
        if self._loaded is None or self._loaded[0] is not index or self._loaded[1] != stamps:
            with_proofs = PROVEN_NAME in self._names
            seen = _read_seen(self.places, index, read, with_proofs=with_proofs) if any(stamps) else None
            self._loaded = index, stamps, seen
        return self._loaded[2]


def evidence_stamp(places: Sequence[Path], name: str) -> tuple[int, ...] | None:
    """Return metadata that identifies what is kept under a name; None if nothing is."""
    return next((stamp for place in places if (stamp := index_stamp(place / name)) is not None), None)


def _read_seen(
    places: Sequence[Path], index: Index, read: Callable[[FileEntry], SourceFile | str], *, with_proofs: bool
) -> _ObservedView | None:
    from causalist.observe import Freshness, ObservedStore, observed_graph, read_store, stale_calls
    from causalist.prove import proven_graph, read_proofs, stale_proofs

    store, proofs = read_store(places), read_proofs(places) if with_proofs else None
    if store is None and proofs is None:
        return None
    freshness = Freshness(index, SourceText(index.manifest, read))
    graph = observed_graph(index, store or ObservedStore(), freshness)
    stale = tuple(stale_calls(store, freshness)) if store is not None else ()
    if proofs is None:
        return _ObservedView(graph, stale, (), store, None, freshness)
    unproven = tuple(stale_proofs(proofs, freshness))
    return _ObservedView(proven_graph(graph, proofs, freshness), stale, unproven, store, proofs, freshness)


def _is_within(node_id: str, outer: str | None) -> bool:
    return outer is None or node_id == outer or node_id.startswith((f"{outer}.", f"{outer}::"))


@dataclass(frozen=True, slots=True)
class Lookups:
    """An index and a reader of its files."""

    root: Path
    index: Index
    read: Callable[[FileEntry], SourceFile | str]
    notes: tuple[Diagnostic, ...] = field(default=())
    folder: str = ""  # POSIX path below the root from which it was opened; relative paths start there
    observations: Observations | None = None  # what runs saw; None: look-ups take the graph as it is indexed
    # Files that were parsed, of an index of what one question needs; None: all.
    n_parsed: int | None = field(default=None, kw_only=True)

    @property
    def graph(self) -> CodeGraph:
        """The graph of the index, with what runs saw of it."""
        seen = None if self.observations is None else self.observations.load(self.index, self.read)
        return self.index.graph if seen is None else seen.graph

    def stale_calls(self, source: str | None, target: str | None) -> tuple[StaleCall, ...]:
        """Return the calls that runs saw before one of the two definitions changed, by source and target.

        With `source` or `target`, ids: those of it and its members.
        """
        seen = None if self.observations is None else self.observations.load(self.index, self.read)
        return (
            ()
            if seen is None
            else tuple(
                each for each in seen.stale if _is_within(each.source, source) and _is_within(each.target, target)
            )
        )

    def stale_proofs(self, source: str | None, target: str | None) -> tuple[StaleProof, ...]:
        """Return the edges that were proven before a definition changed, as `stale_calls`."""
        seen = None if self.observations is None else self.observations.load(self.index, self.read)
        return tuple(
            each
            for each in (() if seen is None else seen.stale_proofs)
            if _is_within(each.source, source) and _is_within(each.target, target)
        )

    def resolve(self, name: str) -> int:
        """Return the node that `name` means: an id, a path with or without a line, or a unique end of an id.

        Raises UnknownNode with similar names, or AmbiguousNode with the candidates.
        """
        return self.resolve_name(name).node

    def resolve_name(self, name: str) -> navigate.ResolvedName:
        """`resolve`, with a note on what was taken for granted."""
        return navigate.resolve_name(self.index, name, root=self.root, folder=self.folder)

    def find(self, name: str, *, limit: int = 20, kind: str | None = None) -> tuple[Hit, ...]:
        """Return nodes with a name equal or similar to `name`, best first, of one `kind` if given."""
        return navigate.find_nodes(self.index, name, limit, kind)

    def show(self, name: str) -> DefinitionDetails:
        """Return a node with its source and its neighborhood in the graph. Raises as `resolve`."""
        definition = navigate.describe_definition(self.index.graph, self.resolve(name))
        if not definition.hit.path:  # outside of the repository
            return definition
        texts = SourceText(self.index.manifest, self.read)
        text = texts.get_text(definition.hit)
        return replace(definition, text=text, stale=bool(texts.changed_paths))

    def observed_status(self) -> ObservedStatus | None:
        """Return what runs saw of the definitions of the index; None if nothing is kept."""
        from causalist.observe import ObservedStore, count_observed, list_killed

        if self.observations is None:
            return None
        seen = self.observations.load(self.index, self.read)
        store = ObservedStore() if seen is None or seen.store is None else seen.store
        killed = tuple(run for place in self.observations.places for run in list_killed(place, store))
        if seen is not None and seen.store is not None:
            return count_observed(seen.graph, store, len(seen.stale))._replace(killed=killed)
        return count_observed(self.index.graph, store, 0)._replace(killed=killed) if killed else None

    def proven_status(self) -> ProvenStatus | None:
        """Return what was proven of the definitions of the index; None if nothing is kept."""
        from causalist.prove import count_proofs

        seen = None if self.observations is None else self.observations.load(self.index, self.read)
        return None if seen is None or seen.proofs is None else count_proofs(seen.proofs, len(seen.stale_proofs))

    def callers(self, name: str) -> tuple[Edge, ...]:
        """Return call edges into a node, most confident first. Raises as `resolve`.

        For a constructor this includes calls of the classes that run it.
        """
        return navigate.calls_to(self.graph, self.resolve(name))

    def callers_through(self, name: str) -> tuple[Edge, ...]:
        """Return edges that may run a node indirectly. Raises as `resolve`.

        These are calls of methods that it overrides and, for a special method, uses of its class.
        """
        return navigate.find_indirect_calls(self.graph, self.resolve(name))

    def references(self, name: str) -> tuple[Edge, ...]:
        """Return edges of uses other than calls, most confident first. Raises as `resolve`."""
        return navigate.references_to(self.graph, self.resolve(name))

    def routes(self, text: str = "") -> tuple[ServedRoute, ...]:
        """Return the routes whose method and path contain all words of `text`, by path and method."""
        return navigate.list_routes(self.index.graph, text)

    def documentation(self, *names: str) -> tuple[Edge, ...]:
        """Return edges from documentation that mentions these nodes or their members. Raises as `resolve`."""
        return navigate.mentions_of(self.index.graph, [self.resolve(name) for name in names])

    def callees(self, name: str) -> tuple[Edge, ...]:
        """Return calls that a node makes inside the repository, most confident first. Raises as `resolve`."""
        return navigate.calls_from(self.graph, self.resolve(name))

    def readers(self, name: str) -> tuple[Edge, ...]:
        """Return edges of reads of a value, or of values in a node. Raises as `resolve`."""
        return navigate.edges_to(self.index.graph, self.resolve(name), EdgeKind.READS)

    def writers(self, name: str) -> tuple[Edge, ...]:
        """Return edges of writes of a value. Raises as `resolve`."""
        return navigate.edges_to(self.index.graph, self.resolve(name), EdgeKind.WRITES)

    def path(self, source: str, target: str) -> GraphPath | None:
        """Return the most probable path between two nodes, forward if possible. Raises as `resolve`."""
        start, end = self.resolve(source), self.resolve(target)
        graph, transition = self.graph, self.index.transition
        if graph is not self.index.graph:
            transition = build_transition(graph, WalkWeights())
        return navigate.find_graph_path(graph, transition, start, end)

    def path_by_evidence(self, source: str, target: str, *, is_proven: bool) -> GraphPath | None:
        """Return the shortest path of edges that runs saw, or that are proven, from one node to another.

        Every edge is followed forward. Raises as `resolve`.
        """
        start, end, graph = self.resolve(source), self.resolve(target), self.graph
        sightings, proofs = getattr(graph, "sightings", {}), getattr(graph, "proofs", {})
        seen = [] if is_proven else [number for number, each in sightings.items() if each.n + each.n_through]
        return navigate.find_path_of_edges(graph, {*seen, *proofs}, start, end)

    def gaps(self, source: str, target: str) -> tuple[UnresolvedCall, ...]:
        """Return unresolved calls that could complete a path between two nodes. Raises as `resolve`."""
        return navigate.find_completing_calls(self.index, self.resolve(source), self.resolve(target))

    def neighbors(
        self,
        name: str,
        *,
        hops: int = 1,
        kinds: Sequence[str] = (),
        direction: Direction | None = None,
        limit: int = 10,
    ) -> tuple[Neighbors, ...]:
        """Return the neighbors of a node by distance, direction and kind; None: both directions.

        The kinds `co_changes` and `similar` are derived if they are asked for; near-duplicates of tests are tests too.
        Raises as `resolve`, and UsageError.
        """
        from causalist.model.lookup import Direction

        node, direction = self.resolve(name), direction or Direction.BOTH
        is_test = self.index.graph.nodes.roles[node] == Role.TEST
        find_pairs = partial(self._similar, node, min_similarity=0.7, min_lines=6, tests=bool(is_test))
        return navigate.list_neighbors_and_derived(
            replace(self.index, graph=self.graph), node, hops=hops, kinds=kinds, direction=direction, limit=limit,
            find_pairs=find_pairs,
        )  # fmt: skip

    def verify(self, source: str, target: str, *, min_confidence: float = 0.5) -> Verdict:
        """Return a verdict on whether one node uses another, with the evidence.

        If one is in a file that the index leaves out, it is "unknown". Raises as `resolve`.
        """
        from causalist.model.facts import OPERATED
        from causalist.model.lookup import Certainty, Verdict, VerdictReason
        from causalist.parse import parse_file

        graph, texts = self.graph, SourceText(self.index.manifest, self.read)
        try:
            start, end = self.resolve(source), self.resolve(target)
        except UnreadNode:
            return Verdict(source, target, Certainty.UNKNOWN, VerdictReason.UNREAD)
        path = split_id(graph.nodes.ids[start])[0]
        text = texts.read_text(path) if path else ""
        calls = parse_file(path, text.encode()).calls if path else ()
        written = tuple(each for each in calls if each.arguments != OPERATED)

        def rows_written(word: str) -> list[int]:
            matches = re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)
            return [text.count("\n", 0, match.start()) for match in matches]

        verdict = navigate.verify_use(graph, start, end, min_confidence, written, rows_written)
        return replace(verdict, lines=tuple(texts.get_line(edge.source, edge.line) for edge in verdict.edges))

    def unread(self, *names: str) -> tuple[UnreadFile, ...]:
        """Return the files that are not in the index, or only in part, and have the name of one of these nodes.

        They may use it. Raises as `resolve`.
        """
        ids = self.index.graph.nodes.ids
        symbols = [split_id(ids[self.resolve(name)]) for name in names]
        words = [(symbol or path.rpartition("/")[2].partition(".")[0]) for path, symbol in symbols]
        return self.unread_words(*(word.partition("~")[0].rpartition(".")[2] for word in words))

    def unread_words(self, *words: str) -> tuple[UnreadFile, ...]:
        """Return the files that are not in the index, or only in part, and have one of these words."""
        from causalist.index.source_text import unread_files

        return unread_files(self.root, self.index, words, self.read)

    def impact(self, *names: str, max_depth: int | None = None, min_confidence: float = 0.0) -> tuple[Affected, ...]:
        """Return transitive users of nodes and of their members, by depth, then id. Raises as `resolve`.

        Of several nodes, a user has the probability that it runs one of them, as if they were independent.
        """
        graph, limits = self.graph, {"max_depth": max_depth, "min_confidence": min_confidence}
        given = [navigate.with_overloads_and_members(self.index.graph, [self.resolve(name)]) for name in names]
        impacts = [navigate.find_affected_nodes(graph, changed, **limits) for changed in given]  # type: ignore[arg-type]
        return impacts[0] if len(impacts) == 1 else navigate.unite_affected(graph, given, impacts)

    def impact_since(self, revision: str, *, max_depth: int | None = None, min_confidence: float = 0.0) -> Impact:
        """Return the `impact` of all changes between a commit and the files as they are. Raises GitError."""
        return self._reached_since(navigate.find_affected_nodes, revision, max_depth, min_confidence)

    def changes_with(
        self,
        *names: str,
        affected: Sequence[Affected] | None = None,
        least_commits: int = 0,
        least_probability: float | None = None,
    ) -> tuple[ChangesWith, ...]:
        """Return the files that a change of these nodes probably changes as well, likeliest first, with reasons.

        One probability joins common commits, uses, and the words and names of files. Files below `least_probability`
        (None: 0.1) and those with fewer than `least_commits` common commits are left out. `affected` are the users of
        the nodes if they are known already. Raises as `resolve`.
        """
        given = [self.resolve(name) for name in names]
        if affected is None:
            changed = navigate.with_overloads_and_members(self.index.graph, given)
            affected = navigate.find_affected_nodes(self.graph, changed, max_depth=None, min_confidence=0.0)
        return navigate.find_files_changing_with(self.index, given, affected, least_commits, least_probability)

    def describe_missing_history(self) -> str:
        """Return why the commits say little about files that change together; "" if nothing is missing."""
        commits = self.index.history.commits
        if not len(commits):
            return "no git history: what usually changes together is not known, only uses, names and words"
        return "the clone is shallow: older commits are not counted" if commits.is_shallow else ""

    def tests(self, name: str, *, max_depth: int | None = None, min_confidence: float = 0.0) -> tuple[Affected, ...]:
        """Return the probable ones of the tests of `choose_tests`. Raises as `resolve`."""
        choice = self.choose_tests(name, max_depth=max_depth, min_confidence=min_confidence)
        return choice.tests[: choice.n_probable]

    def choose_tests(
        self,
        *names: str,
        max_depth: int | None = None,
        min_confidence: float = 0.0,
        coverage: Sequence[Path] | None = None,
    ) -> TestChoice:
        """Return tests that may run a node or its members, or one of several nodes, the most probable first.

        `coverage` are files of coverage data; None: those at the usual places of the repository and its packages. A
        test that ran the node according to them runs it; one of the same run that did not does not, unless it or code
        on its way changed since. Without such data, `n_probable` of a function counts the tests that raise the recall
        and precision that are expected of the list. Raises as `resolve`, and UnreadableCoverage for a file that is
        given.
        """
        graph, nodes = self.graph, [self.resolve(name) for name in names]
        given = [navigate.with_overloads_and_members(graph, [node]) for node in nodes]
        limits = {"max_depth": max_depth, "min_confidence": min_confidence}
        tests_by_change = [self._find_tests(graph, changed, **limits) for changed in given]  # type: ignore[arg-type]
        united = (
            tests_by_change[0] if len(tests_by_change) == 1 else navigate.unite_affected(graph, given, tests_by_change)
        )
        tests = tuple(sorted(united, key=lambda each: (-each.probability, each.depth, each.node)))
        choice, is_observed = self._with_coverage(np.unique(np.concatenate(given)), tests, coverage)
        if is_observed or any(graph.kind(node) not in CALLABLE_KINDS for node in nodes):
            return choice
        return choice._replace(n_probable=navigate.count_probable_tests(choice.tests))

    def choose_tests_since(
        self,
        revision: str,
        *,
        max_depth: int | None = None,
        min_confidence: float = 0.0,
        coverage: Sequence[Path] | None = None,
    ) -> tuple[Impact, TestChoice]:
        """Return `tests_since`, and the same tests with what coverage data says, as `choose_tests` does."""
        impact = self.tests_since(revision, max_depth=max_depth, min_confidence=min_confidence)
        ids = self.index.graph.nodes.ids
        changed = np.array(sorted({ids.position(each) for each in impact.changed} - {-1}), dtype=np.int64)
        return impact, self._with_coverage(changed, impact.affected, coverage)[0]

    def _find_tests(
        self, graph: CodeGraph, changed: NDArray[np.int64], *, max_depth: int | None, min_confidence: float
    ) -> tuple[Affected, ...]:
        return navigate.find_tests_reaching(
            graph,
            changed,
            max_depth=max_depth,
            min_confidence=min_confidence,
            lexical=self.index.lexical,
            read_text=SourceText(self.index.manifest, self.read).read_text,
        )

    def with_records(
        self, changed: NDArray[np.int64], tests: tuple[Affected, ...], before: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[tuple[Affected, ...], bool]:
        """Return the tests with what `observe` recorded of them, and True if anything was recorded.

        `before` are the blobs, before the change, of files in which nothing but functions among `changed` did. A test
        that was recorded with such a file, and ran none of these, runs as it did.
        """
        seen = None if self.observations is None else self.observations.load(self.index, self.read)
        if seen is None or seen.store is None or not len(changed):
            return tests, False
        from causalist.navigate.coverage import join_records
        from causalist.observe import changed_paths, test_records

        records = test_records(self.index, seen.store, seen.freshness)
        newer = changed_paths(self.index, seen.store, before)
        return join_records(self.graph, changed, tests, records, newer, before.keys() - newer), bool(records)

    def _with_coverage(
        self, changed: NDArray[np.int64], tests: tuple[Affected, ...], files: Sequence[Path] | None
    ) -> tuple[TestChoice, bool]:
        """Return the tests with what runs of them say, and True if some run tells tests apart."""
        from causalist.model.lookup import TestChoice
        from causalist.navigate.coverage import join_coverage, join_proofs
        from causalist.navigate.coverage_files import find_coverage_files

        tests, is_observed = self.with_records(changed, tests)
        is_named = files is not None
        given = find_coverage_files(self.root, self.index.manifest.paths) if files is None else files
        graph = self.graph
        proofs = getattr(graph, "proofs", {})
        if not given or not len(changed):
            return TestChoice(join_proofs(graph, changed, tests, proofs) if proofs else tests), is_observed
        read_text = SourceText(self.index.manifest, self.read).read_text
        choice = join_coverage(self.index, changed, tests, given, self.root, is_named=is_named, read_text=read_text)
        if proofs:
            choice = choice._replace(tests=join_proofs(graph, changed, choice.tests, proofs))
        return choice, is_observed or (choice.coverage is not None and choice.coverage.n_tests is not None)

    def tests_since(self, revision: str, *, max_depth: int | None = None, min_confidence: float = 0.0) -> Impact:
        """Return the `tests` of all changes between a commit and the files as they are. Raises GitError."""
        return self._reached_since(self._find_tests, revision, max_depth, min_confidence)

    def count_tests(self) -> int:
        """Return the number of tests of the repository."""
        return int(navigate.mark_tests(self.index.graph).sum())

    def layers(self, *, min_confidence: float = 0.5) -> Layering:
        """Return the layers of the code, the uses among them, and uses of a higher layer."""
        return navigate.summarize_layers(self.index.graph, min_confidence=min_confidence)

    def layer_files(self, name: str, *, min_confidence: float = 0.5) -> tuple[LayerFile, ...]:
        """Return the files of a layer, the most used from other layers first. Raises UsageError for no layer."""
        layers = {layer.label: layer for layer in Layer}
        if name not in layers:
            raise UsageError(f"no layer is called {name!r}. Choose from {', '.join(layers)}.")
        return navigate.list_layer_files(self.index.graph, layers[name], min_confidence=min_confidence)

    def topo(
        self,
        *names: str,
        start: str | None = None,
        revision: str | None = None,
        level: OrderLevel | None = None,
        min_confidence: float = 0.5,
        tests: bool = False,
        everything: bool = False,
    ) -> DependencyOrder:
        """Return the items of a set, dependencies before dependents.

        `names` are folders, patterns, paths, ids or names; without any the set is the whole repository. `start` limits
        it to a node and what that reaches, `revision` to what changed since a commit, or in a range `A..B`. `level`
        None is that of definitions if one is named, else of files. Only code of the product counts, unless nothing else
        is there; with `tests` also tests, with `everything` all. Raises as `resolve`, and GitError.
        """
        from causalist.model.lookup import OrderLevel

        graph = self.index.graph
        expanded = navigate.expand_names(self.index, names, root=self.root, folder=self.folder)
        chosen, named, notes = expanded.named | expanded.others, expanded.named, expanded.notes
        is_definition = expanded.is_definition
        deleted: tuple[str, ...] = ()
        if not names:
            chosen = np.asarray(graph.nodes.files >= 0, dtype=np.bool_)
        if start is not None:
            first = self.resolve_name(start)
            chosen = chosen & navigate.nodes_reached(graph, [first.node], min_confidence)
            notes += (first.note,) * bool(first.note)
            named = named.copy()
            named[navigate.with_overloads_and_members(graph, [first.node])] = True
            is_definition |= "::" in graph.nodes.ids[first.node]
        if revision is not None:
            changes = self._changes_since(revision)
            is_changed = np.zeros(len(graph.nodes), dtype=np.bool_)
            is_changed[navigate.find_nodes_of_rows(graph, changes.rows)] = True
            chosen, deleted = chosen & is_changed, changes.deleted
        roles = tuple(Role) if everything else (Role.CODE, Role.TEST) if tests else (Role.CODE,)
        level = level or (OrderLevel.DEFINITION if is_definition else OrderLevel.FILE)
        order = navigate.order_dependencies(
            graph, chosen, named & chosen, level, min_confidence=min_confidence, roles=roles
        )
        return replace(order, notes=notes, deleted=deleted)

    def similar(
        self, name: str, *, min_similarity: float = 0.7, min_lines: int = 6, tests: bool = False
    ) -> tuple[SimilarPair, ...]:
        """Return the near-duplicates of a node or of its contents, those first that a reader would most likely merge.

        Definitions of the product with at least `min_lines` lines are compared, with `tests` also tests. Files are read
        and parsed for it. Raises as `resolve`, and UsageError if neither the node nor its contents can be compared.
        """
        node = self.resolve(name)
        pairs = self._similar(node, min_similarity=min_similarity, min_lines=min_lines, tests=tests)
        if pairs is None:
            raise UsageError(
                f"{self.index.graph.nodes.ids[node]} has no function or type of {min_lines} lines or more; "
                "give --min-lines a lower number, or another node"
            )
        return pairs

    def _similar(
        self, node: int, *, min_similarity: float, min_lines: int, tests: bool
    ) -> tuple[SimilarPair, ...] | None:
        """Return `similar` of a node, None if neither it nor its contents can be compared."""
        from causalist.navigate.similar import find_similar

        graph = self.index.graph
        every = navigate.select_definitions(graph, min_lines=min_lines, roles=tuple(Role))
        targets = np.intersect1d(navigate.with_overloads_and_members(graph, [node]), every)
        if not len(targets):
            return None
        others = navigate.select_definitions(graph, min_lines=min_lines, roles=self._roles_compared(tests))
        read = SourceText(self.index.manifest, self.read).read_bytes
        return find_similar(graph, read, targets, others, min_similarity=min_similarity)

    def similar_clusters(
        self, *, min_similarity: float = 0.7, min_lines: int = 6, tests: bool = False, limit: int | None = None
    ) -> tuple[tuple[SimilarCluster, ...], int]:
        """Return (clusters of near-duplicates of the repository, most duplicated lines first; the number of all).

        At most `limit` are returned. Definitions are compared as by `similar`.
        """
        from causalist.navigate.similar import find_clusters

        graph = self.index.graph
        nodes = navigate.select_definitions(graph, min_lines=min_lines, roles=self._roles_compared(tests))
        read = SourceText(self.index.manifest, self.read).read_bytes
        return find_clusters(graph, read, nodes, min_similarity=min_similarity, limit=limit)

    @staticmethod
    def _roles_compared(tests: bool) -> tuple[Role, ...]:
        return (Role.CODE, Role.TEST) if tests else (Role.CODE,)

    def lint(self) -> Health:
        """Check the consistency of the index, and count resolved and unresolved calls."""
        return navigate.find_defects(self.index)

    def map(self, *, max_tokens: int = 2000, format: str = "text") -> Map:
        """Return an overview of the repository within `max_tokens`. Raises UsageError and BudgetTooSmall."""
        from causalist.repomap.collect import collect  # a question needs none of it
        from causalist.repomap.render import draw_map
        from causalist.source import remote_name

        texts = SourceText(self.index.manifest, self.read)
        overview = collect(self.index, self.root.name, texts.read_text, [remote_name(self.root)])
        return draw_map(overview, max_tokens=max_tokens, format=format)

    def edges(
        self, *, kinds: Sequence[str] = (), min_confidence: float = 0.5, everything: bool = False
    ) -> Iterator[Edge]:
        """Yield edges in the order of the graph.

        Without `everything`: only those inside the repository with at least `min_confidence`.
        """
        return navigate.select_edges(
            self.index.graph, kinds=kinds, min_confidence=min_confidence, everything=everything
        )

    def info(self, *, stale: bool = False) -> RepositoryInfo:
        """Return counts of the searched repository."""
        return build_repository_info(self.root, self.index, stale=stale, n_parsed=self.n_parsed)

    def _reached_since(
        self, reach: Callable[..., tuple[Affected, ...]], revision: str, max_depth: int | None, min_confidence: float
    ) -> Impact:
        from causalist.model.lookup import Impact

        graph = self.graph
        changes = self._changes_since(revision)
        changed = navigate.find_nodes_of_rows(graph, changes.rows)
        affected = reach(graph, changed, max_depth=max_depth, min_confidence=min_confidence)
        return Impact(changes.commit, tuple(graph.nodes.ids[n] for n in changed.tolist()), changes.deleted, affected)

    def _changes_since(self, revision: str) -> Changes:
        from causalist.index.freshness import searched_blobs
        from causalist.source import changes_since

        return changes_since(self.root, revision, searched_blobs(self.index), self.read)
