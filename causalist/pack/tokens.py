"""Token estimate of a text, without a vocabulary.

In: a text. Out: an estimate of what an o200k-like byte-pair tokenizer counts, meant to be an upper bound. The text is
cut into pieces by the rules of such a tokenizer, which is nearly exact; what is estimated is only how many tokens a
piece has beyond its first: none for common short words, more for rare spellings, long identifiers, shouted or mixed
case, unusual prefixes, runs of punctuation and characters outside of ASCII. With `c` the number of times that a piece
occurs and `x` its expected extra tokens,

    count = ceil(sum(c) + SCALE * sum(c * x) + MARGIN * sqrt(sum(c² * x)))

The last term is the margin for what the text at hand may do otherwise: extra tokens scatter about as a Poisson variable
does (variance = mean, measured), and a piece that repeats errs the same way each time. Sums and a Euclidean norm are
subadditive, so a budget can be planned by parts: `count_tokens(a + b)` exceeds `count_tokens(a) + count_tokens(b)` only
by what a word costs that the joint itself creates. A caller that plans by parts still counts the whole at the end.

It does not reproduce any tokenizer: pass an exact `Counter` where the exact number matters.
"""

import math
import re
from bisect import bisect_right
from collections import Counter as Tally
from functools import cache
from typing import Protocol

from causalist._internal.lazy import lazy_regex
from causalist.errors import ExtraMissing, UsageError
from causalist.pack._token_tables import (
    BACKTICK_EXTRAS,
    BACKTICK_LINE_END,
    CHARACTER_CLASSES,
    CLASS_RATES,
    HINGE,
    INTERCEPTS,
    LONG_RUN,
    LONG_RUN_AMONG,
    LONG_RUN_LINE_END,
    MARGIN,
    ONE_TOKEN,
    PAIR_WEIGHTS,
    PUNCTUATION_EXTRAS,
    SCALE,
    TRIPLE_WEIGHTS,
    UNIT,
)

# What packs call the counter of this module.
ESTIMATE = "estimate"
O200K = "o200k"


class Counter(Protocol):
    """Anything that says how many tokens a text has; an exact tokenizer fits."""

    def __call__(self, text: str, /) -> int: ...


def get_counter(tokenizer: str) -> Counter:
    """The counter that packs call `tokenizer`: "estimate", or "o200k", which is exact.

    Raises UsageError for another name, and ExtraMissing where the packages of "o200k" are not installed.
    """
    if tokenizer == ESTIMATE:
        return count_tokens
    if tokenizer == O200K:
        return _exact_counter()
    raise UsageError(f"unknown tokenizer {tokenizer!r}; known are {ESTIMATE}, {O200K}")


@cache
def _exact_counter() -> Counter:
    try:
        import bpe_openai
    except ImportError:
        raise ExtraMissing(
            f'the tokenizer {O200K} needs bpe-openai, which is not installed; run: pip install "causalist[tokens]", '
            "or leave --tokenizer out for an estimate"
        ) from None
    encode = bpe_openai.get_encoding("o200k_base").encode_ordinary
    return lambda text: len(encode(text))


# Latin letters beyond ASCII take part in words; those whose case does not follow from the block count as lower case.
_LOWER = "a-zß-öø-ɏḀ-ỿ"
_UPPER = "A-ZÀ-ÖØ-Þ"
_SPACE = r" \t\x0b\x0c"

# Every character falls into exactly one piece, and no alternative backtracks over what it will not take.
_PIECE = lazy_regex(
    rf"(?:[^\w\r\n]|_)?(?:[{_UPPER}]*+[{_LOWER}]++(?:'(?:s|t|re|ve|m|ll|d))?|[{_UPPER}]++)"
    r"|[0-9]{1,3}+"
    r"| ?[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]++[\r\n/]*+"
    rf"|[{_SPACE}\r\n]*[\r\n]"
    rf"|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]++"
    rf"| ?[^\x00-\x7f{_LOWER}{_UPPER}]{{1,64}}+"
    r"|[\s\S]",
)
_WORD = lazy_regex(rf"([^\w\r\n]|_)?([{_LOWER}{_UPPER}]+)(?:'[a-z]+)?")
_CONTROL = lazy_regex(r"[\x00-\x08\x0e-\x1f\x7f]")
_RUN = lazy_regex(r"(.)\1*", re.DOTALL)

_COMMON_PREFIXES = frozenset("./\t(-\"'")
_EDGE, _OTHER_LETTER = 26, 27
_MULTIPLIER, _MODULUS = 40503, 65521
_MAX_CACHED_CHARACTERS = 64
_LONG_RUN_THRESHOLD = 4
_CACHE_SIZE = 1 << 15


