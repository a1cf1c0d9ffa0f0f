"""Tokens that scripted agents read until they have seen every line that a change must touch.

    python -m tests.benchmarks.tokens.agents --clones DIR [--repos FILE] [--each 3] [--jsonl FILE]

DIR holds OWNER+NAME/repo with history (bare or not). A task is a commit of tasks.txt, which lists owner/name@commit:
the question is its message without the names that give the answer away, the state is that of its parent. With
`--repos`, tasks are drawn from the history of the repositories in FILE instead, and printed as tasks.txt has them.

What must be read comes from the change alone: each old line that it removes, and for lines that it only adds, the line
before or the line after. Hunks of nothing but imports, and of lines without a letter or digit, are left out. All agents
stop when all of it was read, as an oracle would stop them. They use code files only, those of tests last.

- `grep`: the five rarest words of the question (by files that have them), one search for each; then the files by
  different words and by hits, each with 40 lines before and after every hit; then these files whole; then all others.
- `ask`: one pack of 1,000 tokens; 80 lines before and after what it shows, one file a step; `ask --list` of 500
  definitions, of which it sees each file once with the number of its lines; then these files whole, first those that
  come early and are short: by (place in the list + 3) times (lines + 100)^0.7; then all others.
- `bm25-near`: the same with BM25: functions until 1,000 tokens are full, then around them, then files in that order.
- `ask-files`: one pack of 4,000 tokens; then files whole, one a step, in the order of the ranking of files; then all
  others.
- `bm25`: functions by BM25 over their text until 4,000 tokens are full; then files whole, in the order of their best.
- `ask-definitions`, `bm25-definitions`: after the first step functions, ten a step, in the order of the ranking; then
  files whole.
- `bm25-single`: functions one a step, so that it stops behind the very one.

Tokens count what is returned to the agent: search results (path and number of hits), packs, and lines with the path as
a head. An agent that has not finished after 200,000 tokens is counted with these.
"""

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from causalist.evaluate.mining import clean_message, find_clone, mine_questions
from causalist.evaluate.results import SnapshotFacts
from causalist.model.answer import AskOptions, Level
from causalist.model.node_ids import CALLABLE_KINDS, Role, split_id, unescape_path
from causalist.model.role_by_path import role_of
from causalist.pack import count_tokens
from causalist.parse import dialect_of
from causalist.pipeline.repository import Repository
from causalist.rank import bm25, parse_query

TASKS = Path(__file__).parent / "tasks.txt"
FIRST_TOKENS = 4_000
FEW_TOKENS = 1_000  # of a first step that goes on around its places
NEAR = 80  # lines before and after what a first step showed
N_LISTED = 500  # definitions of a list
MOST_TOKENS = 200_000
AROUND = 40  # lines before and after a hit
N_WORDS = 5
AT_ONCE = 10  # definitions in one step
MOST_GOLD = 60  # lines of one task
NEWEST = 60  # questions of a history from which tasks are drawn
N_SAMPLES = 5_000  # of the bootstrap

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_IMPORT = re.compile(
    r"^\s*(?:import|from|use|using|require|include|#include|package|export \* from|const .*require\()\b"
)
_COMMON = frozenset(  # words of English and of messages, whatever the project
    """the a an and or of to in for on with by is are be as at it this that from when if not no do does has have was
    were will can should use used using make makes add adds added fix fixes fixed remove removes removed update updates
    change changes changed support allow allows new instead so than then also more all which into its""".split()  # noqa: SIM905
)


class Task(NamedTuple):
    """A question about a state, and what must be read: of each of `units`, lines of a path, one is enough."""

    repo: str
    commit: str
    query: str
    base: str
    units: tuple[tuple[str, frozenset[int]], ...]


