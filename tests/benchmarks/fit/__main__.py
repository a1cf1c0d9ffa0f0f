"""Fits the weights of definitions and files, and says how well weights of other repositories do.

    python -m tests.benchmarks.fit FILE... --clones DIR [--indexes DIR] [--held-out [--folds N]] [--write]

FILE holds labelled questions as `causalist eval --data` reads them, `--clones` holds OWNER+NAME/repo with history. Each
question is read against its own commit. Where it names no definitions, the right ones are those whose rows the commit
that answered it changed: a child of its commit that changed all gold files, and the fewest others. With `--held-out`
each repository is ranked by weights fitted on the others; the rows `weights.json` show what is in use, on questions
that it was fitted on. `--folds` says into how many parts the repositories are divided for that; without it each is a
part. FILE of `tests.benchmarks.mined` holds commits, of which there are many; short questions count three times, so
that they are heard beside them. With `--write`, weights fitted on all questions replace those in weights.json.
`--indexes` keeps the indexes of commits in a folder, so that they need not be built again; 800 of them take 3 GB.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

from causalist.errors import CausalistError
from causalist.evaluate.fit import Example, GoldRanks, build_example, fit_weights, ranks_with, read_query_signals
from causalist.evaluate.mining import (
    LabelledQuestion,
    find_changed_definitions,
    find_clone,
    read_questions,
    sort_oldest_first,
)
from causalist.evaluate.results import (
    Interval,
    Ranks,
    SnapshotFacts,
    bootstrap,
    find_ranks,
    metric_values,
    rank_by_whole_file_bm25,
)
from causalist.rank import LinearModel, Weights, default_weights
from tests.benchmarks.gold import children_of, find_answering_commit
from tests.benchmarks.states import at_commit

WEIGHTS = Path(__file__).parents[3] / "causalist" / "rank" / "scoring" / "weights.json"
FILE_METRICS = ("accuracy@1", "accuracy@3", "accuracy@5", "accuracy@10", "any@1", "MRR", "recall@10", "NDCG@10")
DEFINITION_METRICS = ("recall@10", "MRR")
QUESTIONS = Path(__file__).parents[1] / "questions"  # short ones, which stand in the tree
SHORT = frozenset(question.id for path in sorted(QUESTIONS.glob("*.jsonl")) for question in read_questions(path))
SHORT_COUNTS = 3  # times that a short question counts in a fit
HELD_OUT, IN_USE, WHOLE_FILE = "fitted on others", "weights.json", "whole-file BM25"


@dataclass(frozen=True, slots=True)
class Row:
    """A question of the data file `data`, read, and where the right files stand by BM25 of whole files."""

    data: str
    question: LabelledQuestion
    example: Example
    whole_file: Ranks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--indexes", type=Path)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--folds", type=int, help="parts into which the repositories are divided for --held-out")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    try:
        rows = list(rows_of(arguments.data, arguments.clones, arguments.indexes))
    except CausalistError as error:
        sys.stderr.write(f"{error.slug}: {error}\n")
        return 2
    fitted = fit_weights(counted(rows), default_weights())
    document = document_of(fitted, provenance(rows))
    if arguments.write:
        WEIGHTS.write_text(document, encoding="utf-8")
    if arguments.held_out:
        report(rows, held_out(rows, arguments.folds))
    else:
        sys.stdout.write(document)
    return 0


def rows_of(data: Sequence[Path], clones: Path, indexes: Path | None, only: str | None = None) -> Iterator[Row]:
    """The questions of all files, repository by repository, each commit indexed once; `only`: of that repository."""
    by_repository: dict[str, list[tuple[str, LabelledQuestion]]] = defaultdict(list)
    for path in data:
        for question in read_questions(path):
            if only in (None, question.repo):
                by_repository[question.repo].append((path.stem, question))
    for n, (repo, asked) in enumerate(sorted(by_repository.items()), 1):
        git_dir = find_clone(clones, repo)
        if git_dir is None:
            sys.stderr.write(f"{repo}: no clone; {len(asked)} questions are left out\n")
            continue
        sys.stderr.write(f"{n}/{len(by_repository)} {repo}: {len(asked)} questions\n")
        yield from _rows_of_repository(git_dir, repo, asked, indexes)


def _rows_of_repository(
    git_dir: Path, repo: str, asked: Sequence[tuple[str, LabelledQuestion]], indexes: Path | None
) -> Iterator[Row]:
    by_commit: dict[str, list[tuple[str, LabelledQuestion]]] = defaultdict(list)
    for data, question in asked:
        by_commit[question.commit].append((data, question))
    children = children_of(git_dir)
    weights, cache, known = default_weights(), SnapshotFacts(), None
    for commit in sort_oldest_first(git_dir, by_commit):
        repository = at_commit(git_dir, repo, commit, cache, known, indexes)
        known = repository.index
        for data, question in by_commit[commit]:
            gold: Sequence[str] = question.gold_symbols
            if not gold:
                answer = find_answering_commit(git_dir, commit, children.get(commit, ()), question.gold_files)
                if answer is not None:
                    gold = find_changed_definitions(git_dir, commit, answer, known.graph, question.gold_files)
            example = build_example(
                read_query_signals(repository, question.query, weights), weights, question.gold_files, gold
            )
            plain = rank_by_whole_file_bm25(repository, question.query, 100)
            yield Row(data, question, example, find_ranks(question.gold_files, plain))


def counted(rows: Iterable[Row]) -> list[Example]:
    """The examples of rows, those of short questions SHORT_COUNTS times."""
    return [row.example for row in rows for _ in range(SHORT_COUNTS if row.question.id in SHORT else 1)]


def held_out(rows: Sequence[Row], n_folds: int | None) -> list[GoldRanks]:
    """Each question ranked by weights that are fitted on the other repositories, or on those of the other folds."""
    start = default_weights()
    found: dict[int, GoldRanks] = {}
    repositories = sorted({row.question.repo for row in rows}, key=lambda repo: sha1(repo.encode()).digest())
    n_folds = min(n_folds or len(repositories), len(repositories))
    for fold in (set(repositories[first::n_folds]) for first in range(n_folds)):
        weights = fit_weights(counted(row for row in rows if row.question.repo not in fold), start)
        found.update({i: ranks_with(r.example, weights) for i, r in enumerate(rows) if r.question.repo in fold})
    return [found[i] for i in range(len(rows))]


def report(rows: Sequence[Row], fitted: Sequence[GoldRanks]) -> None:
    """A block for each data file, then for all; in each, all questions and hard ones."""
    start = default_weights()
    systems: dict[str, Sequence[GoldRanks]] = {
        HELD_OUT: fitted,
        IN_USE: [ranks_with(row.example, start) for row in rows],
        WHOLE_FILE: [GoldRanks(row.whole_file, ()) for row in rows],
    }
    for data in [*dict.fromkeys(row.data for row in rows), "all"]:
        for hard in (False, True):
            chosen = [i for i, r in enumerate(rows) if data in (r.data, "all") and (r.question.hard or not hard)]
            if chosen:
                _block(f"{data}, hard" if hard else data, chosen, systems)


def _block(name: str, chosen: Sequence[int], systems: Mapping[str, Sequence[GoldRanks]]) -> None:
    named = [i for i in chosen if systems[HELD_OUT][i].definitions]
    heads = [*FILE_METRICS, *(f"definitions {metric}" for metric in DEFINITION_METRICS)]
    lines = [f"## {name}: {len(chosen)} questions, {len(named)} with definitions", ""]
    lines += [f"| | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for system, found in systems.items():
        cells = _cells([found[i].files for i in chosen], FILE_METRICS)
        if found[chosen[0]].definitions or (named and found[named[0]].definitions):
            cells += _cells([found[i].definitions for i in named], DEFINITION_METRICS)
        else:
            cells += [""] * len(DEFINITION_METRICS)
        lines.append(f"| {system} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n\n")


def _cells(ranks: Sequence[GoldRanks], metrics: Sequence[str]) -> list[str]:
    return [_cell(interval) for interval in bootstrap(metric_values(ranks, metrics))]


def _cell(interval: Interval) -> str:
    value, low, high = (100 * part for part in interval)
    return f"{value:.1f} [{low:.0f}–{high:.0f}]"


def provenance(rows: Sequence[Row]) -> str:
    """What the weights were fitted on, without anything that another run on the same data would say otherwise."""
    files = ", ".join(sorted({row.data for row in rows}))
    n_repositories = len({row.question.repo for row in rows})
    return (
        f"definition and file: fitted on {len(rows)} questions of {n_repositories} repositories ({files}), short ones "
        f"counting {SHORT_COUNTS} times, by python -m tests.benchmarks.fit; "
        "factors, literal, frame, looked up and dense: chosen by hand; graph: chosen on half of the repositories, "
        "docs/decisions/0004; docs/benchmarks.md has the held-out figures"
    )


def document_of(weights: Weights, said: str) -> str:
    """`weights.json` with these weights of definitions and files, a line for each group; the rest as it is."""
    data = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    data["provenance"] = said
    data["definition"] = _part(weights.definition) | {"kind": _rounded(weights.definition.kind)}
    data["file"] = _part(weights.file)
    blocks = [f'  "provenance": {json.dumps(data.pop("provenance"))}']
    for name, groups in data.items():
        lines = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in groups.items())
        blocks.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _part(given: LinearModel) -> dict[str, Mapping[str, float]]:
    return {"signals": _rounded(given.signals), "role": _rounded(given.role)}


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in values.items()}


if __name__ == "__main__":
    sys.exit(main())
