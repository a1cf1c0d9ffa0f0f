"""Sections of Markdown and reStructuredText."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.parse import parse_text, prose_kind
from causalist.parse.prose import read_passages, title_slug


def titles(path: str, text: str) -> list[tuple[str, int, int, int]]:
    """(title, parent, first row, last row) of each section."""
    return [(p.title, p.parent, p.start_row, p.end_row) for p in read_passages(path, text)]


def test_sections_nest_by_level_and_end_before_the_next() -> None:
    text = "intro\n# One\ntext\n## Two\n### Three\n## Four ##\n# Five\n"
    assert titles("a.md", text) == [
        ("One", -1, 1, 5),
        ("Two", 0, 3, 4),
        ("Three", 1, 4, 4),
        ("Four", 0, 5, 5),
        ("Five", -1, 6, 7),
    ]


def test_headings_inside_fences_are_text() -> None:
    text = "# A\n```sh\n# no\n~~~\n```\n~~~~\n# no\n~~~\n# no\n~~~~\n## B\n"
    assert [title for title, *_ in titles("a.md", text)] == ["A", "B"]


def test_an_open_fence_reaches_to_the_end() -> None:
    assert [title for title, *_ in titles("a.md", "# A\n```\n# no\n")] == ["A"]


def test_setext_titles_are_paragraphs_of_one_line() -> None:
    text = "Title\n=====\n\nSub `x`\n---\n\n- item\n---\n\ntwo lines\nof text\n===\n\n---\n"
    assert [title for title, *_ in titles("a.md", text)] == ["Title", "Sub x"]


@pytest.mark.parametrize("end", ["---", "..."])
def test_front_matter_holds_no_headings(end: str) -> None:
    assert [title for title, *_ in titles("a.md", f"---\ntitle: x\n# no\n{end}\n# A\n")] == ["A"]


@pytest.mark.parametrize("line", ["#no", "    # no", "####### no", "a # no"])
def test_what_is_no_heading(line: str) -> None:
    assert titles("a.md", f"{line}\n") == []


def test_slugs_are_unique_and_markup_is_left_out() -> None:
    passages = read_passages("a.md", "# Run [it](x) `now`\n# Run it now\n# !?\n")
    assert [(p.slug, p.title) for p in passages] == [
        ("run-it-now", "Run it now"),
        ("run-it-now~2", "Run it now"),
        ("section", "!?"),
    ]
    assert title_slug("Überblick & mehr") == "überblick-mehr"


def test_crlf_and_bytes() -> None:
    text = "é\r\n# A\r\nx\r\n# B\r\n"
    passages = read_passages("a.md", text)
    data = text.encode()
    assert [(p.title, p.start_row) for p in passages] == [("A", 1), ("B", 3)]
    assert data[passages[0].start_byte : passages[0].end_byte] == b"# A\r\nx\r\n"
    assert passages[1].end_byte == len(data)


def test_underlined_titles_take_levels_in_order_of_appearance() -> None:
    text = "=====\nTitle\n=====\n\nOne\n---\n\nDeep\n~~~~\n\nTwo\n---\n\n::\n\n  code\n  ----\n"
    assert [(title, parent) for title, parent, *_ in titles("a.rst", text)] == [
        ("Title", -1),
        ("One", 0),
        ("Deep", 1),
        ("Two", 0),
    ]
    assert titles("a.rst", text)[0][2] == 0  # the overline belongs to the section


def test_equals_signs_make_titles_in_asciidoc() -> None:
    text = "= Guide\nauthor\n\n== Start\n----\n== no\n----\n=== Deep `x`\n====\n= no\n====\n==no\n== End\n"
    assert titles("a.adoc", text) == [
        ("Guide", -1, 0, 13),
        ("Start", 0, 3, 11),
        ("Deep x", 1, 7, 11),
        ("End", 0, 12, 13),
    ]


def test_plain_text_may_have_underlined_titles() -> None:
    text = "Changes\n=======\n\n1.1\n---\n\nNew.\n\n1.0\n---\n"
    assert [title for title, *_ in titles("CHANGES.txt", text)] == ["Changes", "1.1", "1.0"]
    assert titles("CHANGES.txt", "Changes\n=======\nNew.\n") == []  # one alone may be a table or a rule


def test_kinds_of_text() -> None:
    paths = ("A.MD", "x.rst", "a/package.json", "b.txt", "c.adoc", "d.CSV", "Makefile", "e.sql")
    assert [prose_kind(p) for p in paths] == [
        "markdown",
        "restructuredtext",
        "manifest",
        "text",
        "asciidoc",
        "data",
        "plain",
        "plain",
    ]


def test_facts_of_prose() -> None:
    facts = parse_text("a.md", b"# First\nsome words\n")
    assert (facts.language, facts.doc, facts.n_rows) == ("", "First", 3)
    latin = parse_text("a.md", b"# caf\xe9\n")
    assert latin.passages == () and [d.slug for d in latin.diagnostics] == ["not-utf-8"]


@given(st.text(alphabet="#=-~` \n\r*[]ab:é"), st.sampled_from(["a.md", "a.rst"]))
def test_sections_are_nested_and_inside_of_the_text(text: str, path: str) -> None:
    size = len(text.encode())
    passages = read_passages(path, text)
    assert len({p.slug for p in passages}) == len(passages)
    for p in passages:
        assert 0 <= p.start_byte <= p.end_byte <= size and p.start_row <= p.end_row
        if p.parent >= 0:
            outer = passages[p.parent]
            assert outer.start_byte <= p.start_byte and p.end_byte <= outer.end_byte