@dataclass
class Reading:
    """What an agent has read so far, and what it cost."""

    task: Task
    tokens: int = 0
    steps: int = 0
    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    @property
    def is_done(self) -> bool:
        return self.tokens >= MOST_TOKENS or all(self.lines[path] & lines for path, lines in self.task.units)

    def pay(self, text: str) -> None:
        self.tokens = min(MOST_TOKENS, self.tokens + count_tokens(text))

    def read(self, path: str, lines: Sequence[str], wanted: Iterable[int]) -> None:
        """Pay for lines that were not read before, and remember them."""
        new = sorted({n for n in wanted if 1 <= n <= len(lines)} - self.lines[path])
        if new:
            self.pay(f"{path}:{new[0]}\n" + "\n".join(lines[n - 1] for n in new))
            self.lines[path].update(new)


class Outcome(NamedTuple):
    """Tokens and steps of one agent for one task; `is_found` if all lines were read."""

    tokens: int
    steps: int
    is_found: bool


class Source:
    """The code files of a state and their lines."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._lines: dict[str, list[str]] = {}
        paths = [path for path in repository.index.manifest.paths if dialect_of(path) is not None]
        self.paths = sorted(paths, key=lambda path: (role_of(path) is not Role.CODE, path))

    def lines(self, path: str) -> list[str]:
        if path not in self._lines:
            data = self._repository.read_bytes(path) or b""
            self._lines[path] = data.decode("utf-8", "replace").split("\n")
        return self._lines[path]


def read_whole(reading: Reading, source: Source, paths: Iterable[str]) -> None:
    """Read files whole, one a step, until done."""
    for path in paths:
        if reading.is_done:
            return
        reading.steps += 1
        reading.read(path, source.lines(path), range(1, len(source.lines(path)) + 1))


def grep_agent(task: Task, repository: Repository, source: Source) -> Reading:
    reading = Reading(task)
    words = dict.fromkeys(word.lower() for word in re.findall(r"[^\W\d]\w{2,}", task.query))
    hits: dict[str, dict[str, list[int]]] = {}
    for word in words:
        if word not in _COMMON:
            found = {path: [n for n, line in enumerate(source.lines(path), 1) if word in line.lower()]
                     for path in source.paths}  # fmt: skip
            hits[word] = {path: numbers for path, numbers in found.items() if numbers}
    rarest = sorted((word for word in hits if hits[word]), key=lambda word: (len(hits[word]), word))[:N_WORDS]
    by_file: dict[str, set[int]] = defaultdict(set)
    different: dict[str, int] = defaultdict(int)
    for word in rarest:
        reading.steps += 1
        reading.pay("\n".join(f"{path}:{len(numbers)}" for path, numbers in hits[word].items()))
        for path, numbers in hits[word].items():
            by_file[path] |= set(numbers)
            different[path] += 1
    order = sorted(by_file, key=lambda p: (role_of(p) is not Role.CODE, -different[p], -len(by_file[p]), p))
    for path in order:
        if reading.is_done:
            return reading
        reading.steps += 1
        around = {m for n in by_file[path] for m in range(n - AROUND, n + AROUND + 1)}
        reading.read(path, source.lines(path), around)
    read_whole(reading, source, order)
    read_whole(reading, source, source.paths)
    return reading


def read_in_order(
    reading: Reading, repository: Repository, source: Source, order: Sequence[int], at_once: int = AT_ONCE
) -> None:
    """Read functions in an order, some a step; then the files whole, in the order of their best; then all others."""
    nodes = repository.index.graph.nodes
    known = set(source.paths)
    places = [(unescape_path(split_id(nodes.ids[node])[0]), node) for node in order]
    functions = [(path, node) for path, node in places if path in known and nodes.kinds[node] in CALLABLE_KINDS]
    functions = [
        (path, node) for path, node in functions
        if not set(range(int(nodes.start_rows[node]) + 1, int(nodes.end_rows[node]) + 2)) <= reading.lines[path]
    ]  # fmt: skip
    for start in range(0, len(functions), at_once):
        if reading.is_done:
            return
        reading.steps += 1
        for path, node in functions[start : start + at_once]:
            wanted = range(int(nodes.start_rows[node]) + 1, int(nodes.end_rows[node]) + 2)
            reading.read(path, source.lines(path), wanted)
    read_whole(reading, source, dict.fromkeys(path for path, _ in places if path in known))
    read_whole(reading, source, source.paths)


def read_near(reading: Reading, source: Source, order: Iterable[str]) -> None:
    """Read around what was shown, file by file; then the files of a list whole, early and short ones first."""
    known = set(source.paths)
    for path in [path for path in reading.lines if path in known]:
        if reading.is_done:
            return
        reading.steps += 1
        shown = reading.lines[path]
        reading.read(path, source.lines(path), {m for n in shown for m in range(n - NEAR, n + NEAR + 1)})
    if reading.is_done:
        return
    listed = [path for path in dict.fromkeys(order) if path in known]
    reading.steps += 1
    reading.pay("\n".join(f"{path}:{len(source.lines(path))}" for path in listed))
    listed.sort(key=lambda path: role_of(path) is not Role.CODE)
    cost = {path: (place + 3) * (len(source.lines(path)) + 100) ** 0.7 for place, path in enumerate(listed)}
    read_whole(reading, source, sorted(listed, key=lambda path: (role_of(path) is not Role.CODE, cost[path], path)))
    read_whole(reading, source, source.paths)


def first_pack(task: Task, repository: Repository, max_tokens: int = FIRST_TOKENS) -> Reading:
    reading = Reading(task)
    answer = repository.ask(task.query, AskOptions(max_tokens=max_tokens), remember=False)
    reading.steps += 1
    if answer.pack is not None:
        reading.pay(answer.pack.text)
        for item in answer.pack.places:
            path = unescape_path(split_id(item.node)[0])
            reading.lines[path].update(n for first, last in item.shown for n in range(first, last + 1))
    return reading


def ask_agent(task: Task, repository: Repository, source: Source) -> Reading:
    reading = first_pack(task, repository, FEW_TOKENS)
    ranked = repository.rank_nodes(task.query, AskOptions(top_k=N_LISTED))
    read_near(reading, source, (unescape_path(split_id(node)[0]) for node in ranked))
    return reading


def ask_files_agent(task: Task, repository: Repository, source: Source) -> Reading:
    reading = first_pack(task, repository)
    ranked = repository.rank_nodes(task.query, AskOptions(top_k=100, level=Level.FILE))
    known = set(source.paths)
    paths = dict.fromkeys(unescape_path(split_id(node)[0]) for node in ranked)
    read_whole(reading, source, [path for path in paths if path in known])
    read_whole(reading, source, source.paths)
    return reading


def ask_definitions_agent(task: Task, repository: Repository, source: Source) -> Reading:
    reading = first_pack(task, repository)
    ids = repository.index.graph.nodes.ids
    ranked = repository.rank_nodes(task.query, AskOptions(top_k=200))
    read_in_order(reading, repository, source, [ids.position(node) for node in ranked])
    return reading


def first_functions(
    task: Task, repository: Repository, source: Source, order: Sequence[int], most_tokens: int = FIRST_TOKENS
) -> tuple[Reading, int]:
    """Return a reading of the first functions until the tokens of a first step are full, and their number."""
    reading, nodes = Reading(task, steps=1), repository.index.graph.nodes
    for i, node in enumerate(order):
        if reading.tokens >= most_tokens:
            return reading, i
        path = unescape_path(split_id(nodes.ids[node])[0])
        wanted = range(int(nodes.start_rows[node]) + 1, int(nodes.end_rows[node]) + 2)
        reading.read(path, source.lines(path), wanted)
    return reading, len(order)


def bm25_agent(task: Task, repository: Repository, source: Source) -> Reading:
    order, ids = bm25_order(task, repository), repository.index.graph.nodes.ids
    reading, _ = first_functions(task, repository, source, order)
    read_whole(reading, source, dict.fromkeys(unescape_path(split_id(ids[node])[0]) for node in order))
    read_whole(reading, source, source.paths)
    return reading


def bm25_near_agent(task: Task, repository: Repository, source: Source) -> Reading:
    order, ids = bm25_order(task, repository), repository.index.graph.nodes.ids
    reading, _ = first_functions(task, repository, source, order, FEW_TOKENS)
    read_near(reading, source, (unescape_path(split_id(ids[node])[0]) for node in order[:N_LISTED]))
    return reading


def bm25_definitions_agent(task: Task, repository: Repository, source: Source) -> Reading:
    order = bm25_order(task, repository)
    reading, n = first_functions(task, repository, source, order)
    read_in_order(reading, repository, source, order[n:])
    return reading


def bm25_single_agent(task: Task, repository: Repository, source: Source) -> Reading:
    reading = Reading(task)
    read_in_order(reading, repository, source, bm25_order(task, repository), 1)
    return reading


def bm25_order(task: Task, repository: Repository) -> list[int]:
    """Return all functions with a word of the question, best first, those of tests last."""
    lexical, nodes = repository.index.lexical, repository.index.graph.nodes
    terms = {number: 1.0 for term in parse_query(task.query).terms if (number := lexical.terms.position(term)) >= 0}
    scores = bm25(lexical.definitions, terms, len(nodes))
    order = [int(n) for n in (-scores).argsort(kind="stable") if scores[n] > 0 and nodes.kinds[n] in CALLABLE_KINDS]
    return sorted(order, key=lambda n: role_of(unescape_path(split_id(nodes.ids[n])[0])) is not Role.CODE)


AGENTS = {
    "grep": grep_agent,
    "ask": ask_agent,
    "ask-files": ask_files_agent,
    "ask-definitions": ask_definitions_agent,
    "bm25-near": bm25_near_agent,
    "bm25": bm25_agent,
    "bm25-definitions": bm25_definitions_agent,
    "bm25-single": bm25_single_agent,
}


# -- tasks


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def read_task(folder: Path, repo: str, commit: str) -> Task | None:
    """Return the task of a commit; None if nothing of it must be read, or too much."""
    base = git(folder, "rev-parse", f"{commit}^").strip()
    changed = [path for path in git(folder, "diff", "--name-only", "-z", base, commit).split("\0") if path]
    paths = [path for path in changed if dialect_of(path) is not None and role_of(path) is Role.CODE]
    units: list[tuple[str, frozenset[int]]] = []
    for path in paths:
        lines = git(folder, "show", f"{base}:{path}").split("\n")
        for first, n, said in hunks(git(folder, "diff", "-U0", base, commit, "--", path)):
            telling = [line for line in said if any(map(str.isalnum, line))]
            if not telling or all(_IMPORT.match(line) for line in telling):
                continue
            if n:
                gold = [k for k in range(first, first + n) if any(map(str.isalnum, lines[k - 1]))]
                units += [(path, frozenset({k})) for k in gold]
            else:
                units.append((path, frozenset(beside(lines, first))))
    query = clean_message(git(folder, "show", "-s", "--format=%B", commit), paths)
    return Task(repo, commit, query, base, tuple(units)) if 0 < len(units) <= MOST_GOLD else None


def hunks(diff: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield (first old line, number of old lines, removed and added lines) of a diff without context."""
    place: tuple[int, int] | None = None
    said: list[str] = []
    for line in diff.split("\n"):
        match = _HUNK.match(line)
        if match is not None:
            if place is not None:
                yield *place, said
            place, said = (int(match[1]), int(match[2] or 1)), []
        elif place is not None and line[:1] in "+-" and line:
            said.append(line[1:])
    if place is not None:
        yield *place, said


