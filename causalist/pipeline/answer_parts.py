"""Checks before an answer, and the parts of it that describe its basis."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from causalist.errors import EmptyQuestion, UsageError
from causalist.extract import extract_subgraph, hit_of, lift_to_files, order_subgraph, without_implied_edges
from causalist.index.source_text import SourceText
from causalist.model.answer import (
    Answer,
    AskOptions,
    Level,
    Pack,
    PackInput,
    PackItem,
    PageRankInfo,
    RankMode,
    RepositoryInfo,
    Route,
)
from causalist.model.graph import CodeGraph, OrderedSubgraph, SubgraphEdge
from causalist.model.index import Index
from causalist.model.protocols import NO_STEPS, Steps
from causalist.model.scores import Hit, TextMatches
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind
from causalist.pack import LONG_BODY_THRESHOLD, check_budget, get_counter, render_pack
from causalist.rank import Question, Ranking, TellingLines, frame_rows

_MAX_FILES_NAMED = 3  # files that a diagnostic names
_MAX_TERMS_NAMED = 6  # words that a diagnostic names


def check_question(query: str, options: AskOptions) -> None:
    """Raise what `Repository.ask` refuses before indexing: EmptyQuestion, UsageError, ExtraMissing."""
    if not query.strip():
        raise EmptyQuestion('the query is empty. Give a query, for example: causalist ask "where is X decided?"')
    if options.top_k < 1:
        raise UsageError(f"--top-k must be at least 1, not {options.top_k}")
    if not 0.0 <= options.damping < 1.0:
        raise UsageError(f"--damping must be at least 0 and below 1, not {options.damping}")
    if options.approximate is not None and not 0.0 <= options.approximate <= 1.0:
        raise UsageError(f"--approximate must be from 0 (exact) to 1, not {options.approximate}")
    if options.rank is RankMode.PAGERANK and not options.graph:
        raise UsageError("--rank pagerank needs the graph. Omit --no-graph, or use --rank fused.")
    if options.embedder is not None:
        from causalist.embed.registry import check_name

        check_name(options.embedder)
    check_budget(options.max_tokens, options.format)
    get_counter(options.tokenizer)


def cached_only_answer(named: str, query: str, info: RepositoryInfo, notes: tuple[Diagnostic, ...]) -> Answer:
    """Return the empty answer of route `skip` without a cached answer."""
    why = "no answer to this question with these options is at hand; without the route skip one is made"
    return Answer(
        answer_id=named,
        query=query,
        route=Route.SKIP,
        confidence=None,
        attempts=0,
        repository=info,
        pagerank=None,
        results=(),
        edges=(),
        removed_edges=(),
        order=(),
        via=(),
        diagnostics=(*notes, Diagnostic(DiagnosticSlug.NOT_CACHED, why, -1)),
        timings_ms={},
    )


def build_repository_info(root: Path, index: Index, *, stale: bool = False) -> RepositoryInfo:
    """Return counts of the searched repository."""
    graph = index.graph
    inside = graph.nodes.kinds[graph.edges.targets] != NodeKind.EXTERNAL
    return RepositoryInfo(
        root=str(root),
        commit=index.commit,
        files=int((graph.nodes.kinds == NodeKind.FILE).sum()),
        nodes=count_searched_nodes(graph),
        edges=int(inside.sum()),
        stale=stale,
    )


def count_searched_nodes(graph: CodeGraph) -> int:
    """Return the number of nodes inside the repository."""
    return int((graph.nodes.kinds != NodeKind.EXTERNAL).sum())


def incomplete_file_diagnostics(index: Index, results: Sequence[Hit]) -> tuple[Diagnostic, ...]:
    """Return one diagnostic for all files of the answer that were read only in part."""
    answering = {hit.path for hit in results}
    paths = sorted({note.path for note in index.notes if note.path in answering})
    if not paths:
        return ()
    slugs = ", ".join(sorted({note.slug for note in index.notes if note.path in answering}))
    n_more = len(paths) - _MAX_FILES_NAMED
    named = ", ".join(paths[:_MAX_FILES_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
    return (
        Diagnostic(
            DiagnosticSlug.PARTLY_READ, f"read only in part ({slugs}): {named}; `causalist status` lists them", -1
        ),
    )


def hidden_matches_diagnostic(
    matched: Mapping[int, TextMatches], results: Sequence[Hit], index: Index, level: Level
) -> tuple[Diagnostic, ...]:
    """Return a diagnostic with the number of pattern matches outside of the results."""
    shown = {hit.node for hit in results}
    owners = index.graph.nodes.files
    rest = [n for n in matched if (int(owners[n]) if level is Level.FILE else n) not in shown]
    if not rest:
        return ()
    n_matches = sum(matched[n].n for n in rest)
    return (
        Diagnostic(
            DiagnosticSlug.MORE_MATCHES, f"{n_matches} more in {len(rest)} other places; --top-k shows more of them", -1
        ),
    )


def filtered_out_diagnostics(inside: NDArray[np.bool_] | None, options: AskOptions) -> tuple[Diagnostic, ...]:
    """Return a diagnostic if --include and --exclude leave no file."""
    if inside is None or inside.any():
        return ()
    patterns = [f"--include {p}" for p in options.include] + [f"--exclude {p}" for p in options.exclude]
    return (Diagnostic(DiagnosticSlug.FILTERED_OUT, f"no indexed file is left by {' '.join(patterns)}", -1),)


def retry_diagnostics(question: Question, ranking: Ranking, n_attempts: int) -> tuple[Diagnostic, ...]:
    """Return a diagnostic if the answer comes from another query than the one given."""
    if n_attempts == 1:
        return ()
    if question.is_pattern and ranking.question.text != question.text:
        detail = "it stands nowhere as it is quoted; it is answered as a question in words, without the quotes"
        return (Diagnostic(DiagnosticSlug.BROADENED, detail, -1),)
    if question.is_pattern:
        detail = "it stands nowhere as it is quoted; found is what may print it, with parts filled in"
        return (Diagnostic(DiagnosticSlug.BROADENED, detail, -1),)
    used = [term for term in ranking.question.terms if term not in question.terms]
    if not used:
        return (
            Diagnostic(
                DiagnosticSlug.BROADENED,
                "no word of the question is known, and what begins alike finds nothing either",
                -1,
            ),
        )
    named = ", ".join(sorted(used)[:_MAX_TERMS_NAMED]) + (", …" if len(used) > _MAX_TERMS_NAMED else "")
    detail = f"no word of the question is known; attempt {n_attempts} asked for what begins alike: {named}"
    return (Diagnostic(DiagnosticSlug.BROADENED, detail, -1),)


def build_pagerank_info(ranking: Ranking, options: AskOptions) -> PageRankInfo | None:
    """Return how PageRank ended; None if it did not run."""
    result = ranking.pagerank
    if result is None:
        return None
    return PageRankInfo(result.n_iterations, result.residual, options.damping, result.rung, result.bound)


def answer_id(index: Index, query: str, options: AskOptions, learned: str = "") -> str:
    """Return a hash of index, query, options and learned weights: the same answer has the same id."""
    digest = hashlib.sha256()
    digest.update(f"{index.version}\n{index.commit}\n".encode())
    digest.update(index.manifest.paths.blob.tobytes())
    digest.update(index.manifest.blobs.blob.tobytes())
    if learned:
        digest.update(f"{learned}\n".encode())
    said = sorted((name, value) for name, value in asdict(options).items() if name != "embedder" or value)
    digest.update(repr((query, said)).encode())
    return digest.hexdigest()[:16]


def order_edges(
    graph: CodeGraph, nodes: Sequence[int], results: Sequence[Hit], options: AskOptions, steps: Steps = NO_STEPS
) -> tuple[OrderedSubgraph, list[SubgraphEdge]]:
    """Return the ordered subgraph of an answer's nodes, results first, and its edges."""
    with steps.timed("assemble.extraction"):
        found = lift_to_files(graph, nodes) if options.level is Level.FILE else extract_subgraph(graph, nodes)
    edges = steps.optional("assemble.conflicts", lambda: without_implied_edges(found), lambda: found)
    scores = [hit.score for hit in results] + [0.0] * (len(nodes) - len(results))
    ids = [graph.nodes.ids[n] for n in nodes]
    with steps.timed("assemble.order"):
        return order_subgraph(edges, scores, ids, options.order), edges


