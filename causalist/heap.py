"""Memory that is freed goes back to the system while an index is made.

glibc asks the system for large arrays one by one, and gives them back when they are freed; but with each one that is
freed it raises the size from which on it does so, up to 32 MiB (`M_MMAP_THRESHOLD` in mallopt(3)), and keeps what the
smaller ones leave. An index is made of arrays just below that, a stage at a time. Elsewhere than with glibc nothing is
done.
"""

import ctypes
from functools import cache
from typing import Any

_MMAP_THRESHOLD = -3  # of malloc.h
_LARGE = 1 << 18  # bytes


def return_what_is_freed() -> None:
    """Gives back what is free, and from now on large arrays as soon as they are freed."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
        libc.malloc_trim(0)


@cache
def _glibc() -> Any:
    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "gnu_get_libc_version") else None
    except (OSError, TypeError):
        return None
