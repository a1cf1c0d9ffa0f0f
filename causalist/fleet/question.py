"""A question over the repositories of a fleet: choose some, let each answer, merge, walk across, pack once.

In: a `FleetView` and a question. Out: an `Answer` like that of one repository, whose ids and citations begin with the
repository, and what was asked and left out.

Scores of different shards are not comparable. Each is brought to one scale: the probability that its repository is the
right one, from the choice and from how sure its own answer is, times the share of the odds that the result has among
those of its shard.
"""

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import SCORE_DECIMALS
from causalist.errors import FleetError
from causalist.extract import NeededNode, hit_of, name_edge, paths_from_seeds
from causalist.fleet.access import FleetView
from causalist.fleet.choice import RankedRepository
from causalist.fleet.joined import CrossEdge, FleetText, GraphPart, JoinedGraph, join_graphs, joined_id
from causalist.fleet.walk import FleetScores, walk_across
from causalist.index.source_text import SourceText
from causalist.model.answer import (
    Answer,
    AskOptions,
    Level,
    Order,
    PackHeader,
    PackInput,
    PageRankInfo,
    RankMode,
    RepositoryInfo,
    Route,
)
from causalist.model.graph import Edge
from causalist.model.index import LexicalIndex, Postings
from causalist.model.protocols import Step
from causalist.model.scores import Hit, Hop, Reason, Signal, WalkOutcome
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.model.string_table import StringTable
from causalist.pipeline.answer_notes import (
    check_question,
    find_pinned_rows,
    order_edges,
    read_question_and_names,
    render_answer_pack,
    sufficiency_of,
)
from causalist.pipeline.guarded_steps import Deadline, GuardedSteps
from causalist.pipeline.pack_items import choose_needed, choose_pack
from causalist.pipeline.repository import Repository
from causalist.pipeline.retries import RankingAttempt, RankingSession, best_attempt, with_route
from causalist.rank import (
    ParsedQuery,
    Selection,
    SnippetLines,
    WalkWeights,
    best_definitions_in,
    reasons_for,
)

N_REPOSITORIES = 5  # that are asked at most; docs/benchmarks.md has the figures with others
_LEAST_SHARE = 0.01  # of the probability of the likeliest repository, for one to be asked
_WORKERS = 2
EPSILON = 1e-6  # threshold of a walk
# Of one that needs no shard that may not be opened: it is then within 1e-5 of the walk over one graph. With such shards
# the bound is theirs, and a lower threshold would only take time.
CLOSE_EPSILON = 1e-11
_ACROSS_SHARE = 1 / 8  # of the results, for what only edges across led to
_ACROSS_NEED = 0.5  # of the need of a result, for what an edge across says that it uses
_MIN_SURE, _MAX_SURE = 0.02, 0.98  # of a confidence before its odds are taken


class MergeWeights(NamedTuple):
    """Weights of the log odds that a repository is right, from the choice and from its answer."""

    choice: float
    confidence: float


# Fitted by tests/benchmarks/fleet; docs/benchmarks.md has the figures on other ecosystems.
MERGE = MergeWeights(1.0, 0.3)


class AskedRepository(NamedTuple):
    """A repository that was asked: the probability that it is the right one, and how sure its own answer is."""

    name: str
    share: float
    confidence: float | None
    n_results: int


class FleetAnswer(NamedTuple):
    """An answer over a fleet, the repositories that were asked, the likeliest first, and those left out for time."""

    answer: Answer
    repositories: tuple[AskedRepository, ...]
    left_out: tuple[str, ...]


class _Shard(NamedTuple):
    """A repository with its ranking, and the probability that it is the right one."""

    name: str
    repository: Repository
    attempt: RankingAttempt
    share: float

    def odds(self) -> NDArray[np.float64]:
        """Return the share of the odds of each result among those of the shard; they sum to 1."""
        scores = np.array([each.score for each in self.attempt.chosen])
        odds: NDArray[np.float64] = np.exp(scores - scores.max())
        return odds / float(odds.sum())


class _Result(NamedTuple):
    """A result on the scale of the fleet."""

    score: float
    shard: _Shard
    selection: Selection


