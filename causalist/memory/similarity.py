"""Names that mean the same without a model to say so: the same words, inflected or joined otherwise, or one misspelt.

Two names are near
- if their stems are the same set ("access tokens", "access-token", "token access"): similarity 1, or
- if they differ in one word, of at least 7 letters, by few enough slips: similarity 1 - slips / length of the longer
  name, where it reaches the threshold.
Digits are never slips, so that versions stay apart, and neither are short words: `get_name` is not `set_name`.

Words within a distance are found by cutting them (Li et al. 2011, Pass-Join): a slip damages at most two pieces, when
two letters changed places across a cut, so that a word with at most k slips keeps one of 2k + 1 pieces whole, at most
k places from where it stood.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from causalist.rank.lexical.query_expansion import slips
from causalist.rank.terms import split_word, stem

THRESHOLD = 0.85
_SHORTEST = 7
_MOST_SLIPS = 2
_WORDS = re.compile(r"[^\W_]+")


def stem_key(name: str) -> str:
    """The stems of a name in alphabetical order, or nothing where it has no words.

    >>> stem_key("access tokens") == stem_key("Access-Token"), stem_key("c++")
    (True, 'c')
    """
    return " ".join(sorted({stem(part) for word in _WORDS.findall(name) for part in split_word(word)}))


class NearNames:
    """Which names are near which; names are added one by one, in any order."""

    def __init__(self) -> None:
        self._by_stems: dict[str, list[str]] = {}
        self._near_words: dict[str, list[str]] = {}
        self._by_piece: dict[tuple[int, int, str], list[str]] = {}
        self._names: set[str] = set()
        self._uncut: dict[str, None] = {}  # words whose pieces are not in `_by_piece` yet
        self.pairs: dict[tuple[str, str], float] = {}  # the smaller name first

    def add(self, name: str) -> None:
        """Adds an entity id."""
        if name in self._names:
            return
        self._names.add(name)
        key = stem_key(name)
        # What has marks that letters do not tell (c++, c#) is not the same as what has others.
        alike = self._by_stems.setdefault(key + "".join(re.findall(r"[+#*]", name)), [])
        for other in alike if key else ():
            self._pair(name, other, 1.0)
        alike.append(name)
        words = name.split("_")
        for word in _telling(name):
            if word not in self._near_words:
                self._add_word(word)
        for word in dict.fromkeys(words):
            for near in self._near_words.get(word, ()):
                other = "_".join(near if each == word else each for each in words)
                if other in self._names:
                    self._spelt(name, other, word, near)

    def near_words(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Which words of these known names are near which, each pair once, in alphabetical order: what takes long to
        find out."""
        words = sorted({word for name in names for word in _telling(name)})
        there = set(words)
        return [(a, b) for a in words for b in sorted(self._near_words.get(a, ())) if a < b and b in there]

    def restore(self, names: Iterable[str], near_words: Iterable[tuple[str, str]]) -> None:
        """Adds names whose near words are known; the index is empty before."""
        everything = list(names)
        for name in everything:
            self._uncut.update(dict.fromkeys(_telling(name)))
        self._near_words.update((word, []) for word in self._uncut)
        for a, b in near_words:
            self._near_words.setdefault(a, []).append(b)
            self._near_words.setdefault(b, []).append(a)
        for name in everything:
            self.add(name)

    def same_words(self, name: str) -> list[str]:
        """The known names that have the words of this one, inflected or in another order."""
        key = stem_key(name)
        return self._by_stems.get(key + "".join(re.findall(r"[+#*]", name)), []) if key else []

    def like(self, name: str) -> dict[str, float]:
        """The known names that are near any name, itself among them."""
        found: dict[str, float] = {name: 1.0} if name in self._names else {}
        found.update(dict.fromkeys(self.same_words(name), 1.0))
        words = name.split("_")
        for word in _telling(name):
            for near in self._near_words[word] if word in self._near_words else self._words_near(word):
                other = "_".join(near if each == word else each for each in words)
                if other in self._names:
                    found.setdefault(other, self._similarity(name, other, word, near))
        return {other: value for other, value in sorted(found.items()) if value >= THRESHOLD}

    def _pair(self, a: str, b: str, similarity: float) -> None:
        if a != b:
            pair = (a, b) if a < b else (b, a)
            self.pairs[pair] = max(similarity, self.pairs.get(pair, 0.0))

    def _spelt(self, a: str, b: str, word: str, near: str) -> None:
        similarity = self._similarity(a, b, word, near)
        if similarity >= THRESHOLD:
            self._pair(a, b, similarity)

    def _similarity(self, a: str, b: str, word: str, near: str) -> float:
        return 1.0 - slips(word, near, _MOST_SLIPS) * a.split("_").count(word) / max(len(a), len(b))

    def _add_word(self, word: str) -> None:
        near = self._words_near(word)
        self._near_words[word] = near
        for other in near:
            self._near_words[other].append(word)
        self._cut(word)

    def _cut(self, word: str) -> None:
        for piece in _pieces(word):
            self._by_piece.setdefault(piece, []).append(word)

    def _words_near(self, word: str) -> list[str]:
        """Known words within the distance that the longer of the two allows."""
        for uncut in self._uncut:
            self._cut(uncut)
        self._uncut.clear()
        found: dict[str, None] = {}
        candidates = dict.fromkeys(chain.from_iterable(self._by_piece.get(probe, ()) for probe in _probes(word)))
        for other in candidates:
            most = _allowed(max(len(word), len(other)))
            if other != word and slips(word, other, most) <= most:
                found[other] = None
        return list(found)


def _telling(name: str) -> list[str]:
    """The words of a name that may be misspelt."""
    return [word for word in dict.fromkeys(name.split("_")) if len(word) >= _SHORTEST and word.isalpha()]


def _allowed(length: int) -> int:
    """Slips that a word of this length may have: its similarity stays at least THRESHOLD."""
    return min(_MOST_SLIPS, int(round((1 - THRESHOLD) * 100) * length // 100))


def _pieces(word: str) -> Iterator[tuple[int, int, str]]:
    """(length of the word, number of the piece, piece): one piece more than slips that a pair with it may have."""
    n = 2 * _allowed(len(word) + _MOST_SLIPS) + 1
    for i, (start, end) in enumerate(_cuts(len(word), n)):
        yield len(word), i, word[start:end]


def _probes(word: str) -> Iterator[tuple[int, int, str]]:
    """Pieces that a near word may have, as `_pieces` of that word."""
    for length in range(max(_SHORTEST, len(word) - _MOST_SLIPS), len(word) + _MOST_SLIPS + 1):
        most = _allowed(max(length, len(word)))
        if most < abs(length - len(word)) or most == 0:
            continue
        for i, (start, end) in enumerate(_cuts(length, 2 * _allowed(length + _MOST_SLIPS) + 1)):
            for shift in range(-most, most + 1):
                if start + shift >= 0 and end + shift <= len(word):
                    yield length, i, word[start + shift : end + shift]


def _cuts(length: int, n: int) -> list[tuple[int, int]]:
    """Where a word is cut into n pieces of nearly one length."""
    bounds = [length * i // n for i in range(n + 1)]
    return list(pairwise(bounds))
