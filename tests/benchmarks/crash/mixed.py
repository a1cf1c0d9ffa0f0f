"""Two that index and four that ask at once, while somebody edits: every answer is of one complete state."""

import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from tests.benchmarks.crash.site import Site, ended

_N_INDEXERS, _N_ASKERS = 2, 4


def run(repositories: Sequence[Path], seconds: float, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, repository in enumerate(repositories):
        with TemporaryDirectory() as folder:
            site = Site(repository, Path(folder))
            counts.update(_mix(site, random.Random(seed + number), seconds / len(repositories)))
    return counts


def _mix(site: Site, chance: random.Random, seconds: float) -> Counter[str]:
    """Half of the processes live all the time, in place of each of the others there is always a new one."""
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    running = []
    lasting = ("--repeat", str(seconds))
    for i in range(_N_INDEXERS + _N_ASKERS):
        arguments = (*(("--pool",) if i < _N_INDEXERS else ()), *(lasting if i % 2 else ()))
        running.append((arguments, *_start(site, arguments)))
    answers: list[dict[str, object]] = []
    while time.monotonic() < end:
        counts["edits"] += site.edit(chance) is not None
        time.sleep(chance.random() * 0.3)
        for i, (arguments, child, out) in enumerate(running):
            if child.poll() is not None and time.monotonic() < end:
                answers += _said(child, out)
                running[i] = (arguments, *_start(site, arguments))
    for _, child, out in running:
        child.wait()
        answers += _said(child, out)
    for said in answers:
        counts["answers"] += 1
        if "nothing" in said:
            continue
        assert not {"index-unreadable", "index-not-writable"} & set(said["notes"]), said["notes"]
        site.check_generation(said["manifest"], said["commit"], said["index"], said["answer"])
    counts["states"] += len({json.dumps([said.get("manifest"), said.get("commit")]) for said in answers})
    assert not {"index-unreadable", "index-not-writable"} & set(site.check_recovered())
    site.check_stored()
    site.check_folder()
    site.check_databases()
    return counts


def _start(site: Site, arguments: Sequence[str]):
    # A pipe that nobody reads would fill up.
    out = TemporaryFile()  # noqa: SIM115
    return site.start(*arguments, stdout=out), out


def _said(child, out) -> list[dict[str, object]]:
    _, messages = child.communicate()
    assert child.returncode == 0 and not messages, (child.returncode, messages.decode())
    assert ended(child.pid)
    out.seek(0)
    return [json.loads(line) for line in out.read().splitlines()]
