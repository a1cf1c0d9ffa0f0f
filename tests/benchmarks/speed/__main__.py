"""`python -m tests.benchmarks.speed [--nodes N ...] [--repo DIR --processes P]`: PageRank alone against others, and the
memory of a cold index of each repository."""

import argparse
from pathlib import Path

from tests.benchmarks.speed import memory, pagerank


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--repo", type=Path, action="append", default=[])
    parser.add_argument("--processes", type=int, default=2)
    wanted = parser.parse_args()
    pagerank.run(wanted.nodes, wanted.rounds)
    for repository in wanted.repo:
        memory.run(repository, wanted.processes)


if __name__ == "__main__":
    main()