def beside(lines: Sequence[str], after: int) -> Iterator[int]:
    """Yield the line before and the line after a place that says something."""
    for numbers in (range(after, 0, -1), range(after + 1, len(lines) + 1)):
        found = next((n for n in numbers if any(map(str.isalnum, lines[n - 1]))), None)
        if found is not None:
            yield found


def draw_tasks(clones: Path, repos: Sequence[str], each: int) -> list[Task]:
    """Return tasks from the newest usable commits of each repository, in the order of the hashes of their names."""
    drawn = []
    for repo in repos:
        folder = find_clone(clones, repo)
        if folder is None:
            raise SystemExit(f"no clone of {repo} in {clones}")
        commits = [question.id for question in mine_questions(folder, NEWEST).questions]
        commits.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        tasks = (read_task(folder, repo, commit) for commit in commits)
        drawn += [task for task, _ in zip((task for task in tasks if task is not None), range(each), strict=False)]
    return drawn


def listed_tasks(clones: Path) -> list[Task]:
    tasks = []
    for line in TASKS.read_text(encoding="utf-8").split():
        repo, _, commit = line.partition("@")
        folder = find_clone(clones, repo)
        if folder is None:
            raise SystemExit(f"no clone of {repo} in {clones}")
        task = read_task(folder, repo, commit)
        if task is None:
            raise SystemExit(f"{line} is no task")
        tasks.append(task)
    return tasks


