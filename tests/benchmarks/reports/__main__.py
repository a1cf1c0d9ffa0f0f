"""How well packs of pasted reports show what was changed to mend them, with and without the rule for reports.

    python -m tests.benchmarks.reports REPORTS.jsonl... --clones MIRROR --trees DIR

A row of REPORTS is a labeled question: the text of a report, the commit before it was mended, and the files that were
changed. MIRROR holds OWNER+NAME/repo with history. Each base commit is checked out once, into DIR/OWNER+NAME+COMMIT; a
tree that is there is used again. Rows without a clone or an answer are named and left out.

The answer is the newest child of the base that changed all gold files. In these files, gold is each function of the
base that is innermost around a changed row; of a hunk outside of functions, its lines and 3 before and after. Rows
added after the last row of a function do not belong to it. "With callees" adds what gold functions call for sure within
3 lines of a change: functions of code below 60 lines. A pack is sufficient if it shows every line of the gold.

Each report is asked twice with the default budget: as shipped, and as if it were as long as a usual question.
"""

import argparse
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from causalist._internal.text_formatting import count_noun
from causalist.errors import EvaluationError
from causalist.evaluate.context import ContextQuestion, ContextScore, GoldBlock, ShownParts, product_arm, score_showing
from causalist.evaluate.mining import Hunk, LabelledQuestion, find_clone, read_hunks, read_patch, read_questions
from causalist.evaluate.results import Interval, bootstrap
from causalist.model.answer import AskOptions
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, Role, file_id, split_id, unescape_path
from causalist.pipeline import pack_items
from causalist.pipeline.repository import Repository
from causalist.source.git import RunningGit, git_arguments, head_commit

AROUND = 3  # lines before and after a change
SURE = 0.9
MAX_CALLEE_LINES = 60
ARMS = ("as shipped", "as a question of usual length")
GOLDS = ("changed", "with callees")
MEASURES = ("sufficient", "tokens", "file F1", "block F1", "line F1")


def children_of(git_dir: Path) -> dict[str, list[str]]:
    """Return the commits after each commit, on any branch, the newest first."""
    listed = RunningGit(git_arguments(git_dir), "rev-list", "--all", "--parents").finish().check().output
    children: dict[str, list[str]] = defaultdict(list)
    for line in listed.decode("ascii").splitlines():
        commit, *parents = line.split()
        for parent in parents:
            children[parent].append(commit)
    return children


def find_answer(git_dir: Path, report: LabelledQuestion, children: Sequence[str]) -> str | None:
    """Return the first of the commits that changed all gold files; None if none did."""
    for commit in children:
        command = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", report.commit, commit)
        changed = RunningGit(git_arguments(git_dir), *command).finish().check().output
        if set(report.gold_files) <= set(changed.decode("utf-8", "surrogateescape").split("\0")):
            return commit
    return None


def check_out(git_dir: Path, report: LabelledQuestion, trees: Path) -> Path:
    """Return the work tree of a base commit, made if it is not there. Raises EvaluationError if it is at another."""
    tree = (trees / f"{report.repo.replace('/', '+')}+{report.commit}").resolve()
    if not tree.exists():
        trees.mkdir(parents=True, exist_ok=True)
        # Under another name until it is whole.
        with tempfile.TemporaryDirectory(dir=trees) as folder:
            new = Path(folder, "tree")
            for command in (
                ["git", "clone", "-q", "--shared", "--no-checkout", str(git_dir.resolve()), str(new)],
                ["git", "-C", str(new), "checkout", "-q", "--detach", report.commit],
            ):
                subprocess.run(command, check=True)
            new.rename(tree)
    if head_commit(tree) != report.commit:
        raise EvaluationError(f"{tree} is at {head_commit(tree)}, not at {report.commit}; delete it")
    return tree


def read_lines(root: Path, path: str) -> list[str]:
    try:
        return (root / path).read_text("utf-8-sig", "replace").split("\n")
    except OSError:
        return []


class Gold(NamedTuple):
    """What was changed, and the other definitions that the changed lines call."""

    changed: tuple[GoldBlock, ...]
    callees: tuple[GoldBlock, ...]


def find_gold(git_dir: Path, report: LabelledQuestion, answer: str, repository: Repository) -> Gold:
    """Return the gold of a report; nothing of files that are new."""
    graph = repository.index.graph
    changed: dict[GoldBlock, None] = {}
    callees: dict[GoldBlock, None] = {}
    for path in report.gold_files:
        lines = read_lines(repository.root, path)
        if not lines:
            continue
        for hunk in read_hunks(read_patch(git_dir, report.commit, answer, path)):
            functions = functions_around(graph, path, hunk)
            if not functions:
                changed[_block(path, f"row {hunk[0] + 1}", *_lines_around(hunk, len(lines)))] = None
            for function in functions:
                changed[block_of(graph, function)] = None
                for callee in sure_callees(graph, function, _lines_around(hunk, len(lines))):
                    callees[block_of(graph, callee)] = None
    return Gold(tuple(changed), tuple(each for each in callees if each not in changed))


def _lines_around(hunk: Hunk, n_lines: int) -> tuple[int, int]:
    """Return the first and last line of a hunk with some around, 1-based."""
    first, n_rows = hunk
    start = first + 1 if n_rows else first + 2  # what is added stands behind the row
    return max(1, start - AROUND), min(n_lines, start + n_rows - 1 + AROUND)


