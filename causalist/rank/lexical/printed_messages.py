"""Search for the definitions whose literals may print a message.

The score is how much of a message stands in the literals of a text, in the order in which a program prints it.

What a program fills in is in the message and not in the literal: `"no user %s in the shop"`, `f"no user {name}"`,
`"no user " + name + " in the shop"`. So a literal is a row of *segments*, the words between what is filled in, and a
message has it as far as it has the segments one after the other, each as a run of words.

For a message that a program printed, the definitions that may print it are found by their words alone.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph
from causalist.model.index import LexicalIndex
from causalist.model.node_ids import Role
from causalist.rank.lexical.bm25 import rarity
from causalist.rank.lexical.query_expansion import DEFINES
from causalist.rank.terms import STOP_WORDS, terms_of

_WORD = lazy_regex(r"\w+")
# One line of a literal, or several after a backslash, in back quotes or in triple quotes. A backslash
# matches one branch only: if it matched two, each of n backslashes would double the time of a literal that is too long.
_ONE = (
    r"(?<!\\)(?:\"\"\"(?:\\[\s\S]|(?!\"\"\")[^\\]){0,4000}\"\"\"|\"(?:\\[\s\S]|[^\"\\\n]){0,2000}\""
    r"|(?<!\w)'(?:\\[\s\S]|[^'\\\n]){0,2000}'|`(?:\\[\s\S]|[^`\\]){0,4000}`)"
)
_LITERAL = lazy_regex(_ONE)
# Text between literals that belong together: nothing, or an operator on both sides of a short expression.
_JOINT = lazy_regex(
    r"[\s\\]*(?:(?:\+|\.{1,2}|&|<<|<>)\s*(?P<filled>[^\s\"'`;{}][^\"'`;{}\n]{0,80}?\s*(?:\+|\.{1,2}|&|<<|<>)\s*)?)?"
    r"[frbuFRBU$@L]{0,2}"
)
_FILLED_IN = lazy_regex(
    r"%(?:\(\w+\)|\d+\$)?[-+ #0]*[\d.*]*(?:hh?|ll?|[zjtL])?[a-zA-Z]\b|%@"  # %s %5.2f %(name)s %1$s
    r"|[#$\\]?\{[^{}\n]*\}|\\\([^()\n]*\)"  # {} {0} {name} ${name} #{name} \(name)
    r"|\$[A-Za-z_]\w*(?:(?:->|\.)\w+)*|<[/\w][^<>\n]{0,60}>"  # $name $object->name <info>
)
_ESCAPE = lazy_regex(r"\\(?:[nrtbfv0ae]|u\{?[\da-fA-F]{1,6}\}?|x[\da-fA-F]{2}|\s+)")
_MIN_WORDS = 3  # words that a message and a literal share
_MIN_LITERAL_SHARE = 0.7  # of the words of a literal that are in the message
_MIN_LONG_RUN_WORDS = 5  # adjacent words; such a match is no chance, whatever the rest of the literal is
_MIN_SCATTERED_WORDS = 6  # words in order, with gaps, for which half of a literal is enough
_RUN_WINDOW_WORDS = 4  # words before and after a run in which the next run may begin
_EXTRA_WORDS_PENALTY = 0.4  # words; less than half a word, so that it decides between equal matches only
_BREAK_PENALTY = 0.3  # words; for each position where message and literal differ
_MAX_LITERAL_WORDS = 80  # words of a literal that are read


class LiteralMatch(NamedTuple):
    """A match of a message with a literal of a text.

    `weight`: the number of words that message and literal have in the same order, where a stop word counts a half.
    Subtracted are `_EXTRA_WORDS_PENALTY` times the share of the literal's words that the message does not have, and
    `_BREAK_PENALTY` for each place where the two go on with different words. `at`: the offset of the literal in the
    text.
    """

    weight: float
    at: int


def has_adjacent_pair(words: Sequence[str], text: str) -> bool:
    """Return True if two adjacent words of a message stand next to each other in a text.

    This holds for any literal that has some of the message. Most texts have no such pair, and this check is quicker
    than finding the literals.
    """
    lowered = text.lower()
    return any(f"{one} {other}" in lowered for one, other in pairwise(words))


def match_literals(words: Sequence[str], text: str) -> list[LiteralMatch]:
    """Return the literals of `text` that have much of a message, in order.

    `words`: the words of the message in lower case.
    """
    wanted = frozenset(words)
    positions_by_word: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        positions_by_word.setdefault(word, []).append(position)
    result = []
    for at, segments in _literals(text, wanted):
        weight = _ordered_weight(segments, words, positions_by_word)
        if weight > 0:
            result.append(LiteralMatch(weight, at))
    return result


def _literals(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield (offset, segments) of each literal that has enough words of `wanted`."""
    parts: list[str] = []
    start = end = -1
    for match in _LITERAL.finditer(text):
        joint = _JOINT.fullmatch(text, end, match.start()) if parts else None
        if joint:
            parts.append("\0" if joint["filled"] else "")
        else:
            if parts:
                yield from _segments(start, parts, wanted)
            parts, start = [], match.start()
        parts.append(match[0].strip("\"'`"))
        end = match.end()
    if parts:
        yield from _segments(start, parts, wanted)


