"""Bytes of a file with its secrets masked.

In: bytes, and the spans of secrets in them. Out: the same bytes with unreadable secrets, or a mask that hides their
length. `secret_scan` finds the spans. Answers import this module and not the scan, which compiles many expressions.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from causalist._internal.lazy import lazy_regex

Span = tuple[int, int]  # first byte of a secret, and the byte behind its last

# Replaces a secret of any length wherever source is shown.
MASK = "*" * 8
_STARS = lazy_regex(r"\*{8,}", needs=("*" * 8,))
_LINE = re.compile(rb"[^\r\n]+")


def mask_secrets(data: bytes, spans: Sequence[Span]) -> bytes:
    """Return `data` with an asterisk for every byte of the spans but line ends.

    >>> mask_secrets(b"key = 'abc'", [(7, 10)])
    b"key = '***'"
    """
    if not spans:
        return data
    result = bytearray(data)
    for start, end in spans:
        result[start:end] = re.sub(rb"[^\r\n]", b"*", data[start:end])
    return bytes(result)


def shorten_masks(text: str) -> str:
    """Return the text of a masked file with every long run of asterisks as long as MASK.

    The length of a run must not tell the length of a secret.

    >>> shorten_masks("key = '****************'")
    "key = '********'"
    """
    return _STARS.sub(MASK, text)


def mask_range(data: bytes, start: int, end: int, spans: Sequence[Span]) -> bytes:
    """Return `data[start:end]` with MASK for each line of each secret.

    `spans` are those of the whole file, ascending and disjoint.

    >>> mask_range(b"key = 'abc' # x", 2, 11, [(7, 10)])
    b"y = '********'"
    """
    parts: list[bytes] = []
    position = start
    first = bisect_right(spans, start, key=lambda span: span[1])
    for begin, stop in spans[first:]:
        if begin >= end:
            break
        begin, stop = max(begin, start), min(stop, end)
        parts.append(data[position:begin])
        parts.append(_LINE.sub(MASK.encode(), data[begin:stop]))
        position = stop
    parts.append(data[position:end])
    return b"".join(parts)
