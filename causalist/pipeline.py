"""The only module that knows the order of the stages; the library's facade.

`Repository.open(path).ask(question)` is: read the question, rank, choose, find paths, extract, order, pack. The
stages do not know one another; what passes between them is a type in `model/`.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from causalist.errors import AmbiguousNode, EmptyQuestion, UnknownNode, UsageError
from causalist.extract import (
    extract_subgraph,
    hit_of,
    hops_between,
    lift_to_files,
    named_edge,
    order_subgraph,
    paths_from_seeds,
)
from causalist.indexing import IndexOptions, make_index, refreshed_index
from causalist.model.answer import Answer, AskOptions, Level, Order, PageRankInfo, RankMode, RepositoryInfo, Status
from causalist.model.facts import Diagnostic
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.index import Index
from causalist.model.pack import PackHeader, PackInput, PackItem
from causalist.model.scores import Hit, Hop
from causalist.model.source import FileEntry, SourceFile
from causalist.model.subgraph import OrderedSubgraph, SubgraphEdge
from causalist.model.symbols import NodeKind
from causalist.pack import check_budget, render_pack
from causalist.rank import (
    Chosen,
    Ranking,
    WalkWeights,
    best_inside,
    build_transition,
    choose,
    default_weights,
    explain,
    nodes_named,
    rank_question,
    read_question,
)
from causalist.source import BlobReader, find_root, read_file, refuse_root, scan_commit
from causalist.store import FactsCache

_MOST_SUGGESTED = 20  # namesakes that the message about an unknown node lists


def check_question(query: str, options: AskOptions) -> None:
    """Raises EmptyQuestion or UsageError for what `Repository.ask` refuses, before anything is indexed."""
    if not query.strip():
        raise EmptyQuestion('the question is empty; ask something, for example: causalist ask "where is X decided?"')
    if options.top_k < 1:
        raise UsageError(f"--top-k is {options.top_k}; at least 1 result has to be asked for")
    if not 0.0 <= options.damping < 1.0:
        raise UsageError(f"--damping is {options.damping}; it is a probability of at least 0 and below 1")
    if options.rank is RankMode.PAGERANK and not options.graph:
        raise UsageError("ranking by PageRank needs the graph; leave out --no-graph, or rank by the fused score")
    check_budget(options.max_tokens, options.format)


@dataclass(frozen=True, slots=True)
class Repository:
    """An indexed repository. Open one with `open` or `at_commit`; everything else reads."""

    root: Path
    index: Index
    read: Callable[[FileEntry], SourceFile | str]
    notes: tuple[Diagnostic, ...] = field(default=())

    @classmethod
    def open(
        cls,
        path: str | Path = ".",
        *,
        exact_root: bool = False,
        force: bool = False,
        options: IndexOptions | None = None,
    ) -> "Repository":
        """Opens the repository around `path`, or just the folder `path` if `exact_root`; builds or refreshes its index.

        Where the folder cannot be written, the index stays in memory and a diagnostic says so.
        """
        options = options or IndexOptions()
        root = find_root(Path(path))
        if exact_root:
            root = Path(path).resolve()
        if not force:
            refuse_root(root)
        index, notes = refreshed_index(root, options)
        return cls(root, index, lambda entry: read_file(root, entry), notes)

    @classmethod
    def at_commit(
        cls,
        git_dir: str | Path,
        commit: str,
        *,
        cache: FactsCache | None = None,
        options: IndexOptions | None = None,
    ) -> "Repository":
        """The state of a commit, without a checkout; nothing is written. `cache` shares facts between commits."""
        folder = Path(git_dir)
        scan = scan_commit(folder, commit)
        with BlobReader(folder) as reader:
            index = make_index(scan, reader.read, cache or FactsCache(), None, 0, options or IndexOptions(processes=1))
        blobs = {entry.path: entry for entry in scan.entries}

        def read(entry: FileEntry) -> SourceFile | str:
            with BlobReader(folder) as again:
                return again.read(blobs[entry.path])

        return cls(folder, index, read)

    # -- asking

    def ask(self, query: str, options: AskOptions | None = None) -> Answer:
        """The smallest connected set of code that answers `query`, ranked, explained, ordered and packed.

        Raises EmptyQuestion, and UsageError for options out of range. Finding nothing is an answer without results.
        """
        options = options or AskOptions()
        check_question(query, options)
        clock = _Clock()
        graph, lexical = self.index.graph, self.index.lexical
        with clock.step("route"):
            question = read_question(query)
            transition = self.index.transition
            if options.normalise:
                transition = build_transition(graph, WalkWeights(), normalise=True)
        with clock.step("rank"):
            ranking = rank_question(question, graph, lexical, transition, default_weights(), options)
            chosen = choose(ranking, graph, transition, options)
        with clock.step("assemble"):
            nodes = [c.node for c in chosen]
            inside = best_inside(chosen, ranking, graph, transition) if options.level is Level.FILE else {}
            ends = [inside[n][0] if inside.get(n) else n for n in nodes]
            paths = paths_from_seeds(graph, transition, ranking.seeds, ends, kind_weights=WalkWeights().table())
            via = hops_between(graph, [paths[end] for end in ends], nodes, options.level)
            results = tuple(
                self._hit(c, ranking, paths[end], options.level) for c, end in zip(chosen, ends, strict=True)
            )
            ordered, edges = _ordered(graph, [*nodes, *via], results, options)
            ids = [graph.nodes.ids[n] for n in [*nodes, *via]]
        with clock.step("deliver"):
            texts = _Texts(self)
            items = self._pack_items(results, ordered, [*nodes, *via], inside, texts)
            kept = tuple(named_edge(graph, e, ids) for e in edges)
            removed = tuple(named_edge(graph, e, ids) for e in ordered.removed)
            header = PackHeader(
                query,
                self.root.name,
                self.index.commit,
                _n_searched(graph),
                stale=bool(texts.changed),
                causal=options.order is Order.CAUSAL,
            )
            pack = (
                render_pack(
                    PackInput(header, items, kept, removed), max_tokens=options.max_tokens, format=options.format
                )
                if results
                else None
            )
        return Answer(
            answer_id=_answer_id(self.index, query, options),
            query=query,
            route=options.route or question.route,
            confidence=None,
            attempts=1,
            repository=self.info(stale=bool(texts.changed)),
            pagerank=_pagerank_info(ranking, options),
            results=results,
            edges=kept,
            removed_edges=removed,
            order=tuple(ids[i] for i in ordered.order),
            via=tuple(graph.nodes.ids[n] for n in via),
            diagnostics=(*self.notes, *_partly_read(self.index, results), *texts.diagnostics()),
            timings_ms=clock.milliseconds,
            pack=pack,
        )

    def rank_nodes(self, query: str, options: AskOptions) -> list[str]:
        """Ids of the best nodes (or files, by `options.level`) for a question: `ask` without paths, order and pack."""
        graph, transition = self.index.graph, self.index.transition
        question = read_question(query)
        ranking = rank_question(question, graph, self.index.lexical, transition, default_weights(), options)
        return [graph.nodes.ids[c.node] for c in choose(ranking, graph, transition, options)]

    # -- looking up

    def resolve(self, name: str) -> int:
        """The node with the id `name`, or the only one with that qualified or last name.

        Raises UnknownNode, or AmbiguousNode with the candidates.
        """
        ids = self.index.graph.nodes.ids
        exact = ids.position(name)
        if exact >= 0:
            return exact
        last = name.rpartition("::")[2].rpartition(".")[2] if "/" not in name.rpartition("::")[2] else name
        found = nodes_named(last, self.index.lexical) or nodes_named(name.rpartition("/")[2], self.index.lexical)
        matching = [n for n in found if _names_end(ids[n], name)]
        if len(matching) == 1:
            return matching[0]
        if matching:
            listed = "\n".join(f"  {ids[n]}" for n in matching[:20])
            raise AmbiguousNode(f"{len(matching)} nodes are called {name!r}; use one of these ids:\n{listed}")
        if 0 < len(found) <= _MOST_SUGGESTED:
            listed = "\n".join(f"  {ids[n]}" for n in found)
            raise UnknownNode(f"nothing here is called {name!r}; by its last name there is:\n{listed}")
        raise UnknownNode(f"nothing here is called {name!r}; ids look like src/auth.py::Session.verify")

    def callers(self, name: str) -> tuple[Edge, ...]:
        """Edges of calls that lead to a node, most confident first."""
        graph, node = self.index.graph, self.resolve(name)
        return _sorted_edges(graph.edge(e) for e in graph.incoming(node) if graph.edges.kinds[e] == EdgeKind.CALLS)

    def callees(self, name: str) -> tuple[Edge, ...]:
        """Edges of calls that a node makes inside the repository, most confident first."""
        graph, node = self.index.graph, self.resolve(name)
        return _sorted_edges(
            graph.edge(e)
            for e in graph.outgoing(node)
            if graph.edges.kinds[e] == EdgeKind.CALLS
            and graph.kind(int(graph.edges.targets[e])) is not NodeKind.EXTERNAL
        )

    def edges(
        self, *, kinds: Sequence[str] = (), min_confidence: float = 0.5, everything: bool = False
    ) -> Iterator[Edge]:
        """Edges in the order of the graph. Without `everything`: those inside the repository with that confidence."""
        known = {kind.label for kind in EdgeKind}
        for kind in kinds:
            if kind not in known:
                raise UsageError(f"no edges of kind {kind!r}; there are {', '.join(sorted(known))}")
        graph = self.index.graph
        return (
            edge
            for edge in map(graph.edge, range(len(graph.edges)))
            if (not kinds or edge.kind in kinds)
            and (everything or (edge.confidence >= min_confidence and not edge.target.startswith("external:")))
        )

    def info(self, *, stale: bool = False) -> RepositoryInfo:
        graph = self.index.graph
        inside = graph.nodes.kinds[graph.edges.targets] != NodeKind.EXTERNAL
        return RepositoryInfo(
            root=str(self.root),
            commit=self.index.commit,
            files=int((graph.nodes.kinds == NodeKind.FILE).sum()),
            nodes=_n_searched(graph),
            edges=int(inside.sum()),
            stale=stale,
        )

    def status(self) -> Status:
        """What is indexed and what was left out."""
        index = self.index
        return Status(self.info(), index.version, dict(index.languages), dict(index.skipped), dict(index.examples),
                      index.notes)  # fmt: skip

    # -- parts of an answer

    def _hit(self, chosen: Chosen, ranking: Ranking, path: tuple[Hop, ...], level: Level) -> Hit:
        pagerank = float(ranking.pagerank.scores[chosen.node]) if ranking.pagerank is not None else 0.0
        reasons = explain(chosen, ranking, self.index.graph, self.index.lexical, level)
        return replace(hit_of(self.index.graph, chosen.node, chosen.score, pagerank, path), reasons=reasons)

    def _pack_items(
        self,
        results: tuple[Hit, ...],
        ordered: OrderedSubgraph,
        nodes: Sequence[int],
        inside: Mapping[int, Sequence[int]],
        texts: "_Texts",
    ) -> tuple[PackItem, ...]:
        """Items in causal order: results with their source, hops between as one-liners, files with definitions."""
        graph = self.index.graph
        ranks = {hit.node: rank for rank, hit in enumerate(results, start=1)}
        items: list[PackItem] = []
        for place in ordered.order:
            node = nodes[place]
            if node not in ranks:
                items.append(PackItem(hit_of(graph, node, 0.0, 0.0, ()), "", True))
                continue
            hit = results[ranks[node] - 1]
            definitions = inside.get(node, ())
            items.append(PackItem(hit, "" if definitions else texts.of(hit), False, ranks[node]))
            for i, definition in enumerate(definitions, start=1):
                # Just behind its file when it comes to who gets the room.
                inner = hit_of(graph, definition, hit.score * (1 - 1e-6 * i), 0.0, ())
                items.append(PackItem(inner, texts.of(inner), False))
        return tuple(items)


class _Texts:
    """Source text of hits, each file read once. A file that is no longer what was indexed has no text: the spans of
    the index would cut it in the wrong places."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._files: dict[str, bytes] = {}
        self.changed: list[str] = []

    def of(self, hit: Hit) -> str:
        if hit.path not in self._files:
            source = self._repository.read(FileEntry(hit.path, 0, 0))
            manifest = self._repository.index.manifest
            indexed = manifest.blobs[manifest.paths.position(hit.path)]
            same = not isinstance(source, str) and source.blob == indexed
            self._files[hit.path] = source.data if not isinstance(source, str) and same else b""
            if not same:
                self.changed.append(hit.path)
        data = self._files[hit.path]
        line = data.rfind(b"\n", 0, hit.start_byte) + 1
        before = data[line : hit.start_byte]
        # A definition in the middle of a line is shown as far in as the line is.
        indent = before[: len(before) - len(before.lstrip())]
        return (indent + data[hit.start_byte : hit.end_byte]).decode("utf-8", "replace")

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        if not self.changed:
            return ()
        named = ", ".join(self.changed[:3]) + (f" and {len(self.changed) - 3} more" if len(self.changed) > 3 else "")
        return (Diagnostic("stale", f"changed since they were indexed, shown without their source: {named}", -1),)


