"""Courtesy and the form of asking, whichever way they are looked for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.rank.query import word_weights
from causalist.rank.query.word_weights import without_phrases

_BOTH = {
    "courtesy": (word_weights._COURTESY, word_weights._OF_COURTESY),
    "asking": (word_weights._ASKING, word_weights._OF_ASKING),
}


def plain(late: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(late.pattern, re.IGNORECASE)


@pytest.mark.slow
@pytest.mark.parametrize("kind", _BOTH)
@given(data=st.data())
def test_every_phrase_holds_a_word_that_is_looked_for(kind: str, data: st.DataObject) -> None:
    expression, words = _BOTH[kind]
    text = data.draw(st.from_regex(plain(expression), alphabet=st.characters(max_codepoint=126)))
    assert any(word in text.lower() for word in words)


@given(
    st.lists(
        st.sampled_from(
            ["where", "Which", "function", "that handles", "retries", "hi", "THANKS", "is", "there", "a way", "to",
             "defined?", "would you", "pleaſe", "I'd like", "i", "am", "\n", ",", "the", "place", "where it works"]
        )
    ).map(" ".join)
)  # fmt: skip
def test_nothing_is_missed(text: str) -> None:
    expected = plain(word_weights._ASKING).sub(" ", plain(word_weights._COURTESY).sub(" ", text))
    assert without_phrases(text) == expected
