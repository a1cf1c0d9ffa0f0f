"""Entities and triples of a text: by patterns, by a loaded spaCy pipeline, or by a model of the `llm` library.

The id of an entity is its normalized name with underscores for spaces: `JSON Web Token`, `json  web token` and
`json_web_token` are one entity. Spellings are kept as aliases.

Patterns work offline, fast and for any text, but plain nouns are not found. They apply in this order: code spans, IRIs,
dates, measures, identifiers, capitalized phrases. Text that one pattern matched is hidden from later ones. All patterns
are bounded, so that time is proportional to the text length.

`SpacyEntityExtractor(spacy.load("en_core_web_sm"))` uses spaCy. It and its models are not dependencies: the protocols
here cover the attributes that are used.

A model gets two prompts a passage. Its answers are cached by the hash of model, prompt and text, so that an interrupted
run continues where it stopped. An unreachable model is an error, never an empty result. Unusable output becomes a
diagnostic, never an edge. If no entity of the answer is usable, patterns find the entities. The parser repairs only
what cannot change the meaning: a code fence or words around the JSON, a trailing comma, an array inside of an object,
and a truncated array, of which the complete items count. A name must occur in the passage, and both ends of a triple
must be entities of the passage.
"""

import hashlib
import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from causalist._internal.lazy import defer_import
from causalist.errors import IndexNotWritable, ModelFailed, UsageError
from causalist.memory.entity_ids import MAX_NAME_CHARACTERS, entity_id, normalize
from causalist.memory.pattern_starts import (
    CAPITALS,
    MONTH,
    find_starts,
    group_matches,
    match_at,
    trim_phrases,
    with_places,
)
from causalist.model import protocols as embedding
from causalist.rank.terms import STOP_WORDS

with defer_import("sqlite3"):  # for answers of a model that are kept
    import sqlite3

if TYPE_CHECKING:
    from causalist.llm_answer import Model

# Types of entities: a model is asked for the first six, patterns find the others.
TYPES = ("person", "org", "location", "concept", "event", "artifact", "identifier", "date", "measure", "iri", "entity")
MAX_ENTITIES = 20  # per passage: the most frequent, ties by position


ALIAS = "also called"  # predicate of triples that patterns find: a name and its abbreviation


class Entity(NamedTuple):
    """One mention: the name as written, one of TYPES, and its first character (-1 if unknown)."""

    name: str
    type: str = "entity"
    start: int = -1


class Triple(NamedTuple):
    """A relation that a text states between two entities; `confidence` is in (0, 1]."""

    subject: str
    predicate: str
    object: str
    confidence: float = 1.0


class Extraction(NamedTuple):
    """Entities and triples of one text. `diagnostics` name unusable extractor output, with the reason."""

    entities: tuple[Entity, ...]
    triples: tuple[Triple, ...] = ()
    diagnostics: tuple[str, ...] = ()


@runtime_checkable
class EntityExtractor(Protocol):
    """Text -> entities. A plain function that returns a list of `Entity` also fits."""

    def __call__(self, text: str) -> "Extraction | Sequence[Entity]":
        """Return the entities of a text."""


# Texts -> vectors of equal length: an embedder of code search, or a plain function.
Embedder: TypeAlias = embedding.Embedder | Callable[[Sequence[str]], Iterable[Sequence[float]]]


def normalize_extraction(output: "Extraction | Sequence[Entity]", most: int = MAX_ENTITIES) -> Extraction:
    """Return extractor output as an Extraction with valid names and at most `most` entities.

    The most frequent entities are kept, ties by position in the text. Triples of removed entities are removed.
    """
    extraction = output if isinstance(output, Extraction) else Extraction(tuple(Entity(*each) for each in output))
    names = [entity.name for entity in extraction.entities]
    ids = _choose_names([_group_places(names, range(len(names)))], most)
    kept_ids = set(ids.values())
    entities = tuple(
        entity._replace(type=entity.type if entity.type in TYPES else "entity")
        for entity in extraction.entities
        if entity.name in ids
    )
    triples = tuple(
        triple
        for triple in extraction.triples
        if entity_id(triple.subject) in kept_ids
        and entity_id(triple.object) in kept_ids
        and entity_id(triple.subject) != entity_id(triple.object)
        and 0 < triple.confidence <= 1
    )
    return Extraction(entities, triples, extraction.diagnostics)