def count_tokens(text: str) -> int:
    """An estimate of the tokens of `text`, seldom below what an o200k-like tokenizer counts.

    >>> count_tokens(""), count_tokens("def f(x):\\n    return x\\n")
    (0, 9)
    """
    pieces = _PIECE.findall(text)
    total, extra, square = len(pieces), 0, 0
    known = _known.get
    for piece, count in Tally(pieces).items():
        beyond = known(piece)
        if beyond is None:
            beyond = _learned(piece)
        if beyond:
            extra += count * beyond
            square += count * count * beyond
    if not extra:
        return total
    return total + math.ceil((SCALE * extra + MARGIN * math.sqrt(square * UNIT)) / UNIT)


def _extra(piece: str) -> int:
    """Expected tokens of `piece` beyond its first, in 1/UNIT."""
    word = _WORD.fullmatch(piece)
    if word is not None:
        return _word_extra(word[1], word[2])
    if not piece.isascii():
        return max(0, _other_extra(piece))
    if piece.isspace():
        return _space_extra(piece)
    if piece[0].isdigit():
        return 0
    return _punctuation_extra(piece)


# A pack is priced in many parts that share most of their pieces, and a look-up is all that most of them cost.
_known: dict[str, int] = {}


def _learned(piece: str) -> int:
    beyond = _extra(piece)
    if len(piece) <= _MAX_CACHED_CHARACTERS:
        if len(_known) >= _CACHE_SIZE:
            _known.clear()
        _known[piece] = beyond
    return beyond


def _word_extra(prefix: str | None, letters: str) -> int:
    """The sum of the weights of its letter pairs and triples, bent smoothly to 0 where the sum is negative."""
    if prefix is None:
        before = 0
    elif prefix == " ":
        before = 1
    elif prefix == "_":
        before = 2
    else:
        before = 3 if prefix in _COMMON_PREFIXES else 4
    lower = letters.lower()
    if letters == lower:
        case = 0
    elif letters[1:] == lower[1:]:
        case = 1
    else:
        case = 2 if letters.isupper() else 3
    codes = [_EDGE]
    codes += [code if 0 <= (code := ord(letter) - 97) < 26 else _OTHER_LETTER for letter in lower]
    codes.append(_EDGE)
    total = INTERCEPTS[before][case]
    triples = len(TRIPLE_WEIGHTS)
    pair = 28 * codes[0] + codes[1]
    for code in codes[2:]:
        total += PAIR_WEIGHTS[pair] + TRIPLE_WEIGHTS[(pair * 28 + code) * _MULTIPLIER % _MODULUS % triples]
        pair = pair % 28 * 28 + code
    total += PAIR_WEIGHTS[pair]
    if total >= HINGE:
        return total
    return (total + HINGE) ** 2 // (4 * HINGE) if total > -HINGE else 0


def _punctuation_extra(piece: str) -> int:
    """By the number of runs of one character, and by what markup makes of them; a long run costs one more token for
    about every 32 characters.
    """
    if piece in ONE_TOKEN:
        return 0
    runs = [match.end() - match.start() for match in _RUN.finditer(piece.strip(" \r\n"))]
    step = len(PUNCTUATION_EXTRAS) - 1
    extra = PUNCTUATION_EXTRAS[min(len(runs), step)] + max(0, len(runs) - step) * UNIT * 3 // 4
    extra += sum((length - 16) * UNIT // 32 for length in runs if length > 16)
    ends_line = piece.endswith(("\n", "\r"))
    if "`" in piece:
        extra += BACKTICK_EXTRAS[min(len(runs), len(BACKTICK_EXTRAS) - 1)]
        extra += BACKTICK_LINE_END if ends_line and len(runs) == 1 else 0
    if max(runs, default=0) >= _LONG_RUN_THRESHOLD:
        extra += LONG_RUN if len(runs) == 1 else LONG_RUN_AMONG
        extra += LONG_RUN_LINE_END if ends_line and len(runs) == 1 else 0
    return extra if piece.isprintable() else extra + len(_CONTROL.findall(piece)) * UNIT * 5 // 8


def _space_extra(piece: str) -> int:
    """Any usual mixture of newlines and indentation is one token; long runs and many changes are not."""
    if len(piece) <= 16 and piece.count("\n") <= 2:
        return 0
    runs = [(match[1], match.end() - match.start()) for match in _RUN.finditer(piece)]
    extra = max(0, len(runs) - 3) * UNIT * 5 // 8
    for character, length in runs:
        free = 64 if character == " " else 16
        extra += max(0, length - free) * UNIT // free
    return extra


def _other_extra(piece: str) -> int:
    """Characters outside of ASCII: a rate for each class; a repeated character is cheap."""
    extra = -UNIT // 2
    previous = ""
    for character in piece:
        rate = CLASS_RATES[bisect_right(CHARACTER_CLASSES, ord(character)) - 1]
        extra += rate // 4 if character == previous else rate
        previous = character
    return extra
