"""Entities by a pipeline of spaCy that the caller has loaded: `SpacyEntityExtractor(spacy.load("en_core_web_sm"))`.

spaCy and its models are no dependency: only what is used of a loaded pipeline is asked for.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from causalist.memory.entities import Entity, Extraction, normalize_extraction

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
_LEFT_OUT = frozenset({"CARDINAL", "ORDINAL"})  # numbers are nothing that passages share


class Span(Protocol):
    """What is used of a span of spaCy's."""

    text: str
    label_: str
    start_char: int


class Parsed(Protocol):
    """What is used of a document of spaCy's."""

    @property
    def ents(self) -> Iterable[Span]: ...


class SpacyEntityExtractor:
    """Named entities as spaCy sees them; labels that are not known here are concepts."""

    def __init__(self, nlp: Callable[[str], Parsed]) -> None:
        self._nlp = nlp

    def __call__(self, text: str) -> Extraction:
        found = (
            Entity(span.text, _TYPES.get(span.label_, "concept"), span.start_char)
            for span in self._nlp(text).ents
            if span.label_ not in _LEFT_OUT
        )
        return normalize_extraction(Extraction(tuple(found)))
