"""What the best documents leave of a question, by hand."""

from math import log1p

import numpy as np
import pytest

from causalist.memory import HippoIndex
from causalist.memory.query_entities import terms_in_vocabulary
from causalist.memory.retrieval import find_uncovered_terms, score_plain, score_uncovered_terms
from causalist.model.answer import RetrievalMode


def index_of(passages: dict[str, tuple[str, str]]) -> HippoIndex:
    """`passages`: id -> (title, text); the document of `a2` is `a`."""
    index = HippoIndex()
    for passage, (title, text) in passages.items():
        metadata = {"path": passage[0], **({"title": title} if title else {})}
        index.add_passage(passage, text, metadata=metadata)
    return index


MILL = {
    "a": ("", "the miller grinds barley at dawn"),
    "a2": ("", "barley, with a wooden wheel"),
    "b": ("", "copper and tin"),
    "b2": ("", "nothing else"),
    "c": ("", "copper alone"),
    "d": ("", "wooden spoons"),
}


def test_what_is_left_by_hand() -> None:
    """Documents a, b, c, d. Of "miller barley dawn copper tin", a has three words and leaves copper (2 of 4 documents)
    and tin (1 of 4). Only a scores, so that nothing else is asked what it leaves."""
    snapshot = index_of(MILL).snapshot
    terms = terms_in_vocabulary("miller barley dawn copper tin", snapshot)
    plain = np.array([1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    rare, copper = log1p(3.5 / 1.5), log1p(2.5 / 2.5)
    found = find_uncovered_terms(terms, plain, snapshot)
    assert found is not None
    part = (copper / (copper + rare)) ** 2
    amount = (copper + rare) / (4 * rare + copper) / 0.3  # miller, barley, dawn and tin are in one document each
    assert amount > 1  # so that what is left would count whole in a question of ten terms
    short = (5 / 10) ** 2
    assert found.by_document == pytest.approx([0.0, short, short * part, 0.0])
    assert sorted(snapshot.arrays.terms[t] for t in found.missing) == ["copper", "tin"]
    # b2 has none of these words and gets nothing of what its document covers.
    assert score_uncovered_terms(found, snapshot) == pytest.approx([0.0, 0.0, short, 0.0, short * part, 0.0])


def test_little_that_is_left_counts_little() -> None:
    """Of "miller grinds barley dawn wheel copper" a leaves copper alone: 1 of 6 words, and the most common one."""
    snapshot = index_of(MILL).snapshot
    terms = terms_in_vocabulary("miller grinds barley dawn wheel copper", snapshot)
    rare, copper = log1p(3.5 / 1.5), log1p(2.5 / 2.5)
    found = find_uncovered_terms(terms, np.array([1.0, 0, 0, 0, 0, 0]), snapshot)
    assert found is not None
    amount = copper / (copper + 5 * rare) / 0.3
    assert amount < 1
    amount *= (6 / 10) ** 2
    assert found.by_document == pytest.approx([0.0, amount, amount, 0.0])


def test_the_second_best_is_asked_by_its_score() -> None:
    """a scores 1 and leaves copper; c scores 0.9 and leaves barley; 0.9 to the sixth is what c's word is worth."""
    snapshot = index_of(MILL).snapshot
    terms = terms_in_vocabulary("barley copper", snapshot)
    found = find_uncovered_terms(terms, np.array([1.0, 0, 0, 0, 0.9, 0]), snapshot)
    assert found is not None
    weight, short = 0.9**6, (2 / 10) ** 2
    a, c = short / (1 + weight), short * weight / (1 + weight)
    assert found.by_document == pytest.approx([c, a, a, 0.0])


def test_nothing_is_left_where_one_document_says_all() -> None:
    snapshot = index_of(MILL).snapshot
    assert (
        find_uncovered_terms(terms_in_vocabulary("barley wheel", snapshot), np.array([1.0, 0.5, 0, 0, 0, 0]), snapshot)
        is None
    )
    assert find_uncovered_terms(terms_in_vocabulary("barley", snapshot), np.zeros(6), snapshot) is None
    assert find_uncovered_terms([], np.ones(6), snapshot) is None


def test_the_page_with_the_rest_of_the_question_comes_second() -> None:
    """By words alone every note that says more of the first half stands before the one with the second."""
    index = HippoIndex()
    for i in range(6):
        text = f"Note {i} of Anna Berg: the miller of the old mill grinds barley."
        index.add_passage(f"n{i}", text, metadata={"path": f"n{i}"})
    told = "The miller Anna Berg grinds barley at dawn in the old mill."
    index.add_passage("first", told, metadata={"path": "first"})
    long = "Many other things are said in this long note, of rivers, of towns, of roads and of the people on them. " * 4
    index.add_passage("rest", f"{long} Copper is kept there.", metadata={"path": "rest"})
    question = "where the miller Anna Berg grinds barley at dawn in the old mill, copper"
    plain = score_plain(question, index.snapshot, RetrievalMode.SPARSE)
    assert plain[index.snapshot.position_by_passage["rest"]] == plain.min()
    found = [each.passage_id for each in index.retrieve(question)]
    assert found[:2] == ["first", "rest"]