def build_pack_items(
    graph: CodeGraph,
    results: tuple[Hit, ...],
    ordered: OrderedSubgraph,
    nodes: Sequence[int],
    inside: Mapping[int, Sequence[int]],
    texts: SourceText,
    steps: Steps = NO_STEPS,
    telling: TellingLines | None = None,
    pointed: Mapping[int, Collection[int]] = MappingProxyType({}),
) -> tuple[PackItem, ...]:
    """Return the items in causal order: results with source, hops as one-liners, files with definitions.

    After the deadline the remaining results have no source. `pointed` holds rows that the query refers to, by the node
    of the file.
    """
    ranks = {hit.node: rank for rank, hit in enumerate(results, start=1)}
    late = _read_files_in_time(results, texts, steps)
    items: list[PackItem] = []
    for place in ordered.order:
        node = nodes[place]
        if node not in ranks:
            items.append(PackItem(hit_of(graph, node, 0.0, 0.0, ()), "", True))
            continue
        hit = results[ranks[node] - 1]
        definitions = inside.get(node, ())
        unread = hit.path in late
        text = "" if definitions or unread else texts.get_text(hit)
        items.append(PackItem(hit, text, False, ranks[node], _find_snippet_rows(graph, hit, text, telling, pointed)))
        for i, definition in enumerate(definitions, start=1):
            # Just behind its file when it comes to who gets the room.
            inner = hit_of(graph, definition, hit.score * (1 - 1e-6 * i), 0.0, ())
            text = "" if unread else texts.get_text(inner)
            items.append(PackItem(inner, text, False, None, _find_snippet_rows(graph, inner, text, telling, pointed)))
    return tuple(items)


