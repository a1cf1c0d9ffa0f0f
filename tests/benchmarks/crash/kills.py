"""Processes that are killed while they index or ask: what is on the disk afterwards is complete."""

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.crash.site import Site, ended

_MOST_CALLS = 190  # calls that have to do with files in one life, about


def run(repositories: Sequence[Path], n_kills: int, seed: int, *, at_random_times: bool = True) -> Counter[str]:
    """Every other victim dies at a random time, the others at a random call; without `at_random_times` all of these."""
    counts: Counter[str] = Counter()
    for number, repository in enumerate(repositories):
        n_here = n_kills // len(repositories) + (number < n_kills % len(repositories))
        with TemporaryDirectory() as folder:
            site = Site(repository, Path(folder))
            chance = random.Random(seed + number)
            start = time.monotonic()
            site.ask()
            usual = time.monotonic() - start
            n_killed = trial = 0
            while n_killed < n_here:
                trial += 1
                done = _kill(site, chance, usual, by_time=at_random_times and trial % 2 == 0)
                n_killed += done["killed"]
                counts.update(done)
    return counts


def _kill(site: Site, chance: random.Random, usual: float, *, by_time: bool) -> Counter[str]:
    for _ in range(chance.randrange(1, 3)):
        site.edit(chance)
    pool = ("--pool",) if chance.random() < 0.3 else ()
    if chance.random() < 0.15:  # from nothing
        for path in site.root.glob(".causalist/index.bin"):
            path.unlink()
    if by_time:
        child = site.start(*pool)
        with suppress(subprocess.TimeoutExpired):
            child.wait(chance.random() * usual)
        child.send_signal(signal.SIGKILL)
    else:
        child = site.start(*pool, "--die-at", str(chance.randrange(1, _MOST_CALLS)))
    child.wait()
    # Before its output is read: a worker that lives on holds that open.
    assert ended(child.pid), "workers outlived the process that started them"
    output, messages = child.communicate()
    assert child.returncode in (0, -signal.SIGKILL), messages.decode()
    site.check_stored()
    notes = site.check_recovered()
    assert not {"index-unreadable", "index-not-writable"} & set(notes), notes
    site.check_folder()
    site.check_databases()
    return Counter(
        {
            "killed": 1 if child.returncode else 0,
            "too late": 0 if child.returncode else 1,
            "killed before an answer": 1 if child.returncode and not output else 0,
        }
    )
