"""docs/lsp.md and docs/web.md show what the servers answer today."""

import re
import sys

import pytest

from causalist.servers.lsp.server import COMMANDS
from tests.docs import door_pages
from tests.docs.blocks import ROOT, blocks_of


@pytest.mark.skipif(sys.platform == "win32", reason="paths are written otherwise")
@pytest.mark.parametrize("name", list(door_pages.PAGES))
@pytest.mark.slow
def test_the_transcript_is_in_sync(name: str) -> None:
    written = blocks_of(door_pages.PAGES[name].read_text(encoding="utf-8"), "generated")
    assert written == {"transcript": door_pages.contents()[name]}, (
        "read the difference, then `python -m tests.docs.door_pages --write`"
    )


def test_the_page_of_editors_names_every_request() -> None:
    page = door_pages.PAGES["lsp"].read_text(encoding="utf-8")
    assert all(f"`{command}`" in page for command in COMMANDS.values())
    assert all(f"`{kind}Command`" in page for kind in COMMANDS)
    source = (ROOT / "causalist" / "servers" / "lsp" / "server.py").read_text(encoding="utf-8")
    for name in re.findall(r'options\.get\("(\w+)"\)', source):
        assert f"`{name}`" in page


def test_the_page_of_browsers_names_every_key_and_address() -> None:
    page = door_pages.PAGES["web"].read_text(encoding="utf-8")
    folder = ROOT / "causalist" / "servers"
    shown = (folder / "page" / "index.html").read_text(encoding="utf-8")
    keys = re.findall(r"<kbd>([^<]+)</kbd>", shown.partition('id="help"')[2])
    assert keys and all(f"`{key}`" in page for key in keys)
    for address in re.findall(r'Route\("(/api/\w+)"', (folder / "web.py").read_text(encoding="utf-8")):
        assert f" {address}`" in page