def _choose_names(found: Sequence[Mapping[str, Sequence[int]]], most: int) -> dict[str, str]:
    """Return the names, with their ids, of the `most` most frequent entities.

    `found`: places by name. The first ones in the text are chosen of equally frequent ones.
    """
    ids: dict[str, str] = {}
    counts: dict[str, int] = {}
    for names in found:
        for name, places in names.items():
            key = ids.get(name)
            if key is None:
                key = ids[name] = entity_id(name)
            counts[key] = counts.get(key, 0) + len(places)
    if counts.pop("", 0):
        ids = {name: key for name, key in ids.items() if key}
    if len(counts) <= most:
        return ids
    least = sorted(counts.values(), reverse=True)[most - 1]
    kept_ids = {key for key, n in counts.items() if n > least}
    firsts = {key: math.inf for key, n in counts.items() if n == least}
    for names in found:
        for name, places in names.items():
            if (key := ids.get(name, "")) in firsts:
                firsts[key] = min(firsts[key], *places)
    kept_ids.update(sorted(firsts, key=firsts.__getitem__)[: most - len(kept_ids)])
    return {name: key for name, key in ids.items() if key in kept_ids}


def _group_places(names: Iterable[str], places: Iterable[int]) -> dict[str, list[int]]:
    places_by_name: defaultdict[str, list[int]] = defaultdict(list)
    for name, place in zip(names, places, strict=True):
        places_by_name[name].append(place)
    return places_by_name


_UNIT = (
    r"(?:%|°[CF]|[kKMGT]i?B|bytes?|bits?|[kmcµ]?m|km/h|[kmµ]?g|[mµn]?s|[kMG]?Hz|[kMG]?W|[km]?V|mA|min(?:ute)?s?"
    r"|sec(?:ond)?s?|h(?:(?:ou)?rs?)?|days?|weeks?|months?|years?|(?:milli|micro|nano)seconds?"
    r"|(?:kilo|mega|giga)bytes?|percent|mmHg|mg/dL|px|pt)"
)
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("identifier", re.compile(r"(?<!`)(`{1,2})(?!`)(?P<name>[^`\n]{2,80}?)\1(?!`)")),
    ("iri", re.compile(r"\b(?P<name>(?:https?|ftp|urn|file|mailto|doi):[^\s<>\"'`)\]}]{3,200})")),
    (
        "date",
        re.compile(
            rf"\b(?P<name>\d{{4}}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?|\d{{4}}/\d\d/\d\d"
            rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH},? \d{{4}}"
            rf"|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|{MONTH} \d{{4}}|\d{{1,2}}/\d{{1,2}}/\d{{4}})\b"
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
            rf"(?<![\w'’])(?P<name>(?:[0-9]*{CAPITALS})++[\w+#'’-]{{0,40}}"
            rf"(?:[ \t]+(?:(?:of|the|de|la|van|von)[ \t]+){{0,2}}(?:[0-9]*{CAPITALS})++[\w+#'’-]{{0,40}}"
            r"|[ \t]+\d[\d.]{0,8}(?![\w])){0,5})"
        ),
    ),
)
_PLAIN_SPAN = re.compile(r"[\w.:/@#+<>()\[\],=*$%-]+(?: [\w.:/@#+<>()\[\],=*$%-]+){0,3}$")
_LONG_TEXT = 4_000  # characters; in shorter texts, finding the places of matches costs more than it saves


class RegexEntityExtractor:
    """Finds entities by patterns.

    >>> found = RegexEntityExtractor()("Alice Smith sets `max_age` to 24 hours for the JWT on 2024-05-01.")
    >>> ", ".join(f"{e.name}: {e.type}" for e in found.entities)
    'Alice Smith: entity, max_age: identifier, 24 hours: measure, JWT: entity, 2024-05-01: date'
    """

    version = "regex-4"

    def __init__(self, most: int = MAX_ENTITIES) -> None:
        """Create an extractor of at most `most` entities a text."""
        self._most = most

    def __call__(self, text: str) -> Extraction:
        """Return the entities of a text."""
        found = list(_find_mentions(text))
        kept = _choose_names([names for _, names in found], self._most)
        mentions = (
            Entity(name, kind, start)
            for kind, names in found
            for name in sorted(kept.keys() & names.keys())
            for start in names[name]
        )
        entities = sorted(mentions, key=attrgetter("start"))
        return normalize_extraction(Extraction(tuple(entities), tuple(find_abbreviations(entities, text))), self._most)


_ABBREVIATION = re.compile(r"\s*\((?:[^()]{0,40}?[,;:]\s*)?(?P<short>[^\W\d_][\w&.-]{1,9})\)")


