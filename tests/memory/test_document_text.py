"""PDF files: pages as passages, in folders too; broken, locked and empty ones are input."""

import logging
import sys
from pathlib import Path

import pytest

from causalist.errors import ExtraMissing, NothingToIndex
from causalist.memory.document_sync import MemoryFile
from causalist.memory.document_text import join_paragraphs, read_pdf
from causalist.memory.documents import read_documents
from causalist.source import scan_folder
from tests.cli.commands import write_all
from tests.memory.pdf_files import pdf_of

pypdf = pytest.importorskip("pypdf", reason="pypdf, which reads PDF files, is not installed")

LEDGER = [
    ["Acme Handbook", "The Ledger is kept by Ada Byron, who", "leads the Iden-", "tity Team.", "Page 1 of 3"],
    ["Acme Handbook", "Tokens are checked by the Identity", "Team every day.", "Page 2 of 3"],
    ["Acme Handbook", "Lunch is at noon.", "Page 3 of 3"],
]


def test_pages_are_passages_without_running_heads() -> None:
    read = read_pdf(pdf_of(LEDGER, title="Handbook", outline=[("Ledger", 0), ("Tokens", 1)]), "h.pdf")
    assert (read.title, read.note) == ("Handbook", "")
    assert [tuple(page) for page in read.pages] == [
        (1, "Ledger", "The Ledger is kept by Ada Byron, who leads the Identity Team."),
        (2, "Tokens", "Tokens are checked by the Identity Team every day."),
        (3, "Tokens", "Lunch is at noon."),
    ]


def test_paragraphs() -> None:
    lines = [
        "Scope", "This handbook holds for all people who work in the house, and for", "guests. It is kept here.",
        "1. Open the door", "2. Close it again, quietly, when all of the guests have left", "and lock it.",
    ]  # fmt: skip
    assert join_paragraphs(lines) == [
        "Scope",
        "This handbook holds for all people who work in the house, and for guests. It is kept here.",
        "1. Open the door",
        "2. Close it again, quietly, when all of the guests have left and lock it.",
    ]
    assert join_paragraphs([]) == []


def test_files_in_folders_are_read_and_what_cannot_be_is_said(tmp_path: Path) -> None:
    write_all(tmp_path, {"docs/a.md": "# A\n\nAlpha Team."})
    good, docs = pdf_of(LEDGER), tmp_path / "docs"
    for name, data in {
        "ledger.PDF": good,
        "locked.pdf": pdf_of(LEDGER, password="secret"),
        "scan.pdf": pdf_of([[], []]),
        "cut.pdf": good[: len(good) // 2],
        "text.pdf": b"this is no PDF",
        "empty.pdf": b"",
    }.items():
        (docs / name).write_bytes(data)
    reading = read_documents([docs], tmp_path)
    assert reading.paths == ["docs/a.md", "docs/ledger.PDF"]
    ledger = [each for each in reading.passages if "ledger" in each.id]
    assert [(each.id, dict(each.metadata)) for each in ledger][1] == (
        "docs/ledger.PDF#page-2", {"path": "docs/ledger.PDF", "page": 2}
    )  # fmt: skip
    why = {name.removeprefix("docs/"): reason for name, reason in reading.skipped.items()}
    assert sorted(why) == ["cut.pdf", "empty.pdf", "locked.pdf", "scan.pdf", "text.pdf"]
    assert why["locked.pdf"] == "needs a password; save a copy without one"
    assert "OCR" in why["scan.pdf"]
    assert why["text.pdf"].startswith("cannot be read as PDF: ")
    # The code index does not take them.
    assert [each.path for each in scan_folder(tmp_path).entries] == ["docs/a.md"]
    for name in why:
        with pytest.raises(NothingToIndex, match=name):
            read_documents([docs / name], tmp_path)


def test_a_memory_of_a_folder_with_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.pdf").write_bytes(pdf_of(LEDGER))
    (tmp_path / "docs" / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    memory_file = MemoryFile.locate(None, tmp_path)
    for n_changed in (3, 0):
        done = memory_file.add([tmp_path / "docs"])
        assert done[:4] == (1, 3, n_changed, 0)
        assert list(done.skipped) == ["docs/b.pdf"]
    found = memory_file.open().retrieve("Who checks the tokens?", top_k=1)
    assert [each.passage_id for each in found] == ["docs/a.pdf#page-2"]


def test_a_file_without_a_password_for_readers_is_open() -> None:
    import io

    writer = pypdf.PdfWriter(io.BytesIO(pdf_of([["Alpha Team."]])))
    writer.encrypt(user_password="", owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    assert [page.text for page in read_pdf(out.getvalue(), "a.pdf").pages] == ["Alpha Team."]


def test_a_page_that_is_broken_does_not_take_the_others_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    original = pypdf.PageObject.extract_text

    def failing(page: "pypdf.PageObject") -> str:
        text: str = original(page)
        if "Tokens" in text:
            raise ZeroDivisionError
        return text

    monkeypatch.setattr(pypdf.PageObject, "extract_text", failing)
    read = read_pdf(pdf_of(LEDGER), "h.pdf")
    assert [page.number for page in read.pages] == [1, 3]
    assert read.note == "1 of 3 pages cannot be read"


def test_every_damage_is_an_error_of_this_program_or_text(caplog: pytest.LogCaptureFixture) -> None:
    data = pdf_of(LEDGER, title="Handbook", outline=[("Ledger", 0)])
    n_refused = 0
    for at in range(0, len(data), max(1, len(data) // 60)):
        for damaged in (data[:at], data[:at] + b"\xff\xff\xff" + data[at + 3 :]):
            try:
                assert all(page.text for page in read_pdf(damaged, "d.pdf").pages)
            except NothingToIndex as error:
                n_refused += 1
                assert str(error).startswith("d.pdf ")
    assert n_refused > 20
    assert not [each for each in caplog.records if each.name.startswith("pypdf")]
    assert logging.getLogger("pypdf").level == logging.NOTSET


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "b.md").write_text("# B\n\nBeta Team.")
    with pytest.raises(ExtraMissing, match=r"causalist\[pdf\]"):
        read_documents([tmp_path / "a.pdf"], tmp_path)
    reading = read_documents([tmp_path], tmp_path)
    assert reading.paths == ["b.md"]
    assert reading.skipped == {"a.pdf": 'is a PDF file; to read it run: pip install "causalist[pdf]"'}
    (tmp_path / "b.md").unlink()
    with pytest.raises(NothingToIndex, match=r"pip install"):
        read_documents([tmp_path], tmp_path)
