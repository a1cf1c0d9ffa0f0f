"""Measure one call inside its own process: wall time, and CPU of this process and its children."""

import json
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path


def report(load: Callable[[], Callable[[], object]]) -> None:
    """Print, as JSON, the cost of a process: of `load`, with all imports, and of the function that it returns.

    `peak`: MiB of this process alone (Linux). `processes`: programs that were started through subprocess.
    """
    started = [0]
    original = subprocess.Popen.__init__

    def counted(self: "subprocess.Popen[bytes]", *arguments: object, **options: object) -> None:
        started[0] += 1
        original(self, *arguments, **options)  # type: ignore[call-overload]

    subprocess.Popen.__init__ = counted  # type: ignore[assignment,method-assign]
    work = load()
    before, begin = _cpu(), time.perf_counter()
    found = work()
    wall = time.perf_counter() - begin
    measured = {
        "importing": before,
        "wall": wall,
        "cpu": _cpu() - before,
        "peak": _peak(),
        "processes": started[0],
        "found": found,
    }
    print(json.dumps(measured))


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _peak() -> float:
    """Return the largest resident set of this process in MiB; `ru_maxrss` would include that of its parent."""
    rows = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("VmHWM:")) / 1024
