"""How much of a message stands in the literals of a text, in the order in which a program prints it.

What a program fills in is in the message and not in the literal: `"no user %s in the shop"`, `f"no user {name}"`,
`"no user " + name + " in the shop"`. So a literal is a row of *segments*, the words between what is filled in, and a
message has it as far as it has the segments one after the other, each as a run of words.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from causalist._internal.lazy import expression
from causalist.rank.terms import STOP_WORDS

_WORD = expression(r"\w+")
# One line of a literal; what is continued by a backslash goes on, and so do back quotes and triple quotes.
_ONE = (
    r"(?<!\\)(?:\"\"\"(?:\\[\s\S]|(?!\"\"\")[\s\S]){0,4000}\"\"\"|\"(?:\\[\s\S]|[^\"\\\n]){0,2000}\""
    r"|(?<!\w)'(?:\\[\s\S]|[^'\\\n]){0,2000}'|`(?:\\[\s\S]|[^`\\]){0,4000}`)"
)
_LITERAL = expression(_ONE)
# What joins literals: nothing, or an operator on both sides of something short.
_JOINT = expression(
    r"[\s\\]*(?:(?:\+|\.{1,2}|&|<<|<>)\s*(?P<filled>[^\s\"'`;{}][^\"'`;{}\n]{0,80}?\s*(?:\+|\.{1,2}|&|<<|<>)\s*)?)?"
    r"[frbuFRBU$@L]{0,2}"
)
_FILLED_IN = expression(
    r"%(?:\(\w+\)|\d+\$)?[-+ #0]*[\d.*]*(?:hh?|ll?|[zjtL])?[a-zA-Z]\b|%@"  # %s %5.2f %(name)s %1$s
    r"|[#$\\]?\{[^{}\n]*\}|\\\([^()\n]*\)"  # {} {0} {name} ${name} #{name} \(name)
    r"|\$[A-Za-z_]\w*(?:(?:->|\.)\w+)*|<[/\w][^<>\n]{0,60}>"  # $name $object->name <info>
)
_ESCAPE = expression(r"\\(?:[nrtbfv0ae]|u\{?[\da-fA-F]{1,6}\}?|x[\da-fA-F]{2}|\s+)")
_FEWEST = 3  # words of a message that a literal has
_MOSTLY = 0.7  # of the words of a literal that are in the message
_LONG_RUN = 5  # words that stand together by no accident, whatever else the literal says
_MANY = 6  # words in order, with gaps, for which half of a literal is enough
_NEAR = 4  # words around which a run goes on
_SAYS_MORE = 0.4  # less than half a word: of equal literals the one that says nothing else counts
_BREAK = 0.3  # where message and literal go on with other words
_MOST_MEANT = 80  # words of a literal that are read


class Said(NamedTuple):
    """`weight`: the words of a message that a literal has in order, those that are said of everything counting a half,
    less `_SAYS_MORE` times the share of its words that the message does not have, and `_BREAK` for each place where
    they go on with other words; `at`: where in the text it begins."""

    weight: float
    at: int


def has_pair(words: Sequence[str], text: str) -> bool:
    """Whether two words of a message stand together in a text, as in any literal that has some of it. Most texts have
    none, and to look is quicker than to find the literals."""
    lowered = text.lower()
    return any(f"{one} {other}" in lowered for one, other in pairwise(words))


def said_in(words: Sequence[str], text: str) -> list[Said]:
    """The literals of `text` that have much of a message, `words` in small letters, in order."""
    wanted = frozenset(words)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    found = []
    for at, segments in _literals(text, wanted):
        weight = _in_order(segments, words, places)
        if weight > 0:
            found.append(Said(weight, at))
    return found


def _literals(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, list[list[str]]]]:
    """(where it begins, its segments) of each literal that has words enough of `wanted`."""
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
    whole = "".join(parts)
    if len(whole) < 2 * _FEWEST:
        return
    plain = _ESCAPE.sub(" ", _FILLED_IN.sub("\0", whole))
    segments = [words for part in plain.split("\0") if (words := [w.lower() for w in _WORD.findall(part)])]
    if sum(word in wanted for words in segments for word in words) >= _FEWEST:
        yield start, segments


def _in_order(segments: list[list[str]], words: Sequence[str], places: dict[str, list[int]]) -> float:
    """The weight of the words that segments and message have in order, 0 where they are too few."""
    n = n_meant = n_telling = n_telling_meant = longest = n_breaks = 0
    after = 0  # the first word of the message that is not taken yet
    n_skipped = 0  # words of the literal since the last run
    for segment in segments:
        n_meant += len(segment)
        n_telling_meant += n_telling_in(segment)
        if n_meant > _MOST_MEANT:
            break
        taken = 0  # words of the segment
        for run in _runs(segment, places, after, len(words)):
            # What is filled in is a word at least, and stands where the literal has none.
            is_filled_in = not taken and not n_skipped and not run.first and run.end - run.length > after
            n_breaks += n > 0 and not is_filled_in
            n += run.length
            longest = max(longest, run.length)
            n_telling += n_telling_in(words[run.end - run.length : run.end])
            after, taken, n_skipped = run.end, run.first + run.length, 0
        n_skipped += len(segment) - taken
    is_long = longest >= _LONG_RUN
    # "has no attribute 'parent'" is not said by "has no attribute 'name'".
    is_mostly = n >= _MOSTLY * n_meant and n_telling >= _MOSTLY * n_telling_meant
    is_mostly = is_mostly or (n >= _MANY and 2 * n >= n_meant)
    if n < _FEWEST or n_telling < (1 if is_long else 2) or not (is_long or is_mostly):
        return 0.0
    return (n + n_telling) / 2 - _SAYS_MORE * (1 - n / n_meant) - _BREAK * n_breaks


def n_telling_in(words: Iterable[str]) -> int:
    """How many of some words, in small letters, are not said of everything."""
    return sum(word not in STOP_WORDS for word in words)


class _Run(NamedTuple):
    """Words that a segment, from `first` on, and a message, before `end`, have one after the other."""

    length: int
    first: int
    end: int


def _runs(segment: list[str], places: dict[str, list[int]], after: int, n_words: int) -> list[_Run]:
    """The longest run that a segment has with the words of a message from `after` on, and what goes on before and after
    it: a message of another version has a word more, less or another one."""
    best = _longest_run(segment, places, after, n_words)
    if not best.length:
        return []
    runs = [best]
    while True:
        taken, end = runs[-1].first + runs[-1].length, runs[-1].end
        further = _longest_run(segment[taken : taken + _NEAR], places, end, end + _NEAR)
        if not further.length:
            break
        runs.append(further._replace(first=taken + further.first))
    while True:
        low, begin = max(runs[0].first - _NEAR, 0), runs[0].end - runs[0].length
        before = _longest_run(segment[low : runs[0].first], places, max(begin - _NEAR, after), begin)
        if not before.length:
            return runs
        runs.insert(0, before._replace(first=low + before.first))


def _longest_run(segment: Sequence[str], places: dict[str, list[int]], begin: int, end: int) -> _Run:
    """The longest run of a segment that a message has between its words `begin` and `end`; of equal ones the first in
    the message."""
    best = _Run(0, 0, 0)
    runs: dict[int, int] = {}
    for number, word in enumerate(segment):
        at = places.get(word, ())
        inside = at[bisect_left(at, begin) : bisect_left(at, end)]
        runs = {place: runs.get(place - 1, 0) + 1 for place in inside}
        for place, length in runs.items():
            if length > best.length or (length == best.length and place + 1 < best.end):
                best = _Run(length, number - length + 1, place + 1)
    return best
