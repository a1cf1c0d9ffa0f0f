"""The pages for users stay short: generated blocks, decisions and measurements do not count."""

import re

from tests.docs.blocks import DOCS, without_blocks
from tests.docs.markdown import pages

MAX_WORDS = 25_200
UNCOUNTED = ("decisions", "benchmarks.md", "edges-by-language.md")
_WORD = re.compile(r"\S*\w\S*")


def count_words(text: str) -> int:
    """Return the number of words of a page outside of generated blocks. Rules and bars of tables are no words.

    >>> count_words("| a b | c-d |\\n|---|---|\\n<!-- generated:x -->\\ne f\\n<!-- /generated -->\\n")
    3
    """
    return len(_WORD.findall(without_blocks(text)))


def test_the_pages_for_users_are_short() -> None:
    counted = {
        path.relative_to(DOCS).as_posix(): count_words(path.read_text(encoding="utf-8"))
        for path in pages()
        if path.is_relative_to(DOCS) and path.relative_to(DOCS).parts[0] not in UNCOUNTED
    }
    assert {"how-it-works.md", "clients.md", "editors/helix.md"} <= set(counted)
    assert sum(counted.values()) <= MAX_WORDS, sorted(counted.items(), key=lambda item: -item[1])
