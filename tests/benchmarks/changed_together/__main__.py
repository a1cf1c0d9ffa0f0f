"""How well the other files of a commit are foretold from one of its files.

    python -m tests.benchmarks.changed_together --clones DIR [--commits 20] [--definitions] OWNER/NAME...

`--clones` holds OWNER+NAME/repo with history. Commits that change 2 to 15 files of code are drawn with a fixed seed, no
merges. The index is that of the parent, with the history up to the parent. One changed file is the query, the other
changed files that the parent has are right. With `--definitions` the query is a changed definition of that file, if it
has one. Prints the mean average precision (MAP) of each ranking of files, with bootstrap intervals over the commits,
also of what the ranking of `impact` gains over the others, then how often a listed file is right by the probability
that is said of it.
"""

import argparse
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from causalist import navigate
from causalist.evaluate.results import SnapshotFacts, bootstrap
from causalist.model.node_ids import NodeKind, file_id, split_id
from causalist.parse import dialect_of
from causalist.pipeline.repository import Repository
from causalist.source import list_ancestors, read_changes
from causalist.source.commits import changed_rows

SEED = 20261126
FEWEST, MOST = 2, 15  # files of code in a commit
BOUNDS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
COMBINED = "likely to change with it"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", metavar="OWNER/NAME")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--definitions", action="store_true", help="ask for a changed definition, not for its file")
    arguments = parser.parse_args()
    values: dict[str, list[float]] = {}
    judged: list[tuple[float, bool]] = []
    for repo in arguments.repositories:
        git_dir = arguments.clones / repo.replace("/", "+") / "repo"
        own = measure(git_dir, arguments.commits, judged, asks_definitions=arguments.definitions)
        report(repo, own)
        for name, of_name in own.items():
            values.setdefault(name, []).extend(of_name)
    report("all", values)
    for name, of_name in values.items():
        if name != COMBINED:
            gain = bootstrap((np.array(values[COMBINED]) - np.array(of_name))[:, None])[0]
            sys.stdout.write(f"gain over {name}: {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})\n")
    for low, high in pairwise(BOUNDS):
        inside = [(chance, is_right) for chance, is_right in judged if low < chance <= high]
        if inside:
            said, right = np.mean(inside, axis=0)
            sys.stdout.write(f"probability {low} to {high}: {len(inside)} files, said {said:.3f}, right {right:.3f}\n")
    return 0


def measure(
    git_dir: Path, n: int, judged: list[tuple[float, bool]], *, asks_definitions: bool = False
) -> dict[str, list[float]]:
    """The average precision of each ranking, by commit; `judged` receives the probabilities of the combined one."""
    values: dict[str, list[float]] = {}
    for repository, query, right in draw_cases(git_dir, n, asks_definitions=asks_definitions):
        rankings = rank_files(repository, query, judged, right)
        for name, ranking in rankings.items():
            values.setdefault(name, []).append(average_precision(ranking, right))
    return values


def draw_cases(
    git_dir: Path, n: int, *, asks_definitions: bool = False
) -> Iterator[tuple[Repository, str, frozenset[str]]]:
    """Yield the state of the parent, a changed file or definition and the other changed files, of `n` commits."""
    drawn = random.Random(SEED)
    parents = read_parents(git_dir)
    changes = list(read_changes(git_dir, [name for name in list_ancestors(git_dir, "HEAD") if len(parents[name]) == 1]))
    suitable = [c for c in changes if FEWEST <= sum(map(is_code, c.files)) <= MOST]
    drawn.shuffle(suitable)
    cache, known, found = SnapshotFacts(), None, 0
    for change in suitable:
        repository = Repository.at_commit(git_dir, parents[change.name][0], cache=cache, known=known)
        known, ids = repository.index, repository.index.graph.nodes.ids
        changed = [path for path in change.files if is_code(path) and ids.position(file_id(path)) >= 0]
        if len(changed) < FEWEST:
            continue
        query = drawn.choice(changed)
        subject = changed_definition(repository, git_dir, change.name, query) if asks_definitions else query
        yield repository, subject, frozenset(changed) - {query}
        found += 1
        if found == n:
            return


