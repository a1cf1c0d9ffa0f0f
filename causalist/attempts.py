"""A question -> rankings of it: as it stands and, where that finds nothing, with other words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from causalist import navigate
from causalist.literals import all_matches
from causalist.model.answer import AskOptions, RankMode
from causalist.model.index import Index
from causalist.model.scores import Matched
from causalist.rank import (
    LEAST_ALIKE,
    Chosen,
    Question,
    Ranking,
    Weights,
    broadened,
    choose,
    confidence_of,
    in_scope,
    rank_question,
)
from causalist.texts import Texts


class Attempt(NamedTuple):
    """A question ranked once: where its patterns stand, scores, the part of the repository that was asked, the nodes
    that answer, and how likely one of the first five files is right (None where nobody knows)."""

    matched: Mapping[int, Matched]
    ranking: Ranking
    view: navigate.View
    chosen: list[Chosen]
    confidence: float | None


def best_of(attempts: Sequence[Attempt]) -> Attempt:
    """The surest of those that found something; of equal ones the first."""
    return max(attempts, key=lambda each: (bool(each.chosen), each.confidence or 0.0))


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked, but for the question."""

    index: Index
    options: AskOptions
    texts: Texts
    weights: Weights
    root: Path
    folder: str

    def attempts(self, question: Question) -> list[Attempt]:
        """The question as it stands and, as long as nothing is found, with words that begin like its own; decision 9
        has what else was tried. What was asked for to the letter is there, or it is not."""
        attempts = [self.attempt(question)]
        for least_alike in () if question.is_pattern else LEAST_ALIKE:
            if attempts[-1].chosen:
                break
            other = broadened(question, self.index.lexical, least_alike)
            if other is not None:
                attempts.append(self.attempt(other, asked=question))
        return attempts

    def attempt(self, question: Question, asked: Question | None = None) -> Attempt:
        """A ranking of `question`, judged by how well it fits `asked` where that is another one."""
        graph, lexical, options = self.index.graph, self.index.lexical, self.options
        matched = all_matches(question.patterns, self.index, self.texts)
        ranking, view = self._ranked(question, matched)
        chosen = choose(ranking, graph, view.transition, options)
        if options.rank is not RankMode.FUSED:  # nothing was fitted to the other list
            return Attempt(matched, ranking, view, chosen, None)
        confidence = confidence_of(ranking, graph, lexical, options.level, asked.terms if asked else None)
        return Attempt(matched, ranking, view, chosen, confidence)

    def _ranked(self, question: Question, matched: Mapping[int, Matched]) -> tuple[Ranking, navigate.View]:
        """Scores as the filters and the scope of the options leave them, and the walk that they belong to."""
        index, view = self.index, navigate.view_of(self.index, self.options, root=self.root, folder=self.folder)
        given = (index.graph, index.lexical, view.transition, self.weights, self.options)
        ranking = rank_question(question, *given, matched, view.inside, index.history)
        return (ranking if view.scope is None else in_scope(ranking, view.scope)), view
