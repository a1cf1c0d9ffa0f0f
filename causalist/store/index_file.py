"""The index as one file: complete, or absent.

Layout: magic, format number, length and CRC-32 of the header, the header (JSON: dtype, shape, offset and checksum of
each array, and the scalars), then the arrays, each at a multiple of 64 bytes. The file is written under another name
and renamed over the old one, so that a reader sees either the old or the new index. Reading maps the file, so that a
query loads only the pages it touches. Where a mapped file cannot be replaced (Windows), it is read instead, and
replacing waits briefly for readers.

Next to the index is a digest of the folder at the time when the index was last found current, which saves a scan. It
covers the index file as well (`index_stamp`). If it cannot be read or written, the folder is scanned.
"""

import json
import mmap
import os
import stat
import struct
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import Arrays, flatten, unflatten
from causalist.errors import IndexNotWritable, IndexUnreadable
from causalist.model.index import Index
from causalist.store.index_folder import SEEN_NAME

_MAGIC = b"causalist index\n"
_FORMAT = 4
_PREFIX = struct.Struct("<16sIII")  # magic, format, length of the header, its CRC-32
_ALIGNMENT = 64
_PAGE_BYTES = 4096
_LARGE_PAGES = 16
_PAGES_AT_ONCE = 256  # what is added up both ways while it is at hand: a megabyte
_DTYPES = ("uint8", "uint16", "uint32", "uint64", "bool", "int32", "int64", "float32", "float64")
_ABANDONED_SECONDS = 3600.0  # writing takes seconds; what is this old was left by a process that was killed
_ON_WINDOWS = os.name == "nt"
_CAN_MAP = not _ON_WINDOWS
# An open file cannot be replaced there. Reading takes milliseconds.
_ATTEMPTS = 20 if _ON_WINDOWS else 1
_PAUSE_SECONDS = 0.05
# A link or a pipe in the place of the index is neither followed nor waited for.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FileStamp(NamedTuple):
    """Metadata that any change of a file alters: inode, size, and times in nanoseconds."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


KnownChecksums = dict[str, tuple[NDArray[Any], int]]  # arrays by name, with their checksums


def write_index(path: Path, index: Index, known_checksums: KnownChecksums | None = None) -> FileStamp | None:
    """Write `index` to `path` atomically and return the stamp of the file.

    Returns None if another process has replaced the file since. Raises IndexNotWritable and then changes nothing.
    Known checksums are not computed again.
    """
    arrays: Arrays = {}
    scalars = flatten(index, "index", arrays)
    with suppress(OSError):
        _remove_abandoned(path.parent)
    return write_arrays(path, FileKind(_MAGIC, _FORMAT), {"index": scalars}, arrays, known_checksums)


class FileKind(NamedTuple):
    """First bytes of a file, 16 of them, and its format number."""

    magic: bytes
    number: int


def write_arrays(
    path: Path,
    kind: FileKind,
    fields: Mapping[str, Any],
    arrays: Arrays,
    known_checksums: KnownChecksums | None = None,
) -> FileStamp | None:
    """Write arrays and JSON fields to `path` atomically and return the stamp of the file.

    Returns None if another process has replaced the file since. Raises IndexNotWritable and then changes nothing.
    """
    places: dict[str, list[Any]] = {}
    blobs: list[bytes | memoryview] = []
    offset = 0
    for name, array in arrays.items():
        # A view: in bytes the whole index would be in memory twice.
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        padding = -offset % _ALIGNMENT
        blobs += [b"\0" * padding, data]
        offset += padding
        same, checksum = (known_checksums or {}).get(name, (None, 0))
        places[name] = [array.dtype.name, list(array.shape), offset, checksum if same is array else _checksum(data)]
        offset += len(data)
    header = json.dumps({"arrays": places, **fields, "size": offset}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )
    start = _PREFIX.size + len(header)
    header += b" " * (-start % _ALIGNMENT)
    prefix = _PREFIX.pack(*kind, len(header), zlib.crc32(header))
    aside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        aside.unlink(missing_ok=True)
        with aside.open("xb") as out:
            out.write(prefix)
            out.write(header)
            out.writelines(blobs)
            out.flush()
            os.fsync(out.fileno())
            inode = os.fstat(out.fileno()).st_ino
        _replace(aside, path)
        written = _stamp_of(path.lstat())  # only now: being renamed counts as a change
    except BaseException as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise IndexNotWritable(f"cannot write {path}: {error.strerror or error}") from error
        raise

    return written if written.inode == inode else None


def _stamp_of(status: os.stat_result) -> FileStamp:
    return FileStamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _replace(aside: Path, path: Path) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            aside.replace(path)
            return
        except PermissionError:
            if attempt + 1 == _ATTEMPTS:
                raise
            time.sleep(_PAUSE_SECONDS)


def _remove_abandoned(folder: Path) -> None:
    """Delete all temporary files in the folder of an index whose processes have ended, and old ones."""
    for aside in folder.glob("*.*.new"):
        with suppress(OSError):
            is_old = time.time() - aside.lstat().st_mtime > _ABANDONED_SECONDS
            if is_old or has_ended(aside.name.split(".")[-2]):
                aside.unlink()


def has_ended(number: str) -> bool:
    """Return True if no process has that number; False if unknown."""
    if _ON_WINDOWS or not number.isascii() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


class LoadedIndex(NamedTuple):
    """A mapped index and the stamp of its file.

    `check` verifies the checksums of the arrays and raises IndexUnreadable if one is damaged.
    """

    content: Index
    written: FileStamp
    check: Callable[[], None]


def read_index(path: Path, written: FileStamp | None = None, sums: KnownChecksums | None = None) -> Index | None:
    """Return the index at `path` as `load_index` does, with verified arrays."""
    opened = load_index(path, written, sums)
    if opened is None:
        return None
    opened.check()
    return opened.content


def load_index(path: Path, written: FileStamp | None = None, sums: KnownChecksums | None = None) -> LoadedIndex | None:
    """Map the index at `path`; None if there is none or it has another format.

    Raises IndexUnreadable if its header is damaged. `written` is the stamp of a file that this process wrote, which is
    not verified again. Checksums are put into `sums`, for `write_index`.
    """
    try:
        opened = map_arrays(path, FileKind(_MAGIC, _FORMAT))
        if opened is None:
            return None
        if sums is not None:
            sums.update({name: (opened.arrays[name], crc) for name, (*_, crc) in opened.fields["arrays"].items()})
        content = unflatten(Index, opened.fields["index"], "index", opened.arrays)
        check = (lambda: None) if opened.stamp == written else partial(_check_again, opened)
        return LoadedIndex(content, opened.stamp, check)
    except FileNotFoundError:
        return None
    except IndexUnreadable as error:
        raise _with_remedy(error) from error
    except OSError as error:
        raise IndexUnreadable(f"cannot read {path}: {error.strerror or error}; it is built again") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        # Checksums hold, so another program wrote this.
        raise IndexUnreadable(f"{path} is not what this program writes ({error!r}); it is built again") from error


def _with_remedy(error: IndexUnreadable) -> IndexUnreadable:
    said = str(error)
    return error if said.endswith("it is built again") else IndexUnreadable(f"{said}; it is built again")


def _check_again(opened: "MappedArrays") -> None:
    try:
        opened.check()
    except IndexUnreadable as error:
        raise _with_remedy(error) from error


class MappedArrays(NamedTuple):
    """The mapped arrays of a file, its JSON fields, its stamp, and what was appended to it.

    `check` verifies the checksums of the arrays and raises IndexUnreadable if one is damaged.
    """

    arrays: Arrays
    fields: dict[str, Any]
    stamp: FileStamp
    check: Callable[[], None]
    rest: bytes
    end: int  # of the arrays in the file


def _checksum(data: memoryview) -> int:
    """Return the checksum of the bytes: CRC-32, or for large arrays that of word sums.

    Large arrays sum their 8-byte words by page and by position in the page, modulo 2**64, and take the CRC-32 of the
    sums; that takes a fifth of the time. One changed word always shows, and so does a page that is missing, cleared or
    moved.
    """
    n_pages = len(data) // _PAGE_BYTES
    if n_pages < _LARGE_PAGES:
        return zlib.crc32(data)
    pages = np.frombuffer(data, dtype="<u8", count=n_pages * (_PAGE_BYTES // 8)).reshape(n_pages, -1)
    by_page, by_place = np.empty(n_pages, dtype=pages.dtype), np.zeros(pages.shape[1], dtype=pages.dtype)
    for first in range(0, n_pages, _PAGES_AT_ONCE):
        some = pages[first : first + _PAGES_AT_ONCE]
        np.add.reduce(some, axis=1, out=by_page[first : first + _PAGES_AT_ONCE])
        by_place += np.add.reduce(some, axis=0)
    rest = zlib.crc32(data[n_pages * _PAGE_BYTES :])
    return zlib.crc32(by_page.data, zlib.crc32(by_place.data, rest))


def _map_file(path: Path) -> tuple[mmap.mmap | bytes, os.stat_result]:
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise IndexUnreadable(f"{path} is no ordinary file")
        if status.st_size < _PREFIX.size:
            raise IndexUnreadable(f"{path} is truncated")
        if not _CAN_MAP:
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(), status
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ), status
    finally:
        os.close(descriptor)


def map_arrays(path: Path, kind: FileKind, *, may_grow: bool = False) -> MappedArrays | None:
    """Map the arrays of a file that `write_arrays` wrote; None if it has another format.

    `may_grow`: something may have been appended. Raises IndexUnreadable if its header is damaged, OSError if it cannot
    be read.
    """
    mapped, status = _map_file(path)
    magic, number, length, checksum = _PREFIX.unpack_from(mapped)
    if magic != kind.magic:
        raise IndexUnreadable(f"{path} is no index")
    if number != kind.number:
        return None
    header_bytes = mapped[_PREFIX.size : _PREFIX.size + length]
    if zlib.crc32(header_bytes) != checksum:
        raise IndexUnreadable(f"the header of {path} is damaged")
    header = json.loads(header_bytes)
    base = _PREFIX.size + length
    end = base + header["size"]
    if status.st_size < end or (status.st_size > end and not may_grow):
        raise IndexUnreadable(f"{path} is truncated")
    arrays: Arrays = {}
    spans: list[tuple[str, int, int, int]] = []  # name, start, end, checksum
    for name, (dtype, shape, offset, crc) in header["arrays"].items():
        if dtype not in _DTYPES:
            raise IndexUnreadable(f"{path}: array {name} has the unknown type {dtype}")
        element = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        start = base + offset
        spans.append((name, start, start + count * element.itemsize, crc))
        arrays[name] = np.frombuffer(mapped, dtype=element, count=count, offset=start).reshape(shape)

    def check() -> None:
        view = memoryview(mapped)
        for name, start, end, crc in spans:
            if _checksum(view[start:end]) != crc:
                raise IndexUnreadable(f"{path}: array {name} is damaged")

    return MappedArrays(arrays, header, _stamp_of(status), check, mapped[end:], end)


def has_version(path: Path, version: str) -> bool:
    """Return True if the index at `path` was made as a version, or is damaged, which `load_index` reports."""
    try:
        mapped, _ = _map_file(path)
    except (OSError, IndexUnreadable):
        return index_stamp(path) is not None
    magic, number, length, checksum = _PREFIX.unpack_from(mapped)
    if magic == _MAGIC and number != _FORMAT:
        return False
    header = mapped[_PREFIX.size : _PREFIX.size + length]
    return magic != _MAGIC or zlib.crc32(header) != checksum or version.encode() in header


_MAX_SEEN_BYTES = 200
_TICK_NS = 1_000_000_000  # of clocks of file systems, at most but for FAT
_SEEN_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def index_stamp(path: Path) -> tuple[int, ...] | None:
    """Return metadata that identifies the index file; None if there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def read_seen(folder: Path, name: str = SEEN_NAME) -> str | None:
    """Return the digest stored in the folder of an index, or None."""
    with suppress(OSError, UnicodeDecodeError):
        descriptor = os.open(folder / name, os.O_RDONLY | _SEEN_OPEN_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(_MAX_SEEN_BYTES).decode("ascii").strip()
    return None


def write_seen(folder: Path, digest: str, name: str = SEEN_NAME) -> None:
    """Store a digest in the folder of an index, if it is writable. Links are not followed."""
    aside = folder / f"{name}.{os.getpid()}.new"
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SEEN_OPEN_FLAGS, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(f"{digest}\n".encode("ascii"))
            aside.replace(folder / name)
        except OSError:
            aside.unlink(missing_ok=True)


def is_verified(path: Path, stamp: FileStamp) -> bool:
    """Return True if a file with this stamp was verified before, as `mark_verified` noted."""
    return read_seen(path.parent, f"{path.name}.{SEEN_NAME}") == _describe_stamp(stamp)


def mark_verified(path: Path, stamp: FileStamp) -> None:
    """Note next to a file that it was verified, so that it need not be again while its stamp stays.

    Not for a file that was just changed: another change in the same tick of the clock would have the same stamp.
    """
    if time.time_ns() - max(stamp.mtime_ns, stamp.ctime_ns) > _TICK_NS:
        write_seen(path.parent, _describe_stamp(stamp), f"{path.name}.{SEEN_NAME}")


def _describe_stamp(stamp: FileStamp) -> str:
    return " ".join(map(str, stamp))
