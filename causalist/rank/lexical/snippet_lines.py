"""Selection of the lines of a long text that say most of a query.

A pack shows these lines of a definition that is too long for it.
"""

import re
from collections.abc import Iterator, Mapping

import numpy as np

from causalist.model.index import LexicalIndex
from causalist.rank.query.query import Question
from causalist.rank.terms import terms_of

_WORD = re.compile(r"\w+")


class TellingLines:
    """Of one question. A line weighs as much as the terms of the question that stand in it, each once, by their weight
    and rarity:

        sum over terms of weight * ln(1 + (N - df + 1/2) / (df + 1/2))        as in BM25, over N documents
    """

    def __init__(self, question: Question, lexical: LexicalIndex) -> None:
        postings = lexical.definitions
        self._weights: dict[str, float] = {}
        for term, weight in {**question.abbreviations, **question.terms}.items():
            number = lexical.terms.position(term)
            if number >= 0:
                having = int(postings.indptr[number + 1] - postings.indptr[number])
                rarity = np.log1p((postings.n_documents - having + 0.5) / (having + 0.5))
                self._weights[term] = weight * float(rarity)
        self._terms: dict[str, tuple[str, ...]] = {}

    def of(self, text: str) -> Mapping[int, float]:
        """Weight by line (0 for the first), of those that have any."""
        telling = {word for word in set(_WORD.findall(text)) if self._terms_in(word)}
        if not telling:
            return {}
        # These are few of the words of a text: they are looked for one by one, and lines counted up to where they are.
        places = sorted((place, word) for word in telling for place in _places(word, text))
        terms: dict[int, set[str]] = {}
        row = counted = 0
        for place, word in places:
            row += text.count("\n", counted, place)
            counted = place
            terms.setdefault(row, set()).update(self._terms[word])
        return {row: sum(self._weights[term] for term in sorted(there)) for row, there in terms.items()}

    def _terms_in(self, word: str) -> tuple[str, ...]:
        """The terms of the question in a word."""
        if word not in self._terms:
            self._terms[word] = tuple(term for term in terms_of(word) if term in self._weights)
        return self._terms[word]


def _places(word: str, text: str) -> Iterator[int]:
    """Yield the offsets in `text` where `word` stands as a whole word."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        if not (_is_inside(text[place - 1 : place]) or _is_inside(text[end : end + 1])):
            yield place
        place = text.find(word, end)


def _is_inside(character: str) -> bool:
    """Return True if the character belongs to a word, as `\\w` defines it.

    The empty string does not belong to a word.
    """
    return character.isalnum() or character == "_"
