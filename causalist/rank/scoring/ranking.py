"""Ranking of the nodes and files of a repository for a query, with the reasons for each choice.

A query gives candidates and seeds, these give Personalized PageRank, and that gives fused scores. Two tables come out
of one pass: of nodes (definitions, passages, module-level code) and of files. From the scores, `choose` selects the
results, `seed_shares` finds the seeds that the PageRank of each stems from, and `reasons_for` gives the reasons.

The list of results is diversified by file, because the other definitions of a wrong file are wrong as well. Each
further result of a file must be better by a penalty than the first of another file, as in the selection by marginal
relevance (Carbonell and Goldstein 1998) with "the same file" for similarity. The penalty grows with the logarithm of
their number: a second one says more than a ninth. A definition that encloses a listed one repeats it, and gets a fixed
penalty.

One in eight slots of a list of definitions is for the best files that have none in it, by their best definition. Some
slots at the end are for nodes that PageRank reached and no word led to: the answer to a query that names nothing is
there. These slots go back to lexical matches that are nearly as good as the first ones.
"""

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import SCORE_DECIMALS, select_first, select_top
from causalist._internal.lazy import lazy_regex
from causalist.model.answer import AskOptions, Level, RankMode, Specificity
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.index import History, LexicalIndex
from causalist.model.node_ids import NodeKind, split_id
from causalist.model.protocols import NO_STEPS, Step, Steps
from causalist.model.scores import PageRankResult, Reason, SeedShare, Signal, TextMatches, Transition, WalkOutcome
from causalist.rank.lexical.query_expansion import replacement_words
from causalist.rank.lexical.question_encoder import near_words, shipped_encoder, without_unknown_names
from causalist.rank.local_push import compute_origin_shares, compute_pagerank
from causalist.rank.pagerank import seed_distribution
from causalist.rank.query.query import ROUTES, Generator, GeneratorRun, ParsedQuery, RoutePlan, with_corpus_spelling
from causalist.rank.scoring.fusion import (
    Ranking,
    WeightedSignals,
    Weights,
    fuse,
    reasons_of,
    weigh_signals,
    with_signal,
    with_support,
    without_signals,
)
from causalist.rank.scoring.graph_evidence import definition_support, external_mass, graph_slots, mention_users
from causalist.rank.scoring.history_and_roles import history_query_terms, similar_commits
from causalist.rank.scoring.mentions import exact_namesakes, handlers_of_route, with_these_first
from causalist.rank.scoring.signals import LEADING, NAME_SIGNALS, Similarities

N_SHARES = 5  # seeds listed for a hit
MIN_SHARE = 0.01


def seed_shares(
    nodes: Sequence[int],
    ranking: Ranking,
    graph: CodeGraph,
    transition: Transition,
    options: AskOptions,
    steps: Steps = NO_STEPS,
) -> list[tuple[SeedShare, ...]]:
    """Return the seeds that most of the PageRank of each of `nodes` stems from, largest share first.

    The seeds of a file are those of all its nodes together. The result of a node without PageRank is empty.
    """
    if ranking.pagerank is None:
        return [() for _ in nodes]
    seeds = np.flatnonzero(ranking.seeds)
    owners = graph.nodes.files
    is_file = options.level is Level.FILE
    groups = [np.flatnonzero(owners == node) if is_file else np.array([node]) for node in nodes]
    shares = compute_origin_shares(
        transition, ranking.seeds, groups, damping=options.damping, should_continue=steps.in_time
    )
    result: list[tuple[SeedShare, ...]] = []
    for parts in shares:
        best = np.lexsort((seeds, -np.round(parts, SCORE_DECIMALS)))[:N_SHARES]
        listed = [SeedShare(graph.nodes.ids[int(seeds[i])], float(parts[i])) for i in best if parts[i] >= MIN_SHARE]
        result.append(tuple(listed))
    return result


_ENCLOSING_PENALTY = 2.0  # penalty of a definition that encloses a listed one
_DECIMALS = 12
_MIN_SCORE_SHARE = 1e-6  # least share of a score after the penalties


