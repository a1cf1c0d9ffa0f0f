"""Names that passages define, and the passages that name them.

A passage defines its title, the names of its list items and the name that it begins with (`records.py`). All passages
are searched for these names, word by word, so that a name is found at the start of a sentence, in lower case and in any
script. With the entities of the extractor they are the links between passages: from a passage that names something to
those that are about it, and to others that name it as well.

Words are compared without case and accents. Characters of scripts without spaces are words of their own. A longer name
hides the shorter ones inside of it. Words are counted by number, and names are searched by hashes of runs of words, all
passages at once; a hash that fits is checked word by word.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.rank.terms import STOP_WORDS

MAX_NAME_WORDS = 8  # of a name that is searched
_MIN_LETTERS = 2  # of a name of one word
Ints = NDArray[np.int64]
Words = tuple[int, ...]

# Han, kana, Thai, Lao, Khmer, Burmese, Tibetan: written without spaces.
_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:[^\W_{_UNSPACED}]|[\u0900-\u0dff])+")
# Accents of Latin, Greek and Cyrillic letters; vowel marks of Hebrew and Arabic.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")


def fold_words(text: str) -> list[str]:
    """Return the words of a text without case and accents.

    >>> fold_words("Straße in Kraków"), fold_words("東京 Tower")
    (['strasse', 'in', 'krakow'], ['東', '京', 'tower'])
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))
    return _WORD.findall(text.casefold())


def is_name(words: Sequence[str]) -> bool:
    """Return True if these words can be searched: not a stop word, a letter or digits alone."""
    if not 1 <= len(words) <= MAX_NAME_WORDS:
        return False
    if len(words) > 1:
        return any(word not in STOP_WORDS for word in words)
    word = words[0]
    return word not in STOP_WORDS and len(word) >= _MIN_LETTERS and not word.isdigit()


