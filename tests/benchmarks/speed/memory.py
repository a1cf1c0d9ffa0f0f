"""The memory of a cold index: the sum of what all its processes hold (PSS), by what is being done."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from tests.benchmarks.speed.runs import held

_SAMPLE_SECONDS = 0.05
_CODE = """
import sys, time
from causalist.index.collect import IndexOptions
from causalist.pipeline.repository import Repository
stages = set()
def progress(what, done, total):
    if what not in stages:
        stages.add(what)
        print(what, time.time(), sep="\\t", flush=True)
Repository.open(sys.argv[1], exact_root=True, options=IndexOptions(processes=int(sys.argv[2]), progress=progress))
print("end", time.time(), sep="\\t")
"""


def run(repository: Path, processes: int) -> None:
    """Linux only: elsewhere nothing says what processes share."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / repository.name
        shutil.copytree(repository, root, ignore=shutil.ignore_patterns(".causalist"), symlinks=True)
        child = subprocess.Popen(
            [sys.executable, "-c", _CODE, str(root), str(processes)],
            stdout=subprocess.PIPE,
            env=os.environ | {"XDG_CACHE_HOME": folder},
            process_group=0,
            text=True,
        )
        samples: list[tuple[float, float]] = []
        while child.poll() is None:
            samples.append((time.time(), held(child.pid)))
            time.sleep(_SAMPLE_SECONDS)
        assert child.stdout is not None and child.returncode == 0
        rows = [line.split("\t") for line in child.stdout.read().splitlines()]
    print(f"{repository.name}, {processes} processes: at most {max(size for _, size in samples):.0f} MiB")
    for (what, start), (_, end) in pairwise(rows):
        during = [size for at, size in samples if float(start) <= at < float(end)]
        print(f"  {what:<15} {float(end) - float(start):6.1f} s, at most {max(during, default=0):4.0f} MiB")