def diversify(
    nodes: Sequence[int],
    scores: NDArray[np.float64],
    files: NDArray[np.int32],
    parents: NDArray[np.int32],
    most: int,
    penalty: float,
) -> dict[int, float]:
    """Return at most `most` of `nodes`, each with the score that decided.

    The score is reduced by `penalty` times ln(1 + n), n being the number of nodes of its file before it, and by 2 if
    one of these is inside of it. The order is by this score; equal ones by index. Without a `penalty`, scores alone
    decide. `scores`, `files` and `parents` (enclosing nodes, -1 for none) have shape (n_nodes,).

    >>> files, parents = np.array([7, 7, 8], dtype=np.int32), np.full(3, -1, dtype=np.int32)
    >>> found = diversify([0, 1, 2], np.array([3.0, 2.5, 2.0]), files, parents, 3, 1.0)
    >>> {node: round(worth, 2) for node, worth in found.items()}
    {0: 3.0, 2: 2.0, 1: 1.81}
    """
    n_by_file: Counter[int] = Counter()
    enclosing: set[int] = set()
    result: dict[int, float] = {}
    # Pushed scores are never too low, because penalties only grow: a node with an outdated score is pushed again.
    heap = [(-round(float(scores[node]), _DECIMALS), node) for node in nodes]
    heapq.heapify(heap)
    while heap and len(result) < most:
        pushed, node = heapq.heappop(heap)
        file = int(files[node])
        score = float(scores[node])
        reduction = penalty * math.log1p(n_by_file[file]) + (
            _ENCLOSING_PENALTY if penalty and node in enclosing else 0.0
        )
        worth = max(score - reduction, _MIN_SCORE_SHARE * score)
        rounded = round(worth, _DECIMALS)
        if rounded < -pushed:
            heapq.heappush(heap, (-rounded, node))
            continue
        result[node] = worth
        n_by_file[file] += 1
        outer = int(parents[node])
        while outer >= 0 and outer != file:
            enclosing.add(outer)
            outer = int(parents[outer])
    return result


FILE_SHARE = 1 / 8  # of the slots of a definition list, for files without a definition in it
# Relative to the best score. Lexical matches below it are right as rarely as nodes that only the graph reached
# (docs/decisions/0018).
WEAK = {Level.SYMBOL: 0.65, Level.FILE: 0.5}
_BEHIND = 1 - 1e-9
_REPEATED = lazy_regex(r"~\d+$", needs=("~",))


class Selection(NamedTuple):
    """A node of the result list, ordered by `score`; `by_graph` if only PageRank reached it."""

    node: int
    score: float
    by_graph: bool


def choose(
    ranking: Ranking, graph: CodeGraph, transition: Transition, options: AskOptions, steps: Steps = NO_STEPS
) -> list[Selection]:
    """Return the results, best first: at most `top_k`, and none without a score."""
    by_file = options.level is Level.FILE
    if options.rank is RankMode.PAGERANK:
        pagerank = _pagerank_of(ranking, graph, by_file)
        return [Selection(n, float(pagerank[n]), True) for n in select_top(pagerank, options.top_k)]
    plan = ROUTES[options.route or ranking.question.route]
    files = np.where(graph.nodes.kinds == NodeKind.FILE, ranking.files, 0.0)
    scores, penalty = (files, 0.0) if by_file else (ranking.definitions, plan.diversity_penalty)
    best = select_top(scores, (4 if penalty else 2) * options.top_k)
    distinct = steps.optional(Step.ASSEMBLE_DUPLICATES, lambda: _without_repeats(best, graph), lambda: best)
    score_by_node = diversify(distinct, scores, graph.nodes.files, graph.nodes.parents, options.top_k, penalty)
    reached: dict[int, float] = {}
    n_places = min(_n_graph_slots(plan, options, list(score_by_node.values())), options.top_k - 1)
    if ranking.pagerank is not None and n_places:

        def fill_slots() -> dict[int, float]:
            slots = graph_slots(ranking, graph, transition, options, n_places, plan.second_hop, steps)
            steps.record_count(Generator.PAGERANK, len(slots))
            return {slot.file if by_file else slot.entry: slot.reach for slot in slots}

        reached = steps.optional(Step.CANDIDATES_PLACES, fill_slots, dict)
    n_found = options.top_k - len(reached)
    score_by_node = {node: worth for node, worth in score_by_node.items() if node not in reached}
    if penalty:
        have = {int(graph.nodes.files[node]) for node in reached}
        others = [file for file in select_top(files, options.top_k) if file not in have]
        score_by_node = _with_best_files(score_by_node, n_found, others, ranking.definitions, graph.nodes.files)
    chosen = [Selection(n, worth, False) for n, worth in islice(score_by_node.items(), n_found)]
    # Nodes that only the graph reached follow the lexical matches, in the order of PageRank.
    floor = min((each.score for each in chosen), default=1.0)
    top = max(reached.values(), default=1.0)
    by_reach = sorted(reached.items(), key=_by_value)
    return chosen + [Selection(n, floor * value / top * _BEHIND, True) for n, value in by_reach]


