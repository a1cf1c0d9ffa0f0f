"""Exact search: a quoted literal or a regular expression -> the nodes that contain it.

It does what grep does, with the definition around each match instead of a bare line. All indexed files are read, so
that a match never depends on how words are split.
"""

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from causalist._internal.lazy import dataclass, field
from causalist.errors import UsageError
from causalist.index.freshness import aside_of
from causalist.index.source_text import SourceText
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.index import Index
from causalist.model.node_ids import NodeKind, file_id, split_id
from causalist.model.protocols import NO_STEPS, Steps
from causalist.model.scores import TextMatches
from causalist.model.source import is_parsed
from causalist.rank import (
    TextPattern,
    files_with_all,
    find_printers,
    find_repeaters,
    has_adjacent_pair,
    match_literals,
    message_terms,
    n_informative_words,
)

if TYPE_CHECKING:
    import regex

# An expression that takes longer than this, in seconds, goes back and forth over its own matches.
TIME_LIMIT_SECONDS = 5.0
_WORD = re.compile(r"\w+")
# Definitions whose text is read for what was printed, and for what may have been.
_MAX_CERTAIN_NODES = 16
_MAX_SHOWING = 8  # nodes that show one text
_MAX_FOLDED_ROWS = 3  # over which a text goes on behind its key
_HAS_KEY = re.compile(r":(?:\s|$)|=")
_MAX_PRINTING_NODES = 8
_MIN_WORDS = 3  # of a message that have to stand in a row
_MIN_INFORMATIVE_WORDS = 3  # of these that are not said of everything
_COMMENTS = ("//", "/*", "*", "#", "--")  # as they begin in most languages
_MAX_NODES = 50  # definitions in which something quoted stands; in more of them it says nothing
_MAX_MATCHES_IN_FILE = 10_000  # matches of one file that are counted
_MAX_BYTES_ASIDE = 100_000_000  # of generated and repeated files that are read for a literal
_MAX_ROWS = 20  # lines of one node that are told
_MAX_NODE_BYTES = 200_000  # bytes of a definition in which a message is looked for
_MAX_SAMPLE_CHARACTERS = 120  # characters of the line that is shown


@dataclass(slots=True)
class _MatchCounter:
    n: int = 0
    rows: dict[int, None] = field(default_factory=dict)
    sample: str = ""


def find_all_matches(
    patterns: Sequence[TextPattern], index: Index, texts: SourceText, steps: Steps = NO_STEPS
) -> dict[int, TextMatches]:
    """Return matches of all patterns of a query by node; of several in one node the most frequent.

    A literal inside a message that was found belongs to that message. A literal with too many matches counts as an
    ordinary word.
    """
    match_by_node: dict[int, TextMatches] = {}
    messages: list[str] = []
    for pattern in sorted(patterns, key=lambda pattern: not pattern.is_printed):
        if not pattern.is_printed and any(pattern.text in message for message in messages):
            continue
        places = find_matches(pattern, index, texts, steps)
        if len(places) > _MAX_NODES and not pattern.is_whole_query:
            continue
        for node, matched in places.items():
            if node not in match_by_node or matched.n > match_by_node[node].n:
                match_by_node[node] = matched
        if pattern.is_printed and match_by_node:
            messages.append(pattern.text)
    return match_by_node


def find_matches(
    pattern: TextPattern, index: Index, texts: SourceText, steps: Steps = NO_STEPS
) -> Mapping[int, TextMatches]:
    """Return matches by node: the innermost definition or passage around each, else the file.

    A pattern that is only part of a query is searched in files with all of its words, and a printed message in the few
    definitions with most of its words. Raises UsageError for an expression that does not compile or takes too long. At
    the deadline, the matches so far count.
    """
    graph = index.graph
    if pattern.is_printed:
        return _find_printed(pattern, index, texts)
    search = _make_searcher(pattern, steps)
    paths = list(index.manifest.paths) if pattern.is_whole_query else files_with_all(pattern, graph, index.lexical)
    counter_by_node: dict[int, _MatchCounter] = {}
    sizes = index.manifest.sizes.tolist()
    aside = [path for path, kind in aside_of(index).items() if not is_parsed(kind)] if pattern.is_whole_query else []
    if aside:
        is_aside = frozenset(aside)
        paths = [path for path in paths if path not in is_aside] + aside
    n_bytes = 0
    for number, path in enumerate(paths):
        if not steps.in_time():
            steps.leave_out(f"{len(paths) - number} of {len(paths)} files in which to look for {pattern.text!r}")
            break
        if number >= len(paths) - len(aside):
            n_bytes += sizes[index.manifest.paths.position(path)]
            if n_bytes > _MAX_BYTES_ASIDE:
                n = len(paths) - number
                steps.leave_out(f"{n} generated or repeated files in which to look for {pattern.text!r}")
                break
            if not pattern.is_expression and not texts.holds(path, pattern.text):
                continue
        text = texts.read_text(path)
        if not text:
            continue
        matches = list(islice(search(text), _MAX_MATCHES_IN_FILE))
        if matches:
            _assign_matches(matches, text, path, graph, counter_by_node)
    return {node: TextMatches(t.n, tuple(t.rows), t.sample) for node, t in sorted(counter_by_node.items())}


