"""The confidence of a memory's answer, by hand."""

from math import exp

import numpy as np
import pytest

from causalist.memory import HippoIndex, MemoryPipeline
from causalist.memory.conflicts_and_confidence import MIN_CONFIDENCE, estimate_confidence


def index_of(texts: dict[str, str]) -> HippoIndex:
    index = HippoIndex()
    for name, text in texts.items():
        index.add_passage(name, text, metadata={"path": name[0]})
    return index


def test_the_lead_of_the_first_document_over_the_second_counts() -> None:
    """Document a scores 4 by its better passage, b 3: the lead is a quarter."""
    snapshot = index_of({"a": "one", "a2": "two", "b": "three"}).snapshot
    want = 1 / (1 + exp(0.258 - 10.72 / 4))
    assert estimate_confidence(np.array([4.0, 1.0, 3.0]), snapshot) == pytest.approx(want)
    assert estimate_confidence(np.zeros(3), snapshot) == 0.0
    assert estimate_confidence(np.array([2.0, 1.0, 2.0]), snapshot) < MIN_CONFIDENCE < want


def test_two_documents_that_say_the_same_take_another_attempt() -> None:
    index = index_of({"a": "copper is kept here", "b": "copper is held here", "c": "nothing else"})
    tied = MemoryPipeline(index).run("copper")
    assert tied.attempts > 1 and tied.is_partial and tied.hits
    index.add_passage("b", "tin is held there, with many other things of which none is asked for")
    told = MemoryPipeline(index).run("copper")
    assert told.attempts == 1 and not told.is_partial