class _Clock:
    """Milliseconds of named steps."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.milliseconds[name] = round((time.perf_counter() - start) * 1000, 3)


def _partly_read(index: Index, results: Sequence[Hit]) -> tuple[Diagnostic, ...]:
    """One diagnostic for all files of the answer of which something could not be read; `status` knows the others."""
    answering = {hit.path for hit in results}
    paths = sorted({note.path for note in index.notes if note.path in answering})
    if not paths:
        return ()
    slugs = ", ".join(sorted({note.slug for note in index.notes if note.path in answering}))
    named = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    return (Diagnostic("partly-read", f"read only in part ({slugs}): {named}; `causalist status` lists them", -1),)


def _ordered(
    graph: CodeGraph, nodes: Sequence[int], results: Sequence[Hit], options: AskOptions
) -> tuple[OrderedSubgraph, list[SubgraphEdge]]:
    edges = lift_to_files(graph, nodes) if options.level is Level.FILE else extract_subgraph(graph, nodes)
    scores = [hit.score for hit in results] + [0.0] * (len(nodes) - len(results))
    ids = [graph.nodes.ids[n] for n in nodes]
    return order_subgraph(edges, scores, ids, options.order), edges


def _pagerank_info(ranking: Ranking, options: AskOptions) -> PageRankInfo | None:
    result = ranking.pagerank
    if result is None:
        return None
    return PageRankInfo(result.n_iterations, result.residual, options.damping, result.rung)


def _n_searched(graph: CodeGraph) -> int:
    return int((graph.nodes.kinds != NodeKind.EXTERNAL).sum())


def _sorted_edges(edges: Iterator[Edge]) -> tuple[Edge, ...]:
    return tuple(sorted(edges, key=lambda e: (-e.confidence, e.source, e.target)))


def _names_end(node_id: str, name: str) -> bool:
    """Whether an id ends with `name` at a boundary of its parts."""
    if node_id == name:
        return True
    return node_id.endswith(name) and node_id[-len(name) - 1] in "/.:#"


def _answer_id(index: Index, query: str, options: AskOptions) -> str:
    """A hash of index, question and options: the same answer has the same id."""
    digest = hashlib.sha256()
    digest.update(f"{index.version}\n{index.commit}\n".encode())
    digest.update(index.manifest.paths.blob.tobytes())
    digest.update(index.manifest.blobs.blob.tobytes())
    digest.update(repr((query, sorted(asdict(options).items()))).encode())
    return digest.hexdigest()[:16]