def ask_fleet(
    view: FleetView,
    query: str,
    options: AskOptions | None = None,
    *,
    deadline: Deadline | float | None = None,
    n_repositories: int | None = None,
    names: Sequence[str] = (),
) -> FleetAnswer:
    """Return the answer of the repositories that the question is most likely about, or of those in `names`.

    Exactly `n_repositories` are asked if there are as many; by default five, without those that are far less likely.
    Near the `deadline`, in seconds, repositories that did not answer yet and optional steps are left out, and
    diagnostics name them. Raises as `Repository.ask`, and FleetError for unknown names and damaged tables.
    """
    options = options or AskOptions()
    check_question(query, options)
    clock = Deadline(deadline) if isinstance(deadline, int | float) else deadline
    steps = GuardedSteps(None, clock)
    with steps.timed(Step.ROUTE_READING):
        question = with_route(read_question_and_names(query, options.names), options)
        words = " ".join([query, *options.names])
        chosen = [RankedRepository(name, 0.0, 1.0 / len(names)) for name in names if view.catalog.record(name)]
        if not chosen:
            chosen = view.catalog.choose(words, n_repositories or N_REPOSITORIES, view.across)
            chosen = _likely(chosen) if n_repositories is None else chosen
    with steps.timed(Step.CANDIDATES_WORDS):
        attempts, left_out, notes = _attempt_all(view, chosen, question, options, clock)
    shards = _with_shares(chosen, attempts)
    results = _merge(shards, options)
    scores = _walk(view, shards, options, steps)
    results, crossing = _with_across(view, results, scores, options)
    answer = _assemble(view, query, question, options, steps, shards, results, scores, crossing)
    asked = tuple(
        AskedRepository(each.name, round(each.share, 4), each.attempt.confidence,
                        sum(result.shard.name == each.name for result in results))
        for each in sorted(shards, key=lambda each: (-round(each.share, SCORE_DECIMALS), each.name))
    )  # fmt: skip
    if left_out:
        detail = f"left out to answer in time: {', '.join(left_out)}"
        notes.append(Diagnostic(DiagnosticSlug.DEADLINE, detail, -1))
    notes += _copy_notes(chosen)
    answer = replace(answer, diagnostics=(*answer.diagnostics, *notes))
    return FleetAnswer(replace(answer, timings_ms=steps.milliseconds), asked, tuple(left_out))


# -- asking


def _likely(chosen: Sequence[RankedRepository]) -> list[RankedRepository]:
    """Return the repositories that are not far less likely than the first: each one that is asked costs time.

    >>> [each.name for each in _likely([RankedRepository("a", 0, 0.9), RankedRepository("b", -7, 0.001)])]
    ['a']
    """
    return [each for each in chosen if each.share >= _LEAST_SHARE * chosen[0].share]


def _copy_notes(chosen: Sequence[RankedRepository]) -> list[Diagnostic]:
    """Return one note that names the forks of asked repositories that were left out, none if there are none."""
    copies = [f"{', '.join(each.copies)} (as {each.name})" for each in chosen if each.copies]
    detail = f"left out as copies: {'; '.join(copies)}"
    return [Diagnostic(DiagnosticSlug.COPIES_LEFT_OUT, detail, -1)] if copies else []


def _attempt_all(
    view: FleetView,
    chosen: Sequence[RankedRepository],
    question: ParsedQuery,
    options: AskOptions,
    clock: Deadline | None,
) -> tuple[dict[str, tuple[Repository, RankingAttempt]], list[str], list[Diagnostic]]:
    """Return (the rankings by repository, those left out for lack of time, what else could not be done)."""

    def attempt(name: str, *, again: bool = False) -> tuple[Repository, RankingAttempt, tuple[Diagnostic, ...]] | None:
        steps = GuardedSteps(None, clock)
        if not steps.in_time():
            return None
        repository = view.repository(name)
        texts = SourceText(repository.index.manifest, repository.read)
        given = (repository.index, options, texts, repository.weights, repository.root, "")
        session = RankingSession(*given, steps)
        ranking_attempt = best_attempt(session.rank_with_retries(question)) if again else session.attempt(question)
        return repository, ranking_attempt, steps.diagnostics()

    attempts: dict[str, tuple[Repository, RankingAttempt]] = {}
    left_out: list[str] = []
    notes: list[Diagnostic] = []
    with ThreadPoolExecutor(_WORKERS) as pool:
        # The likeliest are asked first, so that the others are left out.
        waiting = [(each.name, pool.submit(attempt, each.name)) for each in chosen]
        for name, answer in waiting:
            try:
                result = answer.result()
            except FleetError as error:  # a shard that is damaged costs itself alone
                notes.append(Diagnostic(DiagnosticSlug.STEP_SKIPPED, f"{name}: {error}", -1))
                continue
            if result is None:
                left_out.append(name)
                continue
            attempts[name] = result[:2]
            notes += [each._replace(detail=f"{name}: {each.detail}") for each in result[2]]
    # None of its words found anything anywhere: perhaps words that begin alike do.
    if attempts and not any(each.chosen for _, each in attempts.values()):
        for name in attempts:
            result = attempt(name, again=True)
            attempts[name] = attempts[name] if result is None else result[:2]
    return attempts, left_out, notes


