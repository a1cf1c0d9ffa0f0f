"""What a scope brings where it is right, and costs where it is wrong, by the size of its bonus.

    python -m tests.benchmarks.scope FILE... --clones DIR [--bonus 0 0.5 1 2]

FILE holds labelled questions as `causalist eval --data` reads them, `--clones` holds OWNER+NAME/repo with history. The
right scope of a question is the folder of its first gold file; the wrong one is the folder with the most code that
holds none. Questions whose right folder holds all code, or for which there is no wrong one, are left out of that part.
Prints, for each bonus, the share of questions with a gold file first, the share of gold files among the first five and
ten files, and the share of the first five files that lie in the scope.
"""

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from causalist.evaluate.mining import LabelledQuestion, read_questions
from causalist.model.answer import AskOptions
from causalist.model.node_ids import NodeKind, Role, split_id
from causalist.parse import dialect_of
from causalist.pipeline.repository import Repository
from causalist.rank.scoring import ranking


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--bonus", type=float, nargs="+", default=[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 1e6])
    arguments = parser.parse_args()
    by_tree: dict[tuple[str, str], list[LabelledQuestion]] = defaultdict(list)
    for data in arguments.files:
        for question in read_questions(data):
            by_tree[question.repo, question.commit].append(question)
    rows: dict[tuple[str, float], list[tuple[float, float, float, float]]] = defaultdict(list)
    for (repo, commit), questions in sorted(by_tree.items()):
        repository = Repository.at_commit(arguments.clones / repo.replace("/", "+") / "repo", commit)
        code = code_of(repository)
        for question in questions:
            for kind, scope in scopes_of(question, code):
                for bonus in arguments.bonus:
                    rows[kind, bonus].append(measured(repository, question, scope, bonus))
    sys.stdout.write("| scope | bonus | questions | first | of 5 | of 10 | in scope |\n|---|--:|--:|--:|--:|--:|--:|\n")
    for (kind, bonus), values in sorted(rows.items()):
        means = " | ".join(f"{100 * mean:.1f}" for mean in np.mean(values, axis=0))
        sys.stdout.write(f"| {kind} | {bonus:g} | {len(values)} | {means} |\n")
    return 0


def code_of(repository: Repository) -> list[str]:
    """Paths of files with code of the product."""
    nodes = repository.index.graph.nodes
    files = np.flatnonzero((nodes.kinds == NodeKind.FILE) & (nodes.roles == Role.CODE)).tolist()
    return [path for path in (split_id(nodes.ids[n])[0] for n in files) if dialect_of(path)]


def scopes_of(question: LabelledQuestion, code: list[str]) -> list[tuple[str, str]]:
    gold = question.gold_files
    nested = [path for path in gold if "/" in path]
    if not nested:
        return []
    folders: Counter[str] = Counter()
    for path in code:
        while "/" in path:
            path = path.rpartition("/")[0]
            folders[path] += 1
    right = nested[0].rpartition("/")[0]
    order = sorted(folders, key=lambda folder: (-folders[folder], folder))
    wrong = [f for f in order if folders[f] > 1 and not any(path.startswith(f"{f}/") for path in gold)]
    found = [] if folders[right] == len(code) else [("right", right)]
    return [*found, *(("wrong", folder) for folder in wrong[:1])]


def measured(
    repository: Repository, question: LabelledQuestion, scope: str, bonus: float
) -> tuple[float, float, float, float]:
    before, ranking.SCOPE_BONUS = ranking.SCOPE_BONUS, bonus
    try:
        nodes = repository.rank_nodes(question.query, AskOptions(scope=scope))
    finally:
        ranking.SCOPE_BONUS = before
    files = list(dict.fromkeys(split_id(node)[0] for node in nodes))
    gold = set(question.gold_files)
    inside = sum(path.startswith(f"{scope}/") for path in files[:5]) / max(1, len(files[:5]))
    return (
        float(bool(gold & set(files[:1]))),
        len(gold & set(files[:5])) / len(gold),
        len(gold & set(files[:10])) / len(gold),
        inside,
    )


if __name__ == "__main__":
    sys.exit(main())
