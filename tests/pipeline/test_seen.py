"""A folder that looks as it did when its index was found current is not scanned; any other one is."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from causalist.index import open as indexing
from causalist.pipeline.repository import Repository
from causalist.source import scan_folder
from causalist.store import FOLDER, INDEX_NAME
from causalist.store.index_folder import SEEN_NAME
from tests.pipeline.conftest import WorkTree

_SEEN = f"{FOLDER}/{SEEN_NAME}"


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that were scanned, some time after their files were written."""
    scanned: list[Path] = []
    real, now = scan_folder, time.time_ns

    def counted(root: Path, *arguments: object, **named: object) -> object:
        scanned.append(root)
        return real(root, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(indexing, "scan_folder", counted)
    monkeypatch.setattr("causalist.source.folder_changes.time.time_ns", lambda: now() + 3_000_000_000)
    return scanned


@pytest.fixture
def seen(tree: WorkTree, scans: list[Path]) -> WorkTree:
    """Indexed, and then found current."""
    tree.settle()
    tree.commit()
    Repository.open(tree.path)
    assert not (tree.path / _SEEN).exists()
    Repository.open(tree.path)
    assert (tree.path / _SEEN).exists()
    scans.clear()
    return tree


def test_nothing_changed(seen: WorkTree, scans: list[Path]) -> None:
    names = sorted(path.name for path in (seen.path / FOLDER).iterdir())
    first = Repository.open(seen.path)
    assert scans == [] and first.notes == ()
    assert names == sorted(path.name for path in (seen.path / FOLDER).iterdir())
    assert indexing.is_current(scan_folder(seen.path), first.index)


_CHANGES: dict[str, Callable[[WorkTree], object]] = {
    "a file": lambda tree: tree.write("store.py", "def other():\n    pass\n"),
    "a new file": lambda tree: tree.write("more.py", "def more():\n    pass\n"),
    "a file that is gone": lambda tree: (tree.path / "store.py").unlink(),
    "a limit": lambda tree: tree.write("causalist.toml", "[index]\nmax-file-bytes = 40\n"),
    "a commit": lambda tree: tree.commit(),
    "another index": lambda tree: os.utime(tree.path / FOLDER / INDEX_NAME),
    "what was seen": lambda tree: tree.write(_SEEN, "0" * 64),
    "nothing that was seen": lambda tree: (tree.path / _SEEN).unlink(),
    "what is no text": lambda tree: (tree.path / _SEEN).write_bytes(b"\xff"),
}


@pytest.mark.parametrize("change", _CHANGES.values(), ids=_CHANGES)
def test_after_a_change_there_is_a_scan(
    seen: WorkTree, scans: list[Path], change: Callable[[WorkTree], object]
) -> None:
    change(seen)
    after = Repository.open(seen.path)
    assert scans[:1] == [seen.path]
    assert indexing.is_current(scan_folder(seen.path, after.settings.limits()), after.index)


def test_another_program_scans(seen: WorkTree, scans: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("causalist.index.freshness.INDEX_VERSION", -1)
    Repository.open(seen.path)
    assert scans == [seen.path]


def test_a_link_in_the_place_of_what_was_seen_is_replaced(seen: WorkTree, scans: list[Path]) -> None:
    digest = (seen.path / _SEEN).read_text()
    elsewhere = seen.path.parent / "elsewhere"
    elsewhere.write_text(digest)
    (seen.path / _SEEN).unlink()
    (seen.path / _SEEN).symlink_to(elsewhere)
    Repository.open(seen.path)
    assert scans == [seen.path]
    assert elsewhere.read_text() == digest and not (seen.path / _SEEN).is_symlink()


def test_repositories_inside_are_always_scanned(tree: WorkTree, scans: list[Path]) -> None:
    from causalist.index.options import IndexOptions

    tree.settle()
    tree.commit()
    for _ in range(3):
        Repository.open(tree.path, options=IndexOptions(submodules=True))
    assert len(scans) == 3


def test_a_folder_without_git_is_walked_once(tree: WorkTree, scans: list[Path]) -> None:
    shutil.rmtree(tree.path / ".git")
    tree.settle()
    for _ in range(2):
        Repository.open(tree.path)
    scans.clear()
    assert Repository.open(tree.path).notes == () and scans == []
    tree.write("more.py", "def more():\n    pass\n")
    after = Repository.open(tree.path)
    assert scans == []  # what was walked tells it all
    assert indexing.is_current(scan_folder(tree.path), after.index)
    assert "more.py" in after.index.manifest.paths


def test_an_index_that_was_found_current_is_not_added_up_again(
    seen: WorkTree, scans: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("causalist.store.index_file._checksum", lambda data: -1)
    assert Repository.open(seen.path).notes == () and scans == []
    (seen.path / _SEEN).unlink()  # nobody has said that it is sound
    assert [note.slug for note in Repository.open(seen.path).notes] == ["index-unreadable"]


def test_damage_that_came_since_is_found(seen: WorkTree, scans: list[Path]) -> None:
    sound = _exported(Repository.open(seen.path))
    with (seen.path / FOLDER / INDEX_NAME).open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    again = Repository.open(seen.path)
    assert [note.slug for note in again.notes] == ["index-unreadable"] and scans
    assert _exported(again) == sound
    assert Repository.open(seen.path).notes == ()


def test_what_is_just_written_may_change_without_another_time() -> None:
    written = 10**18
    for mtime, ctime in ((written, 0), (0, written)):
        stamp = (1, 2, mtime, ctime)
        assert not indexing._is_settled(stamp, written + 2 * 10**9)
        assert indexing._is_settled(stamp, written + 2 * 10**9 + 1)
    assert not indexing._is_settled(None, written)


def _exported(repository: Repository) -> list[str]:
    nodes = repository.index.graph.nodes
    return [f"{node} {signature}" for node, signature in zip(nodes.ids, nodes.signatures, strict=True)]
