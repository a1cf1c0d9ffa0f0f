"""Causalist beside a tool that people use for the same, on the same questions and the same files.

    python -m tests.benchmarks.peers FILE... --clones DIR --semble PYTHON

FILE holds one question a line, as `causalist eval --data` reads it; PYTHON is the interpreter of an environment in
which `pip install semble` was done. Each repository is written to a folder as it was at the commit of its questions,
without its history. Both tools index that folder from nothing, each in a process of its own, and answer. Semble runs
without its model (`semble_peer`). Prints NDCG@10 over files and the share of questions whose first file is right, for
all questions, the hard ones and the others, with 95 % of a bootstrap over questions for the difference; and the
processor time of index and answers together. Causalist's weights are those that it ships.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log2
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.errors import CausalistError
from causalist.evaluate.mining import LabelledQuestion, find_clone, read_questions
from causalist.source import BlobReader, scan_commit

PEER = Path(__file__).with_name("semble_peer.py")
OURS = """
import json, sys
from causalist import AskOptions, Repository
from causalist.model.answer import Level
job = json.load(sys.stdin)
repository = Repository.open(job["folder"])
options = AskOptions(level=Level.FILE, top_k=20)
answers = [[hit.path for hit in repository.ask(each, options).results] for each in job["questions"]]
json.dump(answers, sys.stdout)
"""


class Answered(NamedTuple):
    """One question: NDCG@10 and whether the first file is right, for the peer and for Causalist."""

    is_hard: bool
    ndcg: tuple[float, float]
    first: tuple[bool, bool]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--semble", type=Path, required=True, metavar="PYTHON")
    arguments = parser.parse_args()
    asked: dict[tuple[str, str], list[LabelledQuestion]] = defaultdict(list)
    for path in arguments.data:
        for question in read_questions(path):
            asked[question.repo, question.commit].append(question)
    answered: list[Answered] = []
    seconds = [0.0, 0.0]
    for (repo, commit), questions in sorted(asked.items()):
        git_dir = find_clone(arguments.clones, repo)
        if git_dir is None:
            sys.stderr.write(f"{repo}: no clone; {len(questions)} questions are left out\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            write_tree(git_dir, commit, Path(folder) / "tree")
            job = json.dumps({"folder": f"{folder}/tree", "questions": [question.query for question in questions]})
            commands = ([str(arguments.semble), str(PEER)], [sys.executable, "-c", OURS])
            both = [run(command, job, Path(folder)) for command in commands]
        for number, (_, spent) in enumerate(both):
            seconds[number] += spent
        answered += [judged(q, peer, ours) for q, peer, ours in zip(questions, both[0][0], both[1][0], strict=True)]
        sys.stderr.write(f"{repo}: {len(questions)} questions, {both[0][1]:.1f} s and {both[1][1]:.1f} s\n")
    write(answered, seconds)
    return 0


def write_tree(git_dir: Path, commit: str, folder: Path) -> None:
    """The files of a commit that an index is made of, so that both tools have the same before them; those that are
    missing from a partial clone are missing for both."""
    with BlobReader(git_dir) as reader:
        for entry in scan_commit(git_dir, commit).entries:
            try:
                source = reader.read(entry)
            except CausalistError:
                continue
            if not isinstance(source, str):
                path = folder / entry.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(source.data)


def run(command: Sequence[str], job: str, folder: Path) -> tuple[list[list[str]], float]:
    """The answers of a tool, and the seconds of processor time that it and the processes it waited for took."""
    before = os.times()
    # A home of its own, so that nothing is known of earlier runs.
    done = subprocess.run(
        command, input=job, capture_output=True, text=True, check=False,
        env={**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")},
    )  # fmt: skip
    after = os.times()
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stderr[-2000:]}")
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return json.loads(done.stdout), spent


def judged(question: LabelledQuestion, peer: Sequence[str], ours: Sequence[str]) -> Answered:
    gold = question.gold_files
    return Answered(
        question.hard,
        (ndcg(peer, gold), ndcg(ours, gold)),
        (peer[:1] != [] and peer[0] in gold, ours[:1] != [] and ours[0] in gold),
    )


def ndcg(found: Sequence[str], gold: Sequence[str], k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first k files (Järvelin and Kekäläinen, 2002), binary.

    >>> ndcg(["a", "b"], ["b"]) == 1 / log2(3)
    True
    """
    gain = sum(1 / log2(place + 2) for place, path in enumerate(found[:k]) if path in gold)
    return gain / sum(1 / log2(place + 2) for place in range(min(k, len(gold))))


def write(answered: Sequence[Answered], seconds: Sequence[float]) -> None:
    chance = np.random.default_rng(7)
    groups: Mapping[str, list[Answered]] = {
        "all": list(answered),
        "hard": [each for each in answered if each.is_hard],
        "others": [each for each in answered if not each.is_hard],
    }
    sys.stdout.write("| questions | | semble, no model | causalist | difference, 95 % |\n|---|---|--:|--:|--:|\n")
    for name, group in groups.items():
        if not group:
            continue
        for what, values in (("NDCG@10", [each.ndcg for each in group]), ("first", [each.first for each in group])):
            both = np.array(values, dtype=np.float64)
            difference = both[:, 1] - both[:, 0]
            draws = difference[chance.integers(0, len(group), (2000, len(group)))].mean(axis=1)
            low, high = np.quantile(draws, [0.025, 0.975])
            means = f"{both[:, 0].mean():.3f} | {both[:, 1].mean():.3f}"
            sys.stdout.write(f"| {name}: {len(group)} | {what} | {means} | {low:+.3f} to {high:+.3f} |\n")
    sys.stdout.write(f"\nprocessor time: semble {seconds[0]:.1f} s, causalist {seconds[1]:.1f} s\n")


if __name__ == "__main__":
    sys.exit(main())
