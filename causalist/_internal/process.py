"""Work that is done in a process beside this one, while this one goes on.

A fork starts at once and has all that this process has; what it found comes back in a file, so that it ends when it is
done, whenever that is asked for. Where there is no fork to be had, or it ends without a result, the work is done here
when the result is asked for: that costs time, and changes nothing.

Memory that is freed goes back to the system while an index is made, and stays while a process answers and ends.

glibc asks the system for large arrays one by one, and gives them back when they are freed; but with each one that is
freed it raises the size from which on it does so, up to 32 MiB (`M_MMAP_THRESHOLD` in mallopt(3)), and keeps what the
smaller ones leave. An index is made of arrays just below that, a stage at a time. An answer is made of arrays of the
same few sizes, one after the other: each that came fresh from the system would be cleared page by page, which takes
longer than what is done with it. Elsewhere than with glibc nothing is done.
"""

import ctypes
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from causalist._internal.arrays import Arrays, flatten, unflatten

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

T = TypeVar("T")

# Forking is quick, but macOS's own libraries do not bear it, and Windows has none.
CAN_FORK = sys.platform == "linux"

_PREFIX = "result"


class Meanwhile(Generic[T]):
    """The result of `work`, a `kind` of frozen dataclass that can be stored, which depends on nothing that happens
    later. It is begun at once where it is `wanted` and can be; what it raises is raised by `result`."""

    def __init__(self, kind: type[T], work: Callable[[], T], *, wanted: bool = True) -> None:
        self._kind = kind
        self._work = work
        self._under_way = _begun(work) if wanted and CAN_FORK else None

    def result(self) -> T:
        """Waits for it. To be asked for once."""
        if self._under_way is not None:
            process, file = self._under_way
            self._under_way = None
            with file:
                process.join()
                if process.exitcode == 0:
                    with suppress(EOFError):  # it was told to end, which is no failure of its own
                        return _read(self._kind, file)
        return self._work()


def _begun(work: Callable[[], Any]) -> "tuple[BaseProcess, IO[bytes]] | None":
    # Here, not above: an answer with nothing changed begins nothing.
    import multiprocessing
    import tempfile

    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed where it is read
    except OSError:
        return None
    # A daemon is ended with this process, if that ends in order.
    process = multiprocessing.get_context("fork").Process(target=_told, args=(work, file), daemon=True)
    process.start()
    return process, file


def end_with_parent() -> None:
    """Lets a worker end when the process that started it is killed: it would wait for more work for ever, or go on with
    what nobody waits for."""
    import multiprocessing
    import threading

    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _told(work: Callable[[], Any], file: IO[bytes]) -> None:
    """The life of the process beside. What goes wrong in it is found out by who waits, and not told twice."""
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


def _read(kind: type[T], file: IO[bytes]) -> T:
    file.seek(0)
    names, scalars = json.loads(np.load(file).tobytes())
    return unflatten(kind, scalars, _PREFIX, {name: np.load(file) for name in names})


_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -2, -3, -4  # of malloc.h
_USUAL_MMAP_MAX = 65_536
_LARGE = 1 << 18  # bytes
_LARGEST = 1 << 25  # bytes: what glibc comes to by itself
_AT_ONCE = 1 << 20  # bytes
_NEVER = (1 << 31) - 1


def return_what_is_freed() -> None:
    """Gives back what is free, and from now on large arrays as soon as they are freed."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_MMAP_MAX, _USUAL_MMAP_MAX)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
        libc.malloc_trim(0)


def reuse_what_is_freed() -> None:
    """Keeps a part, as glibc does by itself as long as it is told nothing. For a process that does the same again and
    again: after `return_what_is_freed` a refresh of the index takes half as long again."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST)
        libc.mallopt(_TRIM_THRESHOLD, 2 * _LARGEST)


def keep_what_is_freed() -> None:
    """Gives nothing back from now on. For a process that ends with what it does next."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_MMAP_MAX, 0)
        libc.mallopt(_TRIM_THRESHOLD, _NEVER)
        libc.mallopt(_TOP_PAD, _AT_ONCE)


@cache
def _glibc() -> Any:
    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "gnu_get_libc_version") else None
    except (OSError, TypeError):
        return None
