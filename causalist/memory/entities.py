"""Entities and triples that an extractor finds in a text, and the normalization of their names.

The id of an entity is its normalized name with underscores for spaces: `JSON Web Token`, `json  web token` and
`json_web_token` are one entity. Spellings are kept as aliases.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from causalist.model import protocols as embedding

# Types of entities: a model is asked for the first six, patterns find the others.
TYPES = ("person", "org", "location", "concept", "event", "artifact", "identifier", "date", "measure", "iri", "entity")
MAX_ENTITIES = 20  # per passage: the most frequent, ties by position
MIN_NAME_CHARACTERS = 2  # characters
MAX_NAME_CHARACTERS = 120

_SPACE = re.compile(r"\s+|(?<=[^\W_])_+(?=[^\W_])")
_EDGES = " \t\r\n.,;:!?\"'`*()[]{}<>|\\/“”‘’«»…-–—#=&"


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


def normalize(name: str) -> str:
    """Return a name in lower case, NFKC, with single spaces, without outer punctuation or the brackets of a call.

    >>> normalize(' "JSON_Web  Token", '), normalize("Session.verify()"), normalize("C++"), normalize("__init__")
    ('json web token', 'session.verify', 'c++', '__init__')
    """
    text = unicodedata.normalize("NFKC", name).strip()
    text = text.removesuffix("()").strip(_EDGES)
    return _SPACE.sub(" ", text.lower()).strip()


def entity_id(name: str) -> str:
    """Return the id of the entity of a name, or "" if the normalized name is too short or too long.

    >>> entity_id("Machine  learning"), entity_id("machine_learning"), entity_id("--")
    ('machine_learning', 'machine_learning', '')
    """
    text = normalize(name)
    return text.replace(" ", "_") if MIN_NAME_CHARACTERS <= len(text) <= MAX_NAME_CHARACTERS else ""


def normalize_extraction(found: "Extraction | Sequence[Entity]") -> Extraction:
    """Return extractor output as an Extraction with valid names and at most MAX_ENTITIES entities.

    The most frequent entities are kept, ties by position in the text. Triples of removed entities are removed.
    """
    whole = found if isinstance(found, Extraction) else Extraction(tuple(Entity(*each) for each in found))
    counts: dict[str, int] = {}
    for entity in whole.entities:
        key = entity_id(entity.name)
        if key:
            counts[key] = counts.get(key, 0) + 1
    kept = set(sorted(counts, key=lambda key: -counts[key])[:MAX_ENTITIES])  # stable: ties stay in text order
    entities = tuple(
        entity._replace(type=entity.type if entity.type in TYPES else "entity")
        for entity in whole.entities
        if entity_id(entity.name) in kept
    )
    triples = tuple(
        triple
        for triple in whole.triples
        if entity_id(triple.subject) in kept
        and entity_id(triple.object) in kept
        and entity_id(triple.subject) != entity_id(triple.object)
        and 0 < triple.confidence <= 1
    )
    return Extraction(entities, triples, whole.diagnostics)