def _n_graph_slots(plan: RoutePlan, options: AskOptions, lexical_scores: Sequence[float]) -> int:
    """Return the number of slots kept for candidates that only PageRank reached.

    `lexical_scores` are those of what words would put there.
    """
    n_reserved = round(options.top_k * plan.graph_share)
    if not plan.words_first:
        return n_reserved
    tail = lexical_scores[options.top_k - n_reserved :]
    return n_reserved - sum(score >= WEAK[options.level] * lexical_scores[0] for score in tail)


def _with_best_files(
    score_by_node: dict[int, float],
    n: int,
    files: Sequence[int],
    scores: NDArray[np.float64],
    owners: NDArray[np.int32],
) -> dict[int, float]:
    """Return `n` of the definitions, of which the last slots go to files without any.

    These are the best of the `files` (best first), each with its best definition.
    """
    n_for_files = round(n * FILE_SHARE)
    kept = dict(islice(score_by_node.items(), n - n_for_files))
    have = {int(owners[node]) for node in kept}
    representatives: list[int] = []
    for file in files:
        if len(representatives) == n_for_files:
            break
        if file not in have:
            nodes = np.flatnonzero(owners == file)
            representatives += select_first(scores, nodes[scores[nodes] > 0], 1).tolist()
    # Lexical matches fill these slots if there are too few files.
    kept = dict(
        islice((item for item in score_by_node.items() if item[0] not in representatives), n - len(representatives))
    )
    floor = min(kept.values(), default=1.0)
    for node in representatives:
        floor = min(float(scores[node]), floor * _BEHIND)
        kept[node] = floor
    return kept


def _without_repeats(nodes: Sequence[int], graph: CodeGraph) -> list[int]:
    """Return `nodes` without repeats of a name in one file, such as a setter beside a getter.

    The better one stays.
    """
    kept: dict[str, int] = {}
    for node in nodes:
        kept.setdefault(_REPEATED.sub("", graph.nodes.ids[node]), node)
    return list(kept.values())


def _by_value(item: tuple[int, float]) -> tuple[float, int]:
    return (-round(item[1], SCORE_DECIMALS), item[0])


def _pagerank_of(ranking: Ranking, graph: CodeGraph, by_file: bool) -> NDArray[np.float64]:
    """Return PageRank itself; that of a file is the sum over its nodes."""
    if ranking.pagerank is None:
        return np.zeros(len(graph.nodes))
    if not by_file:
        return ranking.pagerank.scores
    owners = graph.nodes.files
    is_in_file = owners >= 0
    weights = ranking.pagerank.scores[is_in_file]
    return np.bincount(owners[is_in_file], weights=weights, minlength=len(graph.nodes)).astype(np.float64)


N_COMMITS = 3  # commits in a reason
_MAX_LINES = 5  # lines of matches in a reason
_N_DECLARATIONS = 500  # best ones whose scores their definitions get; others are not shown
N_CANDIDATES = 50  # best lexical matches, which are the seeds of the walk
DEFINITIONS_PER_FILE = 2  # definitions that represent a file in a pack of files
# Bonus of a score in the scope of a query: it multiplies the odds by e to this power;
# docs/decisions/0006 has the measurement of 1; since `semantic` weighs 14, 1 no longer tells two equal files apart.
SCOPE_BONUS = 1.5


