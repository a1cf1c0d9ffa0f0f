"""`python -m tests.benchmarks.first_use --repo DIR [--question Q]`: how long a person waits, process by process.

On a copy of the folder without an index: the first answer, answers with nothing changed, and answers after one edit (a
function is added to a source file, another one each time). Each is a process of its own, wall time, as a user sees it.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.edits import add_function, code_files

_N = 5


def main() -> None:
    import random

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--question", default="where is the configuration read")
    wanted = parser.parse_args()
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / wanted.repo.name
        shutil.copytree(wanted.repo, root, ignore=shutil.ignore_patterns(".causalist"), symlinks=True)
        print(f"{wanted.repo.name}: {len(code_files(root))} files of code, {os.cpu_count()} processors")
        first, peak = _ask(root, wanted.question)
        print(f"first answer          {first:6.2f} s, {peak / 1024:.0f} MiB at most in one process")
        time.sleep(3)  # a file that was written just now is read again, whatever its time stamp says
        _ask(root, wanted.question)
        _tell("nothing changed", [_ask(root, wanted.question)[0] for _ in range(_N)])
        times = []
        for _ in range(_N):
            add_function(root, chance)
            times.append(_ask(root, wanted.question)[0])
        _tell("after one edit", times)


def _tell(what: str, times: list[float]) -> None:
    print(f"{what:<21} {statistics.median(times):6.2f} s, from {min(times):.2f} to {max(times):.2f}")


def _ask(root: Path, question: str) -> tuple[float, int]:
    """(wall seconds, peak resident KiB) of one `causalist ask`."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "causalist", "ask", question, "--repo", str(root)],
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"causalist ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss


if __name__ == "__main__":
    main()