def _segments(start: int, parts: list[str], wanted: frozenset[str]) -> Iterator[tuple[int, list[list[str]]]]:
    pattern = "".join(parts)
    if len(pattern) < 2 * _MIN_WORDS:
        return
    plain = _ESCAPE.sub(" ", _FILLED_IN.sub("\0", pattern))
    segments = [words for part in plain.split("\0") if (words := [w.lower() for w in _WORD.findall(part)])]
    if sum(word in wanted for words in segments for word in words) >= _MIN_WORDS:
        yield start, segments


def _ordered_weight(segments: list[list[str]], words: Sequence[str], positions_by_word: dict[str, list[int]]) -> float:
    """Return the weight of the words that segments and message have in the same order.

    The weight is 0 if there are too few such words.
    """
    n = n_meant = n_informative = n_informative_meant = longest = n_breaks = 0
    after = 0  # the first word of the message that no run has
    n_skipped = 0  # words of the literal since the last run
    for segment in segments:
        n_meant += len(segment)
        n_informative_meant += n_informative_words(segment)
        if n_meant > _MAX_LITERAL_WORDS:
            break
        n_consumed = 0  # words of the segment up to the end of its last run
        for run in _runs(segment, positions_by_word, after, len(words)):
            # A filled-in value has at least one word, at a position where the literal has none.
            is_filled_in = not n_consumed and not n_skipped and not run.first and run.end - run.length > after
            n_breaks += n > 0 and not is_filled_in
            n += run.length
            longest = max(longest, run.length)
            n_informative += n_informative_words(words[run.end - run.length : run.end])
            after, n_consumed, n_skipped = run.end, run.first + run.length, 0
        n_skipped += len(segment) - n_consumed
    is_long = longest >= _MIN_LONG_RUN_WORDS
    # "has no attribute 'parent'" does not match "has no attribute 'name'".
    is_mostly = n >= _MIN_LITERAL_SHARE * n_meant and n_informative >= _MIN_LITERAL_SHARE * n_informative_meant
    is_mostly = is_mostly or (n >= _MIN_SCATTERED_WORDS and 2 * n >= n_meant)
    if n < _MIN_WORDS or n_informative < (1 if is_long else 2) or not (is_long or is_mostly):
        return 0.0
    return (n + n_informative) / 2 - _EXTRA_WORDS_PENALTY * (1 - n / n_meant) - _BREAK_PENALTY * n_breaks


def n_informative_words(words: Iterable[str]) -> int:
    """Return the number of words that are not stop words.

    The words are in lower case. Stop words are said of everything.
    """
    return sum(word not in STOP_WORDS for word in words)


class _Run(NamedTuple):
    """Adjacent words that a segment, from `first` on, and a message, before `end`, have in common."""

    length: int
    first: int
    end: int


def _runs(segment: list[str], positions_by_word: dict[str, list[int]], after: int, n_words: int) -> list[_Run]:
    """Return the longest common run of a segment and a message, and the runs near it.

    The run begins at the word `after` of the message or later. A message of another version may have a word more, a
    word less or another word, so that the match continues before and after the longest run.
    """
    best = _longest_run(segment, positions_by_word, after, n_words)
    if not best.length:
        return []
    runs = [best]
    while True:
        n_consumed, end = runs[-1].first + runs[-1].length, runs[-1].end
        further = _longest_run(
            segment[n_consumed : n_consumed + _RUN_WINDOW_WORDS], positions_by_word, end, end + _RUN_WINDOW_WORDS
        )
        if not further.length:
            break
        runs.append(further._replace(first=n_consumed + further.first))
    while True:
        low, begin = max(runs[0].first - _RUN_WINDOW_WORDS, 0), runs[0].end - runs[0].length
        before = _longest_run(
            segment[low : runs[0].first], positions_by_word, max(begin - _RUN_WINDOW_WORDS, after), begin
        )
        if not before.length:
            return runs
        runs.insert(0, before._replace(first=low + before.first))


