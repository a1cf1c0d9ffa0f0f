"""How the text of a question falls into parts; each case is written as people write reports."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.rank.query.blocks import BlockKind, Section, read_blocks
from causalist.rank.query.query import parse_query

FENCE = "```"


def parts(body: str) -> list[tuple[str, str, str]]:
    """(kind, section, text) of the blocks of a body that are not blank."""
    found = read_blocks("Title\n" + dedent(body)).body
    return [(b.kind.name, b.section.name, b.text.strip()) for b in found if b.text.strip()]


def fenced(text: str, language: str = "") -> str:
    return f"{FENCE}{language}\n{dedent(text).strip()}\n{FENCE}"


# -- the title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Login fails\nit does", "Login fails"),
        ("\n\n  Login fails  ", "Login fails"),
        ("# Login fails\nit does", "Login fails"),
        ("<!-- please search first -->\nLogin fails", "Login fails"),
        ('Traceback (most recent call last):\n  File "a.py", line 1, in f', ""),
        (fenced("x = 1"), ""),
        ("2023-09-01 12:00:00 INFO it starts\nmore", ""),
    ],
)
def test_the_first_line_is_the_title_unless_it_was_pasted(text: str, title: str) -> None:
    assert read_blocks(text).title == title


# -- Markdown


def test_comments_check_lists_and_empty_answers_of_a_form_are_no_words_of_the_question() -> None:
    body = """
    <!-- Thank you! Describe
    the token here. -->
    The cache fails.
    - [x] I searched the tokens
    - [ ] I would send a patch

    _No response_
    N/A
    """
    assert [(k, t) for k, _, t in parts(body)] == [
        ("PROSE", "The cache fails."),
        ("FORM", "- [x] I searched the tokens\n- [ ] I would send a patch"),
        ("FORM", "_No response_\nN/A"),
    ]
    assert set(parse_query("Title\n" + dedent(body)).terms) == {"titl", "cach", "fail"}


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("## Steps to reproduce", Section.STEPS),
        ("**Steps to Reproduce:**", Section.STEPS),
        ("Steps to reproduce:", Section.STEPS),
        ("### Expected behaviour", Section.EXPECTED),
        ("What should have happened:", Section.EXPECTED),
        ("## Environment", Section.ENVIRONMENT),
        ("## What version of Python are you using", Section.ENVIRONMENT),
        ("Your environment\n----------------", Section.ENVIRONMENT),
        ("### Versions", Section.ENVIRONMENT),
        ("### Relevant log output", Section.LOGS),
        ("## Checklist", Section.FORM),
        ("## File system of the cache", Section.NONE),
        ("## Logging of tokens", Section.NONE),
        ("## Versions of a schema", Section.ENVIRONMENT),  # a known gap: "versions of" is how forms ask
        ("## The problem", Section.NONE),
    ],
)
def test_headings_of_forms(heading: str, section: Section) -> None:
    assert read_blocks(f"Title\n\n{heading}\n\nzebra").body[-1][1] is section


def test_a_sentence_ends_a_section_that_asks_for_something_else() -> None:
    body = """
    ## Environment

    Python 3.11.2
    zebra

    The token cache should be emptied when a user logs out.
    """
    assert parts(body) == [
        ("DUMP", "ENVIRONMENT", "Python 3.11.2"),
        ("PROSE", "ENVIRONMENT", "zebra"),
        ("PROSE", "NONE", "The token cache should be emptied when a user logs out."),
    ]


def test_details_hide_what_few_read() -> None:
    body = f"<details><summary>zebra</summary>\n\n{fenced('a = f(b)', 'python')}\n\n</details>\n\nafter"
    assert parts(body) == [("PROSE", "LOGS", "zebra"), ("CODE", "LOGS", "a = f(b)"), ("PROSE", "NONE", "after")]


def test_quotes_lose_their_marks() -> None:
    assert parts("> it fails\n> always") == [("PROSE", "NONE", "it fails\nalways")]


@pytest.mark.parametrize("line", ["x->y is <b>bold</b>, 1>2", "Vec<T> of a => b", ">>> f(1)"])
def test_no_other_mark_is_lost(line: str) -> None:
    assert (
        "\n".join(text for _, _, text in parts(f"This is said first.\n{line}\nThis is said last.")).split("\n")[1]
        == line
    )


def test_a_fence_that_is_never_closed_takes_the_rest() -> None:
    assert parts(f"{FENCE}python\nx = f(1)\n\nmore()") == [("CODE", "NONE", "x = f(1)\n\nmore()")]


# -- what was pasted


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        ("python", "some words that say nothing", "CODE"),
        ("", "cache = TokenCache(limit=0)\ncache.put(user, token)\nprint(cache.get(user))", "CODE"),
        ("", "for (const user of users) {\n  cache.put(user);\n}", "CODE"),
        ("text", "cache = TokenCache()", "OUTPUT"),
        ("", "no such token\nwe looked everywhere\nand gave up", "OUTPUT"),
        ("", "2023-09-01 12:00:00,123 INFO db: start\n2023-09-01 12:00:01,456 WARNING db: slow", "OUTPUT"),
        ("", "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1", "OUTPUT"),
        ("json", '{"token": 1}', "OUTPUT"),
        ("json", "{\n" + ",\n".join(f'"key{i}": {i}' for i in range(20)) + "\n}", "DUMP"),
        ("", "anyio==4.2.0\nclick==8.1.7\nh11==0.14.0", "DUMP"),
        ("", "Package    Version\n---------- -------\nanyio      4.2.0\nclick      8.1.7", "DUMP"),
        ("", "Python 3.11.2\nOS: Ubuntu 22.04\nNode: 18.17.1", "DUMP"),
        ("", "├── express@4.18.2\n└── cookie@0.5.0", "DUMP"),
        ("", "00000000: 7f45 4c46 0201 0100 0000  .ELF\n00000010: 0300 3e00 0100 0000 306d  ..>.", "DUMP"),
        ("", "aGVsbG8gd29ybGQsIHRoaXMgaXMgYSBiYXNlNjQgdGV4dCB0aGF0IGlzIGxvbmcgZW5vdWdo", "DUMP"),
        ("", '"resolved": "https://registry.example/x.tgz",\n"integrity": "sha512-abc=="', "DUMP"),
        ("", "!function(e,t){" + "e.a=function(){return t.b(1,2)};" * 20 + "}", "DUMP"),
    ],
)
def test_kinds_of_fenced_text(language: str, text: str, kind: str) -> None:
    assert [k for k, _, _ in parts(fenced(text, language))] == [kind]


def test_what_was_typed_and_what_was_printed() -> None:
    body = fenced("$ shop token --all\nno such user")
    assert parts(body) == [("CODE", "NONE", "$ shop token --all"), ("OUTPUT", "NONE", "no such user")]
    body = fenced(">>> cache.get(1)\n'abc'", "pycon")
    assert parts(body) == [("CODE", "NONE", ">>> cache.get(1)"), ("OUTPUT", "NONE", "'abc'")]


def test_indented_code_stands_after_a_blank_line() -> None:
    assert parts("It fails:\n\n    cache.put(user)\n    cache.get(user)\n\nAlways.") == [
        ("PROSE", "NONE", "It fails:"),
        ("CODE", "NONE", "cache.put(user)\ncache.get(user)"),
        ("PROSE", "NONE", "Always."),
    ]
    assert parts("- it fails\n    whenever one asks") == [("PROSE", "NONE", "- it fails\n    whenever one asks")]


def test_a_traceback_needs_no_fence() -> None:
    body = """\
    It fails like this when I log in with it:
    Traceback (most recent call last):
      File "app.py", line 3, in main
        login()
        ~~~~~^^
    KeyError: 'user'
    """
    assert parts(body) == [
        ("PROSE", "NONE", "It fails like this when I log in with it:"),
        (
            "TRACE",
            "NONE",
            'Traceback (most recent call last):\n  File "app.py", line 3, in main\n    login()\n    ~~~~~^^',
        ),
        ("OUTPUT", "NONE", "KeyError: 'user'"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The cache of tokens should be emptied when a user logs out.",
        "It meets at 12:30 and the log says nothing.",
        "- use the cache\n- then empty it\n- then fill it",
        "We need a function that returns the user:\nit should take a token (see above).",
        "version 2 of the protocol is not understood",
    ],
)
def test_prose_is_prose(text: str) -> None:
    assert parts(text) == [("PROSE", "NONE", text)]


# -- what the parts weigh


def test_words_weigh_by_where_they_stand() -> None:
    """Title 2; prose 1 each time, 1 + ln 2 for two; code 0.5, however often; a dump 0.02."""
    body = f"cache\n\n{fenced('token = token(token)', 'python')}\n\n{fenced('zebra==1.2.3', 'text')}"
    terms = parse_query("login\n" + body).terms
    assert {t: terms[t] for t in ("login", "cach", "token", "zebra")} == {
        "login": 2.0,
        "cach": 1.0,
        "token": 0.5,
        "zebra": 0.02,
    }


def test_a_long_paste_says_no_more_than_30_words() -> None:
    """60 different words of code at 0.5 weigh 30 · 0.5 together."""
    code = "\n".join(f"call(zebra{chr(97 + i // 26)}{chr(97 + i % 26)}x)" for i in range(59))
    terms = parse_query("login\n" + fenced(code, "python")).terms
    assert sum(w for t, w in terms.items() if t.startswith("zebra")) == pytest.approx(59 * 0.5 * 30 / 60)


def test_names_in_dumps_are_not_looked_up() -> None:
    text = "login\n" + fenced("token_cache==1.2.3\nuser_store==2.0.1", "text")
    assert parse_query(text).named == ()


lines = st.sampled_from(
    ["", "```", "~~~", "# Environment", "    x", "\tat a.b(C.java:1)", "<details>", "</details>", "> a", "- [x] b",
     "x==1.2", "<!--", "-->", "Title", "----", "a sentence of six words is here."]
)  # fmt: skip


@given(st.lists(lines, max_size=14).map("\n".join) | st.text(max_size=80))
def test_any_text_has_parts(text: str) -> None:
    title, body = read_blocks(text)
    assert "\n" not in title
    assert all(0 <= block.weight <= 1 for block in body)
    assert all(isinstance(block.kind, BlockKind) for block in body)


@pytest.mark.parametrize(
    "trace",
    [
        """\
        KeyError                                  Traceback (most recent call last)
        Cell In[3], line 1
        ----> 1 shop.get('pear')
        File ~/shop/stock.py:31, in get(name)
             30     if not name:
        ---> 31         raise KeyError(name)""",
        """\
        KeyError                                  Traceback (most recent call last)
        <ipython-input-3-0123456789ab> in <module>
        ----> 1 shop.get('pear')
        ~/shop/stock.py in get(name)
             30     if not name:
        ---> 31         raise KeyError(name)""",
    ],
)
def test_a_traceback_of_a_notebook_is_one(trace: str) -> None:
    trace = dedent(trace)
    assert parts(fenced(trace)) == [("TRACE", "NONE", trace)]
    assert parts(trace) == [("TRACE", "NONE", trace)]
