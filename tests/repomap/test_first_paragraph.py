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
        f"<h2>Beyond what you need</h2>\n<h3>{SAYS}</h3>\n\n## Try it\n\nSee our page of all things to see.\n",
        f"&rarr; https://one.example.org/and/two/three/four/five/six\n\n{SAYS}\n",
    ],
)
def test_the_first_paragraph_that_says_something(text: str) -> None:
    assert first_paragraph(text, ["shop"]).replace("`", "") == SAYS


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "# Shop\n", "one two\n", "- a\n- b\n", "```\nnever closed\n", "---\n", "\x00\x01", "[a]: http://b\n"],
)
def test_nothing_is_said(text: str) -> None:
    assert first_paragraph(text) == ""


def test_a_very_long_readme_takes_no_time() -> None:
    for text in (
        "<table>" * 20_000,
        "<h1>a" * 20_000,
        f"# {'#' * 60_000}x",
        ":a" * 40_000,
        "[" * 100_000,
        "<h1>" * 50_000,
        "*" * 100_000,
        "`" * 100_000,
        "a_ " * 50_000,
        "<!--" * 30_000,
    ):
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


FERRY = "Ferry copies rows of one database to another while both are in use."
HIRING = "We are hiring! Join our team and work on the future of moving data around."


@pytest.mark.parametrize(
    "text",
    [
        f"> :rocket: **{HIRING}**\n\n# Ferry\n\n{FERRY}\n\n## Install\n\nnpm install ferry\n",
        f"{HIRING}\n\nFerry\n=====\n\n.. image:: https://x/badge.svg\n   :alt: build\n\n{FERRY}\n\nInstall\n-------\n",
        f"======\nFerry\n======\n\n{FERRY}\n",
        f'<p align="center"><img src="a.svg"></p>\n<h1 align="center">Ferry</h1>\n<p align="center">{FERRY}</p>\n',
        f'<div align="center">\n<img src="a.svg"/><br>\n<h1>\n  Ferry\n</h1>\n<h4>{FERRY}</h4>\n</div>\n',
        f"<h3>Gold sponsors</h3>\n<table><tr><td>Open an account in five minutes and get 50.</td>"
        f"</tr></table>\n\n# [<img src='a.svg'>]() Ferry\n\n{FERRY}\n",
        f"# 🛳️ Ferry: rows over the water\n\n[English](a) | [简体中文](b) | [日本語](c) | [Deutsch](d)\n\n{FERRY}\n",
        f"# Ferry\n\n摆渡把一个数据库的行复制到另一个数据库,两者都在使用中。\n\n{FERRY} It is a copier.\n",
        f"# Ferry\n\n> Check out our new course about webhooks with 20% off until Friday.\n\n{FERRY}\n",
        f"# Ferry\n\nThanks to the kind people of BigBank, who are sponsors of this project.\n\n{FERRY}\n",
        f"# Ferry\n\n**Warning:** the main branch is where we work, take a release instead.\n\n## About\n\n{FERRY}\n",
        f"# Table of contents\n\n- [Ferry](#ferry)\n\n# Sponsors\n\nBigBank is a bank that lets you save money.\n\n"
        f"# Ferry\n\n{FERRY}\n",
        f"## What is Ferry?\n\n{FERRY}\n",
        f"To install it run the command that stands below this line.\n\n## Ferry\n\n{FERRY}\n",
        f"Looking for maintainers: write us if this is the thing for you.\n\n**Ferry** helps to keep databases equal"
        f" as long as you like.\n\n# Ferry\n\n## Overview\n\n{FERRY}\n",
    ],
)
def test_what_stands_below_the_name_of_the_project(text: str) -> None:
    assert first_paragraph(text, ["acme/ferry"]).removesuffix(" It is a copier.") == FERRY


def test_a_readme_in_chinese() -> None:
    said = "摆渡把一个数据库的行复制到另一个数据库,两者都在使用中。"
    assert (
        first_paragraph(f"# Ferry\n\n[English](README.en.md)\n\n{said}\n\n## 安装\n\nnpm install ferry\n", ["ferry"])
        == said
    )


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["@acme/ferry"], "It moves the rows of one table at a time."),
        (["left-pad"], "Pads a text on its left side with blanks."),
        (["build"], "This text belongs to something else than the project."),
    ],
)
def test_the_name_decides_which_heading_it_is(names: list[str], said: str) -> None:
    text = (
        "# Tools\n\nThis text belongs to something else than the project.\n\n# Ferry\n\n"
        "It moves the rows of one table at a time.\n\n# Left Pad\n\nPads a text on its left side with blanks.\n"
    )
    assert first_paragraph(text, names) == said


def test_a_section_about_a_part_is_not_the_one_of_the_project() -> None:
    """A heading deep in a README begins with the name too."""
    text = (
        f"{FERRY}\n\n## Features\n\n- fast\n\n### Ferry options\n\nEach option is a word that the command is given.\n"
    )
    assert first_paragraph(text, ["ferry"]) == FERRY


def test_a_description_elsewhere_is_better_than_any_paragraph() -> None:
    """Without a heading of the name only a sentence that says what the project is beats the manifest."""
    other = "These pages are about the work of many people over the years."
    assert first_paragraph(other, ["ferry"]) == other
    assert first_paragraph(other, ["ferry"], is_described=True) == ""
    own = "Ferry is a copier of rows between two databases."
    assert first_paragraph(f"{other}\n\n{own}\n", ["ferry"], is_described=True) == own


def test_a_title_says_it_if_nothing_else_does() -> None:
    text = (
        "Copier of rows between databases\n=====\n\nLicense\n-------\n\nIt is offered to you under the MIT license.\n"
    )
    assert first_paragraph(text, ["ferry"]) == "Copier of rows between databases"


@pytest.mark.parametrize(
    "marked", ["_Copies rows while you sleep_", "*Copies rows while you sleep*", "Copies rows while you sleep"]
)
def test_a_slogan_below_the_name_says_it_if_nothing_else_does(marked: str) -> None:
    others = (
        "## Deploy\n\nFerry is easy to install by several methods of your choice.\n\n## App\n\n"
        "A testing version of the app is now available for phones:\n\n## Contact\n\n"
        "For any questions about the rows that it copies, write a letter to us.\n"
    )
    assert first_paragraph(f"# Ferry\n\n{marked}\n\n{others}", ["ferry"]) == "Copies rows while you sleep"
    assert first_paragraph(f"# Ferry\n\n{marked}\n\n{others}{FERRY}\n", ["ferry"], is_described=True) == ""


def test_letters_that_are_longer_in_lower_case() -> None:
    assert (
        first_paragraph(f"<!-- {'İ' * 50} -->\n<TABLE><tr>{'İ' * 50}</tr></TABLE>\n\n# Ferry\n\n{FERRY}\n", ["ferry"])
        == FERRY
    )
