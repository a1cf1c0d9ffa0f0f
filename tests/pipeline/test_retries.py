"""A question of which no word is known is asked again with words that begin alike; others are asked once."""

from pathlib import Path

import pytest

from causalist.model.answer import AskOptions, Level, RankMode
from causalist.pipeline.repository import Repository
from tests.pipeline.sample import in_memory


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    (tmp_path / "login.py").write_text("def authenticate(user):\n    return user\n")
    (tmp_path / "till.py").write_text("def payment_of(basket):\n    return basket\n")
    return in_memory(tmp_path)


def test_what_begins_alike_is_found_and_said(shop: Repository) -> None:
    answer = shop.ask("authentix", AskOptions(level=Level.FILE))
    assert answer.attempts == 2
    assert answer.results[0].path == "login.py"
    (note,) = answer.diagnostics
    assert note.slug == "broadened" and "attempt 2" in note.detail and "authent" in note.detail
    assert answer.confidence is not None and 0 < answer.confidence < 0.7


def test_fewer_letters_are_the_third_attempt(shop: Repository) -> None:
    """`authxyz` has four letters in common, so that the attempt that wants five has nothing to ask for."""
    answer = shop.ask("authxyz")
    assert answer.attempts == 2 and answer.results
    assert "attempt 2" in answer.diagnostics[0].detail


def test_the_best_of_what_was_asked_is_no_surer_for_being_broadened(shop: Repository) -> None:
    known, broadened = shop.ask("authenticate"), shop.ask("authentix")
    assert known.confidence is not None and broadened.confidence is not None
    assert broadened.confidence < known.confidence


def test_what_is_found_is_not_asked_again(shop: Repository) -> None:
    answer = shop.ask("payment authentix")
    assert answer.attempts == 1 and answer.diagnostics == ()


@pytest.mark.parametrize("question", ['"authentix"', "/authentix/"])
def test_what_is_asked_for_to_the_letter_is_never_broadened(shop: Repository, question: str) -> None:
    answer = shop.ask(question)
    assert (answer.attempts, answer.results, answer.confidence) == (1, (), None)


def test_nothing_alike_is_nothing_found(shop: Repository) -> None:
    answer = shop.ask("zzzz")
    assert (answer.attempts, answer.results, answer.confidence) == (1, (), 0.0)


def test_a_list_by_pagerank_has_no_confidence(shop: Repository) -> None:
    assert shop.ask("payment", AskOptions(rank=RankMode.PAGERANK)).confidence is None
    found = shop.ask("authentix", AskOptions(rank=RankMode.PAGERANK))
    assert found.results and found.confidence is None


def test_the_header_says_how_sure(shop: Repository) -> None:
    answer = shop.ask("authentix")
    assert answer.pack is not None and answer.confidence is not None
    assert f"uncertain ({answer.confidence:.2f})" in answer.pack.text.splitlines()[1]