def find_abbreviations(entities: Sequence[Entity], text: str) -> Iterator[Triple]:
    """Yield a triple for each name that the text gives an abbreviation for, in brackets behind it.

    The letters of the abbreviation are the initials of the name's words, except for small words.

    >>> text = "International Business Machines (IBM) and the Bureau of Weights (BW) met Ada Byron (1815)."
    >>> [(t.subject, t.object) for t in find_abbreviations(RegexEntityExtractor()(text).entities, text)]
    [('International Business Machines', 'IBM'), ('Bureau of Weights', 'BW')]
    """
    for entity in entities:
        if entity.type != "entity" or entity.start < 0 or " " not in entity.name:
            continue
        end = entity.start + len(entity.name)
        match = _ABBREVIATION.match(text, end) if text[end : end + 2].lstrip()[:1] == "(" else None
        if match is None:
            continue
        letters = "".join(c for c in match["short"] if c.isalnum()).lower()
        words = re.findall(r"\w+", entity.name.lower())
        initials = {"".join(w[0] for w in words), "".join(w[0] for w in words if w not in STOP_WORDS)}
        if len(letters) > 1 and match["short"][0].isupper() and letters in initials:
            yield Triple(entity.name, ALIAS, match["short"])


def _find_mentions(text: str) -> Iterator[tuple[str, Mapping[str, list[int]]]]:
    """Yield (type, first characters by name as written) of what each of the patterns finds."""
    left, ends = text, list[int]()
    places = find_starts(text) if len(text) >= _LONG_TEXT else None
    for i, (kind, pattern) in enumerate(_PATTERNS):
        if places is not None:  # a match can begin where an earlier one ended
            firsts = with_places(places[i], ends)
            if kind == "entity":
                yield kind, trim_phrases(group_matches(pattern, left, firsts), left)
                continue
            matches = match_at(pattern, left, firsts)
        else:
            matches = pattern.finditer(left) if i > 0 or "`" in left else iter(())
        starts: defaultdict[str, list[int]] = defaultdict(list)
        if kind == "entity":
            for match in matches:
                starts[match[0]].append(match.start())
            yield kind, trim_phrases(starts, left)
            continue
        matched_spans: list[tuple[int, int]] = []
        for match in matches:
            name = match["name"]
            if kind == "identifier" and match[0].startswith("`") and not _PLAIN_SPAN.match(name):
                continue
            matched_spans.append(match.span())
            starts[name.rstrip(".,;:") if kind == "iri" else name.strip()].append(match.start("name"))
        yield kind, starts
        if matched_spans:
            parts, end = [], 0
            for first, last in matched_spans:
                # A zero byte separates the text around a match: a phrase does not continue across it.
                parts += [left[end:first], "\x00" * (last - first)]
                end = last
            left = "".join([*parts, left[end:]])
            ends += [last for _, last in matched_spans]


class HandedTriples:
    """Adds triples that someone else found to what patterns find.

    A triple counts in each text that has both of its names, as whole words in any case.
    """

    def __init__(self, triples: Iterable[Triple]) -> None:
        """Create an extractor; its name tells the triples."""
        self._by_subject: defaultdict[tuple[str, ...], list[tuple[str, Triple]]] = defaultdict(list)
        kept = sorted(set(triples))
        for each in kept:
            self._by_subject[_split_words(each.subject)].append((f" {' '.join(_split_words(each.object))} ", each))
        self._most_words = max(map(len, self._by_subject), default=0)
        self._patterns = RegexEntityExtractor()
        self.name = f"triples:{hashlib.sha256(repr(kept).encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"

    @classmethod
    def read(cls, path: Path) -> "HandedTriples":
        """Return an extractor for a file of JSON objects, one a line: subject, predicate, object, maybe confidence.

        Raises UsageError.
        """
        triples: list[Triple] = []
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read triples from {path}: {getattr(error, 'strerror', None) or error}") from error
        for number, line in enumerate(lines, 1):
            diagnostics = DiagnosticList()
            items = [{"confidence": 1.0, **item} for item in _read_items(f"[{line}]", "triples", diagnostics)]
            names = [Entity(str(item.get(key))) for item in items for key in ("subject", "object")]
            found = parse_triples(json.dumps(items), names, diagnostics, 0.0)
            if line.strip() and not found:
                reason = (*diagnostics.as_tuple(), "it is no JSON object")[0]
                raise UsageError(f"line {number} of {path} is no triple: {reason}")
            triples += found
        return cls(triples)

    def __call__(self, text: str) -> Extraction:
        """Return the entities and triples of a text."""
        found, words = self._patterns(text), _split_words(text)
        whole = f" {' '.join(words)} "
        runs = {words[i : i + n] for n in range(1, self._most_words + 1) for i in range(len(words) - n + 1)}
        subjects = sorted(runs & self._by_subject.keys())
        triples = [triple for each in subjects for target, triple in self._by_subject[each] if target in whole]
        # They come first, so that the limit of entities leaves out others.
        named = [Entity(name) for triple in triples for name in (triple.subject, triple.object)]
        return normalize_extraction(Extraction((*named, *found.entities), (*triples, *found.triples)))


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold().replace("_", " ")))


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
        entities = (
            Entity(span.text, _TYPES.get(span.label_, "concept"), span.start_char)
            for span in self._nlp(text).ents
            if span.label_ not in _LEFT_OUT
        )
        return normalize_extraction(Extraction(tuple(entities)))


