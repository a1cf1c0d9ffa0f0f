"""docs/answers.md shows what `ask --answer` prints today, and the prompt that it sends."""

import pytest

from tests.docs.answers_page import PAGE, contents, prompt
from tests.docs.blocks import blocks_of

AGAIN = "read the difference, then `python -m tests.docs.answers_page --write`"


@pytest.mark.slow
def test_the_transcript_is_real() -> None:
    pytest.importorskip("llm", reason="llm, which asks models, is not installed")
    assert blocks_of(PAGE.read_text(encoding="utf-8"), "generated") == {**contents(), "prompt": prompt()}, AGAIN


def test_the_prompt_is_that_of_the_package() -> None:
    assert blocks_of(PAGE.read_text(encoding="utf-8"), "generated")["prompt"] == prompt(), AGAIN
