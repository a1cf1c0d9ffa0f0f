"""Vectors of one embedder as one file beside an index: complete, or as it was.

Layout: magic, length and CRC-32 of the header, the header (JSON), then the arrays, each at a multiple of 64 bytes. The
file is written aside and renamed over the old one. It is data that a repository may ship: nothing in it is trusted to
be of any size or type, and what makes no sense counts as not there. Reading maps it.
"""

import hashlib
import json
import mmap
import os
import stat
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.errors import IndexNotWritable

DIGEST = 16  # bytes of the hashes that name texts and places
_MAGIC = b"causalist vec 1\n"
_PREFIX = struct.Struct("<16sII")  # magic, length of the header, its CRC-32
_ALIGNMENT = 64
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_ARRAYS = ("places", "rows", "texts", "matrix")
_DTYPES = {"places": "uint8", "rows": "int32", "texts": "uint8", "matrix": "float16"}


@dataclass(frozen=True, slots=True)
class VectorFile:
    """Vectors of an index by one embedder.

    `places`, (n, DIGEST): keys of spans, sorted; `rows`, (n,): the row of each vector, -1 if there is none yet.
    `texts`, (m, DIGEST): digests of embedded texts, sorted up to `n_live`, then those no longer in the index; `matrix`,
    (m, d): unit vectors. `stamp` names the index for which they are complete, "" for none.
    """

    embedder: str
    stamp: str
    n_live: int
    places: NDArray[np.uint8]
    rows: NDArray[np.int32]
    texts: NDArray[np.uint8]
    matrix: NDArray[np.float16]


def vector_file_name(embedder: str) -> str:
    """Return the name of the file with an embedder's vectors."""
    return f"vectors-{hashlib.sha256(embedder.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}.bin"


def read_vectors(path: Path, embedder: str) -> VectorFile | None:
    """Return the vectors at `path`; None if there are none of this embedder or they are unreadable."""
    try:
        return _decode_vectors(_map_file(path), embedder)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError, struct.error):
        return None


def write_vectors(path: Path, stored: VectorFile) -> None:
    """Write the vectors atomically. Raises IndexNotWritable and then changes nothing."""
    places: dict[str, list[object]] = {}
    blobs: list[bytes | memoryview] = []
    offset = 0
    for name in _ARRAYS:
        array = np.ascontiguousarray(getattr(stored, name))
        data = array.reshape(-1).view(np.uint8).data
        padding = -offset % _ALIGNMENT
        blobs += [b"\0" * padding, data]
        offset += padding
        places[name] = [list(array.shape), offset, zlib.crc32(data)]
        offset += len(data)
    said = {"embedder": stored.embedder, "stamp": stored.stamp, "n_live": stored.n_live, "arrays": places}
    header = json.dumps(said).encode()
    header += b" " * (-(_PREFIX.size + len(header)) % _ALIGNMENT)
    aside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        aside.unlink(missing_ok=True)
        with aside.open("xb") as out:
            out.write(_PREFIX.pack(_MAGIC, len(header), zlib.crc32(header)))
            out.write(header)
            out.writelines(blobs)
        aside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise IndexNotWritable(f"cannot write {path}: {error.strerror or error}") from error
        raise


def _map_file(path: Path) -> mmap.mmap | bytes:
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("no ordinary file")
        if os.name == "nt":  # a mapped file could not be replaced there
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read()
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def _decode_vectors(mapped: mmap.mmap | bytes, embedder: str) -> VectorFile:
    magic, length, checksum = _PREFIX.unpack_from(mapped)
    base = _PREFIX.size + length
    header = mapped[_PREFIX.size : base]
    if magic != _MAGIC or zlib.crc32(header) != checksum:
        raise ValueError("no vectors")
    said = json.loads(header)
    if said["embedder"] != embedder:
        raise ValueError("of another embedder")
    view, found = memoryview(mapped), {}
    for name in _ARRAYS:
        shape, offset, crc = said["arrays"][name]
        kind = np.dtype(_DTYPES[name])
        count = int(np.prod(shape, dtype=np.int64))
        start = base + offset
        if zlib.crc32(view[start : start + count * kind.itemsize]) != crc:
            raise ValueError("damaged")
        found[name] = np.frombuffer(mapped, dtype=kind, count=count, offset=start).reshape(shape)
    stored = VectorFile(embedder, str(said["stamp"]), int(said["n_live"]), **found)
    n, m = len(stored.places), len(stored.texts)
    if (
        stored.places.shape != (n, DIGEST)
        or stored.texts.shape != (m, DIGEST)
        or stored.rows.shape != (n,)
        or stored.matrix.ndim != 2
        or len(stored.matrix) != m
        or not 0 <= stored.n_live <= m
        or (n and not (int(stored.rows.min()) >= -1 and int(stored.rows.max()) < m))
    ):
        raise ValueError("of shapes that do not fit")
    return stored
