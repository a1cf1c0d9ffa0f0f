"""Packs of random questions over several repositories, at budgets from the smallest of each format to 20,000 tokens.

    pip install 'causalist[tokens]'
    python -m tests.benchmarks.budgets --clones DIR... [--questions 500] [--budgets 3]

Prints by format how many packs were above their budget (there must be none), how many did not account for what they
leave out, how much of the budget was used where something was left out, how far the estimate is above the exact count
on average, and how often it is below. Rows with (o200k) are packs that were counted exactly."""

import argparse
import sys
import time
from pathlib import Path

from causalist.pack import get_counter
from tests.benchmarks.budgets.trial import Tally, run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", nargs="+", type=Path, required=True, help="work trees to ask")
    parser.add_argument("--questions", type=int, default=500, help="in all")
    parser.add_argument("--budgets", type=int, default=3, help="for each question and format")
    arguments = parser.parse_args()
    exact = get_counter("o200k")
    tallies: dict[str, Tally] = {}
    start = time.monotonic()
    for folder in arguments.clones:
        run(folder, arguments.questions // len(arguments.clones), arguments.budgets, exact, tallies)
        sys.stderr.write(f"{folder.name}: {time.monotonic() - start:.0f} s\n")
    head = (
        "format",
        "packs",
        "over budget",
        "unaccounted",
        "left something out",
        "budget used",
        "mean excess",
        "under-counts",
    )
    sys.stdout.write(f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n")
    whole = Tally()
    for name, tally in tallies.items():
        sys.stdout.write(row(name, tally))
        if "(" not in name:
            for attribute in ("n_packs", "n_over", "n_unaccounted", "n_with_omissions", "fill", "errors"):
                setattr(whole, attribute, getattr(whole, attribute) + getattr(tally, attribute))
    sys.stdout.write(row("all (estimate)", whole))
    return int(any(tally.n_over or tally.n_unaccounted for tally in tallies.values()))


def row(name: str, t: Tally) -> str:
    fill = f"{sum(t.fill) / len(t.fill):.1%}" if t.fill else ""
    excess = f"{sum(t.errors) / len(t.errors):.1%}" if t.errors else ""
    under = f"{sum(e < 0 for e in t.errors) / len(t.errors):.2%}" if t.errors else ""
    cells = (name, t.n_packs, t.n_over, t.n_unaccounted, t.n_with_omissions, fill, excess, under)
    return f"| {' | '.join(map(str, cells))} |\n"


if __name__ == "__main__":
    sys.exit(main())
