"""Words that the repository lacks are replaced by those that begin alike, and a verb with its particle by the form that
the repository has more often."""

import pytest

from causalist.rank import parse_query, with_corpus_spelling, with_near_terms
from causalist.rank.query.word_weights import APART_SHARE, JOINED_SHARE
from tests.model.corpus import Def, corpus

SHOP = corpus({"shop.py": [Def("authenticate", "authorise"), Def("pay", "payment payload")]})


def added(text: str, least_alike: int) -> dict[str, float] | None:
    question = parse_query(text)
    other = with_near_terms(question, SHOP.lexical, least_alike)
    return other and {term: weight for term, weight in other.terms.items() if term not in question.terms}


def test_the_longest_common_beginning_decides() -> None:
    """`authority` is stemmed to `author`, six letters; all of it stands at the beginning of `authoris`."""
    found = added("authority", 5)
    assert found is not None and set(found) == {"authoris"} and found["authoris"] == 1.0


def test_a_shorter_beginning_weighs_less() -> None:
    """Of `authxy` four letters are those of two terms."""
    assert added("authxy", 5) is None
    assert added("authxy", 3) == {"authent": 4 / 6, "authoris": 4 / 6}


def test_words_that_are_known_stay_alone() -> None:
    assert added("payment", 3) is None


APART = {"a.rb": [Def("sign_in", "sign_in user"), Def("guard", "sign_in"), Def("other", "signin login")]}


def test_a_verb_stands_as_most_definitions_have_it() -> None:
    question = parse_query("how does a user sign in")
    assert question.terms == {"user": 1.0, "sign": APART_SHARE, "signin": JOINED_SHARE}
    written = with_corpus_spelling(question, corpus(APART).lexical)
    assert written.terms == {"user": 1.0, "sign": APART_SHARE, "sign_in": JOINED_SHARE}
    assert written.title_terms == {"user", "sign", "sign_in"}


@pytest.mark.parametrize(
    "text",
    [
        "how does a user log in",  # no definition has log_in
        "does signin let a user sign in",  # written as one word
        "how does sign work",
    ],
)
def test_all_else_stays_as_it_is(text: str) -> None:
    question = parse_query(text)
    assert with_corpus_spelling(question, corpus(APART).lexical) is question


def test_of_two_forms_that_are_as_common_the_one_word_stays() -> None:
    lexical = corpus({"a.rb": [Def("f", "sign_in"), Def("g", "signin")]}).lexical
    question = parse_query("how does a user sign in")
    assert with_corpus_spelling(question, lexical) is question


def test_what_a_hyphen_joins_and_plurals_of_acronyms_are_spelled_as_in_the_repository() -> None:
    """`email` and `vms` are words of the repository, `runafter` is none; `to` and `do` are no terms of their own."""
    files = {"a.py": [Def("f", "email vms todo run after")]}
    question = parse_query("e-mail to VMs of the to-do list, run-after")
    spelled = with_corpus_spelling(question, corpus(files).lexical).terms
    assert question.terms.keys() == {"mail", "vm", "list", "run"}
    assert spelled.keys() - question.terms.keys() == {"email", "vms", "todo"}
    assert spelled["email"] == question.terms["mail"]


def test_an_acronym_that_is_used_as_a_verb_is_the_acronym() -> None:
    assert parse_query("pages that were OCRed").terms.keys() == {"page", "ocr"}
    assert parse_query("OCRing pages").terms.keys() == {"page", "ocr"}
