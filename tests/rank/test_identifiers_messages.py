"""What a question says that a program printed, in the forms in which people paste it."""

import pytest

from causalist.rank.query.identifiers import can_be_printed
from causalist.rank.query.query import parse_query, with_message_patterns


def printed(text: str) -> list[tuple[str, bool]]:
    return [(p.text, p.is_exact) for p in parse_query(text).patterns if p.is_printed]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("why do I get `no such user anna in shop`", "no such user anna in shop"),
        ('why does it say "no user "anna" in shop"?', 'no user "anna" in shop'),
        ("what does 'user isn't in the shop' mean", "user isn't in the shop"),
        ("where does “no such user in shop” come from", "no such user in shop"),
        ("`no such user anna in shop` when I log in", "no such user anna in shop"),
    ],
)
def test_a_quoted_message_is_certain(question: str, message: str) -> None:
    assert printed(question) == [(message, True)]


@pytest.mark.parametrize(
    "question",
    [
        "Could not find user anna in the shop",
        "could not be read: file a.txt",
        "is not a number of the shop",
        "user is missing in the shop",
        "why do I get user anna is in two shops",
        "why am I getting user anna is in two shops",
        "where does the message user anna is missing in shop come from",
        'service "web" error: unable to find the shop of anna',
        "ASGI callable should return None, but returned 'http://localhost:8080/api'",
        "shop: users are in several houses",
        "when passing users by name, each must be in the shop",
    ],
)
def test_a_bare_message_may_be_one(question: str) -> None:
    assert printed(question) == [(question, False)]


@pytest.mark.parametrize(
    "question",
    [
        "where are users of the shop checked",
        "how do I get the users of the shop",
        "how are error messages of the shop written",
        "could the users of the shop be cached",
        "does the shop open when nobody is there",
        "when does the shop close its doors",
        "why is the shop closed on Sundays",
        "why do I get nothing",
        "list all users with a key",
        "the shop and its users at night",
        "what `user shop` is",
        "no such user",
        "",
    ],
)
def test_what_is_asked_is_not_printed(question: str) -> None:
    assert printed(question) == []


@pytest.mark.parametrize(
    "line",
    [
        "2024-05-01T12:03:11Z ERR no user anna in the shop",
        "[2024-05-01 12:03:11] app.ERROR: no user anna in the shop",
        "12:03:11 WARN  [main] no user anna in the shop",
        "error: no user anna in the shop",
    ],
)
def test_a_line_of_a_log(line: str) -> None:
    assert printed(line) == [(line, False)]
    # Below a title only what is severe is looked at.
    assert printed(f"the shop at night\n\n```\n{line}\n12:03:12 INFO the shop is open now\n```") == [(line, False)]


def test_those_that_are_certain_come_first_and_are_few() -> None:
    raised = "".join(f"ValueError: no user {n} in shop\n" for n in range(9))
    assert printed(f"user anna is missing in shop\n\n{raised}") == [(f"no user {n} in shop", True) for n in range(4)]


def test_a_quoted_literal_may_have_been_printed() -> None:
    found = with_message_patterns(parse_query('"no user anna in the shop"'))
    assert found is not None
    assert [(p.text, p.is_whole_query, p.is_printed) for p in found.patterns] == [
        ("no user anna in the shop", False, True)
    ]
    assert with_message_patterns(parse_query('"no user"')) is None
    assert with_message_patterns(parse_query("/no user anna in the shop/")) is None
    assert with_message_patterns(parse_query("no user anna in the shop")) is None


def test_other_scripts_and_odd_texts() -> None:
    for text in (
        "認証 が 失敗 しました",
        "? ! .",
        "'" * 50,
        '"' * 50,
        "`",
        "не удалось найти пользователя: anna",
        "\0 \0",
    ):
        assert isinstance(can_be_printed(text), bool)
        printed(text)