def _with_shares(
    chosen: Sequence[RankedRepository], attempts: Mapping[str, tuple[Repository, RankingAttempt]]
) -> list[_Shard]:
    """Return the repositories with results and the probabilities of each, which sum to those of all that answered."""
    answered = [each for each in chosen if each.name in attempts and attempts[each.name][1].chosen]
    if not answered:
        return []
    logs = []
    for each in answered:
        sure = attempts[each.name][1].confidence
        sure = 0.5 if sure is None else min(max(sure, _MIN_SURE), _MAX_SURE)
        logs.append(MERGE.choice * each.log_odds + MERGE.confidence * log(sure / (1.0 - sure)))
    odds = [exp(each - max(logs)) for each in logs]
    answered_share = min(1.0, sum(each.share for each in answered))
    shares = [answered_share * each / sum(odds) for each in odds]
    return [_Shard(each.name, *attempts[each.name], share) for each, share in zip(answered, shares, strict=True)]


def _merge(shards: Sequence[_Shard], options: AskOptions) -> list[_Result]:
    """Return the results of all shards on one scale, best first."""
    results = [
        _Result(shard.share * float(share), shard, selection)
        for shard in shards
        for selection, share in zip(shard.attempt.chosen, shard.odds(), strict=True)
    ]
    results.sort(key=lambda each: (-round(each.score, SCORE_DECIMALS), each.shard.name, each.selection.node))
    return results[: options.top_k]


# -- walking


def _walk(view: FleetView, shards: Sequence[_Shard], options: AskOptions, steps: GuardedSteps) -> FleetScores | None:
    """Return PageRank across repositories from the seeds of all shards; None if there is nothing to walk."""
    seeds = {s.name: s.share * s.attempt.ranking.seeds for s in shards if s.attempt.ranking.seeds.any()}
    if not seeds or not options.graph or not len(view.across):
        return None

    def walk(epsilon: float) -> FleetScores:
        return walk_across(seeds, view.columns, damping=options.damping, epsilon=epsilon, should_continue=steps.in_time)

    def work() -> FleetScores:
        scores = walk(options.approximate or EPSILON)
        return scores if options.approximate or scores.unopened else walk(CLOSE_EPSILON)

    return steps.optional(Step.CANDIDATES_PAGERANK, work, lambda: None)


def _with_across(
    view: FleetView, results: list[_Result], scores: FleetScores | None, options: AskOptions
) -> tuple[list[_Result], list[CrossEdge]]:
    """Return the results, the last of them replaced by what edges across lead to from them; and these edges.

    Only what is in a repository that was asked, or that the walk opened, is taken.
    """
    if scores is None or options.level is Level.FILE or options.rank is RankMode.PAGERANK:
        return results, []
    ids = {(each.shard.name, each.shard.repository.index.graph.nodes.ids[each.selection.node]) for each in results}
    touching = [
        edge
        for name in sorted({each.shard.name for each in results})
        for edge in (*view.across.out_of(name), *view.across.into(name))
        if (edge.source_repo, edge.source_node) in ids or (edge.target_repo, edge.target_node) in ids
    ]
    edges = sorted(set(touching))
    shards = {each.shard.name: each.shard for each in results}
    reached: dict[tuple[str, int], float] = {}
    for edge in edges:
        for end in ((edge.source_repo, edge.source_node), (edge.target_repo, edge.target_node)):
            if end in ids or end[0] not in scores.scores:
                continue
            repository = view.repository(end[0])
            node = repository.index.graph.nodes.ids.position(end[1])
            if node >= 0:
                reached[end[0], node] = float(scores.scores[end[0]][node])
                if end[0] not in shards:
                    shards[end[0]] = _open_unasked(end[0], repository, results[0].shard.attempt)
    best = sorted(reached.items(), key=lambda item: (-round(item[1], SCORE_DECIMALS), item[0]))
    best = best[: round(options.top_k * _ACROSS_SHARE)]
    kept = results[: options.top_k - len(best)]
    floor = kept[-1].score if kept else 1.0
    top = max((score for _, score in best), default=1.0) or 1.0
    more = [
        _Result(floor * score / top * (1 - 1e-9), shards[name], Selection(node, score, True))
        for (name, node), score in best
    ]
    return kept + more, edges


