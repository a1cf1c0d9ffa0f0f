"""Commits without a checkout, and the blobs' content."""

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causalist.errors import GitError
from causalist.model.source import FileEntry, SourceFile
from causalist.source import BlobReader, Limits, blob_hash, read_file, scan_commit, scan_folder

CONTENT = {
    ".gitignore": b"*.log\n",
    "a.py": b"x = 1\n",
    "with space/line\nfeed #%::.py": b"y\n",
    "latin.py": "# größe\n".encode("latin-1"),
    "data.bin.txt": b"a\0b",
    "bundle.js": b"a;" * 10_000,
    "empty.py": b"",
    ".env": b"secret",
    "logo.png": b"x",
    "Cargo.lock": b"x",
    "big.txt": b"x" * 1_000_001,
    "kept.log": b"x",
    "node_modules/own.js": b"x",
    ".causalist/index": b"x",
}


@pytest.fixture
def committed(repository: Any) -> Any:
    repository.write_all(CONTENT).commit()
    return repository


def corrupt(git_dir: Path, blob: str) -> None:
    path = git_dir / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(b"not a zlib stream")


def test_a_bare_clone_offers_what_a_clean_checkout_offers(committed: Any, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    committed.git("clone", "-q", "--bare", ".", str(bare))
    tree, folder = scan_commit(bare, "HEAD"), scan_folder(committed.path)
    assert [replace(entry, blob=None) for entry in tree.entries] == [
        replace(e, mtime_ns=0, ctime_ns=0) for e in folder.entries
    ]
    assert (tree.skipped, tree.examples, tree.commit) == (folder.skipped, folder.examples, folder.commit)
    assert tree.skipped == {"binary": 1, "secret": 1, "too large": 1}
    assert {entry.mtime_ns for entry in tree.entries} == {0}
    with BlobReader(bare) as reader:
        by_tree = [reader.read(entry) for entry in tree.entries]
    assert by_tree == [read_file(committed.path, entry) for entry in folder.entries]
    assert [found for found in by_tree if isinstance(found, str)] == ["binary"]


@pytest.mark.parametrize("where", [".", ".git", "with space"])
def test_any_way_to_name_a_repository_works(committed: Any, where: str) -> None:
    scan = scan_commit(committed.path / where, "HEAD")
    assert [entry.path for entry in scan.entries][:3] == [".gitignore", "Cargo.lock", "a.py"]
    with BlobReader(committed.path / where) as reader:
        assert reader.read(scan.entries[2]) == SourceFile("a.py", b"x = 1\n", blob_hash(b"x = 1\n"))


def test_an_old_commit_does_not_see_the_folder(committed: Any) -> None:
    old = committed.git("rev-parse", "HEAD")
    committed.write_all({"new.py": b"x", ".causalistignore": b"*.py\n"}).commit()
    (committed.path / "a.py").unlink()
    paths = [entry.path for entry in scan_commit(committed.path, old).entries]
    assert "a.py" in paths
    assert "new.py" not in paths
    newest = scan_commit(committed.path, "HEAD")
    assert "a.py" in [entry.path for entry in newest.entries], ".causalistignore belongs to the folder"
    assert scan_commit(committed.path, old[:10]).commit == old


def test_links_and_submodules_are_skipped(committed: Any, make_folder: Callable[[str], Any]) -> None:
    library = make_folder("library").init()
    library.write_all({"l.py": "x"}).commit()
    committed.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path), "vendored")
    (committed.path / "link.py").symlink_to("/etc/passwd")
    (committed.path / "linked").symlink_to("lib")
    committed.commit()
    scan = scan_commit(committed.path, "HEAD")
    examples = scan.examples
    assert scan.links == (("linked", "lib"),)
    assert (examples["link"], examples["submodule"]) == (("link.py", "linked"), ("vendored",))


def test_a_name_that_is_no_utf8(repository: Any) -> None:
    Path(os.fsdecode(os.fsencode(repository.path) + b"/caf\xe9.py")).write_text("x")
    repository.commit()
    scan = scan_commit(repository.path, "HEAD")
    assert (scan.entries, scan.examples) == ((), {"undecodable name": ("caf\\xe9.py",)})


def test_limits_hold(committed: Any) -> None:
    scan = scan_commit(committed.path, "HEAD", Limits(max_files=3, max_file_bytes=7))
    assert [entry.path for entry in scan.entries] == [".gitignore", "Cargo.lock", "a.py"]
    assert scan.skipped["too many files"] == 5
    assert scan.skipped["too large"] == 3


