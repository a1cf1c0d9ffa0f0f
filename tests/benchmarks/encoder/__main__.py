"""Share of questions with a right definition among the first 10 and 50 results, with and without the encoder.

    python -m tests.benchmarks.encoder QUESTIONS... --clones DIR [--every N]

QUESTIONS are those of `causalist eval context`. A result is right if it overlaps decisive lines and is not much longer
than the block that holds them. `tuning.jsonl` is for choosing; `sealed.jsonl` is asked when all else is chosen.
`held_out.jsonl` has the form of `asked.jsonl`: a language model wrote questions about definitions of twelve more
applications, of which no encoder has learned. `--every N` asks each Nth question.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.evaluate.context import ContextQuestion, find_work_tree, read_context_questions
from causalist.evaluate.results import bootstrap
from causalist.model.answer import AskOptions
from causalist.model.graph import CodeGraph
from causalist.model.node_ids import NodeKind, split_id, unescape_path
from causalist.pipeline.repository import Repository

TOP_K, DEPTHS = 60, (10, 50)
NOT_FOUND = 10**6
_LENGTH_FACTOR, _MORE_LINES = 1.5, 3


def right_definitions(question: ContextQuestion, graph: CodeGraph, files: dict[str, int]) -> set[str]:
    """Return the ids of the definitions that hold decisive lines."""
    nodes, right = graph.nodes, set()
    for block in question.core:
        longest = _LENGTH_FACTOR * (block.end - block.start + 1) + _MORE_LINES
        for node in np.flatnonzero(nodes.files == files.get(block.path, -2)).tolist():
            first, last = int(nodes.start_rows[node]) + 1, int(nodes.end_rows[node]) + 1
            is_definition = nodes.kinds[node] not in (NodeKind.FILE, NodeKind.FIELD)
            if is_definition and last - first <= longest and any(first <= line <= last for line in block.lines):
                right.add(nodes.ids[node])
    return right


class AskedQuestion(NamedTuple):
    """A question about one definition of a repository, `owner/name`."""

    repo: str
    question: str
    definition: str


def read_questions(path: Path) -> Sequence[ContextQuestion | AskedQuestion]:
    """Return the questions of a file of either form."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or "asked" not in json.loads(lines[0]):
        return read_context_questions(path)
    entries = [(entry["repository"].partition("@")[0], entry["asked"]) for entry in map(json.loads, lines)]
    return [
        AskedQuestion(repo, question, definition)
        for repo, asked in entries
        for definition, questions in asked.items()
        for question in questions
    ]


def find_places(questions: Sequence[ContextQuestion | AskedQuestion], clones: Path) -> dict[bool, list[int]]:
    """Return the place of the first right definition of each question, with (True) and without the encoder."""
    places: dict[bool, list[int]] = {True: [], False: []}
    by_repository: dict[str, list[ContextQuestion | AskedQuestion]] = defaultdict(list)
    for question in questions:
        by_repository[question.repo].append(question)
    for repo, group in by_repository.items():
        repository = Repository.open(find_work_tree(clones, repo), exact_root=True)
        nodes = repository.index.graph.nodes
        files = {
            unescape_path(split_id(nodes.ids[n])[0]): n for n in np.flatnonzero(nodes.kinds == NodeKind.FILE).tolist()
        }
        for question in group:
            if isinstance(question, AskedQuestion):
                right = {question.definition}
            else:
                right = right_definitions(question, repository.index.graph, files)
            if not right:
                print(f"{question.question}: no definition holds its lines")
                continue
            for is_on, found in places.items():
                answer = repository.ask(question.question, AskOptions(top_k=TOP_K, semantic=is_on), remember=False)
                ids = [hit.id for hit in answer.results]
                found.append(next((i for i, each in enumerate(ids, 1) if each in right), NOT_FOUND))
    return places


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="+", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    print("| questions | n | measure | without | with | difference |\n|---|--:|---|--:|--:|---|")
    for path in arguments.questions:
        places = find_places(read_questions(path)[:: arguments.every], arguments.clones)
        measures = {f"among {k}": {on: [float(p <= k) for p in found] for on, found in places.items()} for k in DEPTHS}
        measures["MRR"] = {on: [1 / p for p in found] for on, found in places.items()}
        for name, values in measures.items():
            (change,) = bootstrap(np.subtract(values[True], values[False])[:, None])
            print(
                f"| {path.stem} | {len(values[True])} | {name} | {np.mean(values[False]):.3f} | "
                f"{np.mean(values[True]):.3f} | {change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}] |"
            )


if __name__ == "__main__":
    main()
