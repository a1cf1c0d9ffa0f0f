"""`python -m tests.benchmarks.crash`: processes that are killed, disks that are full, files that are damaged, many
processes at once, clocks that are wrong. Whatever happens, an answer is of one complete state, and the next one is of
the files as they are.

Each kind of trial ends with a count, or with the first trial in which that did not hold. A trial takes from
seconds to half a minute; how far damages are is said on stderr now and then.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.crash import clocks, damage, disks, firsts, kills, mixed
from tests.pipeline.sample import SAMPLES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--disks", type=int, default=50)
    parser.add_argument("--damages", type=int, default=200)
    parser.add_argument("--mixed-seconds", type=float, default=3600.0)
    parser.add_argument("--clocks", type=int, default=100)
    parser.add_argument("--first-kills", type=int, default=200, help="of first questions and of what these start")
    parser.add_argument("--first-disks", type=int, default=20)
    parser.add_argument("--at-once", type=int, default=50, help="first questions and indexes")
    parser.add_argument("--users", type=int, default=50, help="of one folder, by twos")
    parser.add_argument("--alone", type=int, default=50, help="commands that may leave no process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repo", type=Path, action="append", default=[])
    wanted = parser.parse_args()
    repositories = wanted.repo or sorted(path for path in SAMPLES.iterdir() if path.is_dir())
    trials: list[tuple[str, Callable[..., Counter[str]], float]] = [
        ("kills", kills.run, wanted.kills),
        ("full disks", disks.run, wanted.disks),
        ("damages", damage.run, wanted.damages),
        ("at once", mixed.run, wanted.mixed_seconds),
        ("clocks", clocks.run, wanted.clocks),
        ("kills of first answers", firsts.kill, wanted.first_kills),
        ("first answers on full disks", firsts.fill, wanted.first_disks),
        ("first answers at once", firsts.ask_at_once, wanted.at_once),
        ("two users", firsts.share, wanted.users),
        ("no process", firsts.leave_alone, wanted.alone),
    ]
    for name, run, count in trials:
        if not count:
            continue
        start = time.monotonic()
        counts = run(repositories, count, wanted.seed)
        told = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
        print(f"{name}: {told}; nothing wrong, nothing lost ({time.monotonic() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
