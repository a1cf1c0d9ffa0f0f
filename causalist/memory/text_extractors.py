"""Entities of a text, by patterns or by a loaded spaCy pipeline.

Patterns work offline, fast and for any text, but plain nouns are not found. They apply in this order: code spans, IRIs,
dates, measures, identifiers, capitalized phrases. Text that one pattern matched is hidden from later ones. All patterns
are bounded, so that time is proportional to the text length.

`SpacyEntityExtractor(spacy.load("en_core_web_sm"))` uses spaCy. It and its models are not dependencies: the protocols
here cover the attributes that are used.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from causalist.memory.entities import Entity, Extraction, normalize_extraction
from causalist.rank.terms import STOP_WORDS

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_UNIT = (
    r"(?:%|°[CF]|[kKMGT]i?B|bytes?|bits?|[kmcµ]?m|km/h|[kmµ]?g|[mµn]?s|[kMG]?Hz|[kMG]?W|[km]?V|mA|min(?:utes?)?"
    r"|seconds?|hours?|days?|weeks?|months?|years?|(?:milli|micro|nano)seconds?|(?:kilo|mega|giga)bytes?|percent|mmHg"
    r"|mg/dL|px|pt)"
)
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("identifier", re.compile(r"(?<!`)(`{1,2})(?!`)(?P<name>[^`\n]{2,80}?)\1(?!`)")),
    ("iri", re.compile(r"\b(?P<name>(?:https?|ftp|urn|file|mailto|doi):[^\s<>\"'`)\]}]{3,200})")),
    (
        "date",
        re.compile(
            rf"\b(?P<name>\d{{4}}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?|\d{{1,2}} {_MONTH} \d{{4}}"
            rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|{_MONTH} \d{{4}}|\d{{1,2}}/\d{{1,2}}/\d{{4}})\b"
        ),
    ),
    ("measure", re.compile(rf"(?<![\w.])(?P<name>\d{{1,9}}(?:[.,]\d{{1,6}})?[ -]?{_UNIT})(?![\w])")),
    (
        "identifier",
        re.compile(
            r"(?<![\w.])(?P<name>[A-Za-z_][\w]{0,60}(?:(?:\.|::|->|/)[A-Za-z_]\w{0,60}){1,6}(?:\(\))?"  # a.b, a::b, a/b
            r"|[A-Za-z]\w{0,60}\(\)"  # call()
            r"|[a-z]+[A-Z]\w{0,60}|[A-Z][a-z0-9]+[A-Z]\w{0,60}"  # camelCase, PascalCase
            r"|[A-Za-z]\w{0,60}_\w{1,60}|__\w{1,60}__"  # with_underscores
            r"|--?[a-z][a-z0-9]+(?:-[a-z0-9]+){0,6})(?![\w])"  # --option
        ),
    ),
    (
        "entity",
        re.compile(
            r"(?<![\w'’])(?P<name>(?:[0-9]*[A-Z])++[\w+#'’-]{0,40}(?:[ \t]+(?:(?:of|the|de|la|van|von)[ \t]+){0,2}"
            r"(?:[0-9]*[A-Z])++[\w+#'’-]{0,40}|[ \t]+\d[\d.]{0,8}(?![\w])){0,5})"
        ),
    ),
)
_SENTENCE_START = re.compile(r"(?:[.!?:;]['\")\]]?\s+|(?:^|\n)\s*(?:[-*+>#=]+|\d+[.)])?\s*|[|\"“(]\s*)$")
_PLAIN_SPAN = re.compile(r"[\w.:/@#+<>()\[\],=*$%-]+(?: [\w.:/@#+<>()\[\],=*$%-]+){0,3}$")
_NEVER_ENTITIES = frozenset(
    {"i", "ii", "iii", "a", "the", "note", "see", "example", "todo", "warning", "tip", "true", "false", "none"}
)
_MONTH_ALONE = re.compile(rf"{_MONTH}$")


class RegexEntityExtractor:
    """Finds entities by patterns.

    >>> found = RegexEntityExtractor()("Alice Smith sets `max_age` to 24 hours for the JWT at Acme Corp on 2024-05-01.")
    >>> [(e.name, e.type) for e in found.entities][:3]
    [('Alice Smith', 'entity'), ('max_age', 'identifier'), ('24 hours', 'measure')]
    >>> [(e.name, e.type) for e in found.entities][3:]
    [('JWT', 'entity'), ('Acme Corp', 'entity'), ('2024-05-01', 'date')]
    """

    version = "regex-1"

    def __call__(self, text: str) -> Extraction:
        """Return the entities of a text."""
        found = sorted(_find_entities(text), key=lambda entity: entity.start)
        return normalize_extraction(Extraction(tuple(found)))


def _find_entities(text: str) -> Iterator[Entity]:
    left = text
    for kind, pattern in _PATTERNS:
        matched_spans: list[tuple[int, int]] = []
        capitals: list[tuple[str, int, bool]] = []
        for match in pattern.finditer(left):
            name, start = match["name"], match.start("name")
            if kind == "entity":
                capitals += _split_phrase(name, start, left)
                continue
            if kind == "identifier" and match[0].startswith("`") and not _PLAIN_SPAN.match(name):
                continue
            matched_spans.append(match.span())
            name = name.rstrip(".,;:") if kind == "iri" else name.strip()
            yield Entity(name, kind, start)
        if kind == "entity":
            yield from _confirm_capitals(capitals)
        if matched_spans:
            parts, end = [], 0
            for first, last in matched_spans:
                # A zero byte separates the text around a match: a phrase does not continue across it.
                parts += [left[end:first], "\x00" * (last - first)]
                end = last
            left = "".join([*parts, left[end:]])


def _split_phrase(name: str, start: int, text: str) -> Iterator[tuple[str, int, bool]]:
    """Yield (phrase, start, True if its capital may come from the start of a sentence), without outer stop words."""
    words = re.split(r"([ \t]+)", name)
    while words and (words[0].strip() == "" or words[0].lower() in STOP_WORDS or words[0].lower() in _NEVER_ENTITIES):
        start += len(words.pop(0))
    while words and (
        words[-1].strip() == "" or words[-1].lower() in STOP_WORDS or words[-1].lower() in _NEVER_ENTITIES
    ):
        words.pop()
    phrase = "".join(words)
    phrase = re.sub(r"['’]s?$", "", phrase)
    if not phrase or _MONTH_ALONE.match(phrase):
        return
    alone = len(words) == 1 and phrase[1:].islower()
    yield phrase, start, alone and bool(_SENTENCE_START.search(text[max(0, start - 12) : start]))


def _confirm_capitals(found: list[tuple[str, int, bool]]) -> Iterator[Entity]:
    """Yield phrases as entities. A capitalized word at the start of a sentence must be capitalized elsewhere too."""
    elsewhere = {phrase for phrase, _, unsure in found if not unsure}
    for phrase, start, unsure in found:
        if not unsure or phrase in elsewhere:
            yield Entity(phrase, "entity", start)


_TYPES = {
    "PERSON": "person",
    "NORP": "org",
    "ORG": "org",
    "GPE": "location",
    "LOC": "location",
    "FAC": "location",
    "EVENT": "event",
    "PRODUCT": "artifact",
    "WORK_OF_ART": "artifact",
    "LAW": "artifact",
    "DATE": "date",
    "TIME": "date",
    "PERCENT": "measure",
    "MONEY": "measure",
    "QUANTITY": "measure",
}
_LEFT_OUT = frozenset({"CARDINAL", "ORDINAL"})  # plain numbers link no passages


class Span(Protocol):
    """Used attributes of a spaCy span."""

    text: str
    label_: str
    start_char: int


class Parsed(Protocol):
    """Used attributes of a spaCy document."""

    @property
    def ents(self) -> Iterable[Span]:
        """Spans of named entities."""


class SpacyEntityExtractor:
    """Named entities of a spaCy pipeline; unknown labels become concepts."""

    def __init__(self, nlp: Callable[[str], Parsed]) -> None:
        """Create an extractor for a loaded pipeline."""
        self._nlp = nlp

    def __call__(self, text: str) -> Extraction:
        """Return the entities of a text."""
        found = (
            Entity(span.text, _TYPES.get(span.label_, "concept"), span.start_char)
            for span in self._nlp(text).ents
            if span.label_ not in _LEFT_OUT
        )
        return normalize_extraction(Extraction(tuple(found)))
