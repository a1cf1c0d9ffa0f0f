"""docs/mcp.md shows what the server answers today, and the page of clients what `install` writes."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from causalist.cli.install import CLIENTS, SERVER
from tests.docs import mcp_page
from tests.docs.blocks import DOCS, blocks_of
from tests.docs.markdown import fenced_blocks


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return blocks_of(mcp_page.PAGE.read_text(encoding="utf-8"), "generated")


@pytest.mark.skipif(sys.platform == "win32", reason="paths are written otherwise")
@pytest.mark.parametrize("name", ["tools", "more-tools", *mcp_page.CALLS])
@pytest.mark.slow
def test_the_page_is_in_sync(name: str, written: dict[str, str]) -> None:
    assert written[name] == mcp_page.contents()[name], (
        "read the difference, then `python -m tests.docs.mcp_page --write`"
    )


def test_all_blocks_are_known(written: dict[str, str]) -> None:
    assert set(written) == {"tools", "more-tools", *mcp_page.CALLS}


@pytest.mark.parametrize("name", list(CLIENTS))
def test_every_client_has_a_section(name: str) -> None:
    page = (DOCS / "clients.md").read_text(encoding="utf-8")
    client = CLIENTS[name]
    (row,) = [line for line in page.splitlines() if f"`causalist install {name}` |" in line]
    assert all(f"`{file}`" in row for file in client.project_files)
    (section,) = re.findall(rf"^## {re.escape(client.title)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert "Check: " in section
    readers = {"json": json.loads, "toml": tomllib.loads}
    shown = [readers[block.language](block.text) for block in fenced_blocks(section) if block.language in readers]
    assert shown
    for document in shown:
        assert list(document) == [client.key] and list(document[client.key]) == [SERVER]
        entry = document[client.key][SERVER]
        # What is written by hand is what `install` writes, but for the interpreter.
        expected = json.loads(json.dumps(client.entry(Path("/home/me/projects/shop"))))
        assert json.loads(json.dumps(entry).replace("/home/me/.venv/bin/python", sys.executable)) == expected
