"""Clocks that are wrong, and files whose times say nothing: what changed is seen all the same."""

import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.crash.site import Site
from tests.edits import code_files, git

_DAY = 86_400
_CLOCKS = (0, 0, _DAY, -_DAY, 3600, -3600, 30 * 365 * _DAY, -20 * 365 * _DAY)
_TIMES = (0, 10**9, 10**18, 2**31 * 10**9, 2**32 * 10**9)  # nanoseconds: 1970, 1970, 2001, 2038, 2106


def run(repositories: Sequence[Path], n_jumps: int, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, repository in enumerate(repositories):
        n_here = n_jumps // len(repositories) + (number < n_jumps % len(repositories))
        with TemporaryDirectory() as folder:
            site, chance = Site(repository, Path(folder)), random.Random(seed + number)
            for _ in range(n_here):
                site.ask("--clock", str(chance.choice(_CLOCKS)))
                counts[_change(site, chance)] += 1
                site.check_recovered("--clock", str(chance.choice(_CLOCKS)))
    return counts


def _change(site: Site, chance: random.Random) -> str:
    """Changes files so that their times, or even their sizes, do not tell."""
    files = code_files(site.root)
    kind = chance.choice(("edited", "times changed", "same size and time", "swapped", "staged at once", "replaced"))
    if len(files) < 2 or kind == "edited":
        site.edit(chance)
        return "edited"
    one, other = chance.sample(files, 2)
    if kind == "times changed":
        for path in chance.sample(files, min(3, len(files))):
            os.utime(path, ns=(0, chance.choice(_TIMES)))
    elif kind in ("same size and time", "staged at once"):
        before = one.stat()
        if kind == "staged at once":
            git(site.root, "add", "-A", ".")
        data = bytearray(one.read_bytes())
        places = [i for i, byte in enumerate(data) if chr(byte).isalpha()]
        if places:
            place = chance.choice(places)
            data[place] = ord("x") if data[place] != ord("x") else ord("y")
        one.write_bytes(data)
        if kind == "same size and time":
            os.utime(one, ns=(before.st_atime_ns, before.st_mtime_ns))
        else:
            git(site.root, "add", "-A", ".")
    elif kind == "swapped":
        size = max(one.stat().st_size, other.stat().st_size)
        for path in (one, other):
            path.write_bytes(path.read_bytes().ljust(size, b"\n"))
            os.utime(path, ns=(0, 10**18))
        site.ask()
        aside = one.with_name("aside")
        one.rename(aside)
        other.rename(one)
        aside.rename(other)
    else:
        aside = one.with_name("aside")
        aside.write_bytes(other.read_bytes()[: one.stat().st_size].ljust(one.stat().st_size, b"\n"))
        os.utime(aside, ns=(0, one.stat().st_mtime_ns))
        aside.replace(one)
    return kind
