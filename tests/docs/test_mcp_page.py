"""docs/mcp.md shows what the server answers today."""

import sys

import pytest

from tests.docs import mcp_page
from tests.docs.blocks import blocks_of


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return blocks_of(mcp_page.PAGE.read_text(encoding="utf-8"), "generated")


@pytest.mark.skipif(sys.platform == "win32", reason="paths are written otherwise")
@pytest.mark.parametrize("name", ["tools", *mcp_page.CALLS])
def test_the_page_is_in_sync(name: str, written: dict[str, str]) -> None:
    assert written[name] == mcp_page.contents()[name], (
        "read the difference, then `python -m tests.docs.mcp_page --write`"
    )


def test_all_blocks_are_known(written: dict[str, str]) -> None:
    assert set(written) == {"tools", *mcp_page.CALLS}
