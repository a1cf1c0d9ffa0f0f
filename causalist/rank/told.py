"""What a word of a question tells, whatever the repository.

Rare words count more than others, and that is all that BM25 knows. But a word can be rare in code because people say it
of code and do not write it there: "improve", "wrong", "several". `word_weights.txt` has the weights of such words, and
of those that tell more than their rarity says, in percent; tests/benchmarks/mined/words.py learns them from histories.

Histories are written by people who know the code. A short question has no words to spare, and may be asked by somebody
who does not: there a word counts less by the root of its weight, and never more.
"""

from collections.abc import Iterable
from functools import lru_cache
from math import sqrt
from pathlib import Path

# A question with more words is a long one.
MOST_WORDS = 14


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    text = Path(__file__).with_name("word_weights.txt").read_text(encoding="utf-8")
    return {word: int(percent) / 100 for word, percent in (line.split() for line in text.splitlines())}


def told_by(terms: Iterable[str]) -> dict[str, float]:
    """The weight of each term of a question: 1 for most, less for words that are said of code, more for those that
    stand in it."""
    asked, weights = list(terms), _weights()
    if len(asked) > MOST_WORDS:
        return {term: weights.get(term, 1.0) for term in asked}
    return {term: min(sqrt(weights.get(term, 1.0)), 1.0) for term in asked}
