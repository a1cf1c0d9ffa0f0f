"""What READMEs say first. The texts have the shape of READMEs of well-known projects."""

import pytest

from causalist.repomap.descriptions import first_paragraph, first_sentence

SAYS = "Shop is a framework for selling things to people."


@pytest.mark.parametrize(
    "text",
    [
        SAYS,
        f"# Shop\n\n{SAYS}\n\nMore is said here, and that is much more.\n",
        f"Shop\n====\n\n{SAYS}\n",
        f"Shop\n----\n{SAYS}\n",
        f"---\ntitle: Shop is a page about all that we do here\n---\n\n{SAYS}\n",
        f'<p align="center">\n  <img src="a.svg" alt="Shop is the best of all shops here">\n</p>\n\n{SAYS}\n',
        f"[![Build is passing for all of us](x)](y) [![b](x)](y)\n\n{SAYS}\n",
        f"[![b](x)][y]\n{SAYS}\n",
        f"<!-- This is a comment that nobody is meant to read -->\n{SAYS}\n",
        f"[Docs](a) | [Blog](b) | [Chat](c) is where we are\n\n{SAYS}\n",
        f"> [!NOTE]\n> This is a note that is long enough to be one.\n\n{SAYS}\n",
        f"> {SAYS}\n",
        f"```\nthis is code and is not what it is about\n```\n\n{SAYS}\n",
        f"- this is a list of things that are good\n- and more\n\n{SAYS}\n",
        f"|logo|\n\n.. |logo| image:: https://x/this/is/a/logo.svg\n   :alt: this is a logo and no text\n\n{SAYS}\n",
        f"*shop* old noun: a place where one can buy many things.\n\n{SAYS}\n",
        "**Shop** is a [framework](https://example.org) for *selling* things to people.",
        "Shop_ is a `framework <https://example.org>`_ for selling :term:`things` to people.\n\n.. _Shop: https://x\n",
        "Shop is a framework for\r\nselling things to people.\r\n",
        "<b>Shop</b> is a <a href='x'>framework</a> for selling things to people.",
        "[Shop](x) is a framework for selling things to people.",
    ],
)
def test_the_first_paragraph_that_says_something(text: str) -> None:
    assert first_paragraph(text).replace("`", "") == SAYS


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "# Shop\n", "one two\n", "- a\n- b\n", "```\nnever closed\n", "---\n", "\x00\x01", "[a]: http://b\n"],
)
def test_nothing_is_said(text: str) -> None:
    assert first_paragraph(text) == ""


def test_a_very_long_readme_takes_no_time() -> None:
    for text in ("[" * 100_000, "<h1>" * 50_000, "*" * 100_000, "`" * 100_000, "a_ " * 50_000, "<!--" * 30_000):
        assert len(first_paragraph(text)) < 30_000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Stores things. It is fast.", "Stores things."),
        ("Like e.g. this one. Other.", "Like e.g. this one."),
        ("Uses :meth:`Map.bind` and ``x``.", "Uses bind and x."),
        ("A title", "A title"),
        ("", ""),
        (
            "A line that goes on and on and on until it is cut off in the mid",
            "A line that goes on and on and on until it is cut off in the mid …",
        ),
    ],
)
def test_first_sentence(line: str, said: str) -> None:
    assert first_sentence(line) == said
