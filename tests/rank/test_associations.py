"""Words that stand in the same company, with a list made by hand; and the list that is shipped."""

from importlib.resources import files as resource_files

import pytest

from causalist.rank import associations
from causalist.rank.associations import MOST_FOR_A_WORD, associated, associated_terms
from causalist.rank.question import read_question
from causalist.rank.synonyms import MOST_WORDS
from causalist.rank.terms import STOP_WORDS, stem
from tests.model.corpus import Def, corpus

LIKE = {
    "retri": (("backoff", 0.8), ("delay", 0.5), ("queue", 0.5)),
    "sleep": (("delay", 0.6),),
}


@pytest.fixture(autouse=True)
def by_hand(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "shipped" not in request.node.name:
        monkeypatch.setattr(associations, "associated", lambda term: LIKE.get(term, ()))


def found(text: str, *words: str) -> dict[str, float]:
    c = corpus({"p.py": [Def("f", " ".join(words))]})
    weights = associated_terms(read_question(text), c.lexical, known={1})
    return {c.lexical.terms[number]: weight for number, weight in weights.items()}


def test_a_word_weighs_the_square_of_the_cosine_and_what_the_repository_lacks_nothing() -> None:
    assert found("where are retries", "backoff", "delay", "else") == pytest.approx({"backoff": 0.64, "delay": 0.25})


def test_of_several_words_it_stands_for_the_most_alike_counts() -> None:
    assert found("retries that sleep", "delay") == pytest.approx({"delay": 0.36})


def test_what_is_asked_for_itself_is_left_out() -> None:
    assert found("retries in a queue", "queue", "delay") == pytest.approx({"delay": 0.25})


def test_of_a_long_question_the_title_alone_is_read() -> None:
    body = " ".join(f"word{i}x" for i in range(MOST_WORDS))
    assert found(f"retries\n{body} sleep", "delay") == pytest.approx({"delay": 2 * 0.25})  # a word of the title weighs 2
    assert found(f"retries {body}\nand so on", "delay") == {}


def test_where_no_word_is_known_nothing_is_found() -> None:
    c = corpus({"p.py": [Def("f", "backoff")]})
    assert associated_terms(read_question("retries"), c.lexical, known=()) == {}


def test_no_word_has_more_than_the_first_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    many = tuple((2 * chr(ord("a") + i), 0.9) for i in range(MOST_FOR_A_WORD + 3))  # no stem of anything else
    monkeypatch.setattr(associations, "associated", lambda term: many if term == "retri" else ())
    there = [word for word, _ in many[2:]]
    assert sorted(found("retries", *there)) == there[:MOST_FOR_A_WORD]


def test_the_shipped_list_is_sorted_and_made_of_stems() -> None:
    lines = resource_files("causalist.rank").joinpath("associations.txt").read_text(encoding="utf-8").splitlines()
    words = [line.partition("\t")[0] for line in lines]
    assert len(words) > 3000
    assert words == sorted(set(words))
    for word in words:
        others = associated(word)
        assert others and len({other for other, _ in others}) == len(others)
        assert [cosine for _, cosine in others] == sorted((cosine for _, cosine in others), reverse=True)
        assert word not in dict(others) and not STOP_WORDS & {word, *dict(others)}
        assert all(0 < cosine <= 1 for _, cosine in others)


def test_the_shipped_list_knows_what_goes_with_retries() -> None:
    assert {"backoff", "attempt"} <= dict(associated(stem("retries"))).keys()
    assert associated("nosuchstemanywhere") == ()
    assert associated("retri\tdelay") == ()