def _open_unasked(name: str, repository: Repository, like: RankingAttempt) -> _Shard:
    """Return a repository that only the walk led to: it has a place in the answer but no ranking of its own."""
    zeros = np.zeros(len(repository.index.graph.nodes))
    ranking = replace(like.ranking, definitions=zeros, files=zeros, matches={}, seeds=zeros, pagerank=None, matched={})
    return _Shard(name, repository, like._replace(ranking=ranking, chosen=[], confidence=None, matched={}), 0.0)


# -- the answer


def _assemble(
    view: FleetView,
    query: str,
    question: ParsedQuery,
    options: AskOptions,
    steps: GuardedSteps,
    shards: Sequence[_Shard],
    results: Sequence[_Result],
    scores: FleetScores | None,
    crossing: Sequence[CrossEdge],
) -> Answer:
    by_name = {shard.name: shard for shard in (*shards, *(each.shard for each in results))}
    with steps.timed(Step.ASSEMBLE_PATHS):
        part_by_name = {name: _ShardPart.of(shard, results, options) for name, shard in sorted(by_name.items())}
    needed = _pick_needed(by_name, results, options)
    with steps.timed(Step.ASSEMBLE_EXTRACTION):
        across = view.across.between(list(by_name))
        parts = [
            GraphPart(name, shard.repository.index, part_by_name[name].nodes_with(needed.get(name, ())))
            for name, shard in sorted(by_name.items())
        ]
        joined = join_graphs(parts, across) if parts else None
    if joined is None:
        return _answer(view, query, question, options, (), (), None, None, None)
    places = {part.name: place for part, place in zip(joined.parts, joined.places, strict=True)}
    hits = []
    for each in results:
        node = int(places[each.shard.name][each.selection.node])
        own = part_by_name[each.shard.name]
        pagerank = 0.0 if scores is None else float(scores.scores.get(each.shard.name, _NOTHING)[each.selection.node])
        if scores is None and each.shard.attempt.ranking.pagerank is not None:
            pagerank = each.shard.share * float(each.shard.attempt.ranking.pagerank.scores[each.selection.node])
        hit = hit_of(joined.graph, node, each.score, pagerank, own.paths.get(each.selection.node, ()))
        hits.append(replace(hit, reasons=own.reasons[each.selection.node]))
    confidence = _confidence(results)
    with steps.timed(Step.DELIVER_TEXTS):
        texts = FleetText({name: shard.repository for name, shard in by_name.items()})
        wanted = _joined_needs(joined, places, by_name, needed, hits, across)
        standing = {
            int(places[name][file]): [int(places[name][node]) for node in nodes]
            for name, own in part_by_name.items()
            for file, nodes in own.standing.items()
        }
        pinned = {
            int(places[name][file]): rows
            for name, shard in by_name.items()
            for file, rows in find_pinned_rows(
                shard.attempt.ranking.question, shard.attempt.matched, shard.repository.index
            ).items()
            if places[name][file] >= 0
        }
        snippets = SnippetLines(question, _fleet_words(view, question))
        packed = choose_pack(joined.graph, wanted, hits, standing, texts, options, query, snippets, pinned, steps)
    sufficiency = sufficiency_of(
        confidence, wanted, uses_similarity=any(shard.attempt.ranking.uses_similarity for shard in shards)
    )
    ordered, edges = order_edges(joined.graph, [hit.node for hit in hits], hits, options, steps)
    ids = [hit.id for hit in hits]
    with steps.timed(Step.DELIVER_PACKING):
        header = PackHeader(
            query, view.name, None, sum(view.catalog.columns["n_nodes"]), causal=options.order is Order.CAUSAL,
            confidence=confidence, sufficiency=sufficiency,
        )  # fmt: skip
        pack = render_answer_pack(PackInput(header, *packed, options.fill), options) if hits else None
    answer = _answer(view, query, question, options, hits, by_name, confidence, sufficiency, scores)
    return replace(
        answer,
        edges=tuple(name_edge(joined.graph, edge, ids) for edge in edges),
        removed_edges=tuple(name_edge(joined.graph, edge, ids) for edge in ordered.removed),
        order=tuple(ids[i] for i in ordered.order),
        diagnostics=(*texts.diagnostics(), *steps.diagnostics()),
        pack=pack,
    )


