"""Entities by spaCy: through an object of its shape, and through spaCy itself where it is installed."""

from dataclasses import dataclass

import pytest

from causalist.memory import HippoIndex
from causalist.memory.extractors import SpacyEntityExtractor


@dataclass
class _Span:
    text: str
    label_: str
    start_char: int


class _Parsed:
    def __init__(self, text: str) -> None:
        known = {"Ada Byron": "PERSON", "Lyon": "GPE", "two": "CARDINAL", "Jacquard": "SOMETHING"}
        self.ents = [_Span(name, label, text.index(name)) for name, label in known.items() if name in text]


def test_labels_become_types() -> None:
    index = HippoIndex(entity_extractor=SpacyEntityExtractor(_Parsed))
    index.add_passage("a", "In Lyon Ada Byron saw two looms of Jacquard.")
    assert {e: index.entity(e).type for e in index.snapshot.arrays.entities} == {
        "ada_byron": "person",
        "lyon": "location",
        "jacquard": "concept",
    }


def test_spacy_itself() -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "ORG", "pattern": "Acme Corp"}])
    (entity,) = SpacyEntityExtractor(nlp)("They work for Acme Corp.").entities
    assert (entity.name, entity.type, entity.start) == ("Acme Corp", "org", 14)
