"""`python -m tests.benchmarks.doublings [--sizes N...] [--only WORD...] [--sample N | --cover N] [--questions]`.

For each generator and language the whole build (parse, link, rank arrays) of a repository of each size, in a process of
its own: processor time, peak memory, and how many times the raw tree-sitter parse the last size takes. Below the floors
a ratio does not count. The worst come first.

`--cover N` draws each shape N times, in the languages that were drawn least so far: every shape and every language
occurs. With `--log FILE` each row is appended to a file as it is measured, and a run goes on where the last one ended.
`--minutes` ends a run; what is left is counted.
"""

import argparse
import gc
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
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
    def is_of_the_grammar(self) -> bool:
        """True if the parse of tree-sitter alone grows too fast."""
        return any(b.raw > MOST * a.raw > 0.05 for a, b in pairwise(self.costs))

    @property
    def raw_multiple(self) -> float:
        """Processor time of the last size in terms of the parse alone; 0 where no grammar reads it."""
        last = self.costs[-1]
        return last.cpu / last.raw if last.raw >= 0.01 else 0.0


Generator = tuple[str, str, Callable[[int], dict[str, bytes]]]


def generators() -> list[Generator]:
    """Return (shape, language, function from a size in bytes to files) of all generators."""
    return [*code.generators(), *many.generators(), *text.generators()]


def cover(every: Sequence[Generator], n: int, seed: int) -> list[Generator]:
    """Return each shape `n` times, or as often as there are languages for it, in a random order."""
    chance = random.Random(seed)
    by_shape: dict[str, list[Generator]] = {}
    for each in chance.sample(every, len(every)):
        by_shape.setdefault(each[0], []).append(each)
    drawn: Counter[str] = Counter()
    chosen: list[Generator] = []
    for shape in sorted(by_shape, key=lambda shape: len(by_shape[shape])):  # those without a choice first
        for _ in range(min(n, len(by_shape[shape]))):
            least = min(by_shape[shape], key=lambda each: drawn[each[1]])
            by_shape[shape].remove(least)
            drawn[least[1]] += 1
            chosen.append(least)
    return chance.sample(chosen, len(chosen))


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
    parser.add_argument("--cover", type=int, default=0, help="each shape so often, in other languages")
    parser.add_argument("--log", type=Path, help="file of rows, read and continued")
    parser.add_argument("--minutes", type=float, default=0, help="after which no generator is begun")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--seconds", type=int, default=120, help="processor time after which a build is stopped")
    parser.add_argument("--rows", type=int, default=40, help="of the table")
    parser.add_argument("--questions", action="store_true", help="ask a warm question, callers and impact instead")
    wanted = parser.parse_args()
    chosen = [each for each in generators() if not wanted.only or any(w in f"{each[0]}|{each[1]}" for w in wanted.only)]
    if wanted.sample:
        chosen = random.Random(wanted.seed).sample(chosen, min(wanted.sample, len(chosen)))
    if wanted.cover:
        chosen = cover(chosen, wanted.cover, wanted.seed)
    logged = read_log(wanted.log) if wanted.log else {}
    load_all()
    gc.freeze()
    rows: list[Row] = []
    began = time.monotonic()
    for shape, language, make in chosen:
        if (shape, language) in logged:
            rows.append(logged[shape, language])
            continue
        if wanted.minutes and time.monotonic() - began > 60 * wanted.minutes:
            continue
        rows.append(Row(shape, language, measure(make, wanted.sizes, wanted.seconds, questions=wanted.questions)))
        if wanted.log:
            with wanted.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
        if rows[-1].failure or rows[-1].time_ratio > MOST or rows[-1].memory_ratio > MOST:
            print(_line(rows[-1]), flush=True)
    print()
    _tell(rows, wanted.rows)
    print(f"{len(chosen) - len(rows)} of {len(chosen)} left; there are {len(generators())} generators")


def read_log(path: Path) -> dict[tuple[str, str], Row]:
    """Return the rows of earlier runs by shape and language."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [
        Row(shape, language, tuple(Cost(*each) for each in costs)) for shape, language, costs in map(json.loads, lines)
    ]
    return {(row.shape, row.language): row for row in rows}


def _tell(rows: Sequence[Row], n: int) -> None:
    print(f"{'shape':44} {'language':12} {'time':>6} {'memory':>6} {'raw':>6}  seconds")
    for row in sorted(rows, key=lambda row: (not row.failure, -max(row.time_ratio, row.memory_ratio)))[:n]:
        print(_line(row))
    print("\nmultiples of the raw parse at the last size (the largest first)")
    for row in sorted((row for row in rows if not row.failure), key=lambda row: -row.raw_multiple)[:n]:
        print(_line(row))
    over = [row for row in rows if row.time_ratio > MOST or row.memory_ratio > MOST or row.failure]
    costly = [row for row in rows if row.raw_multiple > 25]
    n_of_grammar = sum(row.is_of_the_grammar for row in over)
    print(
        f"\n{len(rows)} generators; {len(over)} above {MOST} a doubling or stopped, {n_of_grammar} of them in the parse"
        f" of tree-sitter alone; {len(costly)} above 25 raw parses"
    )


def _line(row: Row) -> str:
    times = " ".join(f"{each.cpu:.2f}" for each in row.costs)
    figures = f"{row.time_ratio:6.2f} {row.memory_ratio:6.2f} {row.raw_multiple:6.1f}"
    return f"{row.shape[:44]:44} {row.language[:12]:12} {figures}  {times} {row.failure}"


if __name__ == "__main__":
    main()