def rank_question(
    question: ParsedQuery,
    graph: CodeGraph,
    lexical: LexicalIndex,
    transition: Transition,
    weights: Weights,
    options: AskOptions,
    matched: Mapping[int, TextMatches] | None = None,
    inside: NDArray[np.bool_] | None = None,
    history: History | None = None,
    steps: Steps = NO_STEPS,
    similarities: Similarities | None = None,
) -> Ranking:
    """Return the scores of every node for a query.

    Without any match all scores are zero and there is no walk. `matched`: the matches of the query's patterns.
    `inside`: shape (n_nodes,), the nodes that may match; the walk stays among them if `transition` does
    (`restrict_to`). `history`: the commits of the files. `similarities`: the result of an embedder.
    """
    question = with_corpus_spelling(question, lexical)
    plan = ROUTES[question.route]
    # Who names identifiers has the words of the code.
    is_semantic = options.semantic and not options.names and similarities is None
    signals = weigh_signals(
        question, graph, lexical, weights, matched, history, steps, similarities, is_semantic=is_semantic
    )
    with steps.timed(Step.DISTIL_SUM):
        definitions, files = _inside_only(fuse(signals), inside)
        # A definition whose name has all of the query is the result. The walk begins at all matches: one seed is not
        # enough.
        matches = _best_matches(_inside_only(fuse(without_signals(signals, NAME_SIGNALS)), inside)[0], transition)
    seeds = np.zeros(len(graph.nodes))
    pagerank = None

    def walk_graph() -> tuple[NDArray[np.float64], PageRankResult | None]:
        counts = _passage_counts(graph) if options.specificity is Specificity.PASSAGES else None
        start = seed_distribution(matches, transition, options.specificity, passage_counts=counts)
        return start, _walk(transition, start, options, steps)

    if matches and options.graph:
        if options.rank is RankMode.PAGERANK:  # a required step, because the rank depends on it
            with steps.timed(Step.CANDIDATES_PAGERANK):
                seeds, pagerank = walk_graph()
        elif Generator.PAGERANK in plan.generators:
            seeds, pagerank = steps.optional(Step.CANDIDATES_PAGERANK, walk_graph, lambda: (seeds, None))
        if pagerank is not None and pagerank.outcome is WalkOutcome.STOPPED:
            steps.leave_out(f"PageRank after {pagerank.n_iterations} iterations")
        # The graph has no evidence about a literal text.
        if not question.is_pattern:
            by = GeneratorRun(plan, len(graph.nodes), steps)
            support, users = by.scores(Generator.GRAPH, 2, lambda: _by_graph(graph, signals, weights, inside))
            with steps.timed(Step.DISTIL_SUM):
                signals = with_support(with_signal(signals, Signal.USES_NAMED, users, weights), support, weights)
                definitions, files = _inside_only(fuse(signals), inside)
    namesakes = exact_namesakes(question, graph, lexical, transition, inside) or handlers_of_route(
        question, graph, inside
    )
    if namesakes:
        definitions = with_these_first(definitions, namesakes)
        files = with_these_first(files, list(dict.fromkeys(int(graph.nodes.files[node]) for node in namesakes)))
    definitions = _with_bodies(definitions, graph)
    return Ranking(question, definitions, files, signals, matches, seeds, pagerank, matched or {}, history or History())


def _with_bodies(scores: NDArray[np.float64], graph: CodeGraph) -> NDArray[np.float64]:
    """Return the scores with those of the best declarations given to the definitions that have the bodies."""
    declarations = graph.declarations()
    if not len(declarations):
        return scores
    is_declared = np.zeros(len(scores))
    is_declared[declarations] = 1.0
    scores = scores.copy()
    for node in select_top(scores * is_declared, _N_DECLARATIONS):
        if (defined := graph.definition_of(node)) != node:
            scores[defined] = max(scores[defined], scores[node])
            scores[node] = 0.0
    return scores