class Links(NamedTuple):
    """Sparse matrix in CSR form without values: row i has the columns `indices[indptr[i]:indptr[i + 1]]`, ascending."""

    indptr: Ints
    indices: Ints

    @classmethod
    def from_pairs(cls, rows: Ints, columns: Ints, n_rows: int, n_columns: int) -> "Links":
        """Return the matrix of distinct (row, column) pairs."""
        keys = np.unique(rows * max(n_columns, 1) + columns)
        indptr = np.zeros(n_rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(keys // max(n_columns, 1), minlength=n_rows), out=indptr[1:])
        return cls(indptr, keys % max(n_columns, 1))

    @property
    def sizes(self) -> Ints:
        """Number of columns of each row."""
        return np.diff(self.indptr)

    @property
    def rows(self) -> Ints:
        """Row of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int64), self.sizes)

    def row(self, i: int) -> Ints:
        """Return the columns of a row."""
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    def gather(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return (columns, position in `rows`) of all entries of these rows, row by row."""
        starts, sizes = self.indptr[rows], self.sizes[rows]
        at = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        return self.indices[at], np.repeat(np.arange(len(rows)), sizes)

    def transpose(self, n_columns: int) -> "Links":
        """Return the transpose."""
        return Links.from_pairs(self.indices, self.rows, n_columns, len(self.indptr) - 1)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a memory with P passages, as numbers of words.

    - `number_by_words`: words -> name, for names that a passage defines; `lengths_by_first`: lengths of these names by
      first word, longest first.
    - `words`: words of each name.
    - `naming`: (P, names), passages that name a name or define it; `named_by` is its transpose.
    - `defining`: (names, P), passages that define a name; `defined` is its transpose.
    - `specificity`: (names,), in [0, 1], rarity: 1 for a name in one passage.
    """

    number_by_words: Mapping[Words, int]
    lengths_by_first: Mapping[int, tuple[int, ...]]
    words: list[Words]
    naming: Links
    named_by: Links
    defining: Links
    defined: Links
    specificity: NDArray[np.float64]

    def find(self, words: Sequence[int]) -> list[int]:
        """Return the defined names in a text, given by the numbers of its words (-1 for an unknown one)."""
        found: dict[int, None] = {}
        start = 0
        while start < len(words):
            for length in self.lengths_by_first.get(words[start], ()):
                name = self.number_by_words.get(tuple(words[start : start + length]))
                if name is not None:
                    found[name] = None
                    start += length
                    break
            else:
                start += 1
        return list(found)


def build_names(
    passage_words: Sequence[NDArray[np.int32]],
    entity_words: Callable[[int], Words],
    mentions: tuple[Ints, Ints],
    defines: tuple[Ints, Ints],
) -> Names:
    """Return the names of all passages.

    `passage_words`: numbers of the words of each passage. `entity_words`: words of an entity number, () for a
    name that is not searched. `mentions` and `defines`: (passage, entity number) of each entry.
    """
    n = len(passage_words)
    mentioned = _with_words(*mentions, entity_words)
    defining = _with_words(*defines, entity_words)
    names = sorted({words for _, words in (*mentioned, *defining)})
    number = {words: i for i, words in enumerate(names)}
    defined_names = sorted({words for _, words in defining})
    rows, columns = _search(passage_words, defined_names)
    defined_numbers = np.array([number[words] for words in defined_names], dtype=np.int64)
    own = np.array([(p, number[words]) for p, words in mentioned], dtype=np.int64).reshape(-1, 2)
    about = np.array([(p, number[words]) for p, words in defining], dtype=np.int64).reshape(-1, 2)
    m = len(names)
    naming = Links.from_pairs(
        np.concatenate([own[:, 0], about[:, 0], rows]),
        np.concatenate([own[:, 1], about[:, 1], defined_numbers[columns] if len(columns) else columns]),
        n,
        m,
    )
    named_by = naming.transpose(m)
    lengths: dict[int, set[int]] = {}
    for words in defined_names:
        lengths.setdefault(words[0], set()).add(len(words))
    defined = Links.from_pairs(about[:, 0], about[:, 1], n, m)
    return Names(
        {words: number[words] for words in defined_names},
        {first: tuple(sorted(each, reverse=True)) for first, each in lengths.items()},
        names,
        naming,
        named_by,
        defined.transpose(m),
        defined,
        rarity(named_by.sizes, n),
    )


def rarity(n_passages: Ints, n: int) -> NDArray[np.float64]:
    """Return the idf of BM25 for something in `n_passages` of n passages, relative to something in one of them."""
    found = np.log1p((n - n_passages + 0.5) / (n_passages + 0.5))
    return np.asarray(np.minimum(found / np.log1p((n - 0.5) / 1.5), 1.0), dtype=np.float64)


def _with_words(rows: Ints, entities: Ints, entity_words: Callable[[int], Words]) -> list[tuple[int, Words]]:
    found = ((row, entity_words(entity)) for row, entity in zip(rows.tolist(), entities.tolist(), strict=True))
    return [(row, words) for row, words in found if words]


_FACTOR = 0x9E3779B97F4A7C15  # of the hash of a run of words, modulo 2^64


def _search(passage_words: Sequence[NDArray[np.int32]], names: Sequence[Words]) -> tuple[Ints, Ints]:
    """Return (passage, name) of all places where a name occurs. Longer names hide shorter ones."""
    nothing = np.zeros(0, dtype=np.int64)
    if not names or not passage_words:
        return nothing, nothing
    text = np.concatenate(passage_words).astype(np.int64)
    passage = np.repeat(np.arange(len(passage_words), dtype=np.int64), [len(each) for each in passage_words])
    is_taken = np.zeros(len(text) + 1, dtype=np.bool_)
    by_length: dict[int, list[int]] = {}
    for number, words in enumerate(names):
        by_length.setdefault(len(words), []).append(number)
    rows, columns = [nothing], [nothing]
    for length in sorted(by_length, reverse=True):
        numbers = np.array(by_length[length], dtype=np.int64)
        patterns = np.array([names[number] for number in by_length[length]], dtype=np.int64)
        is_first = np.zeros(max(int(text.max(initial=0)), int(patterns.max())) + 1, dtype=np.bool_)
        is_first[patterns[:, 0]] = True
        starts = np.flatnonzero(is_first[text[: max(0, len(text) - length + 1)]])
        starts = starts[passage[starts] == passage[starts + length - 1]]
        if not len(starts):
            continue
        hashes = _hash(patterns)
        order = np.argsort(hashes, kind="stable")
        runs = text[starts[:, None] + np.arange(length)]
        found = _hash(runs)
        place = np.minimum(np.searchsorted(hashes[order], found), len(order) - 1)
        chosen = order[place]
        fits = (patterns[chosen] == runs).all(axis=1)
        starts, chosen = starts[fits], chosen[fits]
        free = ~np.logical_or.reduce([is_taken[starts + k] for k in range(length)])
        starts, chosen = starts[free], chosen[free]
        for k in range(length):
            is_taken[starts + k] = True
        rows.append(passage[starts])
        columns.append(numbers[chosen])
    return np.concatenate(rows), np.concatenate(columns)


def _hash(runs: Ints) -> NDArray[np.uint64]:
    found = np.zeros(len(runs), dtype=np.uint64)
    for k in range(runs.shape[1]):
        found = (found ^ runs[:, k].astype(np.uint64)) * np.uint64(_FACTOR)
        found ^= found >> np.uint64(29)
    return found


__all__ = ["Links", "Names", "build_names", "fold_words", "is_name", "rarity"]
