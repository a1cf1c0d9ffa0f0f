"""A question -> candidates and seeds -> Personalized PageRank -> fused scores, and why what was chosen was chosen.

Two tables come out of one pass: of nodes (definitions, passages, module-level code) and of files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from causalist.model.answer import AskOptions, Level, RankMode, Specificity
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.history import History
from causalist.model.lexical import LexicalIndex
from causalist.model.scores import Matched, PageRankResult, Reason, Transition
from causalist.model.steps import UNWATCHED, Steps
from causalist.model.symbols import NodeKind, split_id
from causalist.rank._order import best_of
from causalist.rank.broaden import as_written
from causalist.rank.choice import Chosen
from causalist.rank.dense import Similarities
from causalist.rank.fuse import (
    GRAPH,
    USES_NAMED,
    Signals,
    Weights,
    fused,
    reasons_of,
    signals_of,
    with_signal,
    with_support,
    without,
)
from causalist.rank.history import asked_of_history, similar_commits
from causalist.rank.push import walked_from
from causalist.rank.question import Question
from causalist.rank.reached import given_from_outside
from causalist.rank.routes import ROUTES, Generating
from causalist.rank.scored import Ranking
from causalist.rank.signals import LEADING, NAMED
from causalist.rank.support import definition_support, users_of_named
from causalist.rank.synonyms import other_words
from causalist.rank.walk import seed_distribution

N_COMMITS = 3  # that a reason names
_MOST_LINES = 5  # lines of matches that a reason names
N_CANDIDATES = 50  # nodes that the lexical generators hand on; the seeds of the walk
DEFINITIONS_PER_FILE = 2  # that stand for a file in a pack of files
# What a score in the folder where a question is asked gains, so that its odds are e to this times as good;
# docs/decisions/0006 has the measurement.
SCOPE_BONUS = 1.0


def rank_question(
    question: Question,
    graph: CodeGraph,
    lexical: LexicalIndex,
    transition: Transition,
    weights: Weights,
    options: AskOptions,
    matched: Mapping[int, Matched] | None = None,
    inside: NDArray[np.bool_] | None = None,
    history: History | None = None,
    steps: Steps = UNWATCHED,
    similarities: Similarities | None = None,
) -> Ranking:
    """Scores of every node for a question. Without any match all scores are zero and there is no walk.

    `matched`: where the question's patterns stand. `inside`: shape (n_nodes,), the nodes that may match; the walk
    stays among them if `transition` does (`within`). `history`: what commits said of files.
    `similarities`: what an embedder says."""
    question = as_written(question, lexical)
    plan = ROUTES[question.route]
    signals = signals_of(question, graph, lexical, weights, matched, history, steps, similarities)
    with steps.timed("distil.sum"):
        definitions, files = _inside_only(fused(signals), inside)
        # Whose name says all is what is meant, but the walk begins at all that fits: one seed alone is far from it.
        matches = _best_matches(_inside_only(fused(without(signals, NAMED)), inside)[0], transition)
    seeds = np.zeros(len(graph.nodes))
    pagerank = None

    def walked() -> tuple[NDArray[np.float64], PageRankResult | None]:
        counts = _passage_counts(graph) if options.specificity is Specificity.PASSAGES else None
        start = seed_distribution(matches, transition, options.specificity, passage_counts=counts)
        return start, _walked(transition, start, options, steps)

    if matches and options.graph:
        if options.rank is RankMode.PAGERANK:  # all there is
            with steps.timed("candidates.pagerank"):
                seeds, pagerank = walked()
        elif "pagerank" in plan.generators:
            seeds, pagerank = steps.optional("candidates.pagerank", walked, lambda: (seeds, None))
        if pagerank is not None and pagerank.rung == "stopped":
            steps.leave_out(f"PageRank after {pagerank.n_iterations} iterations")
        # A literal text stands where it stands.
        if not question.is_pattern:
            by = Generating(plan, len(graph.nodes), steps)
            given, users = by.scores(GRAPH, 2, lambda: _by_graph(graph, signals, weights, inside))
            with steps.timed("distil.sum"):
                signals = with_support(with_signal(signals, USES_NAMED, users, weights), given, weights)
                definitions, files = _inside_only(fused(signals), inside)
    return Ranking(question, definitions, files, signals, matches, seeds, pagerank, matched or {}, history or History())


def _by_graph(
    graph: CodeGraph, signals: Signals, weights: Weights, inside: NDArray[np.bool_] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(what the best definitions give to others, who uses what is named), of what some word led to."""
    users = np.zeros(len(graph.nodes))
    if signals.mention is not None:
        users = np.where(signals.definition["text"] > 0, users_of_named(graph, signals.mention, inside), 0.0)
    definitions, _ = _inside_only(fused(with_signal(signals, USES_NAMED, users, weights)), inside)
    return definition_support(graph, definitions, inside), users


def _walked(transition: Transition, seeds: NDArray[np.float64], options: AskOptions, steps: Steps) -> PageRankResult:
    return walked_from(transition, seeds, damping=options.damping, approximate=options.approximate, go_on=steps.in_time)


