"""A question -> rankings of it: as it stands and, where that finds nothing, with other words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from causalist import navigate
from causalist._internal.lazy import dataclass
from causalist.index.options import Progress, Read, silent
from causalist.index.source_text import Texts
from causalist.model.answer import AskOptions, RankMode
from causalist.model.index import Index
from causalist.model.protocols import UNWATCHED, Steps
from causalist.model.scores import Matched
from causalist.rank import (
    GENERATORS,
    LEAST_ALIKE,
    ROUTES,
    Chosen,
    Question,
    Ranking,
    Similarities,
    Weights,
    as_printed,
    broadened,
    choose,
    confidence_of,
    in_scope,
    rank_question,
    without_quotes,
)


class Attempt(NamedTuple):
    """A question ranked once: where its patterns stand, scores, the part of the repository that was asked, the nodes
    that answer, how likely one of the first five files is right (None where nobody knows), and how many candidates each
    generator of the route found (None where it was not run)."""

    matched: Mapping[int, Matched]
    ranking: Ranking
    view: navigate.Filters
    chosen: list[Chosen]
    confidence: float | None
    generators: Mapping[str, int | None]


def best_of(attempts: Sequence[Attempt]) -> Attempt:
    """The surest of those that found something; of equal ones the first."""
    return max(attempts, key=lambda each: (bool(each.chosen), each.confidence or 0.0))


def routed(question: Question, options: AskOptions) -> Question:
    """The question on the route that the options force, if they do."""
    return question if options.route is None else replace(question, route=options.route)


def similarities_for(
    query: str,
    options: AskOptions,
    index: Index,
    read: Read,
    places: tuple[Path, ...],
    progress: Progress = silent,
    steps: Steps = UNWATCHED,
) -> Similarities | None:
    """What the embedder of the options says of a question, once it is asked for; None without one. `places`: where the
    index may lie, and its vectors with it."""
    if options.embedder is None:
        return None
    from causalist.index.vectors import similarities_to

    return similarities_to(query, options.embedder, index, read, places, progress, steps)


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked, but for the question."""

    index: Index
    options: AskOptions
    texts: Texts
    weights: Weights
    root: Path
    folder: str
    steps: Steps = UNWATCHED
    similarities: Similarities | None = None  # what an embedder says, if one is chosen

    def attempts(self, question: Question) -> list[Attempt]:
        """The question as it stands and, as long as nothing is found, with words that begin like its own; decision 9
        has what else was tried. What was asked for to the letter is there, or it is not, unless a program may have
        printed it with parts filled in, or it is a question in quotes."""
        attempts = [self.attempt(question)]
        is_absent = question.is_pattern and not attempts[0].chosen
        unquoted = without_quotes(question) if is_absent else None
        # Text of several lines is no message: what of it a program printed is found as in any other question.
        has_lines = unquoted is not None and "\n" in unquoted.text
        printed = as_printed(question) if is_absent and not has_lines else None
        if printed is not None and self.steps.in_time():
            found = self.attempt(printed)
            if found.matched:
                return [*attempts, found]
        if unquoted is not None and self.steps.in_time():
            return [*attempts, *self.attempts(routed(unquoted, self.options))]
        for least_alike in () if question.is_pattern else LEAST_ALIKE:
            if attempts[-1].chosen or not self.steps.in_time():
                break
            other = broadened(question, self.index.lexical, least_alike)
            if other is not None:
                attempts.append(self.attempt(other, asked=question))
        return attempts

    def attempt(self, question: Question, asked: Question | None = None) -> Attempt:
        """A ranking of `question`, judged by how well it fits `asked` where that is another one."""
        graph, lexical, options, steps = self.index.graph, self.index.lexical, self.options, self.steps
        with steps.timed("validate.filters"):
            view = navigate.apply_filters(self.index, options, root=self.root, folder=self.folder)
        matched = self._matched(question)
        given = (graph, lexical, view.transition, self.weights, options)
        ranking = rank_question(question, *given, matched, view.inside, self.index.history, steps, self.similarities)
        scope = view.scope
        if scope is not None:
            unscoped = ranking
            ranking = steps.optional("validate.scope", lambda: in_scope(unscoped, scope), lambda: unscoped)
        with steps.timed("assemble.places"):
            chosen = choose(ranking, graph, view.transition, options, steps)
        confidence = None
        if options.rank is RankMode.FUSED:  # nothing was fitted to the other list
            terms = asked.terms if asked else None
            confidence = steps.optional(
                "deliver.confidence", lambda: confidence_of(ranking, graph, lexical, options.level, terms), lambda: None
            )
        found = steps.take_found()
        generators = {name: found.get(name) for name in GENERATORS}
        return Attempt(matched, ranking, view, chosen, confidence, generators)

    def _matched(self, question: Question) -> Mapping[int, Matched]:
        """Where the patterns of a question stand."""
        if "literals" not in ROUTES[question.route].generators:
            return {}
        if not question.patterns:
            self.steps.found("literals", 0)
            return {}

        def work() -> Mapping[int, Matched]:
            from causalist.pipeline.text_search import all_matches

            matched = all_matches(question.patterns, self.index, self.texts, self.steps)
            self.steps.found("literals", len(matched))
            return matched

        if question.is_pattern:  # all there is
            with self.steps.timed("candidates.literals"):
                return work()
        return self.steps.optional("candidates.literals", work, dict)
