"""What is read from a question: terms, names, routes; and that nobody can make it slow."""

import time
from math import log

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from causalist.model.answer import Route
from causalist.rank.query.identifiers import MentionKind, QueryMention
from causalist.rank.query.query import ParsedQuery, parse_query
from causalist.rank.terms import STOP_WORDS

PYTHON_TRACEBACK = """Login fails
Traceback (most recent call last):
  File "/app/src/web/auth.py", line 31, in verify
    raise Expired
  File "C:\\app\\cli.py", line 3, in <module>
    main()
"""

JS_TRACEBACK = """Login fails
TypeError: token is undefined
    at Session.verify (/app/src/auth.ts:31:7)
    at async Object.run (C:\\app\\cli.ts:3:1)
    at /app/src/main.js:1:2
"""


def named(text: str, kind: str | None = None) -> list[str]:
    return [n.text for n in parse_query(text).named if kind is None or n.kind == kind]


# -- terms


def test_words_of_one_line_weigh_1_however_often_they_stand_there() -> None:
    assert parse_query("Which cache? The token cache, the Token caches!").terms == {"cach": 1.0, "token": 1.0}


def test_titles_weigh_more_than_bodies() -> None:
    """Title 2. Body 1 + ln(occurrences): token 1 + ln 3, user 1. Both: the sum."""
    question = parse_query("token cache\ntoken and token and token of a user")
    assert question.terms == pytest.approx({"cach": 2.0, "token": 2.0 + 1.0 + log(3), "user": 1.0}, rel=1e-15)
    assert question.title_terms == {"cach", "token"}


def test_a_body_without_terms_is_no_body() -> None:
    assert parse_query("token cache\n\nwhy is it?").terms == {"cach": 1.0, "token": 1.0}


def test_blank_lines_before_the_title_do_not_make_it_empty() -> None:
    assert parse_query("\n  \n token\ncache").title_terms == {"token"}


def test_stop_words_single_characters_and_blobs_are_no_terms() -> None:
    blob = "ab" * 41
    assert parse_query(f"Where does the a b 7 x {blob} authentication happen?").terms == {"authent": 1.0}
    assert parse_query("WHERE Does It Happen").terms == {}


def test_stop_words_inside_identifiers_are_left_out_and_the_whole_is_kept() -> None:
    assert parse_query("getUserBy").terms == {"user": 1.0, "getuserby": 1.0}
    assert parse_query("up_to").terms == {"up_to": 1.0}


def test_identifiers_are_split_and_kept_whole() -> None:
    assert parse_query("parseHTTPHeader sha_256").terms == dict.fromkeys(
        ["pars", "http", "header", "parsehttpheader", "sha", "256", "sha_256"], 1.0
    )


def test_words_of_any_script_are_terms() -> None:
    assert parse_query("認証 пароль").terms == {"認証": 1.0, "пароль": 1.0}


def test_written_is_the_shortest_word_of_each_term_as_it_was_asked() -> None:
    question = parse_query("Authentication authenticate: Caching HTTP in getUsers")
    assert question.written["authent"] == "authenticate"
    assert question.written["cach"] == "caching"  # a capital that only begins a sentence is not repeated
    assert question.written["http"] == "HTTP"
    assert question.written["user"] == question.written["getusers"] == "getUsers"
    assert set(question.terms) <= set(question.written)


# -- courtesy and the form of asking


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (
            "Hi there! Could you please show me where in the code the token is checked? Thanks in advance!",
            "token check",
        ),
        ("Which function or method is responsible for the token", "token"),
        ("I would expect the token to be checked. Any help would be appreciated.", "token check"),
        ("The token is wrong. Happy to open a merge request if this is wanted", "token wrong"),
        ("show tokens to users", "show token user"),
        ("the class of a token", "class token"),
        ("Thanks!", "thank"),  # nothing else is asked for
    ],
)
def test_courtesy_is_not_what_a_question_is_about(text: str, terms: str) -> None:
    assert set(parse_query(text).terms) == set(terms.split())


# -- printed messages


