"""The worked example of docs/memory.md prints what the page says, and the tables name what there is."""

import contextlib
import io
from pathlib import Path

import pytest

from causalist.memory.conflicts_and_confidence import MODES
from causalist.memory.walk import VARIANTS
from causalist.model.answer import RetrievalMode
from tests.docs import tables
from tests.docs.markdown import fenced_blocks

_DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def page() -> str:
    return (_DOCS / "memory.md").read_text(encoding="utf-8")


def test_the_worked_example_prints_what_it_says(page: str) -> None:
    (block,) = [each for each in fenced_blocks(page) if each.language == "python"]
    expected = [line.removeprefix("# ") for line in block.text.splitlines() if line.startswith("# ")]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, "docs/memory.md", "exec"), {})
    assert printed.getvalue().splitlines() == expected
    assert len(expected) == 4


def test_tables_name_what_there_is(page: str) -> None:
    assert {name for row in tables.rows_after(page, "## Retrieval") for name in tables.codes(row[0])} == set(
        RetrievalMode
    )
    rows = {
        tables.codes(row[0])[0]: (row[1].split(", "), int(row[2])) for row in tables.rows_after(page, "## The pipeline")
    }
    assert rows == {mode.value: (list(tiers), n) for mode, (tiers, n) in MODES.items()}
    assert all(f"`{name}`" in page for name in VARIANTS)
