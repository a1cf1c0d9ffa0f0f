"""What a repository answers without ranking anything: names, places, uses, ways, layers, the map of all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from causalist import navigate
from causalist.index.source_text import Texts
from causalist.model.answer import RepositoryInfo
from causalist.model.graph import Edge, EdgeKind
from causalist.model.index import Index
from causalist.model.source import Diagnostic, FileEntry, SourceFile
from causalist.model.symbols import split_id
from causalist.pipeline.answer_parts import repository_info

if TYPE_CHECKING:  # a question needs none of these
    from causalist.model.lookup import (
        Affected,
        Definition,
        Direction,
        Gap,
        Health,
        Impact,
        Layering,
        Map,
        Neighbors,
        Trail,
        Verdict,
    )
    from causalist.model.scores import Hit


@dataclass(frozen=True, slots=True)
class Lookups:
    """An index, and how the files behind it are read."""

    root: Path
    index: Index
    read: Callable[[FileEntry], SourceFile | str]
    notes: tuple[Diagnostic, ...] = field(default=())
    folder: str = ""  # POSIX path below the root from which it was opened; relative paths start there

    def resolve(self, name: str) -> int:
        """The node that `name` means: an id, a path with or without a line, or the end of an id that only one has.

        Raises UnknownNode with what is near, or AmbiguousNode with the candidates.
        """
        return self.named(name).node

    def named(self, name: str) -> navigate.ResolvedName:
        """`resolve`, with a note on what was taken for granted."""
        return navigate.resolve_name(self.index, name, root=self.root, folder=self.folder)

    def find(self, name: str, *, limit: int = 20, kind: str | None = None) -> tuple[Hit, ...]:
        """Nodes whose name is `name` or nearly so, the best fit first, of one kind ("class") if that is given."""
        return navigate.find_nodes(self.index, name, limit, kind)

    def show(self, name: str) -> Definition:
        """A node with its source and its place in the graph. Raises as `resolve`."""
        definition = navigate.definition_of(self.index.graph, self.resolve(name))
        if not definition.hit.path:  # outside of the repository
            return definition
        texts = Texts(self.index.manifest, self.read)
        text = texts.of(definition.hit)
        return replace(definition, text=text, stale=bool(texts.changed))

    def callers(self, name: str) -> tuple[Edge, ...]:
        """Edges of calls that lead to a node, most confident first; of a constructor, also calls of the classes that
        run it. Raises as `resolve`."""
        return navigate.calls_to(self.index.graph, self.resolve(name))

    def callers_through(self, name: str) -> tuple[Edge, ...]:
        """Edges of calls that lead to what a method overrides, and of a special method edges of uses of its class: both
        may run it. Raises as `resolve`."""
        return navigate.calls_through(self.index.graph, self.resolve(name))

    def references(self, name: str) -> tuple[Edge, ...]:
        """Edges of uses of a node other than calls, most confident first. Raises as `resolve`."""
        return navigate.references_to(self.index.graph, self.resolve(name))

    def documentation(self, *names: str) -> tuple[Edge, ...]:
        """Edges from documentation that mentions these nodes or what they contain, most confident first. Raises as
        `resolve`."""
        return navigate.mentions_of(self.index.graph, [self.resolve(name) for name in names])

    def callees(self, name: str) -> tuple[Edge, ...]:
        """Edges of calls that a node makes inside the repository, most confident first. Raises as `resolve`."""
        return navigate.calls_from(self.index.graph, self.resolve(name))

    def readers(self, name: str) -> tuple[Edge, ...]:
        """Edges of what reads a value, or of values that a node contains. Raises as `resolve`."""
        return navigate.edges_to(self.index.graph, self.resolve(name), EdgeKind.READS)

    def writers(self, name: str) -> tuple[Edge, ...]:
        """Edges of what gives it a value. Raises as `resolve`."""
        return navigate.edges_to(self.index.graph, self.resolve(name), EdgeKind.WRITES)

    def path(self, source: str, target: str) -> Trail | None:
        """The most probable way from one node to another, forward if there is one. Raises as `resolve`."""
        start, end = self.resolve(source), self.resolve(target)
        return navigate.trail_between(self.index.graph, self.index.transition, start, end)

    def gaps(self, source: str, target: str) -> tuple[Gap, ...]:
        """Unresolved calls that could close the way from one node to another. Raises as `resolve`."""
        return navigate.gaps_between(self.index, self.resolve(source), self.resolve(target))

    def neighbors(
        self,
        name: str,
        *,
        hops: int = 1,
        kinds: Sequence[str] = (),
        direction: Direction | None = None,
        limit: int = 10,
    ) -> tuple[Neighbors, ...]:
        """What a node is linked with, by distance, direction (None: both), kind. Raises as `resolve`; UsageError."""
        from causalist.model.lookup import Direction

        node, direction = self.resolve(name), direction or Direction.BOTH
        return navigate.neighbors_in(self.index, node, hops=hops, kinds=kinds, direction=direction, limit=limit)

    def verify(self, source: str, target: str, *, min_confidence: float = 0.5) -> Verdict:
        """Whether one node uses another, with the evidence. Raises as `resolve`."""
        from causalist.parse import parse_file

        graph, texts = self.index.graph, Texts(self.index.manifest, self.read)
        start, end = self.resolve(source), self.resolve(target)
        path = split_id(graph.nodes.ids[start])[0]
        written = parse_file(path, texts.whole(path).encode()).calls if path else ()
        verdict = navigate.verdict_on(graph, start, end, min_confidence, written)
        return replace(verdict, lines=tuple(texts.line(edge.source, edge.line) for edge in verdict.edges))

    def impact(self, name: str, *, max_depth: int | None = None, min_confidence: float = 0.0) -> tuple[Affected, ...]:
        """What uses a node or what it contains, what uses that, and so on: by depth, then id. Raises as `resolve`."""
        changed = navigate.as_one(self.index.graph, [self.resolve(name)])
        return navigate.affected_by(self.index.graph, changed, max_depth=max_depth, min_confidence=min_confidence)

    def impact_since(self, revision: str, *, max_depth: int | None = None, min_confidence: float = 0.0) -> Impact:
        """`impact` of all that differs between a commit and the files as they are. Raises GitError."""
        return self._reached_since(navigate.affected_by, revision, max_depth, min_confidence)

    def tests(self, name: str, *, max_depth: int | None = None, min_confidence: float = 0.0) -> tuple[Affected, ...]:
        """The tests of a node or of what it contains, and those that reach it in more steps. Raises as `resolve`."""
        changed = navigate.as_one(self.index.graph, [self.resolve(name)])
        return navigate.tests_reaching(self.index.graph, changed, max_depth=max_depth, min_confidence=min_confidence)

    def tests_since(self, revision: str, *, max_depth: int | None = None, min_confidence: float = 0.0) -> Impact:
        """`tests` of all that differs between a commit and the files as they are. Raises GitError."""
        return self._reached_since(navigate.tests_reaching, revision, max_depth, min_confidence)

    def layers(self, *, min_confidence: float = 0.5) -> Layering:
        """The layers of the code, what uses what among them, and what uses a higher one."""
        return navigate.layering_of(self.index.graph, min_confidence=min_confidence)

    def lint(self) -> Health:
        """Whether the index is what it should be, and how much of the calls it knows."""
        return navigate.health_of(self.index)

    def map(self, *, max_tokens: int = 2000, format: str = "text") -> Map:
        """What the repository is, in at most that many tokens. Raises UsageError and BudgetTooSmall."""
        from causalist.repomap import collect, draw_map  # a question needs none of it

        texts = Texts(self.index.manifest, self.read)
        return draw_map(collect(self.index, self.root.name, texts.whole), max_tokens=max_tokens, format=format)

    def edges(
        self, *, kinds: Sequence[str] = (), min_confidence: float = 0.5, everything: bool = False
    ) -> Iterator[Edge]:
        """Edges in the order of the graph. Without `everything`: those inside the repository with that confidence."""
        return navigate.chosen_edges(
            self.index.graph, kinds=kinds, min_confidence=min_confidence, everything=everything
        )

    def info(self, *, stale: bool = False) -> RepositoryInfo:
        """What is searched."""
        return repository_info(self.root, self.index, stale=stale)

    def _reached_since(
        self, reach: Callable[..., tuple[Affected, ...]], revision: str, max_depth: int | None, min_confidence: float
    ) -> Impact:
        from causalist.model.lookup import Impact
        from causalist.source import changes_since

        graph, manifest = self.index.graph, self.index.manifest
        changes = changes_since(self.root, revision, zip(manifest.paths, manifest.blobs, strict=True), self.read)
        changed = navigate.nodes_of_rows(graph, changes.rows)
        affected = reach(graph, changed, max_depth=max_depth, min_confidence=min_confidence)
        return Impact(changes.commit, tuple(graph.nodes.ids[n] for n in changed.tolist()), changes.deleted, affected)
