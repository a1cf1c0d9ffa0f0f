"""How much of the right answers stands, with source, in a pack as shipped, and in one that is made another way: with
long definitions cut from the top instead of to what tells, and with one-liners for everything before any source.

    python -m tests.benchmarks.packs FILE... --clones DIR [--indexes DIR] [--tokens 4000 ...]

Each question is ranked once, at the level of definitions, and what would be packed is rendered in each way. Columns,
each a mean over the questions with 95 % of a bootstrap over questions for the difference:

- listed: the share of the right files that are named at all;
- files: the share of the right files of which any source is printed;
- definitions: the share of the right definitions of which three lines (or all) are printed;
- rows: of the rows that the answering commit changed (or, where definitions are labelled, of theirs), the share that is
  printed, with a row on either side;
- items: how many items have source.

"long" are the questions for which a definition of more than FOLD_THRESHOLD lines is packed.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from causalist.evaluate.mining import (
    LabelledQuestion,
    find_changed_definitions,
    find_clone,
    read_hunks,
    read_patch,
    read_questions,
    sort_oldest_first,
)
from causalist.evaluate.results import SnapshotFacts
from causalist.model.answer import AskOptions, Pack, PackInput
from causalist.model.graph import CodeGraph
from causalist.model.node_ids import split_id
from causalist.pack import FOLD_THRESHOLD, plan
from causalist.pack.excerpts import numbered_lines
from causalist.pack.plan import Plan
from causalist.pack.render import planned_pack
from causalist.pipeline import answer_notes as answers
from causalist.pipeline.repository import Repository
from tests.benchmarks.gold import children_of, find_answering_commit
from tests.benchmarks.states import at_commit

_MOST_ROWS = 60  # of a hunk or definition that count
_FEWEST_LINES = 3
FROM_TOP, LINES_FIRST, SHIPPED = "long ones from the top", "one-liners first", "as shipped"


class Gold(NamedTuple):
    """Right files, right definitions with their rows (path, first, last), and right rows (path, row); 0-based."""

    files: tuple[str, ...]
    definitions: tuple[tuple[str, int, int], ...]
    rows: frozenset[tuple[str, int]]


class Shares(NamedTuple):
    listed: float
    files: float
    definitions: float
    rows: float
    items: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--indexes", type=Path)
    parser.add_argument("--tokens", type=int, nargs="+", default=[4000])
    parser.add_argument("--most-each", type=int, default=1000, help="questions of a repository")
    arguments = parser.parse_args()
    packed = list(questions(arguments.data, arguments.clones, arguments.indexes, arguments.most_each))
    for tokens in arguments.tokens:
        rows = [compared(each, gold, tokens) for each, gold in packed]
        titles = " | ".join(Shares._fields)
        sys.stdout.write(f"\n{tokens} tokens\n\n| questions | | {titles} |\n|---|---|{'--:|' * len(Shares._fields)}\n")
        for other in (FROM_TOP, LINES_FIRST):
            write(f"all: {len(rows)}", other, [(each[other], each[SHIPPED]) for each in rows])
        long = [each for (what, _), each in zip(packed, rows, strict=True) if has_long(what)]
        write(f"long: {len(long)}", FROM_TOP, [(each[FROM_TOP], each[SHIPPED]) for each in long])
    return 0


def questions(
    data: Sequence[Path], clones: Path, indexes: Path | None, most_each: int
) -> Iterator[tuple[PackInput, Gold]]:
    """What is packed for each question that finds something, and what is right."""
    by_repository: dict[str, list[LabelledQuestion]] = defaultdict(list)
    for path in data:
        for question in read_questions(path):
            by_repository[question.repo].append(question)
    for repo, asked in sorted(by_repository.items()):
        git_dir = find_clone(clones, repo)
        if git_dir is None:
            sys.stderr.write(f"{repo}: no clone; {len(asked)} questions are left out\n")
            continue
        sys.stderr.write(f"{repo}: {len(asked)} questions\n")
        asked = asked[:most_each]
        children, cache, known = children_of(git_dir), SnapshotFacts(), None
        by_commit = {q.commit: [other for other in asked if other.commit == q.commit] for q in asked}
        for commit in sort_oldest_first(git_dir, by_commit):
            repository = at_commit(git_dir, repo, commit, cache, known, indexes)
            known = repository.index
            for question in by_commit[commit]:
                packed = pack_input_of(repository, question.query)
                if packed is not None:
                    yield packed, gold_of(git_dir, commit, children, known.graph, question)


def pack_input_of(repository: Repository, query: str) -> PackInput | None:
    caught: list[PackInput] = []

    def catch(pack_input: PackInput, **_: object) -> Pack:
        caught.append(pack_input)
        return Pack("", 0, 0, "text", ())

    with mock.patch.object(answers, "render_pack", catch):
        repository.ask(query, AskOptions())
    return caught[0] if caught else None


def gold_of(
    git_dir: Path, commit: str, children: Mapping[str, tuple[str, ...]], graph: CodeGraph, question: LabelledQuestion
) -> Gold:
    nodes, symbols = graph.nodes, list(question.gold_symbols)
    rows: set[tuple[str, int]] = set()
    if not symbols:
        answer = find_answering_commit(git_dir, commit, children.get(commit, ()), question.gold_files)
        if answer is not None:
            symbols = find_changed_definitions(git_dir, commit, answer, graph, question.gold_files)
            for path in question.gold_files:
                for first, n_rows in read_hunks(read_patch(git_dir, commit, answer, path)):
                    rows.update((path, row) for row in range(first, first + min(max(n_rows, 1), _MOST_ROWS)))
    found = [(split_id(name)[0], nodes.ids.position(name)) for name in symbols]
    spans = tuple((path, int(nodes.start_rows[n]), int(nodes.end_rows[n])) for path, n in found if n >= 0)
    if question.gold_symbols:
        rows = {(path, row) for path, first, last in spans for row in range(first, min(last + 1, first + _MOST_ROWS))}
    return Gold(question.gold_files, spans, frozenset(rows))


def has_long(packed: PackInput) -> bool:
    return any(item.snippet_lines and item.text.count("\n") >= FOLD_THRESHOLD for item in packed.items)


def compared(packed: PackInput, gold: Gold, tokens: int) -> dict[str, Shares]:
    """The shares of each way of making the pack."""
    from_top = replace(packed, items=tuple(item._replace(snippet_lines=()) for item in packed.items))
    found = {}
    for name, given, listed_share in ((FROM_TOP, from_top, None), (LINES_FIRST, packed, 1.0), (SHIPPED, packed, None)):
        with mock.patch.object(plan, "LISTED_SHARE", listed_share or plan.ONE_LINER_SHARE):
            found[name] = shares(planned_pack(given, max_tokens=tokens, format="text")[1], gold)
    return found


def shares(made: Plan, gold: Gold) -> Shares:
    printed: set[tuple[str, int]] = set()
    for shown in made.items:
        if shown.n_lines:
            path = split_id(shown.entry.node)[0]
            numbers = (number for number, _ in numbered_lines(shown.entry.body, shown.n_lines))
            printed.update((path, number - 1) for number in numbers if number is not None)
    files = {path for path, _ in printed}
    there = [
        sum((path, row) in printed for row in range(first, last + 1)) >= min(_FEWEST_LINES, last - first + 1)
        for path, first, last in gold.definitions
    ]
    near = [any((path, row + d) in printed for d in (-1, 0, 1)) for path, row in sorted(gold.rows)]
    n_items = sum(bool(shown.n_lines) for shown in made.items)
    named = {split_id(shown.entry.node)[0] for shown in made.items}
    listed = _mean([path in named for path in gold.files])
    return Shares(listed, _mean([path in files for path in gold.files]), _mean(there), _mean(near), n_items)


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")


def write(name: str, other: str, both: Sequence[tuple[Shares, Shares]]) -> None:
    if not both:
        return
    values = np.array(both)  # (questions, 2, shares)
    chance = np.random.default_rng(7)
    cells: list[list[str]] = [[], [], []]
    for column in range(len(Shares._fields)):
        part = values[:, :, column]
        part = part[~np.isnan(part).any(axis=1)]
        difference = part[:, 1] - part[:, 0]
        draws = difference[chance.integers(0, len(part), (2000, len(part)))].mean(axis=1)
        low, high = np.quantile(draws, [0.025, 0.975])
        cells[0].append(f"{part[:, 0].mean():.3f}")
        cells[1].append(f"{part[:, 1].mean():.3f}")
        cells[2].append(f"{difference.mean():+.3f} ({low:+.3f} to {high:+.3f})")
    for what, row in zip((other, SHIPPED, "difference"), cells, strict=True):
        sys.stdout.write(f"| {name} | {what} | {' | '.join(row)} |\n")


if __name__ == "__main__":
    sys.exit(main())