def functions_around(graph: CodeGraph, path: str, hunk: Hunk) -> list[int]:
    """Return the functions that are innermost around the rows of a hunk."""
    nodes = graph.nodes
    file = nodes.ids.position(file_id(path))
    inside = np.flatnonzero((nodes.files == file) & np.isin(nodes.kinds, sorted(CALLABLE_KINDS)))
    starts, ends = nodes.start_rows[inside], nodes.end_rows[inside]
    first, n_rows = hunk
    found: dict[int, None] = {}
    for row in range(first, first + max(n_rows, 1)):
        around = np.flatnonzero((starts <= row) & ((ends >= row) if n_rows else (ends > row)))
        if file >= 0 and len(around):
            found[int(inside[around[np.argmin((ends - starts)[around])]])] = None
    return list(found)


def sure_callees(graph: CodeGraph, function: int, lines: tuple[int, int]) -> Iterator[int]:
    """Yield the functions of code that some lines of a function call for sure, if they are not long."""
    nodes, edges = graph.nodes, graph.edges
    numbers = np.array(graph.outgoing(function), dtype=np.int64)
    for number, certainty in zip(numbers.tolist(), graph.certainties(numbers).tolist(), strict=True):
        target = int(edges.targets[number])
        is_call = edges.kinds[number] == EdgeKind.CALLS and lines[0] <= edges.rows[number] + 1 <= lines[1]
        is_code = nodes.kinds[target] in CALLABLE_KINDS and nodes.roles[target] == Role.CODE
        n_lines = int(nodes.end_rows[target] - nodes.start_rows[target]) + 1
        if is_call and is_code and certainty >= SURE and n_lines < MAX_CALLEE_LINES:
            yield target


def block_of(graph: CodeGraph, node: int) -> GoldBlock:
    path, name = split_id(graph.nodes.ids[node])
    first, last = int(graph.nodes.start_rows[node]) + 1, int(graph.nodes.end_rows[node]) + 1
    return _block(unescape_path(path), name or "", first, last)


def _block(path: str, name: str, start: int, end: int) -> GoldBlock:
    return GoldBlock(path, name, start, end, ((start, end),))


def ask(repository: Repository, question: ContextQuestion, arm: str) -> ShownParts:
    options = AskOptions()
    if arm == ARMS[0]:
        return product_arm(options)(repository, question, options.max_tokens)
    with patch.object(pack_items, "report_share", lambda question: 0.0):
        return product_arm(options)(repository, question, options.max_tokens)


def score(repository: Repository, report: LabelledQuestion, gold: Gold) -> NDArray[np.float64]:
    """Return the measures of a report; shape (arms, golds, measures)."""
    question = ContextQuestion(
        report.id, report.repo, report.commit, "report", report.query, "", gold.changed, gold.callees
    )
    wider = question._replace(core=gold.changed + gold.callees, support=())
    rows = []
    for arm in ARMS:
        shown = ask(repository, question, arm)
        rows.append([_values(score_showing(each, shown, lambda path: read_lines(repository.root, path)))
                     for each in (question, wider)])  # fmt: skip
    return np.array(rows)


def _values(scored: ContextScore) -> list[float]:
    return [float(scored.sufficient), scored.tokens, scored.file_f1, scored.block_f1, scored.line_f1]


def score_reports(reports: Sequence[LabelledQuestion], clones: Path, trees: Path) -> list[NDArray[np.float64]]:
    """Return the measures of each report that has a clone and an answer; print which have none."""
    by_repository: dict[str, list[LabelledQuestion]] = defaultdict(list)
    for report in reports:
        by_repository[report.repo].append(report)
    scores = []
    for repo, group in by_repository.items():
        git_dir = find_clone(clones, repo)
        if git_dir is None:
            print(f"{repo}: no clone, {count_noun(len(group), 'report')} left out", flush=True)
            continue
        children = children_of(git_dir)
        for report in group:
            answer = find_answer(git_dir, report, children.get(report.commit, ()))
            if answer is None:
                print(f"{report.id}: no commit after its base changed all gold files", flush=True)
                continue
            repository = Repository.open(check_out(git_dir, report, trees), exact_root=True)
            gold = find_gold(git_dir, report, answer, repository)
            if gold.changed:
                scores.append(score(repository, report, gold))
            else:
                print(f"{report.id}: the gold files are new", flush=True)
    return scores


def table_rows(name: str, scores: Sequence[NDArray[np.float64]]) -> Iterator[str]:
    """Yield the rows of a table: for both golds each arm, and the paired difference of the arms."""
    values = np.array(scores)
    for place, gold in enumerate(GOLDS):
        of_arms = [values[:, arm, place] for arm in range(len(ARMS))]
        for arm, measures in zip((*ARMS, "difference"), (*of_arms, of_arms[0] - of_arms[1]), strict=True):
            sign = "+" if arm == "difference" else ""
            cells = [_cell(measure, found, sign) for measure, found in zip(MEASURES, bootstrap(measures), strict=True)]
            yield "| " + " | ".join([name, gold, arm, str(len(values)), *cells]) + " |"


def _cell(measure: str, found: Interval, sign: str) -> str:
    to = " … " if sign else "–"
    if measure == "tokens":
        return f"{found.value:{sign},.0f} [{found.low:{sign},.0f}{to}{found.high:{sign},.0f}]"
    return f"{found.value:{sign}.3f} [{found.low:{sign}.2f}{to}{found.high:{sign}.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    arguments = parser.parse_args()
    rows = ["| " + " | ".join(["reports", "gold", "arm", "n", *MEASURES]) + " |", "|---|---|---|--:|" + "--:|" * 5]
    for path in arguments.reports:
        scores = score_reports(read_questions(path), arguments.clones, arguments.trees)
        rows += table_rows(path.stem, scores) if scores else [f"| {path.stem} | no report has an answer |"]
    print("\n".join(rows))


if __name__ == "__main__":
    main()
