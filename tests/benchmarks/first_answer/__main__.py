"""The first answer without an index: its cost, and how far it agrees with that of the whole index.

    python -m tests.benchmarks.first_answer REPOSITORY... [--questions FILE] [--n 12] [--runs 3] [--part]
    python -m tests.benchmarks.first_answer --gold FILE --clones DIR

REPOSITORY is a work tree, FILE holds one question a line (or JSON lines with `query` or `question`). Costs are of
processes of their own, by their processor time with that of their children, interleaved: bare start-up (`import click,
numpy`), the first answer (`ask --no-background`, with an empty cache), and, without `--part`, the whole index. The raw
parse is that of tree-sitter over all files with a grammar, in this process. Agreement is the share of the first ten
results of the whole index that are among the first ten of the part. `estimated`: the mean of what both estimate of
their packs.
With `--gold`, packs of 4,000 tokens of the whole index and of the part are held against gold lines, as `causalist eval
context` does.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from causalist.evaluate.context import (
    ContextQuestion,
    ShownParts,
    context_text,
    evaluate_context,
    product_arm,
    read_context_questions,
)
from causalist.index.options import IndexOptions, ignore_progress
from causalist.index.question_index import Need, build_partial_index
from causalist.model.answer import AskOptions, Level
from causalist.model.source import FileEntry, SourceFile
from causalist.parse import dialect_of, load_grammar
from causalist.pipeline.repository import Repository
from causalist.rank import parse_query
from causalist.source import read_file, scan_folder
from causalist.store import FactsCache

K = 10
_ALONE = "CAUSALIST_NO_BACKGROUND"
_COST_QUESTION = "where is the configuration read"


class Cost(NamedTuple):
    """Seconds of processor and wall, and MiB at most in one process."""

    cpu: float
    wall: float
    peak: float


class Agreement(NamedTuple):
    """Shares of the first ten symbols and files, whether the first is the same, estimates of the whole and the part."""

    symbols: float
    files: float
    first: float
    whole: float
    part: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="*", type=Path)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--n", type=int, default=12, help="questions")
    parser.add_argument("--runs", type=int, default=3, help="of each process; 0: no costs")
    parser.add_argument("--part", action="store_true", help="no costs of the whole index")
    wanted = parser.parse_args()
    if wanted.gold:
        print(describe_gold(wanted.gold, wanted.clones))
    for root in wanted.repositories:
        if wanted.runs:
            print(describe_costs(root.resolve(), wanted.runs, with_whole=not wanted.part), flush=True)
        if wanted.questions:
            print(describe_agreement(root.resolve(), read_questions(wanted.questions)[: wanted.n]), flush=True)


def read_questions(path: Path) -> list[str]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not lines[0].startswith("{"):
        return [line.replace("\\n", "\n") for line in lines]
    return [str(row.get("query") or row.get("question")) for row in map(json.loads, lines)]


def describe_costs(root: Path, runs: int, *, with_whole: bool = True) -> str:
    raw, start, first, whole = [], [], [], []
    for _ in range(runs):
        raw.append(raw_parse(root))
        start.append(run(["-c", "import click, numpy"], root))
        command = ["-m", "causalist", "ask", _COST_QUESTION, "--repo", str(root), "--no-background"]
        first.append(run(command, root))
        if with_whole:
            whole.append(run(["-m", "causalist", "index", "--repo", str(root)], root))
    n = len(scan_folder(root).entries)
    parse, bare = statistics.median(raw), statistics.median(each.cpu for each in start)
    cost = [statistics.median(column) for column in zip(*first, strict=True)]
    text = (
        f"{root.name}: {n} files, raw parse {parse:.2f} s, bare start-up {bare:.2f} s; first answer {cost[0]:.2f} s "
        f"CPU ({(cost[0] - bare) / parse:.1f} x raw parse), {cost[1]:.2f} s wall, {cost[2]:.0f} MiB"
    )
    if whole:
        index = [statistics.median(column) for column in zip(*whole, strict=True)]
        text += f"; whole index {index[0]:.2f} s CPU ({(index[0] - bare) / parse:.1f} x), {index[1]:.2f} s wall"
        text += f", {index[2]:.0f} MiB"
    return text


def raw_parse(root: Path) -> float:
    """Seconds of processor that tree-sitter takes for all files with a grammar."""
    sources = []
    for entry in scan_folder(root).entries:
        source = read_file(root, entry) if dialect_of(entry.path) else ""
        if isinstance(source, SourceFile):
            sources.append((load_grammar(dialect_of(entry.path)).parser, source.data))
    began = time.process_time()
    for parser, data in sources:
        parser.parse(data)
    return time.process_time() - began


def run(arguments: Sequence[str], root: Path) -> Cost:
    """The cost of a Python process with an empty cache; an index that it leaves is removed."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"XDG_CACHE_HOME": cache, _ALONE: "1"}
        environment.pop("CI", None)
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=environment)  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{arguments} ended with {os.waitstatus_to_exitcode(status)}")
    for name in ("index.bin", "seen", "background.json"):
        (root / ".causalist" / name).unlink(missing_ok=True)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall, usage.ru_maxrss / 1024)