ASKED_TYPES = ("person", "org", "location", "concept", "event", "artifact")
CONFIDENCE_THRESHOLD = 0.5  # minimum of a triple; chosen by hand
_MAX_OUTPUT_CHARACTERS = 100_000  # longer output is truncated
_MAX_PREDICATE_CHARACTERS = 80
_MAX_ITEMS = 200
_MAX_DIAGNOSTICS = 20
_DECODER = json.JSONDecoder(parse_constant=lambda name: _reject_constant(name))


class DiagnosticList:
    """Diagnostics up to a limit, and the number of further ones."""

    def __init__(self) -> None:
        """Create an empty list."""
        self._messages: list[str] = []
        self._more = 0

    def add(self, message: str) -> None:
        """Add a message, or count it above the limit."""
        if len(self._messages) < _MAX_DIAGNOSTICS:
            self._messages.append(message)
        else:
            self._more += 1

    def as_tuple(self) -> tuple[str, ...]:
        """Return the messages, the last one with the number of further ones."""
        more = (f"{self._more} more",) if self._more else ()
        return (*self._messages, *more)


def parse_entities(output: str, text: str, diagnostics: DiagnosticList) -> tuple[Entity, ...]:
    """Return the entities of a model's answer that the passage names."""
    named_entities: list[Entity] = []
    lower = text.lower()
    plain = f" {normalize(text)} "
    for item in _read_items(output, "entities", diagnostics):
        name, kind = item.get("name"), item.get("type")
        if not isinstance(name, str) or not entity_id(name) or len(name) > MAX_NAME_CHARACTERS:
            diagnostics.add(f"an entity without a name: {_format_value(item)}")
            continue
        start = lower.find(name.strip().lower())
        if start < 0 and f" {normalize(name)} " not in plain:
            diagnostics.add(f"the passage does not name {_format_value(name)}")
            continue
        if kind not in ASKED_TYPES:
            diagnostics.add(f"{_format_value(name)} has the unknown type {_format_value(kind)}")
            kind = "entity"
        named_entities.append(Entity(name.strip(), str(kind), start))
    return tuple(named_entities)


def parse_triples(
    output: str, entities: Sequence[Entity], diagnostics: DiagnosticList, threshold: float = CONFIDENCE_THRESHOLD
) -> tuple[Triple, ...]:
    """Return the triples of a model's answer between these entities, with at least `threshold` confidence."""
    entity_ids = {entity_id(entity.name) for entity in entities}
    triples: dict[tuple[str, str, str], Triple] = {}
    for item in _read_items(output, "triples", diagnostics):
        subject, predicate, target, confidence = (
            item.get(key) for key in ("subject", "predicate", "object", "confidence")
        )
        if not (isinstance(subject, str) and isinstance(predicate, str) and isinstance(target, str)):
            diagnostics.add(f"an invalid triple: {_format_value(item)}")
            continue
        ends, words = (entity_id(subject), entity_id(target)), " ".join(predicate.split())
        if ends[0] not in entity_ids or ends[1] not in entity_ids or ends[0] == ends[1]:
            diagnostics.add(f"a triple without two entities of the passage: {_format_value(item)}")
        elif not words or len(words) > _MAX_PREDICATE_CHARACTERS:
            diagnostics.add(f"a triple without a predicate of a few words: {_format_value(item)}")
        elif isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence <= 1:
            diagnostics.add(f"a triple without a confidence above 0 and at most 1: {_format_value(item)}")
        elif confidence >= threshold:
            triple = Triple(subject.strip(), words, target.strip(), float(confidence))
            key = (ends[0], words.lower(), ends[1])
            if key not in triples or triples[key].confidence < triple.confidence:
                triples[key] = triple
    return tuple(triples.values())


