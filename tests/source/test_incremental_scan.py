"""A folder that is scanned again: the same object while nothing changes, what a scan finds as soon as anything does."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causalist.source import DEFAULT_LIMITS, IncrementalScan, Limits, scan_folder


@pytest.fixture
def place(repository: Any) -> Any:
    repository.write_all({"a.py": "a", "lib/b.py": "b", "lib/deep/c.py": "c", "art.png": "x", "large.txt": "x" * 50})
    repository.commit()
    return repository


def test_nothing_changed(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rescan = IncrementalScan(place.path)
    first = rescan.scan(DEFAULT_LIMITS)
    assert first == scan_folder(place.path)
    monkeypatch.setattr("causalist.source.folder_changes.scan_folder", None)
    assert rescan.scan(DEFAULT_LIMITS) is first


def in_place(root: Path) -> None:
    """As long as before, and with the time of modification that it had."""
    status = (root / "a.py").stat()
    (root / "a.py").write_text("A")
    os.utime(root / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))


def replaced(root: Path) -> None:
    (root / "new").write_text("A")
    (root / "new").replace(root / "lib" / "b.py")


def ignored_secretly(root: Path) -> None:
    """By a file that git itself does not list."""
    (root / ".git" / "info" / "exclude").write_text(".causalistignore\n")
    (root / "lib" / "deep" / ".causalistignore").write_text("c.py\n")


def folder_becomes_link(root: Path) -> None:
    (root / "lib").rename(root.parent / "moved")
    (root / "lib").symlink_to(root.parent / "moved")


def shrunk(root: Path) -> None:
    (root / "large.txt").write_text("x")


CHANGES: dict[str, Callable[[Path], object]] = {
    "in place": in_place,
    "replaced": replaced,
    "new": lambda root: (root / "lib" / "n.py").write_text("n"),
    "gone": lambda root: (root / "lib" / "b.py").unlink(),
    "ignored by git": lambda root: (root / ".gitignore").write_text("n.py\n"),
    "ignored by a file that git does not list": ignored_secretly,
    "ignored by a file above": lambda root: (root / ".causalistignore").write_text("lib\n"),
    "a link in the place of a folder": folder_becomes_link,
    "below a limit now": shrunk,
    "a link in the place of a file": lambda root: [(root / "a.py").unlink(), (root / "a.py").symlink_to("lib/b.py")],
    "a link that comes": lambda root: (root / "way").symlink_to("lib"),
}


def test_a_link_that_leads_elsewhere_is_found(place: Any) -> None:
    (place.path / "way").symlink_to("lib")
    rescan = IncrementalScan(place.path)
    assert rescan.scan(DEFAULT_LIMITS).links == (("way", "lib"),)
    (place.path / "way").unlink()
    (place.path / "way").symlink_to("lib/deep")
    assert rescan.scan(DEFAULT_LIMITS).links == (("way", "lib/deep"),)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_found(place: Any, change: Callable[[Path], object]) -> None:
    limits = Limits(max_file_bytes=40)
    rescan = IncrementalScan(place.path)
    before = rescan.scan(limits)
    change(place.path)
    after = rescan.scan(limits)
    assert after == scan_folder(place.path, limits) and after != before
    assert rescan.scan(limits) is after


def test_a_commit_is_found(place: Any) -> None:
    rescan = IncrementalScan(place.path)
    before = rescan.scan(DEFAULT_LIMITS)
    commit = place.commit()
    assert rescan.scan(DEFAULT_LIMITS).commit == commit != before.commit


def test_a_part_of_a_work_tree_obeys_the_ignore_files_above_it(place: Any) -> None:
    rescan = IncrementalScan(place.path / "lib")
    assert [entry.path for entry in rescan.scan(DEFAULT_LIMITS).entries] == ["b.py", "deep/c.py"]
    (place.path / ".git" / "info" / "exclude").write_text(".causalistignore\n")
    (place.path / ".causalistignore").write_text("b.py\n")
    assert [entry.path for entry in rescan.scan(DEFAULT_LIMITS).entries] == ["deep/c.py"]


def test_other_limits(place: Any) -> None:
    rescan = IncrementalScan(place.path)
    n_small = len(rescan.scan(Limits(max_file_bytes=40)).entries)
    assert len(rescan.scan(DEFAULT_LIMITS).entries) == n_small + 1


def test_a_failed_scan_is_not_remembered(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rescan = IncrementalScan(place.path)
    before = rescan.scan(DEFAULT_LIMITS)
    (place.path / "n.py").write_text("n")

    def fail(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("causalist.source.folder_changes.scan_folder", fail)
        with pytest.raises(RuntimeError):
            rescan.scan(DEFAULT_LIMITS)
    assert len(rescan.scan(DEFAULT_LIMITS).entries) == len(before.entries) + 1


def test_without_git_every_look_is_a_scan(folder: Any) -> None:
    folder.write_all({"a.py": "a"})
    rescan = IncrementalScan(folder.path)
    first = rescan.scan(DEFAULT_LIMITS)
    (folder.path / "b.py").write_text("b")
    assert [entry.path for entry in rescan.scan(DEFAULT_LIMITS).entries] == ["a.py", "b.py"] and len(first.entries) == 1
