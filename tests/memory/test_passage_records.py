"""What passages are about, and what that is worth."""

import pytest

from causalist.memory import HippoIndex
from causalist.memory.document_text import find_defined_names


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("", "The Ledger", ["ledger"]),
        ("", "Token Service", ["token_service", "token"]),
        ("", "3.2 `shelve` — Python object persistence",
         ["shelve_—_python_object_persistence", "shelve", "python_object_persistence", "python_object_persistence"]),
        ("- csv.reader(f)\n\nReturn it.\n\n- Use `x`\n- class `Sniffer`\n", None, ["csv.reader", "use", "sniffer"]),
        ("no list", None, []),
        ("", 7, []),
        ("", "Mercury (planet)", ["mercury_(planet", "mercury"]),
        ("Mercury (planet)\nIt has no moon.", None, ["mercury_(planet", "mercury"]),
        ("# Leave\n\nNew parents get 16 weeks.", None, ["leave"]),
        ("One line alone", None, []),
        ("A sentence is no heading.\nMore.", None, []),
        ("Heading\nText.", "Title", ["title"]),
    ],
)  # fmt: skip
def test_titles_and_terms(text: str, title: object, expected: list[str]) -> None:
    assert find_defined_names(text, title) == list(dict.fromkeys(expected))


def test_the_name_that_a_text_begins_with_is_defined_without_a_title() -> None:
    assert find_defined_names("Ada Byron keeps it.", None, "Ada Byron") == ["ada_byron"]
    assert find_defined_names("Ada Byron keeps it.", "The Ledger", "Ada Byron") == ["ledger"]


def test_a_document_that_defines_comes_before_one_that_names() -> None:
    index = HippoIndex()
    for i in range(6):
        index.add_passage(f"n{i}", f"Note {i}: the ledger of the mill has a cover.", metadata={"path": f"n{i}.md"})
    index.add_passage("start", "Every miller writes into the Blue Book at dawn.", metadata={"path": "start.md"})
    index.add_passage("book", "It has a cover.", metadata={"path": "book.md", "title": "Blue Book"})
    found = [each.passage_id for each in index.retrieve("what every miller writes into at dawn, its cover")]
    assert found[:2] == ["start", "book"]


@pytest.mark.parametrize("text", ["Blue Mill\nIt grinds.", "It grinds."])
def test_a_title_counts_once(text: str) -> None:
    index = HippoIndex()
    index.add_passage("a", text, metadata={"title": "Blue Mill"})
    index.add_passage("b", "Blue Mill, blue mill.", metadata={"title": "Blue Mill"})
    arrays = index.snapshot.arrays
    terms, counts = arrays.forward.row(0)
    assert {arrays.terms[t]: n for t, n in zip(terms.tolist(), counts.tolist(), strict=True)}["mill"] == 1
    terms, counts = arrays.forward.row(1)
    assert {arrays.terms[t]: n for t, n in zip(terms.tolist(), counts.tolist(), strict=True)}["mill"] == 2
