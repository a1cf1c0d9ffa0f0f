"""A question in words that the repository writes otherwise -> one in the repository's words."""

from dataclasses import replace

from causalist.model.lexical import LexicalIndex
from causalist.rank.query.query import Question

# Letters that have to agree, by attempt. Measured on what development questions say in words that their repository does
# not have: of the answers with five letters 29 % had a right file among the first five, of those with three 21 %, where
# five files at random have 12 % (docs/decisions/0009).
LEAST_ALIKE = (5, 3)
_MOST_MEANT = 4  # terms that one word may stand for
_MOST_ALIKE = 60  # a beginning that more terms share says nothing


def as_written(question: Question, lexical: LexicalIndex) -> Question:
    """The question with verbs and their particles as the repository has them: who asks how users log in means `log_in`
    where more definitions say that than `login`. What was written as one word stays."""
    apart = {
        verb.word: verb.apart
        for verb in question.joined
        if verb.word in question.terms
        and verb.word not in question.written
        and _n_definitions(verb.apart, lexical) > _n_definitions(verb.word, lexical)
    }
    if not apart:
        return question
    return replace(
        question,
        terms={apart.get(term, term): weight for term, weight in question.terms.items()},
        title_terms=frozenset(apart.get(term, term) for term in question.title_terms),
    )


def _n_definitions(term: str, lexical: LexicalIndex) -> int:
    """How many definitions have a term."""
    at = lexical.terms.position(term)
    return 0 if at < 0 else int(lexical.definitions.indptr[at + 1] - lexical.definitions.indptr[at])


def broadened(question: Question, lexical: LexicalIndex, least_alike: int) -> Question | None:
    """The question with, for each of its unknown words, the terms that share the longest beginning with it, at least
    `least_alike` letters; None where there are none."""
    terms = dict(question.terms)
    for term, weight in question.terms.items():
        if lexical.terms.position(term) >= 0:
            continue
        for length in range(len(term), least_alike - 1, -1):
            numbers = lexical.terms.prefix_range(term[:length])
            if len(numbers) > _MOST_ALIKE:
                break
            alike = sorted((lexical.terms[n] for n in numbers), key=lambda t: (abs(len(t) - len(term)), t))
            for other in alike[:_MOST_MEANT]:
                terms[other] = max(terms.get(other, 0.0), weight * length / len(term))
            if alike:
                break
    return replace(question, terms=terms) if len(terms) > len(question.terms) else None