def _read_items(output: str, what: str, diagnostics: DiagnosticList) -> list[Mapping[str, Any]]:
    """Return the objects of the array in a model's answer."""
    if len(output) > _MAX_OUTPUT_CHARACTERS:
        diagnostics.add(f"an answer of {len(output):,} characters; {_MAX_OUTPUT_CHARACTERS:,} were read")
        output = output[:_MAX_OUTPUT_CHARACTERS]
    value = _parse_json(output, what, diagnostics)
    if isinstance(value, dict):
        inner = [each for each in value.values() if isinstance(each, list)]
        value = inner[0] if len(inner) == 1 else [value] if {"name", "subject"} & value.keys() else None
    if not isinstance(value, list):
        diagnostics.add(f"no array of {what} in the answer: {_format_value(output)}")
        return []
    if len(value) > _MAX_ITEMS:
        diagnostics.add(f"{len(value)} {what}; {_MAX_ITEMS} were read")
    items: list[Mapping[str, Any]] = []
    for item in value[:_MAX_ITEMS]:
        if isinstance(item, dict):
            items.append(item)
        else:
            diagnostics.add(f"one of the {what} is not an object: {_format_value(item)}")
    return items


def _parse_json(output: str, what: str, diagnostics: DiagnosticList) -> Any:
    """Return the JSON value in the answer, with safe repairs; None if there is none."""
    text = re.sub(r"^\s*```\w*\s*|\s*```\s*$", "", output)
    document = _load_json(text)
    if document is not None:
        return document
    start = min((at for at in (text.find("["), text.find("{")) if at >= 0), default=-1)
    if start < 0:
        return None
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    else:
        diagnostics.add(f"words around the array of {what}")
        # Several arrays are several answers; none is preferred.
        return value if "[" not in text[end:] else None
    without = _load_json(re.sub(r",(\s*[\]}])", r"\1", text[start:]))
    if without is not None:
        diagnostics.add(f"a trailing comma in the array of {what}")
        return without
    items = _read_complete_items(text, text.find("[", start))
    if items:
        diagnostics.add(f"the array of {what} ends early; {len(items)} complete ones were read")
        return items
    return None


def _read_complete_items(text: str, start: int) -> list[Any]:
    """Return the complete items of a truncated array."""
    items: list[Any] = []
    at = start + 1
    while start >= 0 and at < len(text):
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text) or text[at] != "{":
            break
        try:
            item, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        items.append(item)
    return items