def _find_snippet_rows(
    graph: CodeGraph, hit: Hit, text: str, lines: TellingLines | None, pointed: Mapping[int, Collection[int]]
) -> tuple[tuple[int, float], ...]:
    """Rows of a long text that say something of the question, those to which it points before all others, and those
    where something inside of it begins."""
    if lines is None or text.count("\n") < LONG_BODY_THRESHOLD:
        return ()
    nodes = graph.nodes
    inside = np.flatnonzero((nodes.parents == hit.node) & np.isin(nodes.kinds, [*CALLABLE_KINDS, *TYPE_KINDS]))
    rows = dict.fromkeys(nodes.start_rows[inside].tolist(), 0.0)
    rows.update((hit.start_row + row, weight) for row, weight in lines.of(text).items())
    most = max(rows.values(), default=0.0) + 1.0
    here = pointed.get(int(nodes.files[hit.node]), ())
    rows.update((row, most) for row in here if hit.start_row <= row <= hit.end_row)
    return tuple(sorted(rows.items()))


def find_pinned_rows(
    question: Question, matched: Mapping[int, TextMatches], index: Index
) -> Mapping[int, Collection[int]]:
    """Return rows that the query refers to, by the node of the file: stack frames and pattern matches."""
    pointed: dict[int, dict[int, None]] = {}
    files = index.graph.nodes.files
    for node, row in frame_rows(question.frames, index.graph, index.lexical) if question.frames else ():
        pointed.setdefault(int(files[node]), {})[row] = None
    for node, found in matched.items():
        pointed.setdefault(int(files[node]), {}).update(dict.fromkeys(found.rows))
    return pointed


def _read_files_in_time(results: Sequence[Hit], texts: SourceText, steps: Steps) -> set[str]:
    """Read the files of the results, best first, until the deadline; return paths left unread."""
    paths = list(dict.fromkeys(hit.path for hit in results))
    for number, path in enumerate(paths):
        if not steps.in_time():
            steps.leave_out(f"the source of {len(paths) - number} of {len(paths)} files")
            return set(paths[number:])
        texts.load(path)
    return set()


def render_answer_pack(content: PackInput, options: AskOptions) -> Pack:
    """Render the pack with the options of the query."""
    return render_pack(
        content,
        max_tokens=options.max_tokens,
        format=options.format,
        counter=get_counter(options.tokenizer),
        tokenizer=options.tokenizer,
    )