# -- measuring


def measure(tasks: Sequence[Task], clones: Path) -> list[dict[str, Outcome]]:
    rows = []
    caches: dict[str, SnapshotFacts] = defaultdict(SnapshotFacts)
    for task in tasks:
        folder = find_clone(clones, task.repo)
        assert folder is not None
        repository = Repository.at_commit(folder, task.base, cache=caches[task.repo])
        source = Source(repository)
        row = {}
        for name, agent in AGENTS.items():
            reading = agent(task, repository, source)
            is_found = all(reading.lines[path] & lines for path, lines in task.units)
            row[name] = Outcome(reading.tokens, reading.steps, is_found)
        rows.append(row)
        told = ", ".join(f"{name} {each.tokens:,} in {each.steps}" for name, each in row.items())
        sys.stderr.write(f"{task.repo}@{task.commit[:10]} {len(task.units)} lines: {told}\n")
    return rows


def ratio(rows: Sequence[dict[str, Outcome]], name: str, other: str) -> tuple[float, float, float]:
    """Return the ratio of the tokens of all tasks, and its interval of 95 % (bootstrap over tasks, fixed seed)."""

    def of(chosen: Sequence[dict[str, Outcome]]) -> float:
        return sum(row[name].tokens for row in chosen) / sum(row[other].tokens for row in chosen)

    chance = random.Random(0)
    samples = sorted(of(chance.choices(rows, k=len(rows))) for _ in range(N_SAMPLES))
    return of(rows), samples[int(0.025 * N_SAMPLES)], samples[int(0.975 * N_SAMPLES)]