def _load_json(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _format_value(value: object) -> str:
    text = value if isinstance(value, str) else repr(value) if not _is_huge(value) else "a huge value"
    short = " ".join(text.split())
    return repr(short if len(short) <= 80 else f"{short[:79]}…")


def _is_huge(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**100) or (
        isinstance(value, float) and not math.isfinite(value)
    )


_MAX_TEXT_CHARACTERS = 20_000  # longer passages are truncated in the prompt
_CHARACTERS_A_TOKEN = 4  # for the cost estimate only
_ANSWER_TOKENS = 300  # of both answers together, on average
_MAX_ATTEMPTS = 3


class Estimate(NamedTuple):
    """Expected cost of asking a model about passages; cached passages cost nothing."""

    passages: int
    cached: int
    calls: int
    prompt_tokens: int
    answer_tokens: int


class LLMEntityExtractor:
    """Asks `model` for typed entities, then for triples between them with at least `threshold` confidence.

    `cache`: file for the answers; without it they are kept in memory. If the answer about entities is unusable,
    patterns find the entities and a diagnostic says so.
    """

    def __init__(
        self, model: "Model | str", *, threshold: float = CONFIDENCE_THRESHOLD, cache: Path | None = None
    ) -> None:
        """Create an extractor for a model or the name of one. Raises ExtraMissing, ModelFailed, IndexNotWritable."""
        from importlib.resources import files as resource_files

        from causalist.llm_answer import get_model

        self.model = get_model(model) if isinstance(model, str) else model
        self.name = f"llm:{self.model.model_id}"
        self.threshold = threshold
        prompts = resource_files("causalist.memory").joinpath("prompts")
        self._entities = prompts.joinpath("entities.txt").read_text(encoding="utf-8")
        self._triples = prompts.joinpath("triples.txt").read_text(encoding="utf-8")
        self._patterns = RegexEntityExtractor()
        self._cache = ModelAnswerCache(cache)

    def __call__(self, text: str) -> Extraction:
        """Return the entities and triples of a text. Raises ModelFailed if the model cannot be reached."""
        shown = text[:_MAX_TEXT_CHARACTERS]
        diagnostics = DiagnosticList()
        if len(shown) < len(text):
            diagnostics.add(f"the model was shown the first {_MAX_TEXT_CHARACTERS:,} of {len(text):,} characters")
        entities = parse_entities(self._ask(self._prompt(self._entities, shown)), text, diagnostics)
        if not entities:
            pattern_entities = self._patterns(text).entities
            if pattern_entities and diagnostics.as_tuple():
                diagnostics.add("entities are those that patterns find")
            return Extraction(pattern_entities if diagnostics.as_tuple() else (), (), diagnostics.as_tuple())
        valid_entities = normalize_extraction(Extraction(entities)).entities
        names = list(dict.fromkeys(entity.name for entity in valid_entities))
        if len(names) < 2:
            return Extraction(valid_entities, (), diagnostics.as_tuple())
        prompt = self._prompt(self._triples, shown, entities="\n".join(f"- {' '.join(name.split())}" for name in names))
        triples = parse_triples(self._ask(prompt), valid_entities, diagnostics, self.threshold)
        return Extraction(valid_entities, triples, diagnostics.as_tuple())

    def estimate(self, texts: Iterable[str]) -> Estimate:
        """Return the expected cost of asking about these passages, without asking."""
        n = cached = prompt_tokens = 0
        fixed = len(self._entities) + len(self._triples)
        for text in texts:
            n += 1
            shown = text[:_MAX_TEXT_CHARACTERS]
            if self._cache.get(self._key(self._prompt(self._entities, shown))) is not None:
                cached += 1
            else:
                prompt_tokens += (fixed + 2 * len(shown)) // _CHARACTERS_A_TOKEN
        open_ = n - cached
        return Estimate(n, cached, 2 * open_, prompt_tokens, open_ * _ANSWER_TOKENS)

    def _prompt(self, template: str, text: str, **more: str) -> str:
        # The text cannot contain this mark: it would have to contain its own hash.
        mark = f"-----{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}-----"
        for key, value in {**more, "mark": mark}.items():
            template = template.replace(f"{{{key}}}", value)
        return template.replace("{text}", text)

    def _key(self, prompt: str) -> str:
        data = f"{self.model.model_id}\0{prompt}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(data).hexdigest()

    def _ask(self, prompt: str) -> str:
        key = self._key(prompt)
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                answer = str(self.model.prompt(prompt, stream=False).text())
                break
            except Exception as error:  # a plugin of a provider can raise anything
                if attempt == _MAX_ATTEMPTS:
                    raise ModelFailed(
                        f"{self.model.model_id} did not answer after {_MAX_ATTEMPTS} attempts "
                        f"({type(error).__name__}: {str(error)[:200]}); its answers are kept; run it again"
                    ) from error
        self._cache.put(key, answer)
        return answer


class ModelAnswerCache:
    """Answers by key, in a SQLite file or in memory. Each answer is on disk before the next prompt is sent."""

    def __init__(self, path: Path | None) -> None:
        """Open the cache file, or an empty cache in memory. Raises IndexNotWritable."""
        self._path = path
        self._known: dict[str, str] = {}
        if path is not None:
            try:
                with closing(sqlite3.connect(path)) as database, database:
                    database.execute("CREATE TABLE IF NOT EXISTS answer(key TEXT PRIMARY KEY, text TEXT NOT NULL)")
                    self._known.update(database.execute("SELECT key, text FROM answer"))
            except sqlite3.Error as error:
                raise IndexNotWritable(f"cannot use {path} as a cache of model answers: {error}; remove it") from error

    def get(self, key: str) -> str | None:
        """Return the answer of a key, or None."""
        return self._known.get(key)

    def put(self, key: str, text: str) -> None:
        """Store an answer. Raises IndexNotWritable."""
        self._known[key] = text
        if self._path is None:
            return
        clean = text.encode("utf-8", "replace").decode("utf-8")
        try:
            with closing(sqlite3.connect(self._path)) as database, database:
                database.execute("INSERT OR REPLACE INTO answer VALUES (?, ?)", (key, clean))
        except sqlite3.Error as error:
            raise IndexNotWritable(f"cannot write a model answer to {self._path}: {error}") from error
