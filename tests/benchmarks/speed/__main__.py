"""`python -m tests.benchmarks.speed WHAT`: what Causalist costs, as ratios that are measured in one run.

cold     a first index of each --repo, in terms of the raw parse; with --aider PYTHON, also of Aider's map
whole    a first index of all --repo by stage, in terms of the raw parse, and its serial part
ask      a cold answer with nothing changed, in terms of `import click, numpy`
edit     a cold answer after one edit, in terms of the raw parse of everything
memory   what a first index holds, stage by stage
pagerank the walk alone, against scipy, igraph and networkx
growth   time and memory from --sizes of synthetic monorepos; rows are kept in --rows
plots    draws --rows into --plots
"""

import argparse
from pathlib import Path

from tests.benchmarks.speed import answers, cold, growth, memory, monorepo, pagerank, whole

_DOCS = Path(__file__).parents[3] / "docs" / "plots"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = ("cold", "whole", "ask", "edit", "memory", "pagerank", "growth", "plots", "monorepo")
    parser.add_argument("what", choices=what, nargs="+")
    parser.add_argument("--repo", type=Path, action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2, help="of `memory`")
    parser.add_argument("--aider", metavar="PYTHON", help="of an environment in which aider-chat is installed")
    parser.add_argument("--nodes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 3_000, 10_000, 30_000, 100_000])
    parser.add_argument("--rows", type=Path, default=_DOCS / "growth.json")
    parser.add_argument("--plots", type=Path, default=_DOCS)
    parser.add_argument("--into", type=Path, help="where `monorepo` writes the first of --sizes, for a look at it")
    wanted = parser.parse_args()
    for each in wanted.what:
        if each == "pagerank":
            pagerank.run(wanted.nodes, wanted.rounds)
        elif each == "growth":
            growth.measure(wanted.sizes, wanted.rows)
        elif each == "whole":
            whole.measure(wanted.repo, wanted.rounds)
        elif each == "plots":
            growth.draw(wanted.rows, wanted.plots)
        elif each == "monorepo":
            wanted.into.mkdir(parents=True, exist_ok=True)
            print(f"{monorepo.write(wanted.into, wanted.sizes[0]):,} bytes")
        for repository in wanted.repo:
            if each == "cold":
                cold.measure(repository, wanted.rounds, wanted.aider)
            elif each == "ask":
                answers.unchanged(repository, wanted.rounds)
            elif each == "edit":
                answers.edited(repository, wanted.rounds)
            elif each == "memory":
                memory.run(repository, wanted.processes)


if __name__ == "__main__":
    main()
