"""Text of words -> terms.

Identifiers are split and also kept as a whole, parts are stemmed, and stop words are left out of queries.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from posixpath import splitext
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Acronyms, without the s of their plural (`URLs`), CamelCase humps, runs of lower case, digits, and runs of any other
# script.
_PART = re.compile(r"[A-Z]{2,}(?=s(?![a-z]))|[A-Z]+(?![a-z])|[A-Z][a-z]+|(?<![A-Z])[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")
MAX_PART_CHARACTERS = 40

# Words of the form of a question, not of its subject; separated by white space.
STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def split_word(word: str) -> list[str]:
    """Return the parts of an identifier in lower case.

    >>> split_word("parseHTTPResponse_v2"), split_word("utf8"), split_word("E108"), split_word("userIDs")
    (['parse', 'http', 'response', 'v', '2'], ['utf', '8'], ['e', '108'], ['user', 'id'])
    """
    return [part.lower() for part in _PART.findall(word) if len(part) <= MAX_PART_CHARACTERS]


@lru_cache(maxsize=50_000)  # names are made of few words
def stem(word: str) -> str:
    """Return the English Snowball stem of a word in lower case.

    Words of fewer than three letters, or with characters other than ASCII letters, are returned unchanged.
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


def stems(words: Sequence[str]) -> list[str]:
    """Return the `stem` of each of many words, computed in one call."""
    are_stemmed = [len(word) > 2 and word.isascii() and word.isalpha() for word in words]
    stemmed = iter(
        _stemmer().stemWords([word for word, is_stemmed in zip(words, are_stemmed, strict=True) if is_stemmed])
    )
    return [next(stemmed) if is_stemmed else word for word, is_stemmed in zip(words, are_stemmed, strict=True)]


@lru_cache(maxsize=200_000)
def terms_of(word: str) -> tuple[str, ...]:
    """Return the distinct terms of a word as written.

    The terms are the stems of its parts. A word of several parts is also a term as a whole, in lower case.

    >>> terms_of("getUsers"), terms_of("Running"), terms_of("_private")
    (('get', 'user', 'getusers'), ('run',), ('privat',))
    """
    if word.isalpha() and word.isascii() and word[1:].islower() and len(word) <= MAX_PART_CHARACTERS:
        return (stem(word.lower()),)
    parts = split_word(word)
    result = dict.fromkeys(stem(part) for part in parts)
    if len(parts) > 1:
        result.setdefault(word.strip("_").lower())
    return tuple(result)


def terms_of_path(path: str) -> Iterable[str]:
    """Return the distinct terms of a path without its extension, in order.

    >>> list(terms_of_path("src/user_api/getUsers.py"))
    ['src', 'user', 'api', 'user_api', 'get', 'getusers']
    """
    folder, _, name = path.rpartition("/")
    return dict.fromkeys((*_terms_of_folder(folder), *terms_of(splitext(name)[0])))


@lru_cache(maxsize=1 << 16)
def _terms_of_folder(folder: str) -> tuple[str, ...]:
    """Return the terms of a folder, which many files share."""
    return tuple(dict.fromkeys(term for part in folder.split("/") for term in terms_of(part)))


def damerau_distance(a: str, b: str, most: int) -> int:
    """Return the Damerau distance (optimal string alignment) of two words, or `most` + 1 if it is more.

    >>> [damerau_distance(*pair, 2) for pair in (("recieve", "receive"), ("timout", "timeout"))]
    [1, 1]
    >>> damerau_distance("token", "broken", 1)
    2
    """
    if abs(len(a) - len(b)) > most:
        return most + 1
    first, n = 0, min(len(a), len(b))
    while first < n and a[first] == b[first]:
        first += 1
    last = 0
    while last < n - first and a[-1 - last] == b[-1 - last]:
        last += 1
    # What both begin and end with costs nothing.
    a, b = a[first : len(a) - last], b[first : len(b) - last]
    if not a or not b:
        return min(len(a) + len(b), most + 1)
    if most == 1:
        return 1 if len(a) == len(b) == 1 or (len(a) == len(b) == 2 and a == b[::-1]) else 2
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


# The lowest n bytes of eight.
LOWEST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
# An odd number whose bits look random: 2^64 over the golden ratio.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def hashes_of(text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a hash of each word of a text, shape (n,).

    The text has seven more bytes after the last word. Words are mixed in eight bytes at a time: multiplied by an odd
    number, and the high bits, which depend on all others, are moved down to the low ones. Each step can be undone, so
    that no two words of at most eight bytes have the same hash.
    """
    eights = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))  # from every byte on
    hashes: NDArray[np.uint64] = eights[starts] & LOWEST[np.minimum(lengths, 8)]
    hashes *= SPREAD
    hashes ^= hashes >> _SHIFT
    done = 8
    longer = np.flatnonzero(lengths > done)
    while len(longer):
        n_left = lengths[longer] - done
        mixed = hashes[longer] + (eights[starts[longer] + done] & LOWEST[np.minimum(n_left, 8)])
        mixed *= SPREAD
        hashes[longer] = mixed ^ mixed >> _SHIFT
        done += 8
        longer = longer[n_left > 8]
    return hashes