def test_messages_that_were_raised_or_quoted_are_patterns() -> None:
    text = 'Login\nit says "no such user in shop" and "no"\n\nTypeError: token 7 is not valid\n    at f (a.js:1:2)'
    assert [(p.text, p.is_printed) for p in parse_query(text).patterns] == [
        ("token 7 is not valid", True),
        ("no such user in shop", True),
    ]


# -- abbreviations


def test_longer_words_may_be_abbreviated() -> None:
    """Beginnings from 3 letters to 3 less than the word, a quarter of the weight of its stem, but no term itself."""
    assert parse_query("request con").abbreviations == {"req": 0.25, "requ": 0.25}
    # `con` is asked for as it stands, `connect` is the stem of connection and counts in full.
    assert parse_query("connection con").abbreviations == {"conn": 0.25, "conne": 0.25, "connec": 0.25}


def test_abbreviations_weigh_as_their_word_does() -> None:
    """request: title 2 + body 1 = 3, a quarter of it 0.75. require: body 1, but `req` is the heavier word's as well."""
    found = parse_query("request\nrequest require").abbreviations
    assert found == {"req": 0.75, "requ": 0.75}


@pytest.mark.parametrize("text", ["cache token user", "before during between", "認証認証認証認証", "12345678"])
def test_short_words_stop_words_and_other_scripts_are_not_abbreviated(text: str) -> None:
    assert parse_query(text).abbreviations == {}


# -- names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where is getUser", ["getUser"]),
        ("where is get_user", ["get_user"]),
        ("where is _user", ["_user"]),
        ("where is __init__", ["__init__"]),
        ("where is UserStore", ["UserStore"]),
        ("where is HTTPServer", ["HTTPServer"]),
        ("where is MAX_SIZE", ["MAX_SIZE"]),
        ("where is verify(token) called", ["verify"]),
        ("where is `verify`", ["verify"]),
        ("where is `verify()`", ["verify"]),
        ("where is `not a name`", []),
        ("where is ```verify```", []),
        ("where is Verify HTTP the USER 3.12", []),
        ("where is verify (the token)", []),
    ],
)
def test_symbols(text: str, expected: list[str]) -> None:
    found = [n for n in parse_query(text).named if n.kind == "symbol"]
    assert found == [QueryMention(MentionKind.SYMBOL, name, 1.0) for name in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Session.verify", ["Session.verify"]),
        ("is `a.b.c` used?", ["a.b.c"]),
        ("session.verify() fails.", ["session.verify"]),
        ("version 3.12 of 1.x", []),
        ("from web.auth import verify", ["web.auth.verify", "web.auth"]),
        ("from web import (verify as check, Session, )", ["web.verify", "web.Session"]),
        ("from .auth import verify", [".auth.verify"]),
        ("from ..web.auth import verify", ["..web.auth.verify", "web.auth"]),
        ("from web import *", []),
        ("comes from the import", []),
    ],
)
def test_qualified_names(text: str, expected: list[str]) -> None:
    assert named(text, "qualified") == expected


