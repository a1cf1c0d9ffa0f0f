"""The signals behind a score, by hand, and what is made of them."""

from dataclasses import replace
from math import log1p

import numpy as np
import pytest

from causalist.memory import HippoIndex, RetrievalSettings
from causalist.memory.query_entities import terms_in_vocabulary
from causalist.memory.retrieval import (
    PUBLISHED,
    SIGNALS,
    combine_signals,
    compare_meaning,
    compute_signals,
    score_plain,
)
from causalist.model.answer import RetrievalMode
from causalist.rank.lexical.question_encoder import QuestionEncoder, shipped_encoder, unpack


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


def test_the_share_of_a_question_by_hand() -> None:
    """Of four passages two name barley and one copper; the share is the square of a passage's part of the rarity."""
    snapshot = index_of(MILL).snapshot
    barley, copper = log1p(2.5 / 2.5), log1p(3.5 / 1.5)
    plain = score_plain("barley copper", snapshot, RetrievalMode.SPARSE)
    part, rest = (barley / (barley + copper)) ** 2, (copper / (barley + copper)) ** 2
    assert compute_signals("barley copper", plain, plain, snapshot)["share"] == pytest.approx([part, rest, part, 0.0])


def test_a_score_is_the_weighed_mean_of_its_signals() -> None:
    snapshot = index_of(MILL).snapshot
    question = "barley near copper and stone"
    plain, walk_result = score_plain(question, snapshot, RetrievalMode.SPARSE), np.array([0.2, 0.0, 0.1, 0.0])
    settings = RetrievalSettings(by_length=False, by_names=False, meaning_weight=0.0)
    found = compute_signals(question, walk_result, plain, snapshot)
    assert set(found) == set(SIGNALS)
    assert all(each.min() >= 0 and each.max() <= 1 for each in found.values())
    snapshot.__dict__["coverage"] = 1.0
    want = sum(w * found[name] for name, w in zip(SIGNALS, settings.weights, strict=True)) / sum(settings.weights)
    assert combine_signals(question, walk_result, plain, snapshot, settings) == pytest.approx(want)


def test_of_a_short_question_plain_retrieval_says_more() -> None:
    """Three known terms of ten ("and" and "near" are none): PageRank and the share of the question have 0.3 of their
    weight, and plain retrieval the rest."""
    snapshot = index_of(MILL).snapshot
    question = "barley near copper and stone"
    assert len(terms_in_vocabulary(question, snapshot)) == 3
    plain, walk_result = score_plain(question, snapshot, RetrievalMode.SPARSE), np.array([0.2, 0.0, 0.1, 0.0])
    found = compute_signals(question, walk_result, plain, snapshot)
    snapshot.__dict__["coverage"] = 1.0
    settings = RetrievalSettings(by_names=False, meaning_weight=0.0)
    weights = dict(zip(SIGNALS, settings.weights, strict=True))
    less = {s: (0.3 if s in ("graph", "share") else 1.0) * weights[s] / sum(weights.values()) for s in SIGNALS[1:]}
    want = sum(weight * found[name] for name, weight in less.items()) + (1 - sum(less.values())) * found["vector"]
    assert combine_signals(question, walk_result, plain, snapshot, settings) == pytest.approx(want)


def test_a_question_that_names_nothing_has_little_of_a_second_hop() -> None:
    """The rarest defined name in the question is `named`; below 0.6 the second hop has the square of its part of it."""
    snapshot = index_of(MILL).snapshot
    snapshot.__dict__["coverage"] = 1.0
    settings = RetrievalSettings(by_length=False, meaning_weight=0.0)
    for question, is_reduced in (("barley near copper and stone", True), ("barley near copper and Stone Mill", False)):
        plain, walk_result = score_plain(question, snapshot, RetrievalMode.SPARSE), np.array([0.2, 0.0, 0.1, 0.0])
        found = compute_signals(question, walk_result, plain, snapshot)
        named = float(found["named"].max())
        assert named < 0.6
        factor = (named / 0.6) ** 2 if is_reduced else 1.0
        kept = ("graph", "share", "named")
        weights = dict(zip(SIGNALS, settings.weights, strict=True))
        total = sum(weights.values())
        less = {s: (1.0 if s in kept else factor) * weights[s] / total for s in SIGNALS[1:]}
        want = sum(w * found[s] for s, w in less.items() if s in found) + (1 - sum(less.values())) * found["vector"]
        assert combine_signals(question, walk_result, plain, snapshot, settings) == pytest.approx(want)


