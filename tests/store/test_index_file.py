"""The index file: what was written comes back, or nothing does."""

import dataclasses
import errno
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from causalist.errors import IndexNotWritable, IndexUnreadable
from causalist.model.index import Index
from causalist.store import index_file, read_index, write_index
from tests.indexes import arrays_of, differences, random_indexes
from tests.store.test_index_folder import names_in
from tests.trials import count_of


@settings(deadline=None, max_examples=count_of(25, 60))
@given(random_indexes)
@pytest.mark.slow
def test_round_trip(index: Index) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.bin"
        write_index(path, index)
        again = read_index(path)
        assert again is not None
        assert differences(index, again) == []
        assert names_in(Path(folder)) == ["index.bin"]


def test_same_index_same_bytes(small_index: Index, small_bytes: bytes, index_path: Path) -> None:
    write_index(index_path, small_index)
    assert index_path.read_bytes() == small_bytes


def test_writing_what_was_read_gives_the_same_bytes(small_bytes: bytes, index_path: Path) -> None:
    index_path.write_bytes(small_bytes)
    again = read_index(index_path)
    assert again is not None
    write_index(index_path, again)  # over the file that `again` is mapped from
    assert index_path.read_bytes() == small_bytes


def test_arrays_of_an_index_that_was_read_cannot_be_written(small_bytes: bytes, index_path: Path) -> None:
    index_path.write_bytes(small_bytes)
    arrays = arrays_of(read_index(index_path))
    assert arrays
    for name, array in arrays.items():
        assert not array.flags.writeable, name
        assert array.flags.aligned, name
        with pytest.raises(ValueError):
            array.setflags(write=True)


def test_a_reader_keeps_the_index_that_it_opened(small_index: Index, index_path: Path) -> None:
    write_index(index_path, small_index)
    opened = read_index(index_path)
    write_index(index_path, dataclasses.replace(small_index, version="next"))
    assert differences(opened, small_index) == []
    after = read_index(index_path)
    assert after is not None and after.version == "next"


def test_no_file_is_no_index(index_path: Path) -> None:
    assert read_index(index_path) is None
    assert read_index(index_path / "below" / "nothing") is None


# -- writing that fails


