"""Where a repository begins, and what is refused."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causalist.errors import RefusedRoot, RepositoryNotFound
from causalist.source import find_root, refuse_root, scan_folder


def test_the_top_of_a_work_tree_is_found_from_below(repository: Any) -> None:
    repository.write_all({"a/b/c.py": "x"})
    assert find_root(repository.path / "a/b") == repository.path
    assert find_root(repository.path) == repository.path


def test_a_folder_outside_of_git_is_its_own_root(folder: Any) -> None:
    folder.write_all({"a/b.py": "x"})
    assert find_root(folder.path / "a") == folder.path / "a"


def test_a_linked_work_tree_has_a_file_named_git(repository: Any, tmp_path: Path) -> None:
    commit = repository.write_all({"sub/a.py": "x"}).commit()
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    assert find_root(tmp_path / "linked/sub") == tmp_path / "linked"
    scan = scan_folder(tmp_path / "linked")
    assert ([entry.path for entry in scan.entries], scan.commit) == (["sub/a.py"], commit)


def test_a_submodule_is_a_root_of_its_own(repository: Any, make_folder: Callable[[str], Any]) -> None:
    library = make_folder("library").init()
    library.write_all({"l.py": "x"}).commit()
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path), "vendor")
    assert find_root(repository.path / "vendor") == repository.path / "vendor"


@pytest.mark.parametrize("marker", ["empty folder", "other file"])
def test_what_git_would_not_accept_is_passed_over(repository: Any, marker: str) -> None:
    inner = repository.path / "inner"
    inner.mkdir()
    if marker == "empty folder":
        (inner / ".git").mkdir()
    else:
        (inner / ".git").write_text("notes about git")
    assert find_root(inner) == repository.path


def test_relative_paths_and_links_are_resolved(
    repository: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "alias").symlink_to(repository.path)
    monkeypatch.chdir(tmp_path)
    assert find_root(Path("alias")) == repository.path.resolve()


def test_dotfiles_under_git_do_not_claim_every_project(make_folder: Callable[[str], Any], monkeypatch: Any) -> None:
    home = make_folder("me").init().write_all({".gitignore": "*\n", "projects/app/a.py": "x"})
    monkeypatch.setenv("HOME", str(home.path))
    app = home.path / "projects/app"
    assert find_root(app) == app
    assert [entry.path for entry in scan_folder(app).entries] == ["a.py"]
    assert find_root(home.path) == home.path


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing", "does not exist"), ("file.py", "is not a folder"), ("loop", "cannot be reached"), ("a\0b", "reached")],
)
def test_what_is_no_folder_is_said_plainly(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "file.py").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(RepositoryNotFound, match=message):
        find_root(tmp_path / name)


def test_a_folder_that_may_not_be_listed(ordinary_folder: Any) -> None:
    folder, drop_rights = ordinary_folder
    (folder.path / "closed").mkdir(mode=0)
    drop_rights()
    # os.access asks for the real user, who is still root here.
    if os.getuid() == os.geteuid():
        with pytest.raises(RepositoryNotFound, match="cannot be read"):
            find_root(folder.path / "closed")
    with pytest.raises(RepositoryNotFound, match="cannot be listed"):
        scan_folder(folder.path / "closed")


def test_the_home_directory_and_the_file_system_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    (tmp_path / "alias").symlink_to(home)
    monkeypatch.setenv("HOME", str(home))
    for path, message in ((home, "home directory"), (tmp_path / "alias", "home directory"), (Path("/"), "file system")):
        with pytest.raises(RefusedRoot, match=message):
            refuse_root(path)
    assert refuse_root(home / "project") is None  # type: ignore[func-returns-value]
