"""`python -m tests.benchmarks.libraries {git,graph} --repo CHECKOUT`: libraries that Causalist does not build on.

git      history, blobs and status of a repository: our calls of the git command line against GitPython and pygit2;
         --python PYTHON is an interpreter in which both are installed
graph    load, Personalized PageRank and reachability of the stored graph: our arrays against networkx

Each measurement is one fresh process, and the programs take turns. Ratios are those of the same round.
"""

import argparse
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

from tests.benchmarks.libraries import git_peer, graph_peer
from tests.benchmarks.libraries.rounds import compare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("git", "graph"))
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable, help="of an environment with GitPython and pygit2")
    wanted = parser.parse_args()
    repo = wanted.repo.resolve()
    if wanted.what == "git":
        with NamedTemporaryFile("w", encoding="utf-8") as paths:
            paths.write("".join(f"{path}\n" for path in git_peer.readable_paths(repo)))
            paths.flush()
            programs = {"causalist": sys.executable, "gitpython": wanted.python, "pygit2": wanted.python}
            for task in git_peer.TASKS:
                compare(task, programs, (git_peer.__file__, repo, paths.name), wanted.rounds)
    else:
        programs = dict.fromkeys(("causalist", "networkx"), sys.executable)
        with TemporaryDirectory() as folder:
            print(graph_peer.store_graphs(repo, Path(folder)), flush=True)
            for task in graph_peer.TASKS:
                compare(task, programs, (graph_peer.__file__, folder), wanted.rounds)


if __name__ == "__main__":
    main()
