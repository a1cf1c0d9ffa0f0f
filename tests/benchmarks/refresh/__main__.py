"""`python -m tests.benchmarks.refresh [--sequences N] [--repo DIR ...] [--replay CLONE ...]`: refreshed against
rebuilt, over random sequences of edits, or over what people did.

Each sequence starts from a fresh copy of a sample repository, or of one of the given ones, and has three rounds of one
to four edits; two of three have five rounds of one or two edits after most of which only some files are linked again:
those that leave the set of files as it is, and those by which files come and go. After each round the refreshed index
is compared with one that is built afresh, array by array, and so are their answers. With --retaining one process keeps
what it read from one round to the next, as servers do, and a fourth way has edits that mostly nobody sees from outside.

With --replay the commits of clones are checked out one after the other instead, the oldest first.
"""

import argparse
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from causalist.graph import Linker
from causalist.index import build as building
from causalist.index import graph_refresh
from causalist.index.graph_refresh import refresh_graph
from causalist.index.options import RefreshCache
from causalist.pipeline.repository import Repository
from tests.edits import BODY_EDITS, EDITS, MOVES, SMALL_EDITS, begin
from tests.indexes import differences, without_stamps
from tests.pipeline.sample import SAMPLES, in_memory
from tests.pipeline.test_refresh import check_sequence


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--repo", type=Path, action="append", default=[])
    parser.add_argument("--replay", metavar="CLONE", type=Path, action="append", default=[])
    parser.add_argument("--commits", type=int, default=25, help="how many of each clone are checked out")
    parser.add_argument("--every", type=int, default=2, help="how many further on each is than the one before")
    parser.add_argument("--follow-all", action="store_true", help="follow names however much they touch")
    parser.add_argument("--retaining", action="store_true", help="keep facts and tables between refreshes")
    wanted = parser.parse_args()
    repositories = wanted.repo or sorted(path for path in SAMPLES.iterdir() if path.is_dir())
    linked: Counter[str] = Counter()

    def counted(*arguments):
        result = refresh_graph(*arguments)
        linked["linked everything" if result is None else "linked some files"] += 1
        return result

    def counted_relink(linker, changed):
        found = relink(linker, changed)
        linked["with the tables at hand" if found is not None else "with new tables"] += 1
        return found

    relink = Linker.relink
    Linker.relink = counted_relink
    building.refresh_graph = counted
    if wanted.follow_all:
        graph_refresh._MAX_AFFECTED_SHARE, graph_refresh._MAX_CHANGED_NAMES = 1.0, 10_000
    for clone in wanted.replay:
        linked.clear()
        n = replay(clone, wanted.commits, wanted.every)
        told = ", ".join(f"{what} {n} times" for what, n in sorted(linked.items()))
        print(f"{clone}: {n} commits, refreshed equals rebuilt after each; {told}", flush=True)
    if wanted.replay:
        return
    done: Counter[str] = Counter()
    n_edits = 0
    for number in range(wanted.sequences):
        repository = repositories[number % len(repositories)]
        way = number // len(repositories) % (4 if wanted.retaining else 3)
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / repository.name
            shutil.copytree(repository, root, ignore=shutil.ignore_patterns(".causalist", ".git"), symlinks=True)
            begin(root)
            seed = wanted.first_seed + number
            refresh_cache = RefreshCache() if wanted.retaining else None
            edits, n_rounds, most = ((EDITS, 3, 4), (SMALL_EDITS, 5, 2), (MOVES, 5, 2), (BODY_EDITS, 6, 2))[way]
            n_edits += len(check_sequence(root, seed, n_rounds, 1, edits, most, refresh_cache))
        done[repository.name] += 1
    counts = ", ".join(f"{n} of {name}" for name, n in sorted(done.items()))
    print(f"{wanted.sequences} sequences ({counts}), {n_edits} edits: refreshed equals rebuilt in every round")
    print(", ".join(f"{what} {n} times" for what, n in sorted(linked.items())))


def replay(clone: Path, n_commits: int, every: int) -> int:
    """Checks out the last commits of a clone in turn; raises AssertionError where a refresh differs from an index that
    is built afresh. Returns how many there were."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True, text=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        git("clone", "-q", str(clone.resolve()), "clone")
        root = root / "clone"
        (root / ".git" / "info" / "exclude").write_text(".causalist\n")
        names = git("rev-list", "--first-parent", f"--max-count={n_commits * every}", "HEAD").split()
        names = names[::-1][::every]
        for name in names:
            git("checkout", "-q", "-f", name)
            index = Repository.open(root).index
            found = differences(without_stamps(index), without_stamps(in_memory(root).index))
            assert not found, f"{clone} at {name}: {found}"
    return len(names)


if __name__ == "__main__":
    main()
