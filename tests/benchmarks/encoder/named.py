"""NDCG@10 of files and of definitions, with and without the question encoder, for questions near to the code.

    python -m tests.benchmarks.encoder.named FILE... --clones DIR [--sample N] [--processes 1]

FILE is that of `causalist eval --data`: commit messages, bug reports, labelled questions. Each is asked of the tree at
its own commit. `--sample` draws N questions of each file, always the same ones. Prints a table: all questions and those
that have a word of the name of a right file, each file and all together, with paired differences in points and 95 %
intervals over questions.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from causalist.errors import GitError, NothingToIndex
from causalist.evaluate.mining import LabelledQuestion, find_clone, read_questions, sort_oldest_first
from causalist.evaluate.results import Ranks, SnapshotFacts, bootstrap, find_ranks, metric_values
from causalist.model.answer import AskOptions, Level
from causalist.model.node_ids import split_id
from causalist.pipeline.repository import Repository

TOP_K, SEED = 20, 30
METRIC = "NDCG@10"

# What was found for a question: "files" or "definitions" -> (ranks with, ranks without).
Found = dict[str, tuple[Ranks, Ranks]]
Named = tuple[str, LabelledQuestion]  # name of a file of questions, question


def ask_at(repository: Repository, question: LabelledQuestion) -> Found:
    """Return the ranks of the right answers of a question, with and without the encoder."""
    golds = {"files": (Level.FILE, question.gold_files), "definitions": (Level.SYMBOL, question.gold_symbols)}
    found: Found = {}
    for name, (level, gold) in golds.items():
        if not gold:
            continue
        rankings = [
            repository.rank_nodes(question.query, AskOptions(level=level, top_k=TOP_K, semantic=is_on))
            for is_on in (True, False)
        ]
        if level is Level.FILE:
            rankings = [[split_id(node)[0] for node in ranking] for ranking in rankings]
        found[name] = find_ranks(gold, rankings[0]), find_ranks(gold, rankings[1])
    return found


def ask_all(git_dir: Path, questions: Sequence[Named]) -> list[tuple[Named, Found]]:
    """Ask the questions of one repository, each at its own commit; those without a tree are left out."""
    by_commit: dict[str, list[Named]] = defaultdict(list)
    for named in questions:
        by_commit[named[1].commit].append(named)
    cache, previous = SnapshotFacts(), None  # type: SnapshotFacts, Index | None
    results = []
    for commit in sort_oldest_first(git_dir, by_commit):
        try:
            repository = Repository.at_commit(git_dir, commit, cache=cache, known=previous)
        except (GitError, NothingToIndex) as error:
            print(f"{git_dir.parent.name} {commit[:10]}: {error}", flush=True)
            continue
        previous = repository.index
        results += [(named, ask_at(repository, named[1])) for named in by_commit[commit]]
    return results


def row(name: str, level: str, found: Sequence[Found]) -> str:
    """Return a row of the table."""
    ranks = [each[level] for each in found if level in each]
    with_, without = (100 * metric_values([pair[i] for pair in ranks], [METRIC]) for i in (0, 1))
    (change,) = bootstrap(with_ - without)
    n_better, n_worse = int((with_ > without).sum()), int((with_ < without).sum())
    return (
        f"| {name} | {level} | {len(ranks)} | {np.mean(without):.1f} | {np.mean(with_):.1f} | "
        f"{change.value:+.1f} [{change.low:+.1f}, {change.high:+.1f}] | {n_better} | {n_worse} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    jobs: dict[Path, list[Named]] = defaultdict(list)
    for path in arguments.data:
        there = [(question, find_clone(arguments.clones, question.repo)) for question in read_questions(path)]
        cloned = [(question, git_dir) for question, git_dir in there if git_dir is not None]
        if arguments.sample is not None and arguments.sample < len(cloned):
            cloned = random.Random(SEED).sample(cloned, arguments.sample)
        for question, git_dir in cloned:
            jobs[git_dir].append((path.stem, question))
    largest_first = sorted(jobs, key=lambda git_dir: (-len(jobs[git_dir]), str(git_dir)))
    with ProcessPoolExecutor(max_workers=arguments.processes) as pool:
        parts = pool.map(ask_all, largest_first, [jobs[git_dir] for git_dir in largest_first])
        results = [each for part in parts for each in part]
    print("| questions | of | n | without | with | difference | better | worse |\n|---|---|--:|--:|--:|---|--:|--:|")
    for name in [*dict.fromkeys(path.stem for path in arguments.data), "all"]:
        for level in ("files", "definitions"):
            chosen = [(named[1], found) for named, found in results if name in ("all", named[0]) and level in found]
            for label, group in (
                (name, [found for _, found in chosen]),
                (f"{name}, naming a file", [found for question, found in chosen if not question.hard]),
            ):
                if group:
                    print(row(label, level, group))


if __name__ == "__main__":
    main()
