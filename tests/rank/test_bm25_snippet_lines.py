"""What the lines of a long text weigh in a question."""

import re
from math import log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.rank import SnippetLines, parse_query
from causalist.rank.lexical.bm25 import _places
from tests.model.corpus import Def, corpus


def test_a_line_weighs_as_much_as_the_words_in_it() -> None:
    """Four documents have words: f, g, h and i. `refund` stands in one of them: ln(1 + 3.5 / 1.5); `order` in two:
    ln(1 + 2.5 / 2.5). Identifiers are split, a word that stands twice counts once."""
    c = corpus({"a.py": [Def("f", "refund order"), Def("g", "order"), Def("h", "x"), Def("i", "y")]})
    n = c.lexical.definitions.n_documents
    refund = log1p((n - 1 + 0.5) / 1.5)
    order = log1p((n - 2 + 0.5) / 2.5)
    lines = SnippetLines(parse_query("refund an order"), c.lexical)
    found = lines.find("def pay():\n    refund_order(order)\n\n    order = 1\n    refunds.clear()\n")
    assert found == pytest.approx({1: refund + order, 3: order, 4: refund})


def test_words_that_the_repository_does_not_have_tell_nothing() -> None:
    c = corpus({"a.py": [Def("f", "refund")]})
    assert SnippetLines(parse_query("zyzzyva"), c.lexical).find("zyzzyva\n") == {}


@given(st.sampled_from(["a", "aa", "order", "é1"]), st.text(alphabet="a_ é1\n-", max_size=30))
def test_a_word_stands_where_an_expression_finds_it(word: str, text: str) -> None:
    text = text.replace("-", word)
    assert list(_places(word, text)) == [match.start() for match in re.finditer(rf"\b{word}\b", text)]
