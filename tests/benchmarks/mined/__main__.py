"""Mines questions from the histories of public repositories: what fits weights beside the questions written by hand.

    python -m tests.benchmarks.mined OUT --clones DIR [--indexes DIR] [--questions 20] [--states 2]

`repositories.txt` beside this file names each repository and the commit behind which to look; `--clones` holds
OWNER+NAME/repo with history. From each come the newest questions that `causalist eval --from-git` would mine. To index
one state for each question would take hours, so that neighbours share one: the state before the oldest of them, of
which no answer is known. Where the others changed code that later commits had moved, rows are followed back; what was
written in between is in no answer. OUT gets one question a line, as `causalist eval --data` and the commands that fit
read them. The same commits give the same bytes.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from causalist.evaluate.mining import (
    LabelledQuestion,
    find_changed_definitions,
    find_clone,
    mine_questions,
)
from causalist.evaluate.results import SnapshotFacts
from causalist.model.index import Index
from causalist.model.node_ids import file_id
from tests.benchmarks.gold import find_changed_definitions_since
from tests.benchmarks.states import at_commit

REPOSITORIES = Path(__file__).with_name("repositories.txt")
N_QUESTIONS = 20  # of each repository, at most
N_STATES = 2  # of each repository that are indexed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--indexes", type=Path)
    parser.add_argument("--questions", type=int, default=N_QUESTIONS, help="of each repository, at most")
    parser.add_argument("--states", type=int, default=N_STATES, help="that are indexed of each repository")
    arguments = parser.parse_args()
    with arguments.out.open("w", encoding="utf-8", newline="\n") as out:
        for repo, head in repositories():
            git_dir = find_clone(arguments.clones, repo)
            if git_dir is None:
                sys.stderr.write(f"{repo}: no clone\n")
                return 2
            n = 0
            for question in mined(git_dir, repo, head, arguments.questions, arguments.states, arguments.indexes):
                out.write(json.dumps(as_row(question), ensure_ascii=False) + "\n")
                n += 1
            sys.stderr.write(f"{repo}: {n} questions\n")
    return 0


def repositories() -> list[tuple[str, str]]:
    """(OWNER/NAME, commit) of each repository of the list."""
    lines = REPOSITORIES.read_text(encoding="utf-8").splitlines()
    return [(line.split()[0], line.split()[1]) for line in lines if line and not line.startswith("#")]


def mined(
    git_dir: Path, repo: str, head: str, n: int, n_states: int, indexes: Path | None
) -> Iterator[LabelledQuestion]:
    """The newest `n` questions behind `head`, the oldest state first, each of the state that it is asked of."""
    cache, known = SnapshotFacts(), None
    for block in reversed(blocks_of(git_dir, head, n, n_states)):
        commit = block[-1].commit
        repository = at_commit(git_dir, repo, commit, cache, known, indexes)
        known = repository.index
        for question in block:
            if all(known.graph.nodes.ids.position(file_id(path)) >= 0 for path in question.gold_files):
                symbols = definitions(git_dir, question, commit, known)
                yield replace(question, repo=repo, commit=commit, gold_symbols=tuple(symbols))


def blocks_of(git_dir: Path, head: str, n: int, n_states: int) -> list[tuple[LabelledQuestion, ...]]:
    """The newest `n` questions behind `head`, those that share a state together, the newest first."""
    found = mine_questions(git_dir, n, head).questions
    size = max(-(-len(found) // n_states), 1)
    return [found[at : at + size] for at in range(0, len(found), size)]


def definitions(git_dir: Path, question: LabelledQuestion, commit: str, index: Index) -> Sequence[str]:
    """The definitions of the state `commit` that the answer changed; its name is the question's id."""
    if question.commit == commit:
        return find_changed_definitions(git_dir, commit, question.id, index.graph, question.gold_files)
    return find_changed_definitions_since(
        git_dir, commit, question.commit, question.id, index.graph, question.gold_files
    )


def as_row(question: LabelledQuestion) -> dict[str, object]:
    return {
        "id": question.id,
        "repo": question.repo,
        "lang": question.lang,
        "base_commit": question.commit,
        "query": question.query,
        "gold_files": question.gold_files,
        "gold_symbols": question.gold_symbols,
        "hard": question.hard,
    }


if __name__ == "__main__":
    sys.exit(main())
