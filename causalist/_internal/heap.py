"""Memory that is freed goes back to the system while an index is made, and stays while a process answers and ends.

glibc asks the system for large arrays one by one, and gives them back when they are freed; but with each one that is
freed it raises the size from which on it does so, up to 32 MiB (`M_MMAP_THRESHOLD` in mallopt(3)), and keeps what the
smaller ones leave. An index is made of arrays just below that, a stage at a time. An answer is made of arrays of the
same few sizes, one after the other: each that came fresh from the system would be cleared page by page, which takes
longer than what is done with it. Elsewhere than with glibc nothing is done.
"""

import ctypes
from functools import cache
from typing import Any

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
