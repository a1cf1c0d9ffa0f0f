"""docs/hook.md shows what the hook says today, and the sizes that it has."""

import sys

import pytest

from causalist.cli.hook import HOOK_BUDGETS
from tests.docs import hook_page
from tests.docs.blocks import blocks_of


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="paths are written otherwise")
def test_the_page_is_in_sync() -> None:
    there = blocks_of(hook_page.PAGE.read_text(encoding="utf-8"), "generated")
    assert there == hook_page.contents(), "read the difference, then `python -m tests.docs.hook_page --write`"


def test_the_page_says_the_sizes() -> None:
    page = " ".join(hook_page.PAGE.read_text(encoding="utf-8").split())
    (much, some) = HOOK_BUDGETS
    assert f"with {much.confidence:g} or more the best {much.files} files in at most {much.tokens} tokens" in page
    assert f"with {some.confidence:g} or more the best {some.files} in at most {some.tokens:,} tokens" in page
    assert f"{much.tokens} tokens and the names of {much.names} more, with" in page
    assert f"{some.tokens:,} tokens and the names of {some.names} more, below that nothing" in page
