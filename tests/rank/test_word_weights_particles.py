"""Verbs with particles: those that code writes in one word, and what only looks like one."""

import pytest

from causalist.rank.query.query import parse_query
from causalist.rank.query.word_weights import APART_SHARE, JOINED_SHARE, JoinedVerb, joined_verbs, parts_only_joined


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("how does a user log in", ["login"]),
        ("How does a user log in?", ["login"]),
        ("logging in with a token", ["login"]),
        ("how do I log in a user", ["login"]),
        ("logs the last user in", ["login"]),
        ("what happens when a customer logs out", ["logout"]),
        ("where is the sign-up form", ["signup"]),
        ("how is a failed import rolled back", ["rollback"]),
        ("how are old sessions cleaned up", ["cleanup"]),
        ("who sets the tables up, and when", ["setup"]),
        ("does it time out or fall back?", ["timeout", "fallback"]),
    ],
)
def test_words_of_verbs(text: str, words: list[str]) -> None:
    assert [verb.word for verb in joined_verbs(text)] == words


@pytest.mark.parametrize(
    "text",
    [
        "where is the log in the folder",
        "logs in JSON",
        "checks in the cache",
        "what is set by the user who is up",  # a preposition between
        "the time of the last run, out of all",  # another part of the sentence
        "which log of a run is written out",
        "the set of rows that is looked at last, up to a limit",
        "",
        "in out up",
    ],
)
def test_no_verb(text: str) -> None:
    assert joined_verbs(text) == []


def test_what_stands_alone_as_well() -> None:
    text = "who writes a log when users log in and fall back"
    found = joined_verbs(text)
    assert found == [
        JoinedVerb("log", "in", "login", "log_in"), JoinedVerb("fall", "back", "fallback", "fall_back")
    ]  # fmt: skip
    assert parts_only_joined(text, found) == {"in", "fall", "back"}


def test_what_names_write_apart_has_the_verb_and_not_its_stem() -> None:
    (verb,) = joined_verbs("what happens when a request times out")
    assert verb == JoinedVerb("time", "out", "timeout", "time_out")
    assert [v.apart for v in joined_verbs("carried over")] == ["carry_over"]


def test_weights_of_a_question() -> None:
    question = parse_query("how is a failed import rolled back")
    assert question.terms == {
        "fail": 1.0, "import": 1.0, "roll": APART_SHARE, "back": APART_SHARE, "rollback": JOINED_SHARE,
    }  # fmt: skip
    assert "rollback" in question.title_terms and question.is_brief


def test_a_word_that_is_written_counts_whole() -> None:
    terms = parse_query("does rollback roll back the import").terms
    assert terms["rollback"] == 1.0 and terms["roll"] == APART_SHARE


def test_in_the_body_of_a_long_question() -> None:
    terms = parse_query("Import fails\n\nThe failed import is not rolled back. Nothing is.").terms
    assert terms["rollback"] == pytest.approx(JOINED_SHARE) and terms["roll"] == pytest.approx(APART_SHARE)
