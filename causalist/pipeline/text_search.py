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
from causalist.index.source_text import Texts
from causalist.model.graph import CodeGraph
from causalist.model.index import Index
from causalist.model.protocols import UNWATCHED, Steps
from causalist.model.scores import Matched
from causalist.model.symbols import NodeKind, file_id, split_id
from causalist.rank import Pattern, files_with_all, has_pair, message_words, n_telling_in, printing, repeats, said_in

if TYPE_CHECKING:
    import regex

# An expression that takes longer than this, in seconds, goes back and forth over its own matches.
TIME_LIMIT = 5.0
_WORD = re.compile(r"\w+")
# Definitions whose text is read for what was printed, and for what may have been.
_MOST_CERTAIN = 16
_MOST_PRINTING = 8
_FEWEST_WORDS = 3  # of a message that have to stand in a row
_FEWEST_TELLING = 3  # of these that are not said of everything
_COMMENTS = ("//", "/*", "*", "#", "--")  # as they begin in most languages
_MOST_PLACES = 50  # definitions in which something quoted stands; in more of them it says nothing
_MOST_IN_FILE = 10_000  # matches of one file that are counted
_MOST_ROWS = 20  # lines of one node that are told
_LONGEST_SOURCE = 200_000  # bytes of a definition in which a message is looked for
_LONGEST_SAMPLE = 120  # characters of the line that is shown


@dataclass(slots=True)
class _Tally:
    n: int = 0
    rows: dict[int, None] = field(default_factory=dict)
    sample: str = ""


def all_matches(
    patterns: Sequence[Pattern], index: Index, texts: Texts, steps: Steps = UNWATCHED
) -> dict[int, Matched]:
    """Where the patterns of a question stand; of several in one node the one that stands there most.

    What is quoted in a message that is found is part of it, and what is quoted and stands everywhere is a word like
    others."""
    found: dict[int, Matched] = {}
    messages: list[str] = []
    for pattern in sorted(patterns, key=lambda pattern: not pattern.printed):
        if not pattern.printed and any(pattern.text in message for message in messages):
            continue
        places = find_matches(pattern, index, texts, steps)
        if len(places) > _MOST_PLACES and not pattern.alone:
            continue
        for node, matched in places.items():
            if node not in found or matched.n > found[node].n:
                found[node] = matched
        if pattern.printed and found:
            messages.append(pattern.text)
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
    """The definitions whose literals have most of a message, code before what only repeats messages. Without such a
    literal, and if it is certain that it was printed, those in which most of its words stand one after the other, in
    code behind a quote."""
    graph = index.graph
    words = message_words(pattern.text)
    by_wording: dict[int, tuple[float, Matched]] = {}
    by_run: dict[int, tuple[float, Matched]] = {}
    read: dict[str, bytes] = {}
    is_other = repeats(graph)
    for node in printing(pattern.text, graph, index.lexical, _MOST_CERTAIN if pattern.certain else _MOST_PRINTING):
        path = split_id(graph.nodes.ids[node])[0]
        if path not in read:
            read[path] = texts.content(path)
        source = _Source(node, read[path], graph)
        if has_pair(words, source.text):
            for said in said_in(words, source.text):
                _keep(by_wording, source, said.at, said.weight)
        if pattern.certain:
            run, at = _longest_run(words, source.text)
            is_long = len(run) >= max(_FEWEST_WORDS, (len(words) + 1) // 2) and n_telling_in(run) >= _FEWEST_TELLING
            if is_long and (is_other[node] or _is_quoted(source.text, at)):
                _keep(by_run, source, at, len(run))
    for found in (by_wording, by_run):
        best = {n: each for n, each in found.items() if not is_other[n]} or found
        most = max((weight for weight, _ in best.values()), default=0.0)  # who prints more of it is who printed it
        if best:
            return {n: matched for n, (weight, matched) in sorted(best.items()) if weight == most}
    return {}


class _Source:
    """The text of a node; `text` may have characters of several bytes."""

    def __init__(self, node: int, content: bytes, graph: CodeGraph) -> None:
        self._node, self._content, self._graph = node, content, graph
        self._start = int(graph.nodes.start_bytes[node])
        end = min(int(graph.nodes.end_bytes[node]), self._start + _LONGEST_SOURCE)
        self.text = content[self._start : end].decode("utf-8", "replace")

    def place(self, at: int) -> tuple[int, Matched]:
        """(the innermost definition around a character of the text, the line of that character)."""
        text, nodes = self.text, self._graph.nodes
        byte = self._start + len(text[:at].encode("utf-8", "replace"))
        node = innermost_at(int(nodes.files[self._node]), byte, self._graph)
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        row = int(nodes.start_rows[self._node]) + text.count("\n", 0, at)
        sample = " ".join(text[begin : end if end >= 0 else len(text)].split())[:_LONGEST_SAMPLE]
        return node, Matched(1, (row,), sample)


def _is_quoted(text: str, at: int) -> bool:
    """Whether a quote stands before a character in its line, and the line is no comment."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip()
    return not line.startswith(_COMMENTS) and any(quote in line for quote in "\"'`")


def _keep(found: dict[int, tuple[float, Matched]], source: _Source, at: int, weight: float) -> None:
    """The best of what stands in one definition, of equal ones the first."""
    node, matched = source.place(at)
    if node not in found or found[node][0] < weight:
        found[node] = (weight, matched)


def innermost_at(file: int, byte: int, graph: CodeGraph) -> int:
    """The innermost definition or passage of a file around a byte, else the file."""
    nodes = graph.nodes
    inside = np.flatnonzero((nodes.files == file) & ~np.isin(nodes.kinds, [NodeKind.FILE, NodeKind.FIELD]))
    starts, ends = nodes.start_bytes[inside], nodes.end_bytes[inside]
    around = np.flatnonzero((starts <= byte) & (byte < ends))
    return int(inside[around[np.argmin((ends - starts)[around])]]) if len(around) else file


def _longest_run(words: list[str], text: str) -> tuple[list[str], int]:
    """(the longest row of `words`, in small letters, that stands in `text` one after the other, where it begins; -1 for
    none).

    >>> _longest_run(["no", "user", "7", "in", "the", "shop"], "raise Error(f'user {id} in the shop')")
    (['in', 'the', 'shop'], 24)
    """
    places: dict[str, list[int]] = {}
    spans = []
    for position, match in enumerate(_WORD.finditer(text)):
        spans.append(match.start())
        places.setdefault(match[0].lower(), []).append(position)
    longest, end, at = 0, 0, -1
    runs: dict[int, int] = {}  # length of the run that ends at a position
    for number, word in enumerate(words):
        runs = {position: runs.get(position - 1, 0) + 1 for position in places.get(word, ())}
        for position, n in runs.items():
            if n > longest:
                longest, end, at = n, number + 1, spans[position - n + 1]
    return words[end - longest : end], at


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
            f"invalid regular expression /{pattern.text}/: {error} "
            f"(to search for the literal text, quote it: '\"{pattern.text}\"')"
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
                f"/{self._compiled.pattern}/ takes more than {TIME_LIMIT:g} s here. Make it more specific, or avoid "
                "nested repetitions."
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