def _longest_run(segment: Sequence[str], positions_by_word: dict[str, list[int]], begin: int, end: int) -> _Run:
    """Return the longest run of a segment that lies between the words `begin` and `end` of a message.

    Among equally long runs, the first one in the message is returned.
    """
    best = _Run(0, 0, 0)
    runs: dict[int, int] = {}
    for number, word in enumerate(segment):
        at = positions_by_word.get(word, ())
        positions = at[bisect_left(at, begin) : bisect_left(at, end)]
        runs = {position: runs.get(position - 1, 0) + 1 for position in positions}
        for position, length in runs.items():
            if length > best.length or (length == best.length and position + 1 < best.end):
                best = _Run(length, number - length + 1, position + 1)
    return best


_MAX_MESSAGE_WORDS = 64  # words of a message that are read
# Rarest words of a message by which definitions are searched; further words only while the definitions are few.
_MIN_RARE_WORDS = 3
_MAX_CANDIDATES = 4_000
_MIN_RUN_WORDS = 2  # adjacent words of a message in a definition
_LENGTH_PENALTY = 0.25  # of 0, 0.25 and 1 the best on development questions, see docs/decisions/0028


def message_terms(text: str) -> list[str]:
    """Return the words of a message in lower case."""
    return [word.lower() for word in _WORD.findall(text)[:_MAX_MESSAGE_WORDS]]


def find_printers(text: str, graph: CodeGraph, lexical: LexicalIndex, most: int) -> list[int]:
    """Return at most `most` definitions that have adjacent words of a message, best first.

    This does not check if the message is really in the text of a definition; `match_literals` does that.

    A run of words that a definition has counts by its rarity times its length: a definition of many words has more
    words of any message, but not in long runs. For the same reason the score of a long definition is reduced.

    Tests are left out, because they repeat messages and do not print them. Other nodes that repeat messages
    (`find_repeaters`) follow, at most a quarter as many: a message may be stored outside the code.
    """
    postings = lexical.definitions
    numbers = [_rarest_term(word, lexical) for word in _WORD.findall(text)[:_MAX_MESSAGE_WORDS]]
    known_numbers = sorted(
        {n for n in numbers if n >= 0}, key=lambda n: (int(postings.indptr[n + 1] - postings.indptr[n]), n)
    )
    position = np.full(len(graph.nodes), -1, dtype=np.int32)
    n_considered = 0
    for place, number in enumerate(known_numbers):
        documents = _documents_with(lexical, number)
        if place >= _MIN_RARE_WORDS and n_considered + len(documents) > _MAX_CANDIDATES:
            break
        position[documents] = 0
        n_considered += len(documents)
    considered = np.flatnonzero((position == 0) & (graph.nodes.roles != Role.TEST))
    if not len(considered):
        return []
    position[:] = -1
    position[considered] = np.arange(len(considered))
    run, weight, longest, score = (np.zeros(len(considered)) for _ in range(4))
    rarities = {number: rarity(postings, number) for number in known_numbers}
    for number in [*numbers, -1]:  # the end of the message ends a run
        has = np.zeros(len(considered), dtype=np.bool_)
        if number >= 0:
            at = position[_documents_with(lexical, number)]
            has[at[at >= 0]] = True
        ends = ~has & (run > 0)
        score += np.where(ends & (run > 1), weight * run, 0.0)
        longest = np.maximum(longest, run)
        run = np.where(has, run + 1, 0.0)
        weight = np.where(has, weight + rarities.get(number, 0.0), 0.0)
    candidates = np.flatnonzero(longest >= _MIN_RUN_WORDS)
    score = score[candidates] / (1.0 + _LENGTH_PENALTY * np.log1p(postings.norms[considered[candidates]]))
    best = considered[candidates][np.lexsort((considered[candidates], -np.round(score, 9)))]
    is_other = find_repeaters(graph)[best]
    return [*best[~is_other][:most].tolist(), *best[is_other][: most // 4].tolist()]


def find_repeaters(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return True for the nodes that contain messages but do not print them, shape (n_nodes,).

    These are pages, examples, and files without definitions, such as translations and settings.
    """
    nodes = graph.nodes
    defines = np.zeros(len(nodes), dtype=np.bool_)
    is_in_file = nodes.files >= 0
    defines[nodes.files[is_in_file & DEFINES[nodes.kinds]]] = True
    return np.isin(nodes.roles, [Role.DOCS, Role.EXAMPLE]) | ~(is_in_file & defines[np.maximum(nodes.files, 0)])


def _rarest_term(word: str, lexical: LexicalIndex) -> int:
    """Return the number of the rarest term of a word, or -1 if no definition has it.

    For a word of several parts this is the term of the whole word.
    """
    terms = terms_of(word)
    return lexical.terms.position(terms[-1]) if terms else -1


def _documents_with(lexical: LexicalIndex, number: int) -> NDArray[np.int32]:
    postings = lexical.definitions
    return postings.documents[int(postings.indptr[number]) : int(postings.indptr[number + 1])]
