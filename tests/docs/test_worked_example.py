"""docs/how-it-works.md shows the numbers that the program computes today, and its sentences about them are true."""

import pytest

from tests.docs.blocks import blocks_of
from tests.docs.worked_example import BLOCKS, PAGE, Example, compute

AGAIN = "run `python -m tests.docs.worked_example --write`, read the diff, and mend the sentences around the numbers"


@pytest.fixture(scope="module")
def example() -> Example:
    return compute()


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return blocks_of(PAGE.read_text(encoding="utf-8"), "example")


def test_the_page_has_every_block(written: dict[str, str]) -> None:
    assert set(written) == set(BLOCKS)


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_the_block_is_what_the_program_computes(name: str, example: Example, written: dict[str, str]) -> None:
    assert written.get(name) == BLOCKS[name](example), AGAIN
