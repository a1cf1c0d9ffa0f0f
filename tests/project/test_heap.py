"""What is freed while an index is made goes back to the system, and nothing does while a process answers and ends."""

import os
import platform
import re
import subprocess
import sys

import pytest

from causalist._internal import forked_task as heap

# One array of 8 MiB that is freed teaches glibc to keep such; then 64 MiB in arrays of 4, of which all but the last are
# freed.
_CODE = """
import numpy as np
from causalist._internal.forked_task import trim_heap_on_free
def resident():
    return int(open("/proc/self/statm").read().split()[1]) // 256  # MiB, with pages of 4 KiB
if {given_back}:
    trim_heap_on_free()
np.ones(1 << 20)
before = resident()
arrays = [np.ones(1 << 20 - 1) for _ in range(16)]
last = arrays.pop()
del arrays
print(resident() - before)
"""


def _run(code: str) -> int:
    """Return the number that a process prints, without variables for memory and threads, as Dask's workers set them."""
    changing = re.compile(r"MALLOC_|\w+_NUM_THREADS$")
    environment = {name: value for name, value in os.environ.items() if not changing.match(name)}
    command = [sys.executable, "-c", code]
    return int(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)


def _kept(given_back: bool) -> int:
    return _run(_CODE.format(given_back=given_back))


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="nothing is done elsewhere than with glibc")
def test_what_large_arrays_took_is_given_back() -> None:
    assert _kept(given_back=True) <= 8 < 32 <= _kept(given_back=False)


# 64 MiB in one, which is more than glibc ever keeps by itself.
_FREED = """
import numpy as np
from causalist._internal import forked_task as heap
def resident():
    return int(open("/proc/self/statm").read().split()[1]) // 256
for step in {steps}:
    getattr(heap, step)()
before = resident()
np.ones(1 << 23)
print(resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="nothing is done elsewhere than with glibc")
@pytest.mark.parametrize(
    ("steps", "is_kept"),
    [((), False), (("disable_trim",), True), (("disable_trim", "trim_heap_on_free"), False)],
)
def test_what_is_freed_stays_where_a_process_ends_with_its_answer(steps: tuple[str, ...], is_kept: bool) -> None:
    kept = _run(_FREED.format(steps=steps))
    assert (kept >= 60) is is_kept and (is_kept or kept <= 8)


def test_where_there_is_no_glibc_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_glibc", lambda: None)
    heap.trim_heap_on_free()
    heap.disable_trim()


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="nothing is done elsewhere than with glibc")
def test_what_is_freed_is_used_again_by_a_process_that_stays() -> None:
    """Fifty times 8 MiB of zeros that are written to: fresh from the system, each page of it is cleared."""
    code = """
import resource
import numpy as np
from causalist._internal import forked_task as heap
heap.trim_heap_on_free()
for step in {steps}:
    getattr(heap, step)()
for _ in range(50):
    np.ones(1 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""
    fresh, again = (_run(code.format(steps=steps)) for steps in ((), ("reset_trim_threshold",)))
    assert fresh - again > 40 * 512  # pages of at most 16 KiB
