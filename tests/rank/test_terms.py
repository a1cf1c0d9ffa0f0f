"""Words become terms: parts of identifiers, stemmed, and the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.rank.terms import STOP_WORDS, split_word, stem, terms_of

identifiers = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUser", ["get", "user"]),
        ("GetUser", ["get", "user"]),
        ("get_user", ["get", "user"]),
        ("GET_USER", ["get", "user"]),
        ("__init__", ["init"]),
        ("parseHTTPResponse", ["parse", "http", "response"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("XMLHttpRequest", ["xml", "http", "request"]),
        ("userID", ["user", "id"]),
        ("iOS", ["i", "os"]),
        ("URLs", ["url"]),
        ("userIDsByURLs2", ["user", "id", "by", "url", "2"]),
        ("isAs", ["is", "as"]),
        ("TLSserver", ["tl", "sserver"]),  # not the plural of an acronym
        ("sha256sum", ["sha", "256", "sum"]),
        ("v2", ["v", "2"]),
        ("認証Token", ["認証", "token"]),
        ("пароль", ["пароль"]),
        ("ÜberAll", ["ü", "ber", "all"]),  # accents end a part; on both sides, so that the word is still found
        ("___", []),
        ("", []),
        ("x" * 40, ["x" * 40]),
        ("x" * 41, []),
        ("ok_" + "x" * 41, ["ok"]),
    ],
)
def test_parts_of_identifiers(word: str, parts: list[str]) -> None:
    assert split_word(word) == parts


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("running", "run"),
        ("caches", "cach"),
        ("caching", "cach"),
        ("authentication", "authent"),
        ("authenticate", "authent"),
        ("is", "is"),
        ("as", "as"),
        ("utf8s", "utf8s"),
        ("cafés", "cafés"),
        ("認証", "認証"),
    ],
)
def test_stems(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("users", ("user",)),
        ("getUsers", ("get", "user", "getusers")),
        ("get_users", ("get", "user", "get_users")),
        ("_getUsers_", ("get", "user", "getusers")),  # what only marks a name as private does not make another term
        ("userUser", ("user", "useruser")),
        ("usersUser", ("user", "usersuser")),
        ("E108", ("e", "108", "e108")),
        ("__all__", ("all",)),
        ("१२", ()),
    ],
)
def test_terms_are_stems_of_parts_and_the_whole(word: str, terms: tuple[str, ...]) -> None:
    assert terms_of(word) == terms


def test_camel_case_and_snake_case_share_their_parts_and_differ_as_a_whole() -> None:
    camel, snake = set(terms_of("tokenCache")), set(terms_of("token_cache"))
    assert camel & snake == {"token", "cach"}
    assert camel ^ snake == {"tokencache", "token_cache"}


@given(identifiers)
def test_terms_of_an_identifier(word: str) -> None:
    terms = terms_of(word)
    parts = split_word(word)
    assert len(set(terms)) == len(terms)
    assert all(term and term == term.lower() for term in terms)
    assert all(stem(part) in terms for part in parts)
    assert "".join(parts) == word.replace("_", "").lower()
    assert (word.strip("_").lower() in terms) or len(parts) < 2


@given(st.text(st.characters(), max_size=30))
def test_any_text_has_terms(word: str) -> None:
    assert len(set(terms_of(word))) == len(terms_of(word))
    assert "" not in terms_of(word)


def test_stop_words_are_one_word_each_in_lower_case() -> None:
    assert {"where", "does", "happen", "happens", "the"} <= STOP_WORDS
    assert all(word.isalpha() and word == word.lower() for word in STOP_WORDS)
    # Words that name things in programs are no stop words.
    assert STOP_WORDS.isdisjoint(["test", "file", "import", "class", "error", "return", "call", "set", "find", "time"])
