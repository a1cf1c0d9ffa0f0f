"""What passages are about, and what that is worth."""

import numpy as np
import pytest

from causalist.memory import HippoIndex
from causalist.memory.records import find_defined_names
from causalist.memory.retrieval import score_definitions


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
    ],
)  # fmt: skip
def test_titles_and_terms(text: str, title: object, expected: list[str]) -> None:
    assert find_defined_names(text, title) == list(dict.fromkeys(expected))


def test_support_by_hand() -> None:
    """The question's words are those of `a`, which names Acme Corp and the Ledger. Ledger is defined by one document,
    Acme Corp by two: the ledger's document gets 1, each of Acme's 1/2, of which the square roots count."""
    index = HippoIndex()
    passages = [
        ("a", "Rain fell on Acme Corp and on the Ledger.", None, "a.md"),
        ("b", "It is kept in rain.", "The Ledger", "b.md"),
        ("b2", "Other rain.", None, "b.md"),
        ("c", "Founded in rain.", "Acme Corp", "c.md"),
        ("d", "Sold in the rain.", "Acme Corp", "d.md"),
        ("e", "No such weather.", "Acme Corp", "d.md"),
    ]
    for passage, text, title, path in passages:
        metadata = {"path": path, **({"title": title} if title else {})}
        index.add_passage(passage, text, metadata=metadata)
    plain = np.array([10.0, 1e-9, 1e-9, 1e-9, 1e-9, 0.0])  # the second best passage hardly counts, and names nothing
    half = 0.5**0.5
    assert score_definitions(plain, index.snapshot) == pytest.approx([0, 1, 1, half, half, 0])
    assert score_definitions(np.zeros(6), index.snapshot).tolist() == [0.0] * 6


def test_a_document_that_defines_comes_before_one_that_names() -> None:
    index = HippoIndex()
    for i in range(6):
        index.add_passage(f"n{i}", f"Note {i}: the ledger of the mill has a cover.", metadata={"path": f"n{i}.md"})
    index.add_passage("start", "Every miller writes into the Blue Book at dawn.", metadata={"path": "start.md"})
    index.add_passage("book", "It has a cover.", metadata={"path": "book.md", "title": "Blue Book"})
    found = [each.passage_id for each in index.retrieve("what every miller writes into at dawn, its cover")]
    assert found[:2] == ["start", "book"]
