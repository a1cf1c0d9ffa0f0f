"""The page on ranking shows the weights that are shipped."""

from tests.docs.blocks import blocks_of
from tests.docs.ranking_page import PAGE, contents


def test_the_weights_shown_are_those_that_are_used() -> None:
    assert blocks_of(PAGE.read_text(encoding="utf-8"), "generated") == contents()
