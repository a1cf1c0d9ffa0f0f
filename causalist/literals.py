"""Exact look-up: a quoted literal or a regular expression -> the nodes in whose text it stands.

What people and agents run grep for, with the definition around each match instead of a bare line. Everything that is
indexed is read, so that a match is never missed because of how words are split; nothing else is.
"""

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from causalist.errors import UsageError
from causalist.model.graph import CodeGraph
from causalist.model.index import Index
from causalist.model.scores import Matched
from causalist.model.steps import UNWATCHED, Steps
from causalist.model.symbols import NodeKind, file_id, split_id
from causalist.rank import Pattern, files_with_all, printing
from causalist.texts import Texts

if TYPE_CHECKING:
    import regex

# An expression that takes longer than this, in seconds, goes back and forth over its own matches.
TIME_LIMIT = 5.0
_WORD = re.compile(r"\w+")
_FEWEST_WORDS = 3  # of a message that have to stand in a row
_MOST_IN_FILE = 10_000  # matches of one file that are counted
_MOST_ROWS = 20  # lines of one node that are told
_LONGEST_SAMPLE = 120  # characters of the line that is shown


@dataclass(slots=True)
class _Tally:
    n: int = 0
    rows: dict[int, None] = field(default_factory=dict)
    sample: str = ""


def all_matches(
    patterns: Sequence[Pattern], index: Index, texts: Texts, steps: Steps = UNWATCHED
) -> dict[int, Matched]:
    """Where the patterns of a question stand; of several in one node the one that stands there most."""
    found: dict[int, Matched] = {}
    for pattern in patterns:
        for node, matched in find_matches(pattern, index, texts, steps).items():
            if node not in found or matched.n > found[node].n:
                found[node] = matched
    return found


def find_matches(pattern: Pattern, index: Index, texts: Texts, steps: Steps = UNWATCHED) -> Mapping[int, Matched]:
    """Matches by node: the innermost definition or passage around each, else the file.

    A pattern that is only part of a question is looked for in files that have all of its words, and a printed message
    in the few definitions that have most of them. Raises UsageError for
    an expression that does not compile, or that takes too long; where the whole answer has no more time, what was found
    by then counts.
    """
    graph = index.graph
    if pattern.printed:
        return _printed(pattern, index, texts)
    search = _searcher(pattern, steps)
    paths = list(index.manifest.paths) if pattern.alone else files_with_all(pattern, graph, index.lexical)
    found: dict[int, _Tally] = {}
    for number, path in enumerate(paths):
        if not steps.in_time():
            steps.leave_out(f"{len(paths) - number} of {len(paths)} files in which to look for {pattern.text!r}")
            break
        text = texts.whole(path)
        if not text:
            continue
        matches = list(islice(search(text), _MOST_IN_FILE))
        if matches:
            _assign(matches, text, path, graph, found)
    return {node: Matched(t.n, tuple(t.rows), t.sample) for node, t in sorted(found.items())}


