"""Run a function in a forked child and read its arrays back; split work for others; tune the heap of this process.

The parent continues until it asks for the result. The child writes its result into a file, so that it ends when it is
done. Without fork, or if the child ends without a result, the parent runs the function itself.

Heap: glibc maps large arrays one by one and unmaps them when they are freed. Each free raises the size from which it
does so, up to 32 MiB (`M_MMAP_THRESHOLD` in mallopt(3)), and smaller ones are kept. Indexing uses arrays just below
that, so it returns freed memory. An answer reuses arrays of few sizes, where clearing fresh pages takes longer than
using them, so it keeps freed memory. Without glibc these functions do nothing.
"""

import ctypes
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from causalist._internal.dataclass_arrays import Arrays, flatten, unflatten

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
_Item = TypeVar("_Item")

# Forking is quick, but macOS's own libraries do not bear it, and Windows has none.
CAN_FORK = sys.platform == "linux"

_PREFIX = "result"


class ForkedTask(Generic[T]):
    """The result of `work`, computed in a forked child.

    The result is a frozen dataclass `kind` that can be stored and depends on nothing that happens later. The child
    starts at once if `wanted` and possible.
    """

    def __init__(self, kind: type[T], work: Callable[[], T], *, wanted: bool = True) -> None:
        self._kind = kind
        self._work = work
        self._under_way = _start_child(work) if wanted and CAN_FORK else None

    def result(self) -> T:
        """Wait for the result; raises what `work` raises. Call it once."""
        if self._under_way is not None:
            process, file = self._under_way
            self._under_way = None
            with file:
                process.join()
                if process.exitcode == 0:
                    with suppress(EOFError):  # it was told to end, which is no failure of its own
                        return _read_result(self._kind, file)
        return self._work()


def _start_child(work: Callable[[], Any]) -> "tuple[BaseProcess, IO[bytes]] | None":
    # Here, not above: an answer with nothing changed begins nothing.
    import multiprocessing

    try:
        file = unnamed_file()
    except OSError:
        return None
    # A daemon is ended with this process, if that ends in order.
    process = multiprocessing.get_context("fork").Process(target=_run_child, args=(work, file), daemon=True)
    process.start()
    return process, file


def unnamed_file() -> IO[bytes]:
    """Return an open file that is gone with this process. Raises OSError.

    Without a folder, `tempfile` first writes a file to see whether it can, and a process that is killed then leaves it.
    Where the system has files without a name, it is not loaded.
    """
    folder, nameless = os.environ.get("TMPDIR") or "/tmp", getattr(os, "O_TMPFILE", 0)
    if nameless:
        with suppress(OSError):
            return os.fdopen(os.open(folder, nameless | os.O_RDWR | os.O_EXCL | os.O_CLOEXEC, 0o600), "w+b")
    import tempfile

    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:
        return tempfile.TemporaryFile()


def end_with_parent() -> None:
    """End this worker when its parent process is killed, instead of waiting for work."""
    import multiprocessing
    import select
    import threading

    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None and hasattr(select, "poll"):
            # What `join` does, without the 7 ms that its imports take in each process.
            ended = select.poll()
            ended.register(parent.sentinel, select.POLLIN)
            ended.poll()
        elif parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_child(work: Callable[[], Any], file: IO[bytes]) -> None:
    """Run the child process. The parent detects failures; the child does not report them."""
    code = 1
    try:
        end_with_parent()
        arrays: Arrays = {}
        scalars = flatten(work(), _PREFIX, arrays)
        header = json.dumps([list(arrays), scalars]).encode()
        for array in (np.frombuffer(header, dtype=np.uint8), *arrays.values()):
            np.save(file, array, allow_pickle=False)
        file.flush()
        code = 0
    except BaseException:
        pass
    finally:
        os._exit(code)


def _read_result(kind: type[T], file: IO[bytes]) -> T:
    file.seek(0)
    names, scalars = json.loads(np.load(file).tobytes())
    return unflatten(kind, scalars, _PREFIX, {name: np.load(file) for name in names})


_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -2, -3, -4  # of malloc.h
_DEFAULT_MMAP_MAX = 65_536
_MIN_MMAP_BYTES = 1 << 18  # bytes
_MAX_MMAP_BYTES = 1 << 25  # bytes: what glibc comes to by itself
_TOP_PAD_BYTES = 1 << 20  # bytes
_FEW_BYTES = 8_000_000  # of source, whose index takes some 150 MB at most
_NEVER = (1 << 31) - 1


def trim_heap_on_free(n_bytes: float = math.inf) -> None:
    """Return free memory to the system now, and large arrays as soon as they are freed.

    Not if all that is at work comes from few bytes of source, `n_bytes`: taking pages again takes longer than they are
    worth.
    """
    libc = _glibc()
    if libc is not None and n_bytes > _FEW_BYTES:
        libc.mallopt(_MMAP_MAX, _DEFAULT_MMAP_MAX)
        libc.mallopt(_MMAP_THRESHOLD, _MIN_MMAP_BYTES)
        libc.malloc_trim(0)


def trim_heap() -> None:
    """Return free memory to the system now; what is freed later is kept as before."""
    libc = _glibc()
    if libc is not None:
        libc.malloc_trim(0)


def reset_trim_threshold() -> None:
    """Keep part of the freed memory, as glibc does by default.

    For a process that repeats the same work: after `trim_heap_on_free` a refresh takes half as long again.
    """
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_MMAP_THRESHOLD, _MAX_MMAP_BYTES)
        libc.mallopt(_TRIM_THRESHOLD, 2 * _MAX_MMAP_BYTES)


def disable_trim() -> None:
    """Keep all freed memory. For a process that ends with its next task."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_MMAP_MAX, 0)
        libc.mallopt(_TRIM_THRESHOLD, _NEVER)
        libc.mallopt(_TOP_PAD, _TOP_PAD_BYTES)


@cache
def _glibc() -> Any:
    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "gnu_get_libc_version") else None
    except (OSError, TypeError):
        return None


def is_alive(process: int) -> bool:
    """Return True if a process has that number; True if unknown."""
    if os.name == "nt":  # where the same call would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def split_batches(items: Iterable[_Item], size_of: Callable[[_Item], int], most: int) -> Iterator[list[_Item]]:
    """Yield items in order in lists, each closed as soon as its sizes add up to `most`; none is empty.

    >>> list(split_batches(["ab", "c", "def", "g"], len, 3))
    [['ab', 'c'], ['def'], ['g']]
    """
    batch: list[_Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += size_of(item)
        if size >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
