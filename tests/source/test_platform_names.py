"""Names that mean something else on other systems."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causalist.errors import GitError
from causalist.model.source import FileEntry
from causalist.source import folder_scan, git, read_file, scan_folder


@pytest.fixture
def like_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are opened by their whole path and names are checked, as on Windows."""
    monkeypatch.setattr(folder_scan, "_BY_STEPS", False)
    monkeypatch.setattr(folder_scan, "_ON_WINDOWS", True)


@pytest.mark.parametrize(
    "path",
    ["C:/Windows/win.ini", "src/con.py", "NUL", "a.py:stream", "src\\..\\..\\x", "com1.txt", "dots.", "blank ", "a\tb"],
)
def test_a_name_that_is_no_files_name_on_windows_is_not_opened_there(
    folder: Any, like_windows: None, path: str
) -> None:
    folder.write_all({path: "secret"})
    assert read_file(folder.path, FileEntry(path, 6, 0)) == "unreadable"


@pytest.mark.parametrize("path", ["a.py", "src/conan.py", "auxiliary/nulls.py", ".github/x.yml", "a b/c.py", "é.py"])
def test_ordinary_names_are_opened_there(folder: Any, like_windows: None, path: str) -> None:
    folder.write_all({path: "text"})
    source = read_file(folder.path, FileEntry(path, 4, 0))
    assert not isinstance(source, str) and source.data == b"text"


def test_links_are_not_followed_there_either(folder: Any, like_windows: None, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.py").write_text("secret")
    folder.write_all({"a.py": ""})
    (folder.path / "in").symlink_to(tmp_path / "outside")
    assert read_file(folder.path, FileEntry("in/x.py", 6, 0)) == "link"


def test_git_in_the_repository_is_not_run(
    repository: Any, make_folder: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows looks for a bare name in the current folder first."""
    monkeypatch.setattr(git, "_CURRENT_FOLDER_FIRST", True)
    repository.write_all({"a.py": "x = 1\n", "git.exe": "#!/bin/sh\necho run > ran\n"})
    (repository.path / "git.exe").chmod(0o755)
    monkeypatch.chdir(repository.path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}relative")
    # Without a git on the path the folder is walked.
    assert [entry.path for entry in scan_folder(repository.path).entries] == ["a.py"]
    assert not (repository.path / "ran").exists()
    elsewhere = make_folder("bin").write_all({"git.exe": "#!/bin/sh\nexit 3\n"})
    (elsewhere.path / "git.exe").chmod(0o755)
    monkeypatch.setenv("PATH", f".{os.pathsep}{elsewhere.path}")
    with pytest.raises(GitError, match="exit code 3"):
        scan_folder(repository.path)


def test_names_that_differ_in_case_or_composition_are_different_files(folder: Any) -> None:
    """As they are on Linux; a system that cannot hold both gives one of them."""
    names = {"A.py", "a.py", "caf\u00e9.py", "cafe\u0301.py"}
    folder.write_all(dict.fromkeys(names, "x = 1\n"))
    assert {entry.path for entry in scan_folder(folder.path).entries} == names


def test_a_tree_with_such_names_and_gits_settings_of_other_systems(repository: Any) -> None:
    for key, value in (("core.ignorecase", "true"), ("core.precomposeunicode", "true"), ("core.protectNTFS", "false")):
        repository.git("config", key, value)
    names = {"A.py", "a.py", "caf\u00e9.py", "cafe\u0301.py", "a\\b.py", "aux/con.py", "C:/x.py", "d:e.py", "trail. "}
    repository.write_all(dict.fromkeys(names, "x = 1\n"))
    scan = scan_folder(repository.path)
    assert {entry.path for entry in scan.entries} == names
    for entry in scan.entries:
        assert not isinstance(read_file(repository.path, entry), str), entry.path


def test_a_path_longer_than_windows_allows_by_default(folder: Any) -> None:
    path = "/".join(["folder" * 10] * 8) + "/a.py"
    assert len(path) > 400
    folder.write_all({path: "x = 1\n"})
    (entry,) = scan_folder(folder.path).entries
    assert entry.path == path and not isinstance(read_file(folder.path, entry), str)
