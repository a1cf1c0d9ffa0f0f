"""Disks that are full, or become full on the way: an answer comes all the same, and nothing is damaged.

The disk is a small tmpfs, for which one has to be root. Elsewhere a limit on the size of files takes its place: writing
fails in the middle of a file too, though only of a large one.
"""

import os
import random
import resource
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.crash.site import Site

_DISK_MEGABYTES = 24


def run(repositories: Sequence[Path], n_disks: int, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, repository in enumerate(repositories):
        n_here = n_disks // len(repositories) + (number < n_disks % len(repositories))
        with small_disk() as folder, TemporaryDirectory() as elsewhere:
            site = Site(repository, folder)
            site.blobs = Path(elsewhere)
            chance = random.Random(seed + number)
            for _ in range(n_here):
                # Now and then the cache of the user is on a disk of its own, with room.
                site.cache = folder / "cache" if chance.random() < 0.7 else Path(elsewhere) / "cache"
                site.cache.mkdir(exist_ok=True)
                counts.update(_fill(site, folder, chance) if is_small_disk(folder) else _limit(site, chance))
    return counts


@contextmanager
def small_disk() -> Iterator[Path]:
    """A folder that is a disk of its own, where that may be made."""
    with TemporaryDirectory() as folder:
        options = ["-t", "tmpfs", "-o", f"size={_DISK_MEGABYTES}m", "tmpfs", folder]
        try:
            mounted = subprocess.run(["mount", *options], capture_output=True).returncode == 0
        except FileNotFoundError:
            mounted = False
        try:
            yield Path(folder)
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", folder], check=True)


def is_small_disk(folder: Path) -> bool:
    """True if a folder is a disk of its own."""
    return folder.is_mount()


def _fill(site: Site, disk: Path, chance: random.Random) -> Counter[str]:
    site.edit(chance)
    if chance.random() < 0.3:
        for path in site.root.glob(".causalist/*"):
            path.unlink()
    status = os.statvfs(disk)
    left = chance.choice((0, chance.randrange(1 << 16), chance.randrange(1 << 19), chance.randrange(1 << 22)))
    filler = disk / "filler"
    with suppress(OSError), filler.open("wb") as out:
        out.write(bytes(max(0, status.f_bavail * status.f_frsize - left)))
    notes = site.check_recovered()
    site.check_stored()
    filler.unlink()
    after = site.check_recovered()
    assert not {"index-unreadable", "index-not-writable"} & set(after), after
    site.check_stored()
    site.check_folder()
    return Counter({"full": 1, "said so": "index-not-writable" in notes})


def _limit(site: Site, chance: random.Random) -> Counter[str]:
    site.edit(chance)
    most = chance.choice((0, chance.randrange(1 << 16), chance.randrange(1 << 19)))
    notes = site.check_recovered(preexec_fn=partial(bounded, most))
    site.check_stored()
    site.check_recovered()
    site.check_folder()
    return Counter({"limited": 1, "said so": "index-not-writable" in notes})


def bounded(most: int) -> None:
    """Let this process write no more than `most` bytes into one file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
