"""Copies of a work tree: what is in them, and that they are put right."""

import os
import subprocess
from pathlib import Path

import pytest

from causalist.prove.pytest_runs import Workspace
from tests.cli.commands import write_all

FILES = {
    "a.py": "A = 1\n",
    "pkg/__init__.py": "",
    "pkg/b.py": "B = 1\n",
    "pkg/_version.py": "V = 1\n",
    "build/c.py": "C = 1\n",
    "gone.py": "",
    ".gitignore": "_version.py\nbuild/\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = write_all(tmp_path / "root", FILES)
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=made, check=True)
    write_all(made, {"a.py": "A = 2\n", "new.py": "N = 1\n"})
    (made / "gone.py").unlink()
    return made


def _files(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


EXPECTED = {
    ".gitignore": FILES[".gitignore"],
    "a.py": "A = 2\n",
    "new.py": "N = 1\n",
    "pkg/__init__.py": "",
    "pkg/_version.py": "V = 1\n",  # ignored, and beside tracked files
    "pkg/b.py": "B = 1\n",
}


def test_changes_and_new_files_are_copied(root: Path) -> None:
    workspace = Workspace(root)
    assert _files(workspace.tree) == EXPECTED
    assert _files(workspace.make_copy(0).root) == EXPECTED
    workspace.close()
    assert not workspace.folder.exists()


def test_a_copy_is_put_right(root: Path) -> None:
    workspace = Workspace(root)
    copy = workspace.make_copy(0)
    copy.write("a.py", b"broken")
    write_all(copy.root, {"pkg/left.txt": "", "new.py": "N = 2\n"})
    (copy.root / "pkg/b.py").unlink()
    copy.restore()
    assert _files(copy.root) == EXPECTED
    copy.restore()
    workspace.close()


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_links_never_lead_out_of_a_copy(root: Path, tmp_path: Path) -> None:
    write_all(tmp_path, {"outside.txt": "out"})
    (root / "inside").symlink_to("a.py")
    (root / "outside").symlink_to("../outside.txt")
    (root / "absolute").symlink_to(root / "a.py")
    (root / "folder").symlink_to("..")
    workspace = Workspace(root)
    made = workspace.make_copy(0).root
    assert (made / "inside").readlink() == Path("a.py")
    assert not (made / "outside").is_symlink() and (made / "outside").read_text() == "out"
    assert not (made / "absolute").is_symlink() and (made / "absolute").read_text() == "A = 2\n"
    assert not (made / "folder").exists()
    workspace.close()


def test_copies_of_processes_that_ended_are_removed(root: Path, tmp_path: Path) -> None:
    parent = tmp_path / "cache" / "causalist" / "prove"
    ended = subprocess.Popen(["true"])
    ended.wait()
    write_all(parent, {f"{ended.pid}-1/tree/a.py": "", f"{os.getppid()}-1/tree/a.py": ""})
    workspace = Workspace(root)
    assert sorted(p.name for p in parent.iterdir()) == sorted([workspace.folder.name, f"{os.getppid()}-1"])
    workspace.close()


def test_a_folder_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = write_all(tmp_path / "plain", {**FILES, ".venv/pyvenv.cfg": "", "env/pyvenv.cfg": "", "env/x.py": "",
                                          "pkg/__pycache__/b.pyc": "", "node_modules/x.js": ""})  # fmt: skip
    workspace = Workspace(root)
    assert set(_files(workspace.tree)) == set(FILES)
    workspace.close()
