"""Many words at once -> their terms: what `terms.terms_of` says of each, by arrays instead of word by word."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.rank.lexical._sums import ROWS_AT_ONCE, Triples
from causalist.rank.lexical.word_counts import blanked, hashes_of
from causalist.rank.terms import LONGEST_PART, stems

_NONE, _LOWER, _UPPER, _DIGIT, _OTHER = range(5)
# What each byte is part of; those of characters beyond ASCII are letters of another script.
_KINDS = bytes(
    _OTHER if c >= 0x80
    else _UPPER if chr(c).isupper()
    else _LOWER if chr(c).islower()
    else _DIGIT if chr(c).isdigit()
    else _NONE
    for c in range(256)
)  # fmt: skip


def _is_no_digit(character: str) -> bool:
    return not character.isdecimal()


class Terms:
    """Numbers for terms: their places among all that were asked for."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def strings(self) -> list[str]:
        """The terms in the order of their numbers."""
        return list(self._numbers)

    def numbers(self, terms: Iterable[str]) -> list[int]:
        known = self._numbers
        return [known.setdefault(term, len(known)) for term in terms]

    def of_words(self, words: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(indptr, terms): those of word i are `terms[indptr[i]:indptr[i + 1]]`, each once, ascending."""
        text = b" ".join([b"", *words, b" " * 8])
        lengths = np.array([len(word) for word in words], dtype=np.int64)
        ends = np.cumsum(lengths + 1)
        of_part, starts, sizes = _parts(text, ends)
        text = text.lower()  # of ASCII alone: what is beyond it becomes small once it is a string
        _, some, which = np.unique(hashes_of(text, starts, sizes), return_index=True, return_inverse=True)
        places = zip(starts[some].tolist(), (starts[some] + sizes[some]).tolist(), strict=True)
        parts = [text[start:end].decode("utf-8").lower() for start, end in places]
        of_distinct = np.array(self.numbers(stems(parts)), dtype=np.int64)
        # A word of several parts is a term as a whole, too.
        several = np.flatnonzero(np.bincount(of_part, minlength=len(words)) > 1)
        wholes = [words[i].decode("utf-8").strip("_").lower() for i in several.tolist()]
        of_wholes = np.array(self.numbers(wholes), dtype=np.int64)
        pairs = np.concatenate([of_part << 32 | of_distinct[which], several << 32 | of_wholes])
        pairs.sort()
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
        indptr = np.zeros(len(words) + 1, dtype=np.int64)
        np.cumsum(np.bincount(pairs >> 32, minlength=len(words)), out=indptr[1:])
        return indptr, (pairs & 0xFFFFFFFF).astype(np.int32)


def expanded(rows: Triples, indptr: NDArray[np.int64], terms: NDArray[np.int32]) -> Triples:
    """(document, text, count) -> (document, term, count); those of text i are `terms[indptr[i]:indptr[i + 1]]`."""
    documents, texts, counts = rows
    starts, lengths = indptr[:-1], np.diff(indptr).astype(np.int32)
    # Some at once: what is needed on the way takes more room than the result.
    parts = [slice(first, first + ROWS_AT_ONCE) for first in range(0, len(texts), ROWS_AT_ONCE)]
    n = sum(int(lengths[texts[some]].sum()) for some in parts)
    found = np.empty((3, n), dtype=np.int32)
    end = 0
    for some in parts:
        repeats = lengths[texts[some]]
        places = np.repeat(starts[texts[some]] - (np.cumsum(repeats) - repeats), repeats)
        places += np.arange(len(places))
        start, end = end, end + len(places)
        np.take(terms, places, out=found[1, start:end])
        found[0, start:end] = np.repeat(documents[some], repeats)
        found[2, start:end] = np.repeat(counts[some], repeats)
    return found[0], found[1], found[2]


def _parts(text: bytes, ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(word, start, length) of each part of each word: humps, acronyms, runs of small letters, of digits and of other
    letters; `ends` are those of the words in the text."""
    # Digits of other scripts are no part of anything (as `[^\W\d]` has it in an expression).
    kinds = np.frombuffer(blanked(text, _is_no_digit).translate(_KINDS), dtype=np.uint8)
    before, here, behind = kinds[:-2], kinds[1:-1], kinds[2:]
    is_upper = here == _UPPER
    begins = here != before
    begins &= (here != _LOWER) | (before != _UPPER)
    begins |= is_upper & (before == _UPPER) & (behind == _LOWER)
    begins &= here != _NONE
    starts = np.flatnonzero(begins) + 1
    # A part ends where the next one begins, or what is of no part.
    stops = np.flatnonzero(begins | (here == _NONE)) + 1
    at = np.searchsorted(stops, starts, side="right")
    lengths = stops[at] - starts
    too_long = [
        i
        for i in np.flatnonzero(lengths > LONGEST_PART).tolist()
        if len(text[starts[i] : starts[i] + lengths[i]].decode("utf-8")) > LONGEST_PART
    ]
    starts, lengths = np.delete(starts, too_long), np.delete(lengths, too_long)
    return np.searchsorted(ends, starts, side="right"), starts, lengths
