"""Entities and triples from a model of the `llm` library: two prompts a passage, strict parsing, cached answers.

Answers are cached by the hash of model, prompt and text, so that an interrupted run continues where it stopped. An
unreachable model is an error, never an empty result. Unusable output becomes a diagnostic, never an edge. If no
entity of the answer is usable, patterns find the entities. The parser repairs only what cannot change the meaning: a
code fence or words around the JSON, a trailing comma, an array inside of an object, and a truncated array, of which
the complete items count. A name must occur in the passage, and both ends of a triple must be entities of the passage.
"""

import hashlib
import json
import math
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from importlib.resources import files as resource_files
from pathlib import Path
from typing import Any, NamedTuple

from causalist.errors import IndexNotWritable, ModelFailed
from causalist.llm.model import Model, get_model
from causalist.memory.entities import (
    MAX_NAME_CHARACTERS,
    Entity,
    Extraction,
    Triple,
    entity_id,
    normalize,
    normalize_extraction,
)
from causalist.memory.text_extractors import RegexEntityExtractor

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
    found: list[Entity] = []
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
        found.append(Entity(name.strip(), str(kind), start))
    return tuple(found)


def parse_triples(
    output: str, entities: Sequence[Entity], diagnostics: DiagnosticList, threshold: float = CONFIDENCE_THRESHOLD
) -> tuple[Triple, ...]:
    """Return the triples of a model's answer between these entities, with at least `threshold` confidence."""
    known = {entity_id(entity.name) for entity in entities}
    found: dict[tuple[str, str, str], Triple] = {}
    for item in _read_items(output, "triples", diagnostics):
        subject, predicate, target, confidence = (
            item.get(key) for key in ("subject", "predicate", "object", "confidence")
        )
        if not (isinstance(subject, str) and isinstance(predicate, str) and isinstance(target, str)):
            diagnostics.add(f"an invalid triple: {_format_value(item)}")
            continue
        ends, words = (entity_id(subject), entity_id(target)), " ".join(predicate.split())
        if ends[0] not in known or ends[1] not in known or ends[0] == ends[1]:
            diagnostics.add(f"a triple without two entities of the passage: {_format_value(item)}")
        elif not words or len(words) > _MAX_PREDICATE_CHARACTERS:
            diagnostics.add(f"a triple without a predicate of a few words: {_format_value(item)}")
        elif isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence <= 1:
            diagnostics.add(f"a triple without a confidence above 0 and at most 1: {_format_value(item)}")
        elif confidence >= threshold:
            triple = Triple(subject.strip(), words, target.strip(), float(confidence))
            key = (ends[0], words.lower(), ends[1])
            if key not in found or found[key].confidence < triple.confidence:
                found[key] = triple
    return tuple(found.values())


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
    whole = _load_json(text)
    if whole is not None:
        return whole
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
        self, model: Model | str, *, threshold: float = CONFIDENCE_THRESHOLD, cache: Path | None = None
    ) -> None:
        """Create an extractor for a model or the name of one. Raises ExtraMissing, ModelFailed, IndexNotWritable."""
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
            found = self._patterns(text).entities
            if found and diagnostics.as_tuple():
                diagnostics.add("entities are those that patterns find")
            return Extraction(found if diagnostics.as_tuple() else (), (), diagnostics.as_tuple())
        kept = normalize_extraction(Extraction(entities)).entities
        names = list(dict.fromkeys(entity.name for entity in kept))
        if len(names) < 2:
            return Extraction(kept, (), diagnostics.as_tuple())
        prompt = self._prompt(self._triples, shown, entities="\n".join(f"- {' '.join(name.split())}" for name in names))
        triples = parse_triples(self._ask(prompt), kept, diagnostics, self.threshold)
        return Extraction(kept, triples, diagnostics.as_tuple())

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
        known = self._cache.get(key)
        if known is not None:
            return known
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
