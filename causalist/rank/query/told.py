"""What a word of a question tells, whatever the repository.

Rare words count more than others, and that is all that BM25 knows. But a word can be rare in code because people say it
of code and do not write it there: "improve", "wrong", "several". `word_weights.txt` has the weights of such words, and
of those that tell more than their rarity says, in percent; tests/benchmarks/mined/words.py learns them from histories.

Histories are written by people who know the code. A short question has no words to spare, and may be asked by somebody
who does not: there a word counts less by the root of its weight, and never more.
"""

from collections.abc import Collection, Iterable
from functools import lru_cache
from math import sqrt
from pathlib import Path

# A question with more words is a long one.
MOST_WORDS = 14


def _weights(words: Collection[str]) -> dict[str, float]:
    """Those of `words` that have one. A few are looked for in the file: reading all of it takes ten times as long."""
    if len(words) > MOST_WORDS:
        return _all_weights()
    found = {word: _found(f"\n{word} ") for word in words if word.isalnum()}
    return {word: weight for word, weight in found.items() if weight is not None}


@lru_cache(maxsize=1)
def _text() -> str:
    return "\n" + Path(__file__).with_name("word_weights.txt").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _all_weights() -> dict[str, float]:
    return {word: int(percent) / 100 for word, percent in map(str.split, _text().splitlines()[1:])}


def _found(beginning: str) -> float | None:
    text = _text()
    at = text.find(beginning)
    return None if at < 0 else int(text[at + len(beginning) : text.index("\n", at + 1)]) / 100


def told_by(terms: Iterable[str]) -> dict[str, float]:
    """The weight of each term of a question: 1 for most, less for words that are said of code, more for those that
    stand in it."""
    asked = list(terms)
    weights = _weights(asked)
    if len(asked) > MOST_WORDS:
        return {term: weights.get(term, 1.0) for term in asked}
    return {term: min(sqrt(weights.get(term, 1.0)), 1.0) for term in asked}
