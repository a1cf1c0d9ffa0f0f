"""HEAD as files tell it is HEAD as git tells it, or nothing is said."""

import subprocess
from pathlib import Path

import pytest

from causalist.source import scan_folder
from causalist.source.git import head_commit, remote_name
from tests.edits import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for n in range(3):
        (root / "a.py").write_text(f"a = {n}\n")
        git(root, "add", "a.py")
        git(root, "commit", "-q", "-m", f"change {n}")
    return root


def _said_by_git(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


def test_a_branch_a_commit_and_packed_branches(repository: Path) -> None:
    assert head_commit(repository) == _said_by_git(repository)
    git(repository, "checkout", "-q", "-b", "feature/a.b-c", "HEAD~1")
    assert head_commit(repository) == _said_by_git(repository)
    git(repository, "pack-refs", "--all")
    assert not (repository / ".git/refs/heads/feature/a.b-c").exists()
    assert head_commit(repository) == _said_by_git(repository)
    git(repository, "commit", "-q", "--allow-empty", "-m", "loose over packed")
    assert head_commit(repository) == _said_by_git(repository)
    git(repository, "checkout", "-q", "--detach", "HEAD~2")
    assert head_commit(repository) == _said_by_git(repository)


def test_a_linked_work_tree_has_a_head_of_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"), "HEAD~1")
    assert head_commit(tmp_path / "linked") == _said_by_git(tmp_path / "linked") != head_commit(repository)


def test_what_files_do_not_tell(repository: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert head_commit(empty) is None
    git(empty, "init", "-q")
    assert head_commit(empty) is None  # no commit yet
    head = repository / ".git/HEAD"
    for strange in ("ref: refs/heads/../../../elsewhere\n", "ref: refs/remotes/origin/main\n", "not a commit\n", ""):
        head.write_text(strange)
        assert head_commit(repository) is None, strange
    head.unlink()
    head.symlink_to("refs/heads/main")
    assert head_commit(repository) is None


def test_another_commit_than_the_known_one_is_asked_of_git(repository: Path) -> None:
    now, before = _said_by_git(repository), git(repository, "rev-parse", "HEAD~1").strip()
    assert scan_folder(repository, known_commit=before).commit == now
    assert scan_folder(repository, known_commit=now).commit == now
    (repository / ".git/refs/heads/main").write_text("0" * 40 + "\n")
    assert scan_folder(repository, known_commit=now).commit != now


def test_git_is_not_started_for_a_commit_that_is_known(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []
    real = subprocess.Popen

    def counted(command, *arguments, **options):
        started.append(tuple(command))
        return real(command, *arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", counted)
    scan_folder(repository, known_commit=head_commit(repository))
    assert len(started) == 1 and "ls-files" in started[0]


@pytest.mark.parametrize(
    "url",
    ["https://example.org/acme/ferry.git", "git@example.org:acme/ferry", "ssh://example.org/ferry/", "../ferry.git"],
)
def test_the_name_of_the_remote(url: str, repository: Path, tmp_path: Path) -> None:
    assert remote_name(repository) == ""
    git(repository, "remote", "add", "upstream", "https://example.org/acme/other.git")
    assert remote_name(repository) == ""
    git(repository, "remote", "add", "origin", url)
    git(repository, "config", "remote.origin.tagOpt", "--no-tags")
    assert remote_name(repository) == "ferry"
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert remote_name(tmp_path / "tree") == "ferry"


def test_no_repository_has_no_remote(tmp_path: Path) -> None:
    assert remote_name(tmp_path) == ""