def _printed(pattern: Pattern, index: Index, texts: Texts) -> Mapping[int, Matched]:
    """The definitions in which most words of a message stand one after the other, as a program printed them."""
    words = _WORD.findall(pattern.text)
    found: dict[int, Matched] = {}
    longest = max(_FEWEST_WORDS, (len(words) + 1) // 2)
    nodes = index.graph.nodes
    read: dict[str, bytes] = {}
    for node in printing(pattern, index.graph, index.lexical):
        path = split_id(nodes.ids[node])[0]
        if path not in read:
            read[path] = texts.whole(path).encode("utf-8", "replace")
        start = int(nodes.start_bytes[node])
        text = read[path][start : int(nodes.end_bytes[node])].decode("utf-8", "replace")
        n, at = _longest_run(words, text)
        if n > longest:
            found.clear()  # who prints more of it is who printed it
        if n >= longest:
            longest = n
            begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            row = int(nodes.start_rows[node]) + text.count("\n", 0, at)
            sample = " ".join(text[begin : end if end >= 0 else len(text)].split())[:_LONGEST_SAMPLE]
            found[node] = Matched(1, (row,), sample)
    return dict(sorted(found.items()))


def _longest_run(words: list[str], text: str) -> tuple[int, int]:
    """(how many of `words` stand in `text` one after the other at most, where that begins; -1 for none).

    >>> _longest_run(["no", "user", "7", "in", "the", "shop"], "raise Error(f'user {id} in the shop')")
    (3, 24)
    """
    places: dict[str, list[int]] = {}
    spans = []
    for position, match in enumerate(_WORD.finditer(text)):
        spans.append(match.start())
        places.setdefault(match[0], []).append(position)
    best = (0, -1)
    runs: dict[int, int] = {}  # length of the run that ends at a position
    for word in words:
        runs = {position: runs.get(position - 1, 0) + 1 for position in places.get(word, ())}
        for position, n in runs.items():
            if n > best[0]:
                best = (n, spans[position - n + 1])
    return best


def _searcher(pattern: Pattern, steps: Steps) -> Callable[[str], Iterator[int]]:
    """What yields the start of each match in a text."""
    if not pattern.is_expression:
        return partial(_occurrences, pattern.text)
    import regex

    try:
        return _Expression(
            regex.compile(pattern.text, regex.MULTILINE | (regex.IGNORECASE if pattern.ignore_case else 0)), steps
        )
    except regex.error as error:
        raise UsageError(
            f"/{pattern.text}/ is no regular expression: {error}; to look for it as it stands, put it in quotes: "
            f"'\"{pattern.text}\"'"
        ) from error


def _occurrences(literal: str, text: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


class _Expression:
    """All files together have `TIME_LIMIT`: the clock decides whether there is an answer, never which."""

    def __init__(self, compiled: "regex.Pattern[str]", steps: Steps) -> None:
        self._compiled = compiled
        self._steps = steps
        self._until = time.monotonic() + TIME_LIMIT

    def __call__(self, text: str) -> Iterator[int]:
        left = min(self._until - time.monotonic(), self._steps.left())
        try:
            if left <= 0:
                raise TimeoutError
            for match in self._compiled.finditer(text, timeout=left):
                if match.end() > match.start():  # nothing is found by matching nothing
                    yield match.start()
        except TimeoutError:
            if not self._steps.in_time():
                return  # the next look at the time says what was left out
            raise UsageError(
                f"/{self._compiled.pattern}/ takes more than {TIME_LIMIT:g} s here; make it more specific, or avoid "
                "repetitions inside of repetitions"
            ) from None


def _assign(matches: list[int], text: str, path: str, graph: CodeGraph, found: dict[int, _Tally]) -> None:
    """Adds the matches of one file to the nodes around them."""
    file = graph.nodes.ids.position(file_id(path))
    nodes = graph.nodes
    inside = np.flatnonzero((nodes.files == file) & ~np.isin(nodes.kinds, [NodeKind.FILE, NodeKind.FIELD]))
    starts, ends = nodes.start_bytes[inside], nodes.end_bytes[inside]
    plain = text.isascii()
    newlines = [i for i, character in enumerate(text) if character == "\n"]
    position = offset = 0  # of the last match, in characters and in bytes
    for at in matches:
        offset = at if plain else offset + len(text[position:at].encode("utf-8", "replace"))
        position = at
        around = np.flatnonzero((starts <= offset) & (offset < ends))
        node = int(inside[around[np.argmin(ends[around] - starts[around])]]) if len(around) else file
        tally = found.setdefault(node, _Tally())
        row = bisect_right(newlines, at - 1) if at else 0
        if not tally.n:
            begin = newlines[row - 1] + 1 if row else 0
            end = newlines[row] if row < len(newlines) else len(text)
            tally.sample = " ".join(text[begin:end][: 4 * _LONGEST_SAMPLE].split())[:_LONGEST_SAMPLE]
        tally.n += 1
        if len(tally.rows) < _MOST_ROWS:
            tally.rows[row] = None
