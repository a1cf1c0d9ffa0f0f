"""What the signals of a repository's history bring to the ranking of files, by weight.

    python -m tests.benchmarks.history FILE... --clones DIR [--weights messages=0.3,similar=0.7 ...]
    python -m tests.benchmarks.history --partners --clones DIR OWNER/NAME...

FILE holds labelled questions as `causalist eval --data` reads them, `--clones` holds OWNER+NAME/repo with history. Each
question is asked of its own commit, and only ancestors of that are read. The signals (`messages`, `similar`,
`co_changes`, `churn`, `recency`, each at most 1) are added to the score of files with their weights, times the factor
of the file's role; the places of the graph, which stand behind the first ten files, are left out. Prints, for each file
of questions and each choice of weights, the metrics and their paired difference from the ranking as it is, with
bootstrap intervals; then, under `chosen`, what comes out if each repository is ranked with the weights that are best on
the others (mean over repositories of the mean of the metrics).

With `--partners`: for the newest commits with two to ten files of code, how many of the other files are among the five
strongest partners of each, as the commits before it tell.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.evaluate.mining import LabelledQuestion, read_questions, sort_oldest_first
from causalist.evaluate.results import SnapshotFacts, bootstrap, find_ranks, metric_values
from causalist.index.history import build_history
from causalist.model.answer import AskOptions, Level
from causalist.model.index import Commits, History, Index
from causalist.model.node_ids import NodeKind, split_id
from causalist.parse import dialect_of
from causalist.pipeline.repository import Repository
from causalist.rank import (
    churn_scores,
    co_change_scores,
    default_weights,
    history_signals,
    merge_commits,
    parse_query,
    rank_question,
    recency_scores,
)
from causalist.source import list_ancestors, read_changes

NAMES = ("accuracy@1", "accuracy@3", "accuracy@5", "accuracy@10", "MRR", "recall@10")
SIGNALS = ("messages", "similar", "co_changes", "churn", "recency")
CHOICES = (
    "messages=0.2,similar=0.4", "messages=0.3,similar=0.7", "messages=0.5,similar=1", "messages=0.5", "messages=1",
    "similar=0.5", "similar=1", "co_changes=0.1", "co_changes=0.3", "churn=0.1", "churn=0.3", "recency=0.1",
)  # fmt: skip
RECENCY_DAYS = 90.0
N_NEWEST = 300  # commits that are foretold, of each repository

Scores = NDArray[np.float64]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", metavar="FILE|OWNER/NAME")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--weights", nargs="+", default=list(CHOICES))
    parser.add_argument("--partners", action="store_true")
    arguments = parser.parse_args()
    if arguments.partners:
        for repo in arguments.what:
            recall, first, n = foretold(arguments.clones / repo.replace("/", "+") / "repo")
            sys.stdout.write(f"{repo}: {n} files, recall@5 {100 * recall:.1f}, first is right {100 * first:.1f}\n")
        return 0
    choices = {"": {}} | {text: weights_of(text) for text in arguments.weights}
    for data in map(Path, arguments.what):
        report(data.name, *measured(read_questions(data), arguments.clones, choices))
    return 0


def weights_of(text: str) -> dict[str, float]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name in SIGNALS for name, _, _ in pairs):
        raise SystemExit(f"{text}: the signals are {', '.join(SIGNALS)}")
    return {name: float(value) for name, _, value in pairs}


def measured(
    questions: list[LabelledQuestion], clones: Path, choices: dict[str, dict[str, float]]
) -> tuple[list[str], dict[str, Scores]]:
    """The repository of each question, and by choice the metrics of each, shape (n_questions, n_names)."""
    by_tree: dict[str, dict[str, list[LabelledQuestion]]] = defaultdict(lambda: defaultdict(list))
    for question in questions:
        by_tree[question.repo][question.commit].append(question)
    repos: list[str] = []
    ranks: dict[str, list[tuple[int | None, ...]]] = {choice: [] for choice in choices}
    for repo, trees in sorted(by_tree.items()):
        git_dir = clones / repo.replace("/", "+") / "repo"
        cache, known = SnapshotFacts(), None
        for commit in sort_oldest_first(git_dir, trees):
            known = Repository.at_commit(git_dir, commit, cache=cache, known=known).index
            for question in trees[commit]:
                repos.append(repo)
                base, role, signals = scores_of(question.query, known)
                for choice, weights in choices.items():
                    extra = sum((weight * signals[name] for name, weight in weights.items()), np.zeros(len(base)))
                    ranks[choice].append(find_ranks(question.gold_files, best(base + extra * role, known)))
    return repos, {choice: metric_values(rows, NAMES) for choice, rows in ranks.items()}


def scores_of(query: str, index: Index) -> tuple[Scores, Scores, dict[str, Scores]]:
    """(scores of files as they are, factors of roles, signals of history)."""
    question, graph, n = parse_query(query), index.graph, len(index.graph.nodes)
    options = AskOptions(level=Level.FILE, graph=False)
    ranking = rank_question(question, graph, index.lexical, index.transition, default_weights(), options)
    read = history_signals(question, index.history, n)
    together = co_change_scores(ranking.files, index.history)
    signals = {
        "messages": read["messages"],
        "similar": read["similar commits"],
        "co_changes": together / (together.max(initial=0.0) or 1.0),
        "churn": churn_scores(index.history, n),
        "recency": recency_scores(index.history, n, RECENCY_DAYS),
    }
    return ranking.files, ranking.signals.file_role, signals


def best(scores: Scores, index: Index) -> list[str]:
    nodes = index.graph.nodes
    rounded = np.where(nodes.kinds == NodeKind.FILE, np.round(scores, 12), 0.0)
    found = np.flatnonzero(rounded > 0)
    order = found[np.lexsort((found, -rounded[found]))][:20].tolist()
    return [split_id(nodes.ids[node])[0] for node in order]


def report(name: str, repos: list[str], values: dict[str, Scores]) -> None:
    base = values[""]
    of_repo = {repo: np.array([each == repo for each in repos]) for repo in sorted(set(repos))}
    chosen = np.empty_like(base)
    for repo, inside in of_repo.items():
        others = [mask for other, mask in of_repo.items() if other != repo] or [inside]
        picked = max(values, key=lambda choice: np.mean([values[choice][mask].mean() for mask in others]))
        chosen[inside] = values[picked][inside]
    sys.stdout.write(
        f"## {name}: {len(repos)} questions\n\n| weights | {' | '.join(NAMES)} |\n|---|{'---|' * len(NAMES)}\n"
    )
    for choice, table in [*values.items(), ("chosen", chosen)]:
        cells = [
            f"{100 * mean:.1f}"
            if not choice
            else f"{100 * mean:.1f} ({100 * d.value:+.1f}; {100 * d.low:+.1f} to {100 * d.high:+.1f})"
            for mean, d in zip(table.mean(axis=0), bootstrap(table - base), strict=True)
        ]
        sys.stdout.write(f"| {choice or 'as it is'} | {' | '.join(cells)} |\n")
    sys.stdout.write("\n")


def foretold(git_dir: Path) -> tuple[float, float, int]:
    """(recall among the five strongest partners, share of files whose strongest is right, how many files)."""
    names = list_ancestors(git_dir, "HEAD")
    changes = list(read_changes(git_dir, names))
    recalls: list[float] = []
    firsts: list[float] = []
    for i, change in enumerate(changes[:N_NEWEST]):
        code = [path for path in change.files if dialect_of(path)]
        if not 2 <= len(code) <= 10:
            continue
        before = merge_commits(names[i + 1 :], Commits(), changes[i + 1 :])
        paths = sorted(p for p in before.paths if dialect_of(p))
        past = build_history(before, paths, np.arange(len(paths), dtype=np.int32), History())
        place = {path: n for n, path in enumerate(paths)}
        for path in code:
            pairs = past.co_changes
            file = place.get(path)
            if file is None or pairs.indptr[file] == pairs.indptr[file + 1]:
                continue
            partners = [paths[o] for o in pairs.others[pairs.indptr[file] : pairs.indptr[file + 1]][:5].tolist()]
            others = set(code) - {path}
            recalls.append(len(others & set(partners)) / min(5, len(others)))
            firsts.append(float(partners[0] in others))
    return float(np.mean(recalls or [0.0])), float(np.mean(firsts or [0.0])), len(recalls)


if __name__ == "__main__":
    sys.exit(main())
