"""The folder of an index hides itself and never leads elsewhere."""

import os
import subprocess
from pathlib import Path

import pytest

from causalist.errors import IndexNotWritable
from causalist.pipeline.repository import Repository
from causalist.store import FOLDER, INDEX_NAME, prepare_folder


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _git(root: Path, *arguments: str) -> str:
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | settings
    return subprocess.run(
        ["git", *arguments], cwd=root, env=environment, capture_output=True, check=True
    ).stdout.decode()


def test_git_does_not_see_it(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("x = 1\n")
    _git(tmp_path, "add", "a.py")
    _git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x")
    Repository.open(tmp_path)
    assert (tmp_path / FOLDER / INDEX_NAME).exists()
    assert _git(tmp_path, "status", "--porcelain") == ""
    _git(tmp_path, "add", "-A", ".")
    assert _git(tmp_path, "status", "--porcelain") == ""


def test_it_can_be_prepared_again(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    prepare_folder(folder)
    assert folder == tmp_path / FOLDER
    (folder / ".gitignore").write_text("*\n# kept\n")
    prepare_folder(folder)
    assert (folder / ".gitignore").read_text() == "*\n# kept\n"
    assert names_in(folder) == [".gitignore"]


def test_an_empty_ignore_file_is_written_again(tmp_path: Path) -> None:
    """A process that is killed between creating and writing leaves it empty."""
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / ".gitignore").write_text("")
    prepare_folder(folder)
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_file_in_its_place_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("")
    with pytest.raises(IndexNotWritable):
        prepare_folder(tmp_path / FOLDER)


def test_a_root_that_is_gone_is_not_writable(tmp_path: Path) -> None:
    with pytest.raises(IndexNotWritable):
        prepare_folder(tmp_path / "gone" / FOLDER)


@pytest.mark.parametrize("name", [".gitignore", "lock", INDEX_NAME, "weights.json"])
@pytest.mark.parametrize("target", ["there", "not there"])
def test_links_that_a_repository_ships_are_not_followed(name: str, target: str, tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / FOLDER).mkdir(parents=True)
    (root / "a.py").write_text("def resend_invoice():\n    pass\n")
    if target == "there":
        outside.write_text("precious")
    (root / FOLDER / name).symlink_to(outside)
    with pytest.raises(IndexNotWritable, match="not an ordinary file"):
        prepare_folder(root / FOLDER)
    repository = Repository.open(root)
    assert "index-not-writable" in [note.slug for note in repository.notes]
    assert [hit.id for hit in repository.ask("where is an invoice resent or resend?").results]
    assert (outside.read_text() if target == "there" else not outside.exists()) in ("precious", True)


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / FOLDER).symlink_to(outside)
    with pytest.raises(IndexNotWritable, match="link"):
        prepare_folder(root / FOLDER)
    assert names_in(outside) == []