def test_an_import_from_the_same_folder_names_a_symbol_only() -> None:
    """`..auth` would be a module without a name, as every file without a stem is."""
    assert parse_query("from . import auth, web").named == (
        QueryMention(MentionKind.SYMBOL, "auth", 1.0),
        QueryMention(MentionKind.SYMBOL, "web", 1.0),
    )
    assert named("from .. import auth") == ["auth"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in src/web/auth.py there", ["src/web/auth.py"]),
        ("in ./src/auth.ts:31", ["src/auth.ts"]),
        ("in ../auth.ts.", ["auth.ts"]),
        ("in `src/web`", ["src/web"]),
        ("in @scope/pkg-name/v1.2", ["@scope/pkg-name/v1.2"]),
        ("in auth.py", ["auth.py"]),
        ("in my-auth.py, pyproject.toml", ["my-auth.py", "pyproject.toml"]),
        ("in auth.pyx", []),
        ("a / b", []),
        ("a//b", []),
        ("http://localhost/x", []),
    ],
)
def test_paths(text: str, expected: list[str]) -> None:
    assert named(text, "path") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in src/web/auth.py:31 it fails", [("src/web/auth.py", 31)]),
        ("in src\\web\\auth.py:31 it fails", [("src/web/auth.py", 31)]),
        ("in C:\\app\\src\\auth.py", [("app/src/auth.py", 0)]),
        ("in auth.py line 31", [("auth.py", 31)]),
        ("in auth.py (31)", [("auth.py", 0)]),
        ("in auth.py#L31", [("auth.py", 31)]),
        ("see https://host.example/o/r/blob/main/src/auth.py#L10-L20 for it", [("src/auth.py", 10)]),
        ("see https://host.example/o/r/-/blob/v1/src/auth.py there", [("src/auth.py", 0)]),
        ("see https://host.example/o/r/issues/3 for it", []),
    ],
)
def test_paths_with_lines_of_windows_and_of_pages(text: str, expected: list[tuple[str, int]]) -> None:
    assert [(n.text, n.line) for n in parse_query(text).named if n.kind == "path"] == expected


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("what does Session#verify do here", "qualified", ["Session.verify"]),
        ("what does auth::Session::verify do", "qualified", ["auth.Session.verify"]),
        ("what does Session->verify do here", "qualified", ["Session.verify"]),
        ("issue#12 is the same", "qualified", []),
        ("what does --max-retries do", "symbol", ["max_retries", "maxretries"]),
        ("what does --json do", "symbol", ["json"]),
        ("a -- b and ---c", "symbol", []),
        ("who passes max_retries=3 here", "symbol", ["max_retries"]),
        ("import { Session, type User as U } from './auth'", "symbol", ["Session", "User"]),
        ("it\n@cached\ndef f", "symbol", ["cached"]),
        ("what raises E108 and TS2345", "code", ["E108", "TS2345"]),
        ("ERR_NO_USER is raised", "code", ["ERR_NO_USER"]),
        ("Python 3.11.2 and HTTP and UTF8", "code", []),
    ],
)
def test_further_names(text: str, kind: str, expected: list[str]) -> None:
    assert named(text, kind) == expected


@pytest.mark.parametrize("text", ["we follow https://example.com/docs/a.py here", "see www.example.com/x/y.md or so"])
def test_an_address_is_no_path(text: str) -> None:
    question = parse_query(text)
    assert [n.text for n in question.named if n.kind == "path"] == []
    assert question.route is Route.SIMPLE


def test_a_slash_between_words_looks_nothing_up() -> None:
    assert parse_query("where does the client/server handshake end").route is Route.SIMPLE
    assert parse_query("where does client/server.ts end the handshake").route is Route.LOOKUP


def test_frames_of_tracebacks_are_apart_from_names() -> None:
    """What a frame names is looked for where the frame says, and not among all that bear the name."""
    question = parse_query(PYTHON_TRACEBACK)
    assert [(f.path, f.line, f.function) for f in question.frames] == [
        ("C:/app/cli.py", 3, ""),
        ("/app/src/web/auth.py", 31, "verify"),
    ]
    assert question.named == ()
    question = parse_query(JS_TRACEBACK)
    assert [f.path for f in question.frames] == ["/app/src/auth.ts", "C:/app/cli.ts", "/app/src/main.js"]
    assert [(r.type, r.message) for r in question.raised] == [("TypeError", "token is undefined")]


def test_what_is_named_twice_is_kept_once_with_the_weight_of_the_title() -> None:
    assert parse_query("getUser or getUser\ngetUser and getName").named == (
        QueryMention(MentionKind.SYMBOL, "getUser", 1.0),
        QueryMention(MentionKind.SYMBOL, "getName", 0.6),
    )


