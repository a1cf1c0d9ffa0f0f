"""`python -m tests.benchmarks.doublings [--sizes N...] [--only WORD...] [--sample N] [--questions]`: growth of cost.

For each generator and language the whole build (parse, link, rank arrays) of a repository of each size, in a process of
its own: processor time, peak memory, and how many times the raw tree-sitter parse the last size takes. Below the floors
a ratio does not count. The worst come first.
"""

import argparse
import gc
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests.benchmarks.doublings import code, many, text
from tests.benchmarks.doublings.measuring import Cost, Files, cost, load_all

MOST = 2.3  # of time and memory, at twice the size
_FLOOR_SECONDS = 0.25
_FLOOR_MIB = 48.0


class Row(NamedTuple):
    """Costs of one generator at sizes that double; ratios are the largest of any two sizes in a row."""

    shape: str
    language: str
    costs: tuple[Cost, ...]

    @property
    def failure(self) -> str:
        """Reason why the last size has no figures, or ""."""
        return self.costs[-1].failure

    @property
    def time_ratio(self) -> float:
        """Processor time."""
        return max((b.cpu / max(a.cpu, _FLOOR_SECONDS) for a, b in pairwise(self.costs)), default=0.0)

    @property
    def memory_ratio(self) -> float:
        """Peak memory."""
        return max((b.memory / max(a.memory, _FLOOR_MIB) for a, b in pairwise(self.costs)), default=0.0)

    @property
    def raw_multiple(self) -> float:
        """Processor time of the last size in terms of the parse alone; 0 where no grammar reads it."""
        last = self.costs[-1]
        return last.cpu / last.raw if last.raw >= 0.01 else 0.0


def generators() -> list[tuple[str, str, Callable[[int], dict[str, bytes]]]]:
    """Return (shape, language, function from a size in bytes to files) of all generators."""
    return [*code.generators(), *many.generators(), *text.generators()]


def measure(
    make: Callable[[int], Files], sizes: Sequence[int], seconds: int, *, questions: bool = False
) -> tuple[Cost, ...]:
    """Return the costs of each size up to the first that fails."""
    found: list[Cost] = []
    for size in sizes:
        found.append(cost(make(size), seconds, questions=questions))
        if found[-1].failure:
            break
        if len(found) > 1 and found[-1].cpu > MOST * max(found[-2].cpu, _FLOOR_SECONDS):  # once more, for noise
            again = cost(make(size), seconds, questions=questions)
            found[-1] = again if not again.failure and again.cpu < found[-1].cpu else found[-1]
    return tuple(found)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500_000, 1_000_000, 2_000_000], help="bytes")
    parser.add_argument("--only", nargs="*", default=[], help="words of `shape|language`, one of which must occur")
    parser.add_argument("--sample", type=int, default=0, help="how many generators, chosen at random")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--seconds", type=int, default=120, help="processor time after which a build is stopped")
    parser.add_argument("--rows", type=int, default=40, help="of the table")
    parser.add_argument("--questions", action="store_true", help="ask a warm question, callers and impact instead")
    wanted = parser.parse_args()
    chosen = [each for each in generators() if not wanted.only or any(w in f"{each[0]}|{each[1]}" for w in wanted.only)]
    if wanted.sample:
        chosen = random.Random(wanted.seed).sample(chosen, min(wanted.sample, len(chosen)))
    load_all()
    gc.freeze()
    rows: list[Row] = []
    for shape, language, make in chosen:
        rows.append(Row(shape, language, measure(make, wanted.sizes, wanted.seconds, questions=wanted.questions)))
        if rows[-1].failure or rows[-1].time_ratio > MOST or rows[-1].memory_ratio > MOST:
            print(_line(rows[-1]), flush=True)
    print()
    _tell(rows, wanted.rows)


def _tell(rows: Sequence[Row], n: int) -> None:
    print(f"{'shape':44} {'language':12} {'time':>6} {'memory':>6} {'raw':>6}  seconds")
    for row in sorted(rows, key=lambda row: (not row.failure, -max(row.time_ratio, row.memory_ratio)))[:n]:
        print(_line(row))
    print("\nmultiples of the raw parse at the last size (the largest first)")
    for row in sorted((row for row in rows if not row.failure), key=lambda row: -row.raw_multiple)[:n]:
        print(_line(row))
    over = [row for row in rows if row.time_ratio > MOST or row.memory_ratio > MOST or row.failure]
    costly = [row for row in rows if row.raw_multiple > 25]
    print(
        f"\n{len(rows)} generators; {len(over)} above {MOST} a doubling or stopped; {len(costly)} above 25 raw parses"
    )


def _line(row: Row) -> str:
    times = " ".join(f"{each.cpu:.2f}" for each in row.costs)
    figures = f"{row.time_ratio:6.2f} {row.memory_ratio:6.2f} {row.raw_multiple:6.1f}"
    return f"{row.shape[:44]:44} {row.language[:12]:12} {figures}  {times} {row.failure}"


if __name__ == "__main__":
    main()
