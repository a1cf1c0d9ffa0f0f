"""Every link inside of the documentation leads somewhere. Links to other sites are not followed."""

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.blocks import ROOT
from tests.docs.markdown import anchors, links, pages


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_resolve(page: Path) -> None:
    wrong = []
    for link in links(page.read_text(encoding="utf-8")):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT):
            wrong.append(f"{link}: no such file")
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target.read_text(encoding="utf-8"))):
            wrong.append(f"{link}: no such heading")
    assert not wrong


def test_pages_that_the_code_points_at_exist() -> None:
    """Docstrings and messages name pages by their path."""
    import re

    missing = set()
    for file in [*(ROOT / "causalist").rglob("*.py"), *(ROOT / "grammars").rglob("*.toml")]:
        for path in re.findall(r"docs/[\w/-]+\.md", file.read_text(encoding="utf-8")):
            if not (ROOT / path).is_file():
                missing.add(f"{file.relative_to(ROOT)}: {path}")
    assert not missing
