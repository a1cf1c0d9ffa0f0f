"""What words tell, whatever the repository."""

from math import sqrt
from pathlib import Path

import pytest

from causalist.rank import parse_query
from causalist.rank.query import word_weights as told
from causalist.rank.terms import stem

WEIGHTS = Path(told.__file__).with_name("word_weights.txt")
LONG = " ".join(f"w{chr(97 + i)}x" for i in range(told.MAX_SHORT_QUERY_WORDS))


LOOKED_UP = told._weights  # before the words of these tests are made to weigh the same


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "_weights", lambda words: {"improv": 0.25, "redirect": 1.21})


@pytest.mark.usefixtures("weights")
def test_in_a_short_question_a_word_counts_by_the_root_and_never_more() -> None:
    assert parse_query("improve redirects of pages").terms == {"improv": sqrt(0.25), "redirect": 1.0, "page": 1.0}


@pytest.mark.usefixtures("weights")
def test_in_a_long_question_words_count_in_full_and_twice_in_the_title() -> None:
    terms = parse_query(f"improve redirects\n\n{LONG}").terms
    assert terms["improv"] == pytest.approx(2 * 0.25)
    assert terms["redirect"] == pytest.approx(2 * 1.21)
    assert terms["wax"] == 1.0


def test_the_shipped_words_are_stems_in_order_with_weights_that_say_something() -> None:
    rows = [line.split() for line in WEIGHTS.read_text(encoding="utf-8").splitlines()]
    words = [word for word, _ in rows]
    assert words == sorted(set(words))
    assert len(words) > 1_000
    assert all(20 <= int(percent) <= 130 and abs(int(percent) - 100) >= 10 for _, percent in rows)
    known = {word: int(percent) for word, percent in rows}
    # People say it of code; they write it there.
    assert known[stem("improve")] < 50 < 100 < known[stem("redirect")]


def test_a_few_words_are_found_as_all_of_them_are() -> None:
    rows = [line.split() for line in WEIGHTS.read_text(encoding="utf-8").splitlines()]
    known = {word: int(percent) / 100 for word, percent in rows}
    for word, weight in known.items():
        assert LOOKED_UP([word, "nowhere"]) == {word: weight}
    assert LOOKED_UP([f"x{i}" for i in range(told.MAX_SHORT_QUERY_WORDS + 1)]) == known
    first, second = rows[0], rows[1]
    for other in (first[0][:-1], first[0][1:], " ".join(first), f"{first[0]} {first[1]}\n{second[0]}", "", "\n"):
        assert other in known or LOOKED_UP([other]) == {}
