"""Answers of cold processes: with nothing changed, in terms of `import click, numpy`; after one edit, in terms of the
raw parse of everything. Runs are interleaved, and ratios are of the same round."""

import json
import random
import statistics
import sys
import time
from pathlib import Path

from tests.benchmarks.speed.runs import ask, copied, index, python, raw_parse, run
from tests.edits import add_function

_SETTLED_SECONDS = 2.2  # a file that was written just now is read again, whatever its time stamp says


def unchanged(repository: Path, rounds: int) -> tuple[float, float]:
    """(median ratio, median seconds of CPU); tells what it finds."""
    with copied(repository) as (root, cache):
        files = index(root, cache).output.strip()
        time.sleep(_SETTLED_SECONDS)
        ask(root, cache)
        ratios, times = [], []
        for _ in range(rounds):
            base = run(python("import click, numpy"), cache).cpu
            times.append(ask(root, cache).cpu)
            ratios.append(times[-1] / base)
    ratio, seconds = statistics.median(ratios), statistics.median(times)
    print(
        f"{repository.name} ({files} files, nodes, edges), nothing changed: {seconds:.3f} s of CPU, {ratio:.2f} x "
        f"`import click, numpy` ({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )
    return ratio, seconds


def edited(repository: Path, rounds: int) -> None:
    """A function is added to a file, another one each time, and a question is asked: of a new process, and then of one
    that stays, also after a call in a function."""
    chance = random.Random(1)
    with copied(repository) as (root, cache):
        index(root, cache, 2)
        time.sleep(_SETTLED_SECONDS)
        ask(root, cache)
        ratios, times = [], []
        for _ in range(rounds):
            raw = raw_parse(root, cache)
            add_function(root, chance)
            times.append(ask(root, cache).cpu)
            ratios.append(times[-1] / raw)
            time.sleep(_SETTLED_SECONDS)
            ask(root, cache)
        raws = [raw_parse(root, cache) for _ in range(3)]
        module = [sys.executable, "-m", "tests.benchmarks.speed.resident", str(root), str(rounds)]
        kept = json.loads(run(module, cache).output)
    raw = statistics.median(raws)
    for what, each in zip(("a call in a function", "a function more"), kept, strict=True):
        seconds = statistics.median(each)
        print(
            f"{repository.name}, a process that stays, after {what}: {seconds:.2f} s, {seconds / raw:.3f} x raw parse"
        )
    print(
        f"{repository.name}, after one edit: {statistics.median(times):.2f} s of CPU, "
        f"{statistics.median(ratios):.3f} x raw parse ({min(ratios):.3f} to {max(ratios):.3f})",
        flush=True,
    )
