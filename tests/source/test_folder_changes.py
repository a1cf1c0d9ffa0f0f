"""A folder at a glance: the same digest while a scan would find the same, another one as soon as it might not."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causalist.source import (
    DEFAULT_LIMITS,
    FolderFingerprint,
    Limits,
    fingerprint_folder,
    fingerprint_walk,
    scan_folder,
    scan_walked,
    update_scan,
)
from tests.source.test_incremental_scan import CHANGES

_LIMITS = Limits(max_file_bytes=40)
_MORE: dict[str, Callable[[Path], object]] = {
    **CHANGES,
    "nothing but a time": lambda root: os.utime(root / "a.py", ns=(5, 5)),
    "its permissions": lambda root: (root / "a.py").chmod(0o600),
    "what is skipped": lambda root: (root / "art.png").write_text("other"),
    "no longer tracked": lambda root: (root / ".git" / "index").unlink(),
}


@pytest.fixture
def place(repository: Any) -> Any:
    repository.write_all({"a.py": "a", "lib/b.py": "b", "lib/deep/c.py": "c", "art.png": "x", "large.txt": "x" * 50})
    repository.head = repository.commit()
    return repository


def glance(place: Any, limits: Limits = _LIMITS, also: tuple[object, ...] = ()) -> FolderFingerprint:
    found = fingerprint_folder(place.path, limits, place.head, also)
    assert found is not None
    return found


def test_nothing_changed(place: Any) -> None:
    first = glance(place)
    (place.path / ".git" / "description").write_text("of no concern")
    assert glance(place) == first
    assert scan_folder(place.path, _LIMITS, known_commit=place.head, listing=first.listing) == scan_folder(
        place.path, _LIMITS
    )


def test_a_system_that_looks_from_the_top_alone_sees_the_same(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = glance(place)
    monkeypatch.setattr("causalist.source.folder_changes._FROM_A_FOLDER", False)
    assert glance(place) == first


@pytest.mark.parametrize("change", _MORE.values(), ids=_MORE)
def test_a_change_shows(place: Any, change: Callable[[Path], object]) -> None:
    before = glance(place)
    change(place.path)
    after = fingerprint_folder(place.path, _LIMITS, place.head, ())
    assert after is None or after.digest != before.digest


@pytest.mark.parametrize("change", _MORE.values(), ids=_MORE)
def test_what_a_scan_would_find_after_a_change_is_known_or_not_said(
    place: Any, change: Callable[[Path], object]
) -> None:
    before, scan = glance(place), scan_folder(place.path, _LIMITS)
    change(place.path)
    after = fingerprint_folder(place.path, _LIMITS, place.head, ())
    if after is not None:
        assert update_scan(before, scan, after, _LIMITS) in (None, scan_folder(place.path, _LIMITS))


def test_a_file_that_was_written_needs_no_scan_unless_it_is_too_large_now(place: Any) -> None:
    before, scan = glance(place), scan_folder(place.path, _LIMITS)
    (place.path / "lib" / "b.py").write_text("b = 2")
    after = glance(place)
    found = update_scan(before, scan, after, _LIMITS)
    assert found == scan_folder(place.path, _LIMITS) != scan
    (place.path / "lib" / "b.py").write_text("b" * 41)
    assert update_scan(before, scan, glance(place), _LIMITS) is None
    (place.path / "large.txt").write_text("small")
    (place.path / "lib" / "b.py").write_text("b")
    assert update_scan(before, scan, glance(place), _LIMITS) is None


def test_other_limits_and_another_index_show(place: Any) -> None:
    found = {glance(place).digest, glance(place, DEFAULT_LIMITS).digest, glance(place, also=(1, 2)).digest}
    assert len(found) == 3


def test_an_ignore_file_above_the_root_shows(place: Any) -> None:
    place.path = place.path / "lib" / "deep"
    before = glance(place)
    (place.path.parents[1] / ".git" / "info" / "exclude").write_text(".causalistignore\n")
    (place.path.parent / ".causalistignore").write_text("c.py\n")
    assert glance(place).digest != before.digest


def test_what_changed_just_now_may_change_again_unseen(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not glance(place).is_settled
    later = time.time_ns() + 3_000_000_000
    monkeypatch.setattr("causalist.source.folder_changes.time.time_ns", lambda: later)
    assert glance(place).is_settled


def test_only_a_scan_can_say_what_another_commit_or_a_folder_without_git_holds(place: Any, folder: Any) -> None:
    assert fingerprint_folder(place.path, _LIMITS, "0" * 40, ()) is None
    folder.write_all({"a.py": "a"})
    assert fingerprint_folder(folder.path, _LIMITS, place.head, ()) is None


def test_a_folder_that_git_cannot_list_is_scanned(place: Any) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every folder")
    (place.path / "closed").mkdir(mode=0o000)
    try:
        assert fingerprint_folder(place.path, _LIMITS, place.head, ()) is None
    finally:
        (place.path / "closed").chmod(0o700)


# -- a folder in no repository

_WALKED: dict[str, Callable[[Path], object]] = {
    **{name: change for name, change in CHANGES.items() if ".git" not in name and not name.startswith("ignored")},
    "nothing but a time": lambda root: os.utime(root / "a.py", ns=(5, 5)),
    "its permissions": lambda root: (root / "a.py").chmod(0o600),
    "a file is ignored": lambda root: (root / ".gitignore").write_text("b.py\n"),
    "rules that ignore themselves": lambda root: (root / "lib" / ".gitignore").write_text(".gitignore\n"),
    "other rules that ignore themselves": lambda root: (root / "lib/deep/.gitignore").write_text(".*\nc.py\n"),
    "a folder is left out": lambda root: (root / "lib" / "deep" / "pyvenv.cfg").write_text(""),
    "a link": lambda root: (root / "link").symlink_to("a.py"),
}


@pytest.fixture
def walked(folder: Any) -> Path:
    files = {"a.py": "a", "lib/b.py": "b", "lib/deep/c.py": "c", "art.png": "x", "large.txt": "x" * 50}
    folder.write_all({**files, "lib/deep/.gitignore": ".*\nd.py\n", "lib/deep/d.py": "d"})
    root: Path = folder.path
    return root


def test_a_walk_finds_the_same_while_nothing_changes(walked: Path) -> None:
    first = fingerprint_walk(walked, _LIMITS, ())
    (walked / "lib" / "deep" / "d.py").write_text("ignored, and of no concern")
    assert first is not None and first.listing is None
    assert fingerprint_walk(walked, _LIMITS, ()) == first
    others = [fingerprint_walk(walked, *each) for each in ((DEFAULT_LIMITS, ()), (_LIMITS, (1,)))]
    assert len({each.digest for each in (first, *others) if each is not None}) == 3


@pytest.mark.parametrize("change", _WALKED.values(), ids=_WALKED)
def test_a_change_shows_in_a_walk(walked: Path, change: Callable[[Path], object]) -> None:
    before = fingerprint_walk(walked, _LIMITS, ())
    assert before is not None
    change(walked)
    after = fingerprint_walk(walked, _LIMITS, ())
    assert after is not None and after.digest != before.digest
    assert update_scan(before, scan_folder(walked, _LIMITS), after, _LIMITS) is None
    assert scan_walked(walked, _LIMITS, after) == scan_folder(walked, _LIMITS)


def test_repositories_have_no_walk(walked: Path, place: Any) -> None:
    assert fingerprint_walk(place.path, _LIMITS, ()) is None
    assert fingerprint_walk(place.path / "lib", _LIMITS, ()) is None
    place.path.rename(walked / "inside")
    assert fingerprint_walk(walked, _LIMITS, ()) is None


def test_a_walk_of_what_changed_just_now_is_not_settled(walked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fingerprint_walk(walked, _LIMITS, ())
    assert found is not None and not found.is_settled
    later = time.time_ns() + 3_000_000_000
    monkeypatch.setattr("causalist.source.folder_changes.time.time_ns", lambda: later)
    found = fingerprint_walk(walked, _LIMITS, ())
    assert found is not None and found.is_settled
