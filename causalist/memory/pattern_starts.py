"""Places of a text where a pattern can begin, found for the whole text at once, and phrases that are names.

A regular expression that starts with a choice is tried at every character. Most characters cannot begin a match, and
their classes show that: a date begins at the start of a word, with a digit or the name of a month. `match_at` tries a
pattern at such places alone. The places are a superset of those of all matches, so that the matches are the same as
those of `finditer`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.rank.terms import STOP_WORDS

Positions = NDArray[np.int64]

_WORD, _DECIMAL, _LOWER, _UPPER, _DIGIT, _DOT, _QUOTE, _UNDERSCORE = (1 << k for k in range(8))
_PAGE = 256
_N_PAGES = 0x110000 // _PAGE
# Classes of all characters as the module `re` has them, page by page when a text first needs one.
_classes = np.zeros(0x110000, dtype=np.uint8)
_is_known = np.zeros(_N_PAGES, dtype=np.bool_)
_MONTHS = np.array(
    sorted(sum(ord(c) << 8 * k for k, c in enumerate(name)) for name in
           ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")),
    dtype=np.uint32,
)  # fmt: skip
_SCHEME_ENDS = np.array(sorted({ord(name[-1]) for name in ("http", "https", "ftp", "urn", "file", "mailto", "doi")}))


class Starts(NamedTuple):
    """Ascending places of a text where a pattern can begin, in the order of the patterns."""

    spans: Positions
    iris: Positions
    dates: Positions
    measures: Positions
    identifiers: Positions
    capitals: Positions


def find_starts(text: str) -> Starts:
    """Return the places of a text where patterns can begin."""
    latin = text.encode("latin-1", "replace")  # a byte a character, "?" for what is not Latin-1
    codes = np.frombuffer(latin, dtype=np.uint8)
    classes = np.zeros(len(codes) + 2, dtype=np.uint8)
    classes[1:-1] = np.frombuffer(latin.translate(_LATIN_CLASSES), dtype=np.uint8)
    if not text.isascii():
        unknown = np.flatnonzero(codes == ord("?"))
        classes[1 + unknown] = _classify(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")[unknown])
    own, before, after = classes[1:-1], classes[:-2], classes[2:]
    is_word = (own & _WORD) > 0
    is_first = is_word & ((before & _WORD) == 0)
    is_letter = (own & (_LOWER | _UPPER | _UNDERSCORE)) > 0
    is_upper = (own & _UPPER) > 0
    follows_word = (before & _WORD) > 0
    precedes_letter = (after & (_LOWER | _UPPER | _UNDERSCORE)) > 0
    firsts = np.flatnonzero(is_first)
    digits = firsts[(own[firsts] & _DECIMAL) > 0]
    uppers = firsts[is_upper[firsts]]

    triples = uppers[uppers + 2 < len(codes)]
    first, second, third = (codes[triples + k].astype(np.uint32) for k in range(3))
    key = first | second << 8 | third << 16
    dates = _join(digits, triples[np.isin(key, _MONTHS)])
    measures = digits[(before[digits] & _DOT) == 0]

    marks = np.flatnonzero((own == 0) | (own == _DOT))  # no letters, digits, quotes
    marks = marks[(marks > 0) & (marks < len(codes) - 1)]
    mark, left, right = codes[marks], codes[marks - 1], codes[np.minimum(marks + 1, len(codes) - 1)]
    iris = _last(firsts, marks[(mark == ord(":")) & np.isin(left, _SCHEME_ENDS)])

    has_joint = ((mark == ord(".")) | (mark == ord("/"))) & follows_word[marks]
    has_joint |= (mark == ord(":")) & (left == ord(":")) | (mark == ord(">")) & (left == ord("-"))
    has_call = (mark == ord("(")) & (right == ord(")")) & follows_word[marks]
    is_option = (mark == ord("-")) & ((before[marks] & (_WORD | _DOT)) == 0)
    is_option &= (right == ord("-")) | ((after[marks] & _LOWER) > 0)
    is_hump = is_upper & ((before & (_LOWER | _DIGIT)) > 0)
    anchors = _join(
        marks[has_joint & precedes_letter[marks] | has_call],
        np.flatnonzero(is_hump | ((own & _UNDERSCORE) > 0)),
    )
    heads = firsts[is_letter[firsts] & ((before[firsts] & _DOT) == 0)]
    options = np.flatnonzero(codes[:1] == ord("-"))
    identifiers = _join(_join(_last(heads, anchors), marks[is_option]), options)

    numbered = np.flatnonzero(is_upper & ((before & _DIGIT) > 0))
    capitals = _join(uppers, _last(firsts, numbered))
    capitals = capitals[(before[capitals] & _QUOTE) == 0]
    return Starts(np.flatnonzero(codes == ord("`")), iris, dates, measures, identifiers, capitals)


def group_matches(pattern: re.Pattern[str], text: str, starts: Positions) -> dict[str, list[int]]:
    """Return the first characters of the matches of `match_at`, by what they match; `pattern` is that of phrases."""
    end = 0
    match = pattern.match
    found: defaultdict[str, list[int]] = defaultdict(list)
    for start, stop in zip(starts.tolist(), _find_stops(text, starts).tolist(), strict=True):
        if start < end:
            continue
        if stop:
            end = stop
            found[text[start:end]].append(start)
        elif (next_match := match(text, start)) is not None:
            end = next_match.end()
            found[next_match[0]].append(start)
    return found


def _find_stops(text: str, starts: Positions) -> Positions:
    """Return the ends of plain phrases that begin at these places, 0 for what the pattern has to decide.

    A plain phrase has up to six capitalized words of ASCII letters with single spaces between them, and behind it
    nothing that could be a part of it.
    """
    codes = np.frombuffer(text.encode("latin-1", "replace") + b"\0\0\0", dtype=np.uint8)
    kinds = _PHRASE_KINDS[codes]
    others = np.flatnonzero((kinds & _ASCII_LETTER) == 0)
    ends = others[np.searchsorted(others, starts)]
    is_plain = (codes[starts] >= ord("A")) & (codes[starts] <= ord("Z")) & (ends - starts <= _MAX_WORD)
    is_plain &= (kinds[starts - 1] & _ALLOWED_BEFORE) > 0  # before the first character is the last one, a zero
    is_space = codes[ends] == ord(" ")
    is_linked = np.zeros(len(starts), dtype=np.bool_)
    is_linked[:-1] = is_plain[:-1] & is_space[:-1] & is_plain[1:] & (starts[1:] == ends[:-1] + 1)
    first, second = codes[ends + is_space], codes[ends + is_space + 1].astype(np.uint16)
    may_join = np.isin(first.astype(np.uint16) << 8 | second, _CONNECTOR_STARTS)
    is_last = is_plain & ~is_linked & np.where(
        is_space, ((_PHRASE_KINDS[first] & _ENDS_BEHIND_SPACE) > 0) & ~may_join, (kinds[ends] & _ENDS_WORD) > 0
    )  # fmt: skip
    lasts = np.flatnonzero(~is_linked)
    of = lasts[np.searchsorted(lasts, np.arange(len(starts)))]
    return np.where(is_last[of] & (of - np.arange(len(starts)) < _MAX_WORDS), ends[of], 0)


_ASCII_LETTER, _ENDS_WORD, _ENDS_BEHIND_SPACE, _ALLOWED_BEFORE = 1, 2, 4, 8
_MAX_WORD, _MAX_WORDS = 41, 6  # characters of a word, words of a phrase
_CONNECTOR_STARTS = np.array([ord(a) << 8 | ord(b) for a, b in ("of", "th", "de", "la", "va", "vo")], dtype=np.uint16)


def _list_phrase_kinds() -> Iterator[int]:
    """Yield what a byte of Latin-1 says about phrases; "?" may be any other character."""
    for character in map(chr, range(256)):
        is_sure = character.isascii() and character != "?"
        kind = _ASCII_LETTER if character.isascii() and character.isalpha() else 0
        kind |= _ENDS_WORD if is_sure and not (character.isalnum() or character in "_+#'- \t") else 0
        is_end = is_sure and (character.islower() or not (character.isalnum() or character in " \t"))
        kind |= _ALLOWED_BEFORE if is_sure and not (character.isalnum() or character in "_'") else 0
        yield kind | (_ENDS_BEHIND_SPACE if is_end else 0)


_PHRASE_KINDS = np.fromiter(_list_phrase_kinds(), dtype=np.uint8, count=256)


def match_at(pattern: re.Pattern[str], text: str, starts: Positions) -> Iterator[re.Match[str]]:
    """Yield the matches that begin at one of the ascending places and do not overlap, as `finditer` does."""
    end = 0
    match = pattern.match
    for start in starts.tolist():
        if start >= end and (next_match := match(text, start)) is not None:
            end = next_match.end()
            yield next_match


def with_places(starts: Positions, more: list[int]) -> Positions:
    """Return the places and some more, ascending."""
    return _join(starts, np.array(more, dtype=np.int64)) if more else starts


def _classify(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    pages = np.bincount(codes[codes >= _PAGE] // _PAGE, minlength=1) > 0
    pages[0] = True
    for page in np.flatnonzero(pages & ~_is_known[: len(pages)]).tolist():
        _classes[page * _PAGE : (page + 1) * _PAGE] = [_class_of(chr(page * _PAGE + k)) for k in range(_PAGE)]
        _is_known[page] = True
    return np.asarray(_classes[codes], dtype=np.uint8)


def _class_of(character: str) -> int:
    classes = _WORD if character.isalnum() or character == "_" else 0
    classes |= _DECIMAL if character.isdecimal() else 0
    classes |= _UPPER if character.isupper() else 0
    if character.isascii():
        classes |= _LOWER if character.islower() else _DIGIT if character.isdigit() else 0
    classes |= _DOT if character == "." else 0
    classes |= _QUOTE if character in "'’" else 0
    return classes | (_UNDERSCORE if character == "_" else 0)


_LATIN_CLASSES = bytes(map(_class_of, map(chr, range(256))))


def _join(one: Positions, other: Positions) -> Positions:
    return _distinct(np.sort(np.concatenate([one, other]))) if len(other) else one


def _last(starts: Positions, anchors: Positions) -> Positions:
    """Return the distinct last starts at or before the anchors."""
    at = np.searchsorted(starts, anchors, side="right") - 1
    return _distinct(starts[at[at >= 0]])


def _distinct(ascending: Positions) -> Positions:
    return ascending[np.concatenate([[True], ascending[1:] != ascending[:-1]])] if len(ascending) else ascending


def _list_capitals() -> str:
    """Return the capitals outside ASCII for a class of a pattern: Latin, Greek, Cyrillic and Armenian."""
    codes = [code for code in (*range(0xC0, 0x588), *range(0x1E00, 0x2000)) if chr(code).isupper()]
    return "".join(map(chr, codes))


CAPITALS = f"[A-Z{_list_capitals()}]"
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_SENTENCE_START = re.compile(r"(?:[.!?:;]['\")\]]?\s+|(?:^|\n)\s*(?:[-*+>#=]+|\d+[.)])?\s*|[|\"“„«(¿¡]\s*)$")
# Words of a closed class that a sentence begins with, in front of a name: articles, prepositions, conjunctions and
# pronouns of languages in Cyrillic and Greek letters. Those in Latin letters are parts of too many names.
_CYRILLIC_AND_GREEK = """
а але али або без бо в вас ваш ви во все всё всі вы він вона вони где да де для до его ее если ещё за зі з и из или
им их й к как какая какие какой какво каква когда когато кога ко коли кто куда кой коя кои між мой моя мы на над
наш наша не него ни но о об обо од он она они оно от под после перед по при про с са сам се со су та так также
також там те тези тази това този той тот ту тя у хто це цей ця ці через что чи чому чья чье чей чьи що эта эти это
этот я які який яка є і із її ο η το οι τα του της των τον την τους τις τη στο στη στην στον στα στους στις ένας
ένα μια μία και ή αλλά σε με για από προς κατά μετά πριν χωρίς ως που πως πώς ποιος ποια ποιο ποιοι τι πού πότε αν
όταν όπως αυτός αυτή αυτό αυτοί εμείς εσείς δεν μη μην θα να είναι ήταν
"""
_NEVER_ENTITIES = frozenset(
    {"i", "ii", "iii", "a", "the", "note", "see", "example", "todo", "warning", "tip", "true", "false", "none",
     "mr", "mrs", "ms", "dr", "prof", "sir"}
).union(_CYRILLIC_AND_GREEK.split())  # fmt: skip
_COPULA = re.compile(r"[ \t]+(?:is|was|has)\b")  # not "are", "were": a plural is seldom a name
_NO_SUBJECTS = frozenset(
    {"all", "another", "any", "anyone", "anything", "both", "each", "either", "everyone", "everything", "few",
     "here", "many", "more", "most", "much", "neither", "nobody", "none", "nothing", "one", "others", "several",
     "some", "someone", "something", "such", "that", "there", "these", "this", "those", "what", "which", "who"}
)  # fmt: skip
_MONTH_ALONE = re.compile(rf"{MONTH}$")
_MONTH_STARTS = frozenset(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"))
_SPACES = re.compile(r"([ \t]+)")
_MAX_OUTER_WORDS = 50_000


def trim_phrases(starts: Mapping[str, list[int]], text: str) -> dict[str, list[int]]:
    """Return first characters by name: of capitalized phrases, given in the same way, without outer stop words.

    A capitalized word at the start of a sentence must be capitalized elsewhere too, or be what the sentence is about.
    """
    trimmed: dict[str, list[int]] = {}
    plain: list[str] = []  # of one word, in lower case but for the first character
    for name, firsts in starts.items():
        words, phrase = name.split() if " " in name or "\t" in name else (name,), name
        n_words = len(words)
        if _OUTER_WORDS[words[0]] or (n_words > 1 and _OUTER_WORDS[words[-1]]):
            pieces, skipped = _SPACES.split(name), 0
            while pieces and _OUTER_WORDS[pieces[0]]:
                skipped += len(pieces.pop(0))
            while pieces and _OUTER_WORDS[pieces[-1]]:
                pieces.pop()
            phrase, n_words = "".join(pieces), len(pieces)
            firsts = [first + skipped for first in firsts]
        if phrase.endswith(("'", "’", "'s", "’s")):
            phrase = phrase.removesuffix("s")[:-1]
        if not phrase or (n_words == 1 and phrase[:3] in _MONTH_STARTS and _MONTH_ALONE.match(phrase)):
            continue
        if phrase in trimmed:
            trimmed[phrase] = trimmed[phrase] + firsts
            continue
        trimmed[phrase] = firsts
        if n_words == 1 and phrase[1:].islower():
            plain.append(phrase)
    for phrase in plain:
        n = len(phrase)
        for i in trimmed[phrase]:
            if i > 1 and text[i - 1] == " " and text[i - 2].isalpha():
                break  # most words are inside of a sentence
            if not _SENTENCE_START.search(text[max(0, i - 12) : i]) or _is_subject(phrase, text[i + n : i + n + 12]):
                break
        else:
            del trimmed[phrase]
    return trimmed


class _OuterWords(dict[str, bool]):
    """True by word for space, and for a word that a name does not begin or end with."""

    def __missing__(self, word: str) -> bool:
        is_outer = (lower := word.lower()) in STOP_WORDS or lower in _NEVER_ENTITIES or word.isspace() or not word
        if len(self) < _MAX_OUTER_WORDS:
            self[word] = is_outer
        return is_outer


_OUTER_WORDS = _OuterWords()


def _is_subject(word: str, following: str) -> bool:
    """Return True if a word that a sentence begins with is what the sentence is about: "Python is a language"."""
    return len(word) > 2 and word.lower() not in _NO_SUBJECTS and bool(_COPULA.match(following))
