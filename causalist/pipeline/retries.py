"""Rankings of a query: as given and, if that finds nothing, with other words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from causalist import navigate
from causalist._internal.lazy import dataclass
from causalist.index.options import Progress, Read, ignore_progress
from causalist.index.source_text import SourceText
from causalist.model.answer import AskOptions, RankMode
from causalist.model.index import Index
from causalist.model.protocols import NO_STEPS, Step, Steps
from causalist.model.scores import TextMatches
from causalist.rank import (
    GENERATORS,
    MIN_SHARED_LETTERS,
    ROUTES,
    Generator,
    ParsedQuery,
    Ranking,
    Selection,
    Similarities,
    Weights,
    boost_scope,
    choose,
    confidence_of,
    rank_question,
    with_message_patterns,
    with_near_terms,
    without_quotes,
)


class RankingAttempt(NamedTuple):
    """One ranking of a query.

    `matched` are matches of its patterns, `view` is the searched part of the repository, `chosen` are the nodes that
    answer. `confidence` is the probability that one of the first five files is right, None if unknown. `generators` has
    the number of candidates of each generator of the route, None if it did not run.
    """

    matched: Mapping[int, TextMatches]
    ranking: Ranking
    view: navigate.Filters
    chosen: list[Selection]
    confidence: float | None
    generators: Mapping[str, int | None]


def best_attempt(attempts: Sequence[RankingAttempt]) -> RankingAttempt:
    """Return the most confident attempt with results; of equal ones the first."""
    return max(attempts, key=lambda each: (bool(each.chosen), each.confidence or 0.0))


def with_route(question: ParsedQuery, options: AskOptions) -> ParsedQuery:
    """Return the query with the route of the options, if they have one."""
    return question if options.route is None else replace(question, route=options.route)


def make_similarities(
    query: str,
    options: AskOptions,
    index: Index,
    read: Read,
    places: tuple[Path, ...],
    progress: Progress = ignore_progress,
    steps: Steps = NO_STEPS,
) -> Similarities | None:
    """Return a function that gives the similarities of a query by the embedder of the options, or None.

    `places` are the folders of the index and its vectors.
    """
    if options.embedder is None:
        return None
    from causalist.index.embedding_similarity import defer_similarities

    return defer_similarities(query, options.embedder, index, read, places, progress, steps)


@dataclass(frozen=True, slots=True)
class RankingSession:
    """Everything that the rankings of one query share."""

    index: Index
    options: AskOptions
    texts: SourceText
    weights: Weights
    root: Path
    folder: str
    steps: Steps = NO_STEPS
    similarities: Similarities | None = None  # what an embedder says, if one is chosen

    def rank_with_retries(self, question: ParsedQuery) -> list[RankingAttempt]:
        """Rank the query as given and, until there are results, with words of the same beginning.

        Decision 9 lists other retries that were tried. A pattern is retried only as a printed message with parts filled
        in, or as a quoted query.
        """
        attempts = [self.attempt(question)]
        is_absent = question.is_pattern and not attempts[0].chosen
        unquoted = without_quotes(question) if is_absent else None
        # Text of several lines is no message: what of it a program printed is found as in any other question.
        has_lines = unquoted is not None and "\n" in unquoted.text
        printed = with_message_patterns(question) if is_absent and not has_lines else None
        if printed is not None and self.steps.in_time():
            with_printed = self.attempt(printed)
            if with_printed.matched:
                return [*attempts, with_printed]
        if unquoted is not None and self.steps.in_time():
            return [*attempts, *self.rank_with_retries(with_route(unquoted, self.options))]
        for least_alike in () if question.is_pattern else MIN_SHARED_LETTERS:
            if attempts[-1].chosen or not self.steps.in_time():
                break
            other = with_near_terms(question, self.index.lexical, least_alike)
            if other is not None:
                attempts.append(self.attempt(other, asked=question))
        return attempts

    def attempt(self, question: ParsedQuery, asked: ParsedQuery | None = None) -> RankingAttempt:
        """Rank `question`; confidence depends on its fit to `asked` if that is another query."""
        graph, lexical, options, steps = self.index.graph, self.index.lexical, self.options, self.steps
        with steps.timed(Step.VALIDATE_FILTERS):
            view = navigate.apply_filters(self.index, options, root=self.root, folder=self.folder)
        matched = self._match_patterns(question)
        given = (graph, lexical, view.transition, self.weights, options)
        ranking = rank_question(question, *given, matched, view.inside, self.index.history, steps, self.similarities)
        scope = view.scope
        if scope is not None:
            unscoped = ranking
            ranking = steps.optional(Step.VALIDATE_SCOPE, lambda: boost_scope(unscoped, scope), lambda: unscoped)
        with steps.timed(Step.ASSEMBLE_PLACES):
            chosen = choose(ranking, graph, view.transition, options, steps)
        confidence = None
        if options.rank is RankMode.FUSED:  # nothing was fitted to the other list
            terms = asked.terms if asked else None
            confidence = steps.optional(
                Step.DELIVER_CONFIDENCE,
                lambda: confidence_of(ranking, graph, lexical, options.level, terms),
                lambda: None,
            )
        counts = steps.take_found()
        generators = {str(name): counts.get(name) for name in GENERATORS}
        return RankingAttempt(matched, ranking, view, chosen, confidence, generators)

    def _match_patterns(self, question: ParsedQuery) -> Mapping[int, TextMatches]:
        """Return matches of the patterns of a query."""
        if Generator.LITERALS not in ROUTES[question.route].generators:
            return {}
        if not question.patterns:
            self.steps.record_count(Generator.LITERALS, 0)
            return {}

        def work() -> Mapping[int, TextMatches]:
            from causalist.pipeline.text_search import find_all_matches

            matched = find_all_matches(question.patterns, self.index, self.texts, self.steps)
            self.steps.record_count(Generator.LITERALS, len(matched))
            return matched

        if question.is_pattern:  # all there is
            with self.steps.timed(Step.CANDIDATES_LITERALS):
                return work()
        return self.steps.optional(Step.CANDIDATES_LITERALS, work, dict)
