"""Words that programmers use for the same thing: one writes `remove`, the other asks what deletes; and words that lead
from what somebody sees to what code says of it: from `expiry` to `ttl`, from `simultaneous` to `lock`.

Both lists are general and small. `synonyms.txt` has a group of words on each line, `leads.txt` a word of questions and
then those of code. What such a word finds is a signal of its own, so that it never counts as much as what was asked.
Where a question has few words and names nothing, such words also count beside its own ones, in the text of definitions
and in the messages of commits.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from causalist.model.lexical import LexicalIndex
from causalist.rank.covered import rarity
from causalist.rank.question import Question
from causalist.rank.terms import stem

# A question with more words says in others what one of them leaves open; of a long one the title is looked at.
MOST_WORDS = 14
# What another word counts beside the one that was asked for; 0.3 to 0.5 are alike (docs/decisions/0023).
OTHER_WEIGHT = 0.4


@lru_cache(maxsize=1)
def _groups() -> dict[str, list[list[str]]]:
    """By stem, the groups that it belongs to, as stems."""
    found: dict[str, list[list[str]]] = {}
    for line in _lines("synonyms.txt"):
        stems = [stem(word) for word in line.split()]
        for each in dict.fromkeys(stems):
            found.setdefault(each, []).append(stems)
    return found


@lru_cache(maxsize=1)
def _leads() -> dict[str, list[str]]:
    """What stands behind each word of questions, by its stem; stems are taken of what is asked for."""
    found: dict[str, list[str]] = {}
    for line in _lines("leads.txt"):
        asked, _, said = line.partition(" ")
        found.setdefault(stem(asked), []).append(said)
    return found


def _lines(name: str) -> list[str]:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()


def _same(term: str) -> Iterable[str]:
    """The other stems of all groups that a stem belongs to; `log_in` belongs to those of `login`."""
    word = term.replace("_", "")
    return sorted({other for group in _groups().get(word, ()) for other in group} - {term, word})


def _led_to(term: str) -> Iterable[str]:
    """The stems that a word of questions leads to."""
    return sorted({stem(word) for said in _leads().get(term, ()) for word in said.split()})


def synonym_terms(question: Question, lexical: LexicalIndex) -> dict[int, float]:
    """Weight by number, of terms of the repository that mean the same as one of the question and are not in it; each
    as much as the heaviest word that it stands for. Nothing where the question, or its title, is long."""
    return _others(question, lexical, _same)


def lead_terms(question: Question, lexical: LexicalIndex) -> dict[int, float]:
    """The same, of terms that a word of the question leads to."""
    return _others(question, lexical, _led_to)


def other_words(question: Question, lexical: LexicalIndex) -> dict[str, float]:
    """Weight by term, of the words of both lists that stand for one of a brief question and are not in it: OTHER_WEIGHT
    times what that word has, and less where the repository has the other one more rarely, so that none brings more than
    its share of what was asked for. Nothing where the question is not brief."""
    found: dict[str, float] = {}
    for others_of in (_same, _led_to) if question.is_brief else ():
        for term, weight in question.terms.items():
            for other in others_of(term):
                if other not in question.terms:
                    share = OTHER_WEIGHT * weight * _rarer(term, other, lexical)
                    found[other] = max(found.get(other, 0.0), share)
    return found


def _rarer(term: str, other: str, lexical: LexicalIndex) -> float:
    """The rarity of a term in that of another one, 1 at most, and where the repository lacks one of them."""
    asked, said = lexical.terms.position(term), lexical.terms.position(other)
    if asked < 0 or said < 0:
        return 1.0
    return min(1.0, rarity(lexical.definitions, asked) / rarity(lexical.definitions, said))


def _others(question: Question, lexical: LexicalIndex, others_of: Callable[[str], Iterable[str]]) -> dict[int, float]:
    asked = question.terms if len(question.terms) <= MOST_WORDS else {}
    if not asked and len(question.title_terms) <= MOST_WORDS:
        asked = {term: question.terms[term] for term in question.title_terms if term in question.terms}
    found: dict[int, float] = {}
    for term, weight in asked.items():
        for other in others_of(term):
            if other in question.terms:
                continue
            number = lexical.terms.position(other)
            if number >= 0:
                found[number] = max(found.get(number, 0.0), weight)
    return found
