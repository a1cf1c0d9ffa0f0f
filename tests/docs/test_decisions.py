"""Pages of decisions: all are in the index, have the same headings, and fit on a page."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import DOCS, ROOT
from tests.docs.markdown import prose

FOLDER = DOCS / "decisions"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))
HEADINGS = ["Context", "Decision", "Evidence", "Alternatives", "What would change it"]
MAX_WORDS = 600
_NAME = re.compile(r"(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md")
# Rows of both tables of the index: | number | text, with a link to a page | ... |
_ROW = re.compile(r"^\| (\d+) \|(.*)\|$", re.MULTILINE)
_LINK = re.compile(r"\]\((\d{4})-[^)]+\.md\)")


def count_words(text: str) -> int:
    """Return the number of words; cells of tables count, rules and bars do not.

    >>> count_words("a b-c\\n\\n| 5 % | - |\\n|--:|:--|\\n")
    3
    """
    return sum(any(character.isalnum() for character in token) for token in text.split())


def index_rows() -> tuple[dict[int, int], dict[int, int]]:
    """Return, for pages and for merged numbers, the number of the linked page by the number of the row."""
    first, _, second = (FOLDER / "README.md").read_text(encoding="utf-8").partition("\n## Merged numbers\n")
    return _linked_numbers(first), _linked_numbers(second)


def _linked_numbers(text: str) -> dict[int, int]:
    return {int(number): int(link[1]) for number, cells in _ROW.findall(text) if (link := _LINK.search(cells))}


def test_there_are_pages() -> None:
    assert len(PAGES) > 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_its_headings_and_fits(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    name = _NAME.fullmatch(page.name)
    assert name
    assert text.startswith(f"# {int(name[1])}. ")
    assert re.findall(r"^## (.*)$", prose(text), re.MULTILINE) == HEADINGS
    assert count_words(text) <= MAX_WORDS


def test_the_index_lists_every_page_once() -> None:
    pages, _ = index_rows()
    assert list(pages) == [int(page.name[:4]) for page in PAGES]
    assert all(number == linked for number, linked in pages.items())


def test_every_number_leads_to_a_page() -> None:
    """Numbers are not reused and none is missing: a dropped one is merged into a page."""
    pages, merged = index_rows()
    numbers = sorted([*pages, *merged])
    assert numbers == list(range(1, len(numbers) + 1))
    assert set(merged.values()) <= set(pages)


def test_the_code_names_decisions_that_exist() -> None:
    """Code names a page by its number; the JSON files are hashed into versions and may name merged ones."""
    pages, merged = index_rows()
    known = {".py": set(pages), ".json": {*pages, *merged}}
    wrong = [
        f"{file.relative_to(ROOT)}: {number}"
        for file in (ROOT / "causalist").rglob("*")
        if file.suffix in known
        for number in re.findall(r"docs/decisions/(\d{4})", file.read_text(encoding="utf-8"))
        if int(number) not in known[file.suffix]
    ]
    assert not wrong
