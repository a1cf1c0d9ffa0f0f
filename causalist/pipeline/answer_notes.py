"""Checks before an answer, and the parts of it that describe its basis."""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.errors import EmptyQuestion, UsageError
from causalist.extract import (
    NeededNode,
    extract_subgraph,
    lift_to_files,
    order_subgraph,
    without_implied_edges,
)
from causalist.model.answer import (
    Answer,
    AskOptions,
    Level,
    Pack,
    PackInput,
    PageRankInfo,
    RankMode,
    RepositoryInfo,
    Route,
)
from causalist.model.graph import CodeGraph, OrderedSubgraph, SubgraphEdge
from causalist.model.index import Index
from causalist.model.node_ids import NodeKind
from causalist.model.protocols import NO_STEPS, Step, Steps
from causalist.model.scores import Hit, TextMatches
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.pack import check_budget, get_counter, render_pack
from causalist.rank import ParsedQuery, Ranking, frame_rows, parse_query

_MAX_FILES_NAMED = 3  # files that a diagnostic names
_MAX_TERMS_NAMED = 6  # words that a diagnostic names
MAX_NAMES_CHARACTERS = 2_000
_UNSAID_IF_EMPTY = ("embedder", "names", "fill")  # options that came later; without them ids stay as they were


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
        from causalist.embed import check_name

        check_name(options.embedder)
    check_budget(options.max_tokens, options.format)
    get_counter(options.tokenizer)
    n_characters = sum(map(len, options.names))
    if n_characters > MAX_NAMES_CHARACTERS:
        raise UsageError(f"--names must have at most {MAX_NAMES_CHARACTERS:,} characters in all, not {n_characters:,}")


def read_question_and_names(query: str, names: Sequence[str]) -> ParsedQuery:
    """Return the query, read together with identifiers or words that the caller expects in the code.

    Names are separated by spaces or commas. They count like words of the query. A pattern stays a pattern: it is looked
    for as it stands.
    """
    question = parse_query(query)
    words = [name for text in names for name in text.replace(",", " ").split()]
    return parse_query(f"{query} {' '.join(words)}") if words and not question.is_pattern else question


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


def build_repository_info(
    root: Path, index: Index, *, stale: bool = False, n_parsed: int | None = None
) -> RepositoryInfo:
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
        parsed=n_parsed,
    )


def count_searched_nodes(graph: CodeGraph) -> int:
    """Return the number of nodes inside the repository."""
    return int((graph.nodes.kinds != NodeKind.EXTERNAL).sum())


def _missing_language_diagnostics(index: Index, paths: Collection[str]) -> tuple[Diagnostic, ...]:
    """Return the notes on languages without an installed grammar that any of `paths` is of."""
    missing = [note for note in index.notes if note.slug == DiagnosticSlug.LANGUAGE_MISSING]
    if not missing:
        return ()
    from causalist.parse import lone_missing_languages, missing_language_of

    lone = lone_missing_languages()
    languages = [each for path in paths for each in (missing_language_of(path), lone.get(Path(path).suffix.lower()))]
    extras = {f'"causalist[{language[1]}]"' for language in languages if language}
    named = [note for note in missing if any(extra in note.detail for extra in extras)]
    return tuple(Diagnostic(DiagnosticSlug.LANGUAGE_MISSING, note.detail, -1) for note in named)


def incomplete_file_diagnostics(index: Index, results: Sequence[Hit]) -> tuple[Diagnostic, ...]:
    """Return one diagnostic for all files of the answer that were read only in part.

    Others say which of their languages have no grammar installed.
    """
    answering = {hit.path for hit in results}
    unread = _missing_language_diagnostics(index, answering)
    paths = sorted({note.path for note in index.notes if note.path in answering})
    if not paths:
        return unread
    slugs = ", ".join(sorted({note.slug for note in index.notes if note.path in answering}))
    n_more = len(paths) - _MAX_FILES_NAMED
    named = ", ".join(paths[:_MAX_FILES_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
    return (
        *unread,
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


def retry_diagnostics(question: ParsedQuery, ranking: Ranking, n_attempts: int) -> tuple[Diagnostic, ...]:
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
    return PageRankInfo(result.n_iterations, result.residual, options.damping, result.outcome, result.bound)


def answer_id(index: Index, query: str, options: AskOptions, learned: str = "") -> str:
    """Return a hash of index, query, options and learned weights: the same answer has the same id."""
    digest = hashlib.sha256()
    digest.update(f"{index.version}\n{index.commit}\n".encode())
    digest.update(index.manifest.paths.blob.tobytes())
    digest.update(index.manifest.blobs.blob.tobytes())
    if learned:
        digest.update(f"{learned}\n".encode())
    given = asdict(options) | {"format": str(options.format)}  # ids are older than the enum of formats
    values = sorted((name, value) for name, value in given.items() if name not in _UNSAID_IF_EMPTY or value)
    digest.update(repr((query, values)).encode())
    return digest.hexdigest()[:16]


def sufficiency_of(confidence: float | None, needed: Sequence[NeededNode], *, uses_similarity: bool) -> float | None:
    """Return the probability that a pack of the default size is enough to answer; None without a confidence.

    A logistic model of the confidence and of the probability that the most needed item is needed, fitted to 244 packs.
    Both say what words tell. With `uses_similarity` the question encoder took part, which finds enough for a fifth of
    the questions that share hardly a word with the code; docs/packs.md has the calibration.
    """
    if confidence is None or not needed:
        return confidence
    odds = 7.23 * confidence + 1.13 * needed[0].probability - 6.96
    by_words = 1.0 / (1.0 + math.exp(-odds))
    return round(0.2 + 0.6 * by_words if uses_similarity else by_words, 4)


def order_edges(
    graph: CodeGraph, nodes: Sequence[int], results: Sequence[Hit], options: AskOptions, steps: Steps = NO_STEPS
) -> tuple[OrderedSubgraph, list[SubgraphEdge]]:
    """Return the ordered subgraph of an answer's nodes, results first, and its edges."""
    with steps.timed(Step.ASSEMBLE_EXTRACTION):
        subgraph = lift_to_files(graph, nodes) if options.level is Level.FILE else extract_subgraph(graph, nodes)
    edges = steps.optional(Step.ASSEMBLE_CONFLICTS, lambda: without_implied_edges(subgraph), lambda: subgraph)
    scores = [hit.score for hit in results] + [0.0] * (len(nodes) - len(results))
    ids = [graph.nodes.ids[n] for n in nodes]
    with steps.timed(Step.ASSEMBLE_ORDER):
        return order_subgraph(edges, scores, ids, options.order), edges


def find_pinned_rows(
    question: ParsedQuery, matched: Mapping[int, TextMatches], index: Index
) -> Mapping[int, Collection[int]]:
    """Return rows that the query refers to, by the node of the file: stack frames and pattern matches."""
    rows_by_file: dict[int, dict[int, None]] = {}
    files = index.graph.nodes.files
    for node, row in frame_rows(question.frames, index.graph, index.lexical) if question.frames else ():
        rows_by_file.setdefault(int(files[node]), {})[row] = None
    for node, matches in matched.items():
        rows_by_file.setdefault(int(files[node]), {}).update(dict.fromkeys(matches.rows))
    return rows_by_file


def render_answer_pack(content: PackInput, options: AskOptions) -> Pack:
    """Render the pack with the options of the query."""
    return render_pack(
        content,
        max_tokens=options.max_tokens,
        format=options.format,
        counter=get_counter(options.tokenizer),
        tokenizer=options.tokenizer,
    )