def _by_graph(
    graph: CodeGraph, signals: WeightedSignals, weights: Weights, inside: NDArray[np.bool_] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (support by the best definitions, use of what is named) for nodes with a lexical match."""
    users = np.zeros(len(graph.nodes))
    if signals.mention is not None:
        users = np.where(signals.definition[Signal.TEXT] > 0, mention_users(graph, signals.mention, inside), 0.0)
    definitions, _ = _inside_only(fuse(with_signal(signals, Signal.USES_NAMED, users, weights)), inside)
    return definition_support(graph, definitions, inside), users


def _walk(transition: Transition, seeds: NDArray[np.float64], options: AskOptions, steps: Steps) -> PageRankResult:
    return compute_pagerank(
        transition, seeds, damping=options.damping, approximate=options.approximate, should_continue=steps.in_time
    )


def _inside_only(
    scores: tuple[NDArray[np.float64], NDArray[np.float64]], inside: NDArray[np.bool_] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return scores if inside is None else (scores[0] * inside, scores[1] * inside)


def boost_scope(ranking: Ranking, scope: NDArray[np.bool_]) -> Ranking:
    """Return the ranking with the scores of the nodes of `scope`, (n_nodes,), raised by SCOPE_BONUS.

    Nodes that the walk reaches are unchanged: it leads from the scope to the code that the scope uses.
    """

    def raise_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(scope & (scores > 0), scores + SCOPE_BONUS, scores)

    return replace(ranking, definitions=raise_scores(ranking.definitions), files=raise_scores(ranking.files))


def best_definitions_in(
    chosen: Sequence[Selection], ranking: Ranking, graph: CodeGraph, transition: Transition
) -> dict[int, list[int]]:
    """Return the definitions that represent each chosen file.

    They are the best by words, or, if only the graph led there, those through which the walk enters.
    """
    kinds, owners = graph.nodes.kinds, graph.nodes.files
    is_listable = np.where(np.isin(kinds, [NodeKind.FILE, NodeKind.FIELD, NodeKind.EXTERNAL]), 0.0, 1.0)
    result: dict[int, list[int]] = {}
    for file, _, by_graph in chosen:
        is_candidate = np.where(owners == file, is_listable, 0.0)
        if by_graph and ranking.pagerank is not None:
            scores = external_mass(file, ranking.pagerank.scores, graph, transition) * ranking.signals.reach
        else:
            scores = ranking.definitions
        result[file] = select_top(scores * is_candidate, DEFINITIONS_PER_FILE)
    return result


def reasons_for(
    chosen: Selection, ranking: Ranking, graph: CodeGraph, lexical: LexicalIndex, level: Level
) -> tuple[Reason, ...]:
    """Return the reasons for a result, the strongest first."""
    if chosen.by_graph:
        mass = float(ranking.pagerank.scores[chosen.node]) if ranking.pagerank else 0.0
        is_seed = chosen.node in ranking.matches
        detail = "a seed of the walk" if is_seed else "reached through the graph; no query word matches"
        return (Reason(Signal.PAGERANK, round(mass, 9), detail),)
    by_file = level is Level.FILE
    owner = int(graph.nodes.files[chosen.node])
    reasons = reasons_of(chosen.node, owner, ranking.signals, ranking.question, lexical, is_file=by_file)
    if by_file:
        leading = _leading_name(owner, ranking, graph)
        reasons = tuple(r._replace(detail=leading) if r.signal in LEADING else r for r in reasons)
        commits = _commits_of(owner, ranking, lexical)
        reasons = tuple(r._replace(detail=commits) if r.signal is Signal.SIMILAR_COMMITS else r for r in reasons)
    if any(r.signal is Signal.SEMANTIC for r in reasons):
        nodes, n = graph.nodes, chosen.node
        said = f"{nodes.ids[n] if by_file else split_id(nodes.ids[n])[1]} {nodes.signatures[n]} {nodes.docs[n]}"
        encoded = without_unknown_names(ranking.question.prose, lexical, shipped_encoder())
        near = ", ".join(near_words(encoded, said, shipped_encoder()))
        reasons = tuple(r._replace(detail=near) if r.signal is Signal.SEMANTIC else r for r in reasons)
    if not ranking.matched:
        return reasons
    matches = [m for n, m in ranking.matched.items() if n == chosen.node or (by_file and graph.nodes.files[n] == owner)]
    return tuple(r._replace(detail=_format_matches(matches)) if r.signal is Signal.LITERAL else r for r in reasons)


def _commits_of(file: int, ranking: Ranking, lexical: LexicalIndex) -> str:
    """Return the commits that are similar to the query, with names as short as git's."""
    terms = history_query_terms(ranking.question, replacement_words(ranking.question, lexical), ranking.history)
    return ", ".join(name[:8] for name in similar_commits(terms, ranking.history, file, N_COMMITS))


def _leading_name(file: int, ranking: Ranking, graph: CodeGraph) -> str:
    """Return the name of the best definition of a file; empty if module-level code is best.

    A method is named with its class, because `get` alone is not informative.
    """
    best = select_top(np.where(graph.nodes.files == file, ranking.definitions, 0.0), 1)
    name = split_id(graph.nodes.ids[best[0]])[1] if best else None
    return ".".join((name or "").split(".")[-2:])


def _format_matches(matches: Sequence[TextMatches]) -> str:
    """Return a text with the number of hits, their lines, and the first matching line."""
    rows = sorted({row for each in matches for row in each.rows})
    n = sum(each.n for each in matches)
    first = min(matches, key=lambda each: each.rows[0])
    lines = ", ".join(str(row + 1) for row in rows[:_MAX_LINES]) + (", …" if len(rows) > _MAX_LINES else "")
    return f"{n} in line{'s' if len(rows) > 1 else ''} {lines}: {first.sample}"


def _passage_counts(graph: CodeGraph) -> NDArray[np.int32]:
    """Return the number of passages that mention each node.

    As long as no rule makes such edges the number is 0 everywhere. A 0 counts as 1, so that specificity by passages is
    then the same as none.
    """
    mentions = graph.edges.targets[graph.edges.kinds == EdgeKind.MENTIONS]
    return np.bincount(mentions, minlength=len(graph.nodes)).astype(np.int32)


def _best_matches(scores: NDArray[np.float64], transition: Transition) -> dict[int, float]:
    walkable = np.where(transition.walkable, scores, 0.0)
    best = select_top(walkable, N_CANDIDATES)
    top = walkable.max(initial=0.0)
    return {node: float(np.exp(walkable[node] - top)) for node in best}