# -- routes


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("where does auth happen", Route.SIMPLE),
        ("", Route.SIMPLE),
        ("UserStore", Route.LOOKUP),
        ("where is UserStore", Route.LOOKUP),
        ("where is the UserStore", Route.SIMPLE),  # more than a name
        ("Session.verify", Route.LOOKUP),
        ("what does the code in src/auth.py do all day", Route.LOOKUP),
        (PYTHON_TRACEBACK, Route.LOOKUP),
        (JS_TRACEBACK, Route.LOOKUP),
        ("architecture", Route.EXPLORATORY),
        ("give me an overview, please", Route.EXPLORATORY),
        ("how is the code organised?", Route.EXPLORATORY),
        ("overview\nof the whole", Route.SIMPLE),  # not short
        ("what is the architecture of the token cache", Route.SIMPLE),
        ("why is the token rejected", Route.MULTI_HOP),
        ("How does a request reach the database", Route.MULTI_HOP),
        ("how do words become terms", Route.MULTI_HOP),
        ("how is a name turned into a node", Route.SIMPLE),
        ("how does the parser end up here", Route.MULTI_HOP),
        ("what affects the score", Route.MULTI_HOP),
        ("code related to sessions", Route.MULTI_HOP),
        ("how does the cache work", Route.EXPLORATORY),
        ("How do the hooks of a request work?", Route.EXPLORATORY),
        ("how middleware works", Route.EXPLORATORY),
        ("how does the cache work\nsince the update", Route.SIMPLE),  # not short
        ("how does the worker reach the queue of work", Route.MULTI_HOP),
        ("where is what shows how it works", Route.SIMPLE),
        ("how works are stored", Route.SIMPLE),
        ("reach the end", Route.SIMPLE),
        ("tokens\nwhy is it so", Route.SIMPLE),  # the body does not decide
    ],
)
def test_routes(text: str, route: Route) -> None:
    assert parse_query(text).route is route


@pytest.mark.parametrize(
    ("text", "behaviour"),
    [
        ("where is the password checked", True),
        ("How does login work", True),
        ("what happens on logout", True),
        ("what limits the size", True),
        ("who calls login", False),
        ("the place where login is done", False),
        ("whatever is done", False),
        ("find out where does it end", False),
        ("type of a session", False),
        ("login\nhow does it work", False),
    ],
)
def test_questions_about_behaviour(text: str, behaviour: bool) -> None:
    assert parse_query(text).is_about_behavior is behaviour


# -- anything at all

fragments = st.sampled_from(
    [
        "where",
        "getUser",
        "a.b",
        "`x`",
        "src/a.py",
        "\n",
        " ",
        "from a import b",
        'File "a.py", line 1, in f',
        "é",
        "(",
        ")",
    ]
)
texts = st.text(st.characters(), max_size=60) | st.lists(fragments, max_size=12).map("".join)


@given(texts)
@example("0\r0>0")
@example("\ud800")
@example("\n at x (\ud800:1:1)")
def test_any_text_is_a_question(text: str) -> None:
    question = parse_query(text)
    assert question == parse_query(text)
    assert isinstance(question, ParsedQuery)
    assert all(weight > 0 for weight in question.terms.values())
    assert all(weight > 0 for weight in question.abbreviations.values())
    assert set(question.terms).isdisjoint(question.abbreviations)
    assert STOP_WORDS.isdisjoint(question.terms)
    assert question.title_terms <= set(question.terms) <= set(question.written)
    assert all(n.text and 0 < n.weight <= 1 for n in question.named if n.kind != "path")
    assert len({(n.kind, n.text) for n in question.named}) == len(question.named)


def test_what_stands_behind_20_000_characters_is_not_read() -> None:
    filler = "the " * 5000
    assert len(filler) == 20_000
    assert parse_query(filler + "token").terms == {}
    assert parse_query(filler[:-8] + "token   cache").terms == {"token": 1.0}
    assert len(parse_query("x" * 30_000).text) == 20_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a.",
            "((((",
            "a(",
            "`",
            "` ",
            "a",
            "A",
            "aA",
            "-",
            "-a",
            "a-",
            "@",
            ".",
            "/",
            "a/",
            "a/-",
            "./",
            "_",
            "_a",
            "a_",
        ),
        *(
            "\n",
            "\t",
            " ",
            "x\n",
            "how do ",
            "how does it ",
            "from ",
            "from a import b, ",
            'File "',
            "\n at ",
            "\n at (a",
        ),
        *(":1", "1:1:", "é", "日", "\x00", "\u3000", "\ud800"),
    ],
)
def test_hostile_questions_are_read_in_time(unit: str) -> None:
    """A megabyte each; also behind a title, and with an end that spoils what was matched. Most take a millisecond."""
    many = unit * (1_000_000 // len(unit))
    for text in (many, "x" + many, "title\n" + many, (unit * 19_000)[:19_900] + "!"):
        start = time.process_time()
        parse_query(text)
        assert time.process_time() - start < 1.0
