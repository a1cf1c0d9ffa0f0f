"""Names of code in prose: what writers mark, and what is passed over."""

import pytest

from causalist.model.facts import MentionForm
from causalist.parse import parse_file, parse_text


def mentions(path: str, text: str) -> list[tuple[str, str]]:
    return [(MentionForm(m.form).name.lower(), m.name) for m in parse_text(path, text.encode()).mentions]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Ask `Session.verify()` or ``max_age``.", [("span", "Session.verify()"), ("span", "max_age")]),
        ("Plain words, Session.verify and max_age, are passed over.", []),
        ("See [the code](../src/app.py#L3) and [a page](https://x.org/a.py).", [("link", "../src/app.py")]),
        ("::: app.auth.Session", [("role", "app.auth.Session")]),
        ("An ` open span and `a closed one`", [("span", "open span and")]),
        ("`x`", []),  # one letter is no name
    ],
)
def test_lines_of_markdown(line: str, expected: list[tuple[str, str]]) -> None:
    assert mentions("a.md", f"# Title\n\n{line}\n") == expected


def test_data_in_a_block_of_code_is_passed_over_soon() -> None:
    lines = ["A" + "a" * 300_000, "aA" * 150_000 + "-", "abcdefgh::" * 40_000 + "/"]
    text = "# T\n\n```\n" + "\n".join(lines) + "\nOpenDoor\nOpen(1)\nopenDoor\n```\n"
    assert mentions("a.md", text) == [("example", "OpenDoor"), ("example", "Open")]


def test_blocks_of_code() -> None:
    text = """```python
from app.auth import Session, check as c
client = app.connect("http://Example.Com/a.b", retries=3)
JsonReader(data)
other = make(data)
```
After it `word`.
```js
import { openStore, closeStore as close } from 'store'
```
"""
    assert mentions("a.md", text) == [
        ("example", "app.auth.Session"),
        ("example", "app.auth.check"),
        ("example", "app.connect"),
        ("example", "JsonReader"),
        ("span", "word"),
        ("example", "openStore"),
        ("example", "closeStore"),
    ]


def test_lines_under_titles_are_no_fences() -> None:
    assert mentions("a.md", "Title\n-----\n\n`one_name` in prose.\n\n----\n\n`other_name`\n") == [
        ("span", "one_name"),
        ("span", "other_name"),
    ]
    assert mentions("a.adoc", "`one_name`\n\n----\nStore()\n----\n`other_name`\n") == [
        ("span", "one_name"),
        ("example", "Store"),
        ("span", "other_name"),
    ]


def test_restructuredtext() -> None:
    text = """Title
=====

.. module:: app.auth

.. class:: Session(key)

   Checks :meth:`~Session.verify` and :doc:`guide`, not ``x``.

   .. method:: close()

.. autofunction:: app.check

Use it so::

    session = app.auth.Session("k")

Then :func:`the check <app.check>`.
"""
    assert mentions("a.rst", text) == [
        ("role", "app.auth"),
        ("role", "app.auth.Session"),
        ("role", "Session.verify"),
        ("role", "app.auth.Session.close"),
        ("role", "app.check"),
        ("example", "app.auth.Session"),
    ]


def test_where_they_stand() -> None:
    """The innermost section, each name once in it, at the first row."""
    text = "`before`\n\n# One\n\n`twice`\n`twice`\n\n## Two\n\n`twice`\n"
    found = [(m.document, m.name, m.row) for m in parse_text("a.md", text.encode()).mentions]
    assert found == [(-1, "before", 0), (0, "twice", 4), (1, "twice", 9)]


@pytest.mark.parametrize("path", ["a.csv", "Makefile", "a.cfg"])
def test_other_text_mentions_nothing(path: str) -> None:
    assert mentions(path, "`Session.verify`\n") == []


def test_first_lines_of_docstrings() -> None:
    facts = parse_file(
        "test_a.py", b'def test_close():\n    """`Session.close` forgets the key.\n\n    `not_read`\n    """\n'
    )
    assert [(m.document, m.name, m.row) for m in facts.mentions] == [(0, "Session.close", 0)]


def test_what_a_program_writes_says_nothing() -> None:
    assert mentions("a.md", "\n".join(f"`name_{i}`" for i in range(20_001))) == []