@pytest.mark.parametrize(
    "commit", ["0" * 40, "no-such-branch", "", "--help", "-", "HEAD:a.py", "a\0b", "HEAD\n", "{", "^HEAD"]
)
def test_an_unknown_commit_says_what_to_do(committed: Any, commit: str) -> None:
    with pytest.raises(GitError, match=r"git log.*git fetch"):
        scan_commit(committed.path, commit)


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a git repository"):
        scan_commit(tmp_path, "HEAD")
    with pytest.raises(GitError, match="is not a git repository"), BlobReader(tmp_path):
        pass


def test_git_cannot_work_here(committed: Any) -> None:
    (committed.path / ".git/config").write_text("[broken")
    with pytest.raises(GitError, match="git cat-file failed: fatal: bad config"), BlobReader(committed.path):
        pass


def test_git_is_not_installed(committed: Any, without_git: Any) -> None:
    without_git()
    with pytest.raises(GitError, match="not found on the search path"):
        scan_commit(committed.path, "HEAD")
    with pytest.raises(GitError, match="not found on the search path"), BlobReader(committed.path):
        pass


def test_what_cannot_be_read_is_unreadable_and_the_next_blob_is_read(committed: Any) -> None:
    entries = {entry.path: entry for entry in scan_commit(committed.path, "HEAD").entries}
    good = SourceFile("a.py", b"x = 1\n", blob_hash(b"x = 1\n"))
    tree = committed.git("rev-parse", "HEAD^{tree}")
    damaged = entries["latin.py"]
    assert damaged.blob is not None
    corrupt(committed.path / ".git", damaged.blob)
    with BlobReader(committed.path) as reader:
        for blob in (
            None,
            "",
            "0" * 40,
            tree,
            "HEAD:a.py",
            f"{good.blob}\n{good.blob}",
            good.blob.upper(),
            damaged.blob,
        ):
            assert reader.read(FileEntry("x.py", 1, 0, blob)) == "unreadable"
            assert reader.read(entries["a.py"]) == good


def test_a_blob_is_held_to_the_limit_whatever_the_entry_says(committed: Any) -> None:
    blob = committed.git("rev-parse", "HEAD:big.txt")
    small = next(entry for entry in scan_commit(committed.path, "HEAD").entries if entry.path == "a.py")
    with BlobReader(committed.path) as reader:
        assert reader.read(FileEntry("big.txt", 1, 0, blob)) == "too large"
        assert reader.read(FileEntry("big.txt", 1_000_001, 0, blob)) == "too large"
        assert isinstance(reader.read(small), SourceFile)


def test_a_killed_git_is_started_again(committed: Any) -> None:
    entry = next(entry for entry in scan_commit(committed.path, "HEAD").entries if entry.path == "a.py")
    with BlobReader(committed.path) as reader:
        process = reader._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert isinstance(reader.read(entry), SourceFile)


def test_no_process_is_left_behind(committed: Any) -> None:
    entry = scan_commit(committed.path, "HEAD").entries[0]
    with BlobReader(committed.path) as reader:
        process = reader._process
    assert process is not None
    assert process.returncode == 0
    with pytest.raises(RuntimeError, match="outside of its with block"):
        reader.read(entry)


def test_a_partial_clone_fetches_nothing(committed: Any, tmp_path: Path) -> None:
    committed.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    clone = ("clone", "-q", "--bare", "--filter=blob:none", f"file://{committed.path}", str(partial))
    committed.git(*clone)
    with pytest.raises(GitError, match="promisor remote"):
        scan_commit(partial, "HEAD")
    blob = committed.git("rev-parse", "HEAD:a.py")
    with BlobReader(partial) as reader:
        assert reader.read(FileEntry("a.py", 1, 0, blob)) == "unreadable"
    missing = subprocess.run(
        ["git", "rev-list", "--objects", "--missing=print", "HEAD"],
        cwd=partial,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"?{blob}" in missing.stdout.split()


def test_sha256_repositories_give_sha1_of_the_content(make_folder: Callable[[str], Any]) -> None:
    folder = make_folder("sha256")
    try:
        folder.git("init", "-q", "--object-format=sha256")
    except subprocess.CalledProcessError:
        pytest.skip("this git has no SHA-256 repositories")
    commit = folder.write_all({"a.py": b"x"}).commit()
    (entry,) = scan_commit(folder.path, "HEAD").entries
    assert (len(commit), len(entry.blob or "")) == (64, 64)
    with BlobReader(folder.path) as reader:
        assert reader.read(entry) == SourceFile("a.py", b"x", blob_hash(b"x"))


def test_a_replaced_object_has_the_content_of_its_name(committed: Any) -> None:
    blob, other = committed.git("rev-parse", "HEAD:a.py"), committed.git("rev-parse", "HEAD:empty.py")
    committed.git("replace", blob, other)
    with BlobReader(committed.path) as reader:
        assert reader.read(FileEntry("a.py", 6, 0, blob)) == SourceFile("a.py", b"x = 1\n", blob)