def _no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _interrupted(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def _fails_midway(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the arrays reach the disk, then it is full."""
    real_open = Path.open

    class Half:
        def __init__(self, file: Any) -> None:
            self._file = file

        def __enter__(self) -> "Half":
            self._file.__enter__()
            return self

        def __exit__(self, *error: Any) -> None:
            self._file.__exit__(*error)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

        def writelines(self, blobs: list[bytes]) -> None:
            self._file.writelines(blobs[: len(blobs) // 2])
            _no_space()

    def opened(self: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        file = real_open(self, mode, *args, **kwargs)
        return Half(file) if "r" not in mode else file

    monkeypatch.setattr(Path, "open", opened)


_FAILURES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "open": lambda m: m.setattr(Path, "open", _no_space),
    "midway": _fails_midway,
    "flush to disk": lambda m: m.setattr(os, "fsync", _no_space),
    "rename": lambda m: m.setattr(Path, "replace", _no_space),
}


@pytest.mark.parametrize("failure", _FAILURES)
@pytest.mark.parametrize("before", ["an older index", "nothing"])
def test_a_write_that_fails_changes_nothing(
    failure: str, before: str, small_index: Index, index_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before != "nothing":
        write_index(index_path, small_index)
    stood = {path.name: path.read_bytes() for path in index_path.parent.iterdir()}
    with monkeypatch.context() as patched:
        _FAILURES[failure](patched)
        with pytest.raises(IndexNotWritable, match="No space left"):
            write_index(index_path, dataclasses.replace(small_index, version="next"))
    assert {path.name: path.read_bytes() for path in index_path.parent.iterdir()} == stood


def test_an_interrupt_leaves_no_stray_file(
    small_index: Index, index_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_index(index_path, small_index)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_index(index_path, dataclasses.replace(small_index, version="next"))
    assert names_in(index_path.parent) == ["index.bin"]
    assert differences(read_index(index_path), small_index) == []


def test_a_folder_that_is_not_there_is_not_writable(small_index: Index, tmp_path: Path) -> None:
    with pytest.raises(IndexNotWritable):
        write_index(tmp_path / "gone" / "index.bin", small_index)
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexNotWritable):
        write_index(tmp_path / "file" / "index.bin", small_index)


_KILLED = """
import dataclasses, os, signal, sys
from pathlib import Path
from causalist.store import read_index, write_index
path = Path(sys.argv[1])
index = dataclasses.replace(read_index(path), version="next")
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
write_index(path, index)
"""


def test_a_killed_writer_leaves_the_old_index_and_its_rest_is_removed_later(
    small_index: Index, index_path: Path
) -> None:
    write_index(index_path, small_index)
    done = subprocess.run([sys.executable, "-c", _KILLED, str(index_path)], cwd=Path(__file__).parents[2])
    assert done.returncode == -signal.SIGKILL
    assert differences(read_index(index_path), small_index) == []
    (rest,) = index_path.parent.glob("*.new")

    lives = rest.with_name(f"index.bin.{os.getppid()}.new")
    lives.write_bytes(b"")
    beside = rest.with_name(rest.name.replace("index.bin", "seen"))  # of the same process, of another file
    beside.write_bytes(b"")
    write_index(index_path, small_index)
    assert names_in(index_path.parent) == ["index.bin", lives.name], "that one may be writing now"
    os.utime(lives, (1, 1))
    write_index(index_path, small_index)
    assert names_in(index_path.parent) == ["index.bin"]


def test_nothing_is_written_through_a_link(small_index: Index, index_path: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    (tmp_path / f"index.bin.{os.getpid()}.new").symlink_to(target)
    index_path.symlink_to(target)
    write_index(index_path, small_index)
    assert target.read_text() == "precious"
    assert not index_path.is_symlink()


# -- reading what was damaged


def _reading(path: Path, small: Index, what: str) -> bool:
    """Whether the damaged file was refused; anything else that is not the index is a failure."""
    try:
        again = read_index(path)
    except IndexUnreadable:
        return True
    if again is None:
        return True  # said to be of another format
    assert differences(again, small) == [], what
    return False


@pytest.mark.slow
def test_every_truncation_is_refused(small_index: Index, small_bytes: bytes, index_path: Path) -> None:
    index_path.write_bytes(small_bytes)
    with index_path.open("r+b") as file:
        for length in reversed(range(len(small_bytes))):
            file.truncate(length)
            assert _reading(index_path, small_index, f"{length} bytes"), length


@pytest.mark.slow
def test_flipped_bits_never_give_a_wrong_index(small_index: Index, small_bytes: bytes, index_path: Path) -> None:
    chance = random.Random(7)
    # Every byte of the prefix, and some of all others.
    places = [*range(64), *(chance.randrange(len(small_bytes)) for _ in range(600))]
    n_refused = 0
    for place in places:
        damaged = bytearray(small_bytes)
        damaged[place] ^= 1 << chance.randrange(8)
        index_path.write_bytes(damaged)
        n_refused += _reading(index_path, small_index, f"byte {place}")
    # What is not refused was padding between arrays.
    assert n_refused > len(places) // 2


@pytest.mark.parametrize("n_bytes", [2, 16, 500])
def test_runs_of_zeros_never_give_a_wrong_index(
    n_bytes: int, small_index: Index, small_bytes: bytes, index_path: Path
) -> None:
    """A crash of the machine leaves pages of zeros."""
    for start in range(0, len(small_bytes), 97):
        damaged = bytearray(small_bytes)
        damaged[start : start + n_bytes] = bytes(len(damaged[start : start + n_bytes]))
        index_path.write_bytes(damaged)
        _reading(index_path, small_index, f"zeros at {start}")


def test_bytes_behind_the_end_are_refused(small_index: Index, small_bytes: bytes, index_path: Path) -> None:
    index_path.write_bytes(small_bytes + b"\0")
    assert _reading(index_path, small_index, "one more byte")


@pytest.mark.parametrize(
    "content", [b"", b"x", b"hello\n" * 100, bytes(4096), b"causalist index\n", b"SQLite format 3\0" * 40, b"PK" * 200]
)
def test_foreign_files_are_refused(content: bytes, index_path: Path) -> None:
    index_path.write_bytes(content)
    with pytest.raises(IndexUnreadable, match="built again"):
        read_index(index_path)


def _header(small_bytes: bytes) -> tuple[dict[str, Any], bytes]:
    _, _, length, _ = index_file._PREFIX.unpack_from(small_bytes)
    start = index_file._PREFIX.size
    return json.loads(small_bytes[start : start + length]), small_bytes[start + length :]


def _with_header(header: bytes, body: bytes, number: int = index_file._FORMAT) -> bytes:
    return index_file._PREFIX.pack(index_file._MAGIC, number, len(header), zlib.crc32(header)) + header + body


def test_another_format_is_as_good_as_none(small_bytes: bytes, index_path: Path) -> None:
    header, body = _header(small_bytes)
    index_path.write_bytes(_with_header(json.dumps(header).encode(), body, number=index_file._FORMAT + 1))
    assert read_index(index_path) is None


def _changes(header: dict[str, Any]) -> dict[str, bytes]:
    """Headers with right checksums that this program does not write."""
    first = next(iter(header["arrays"]))
    place = header["arrays"][first]

    def with_place(*values: Any) -> bytes:
        return json.dumps(header | {"arrays": header["arrays"] | {first: list(values)}}).encode()

    return {
        "no JSON": b"{",
        "no text": b"\xff\xfe\xfd",
        "a list": b"[]",
        "a number": b"3",
        "empty": b"{}",
        "deep": b"[" * 100_000 + b"]" * 100_000,
        "no arrays": json.dumps(header | {"arrays": {}}).encode(),
        "arrays are text": json.dumps(header | {"arrays": "x"}).encode(),
        "no scalars": json.dumps(header | {"index": None}).encode(),
        "size is text": json.dumps(header | {"size": "x"}).encode(),
        "object array": with_place("object", *place[1:]),
        "negative shape": with_place(place[0], [-3], *place[2:]),
        "shape of text": with_place(place[0], ["x"], *place[2:]),
        "place outside": with_place(place[0], place[1], 10**12, place[3]),
        "place before": with_place(place[0], place[1], -(10**12), 0),
        "too few values": with_place(*place[:3]),
    }


def test_headers_of_other_programs_are_refused(small_bytes: bytes, index_path: Path) -> None:
    header, body = _header(small_bytes)
    for what, changed in _changes(header).items():
        index_path.write_bytes(_with_header(changed, body))
        try:
            read_index(index_path)
        except IndexUnreadable:
            continue
        pytest.fail(what)


def test_what_is_no_ordinary_file_is_refused_at_once(index_path: Path, small_bytes: bytes, tmp_path: Path) -> None:
    os.mkfifo(index_path)
    with pytest.raises(IndexUnreadable):
        read_index(index_path)
    index_path.unlink()
    index_path.mkdir()
    with pytest.raises(IndexUnreadable):
        read_index(index_path)
    index_path.rmdir()
    (tmp_path / "elsewhere").write_bytes(small_bytes)
    index_path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexUnreadable):
        read_index(index_path)


def test_arrays_of_every_type_of_the_model_can_be_read(small_index: Index) -> None:
    """A type that the writer takes and the reader does not know would make an index that is never read again."""
    for name, array in arrays_of(small_index).items():
        assert array.dtype.name in index_file._DTYPES, name
        assert array.dtype.byteorder in ("=", "|"), name
    assert np.dtype("<i4").name == "int32"  # names do not tell the byte order; files are of one machine


@pytest.fixture
def like_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "_CAN_MAP", False)
    monkeypatch.setattr(index_file, "_ATTEMPTS", 3)
    monkeypatch.setattr(index_file, "_PAUSE_SECONDS", 0.0)


def test_an_index_that_is_read_leaves_the_file_alone_where_a_mapped_one_could_not_be_replaced(
    small_index: Index, small_bytes: bytes, index_path: Path, like_windows: None
) -> None:
    index_path.write_bytes(small_bytes)
    again = read_index(index_path)
    assert again is not None and differences(small_index, again) == []
    assert str(index_path) not in Path("/proc/self/maps").read_text()
    assert all(not array.flags.writeable for array in arrays_of(again).values())
    write_index(index_path, again)
    assert index_path.read_bytes() == small_bytes


@pytest.mark.parametrize(("refusals", "works"), [(2, True), (3, False)])
def test_replacing_waits_for_readers_and_not_for_ever(
    refusals: int,
    works: bool,
    small_index: Index,
    index_path: Path,
    like_windows: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Path.replace
    calls: list[Path] = []

    def refuse(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) <= refusals:
            raise PermissionError(errno.EACCES, "somebody has it open")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    if works:
        write_index(index_path, small_index)
        assert read_index(index_path) is not None
    else:
        with pytest.raises(IndexNotWritable, match="somebody has it open"):
            write_index(index_path, small_index)
        assert names_in(index_path.parent) == []
    assert len(calls) == 3


def test_a_checksum_tells_of_any_one_byte_and_of_pages_that_are_elsewhere() -> None:
    rng = np.random.default_rng(7)
    data = rng.integers(0, 256, 20 * 4096 + 37, dtype=np.uint8)
    whole = index_file._checksum(data.data)
    changed = [data.copy() for _ in range(204)]
    for each, place in zip(changed, rng.choice(len(data), 200, replace=False), strict=False):
        each[place] ^= 1 << int(rng.integers(8))
    changed[200][4096:8192], changed[200][:4096] = data[:4096], data[4096:8192]  # two pages change places
    changed[201][8192:12288] = 0  # one is cleared
    changed[202][:16] = np.roll(data[:16], 8)  # two words of a page change places
    changed[203][-37:] = 0  # behind the last page
    assert all(index_file._checksum(each.data) != whole for each in changed)
    assert index_file._checksum(data.copy().data) == whole
    # Worked out by hand: pages of one word each 1, 2 ... 20 at place 0, the sums by place are 210 and then zeros.
    pages = np.zeros((20, 512), dtype="<u8")
    pages[:, 0] = np.arange(1, 21)
    by_place = np.array([210] + [0] * 511, dtype="<u8").tobytes()
    expected = zlib.crc32(np.arange(1, 21, dtype="<u8").tobytes(), zlib.crc32(by_place, zlib.crc32(b"end")))
    assert index_file._checksum(memoryview(pages.tobytes() + b"end")) == expected


def test_what_this_process_wrote_is_not_added_up_again_until_somebody_changes_it(
    small_index: Index, index_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = write_index(index_path, small_index)
    with monkeypatch.context() as patched:
        patched.setattr(index_file, "_checksum", lambda data: -1)
        assert read_index(index_path, written) is not None
        with pytest.raises(IndexUnreadable, match="damaged"):
            read_index(index_path)
    data = bytearray(index_path.read_bytes())
    data[-1] ^= 1
    index_path.write_bytes(data)
    os.utime(index_path, ns=(1, 1))  # clocks of files may be coarse
    with pytest.raises(IndexUnreadable, match="damaged"):
        read_index(index_path, written)
    write_index(index_path, small_index)
    assert read_index(index_path, written) is not None  # another file, which is looked at as a whole


def test_arrays_that_were_read_are_written_with_the_checksums_that_they_had(
    small_index: Index, small_bytes: bytes, index_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_path.write_bytes(small_bytes)
    sums: index_file.KnownChecksums = {}
    index = read_index(index_path, sums=sums)
    assert index is not None
    with monkeypatch.context() as patched:
        patched.setattr(index_file, "_checksum", lambda data: -1)
        write_index(index_path, index, sums)
    assert index_path.read_bytes() == small_bytes
    write_index(index_path, small_index, sums)  # equal arrays, and others
    assert index_path.read_bytes() == small_bytes


def test_arrays_of_an_index_that_is_opened_are_looked_at_when_it_is_checked(
    small_index: Index, small_bytes: bytes, index_path: Path
) -> None:
    data = bytearray(small_bytes)
    data[-1] ^= 1
    index_path.write_bytes(data)
    opened = index_file.load_index(index_path)
    assert opened is not None and opened.content.version == small_index.version
    assert opened.written == index_file._stamp_of(index_path.lstat())
    with pytest.raises(IndexUnreadable, match="damaged"):
        opened.check()
    index_path.write_bytes(small_bytes)
    sound = index_file.load_index(index_path)
    assert sound is not None
    sound.check()