def table(rows: Sequence[dict[str, Outcome]]) -> Iterator[str]:
    yield "| agent | tokens, mean | median | steps, mean | median | all lines read | fewest tokens |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name in AGENTS:
        own = [row[name] for row in rows]
        best = sum(row[name].tokens == min(each.tokens for each in row.values()) for row in rows)
        yield (
            f"| {name} | {mean(each.tokens for each in own):,.0f} | {median(each.tokens for each in own):,.0f} "
            f"| {mean(each.steps for each in own):.1f} | {median(each.steps for each in own):.0f} "
            f"| {sum(each.is_found for each in own)} of {len(own)} | {best} |"
        )
    for other in ("grep", "ask-files", "bm25-near", "bm25", "bm25-definitions", "bm25-single"):
        share, low, high = ratio(rows, "ask", other)
        yield f"\nask reads {share:.1%} ({low:.1%} to {high:.1%}) of the tokens of {other}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--repos", type=Path)
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--jsonl", type=Path)
    arguments = parser.parse_args()
    if arguments.repos:
        tasks = draw_tasks(arguments.clones, arguments.repos.read_text(encoding="utf-8").split(), arguments.each)
        sys.stdout.write("".join(f"{task.repo}@{task.commit}\n" for task in tasks))
    else:
        tasks = listed_tasks(arguments.clones)
    rows = measure(tasks, arguments.clones)
    if arguments.jsonl:
        lines = (
            json.dumps({"task": f"{task.repo}@{task.commit}", **{name: each._asdict() for name, each in row.items()}})
            for task, row in zip(tasks, rows, strict=True)
        )
        arguments.jsonl.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sys.stdout.write("\n".join(table(rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