_NOTHING: NDArray[np.float64] = np.zeros(1)


class _ShardPart(NamedTuple):
    """Part of a shard in the answer: its results with reasons and paths, whose ids begin with the repository."""

    nodes: tuple[int, ...]
    reasons: Mapping[int, tuple[Reason, ...]]
    paths: Mapping[int, tuple[Hop, ...]]
    standing: Mapping[int, Sequence[int]]  # definitions that stand for a file

    @classmethod
    def of(cls, shard: _Shard, results: Sequence[_Result], options: AskOptions) -> "_ShardPart":
        index, attempt = shard.repository.index, shard.attempt
        graph, ranking, transition = index.graph, attempt.ranking, attempt.view.transition
        chosen = [each.selection for each in results if each.shard.name == shard.name]
        nodes = [each.node for each in chosen]
        standing: dict[int, list[int]] = {}
        paths: dict[int, tuple[Hop, ...]] = {}
        if attempt.chosen and nodes:
            if options.level is Level.FILE:
                standing = best_definitions_in(chosen, ranking, graph, transition)
            ends = [standing[node][0] if standing.get(node) else node for node in nodes]
            path_by_node = paths_from_seeds(graph, transition, ranking.seeds, ends, kind_weights=WalkWeights().table())
            paths = {
                node: tuple(_joined_hop(shard.name, hop) for hop in path_by_node[end])
                for node, end in zip(nodes, ends, strict=True)
            }
        reasons = {
            each.node: reasons_for(each, ranking, graph, index.lexical, options.level)
            if attempt.chosen and not each.by_graph
            else (Reason(Signal.PAGERANK, round(each.score, 9), "reached from another repository"),)
            for each in chosen
        }
        return cls(tuple(nodes), reasons, paths, standing)

    def nodes_with(self, needed: Sequence[NeededNode]) -> NDArray[np.int64]:
        """Return all nodes of the shard that the answer needs, ascending."""
        inner = [node for nodes in self.standing.values() for node in nodes]
        return np.unique(np.array([*self.nodes, *inner, *(each.node for each in needed)], dtype=np.int64))


def _joined_hop(name: str, hop: Hop) -> Hop:
    return hop._replace(node=joined_id(name, hop.node), path=f"{name}:{hop.path}" if hop.path else hop.path)


def _pick_needed(
    shards: Mapping[str, _Shard], results: Sequence[_Result], options: AskOptions
) -> dict[str, list[NeededNode]]:
    """Return what a pack may show of each shard; the likeliest repository needs as much as it would alone."""
    most = max((shard.share for shard in shards.values()), default=1.0) or 1.0
    needed = {}
    for name, shard in shards.items():
        own = [each.selection for each in results if each.shard.name == name]
        if not own or not shard.attempt.chosen:
            continue
        index, attempt = shard.repository.index, shard.attempt
        view = attempt.view
        choices = choose_needed(
            index.graph, index.lexical, attempt.ranking, own, attempt.confidence, options, view.inside
        )
        needed[name] = [one._replace(probability=one.probability * shard.share / most) for one in choices]
    return needed


