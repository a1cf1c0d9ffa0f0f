"""Excerpt of a passage: the part that matches a query best, and the words of the query in it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from causalist.rank.terms import STOP_WORDS, terms_of

_WORD = re.compile(r"[^\W_]\w*")
_BREAK = re.compile(r"(?<=[.!?:;])\s+|\n+|\s\|\s")  # between sentences, lines and cells
_HEADING = re.compile(r"\A#{1,6} [^\n]*\n+|\A[^\n]+\n[=~^\"'`*+-]{3,}\n+")
_MARKS = re.compile(r"^[\s|#>*-]+|[\s|]+$")


class Excerpt(NamedTuple):
    """Excerpt of a passage; `words` are the query words that the passage contains, as the query writes them."""

    text: str
    words: tuple[str, ...]


def find_excerpt(text: str, query: str, *, names: Iterable[str] = (), length: int = 240) -> Excerpt:
    r"""Return an excerpt of about `length` characters in one line, starting at a sentence.

    An ellipsis marks omitted text at either end. A query word counts 1; a word of `names` (entity ids) counts 0.5.

    >>> find_excerpt("# Leave\n\nIt is fair. New parents get 16 weeks. Ask Ada.", "How many weeks?", length=28)
    Excerpt(text='… New parents get 16 weeks. …', words=('weeks',))
    """
    body = _HEADING.sub("", text, count=1) or text
    query_terms = _query_terms(query)
    name_weights = {term: 0.5 for name in names for term in _split_terms(name.replace("_", " "))}
    weights = {**name_weights, **dict.fromkeys(query_terms, 1.0)}
    parts = [part for raw in _BREAK.split(body) if (part := " ".join(_MARKS.sub("", raw).split()))]
    has = [set(_split_terms(part)) & weights.keys() for part in parts]
    matched_terms = set().union(*has) | (set(_split_terms(text)) & query_terms.keys())
    words = tuple(dict.fromkeys(query_terms[term] for term in query_terms if term in matched_terms))
    best, first, last = -1.0, 0, 0
    for start in range(len(parts)):
        size, found, end = 0, set[str](), start
        while end < len(parts) and (end == start or size + len(parts[end]) <= length):
            size += len(parts[end]) + 1
            found |= has[end]
            end += 1
        value = sum(weights[term] for term in sorted(found))
        if value > best:
            best, first, last = value, start, end
    shown = " ".join(parts[first:last])
    is_cut = len(shown) > 2 * length
    if is_cut:
        shown = _cut_around_match(shown, weights, length)
    before, behind = "… " if first and not shown.startswith("…") else "", " …" if last < len(parts) or is_cut else ""
    return Excerpt(f"{before}{shown}{behind}", words)


def _cut_around_match(text: str, weights: dict[str, float], length: int) -> str:
    """Return a part of a long sentence around the first query word."""
    for match in _WORD.finditer(text):
        if weights.keys() & set(terms_of(match[0])):
            start = max(0, match.start() - length // 4)
            start = text.rfind(" ", 0, start) + 1 if start else 0
            return ("… " if start else "") + text[start : start + length].rpartition(" ")[0]
    return text[:length].rpartition(" ")[0]


def _query_terms(query: str) -> dict[str, str]:
    """Return the terms of the query, each with the word that contains it."""
    words = _WORD.findall(query)
    telling = [word for word in words if word.lower() not in STOP_WORDS] or words
    found: dict[str, str] = {}
    for word in telling:
        for term in terms_of(word):
            found.setdefault(term, word)
    return found


def _split_terms(text: str) -> list[str]:
    return [term for word in _WORD.findall(text) for term in terms_of(word)]