def describe_agreement(root: Path, questions: Sequence[str]) -> str:
    whole, cache = Repository.open(root, exact_root=True), FactsCache()
    found = [each for question in questions if (each := compare(whole, question, cache)) is not None]
    means = Agreement(*(statistics.fmean(column) for column in zip(*found, strict=True)))
    return (
        f"{root.name}: {len(found)} questions, first ten agree {means.symbols:.0%} of symbols, {means.files:.0%} of "
        f"files, the first of {means.first:.0%}; estimated sufficiency {means.whole:.3f} whole, {means.part:.3f} part"
    )


def compare(whole: Repository, question: str, cache: FactsCache) -> Agreement | None:
    """None for a literal or expression, which the whole index answers."""
    if parse_query(question).is_pattern:
        return None
    opened = open_part_of(whole, question, cache)
    shares, estimates, is_first = [], [0.0, 0.0], 0.0
    for level in (Level.SYMBOL, Level.FILE):
        options = AskOptions(top_k=K, level=level)
        answers = [each.ask(question, options, remember=False) for each in (whole, opened)]
        right, given = ([hit.id for hit in answer.results] for answer in answers)
        shares.append(len(set(right) & set(given)) / max(len(right), 1))
        if level is Level.SYMBOL:
            estimates = [answer.sufficiency or 0.0 for answer in answers]
            is_first = float(right[:1] == given[:1])
    return Agreement(shares[0], shares[1], is_first, *estimates)


def open_part_of(whole: Repository, question: str, cache: FactsCache) -> Repository:
    root, limits = whole.root, whole.settings.limits()

    def read(entry: FileEntry) -> SourceFile | str:
        return read_file(root, entry, limits)

    scan = scan_folder(root, limits)
    commits, options = whole.index.history.commits, IndexOptions(processes=1)
    part = build_partial_index(scan, read, cache, Need(parse_query(question)), 0, options, lambda: commits)
    assert part is not None
    return replace(whole, index=part.index, read=part.masking(read), feedback_store=None, n_parsed=part.n_parsed)


def describe_gold(gold: Path, clones: Path) -> str:
    ask, cache = product_arm(AskOptions()), FactsCache()

    def ask_part(whole: Repository, question: ContextQuestion, max_tokens: int) -> ShownParts:
        return ask(open_part_of(whole, question.question, cache), question, max_tokens)

    arms = {"whole": ask, "part": ask_part}
    scores = evaluate_context(read_context_questions(gold), clones, arms, 4000, ignore_progress)
    return context_text(scores, 4000)


if __name__ == "__main__":
    main()
