"""Words that programmers use for the same thing: one writes `remove`, the other asks what deletes; and words that lead
from what somebody sees to what code says of it: from `expiry` to `ttl`, from `simultaneous` to `lock`.

Both lists are general and small. `synonyms.txt` has a group of words on each line, `leads.txt` a word of questions and
then those of code. What such a word finds is a signal of its own, so that it never counts as much as what was asked.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from causalist.model.lexical import LexicalIndex
from causalist.rank.question import Question
from causalist.rank.terms import stem

# A question with more words says in others what one of them leaves open; of a long one the title is looked at.
MOST_WORDS = 14


@lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[str]]:
    """The other stems of all groups that a stem belongs to."""
    text = Path(__file__).with_name("synonyms.txt").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        stems = {stem(word) for word in line.split()}
        for each in stems:
            found.setdefault(each, set()).update(stems - {each})
    return {each: frozenset(others) for each, others in found.items()}


@lru_cache(maxsize=1)
def _leads() -> dict[str, frozenset[str]]:
    """The stems that each word of questions leads to."""
    text = Path(__file__).with_name("leads.txt").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        asked, *said = map(stem, line.split())
        found.setdefault(asked, set()).update(said)
    return {each: frozenset(others) for each, others in found.items()}


def synonym_terms(question: Question, lexical: LexicalIndex) -> dict[int, float]:
    """Weight by number, of terms of the repository that mean the same as one of the question and are not in it; each
    as much as the heaviest word that it stands for. Nothing where the question, or its title, is long."""
    return _others(question, lexical, _groups())


def lead_terms(question: Question, lexical: LexicalIndex) -> dict[int, float]:
    """The same, of terms that a word of the question leads to."""
    return _others(question, lexical, _leads())


def _others(question: Question, lexical: LexicalIndex, known: Mapping[str, frozenset[str]]) -> dict[int, float]:
    asked = question.terms if len(question.terms) <= MOST_WORDS else {}
    if not asked and len(question.title_terms) <= MOST_WORDS:
        asked = {term: question.terms[term] for term in question.title_terms if term in question.terms}
    found: dict[int, float] = {}
    for term, weight in asked.items():
        for other in known.get(term, ()):
            if other in question.terms:
                continue
            number = lexical.terms.position(other)
            if number >= 0:
                found[number] = max(found.get(number, 0.0), weight)
    return found
