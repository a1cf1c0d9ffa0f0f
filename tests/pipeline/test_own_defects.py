"""What one file meets in a defect of this program is not lost for all others, and is told."""

import shutil
import sqlite3
import struct
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from causalist import errors
from causalist.graph.linker import Linker
from causalist.model.index import FileNote
from causalist.parse import parser as views
from causalist.pipeline.repository import Repository
from causalist.store import FOLDER, FactsCache, facts_path
from causalist.store.facts_cache import _HEAD as HEAD
from tests.indexes import differences

IS_SURVIVED = errors.is_recoverable  # as it is before any test begins
FILES = {
    "a.py": "import b\n\n\ndef first():\n    b.second()\n",
    "b.py": "import c\n\n\ndef second():\n    c.third()\n",
    "c.py": "def third():\n    return 3\n",
}


@pytest.fixture(autouse=True)
def as_for_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "is_recoverable", lambda error: not isinstance(error, MemoryError))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def callers(repository: Repository, name: str) -> list[str]:
    return [edge.source for edge in repository.callers(name)]


def test_a_file_that_cannot_be_linked_leaves_the_others_theirs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Linker._add_uses

    def uses(self: Linker, number: int) -> None:
        if self.program.files[number].path == "b.py" and "broken" not in known:
            raise KeyError("own")
        whole(self, number)

    known: set[str] = set()
    monkeypatch.setattr(Linker, "_add_uses", uses)
    repository = Repository.open(root, exact_root=True)
    assert callers(repository, "second") == ["a.py::first"]
    assert callers(repository, "third") == []
    what = "some of what it uses is not known, for a defect of this program (KeyError)"
    assert list(repository.index.notes) == [FileNote("b.py", "not-linked", what, 0)]

    # After an edit elsewhere it is tried again: the note stays as long as it is true, and goes with its reason.
    (root / "c.py").write_text("def third():\n    return 4\n")
    again = Repository.open(root, exact_root=True)
    assert [note.slug for note in again.index.notes] == ["not-linked"]
    known.add("broken")
    (root / "c.py").write_text("def third():\n    return 5\n")
    mended = Repository.open(root, exact_root=True)
    assert not mended.index.notes
    assert callers(mended, "third") == ["b.py::second"]

    # An edit that leads into a defect links everything, and says so.
    known.clear()
    (root / "b.py").write_text(FILES["b.py"] + "\n\ndef more():\n    second()\n")
    assert [note.path for note in Repository.open(root, exact_root=True).index.notes] == ["b.py"]


def test_a_file_that_cannot_be_parsed_is_read_as_text(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = views.parse_source

    def parsed(data: bytes, *others: object) -> object:
        if b"second" in data and b"import c" in data:
            raise RecursionError
        return whole(data, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(views, "parse_source", parsed)
    repository = Repository.open(root, exact_root=True)
    what = "it is read as text alone, for a defect of this program (RecursionError)"
    assert list(repository.index.notes) == [FileNote("b.py", "not-understood", what, 0)]
    assert "b.py" in [hit.path for hit in repository.ask("third").results]
    assert callers(repository, "third") == []


@pytest.mark.parametrize(("error", "asked", "survived"), [
    (KeyError("own"), "", True), (RecursionError(), "", True), (KeyError("own"), "1", False),
    (MemoryError(), "", False), (errors.UsageError(), "", False),
])  # fmt: skip
def test_who_asks_for_tracebacks_gets_them(
    error: Exception, asked: str, survived: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAUSALIST_TRACEBACK", asked)
    assert IS_SURVIVED(error) is survived


def test_stored_bodies_that_make_no_sense_are_made_again(root: Path) -> None:
    """Their checksum is right, so that only linking finds out: what wrote them was wrong."""
    first = Repository.open(root, exact_root=True)
    cache = FactsCache(facts_path())
    with closing(sqlite3.connect(facts_path())) as connection:
        rows = connection.execute("SELECT blob, reader, interface, words FROM facts").fetchall()
    assert len(rows) == len(FILES)
    for blob, reader, interface, words in rows:
        _, n_interface, _, _, of_words = HEAD.unpack_from(interface)
        head = HEAD.pack(0, n_interface, 2, zlib.crc32(b"[]"), of_words)[4:]
        checked = head + interface[HEAD.size :]
        cache.put_many([((blob, reader), struct.pack("<I", zlib.crc32(checked)) + checked + b"[]" + words)])
    shutil.rmtree(root / FOLDER)
    again = Repository.open(root, exact_root=True)
    assert differences(again.index.graph, first.index.graph) == []
    assert callers(again, "third") == ["b.py::second"]
