"""What an extractor finds in a text: entities where they stand, and triples; and how their names are normalized.

An entity's id is its normalized name with underscores for spaces, so that `JSON Web Token`, `json  web token` and
`json_web_token` are one entity. How a name was written is kept as an alias.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from causalist.model import protocols as embedding

# Types of entities; the first six are what a model is asked for, the others what patterns can tell.
TYPES = ("person", "org", "location", "concept", "event", "artifact", "identifier", "date", "measure", "iri", "entity")
MAX_ENTITIES = 20  # of a passage; so are they kept: the most frequent, then the first ones
MIN_NAME_CHARACTERS = 2  # characters
MAX_NAME_CHARACTERS = 120

_SPACE = re.compile(r"\s+|(?<=[^\W_])_+(?=[^\W_])")
_EDGES = " \t\r\n.,;:!?\"'`*()[]{}<>|\\/“”‘’«»…-–—#=&"


class Entity(NamedTuple):
    """One occurrence: the name as written, one of TYPES, and the character at which it begins (-1: not known)."""

    name: str
    type: str = "entity"
    start: int = -1


class Triple(NamedTuple):
    """What a text says of two entities; `confidence` in (0, 1]."""

    subject: str
    predicate: str
    object: str
    confidence: float = 1.0


class Extraction(NamedTuple):
    """All that one text holds. `diagnostics` say what could not be used, and why."""

    entities: tuple[Entity, ...]
    triples: tuple[Triple, ...] = ()
    diagnostics: tuple[str, ...] = ()


@runtime_checkable
class EntityExtractor(Protocol):
    """Text -> entities. A plain function that returns a list of `Entity` will do as well."""

    def __call__(self, text: str) -> "Extraction | Sequence[Entity]": ...


# Texts -> vectors of one length: what embeds code, or a plain function.
Embedder: TypeAlias = embedding.Embedder | Callable[[Sequence[str]], Iterable[Sequence[float]]]


def normalize(name: str) -> str:
    """A name in lower case, NFKC, with single spaces, without punctuation around it or the brackets of a call.

    >>> normalize(' "JSON_Web  Token", '), normalize("Session.verify()"), normalize("C++"), normalize("__init__")
    ('json web token', 'session.verify', 'c++', '__init__')
    """
    text = unicodedata.normalize("NFKC", name).strip()
    text = text.removesuffix("()").strip(_EDGES)
    return _SPACE.sub(" ", text.lower()).strip()


def entity_id(name: str) -> str:
    """The id of the entity of that name; empty where nothing is left of it.

    >>> entity_id("Machine  learning"), entity_id("machine_learning"), entity_id("--")
    ('machine_learning', 'machine_learning', '')
    """
    text = normalize(name)
    return text.replace(" ", "_") if MIN_NAME_CHARACTERS <= len(text) <= MAX_NAME_CHARACTERS else ""


def normalize_extraction(found: "Extraction | Sequence[Entity]") -> Extraction:
    """What an extractor returned, as an Extraction without names that are no names, and with at most MOST_ENTITIES
    entities: the most frequent ones, then those that stand first. Triples of what falls away fall away."""
    whole = found if isinstance(found, Extraction) else Extraction(tuple(Entity(*each) for each in found))
    counts: dict[str, int] = {}
    for entity in whole.entities:
        key = entity_id(entity.name)
        if key:
            counts[key] = counts.get(key, 0) + 1
    kept = set(sorted(counts, key=lambda key: -counts[key])[:MAX_ENTITIES])  # stable: the first ones go first
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
