"""What `causalist hook prompt` hands to an agent, against always handing it something of one size.

    python -m tests.benchmarks.hook --data FILE --clones DIR [--indexes DIR] [--rows 200] [--choose 80]
    python -m tests.benchmarks.hook --topics DIR [--write]
    python -m tests.benchmarks.hook --unseen DIR
    python -m tests.benchmarks.hook --random 500

FILE holds labelled questions as `causalist eval --data` reads them; `--clones` holds OWNER+NAME/repo with history, and
`--indexes` indexes that were made before, as OWNER+NAME@COMMIT.idx (what is not there is made and written to it).
Questions are ordered by the hash of their ids; the first `--choose` are those that the sizes were chosen with, the next
`--rows` are measured. Prints a table: tokens for each question, the share of questions of which a right file is named
in what is handed over, how many got nothing, and the share among those that got something. The rows "always" have one
size for all questions, whatever the confidence, with and without the names of the next files; the last line compares
with the best of those without names that cost no more.

`--topics` measures on how many prompts that are not about a repository the hook is silent, and on how many that are it
is not, see `topics`. DIR holds the repositories of on_topic.txt as OWNER+NAME, each with a current index. `--write`
fits the weights to the half of the prompts and repositories that is not measured, and writes them. `--questions` and
`--requests` are files of others: questions as `causalist eval --data` reads them, and requests to an assistant with the
keys `instruction` and `input`.

`--unseen` measures the same on prompts that were written after the fit: DIR holds the repositories of
unseen_on_topic.txt.

`--random` runs the hook itself on that many random inputs and counts those after which the exit code is not 0 or
anything stands on standard output.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from causalist.cli.hook import HOOK_BUDGETS, HookBudget, build_context, topic_weights
from causalist.evaluate.mining import LabelledQuestion, find_clone, read_questions, sort_oldest_first
from causalist.evaluate.results import SnapshotFacts
from causalist.pack import count_tokens
from causalist.pipeline.repository import Repository
from tests.benchmarks.hook import topics
from tests.benchmarks.states import at_commit
from tests.cli.test_hook import random_input

ALWAYS = [
    *((HookBudget(0.0, *size),) for size in ((3, 300), (5, 400), (5, 500), (8, 600), (8, 700), (8, 800), (12, 1000))),
    *((HookBudget(0.0, *size),) for size in ((3, 300, 5), (3, 300, 8), (5, 400, 8), (5, 500, 8))),
]


class Handed(NamedTuple):
    """What one question got: tokens (0 for nothing), and whether a right file is in it."""

    tokens: int
    is_right: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--indexes", type=Path)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--choose", type=int, default=80)
    parser.add_argument("--topics", type=Path, metavar="DIR")
    parser.add_argument("--unseen", type=Path, metavar="DIR")
    parser.add_argument("--questions", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--requests", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--write", action="store_true", help="fit and write causalist/cli/topic_weights.json")
    parser.add_argument("--random", type=int, metavar="N")
    arguments = parser.parse_args()
    if arguments.random:
        return run_random(arguments.random)
    if arguments.unseen:
        sys.stdout.write("\n".join(topics.report(list(topics.read_unseen(arguments.unseen)))) + "\n")
        return 0
    if arguments.topics:
        return run_topics(arguments)
    questions = sorted(read_questions(arguments.data), key=lambda q: hashlib.sha256(q.id.encode()).hexdigest())
    measured = questions[arguments.choose :][: arguments.rows]
    handed: dict[Sequence[HookBudget], list[Handed]] = defaultdict(list)
    for question, repository in snapshots(measured, arguments.clones, arguments.indexes):
        for shares in (HOOK_BUDGETS, *ALWAYS):
            handed[shares].append(what_is_handed(repository, question, shares))
    sys.stdout.write("\n".join(table(handed)) + "\n")
    return 0


def snapshots(
    questions: Sequence[LabelledQuestion], clones: Path, indexes: Path | None
) -> Iterator[tuple[LabelledQuestion, Repository]]:
    """Each question with the repository at its commit."""
    by_repository: dict[str, list[LabelledQuestion]] = defaultdict(list)
    for question in questions:
        by_repository[question.repo].append(question)
    for repo, own in by_repository.items():
        clone = find_clone(clones, repo)
        if clone is None:
            raise SystemExit(f"no clone of {repo} in {clones}")
        facts = SnapshotFacts()
        for commit in sort_oldest_first(clone, sorted({question.commit for question in own})):
            repository = at_commit(clone, repo, commit, facts, None, indexes)
            yield from ((question, repository) for question in own if question.commit == commit)


def what_is_handed(repository: Repository, question: LabelledQuestion, shares: Sequence[HookBudget]) -> Handed:
    context = build_context(repository, question.query, shares)
    if context is None:
        return Handed(0, False)
    return Handed(count_tokens(context), any(path in context for path in question.gold_files))


def table(handed: dict[Sequence[HookBudget], list[Handed]]) -> list[str]:
    lines = ["| what is handed over | tokens a question | with a right file | nothing | right of what is said |"]
    lines.append("|---|--:|--:|--:|--:|")
    own, best = handed[HOOK_BUDGETS], 0.0
    for shares, rows in handed.items():
        said = [row for row in rows if row.tokens]
        right = sum(row.is_right for row in rows)
        if shares is not HOOK_BUDGETS and not shares[0].names and tokens_of(rows) <= tokens_of(own):
            best = max(best, right / len(rows))
        names = f" and {shares[0].names} names" * (shares[0].names > 0)
        name = (
            "the hook"
            if shares is HOOK_BUDGETS
            else f"always {shares[0].files} files, {shares[0].tokens} tokens{names}"
        )
        lines.append(
            f"| {name} | {tokens_of(rows):.0f} | {right / len(rows):.1%} | {1 - len(said) / len(rows):.1%} "
            f"| {right / max(1, len(said)):.1%} |"
        )
    share = sum(row.is_right for row in own) / len(own)
    return [*lines, "", f"{len(own)} questions; the hook {share:.1%}, always at no more tokens at best {best:.1%}"]


def tokens_of(rows: Sequence[Handed]) -> float:
    return sum(row.tokens for row in rows) / len(rows)


def run_topics(arguments: argparse.Namespace) -> int:
    if arguments.write:
        rows = list(topics.judge_half(arguments.topics, 0))
        topics.WEIGHTS.write_text(topics.fit_weights(rows), encoding="utf-8")
        topic_weights.cache_clear()
        sys.stdout.write("\n".join(["fitted to:", "", *topics.report(rows), "", ""]))
    sys.stdout.write("\n".join(topics.report(list(topics.judge_half(arguments.topics, 1)))) + "\n")
    for file in arguments.questions:
        rows = list(topics.read_questions_of_others(file, arguments.topics))
        sys.stdout.write(f"{file.stem}: code {topics.share_of(rows, True)}\n")
    for file in arguments.requests:
        rows = list(topics.read_requests_of_others(file, arguments.topics))
        sys.stdout.write(f"{file.stem}: silent {topics.share_of(rows, False)}\n")
    return 0


def run_random(number: int) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(number):
            done = subprocess.run(
                [sys.executable, "-m", "causalist", "hook", "prompt"],
                input=random_input(seed), capture_output=True, cwd=folder,
            )  # fmt: skip
            if done.returncode or done.stdout:
                failed += 1
                sys.stdout.write(f"seed {seed}: exit code {done.returncode}, {len(done.stdout)} bytes\n")
    sys.stdout.write(f"{number} random inputs, {failed} with an exit code or an output\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
