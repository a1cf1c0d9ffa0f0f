"""Entities by a loaded spaCy pipeline: `SpacyEntityExtractor(spacy.load("en_core_web_sm"))`.

spaCy and its models are not dependencies: the protocols here cover the attributes that are used.
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
