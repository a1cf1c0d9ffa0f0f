"""Learns what a word of a question tells, from the histories of public repositories.

    python -m tests.benchmarks.mined.words --clones DIR [--indexes DIR] [--questions 400] [--write]

Of each repository of the list the newest messages are read, and the files that each changed, in one state: that before
the newest ten or so of the questions that `tests.benchmarks.mined` makes. Of a word it is counted how often it stands
in a message, in which share of the changed files it then stands, and in which share of all files. A word that stands in
the changed files no more often than in others tells nothing ("improve"); one that stands in nearly all of them and else
nowhere tells all that it can ("redirect"):

    told = ln((share of changed files + s) / (share of all files + s)) / ln(1 / (share of all files + s)),  s = 0.02

Each repository counts a word at most eight times, a word counts from four repositories on, and few counts are drawn to
the mean. The weight is what a word tells in terms of the mean, from 0.2 to 1.3. `--write` replaces
causalist/rank/query/word_weights.txt, which has weights in percent, of words whose weight is not about 1.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.evaluate.mining import find_clone, mine_questions
from causalist.evaluate.results import SnapshotFacts
from causalist.model.index import Index
from causalist.model.node_ids import NodeKind, file_id
from causalist.rank import parse_query
from tests.benchmarks.mined.__main__ import N_QUESTIONS, N_STATES, blocks_of, repositories
from tests.benchmarks.states import at_commit

WEIGHTS = Path(__file__).parents[3] / "causalist" / "rank" / "query" / "word_weights.txt"
SMOOTHED = 0.02
MOST_EACH = 8  # times that a word counts in one repository
FEWEST_REPOSITORIES = 4
DRAWN = 8.0  # counts at the mean that are added to those of each word
LEAST, MOST = 0.2, 1.3
ABOUT_ONE = 0.1
# Names of programs and libraries, which tell what a repository is made with.
NAMES = frozenset({"apach", "busybox", "checkstyl", "clap", "claud", "clippi", "codespel", "eslint", "fmt", "pytest"})


class Counts(NamedTuple):
    """Of one word: in how many messages, the sums of its shares in the changed files and in all files."""

    n: float
    changed: float
    everywhere: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--indexes", type=Path)
    parser.add_argument("--questions", type=int, default=400, help="messages of each repository, at most")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    counts: dict[str, Mapping[str, Counts]] = {}
    for repo, head in repositories():
        git_dir = find_clone(arguments.clones, repo)
        if git_dir is None:
            sys.stderr.write(f"{repo}: no clone\n")
            return 2
        blocks = blocks_of(git_dir, head, N_QUESTIONS, N_STATES)
        if blocks:
            state = at_commit(git_dir, repo, blocks[0][-1].commit, SnapshotFacts(), None, arguments.indexes)
            counts[repo] = counted(git_dir, head, state.index, arguments.questions)
            sys.stderr.write(f"{repo}: {len(counts[repo])} words\n")
    document = "".join(f"{word} {round(100 * weight)}\n" for word, weight in sorted(weights(counts.values()).items()))
    if arguments.write:
        WEIGHTS.write_text(document, encoding="utf-8")
    else:
        sys.stdout.write(document)
    return 0


def counted(git_dir: Path, head: str, index: Index, n: int) -> dict[str, Counts]:
    """The words of the newest `n` messages that name files of the index."""
    nodes, postings = index.graph.nodes, index.lexical.files
    n_files = int(np.count_nonzero(nodes.kinds == NodeKind.FILE))
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for question in mine_questions(git_dir, n, head).questions:
        changed = [node for path in question.gold_files if (node := nodes.ids.position(file_id(path))) >= 0]
        if not changed:
            continue
        for term in parse_query(question.query).terms:
            number = index.lexical.terms.position(term)
            if number < 0:
                continue
            having = postings.documents[int(postings.indptr[number]) : int(postings.indptr[number + 1])]
            one = (1.0, float(np.isin(changed, having).mean()), len(having) / n_files)
            sums[term] = [before + more for before, more in zip(sums[term], one, strict=True)]
    return {term: Counts(*found) for term, found in sums.items()}


def weights(repositories_counts: Iterable[Mapping[str, Counts]]) -> dict[str, float]:
    """What each word tells in terms of the mean; words of letters alone, no names, whose weight is not about 1."""
    sums: dict[str, list[Counts]] = defaultdict(list)
    for counts in repositories_counts:
        for word, found in counts.items():
            if word.isalpha() and word.isascii() and word not in NAMES:
                part = min(1.0, MOST_EACH / found.n)
                sums[word].append(Counts(*(part * value for value in found)))
    told: dict[str, tuple[float, float]] = {}
    for word, parts in sums.items():
        if len(parts) >= FEWEST_REPOSITORIES:
            n, changed, everywhere = (sum(values) for values in zip(*parts, strict=True))
            told[word] = n, _told(changed / n, everywhere / n)
    mean = sum(n * value for n, value in told.values()) / sum(n for n, _ in told.values())
    drawn = {word: (n * value / mean + DRAWN) / (n + DRAWN) for word, (n, value) in told.items()}
    found_weights = {word: min(max(value, LEAST), MOST) for word, value in drawn.items()}
    return {word: value for word, value in found_weights.items() if abs(value - 1) >= ABOUT_ONE}


def _told(changed: float, everywhere: float) -> float:
    """
    >>> round(_told(0.9, 0.05), 2), _told(0.2, 0.2)
    (0.97, 0.0)
    """
    return log((changed + SMOOTHED) / (everywhere + SMOOTHED)) / log(1 / (min(everywhere, 0.7) + SMOOTHED))


if __name__ == "__main__":
    sys.exit(main())
