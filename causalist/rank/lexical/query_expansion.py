"""Words of a question that a repository writes otherwise -> terms that it has.

Four ways in which a word may be missed: another spelling (normalise, normalize), a compound written apart or together
(file system, filesystem), an abbreviation (cfg, config), a slip of the pen. Each adds terms with less weight than the
word has; nothing is taken away, and a word that the repository has in this form is never corrected.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from causalist._internal.lazy import expression
from causalist.model.lexical import LexicalIndex
from causalist.model.string_table import StringTable
from causalist.rank.terms import STOP_WORDS, stem

SPELLING_WEIGHT = 1.0  # of the word: it is the same word
COMPOUND_WEIGHT = 0.5
SHORT_WEIGHT = 0.25  # as of the beginnings of words, see `question`
TYPO_WEIGHT = 0.8
_SHORTEST_TYPO = 5
_SHORTEST_TWO_TYPOS = 9
_MOST_CORRECTED = 6  # words of one question
_MOST_MEANT = 2  # terms that a slip may stand for; with more nothing is known
_FEWEST_WITH = 2  # definitions that have what a slip stands for
_SHORTEST_PART = 3

_LETTERS = expression(r"[A-Za-z]+")
_SPELLINGS = tuple(
    (expression(pattern, needs=(letters,)), replacement)
    for letters, pattern, replacement in (
        ("is", r"is(e|ed|es|er|ers|ing|ation|ations|able)$", r"iz\1"),
        ("iz", r"iz(e|ed|es|er|ers|ing|ation|ations|able)$", r"is\1"),
        ("ys", r"ys(e|ed|es|er|ers|ing)$", r"yz\1"),
        ("yz", r"yz(e|ed|es|er|ers|ing)$", r"ys\1"),
        ("our", r"(?<=[a-z]{2})our", "or"),
        ("or", r"(?<=[bhlv])or(?=$|s$|ed$|ing$|ful)", "our"),
        ("ogue", r"ogue(s?)$", r"og\1"),
        ("og", r"(?<=[al])og(s?)$", r"ogue\1"),
        ("re", r"(?<=nt)re(s?)$", r"er\1"),
        ("ce", r"(?<=en)ce(s|d?)$", r"se\1"),
        ("se", r"(?<=en)se(s|d?)$", r"ce\1"),
        ("grey", r"grey", "gray"),
        ("gray", r"gray", "grey"),
        # Adverbs that the stemmer leaves apart from what they are made of.
        ("wly", r"wly$", "w"),
        ("eeply", r"eeply$", "eep"),
        ("zily", r"zily$", "zy"),
    )
)


def other_terms(text: str, weights: Mapping[str, float], lexical: LexicalIndex) -> dict[int, float]:
    """Weight by term number, of terms that `text` means and does not write; `weights`: those of its own terms."""
    found: dict[int, float] = {}
    own = {lexical.terms.position(term) for term in weights}

    def add(term: str, weight: float) -> bool:
        number = lexical.terms.position(term)
        if number >= 0 and number not in own:
            found[number] = max(found.get(number, 0.0), weight)
        return number >= 0

    words = [w.lower() for w in _LETTERS.findall(text)]
    unknown: set[str] = set()
    explained: set[str] = set()
    for word in dict.fromkeys(words):
        weight = weights.get(stem(word), 0.0)
        if weight <= 0 or word in STOP_WORDS:
            continue
        spelled = [add(stem(other), weight * SPELLING_WEIGHT) for other in _spellings(word)]
        if lexical.terms.position(stem(word)) >= 0 or any(spelled):
            continue
        unknown.add(stem(word))
        known = [add(other, weight * SHORT_WEIGHT) for other in _short_forms().get(stem(word), ())]
        known += [add(part, weight * COMPOUND_WEIGHT) for part in _parts(word, lexical.terms)]
        if any(known):
            explained.add(stem(word))
    for first, second in dict.fromkeys(pairwise(words)):
        # "times out" is timeout, "logged in" login; two words that the repository has are looked for as they stand.
        particle = second in STOP_WORDS and first not in STOP_WORDS
        if not particle and not (
            min(len(first), len(second)) >= _SHORTEST_PART and {stem(first), stem(second)} & unknown
        ):
            continue
        weight = max(weights.get(stem(first), 0.0), weights.get(stem(second), 0.0))
        if weight <= 0:
            continue
        whole = dict.fromkeys((stem(first + second), stem(stem(first) + second)))
        if particle:  # Python and Ruby write it apart
            whole |= dict.fromkeys((f"{first}_{second}", f"{stem(first)}_{second}"))
        known = [add(term, weight * COMPOUND_WEIGHT) for term in whole]
        if any(known):
            explained |= {stem(first), stem(second)}
    long = [w for w in dict.fromkeys(words) if len(w) >= _SHORTEST_TYPO and stem(w) in unknown - explained]
    for word in sorted(long, key=lambda w: (-weights[stem(w)], w))[:_MOST_CORRECTED]:
        # The stem of a slip is not always the slip of a stem.
        meant = _near(stem(word), lexical) or _near(word, lexical)
        for other in meant:
            add(other, weights[stem(word)] * TYPO_WEIGHT / len(meant))
    return found


def _spellings(word: str) -> Iterator[str]:
    """
    >>> list(_spellings("normalised")), list(_spellings("color")), list(_spellings("colour"))
    (['normalized'], ['colour'], ['color'])
    """
    for pattern, replacement in _SPELLINGS:
        other, n = pattern.subn(replacement, word, count=1)
        if n:
            yield other


@lru_cache(maxsize=1)
def _short_forms() -> dict[str, tuple[str, ...]]:
    """By stem, the stems of its abbreviations and of what it abbreviates."""
    found: dict[str, dict[str, None]] = {}
    text = Path(__file__).with_name("abbreviations.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        short, *long = line.split()
        for word in long:
            found.setdefault(stem(short), {})[stem(word)] = None
            found.setdefault(stem(word), {})[stem(short)] = None
    return {word: tuple(others) for word, others in found.items()}


def _parts(word: str, terms: StringTable) -> tuple[str, ...]:
    """The two terms of which a word is made, the more even cut first: `filesystem` is file and system."""
    for at in sorted(range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1), key=lambda i: (abs(2 * i - len(word)), i)):
        if word[:at] in STOP_WORDS or word[at:] in STOP_WORDS:
            continue
        first, second = stem(word[:at]), stem(word[at:])
        if terms.position(first) >= 0 and terms.position(second) >= 0:
            return first, second
    return ()


def _near(term: str, lexical: LexicalIndex) -> list[str]:
    """Terms that are a slip or two away from `term` and begin with the same letter; none if there are many.

    A slip is a letter too much, too few, another, or two that changed places (Damerau)."""
    if len(term) < _SHORTEST_TYPO:
        return []
    most = 2 if len(term) >= _SHORTEST_TWO_TYPOS else 1
    best: dict[int, list[str]] = {}
    letters = set(term)
    for number in _like(term, most, lexical):
        other = lexical.terms[number]
        if len(letters ^ set(other)) > 2 * most or not other.isalpha():
            continue
        distance = slips(term, other, most)
        if distance <= most:
            best.setdefault(distance, []).append(other)
    nearest = best[min(best)] if best else []
    return nearest if len(nearest) <= _MOST_MEANT else []


def _like(term: str, most: int, lexical: LexicalIndex) -> list[int]:
    """Terms with the first letter of `term`, of about its length, that more than one definition has."""
    among = lexical.terms.prefix_range(term[0])
    lengths = np.diff(lexical.terms.offsets[among.start : among.stop + 1])
    frequency = np.diff(lexical.definitions.indptr[among.start : among.stop + 1])
    fits = (np.abs(lengths - len(term)) <= most) & (lengths >= _SHORTEST_TYPO - 1) & (frequency >= _FEWEST_WITH)
    return [int(n) + among.start for n in np.flatnonzero(fits)]


def slips(a: str, b: str, most: int) -> int:
    """The Damerau distance (optimal string alignment) of two words, or `most` + 1 where it is more.

    >>> slips("recieve", "receive", 2), slips("timout", "timeout", 2), slips("token", "broken", 1)
    (1, 1, 2)
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            value = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                value = min(value, previous[j - 2] + 1)
            row.append(value)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