def _find_printed(pattern: TextPattern, index: Index, texts: SourceText) -> Mapping[int, TextMatches]:
    """Return the definitions whose literals contain most of a message, code before repeated messages.

    If there is none and the message is certainly printed, return those with most of its words in a row, in code after a
    quote.
    """
    graph = index.graph
    words = message_terms(pattern.text)
    by_wording: dict[int, tuple[float, TextMatches]] = {}
    by_run: dict[int, tuple[float, TextMatches]] = {}
    read: dict[str, bytes] = {}
    is_other = find_repeaters(graph)
    for node in find_printers(
        pattern.text, graph, index.lexical, _MAX_CERTAIN_NODES if pattern.is_exact else _MAX_PRINTING_NODES
    ):
        path = split_id(graph.nodes.ids[node])[0]
        if path not in read:
            read[path] = texts.read_bytes(path)
        source = _NodeText(node, read[path], graph)
        if has_adjacent_pair(words, source.text):
            for literal in match_literals(words, source.text):
                _keep_best(by_wording, source, literal.at, literal.weight)
        if pattern.is_exact:
            run, at = _longest_run(words, source.text)
            is_long = (
                len(run) >= max(_MIN_WORDS, (len(words) + 1) // 2)
                and n_informative_words(run) >= _MIN_INFORMATIVE_WORDS
            )
            if is_long and (is_other[node] or _is_quoted(source.text, at)):
                _keep_best(by_run, source, at, len(run))
    for matches in (by_wording, by_run):
        best = {n: each for n, each in matches.items() if not is_other[n]} or matches
        most = max((weight for weight, _ in best.values()), default=0.0)  # who prints more of it is who printed it
        if best:
            matched = {n: matched for n, (weight, matched) in sorted(best.items()) if weight == most}
            return {**matched, **_shown_by(graph, matched)}
    return {}


def _shown_by(graph: CodeGraph, matched: Mapping[int, TextMatches]) -> dict[int, TextMatches]:
    """Return the code that shows translated texts, by the keys of the rows that matched."""
    edges, matches_by_node = graph.edges, dict[int, TextMatches]()
    for node, matches in matched.items():
        if graph.nodes.files[node] < 0:
            continue
        numbers = graph.edges_out_of(np.array([graph.nodes.files[node]]))
        texts = [n for n in numbers.tolist() if graph.rule_names[edges.rules[n]] == "text"]
        rows = _rows_of_keys(matches, {int(edges.rows[n]) for n in texts})
        for number in texts:
            if edges.rows[number] in rows:
                users = graph.edges_into(np.array([edges.targets[number]]))
                users = users[edges.kinds[users] == EdgeKind.READS][:_MAX_SHOWING]
                for user in users.tolist():
                    matches_by_node[int(edges.sources[user])] = TextMatches(1, (int(edges.rows[user]),), matches.sample)
    return matches_by_node


def _rows_of_keys(matches: TextMatches, keys: Set[int]) -> set[int]:
    """Return the rows of the keys whose texts matched: of a line without a key that of the text it continues."""
    if _HAS_KEY.search(matches.sample):
        return {row for row in matches.rows if row in keys}
    return {max((key for key in keys if row - _MAX_FOLDED_ROWS <= key <= row), default=-1) for row in matches.rows}


class _NodeText:
    """The text of a node; characters may have several bytes."""

    def __init__(self, node: int, content: bytes, graph: CodeGraph) -> None:
        self._node, self._content, self._graph = node, content, graph
        self._start = int(graph.nodes.start_bytes[node])
        end = min(int(graph.nodes.end_bytes[node]), self._start + _MAX_NODE_BYTES)
        self.text = content[self._start : end].decode("utf-8", "replace")

    def place(self, at: int) -> tuple[int, TextMatches]:
        """Return (the innermost definition around a character of the text, the line of that character)."""
        text, nodes = self.text, self._graph.nodes
        byte = self._start + len(text[:at].encode("utf-8", "replace"))
        node = find_innermost_node(int(nodes.files[self._node]), byte, self._graph)
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        row = int(nodes.start_rows[self._node]) + text.count("\n", 0, at)
        sample = " ".join(text[begin : end if end >= 0 else len(text)].split())[:_MAX_SAMPLE_CHARACTERS]
        return node, TextMatches(1, (row,), sample)


def _is_quoted(text: str, at: int) -> bool:
    """Return True if a quote precedes a character in its line, and the line is no comment."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip()
    return not line.startswith(_COMMENTS) and any(quote in line for quote in "\"'`")


def _keep_best(best_by_node: dict[int, tuple[float, TextMatches]], source: _NodeText, at: int, weight: float) -> None:
    """Keep the best match of a definition, of equal ones the first."""
    node, matched = source.place(at)
    if node not in best_by_node or best_by_node[node][0] < weight:
        best_by_node[node] = (weight, matched)


def find_innermost_node(file: int, byte: int, graph: CodeGraph) -> int:
    """Return the innermost definition or passage of a file around a byte, else the file."""
    nodes = graph.nodes
    inside = np.flatnonzero((nodes.files == file) & ~np.isin(nodes.kinds, [NodeKind.FILE, NodeKind.FIELD]))
    starts, ends = nodes.start_bytes[inside], nodes.end_bytes[inside]
    around = np.flatnonzero((starts <= byte) & (byte < ends))
    return int(inside[around[np.argmin((ends - starts)[around])]]) if len(around) else file


def _longest_run(words: list[str], text: str) -> tuple[list[str], int]:
    """Return (the longest run of `words` that occurs in `text`, its start; -1 if there is none).

    Words are in lower case and must be consecutive in both.

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


def _make_searcher(pattern: TextPattern, steps: Steps) -> Callable[[str], Iterator[int]]:
    """Return a function that yields the start of each match in a text."""
    if not pattern.is_expression:
        return partial(_find_occurrences, pattern.text)
    import regex

    try:
        return _TimedRegex(
            regex.compile(pattern.text, regex.MULTILINE | (regex.IGNORECASE if pattern.ignore_case else 0)), steps
        )
    except regex.error as error:
        raise UsageError(
            f"invalid regular expression /{pattern.text}/: {error} "
            f"(to search for the literal text, quote it: '\"{pattern.text}\"')"
        ) from error


def _find_occurrences(literal: str, text: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


class _TimedRegex:
    """A regular expression that shares `TIME_LIMIT_SECONDS` among all files.

    The time decides whether there is an answer, never which.
    """

    def __init__(self, compiled: "regex.Pattern[str]", steps: Steps) -> None:
        self._compiled = compiled
        self._steps = steps
        self._until = time.monotonic() + TIME_LIMIT_SECONDS

    def __call__(self, text: str) -> Iterator[int]:
        seconds_left = min(self._until - time.monotonic(), self._steps.seconds_left())
        try:
            if seconds_left <= 0:
                raise TimeoutError
            for match in self._compiled.finditer(text, timeout=seconds_left):
                if match.end() > match.start():  # nothing is found by matching nothing
                    yield match.start()
        except TimeoutError:
            if not self._steps.in_time():
                return  # the next look at the time says what was left out
            raise UsageError(
                f"/{self._compiled.pattern}/ takes more than {TIME_LIMIT_SECONDS:g} s here. Make it more specific, or "
                "avoid nested repetitions."
            ) from None


def _assign_matches(
    matches: list[int], text: str, path: str, graph: CodeGraph, counter_by_node: dict[int, _MatchCounter]
) -> None:
    """Add the matches of one file to the nodes around them."""
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
        tally = counter_by_node.setdefault(node, _MatchCounter())
        row = bisect_right(newlines, at - 1) if at else 0
        if not tally.n:
            begin = newlines[row - 1] + 1 if row else 0
            end = newlines[row] if row < len(newlines) else len(text)
            tally.sample = " ".join(text[begin:end][: 4 * _MAX_SAMPLE_CHARACTERS].split())[:_MAX_SAMPLE_CHARACTERS]
        tally.n += 1
        if len(tally.rows) < _MAX_ROWS:
            tally.rows[row] = None
