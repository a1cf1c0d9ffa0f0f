"""docs/packs.md shows packs as they are made today."""

import pytest

from tests.docs.blocks import blocks_of
from tests.docs.packs_page import PAGE, examples, formats

AGAIN = "run `python -m tests.docs.packs_page --write`, read the diff, and mend the sentences around it"


@pytest.mark.slow
def test_the_packs_shown_are_real() -> None:
    assert blocks_of(PAGE.read_text(encoding="utf-8"), "example") == examples(), AGAIN


def test_the_table_of_formats_is_complete() -> None:
    assert blocks_of(PAGE.read_text(encoding="utf-8"), "generated") == {"formats": formats()}, AGAIN
