"""Says what each signal of the ranking brings: left out, alone, and left out together with its kin.

    python -m tests.benchmarks.signals FILE... --clones DIR [--indexes DIR] [--readings DIR] [--folds 3]

FILE, `--clones` and `--indexes` are those of `tests.benchmarks.fit`. For every signal all weights are fitted again
without it, on the repositories of the other folds. The figures are NDCG@10 on questions that had no part in the fit, in
points with 95 % intervals over questions. Alone is a signal beside the text and exact evidence. FILEs of
tests/benchmarks/questions are the set `short`, a FILE named `mined` is `mined`, all others are `written`.

A signal stays if leaving it out loses on all questions, or on those where it fires (at least 30). The others are taken
away one after the other, the least useful first. One of them stays if its loss shows beside what is left by then, if
what has gone of its kin would lose on two sets with it, or if more than half a point would be gone in all. The graph,
exact evidence and embedders are not judged. `--readings` keeps what was read of each repository as arrays, and reads
again only what is not there; the files in that folder are trusted (pickle).
"""

import argparse
import pickle
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from causalist.errors import CausalistError
from causalist.evaluate.mining import read_questions
from causalist.rank import default_weights
from tests.benchmarks.fit.__main__ import QUESTIONS, SHORT_COUNTS, rows_of
from tests.benchmarks.signals.ablation import kin_table, scoreboard, table_of
from tests.benchmarks.signals.arrays import Asked, asked_of
from tests.benchmarks.signals.refit import Questions

SHORT_FILES = frozenset(path.stem for path in QUESTIONS.glob("*.jsonl"))
MINED = "mined"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--indexes", type=Path)
    parser.add_argument("--readings", type=Path)
    parser.add_argument("--folds", type=int, default=3)
    arguments = parser.parse_args()
    try:
        asked = read(arguments.data, arguments.clones, arguments.indexes, arguments.readings)
    except CausalistError as error:
        sys.stderr.write(f"{error.slug}: {error}\n")
        return 2
    if not asked:
        sys.stderr.write("no question has a clone; see --clones\n")
        return 2
    report(asked, arguments.folds)
    return 0


def read(data: Sequence[Path], clones: Path, indexes: Path | None, readings: Path | None) -> list[Asked]:
    """Return the arrays of all questions, those of a repository from its file in `readings` where it is there."""
    kept: list[Asked] = []
    for repo in sorted({question.repo for path in data for question in read_questions(path)}):
        stored = None if readings is None else readings / f"{repo.replace('/', '+')}.pickle"
        if stored is not None and stored.exists():
            kept += pickle.loads(stored.read_bytes())
            continue
        rows = rows_of(data, clones, indexes, repo)
        found = [asked_of(row.data, repo, row.question.id, row.example) for row in rows]
        if stored is not None and found:
            stored.parent.mkdir(parents=True, exist_ok=True)
            stored.write_bytes(pickle.dumps(found, protocol=5))
        kept += found
    return kept


def report(asked: Sequence[Asked], n_folds: int) -> None:
    sets: dict[str, list[int]] = defaultdict(list)
    for i, each in enumerate(asked):
        sets["short" if each.data in SHORT_FILES else MINED if each.data == MINED else "written"].append(i)
    counts = [SHORT_COUNTS if each.data in SHORT_FILES else 1 for each in asked]
    questions = Questions(asked, counts, n_folds, default_weights())
    board = scoreboard(questions, sets, lambda text: print(text, file=sys.stderr, flush=True))
    n_repositories = len({each.repo for each in asked})
    said = ", ".join(f"{len(some)} {name}" for name, some in sets.items())
    print(f"{len(asked)} questions of {n_repositories} repositories ({said}), {n_folds} folds\n")
    print(table_of(board))
    print(kin_table(board))


if __name__ == "__main__":
    sys.exit(main())