def _joined_needs(
    joined: JoinedGraph,
    places: Mapping[str, NDArray[np.int32]],
    shards: Mapping[str, _Shard],
    needed: Mapping[str, Sequence[NeededNode]],
    hits: Sequence[Hit],
    across: Sequence[CrossEdge],
) -> list[NeededNode]:
    """Return what the pack may show as nodes of the joined graph, the most needed first."""
    best: dict[int, NeededNode] = {}
    for name, nodes in needed.items():
        graph = shards[name].repository.index.graph
        for each in nodes:
            node = int(places[name][each.node])
            edge = _find_edge(joined, graph.edge(each.edge), name) if each.edge >= 0 else -1
            source = int(places[name][each.source]) if each.source >= 0 else -1
            best[node] = NeededNode(node, each.probability, source, edge)
    for link in across:
        ends = joined.place(link.source_repo, link.source_node), joined.place(link.target_repo, link.target_node)
        for here, there in (ends, ends[::-1]):
            if min(ends) < 0 or here not in best:
                continue
            chance = _ACROSS_NEED * link.confidence * best[here].probability
            if there not in best or best[there].probability < chance:
                number = _find_edge(joined, _as_edge(link), "")
                best[there] = NeededNode(there, chance, here, number)
    for hit in hits:
        best.setdefault(hit.node, NeededNode(hit.node, 0.0))
    ids = joined.graph.nodes.ids
    return sorted(best.values(), key=lambda each: (-round(each.probability, SCORE_DECIMALS), ids[each.node]))


def _as_edge(edge: CrossEdge) -> Edge:
    source, target = joined_id(edge.source_repo, edge.source_node), joined_id(edge.target_repo, edge.target_node)
    return Edge(source, target, edge.kind, edge.rule, edge.confidence, None, edge.n)


def _find_edge(joined: JoinedGraph, edge: Edge, name: str) -> int:
    """Return the number of an edge in the joined graph, -1 if it is not there."""
    graph = joined.graph
    ends = [joined_id(name, each) if name else each for each in (edge.source, edge.target)]
    source, target = (graph.nodes.ids.position(each) for each in ends)
    if min(source, target) < 0:
        return -1
    numbers = (number for number in graph.outgoing(source) if graph.edges.targets[number] == target)
    return next((number for number in numbers if graph.edge(number).kind == edge.kind), -1)


def _fleet_words(view: FleetView, question: ParsedQuery) -> LexicalIndex:
    """Return the words of a question with their frequencies over all repositories that may be seen."""
    table = StringTable.from_strings(sorted({*question.terms, *question.abbreviations}))
    frequencies, n = view.catalog.frequencies(list(table))
    indptr = np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int32)
    no_rows = np.zeros(0, dtype=np.int32)
    postings = Postings(indptr, no_rows, no_rows, np.zeros(0), n)
    empty, pointers = StringTable.from_strings(()), np.zeros(1, dtype=np.int32)
    return LexicalIndex(table, postings, postings, postings, postings, empty, pointers, no_rows)


def _confidence(results: Sequence[_Result]) -> float | None:
    """Return the probability that one of the first five files is right: that of the repositories they are from."""
    first: dict[tuple[str, int], _Shard] = {}
    for each in results:
        owner = int(each.shard.repository.index.graph.nodes.files[each.selection.node])
        first.setdefault((each.shard.name, owner), each.shard)
    shards = {shard.name: shard for shard in list(first.values())[:5]}
    if not shards or any(shard.attempt.confidence is None for shard in shards.values() if shard.attempt.chosen):
        return None
    confidence = sum(shard.share * (shard.attempt.confidence or 0.0) for _, shard in sorted(shards.items()))
    return round(min(confidence, 1.0), 4)


def _answer(
    view: FleetView,
    query: str,
    question: ParsedQuery,
    options: AskOptions,
    hits: Sequence[Hit],
    shards: Mapping[str, _Shard] | tuple[()],
    confidence: float | None,
    sufficiency: float | None,
    scores: FleetScores | None,
) -> Answer:
    columns = view.catalog.columns
    digest = hashlib.sha256(repr((query, sorted(asdict(options).items()))).encode())
    for name in sorted(shards):
        row = view.catalog.record(name)
        digest.update(f"{name}\n{row['commit']}\n{row['version']}\n".encode())
    info = RepositoryInfo(view.name, None, sum(columns["n_files"]), sum(columns["n_nodes"]), sum(columns["n_edges"]),
                          False)  # fmt: skip
    walk = None
    if scores is not None:
        walk = PageRankInfo(scores.n_rounds, scores.residual, options.damping, WalkOutcome.APPROXIMATE, scores.bound)
    return Answer(
        answer_id=digest.hexdigest()[:16],
        query=query,
        route=question.route if isinstance(question.route, Route) else Route.SIMPLE,
        confidence=confidence,
        attempts=1,
        repository=info,
        pagerank=walk,
        results=tuple(hits),
        edges=(),
        removed_edges=(),
        order=(),
        via=(),
        diagnostics=(),
        timings_ms={},
        sufficiency=sufficiency,
    )
