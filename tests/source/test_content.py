"""The content of one file of a folder, and hostile changes between scan and read."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.model.source import FileEntry, SourceFile
from causalist.source import FolderReader, Limits, blob_hash, classify, read_file, scan_folder
from tests.trials import count_of


def entry(path: str) -> FileEntry:
    return FileEntry(path, 0, 0)


@pytest.mark.parametrize(
    "data",
    [b"", b"hello\n", "naïve".encode("latin-1"), b"\r\n", b"\xff\xfe\0"],
    ids=["empty", "text", "latin1", "crlf", "bin"],
)
def test_blob_hash_is_gits(repository: Any, data: bytes) -> None:
    repository.write_all({"f": data})
    assert blob_hash(data) == repository.git("hash-object", "--no-filters", "f")


def test_bytes_come_back_untouched(folder: Any) -> None:
    data = "# größe\r\nx = 'é'\n".encode("latin-1")
    folder.write_all({"sub/line\nfeed #%::é.py": data})
    (found,) = scan_folder(folder.path).entries
    assert read_file(folder.path, found) == SourceFile("sub/line\nfeed #%::é.py", data, blob_hash(data))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\0", "binary"),
        (b"x" * 5_000_000, "too large"),
    ],
    ids=["binary", "too large"],
)
def test_content_that_stays_out(folder: Any, data: bytes, reason: str) -> None:
    folder.write_all({"a.js": data})
    assert read_file(folder.path, entry("a.js")) == reason


def test_a_file_that_grew_is_not_read_beyond_the_limit(folder: Any) -> None:
    folder.write_all({"a.py": "x" * 11})
    assert read_file(folder.path, entry("a.py"), Limits(max_file_bytes=10)) == "too large"


@pytest.mark.parametrize("path", ["gone.py", "no/such/folder.py", "a.py/below.py"])
def test_a_file_that_is_gone(folder: Any, path: str) -> None:
    folder.write_all({"a.py": "x"})
    assert read_file(folder.path, entry(path)) == "vanished"


def test_a_link_in_the_place_of_the_file_is_not_followed(folder: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("stolen")
    (folder.path / "a.py").symlink_to(tmp_path / "secret")
    assert read_file(folder.path, entry("a.py")) == "link"


def test_a_link_in_the_place_of_a_folder_is_not_followed(folder: Any, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.py").write_text("stolen")
    (folder.path / "lib").symlink_to(tmp_path / "elsewhere")
    assert read_file(folder.path, entry("lib/a.py")) == "vanished"


def test_the_root_itself_may_be_a_link(folder: Any, tmp_path: Path) -> None:
    folder.write_all({"a.py": "x"})
    (tmp_path / "alias").symlink_to(folder.path)
    assert read_file(tmp_path / "alias", entry("a.py")) == SourceFile("a.py", b"x", blob_hash(b"x"))


def test_a_pipe_does_not_block(folder: Any) -> None:
    os.mkfifo(folder.path / "pipe.py")
    assert read_file(folder.path, entry("pipe.py")) == "special file"


def test_a_folder_is_special(folder: Any) -> None:
    (folder.path / "dir.py").mkdir()
    assert read_file(folder.path, entry("dir.py")) == "special file"


@pytest.mark.parametrize(
    "path", ["../a.py", "lib/../../a.py", "/etc/passwd", "", "a\0b", "./a.py", "a//b", "\ud800.py"]
)
def test_a_path_that_no_scan_gives_is_unreadable(folder: Any, tmp_path: Path, path: str) -> None:
    (tmp_path / "a.py").write_text("stolen")
    folder.write_all({"lib/b.py": "x"})
    assert read_file(folder.path, entry(path)) == "unreadable"


def test_a_name_beyond_the_systems_length_is_unreadable(folder: Any) -> None:
    assert read_file(folder.path, entry("x" * 5_000)) == "unreadable"


def test_permissions(ordinary_folder: Any) -> None:
    folder, drop_rights = ordinary_folder
    folder.write_all({"a.py": "x", "passage/b.py": "y"})
    (folder.path / "a.py").chmod(0)
    (folder.path / "passage").chmod(0o711)
    drop_rights()
    assert read_file(folder.path, entry("a.py")) == "unreadable"
    assert read_file(folder.path, entry("passage/b.py")) == SourceFile("passage/b.py", b"y", blob_hash(b"y"))


def test_reading_leaves_no_descriptor_open(folder: Any) -> None:
    folder.write_all({"a/b/c.py": "x"})
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("needs /proc to count open files")
    before = len(list(descriptors.iterdir()))
    for path in ("a/b/c.py", "a/b/gone.py", "a/gone/c.py", "a/b"):
        read_file(folder.path, entry(path))
    assert len(list(descriptors.iterdir())) == before


@settings(max_examples=count_of(40, 100), deadline=None)
@given(data=st.binary(max_size=9_000), suffix=st.sampled_from([".py", ".md", "", ".json"]))
def test_any_bytes_are_classified_without_an_error(data: bytes, suffix: str) -> None:
    reason = classify("name" + suffix, data)
    assert reason in {None, "binary", "UTF-16"}
    assert (reason in {"binary", "UTF-16"}) == (b"\0" in data[:8_000])


def test_a_reader_of_many_files_returns_what_reading_each_returns(folder: Any, tmp_path: Path) -> None:
    folder.write_all({"a.py": "x", "lib/a.py": "y", "lib/deep/er/b.py": "z", "lib/deep.py": "", "z\n/é.py": b"\0"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.py").write_text("stolen")
    (folder.path / "link").symlink_to(tmp_path / "elsewhere")
    paths = ["a.py", "lib/a.py", "lib/deep/er/b.py", "lib/deep/b.py", "lib/deep.py", "z\n/é.py", "link/a.py", "no/a.py",
             "lib/a.py/b.py", "lib/../a.py", "lib/a.py"]  # fmt: skip
    own = Path("/proc/self/fd")  # where there is one
    n_open = len(list(own.iterdir())) if own.is_dir() else 0
    with FolderReader(folder.path) as reader:
        for path in [*paths, *reversed(paths)]:
            assert reader.read(entry(path)) == read_file(folder.path, entry(path)), path
    assert n_open == (len(list(own.iterdir())) if own.is_dir() else 0)


def test_a_folder_that_was_replaced_by_a_link_is_not_followed_by_a_reader(folder: Any, tmp_path: Path) -> None:
    folder.write_all({"lib/a.py": "x", "b/b.py": "y"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.py").write_text("stolen")
    with FolderReader(folder.path) as reader:
        reader.read(entry("lib/a.py"))
        (folder.path / "lib").rename(folder.path / "old")
        (folder.path / "lib").symlink_to(tmp_path / "elsewhere")
        assert reader.read(entry("lib/a.py")) == SourceFile("lib/a.py", b"x", blob_hash(b"x"))  # as it was opened
        reader.read(entry("b/b.py"))
        assert reader.read(entry("lib/a.py")) == SourceFile("lib/a.py", b"x", blob_hash(b"x"))
    with reader:
        assert reader.read(entry("lib/a.py")) == "vanished"