def test_the_best_of_several_questions_counts_as_much_as_the_whole() -> None:
    """Barley is in "a" and "b", copper in "a2": each half has its own best passage. One question stays as it is."""
    index = index_of(MILL)
    text, snapshot = "Which barley is ground, and with which copper?", index.snapshot
    vector = RetrievalSettings(**{f"{s}_weight": float(s == "vector") for s in (*SIGNALS, "meaning")})  # type: ignore[arg-type]
    whole, barley, copper = (score_plain(each, snapshot, RetrievalMode.SPARSE) for each in (text, "barley", "copper"))
    best = np.maximum(barley / barley.max(), copper / copper.max())
    by_hand = (whole + whole.max() * best) / 2
    assert whole[0] < 0.6 * whole.max() and by_hand[0] > 0.75 * by_hand.max()
    index.settings = vector
    found = {each.passage_id: each.score for each in index.retrieve(text)}
    assert found == pytest.approx(dict(zip(("a", "a2", "b"), by_hand.tolist(), strict=False)))
    for settings, asked in ((replace(vector, questions_weight=0.0), text), (vector, text.replace(", and", ""))):
        index.settings = settings
        assert index.retrieve(asked)[0].score == pytest.approx(whole.max())


def test_the_published_weights_know_vectors_and_the_walk_alone() -> None:
    assert PUBLISHED.weights == (0.3, 0.7, *[0] * (len(SIGNALS) - 2))


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("港区の区長は誰", "japanese"),  # words are not separated
        ("塔", "chinese"),  # one character
        ("cafe zoe", "accents"),
        ("Cafe\u0301 Zoe\u0308", "accents"),
        ("CAFÉ", "accents"),
        ("кто руководит складом", "cyrillic"),
    ],
)
def test_words_of_all_scripts_are_found(query: str, passage: str) -> None:
    index = HippoIndex()
    for name, text in {
        "japanese": "東京タワーは港区にある。港区の区長は清家愛である。",
        "chinese": "这座塔在北京。",
        "accents": "The Cafe\u0301 hires Zoë.",
        "cyrillic": "Иван руководит складом в Казани.",
        "other": "Lunch is served at noon.",
    }.items():
        index.add_passage(name, text)
    for mode in ("sparse", "hippo", "dense"):
        assert [each.passage_id for each in index.retrieve(query, top_k=1, mode=mode)] == [passage]


PAGES = {
    "a": "The page lists the colours of a page.",
    "b": "Each page of the report is printed.",
    "c": "A page that is deleted is removed from the cache as well.",
}
ERASED = "what happens when somebody erases a page"


def _meaning(counts: dict[str, int], encoder: QuestionEncoder) -> float:
    """Cosine of a bag of stems with ERASED, term by term."""
    total = np.zeros(128)
    for stem, n in counts.items():
        row = encoder.stems.position(stem)
        assert row >= 0
        total += n**0.7 * float(encoder.scales[row]) * unpack(encoder.rows[[row]])[0].astype(np.float64)
    vector = encoder.encode(ERASED)
    assert vector is not None
    return float(total @ vector / np.sqrt((total @ total) * (vector.astype(np.float64) @ vector)))


def test_meaning_decides_where_a_question_names_nothing() -> None:
    index, encoder = index_of(PAGES), shipped_encoder()
    snapshot = index.snapshot
    strings = snapshot.records.terms.strings
    bags = [{strings[term]: n for term, n in snapshot.records.passages[p].terms.tolist()} for p in "abc"]
    assert bags[0]["page"] == 2 and {"page": 1, "delet": 1, "remov": 1, "from": 1}.items() <= bags[2].items()
    want = [_meaning(bag, encoder) for bag in bags]
    cosines = compare_meaning(ERASED, np.arange(3), snapshot)
    assert cosines is not None and cosines == pytest.approx(want, abs=1e-6) and cosines.argmax() == 2
    plain = score_plain(ERASED, snapshot, RetrievalMode.SPARSE)
    assert [each.passage_id for each in index.retrieve(ERASED, mode="sparse")] == ["a", "b", "c"]
    found = {each.passage_id: each.score for each in index.retrieve(ERASED)}
    by_hand = (plain + 0.6 * plain.max() * cosines / cosines.max()) / 1.6
    assert list(found) == ["c", "a", "b"] and [found[p] for p in "abc"] == pytest.approx(by_hand.tolist())
    assert [each.passage_id for each in index.retrieve(ERASED, mode="dense")] == ["c", "a", "b"]
    for name, left in (("a Page", "names"), ("eine page wegwirft", "is in another language")):
        text = ERASED.replace("a page", name) if left == "names" else f"was passiert wenn jemand {name}"
        index.settings = RetrievalSettings()
        with_meaning = [(each.passage_id, each.score) for each in index.retrieve(text)]
        index.settings = RetrievalSettings(meaning_weight=0.0)
        assert [(each.passage_id, each.score) for each in index.retrieve(text)] == with_meaning, left


def test_meaning_does_not_depend_on_the_history_of_a_memory() -> None:
    index = HippoIndex()
    for passage in ("c", "x", "b", "a"):  # words get other numbers
        index.add_passage(passage, PAGES.get(passage, "The cache is printed."), metadata={"path": passage[0]})
    index.remove_passage("x")
    for mode in RetrievalMode:
        assert index.retrieve(ERASED, mode=mode) == index_of(PAGES).retrieve(ERASED, mode=mode)