def _inside_only(
    scores: tuple[NDArray[np.float64], NDArray[np.float64]], inside: NDArray[np.bool_] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return scores if inside is None else (scores[0] * inside, scores[1] * inside)


def in_scope(ranking: Ranking, scope: NDArray[np.bool_]) -> Ranking:
    """The ranking with the scores of the nodes of `scope`, (n_nodes,), raised by SCOPE_BONUS. What the walk reaches is
    left as it is: it leads from the scope to what the scope rests on."""

    def raised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(scope & (scores > 0), scores + SCOPE_BONUS, scores)

    return replace(ranking, definitions=raised(ranking.definitions), files=raised(ranking.files))


def best_inside(
    chosen: Sequence[Chosen], ranking: Ranking, graph: CodeGraph, transition: Transition
) -> dict[int, list[int]]:
    """The definitions that stand for each chosen file: the best by words, or, where only the graph led, the ones
    through which the walk enters."""
    kinds, owners = graph.nodes.kinds, graph.nodes.files
    standing = np.where(np.isin(kinds, [NodeKind.FILE, NodeKind.FIELD, NodeKind.EXTERNAL]), 0.0, 1.0)
    result: dict[int, list[int]] = {}
    for file, _, by_graph in chosen:
        inside = np.where(owners == file, standing, 0.0)
        if by_graph and ranking.pagerank is not None:
            scores = given_from_outside(file, ranking.pagerank.scores, graph, transition) * ranking.signals.reach
        else:
            scores = ranking.definitions
        result[file] = best_of(scores * inside, DEFINITIONS_PER_FILE)
    return result


def explain(
    chosen: Chosen, ranking: Ranking, graph: CodeGraph, lexical: LexicalIndex, level: Level
) -> tuple[Reason, ...]:
    """Why a node was chosen."""
    if chosen.by_graph:
        mass = float(ranking.pagerank.scores[chosen.node]) if ranking.pagerank else 0.0
        found = "a seed of the walk" if chosen.node in ranking.matches else "reached over the graph, not by words"
        return (Reason("pagerank", round(mass, 9), found),)
    by_file = level is Level.FILE
    owner = int(graph.nodes.files[chosen.node])
    reasons = reasons_of(chosen.node, owner, ranking.signals, ranking.question, lexical, is_file=by_file)
    if by_file:
        leading = _leading_name(owner, ranking, graph)
        reasons = tuple(r._replace(detail=leading) if r.signal in LEADING else r for r in reasons)
        named = _commits_of(owner, ranking, lexical)
        reasons = tuple(r._replace(detail=named) if r.signal == "similar commits" else r for r in reasons)
    if not ranking.matched:
        return reasons
    inside = [m for n, m in ranking.matched.items() if n == chosen.node or (by_file and graph.nodes.files[n] == owner)]
    return tuple(r._replace(detail=_places(inside)) if r.signal == "literal" else r for r in reasons)


def _commits_of(file: int, ranking: Ranking, lexical: LexicalIndex) -> str:
    """The commits that say what the question says, as git shortens their names."""
    terms = asked_of_history(ranking.question, other_words(ranking.question, lexical), ranking.history)
    return ", ".join(name[:8] for name in similar_commits(terms, ranking.history, file, N_COMMITS))


def _leading_name(file: int, ranking: Ranking, graph: CodeGraph) -> str:
    """The name of the best definition of a file, a method with that of its class (`get` alone says nothing); empty
    where module-level code is best."""
    best = best_of(np.where(graph.nodes.files == file, ranking.definitions, 0.0), 1)
    name = split_id(graph.nodes.ids[best[0]])[1] if best else None
    return ".".join((name or "").split(".")[-2:])


def _places(found: Sequence[Matched]) -> str:
    """How often, in which lines, and the first of them."""
    rows = sorted({row for each in found for row in each.rows})
    n = sum(each.n for each in found)
    first = min(found, key=lambda each: each.rows[0])
    lines = ", ".join(str(row + 1) for row in rows[:_MOST_LINES]) + (", …" if len(rows) > _MOST_LINES else "")
    return f"{n} in line{'s' if len(rows) > 1 else ''} {lines}: {first.sample}"


def _passage_counts(graph: CodeGraph) -> NDArray[np.int32]:
    """How many passages mention each node. As long as no rule makes such edges this is 0 everywhere, which counts as
    1: specificity by passages is then the same as none."""
    mentions = graph.edges.targets[graph.edges.kinds == EdgeKind.MENTIONS]
    return np.bincount(mentions, minlength=len(graph.nodes)).astype(np.int32)


def _best_matches(scores: NDArray[np.float64], transition: Transition) -> dict[int, float]:
    walkable = np.where(transition.walkable, scores, 0.0)
    best = best_of(walkable, N_CANDIDATES)
    top = walkable.max(initial=0.0)
    return {node: float(np.exp(walkable[node] - top)) for node in best}