def changed_definition(repository: Repository, git_dir: Path, commit: str, path: str) -> str:
    """The definition of a file that most changed rows of a commit lie in, or the file if all lie outside."""
    graph = repository.index.graph
    before, after = (read_blob(git_dir, f"{name}:{path}") for name in (f"{commit}~1", commit))
    rows = changed_rows(after, before)
    n_rows: dict[str, int] = {}
    for first, last in rows:
        for row in range(first, last + 1):
            for node in navigate.find_nodes_of_rows(graph, {path: [(row, row)]}).tolist():
                if graph.nodes.parents[node] >= 0 and graph.nodes.kinds[node] != NodeKind.PASSAGE:
                    n_rows[graph.nodes.ids[node]] = n_rows.get(graph.nodes.ids[node], 0) + 1
    return min(n_rows, key=lambda node: (-n_rows[node], node), default=path)


def read_blob(git_dir: Path, name: str) -> bytes:
    """The content of a file of a commit, empty if the commit does not have it."""
    return subprocess.run(["git", "-C", str(git_dir), "show", name], check=False, capture_output=True).stdout


def rank_files(
    repository: Repository, query: str, judged: list[tuple[float, bool]], right: frozenset[str]
) -> dict[str, list[str]]:
    """The files of code by each ranking, without the query."""
    affected = repository.impact(query)
    impact: dict[str, float] = {}
    callers: dict[str, float] = {}
    for each in affected:
        path = split_id(each.node)[0]
        impact[path] = max(impact.get(path, 0.0), each.probability)
        if each.depth == 1 and each.edge.kind == "calls":
            callers[path] = max(callers.get(path, 0.0), each.edge.confidence)
    own = split_id(query)[0]
    impact.pop(own, None)
    callers.pop(own, None)
    index = repository.index
    edges = navigate.list_co_change_edges(index, index.graph.nodes.ids.position(file_id(own)))
    history = {edge.target: edge.confidence for edge in edges if is_code(edge.target)}
    counts = {edge.target: float(edge.n) for edge in edges if is_code(edge.target)}
    likely = repository.changes_with(query, affected=affected, least_probability=0.0)
    combined = {each.file: each.probability for each in likely}
    judged += [(each.probability, each.file in right) for each in likely if each.probability >= BOUNDS[0]]
    return {
        "impact": best_first(impact),
        "callers": best_first(callers),
        "history": best_first(history),
        "counts of common commits": best_first(counts),
        "impact and history interleaved": interleave(best_first(impact), best_first(history)),
        COMBINED: best_first(combined),
    }


def read_parents(git_dir: Path) -> dict[str, list[str]]:
    command = ["git", "-C", str(git_dir), "rev-list", "--parents", "HEAD"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: parents for name, *parents in map(str.split, lines)}


def is_code(path: str) -> bool:
    return bool(dialect_of(path))


def average_precision(ranking: Sequence[str], right: frozenset[str]) -> float:
    n_right, total = 0, 0.0
    for place, path in enumerate(ranking, 1):
        if path in right:
            n_right += 1
            total += n_right / place
    return total / len(right)


def best_first(chances: Mapping[str, float]) -> list[str]:
    return sorted(chances, key=lambda path: (-chances[path], path))


def interleave(first: Sequence[str], second: Sequence[str]) -> list[str]:
    pairs = [path for i in range(max(len(first), len(second))) for path in (*first[i : i + 1], *second[i : i + 1])]
    return list(dict.fromkeys(pairs))


def report(name: str, values: Mapping[str, Sequence[float]]) -> None:
    n = len(next(iter(values.values())))
    for ranking, of_ranking in values.items():
        mean = bootstrap(np.array(of_ranking)[:, None])[0]
        sys.stdout.write(f"{name}, {n} commits: {ranking} {mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f})\n")


if __name__ == "__main__":
    sys.exit(main())
