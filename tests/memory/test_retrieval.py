"""The signals behind a score, by hand, and what is made of them."""

from math import log1p

import numpy as np
import pytest

from causalist.memory import HippoIndex, RetrievalSettings
from causalist.memory.entity_linking import terms_in_vocabulary
from causalist.memory.retrieval import PUBLISHED, SIGNALS, combine_signals, compute_signals, score_plain, score_words
from causalist.model.answer import RetrievalMode


def index_of(passages: dict[str, str]) -> HippoIndex:
    """The first letter of an id is the document."""
    index = HippoIndex()
    for passage, text in passages.items():
        index.add_passage(passage, text, metadata={"path": passage[0]})
    return index


MILL = {
    "a": "barley barley wheel",
    "a2": "copper",
    "b": "barley river river river",
    "c": "river stone",
}


def test_words_of_documents_and_of_passages_by_hand() -> None:
    """Documents a, b, c have 4, 4 and 2 words; the mean is 10 / 3. Barley is in 2 of 3 documents, copper in 1 of 3."""
    snapshot = index_of(MILL).snapshot
    barley, copper = log1p(1.5 / 2.5), log1p(2.5 / 1.5)
    norm = 1.2 * (0.25 + 0.75 * 4 / (10 / 3))
    a = barley * 2 * 2.2 / (2 + norm) + copper * 2.2 / (1 + norm)
    b = barley * 2.2 / (1 + norm)
    document, share = score_words(terms_in_vocabulary("barley copper", snapshot), snapshot)
    assert document == pytest.approx([1.0, 1.0, b / a, 0.0])
    part = (barley / (barley + copper)) ** 2
    assert share == pytest.approx([part, (copper / (barley + copper)) ** 2, part, 0.0])


def test_a_question_without_known_words_says_nothing() -> None:
    document, share = score_words([], index_of(MILL).snapshot)
    assert not document.any() and not share.any()


def test_a_score_is_the_weighed_mean_of_its_signals() -> None:
    snapshot = index_of(MILL).snapshot
    question = "barley near copper and stone"
    plain, walk_result = score_plain(question, snapshot, RetrievalMode.SPARSE), np.array([0.2, 0.0, 0.1, 0.0])
    settings = RetrievalSettings(by_length=False)
    found = compute_signals(question, walk_result, plain, snapshot)
    assert set(found) == set(SIGNALS)
    assert all(each.min() >= 0 and each.max() <= 1 for each in found.values())
    snapshot.__dict__["coverage"] = 1.0
    want = sum(w * found[name] for name, w in zip(SIGNALS, settings.weights, strict=True)) / sum(settings.weights)
    assert combine_signals(question, walk_result, plain, snapshot, settings) == pytest.approx(want)


def test_of_a_short_question_plain_retrieval_says_most() -> None:
    """Three known terms of ten ("and" and "near" are none): what is not of remainders has 0.3 of its weight, and
    plain retrieval the rest."""
    snapshot = index_of(MILL).snapshot
    question = "barley near copper and stone"
    assert len(terms_in_vocabulary(question, snapshot)) == 3
    plain, walk_result = score_plain(question, snapshot, RetrievalMode.SPARSE), np.array([0.2, 0.0, 0.1, 0.0])
    found = compute_signals(question, walk_result, plain, snapshot)
    snapshot.__dict__["coverage"] = 1.0
    settings = RetrievalSettings()
    weights = dict(zip(SIGNALS, settings.weights, strict=True))
    less = {name: (1.0 if "remainder" in name else 0.3) * weights[name] / sum(weights.values()) for name in SIGNALS[1:]}
    want = sum(weight * found[name] for name, weight in less.items()) + (1 - sum(less.values())) * found["vector"]
    assert combine_signals(question, walk_result, plain, snapshot, settings) == pytest.approx(want)


def test_the_published_weights_know_vectors_and_the_walk_alone() -> None:
    assert PUBLISHED.weights == (0.3, 0.7, 0, 0, 0, 0, 0)
