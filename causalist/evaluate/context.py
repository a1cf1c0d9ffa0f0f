"""Sufficiency of packs: whether they show the lines that an answer needs.

In: questions with gold lines, and clones. Out: for each question and arm, what the pack shows of the gold. An arm is
the product with some options, or a plain baseline with the same budget. A line counts as shown if the pack says so
(`pack.items[].shown`); the text of the pack is never parsed.
"""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from causalist.errors import EvaluationError
from causalist.evaluate.mining import clone_places, find_clone
from causalist.index.options import Progress
from causalist.model.answer import AskOptions
from causalist.model.node_ids import CALLABLE_KINDS, split_id, unescape_path
from causalist.pack import count_tokens
from causalist.pipeline.repository import Repository
from causalist.rank import bm25, parse_query

N_RESAMPLES = 2000  # of the bootstrap
BASELINE_SHARE = 0.9  # of the budget that a baseline fills, as packs keep a margin, too


class GoldBlock(NamedTuple):
    """A function or block of the gold; lines are 1-based and inclusive. `decisive` is empty for support."""

    path: str
    name: str
    start: int
    end: int
    decisive: tuple[tuple[int, int], ...]

    @property
    def lines(self) -> set[int]:
        """The decisive lines."""
        return {line for first, last in self.decisive for line in range(first, last + 1)}


class ContextQuestion(NamedTuple):
    """A question with the code that answers it."""

    id: str
    repo: str
    commit: str
    kind: str
    question: str
    names: str
    core: tuple[GoldBlock, ...]
    support: tuple[GoldBlock, ...]


Shown = Mapping[str, set[int]]  # lines by path


class ContextScore(NamedTuple):
    """Share of the gold of one question that a pack shows.

    `sufficient`: all decisive lines are shown. `decisive`: the share of them. `cores_full` and `cores`: cores of which
    all decisive lines are shown, and all cores. `off_file`: share of shown lines in files without gold. `confidence`
    and `sufficiency` are what the answer says of itself.
    """

    id: str
    repo: str
    kind: str
    sufficient: bool
    decisive: float
    cores_full: int
    cores: int
    tokens: int
    items: int
    off_file: float
    file_f1: float
    block_f1: float
    line_f1: float
    confidence: float | None
    sufficiency: float | None


class ShownParts(NamedTuple):
    """Lines and blocks that an arm shows to a reader."""

    lines: Shown
    blocks: tuple[tuple[str, int, int], ...]
    tokens: int
    confidence: float | None = None
    sufficiency: float | None = None


Arm = Callable[[Repository, ContextQuestion, int], ShownParts]


def read_context_questions(path: Path) -> list[ContextQuestion]:
    """Return the questions of a file with one JSON object a line. Raises EvaluationError for other contents."""
    questions = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            questions.append(
                ContextQuestion(
                    row["id"],
                    row["repo"],
                    row["commit"],
                    row["kind"],
                    row["question"],
                    row.get("grep_words", ""),
                    tuple(_block(block) for block in row["core"]),
                    tuple(_block(block) for block in row.get("support", ())),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise EvaluationError(
                f"{path}:{number} is not a question with gold lines: {type(error).__name__} {error}; it needs id, "
                "repo, commit, kind, question and core, a list of path, name, start, end and decisive"
            ) from None
    if not questions:
        raise EvaluationError(f"{path} holds no question; it needs one JSON object a line")
    return questions


def _block(row: Mapping[str, Any]) -> GoldBlock:
    decisive = tuple((int(first), int(last)) for first, last in row.get("decisive", ()))
    return GoldBlock(row["path"], row["name"], int(row["start"]), int(row["end"]), decisive)


def _ask(repository: Repository, question: str, options: AskOptions) -> ShownParts:
    answer = repository.ask(question, options, remember=False)
    shown: dict[str, set[int]] = defaultdict(set)
    blocks = []
    for item in answer.pack.places if answer.pack else ():
        path = unescape_path(split_id(item.node)[0])
        lines = {line for first, last in item.shown for line in range(first, last + 1)}
        if lines:
            shown[path] |= lines
            blocks.append((path, item.start_line, item.end_line))
    tokens = answer.pack.tokens if answer.pack else 0
    return ShownParts(shown, tuple(blocks), tokens, answer.confidence, answer.sufficiency)


def product_arm(options: AskOptions, *, words: bool = False, names: bool = False) -> Arm:
    """Return the arm of `ask` with some options.

    With `words`, the code words of the question are the query; with `names`, they are given as names.
    """

    def arm(repository: Repository, question: ContextQuestion, max_tokens: int) -> ShownParts:
        text = question.names if words else question.question
        expected = (question.names,) if names else ()
        return _ask(repository, text, replace(options, max_tokens=max_tokens, names=expected))

    return arm


def bodies_arm(*, by_bm25: bool, words: bool = False) -> Arm:
    """Return the arm of whole bodies in rank order: of BM25 over functions, or of the product's own ranking."""

    def arm(repository: Repository, question: ContextQuestion, max_tokens: int) -> ShownParts:
        text = question.names if words else question.question
        nodes = repository.index.graph.nodes
        if by_bm25:
            lexical = repository.index.lexical
            terms = {number: 1.0 for term in parse_query(text).terms if (number := lexical.terms.position(term)) >= 0}
            scores = bm25(lexical.definitions, terms, len(nodes))
            order = [
                int(node)
                for node in (-scores).argsort(kind="stable")[:400]
                if scores[node] > 0 and nodes.kinds[node] in CALLABLE_KINDS
            ]
        else:
            order = [chosen.node for chosen in repository.attempt(text, AskOptions(top_k=40)).chosen]
        return _fill_with_bodies(repository, order, int(BASELINE_SHARE * max_tokens))

    return arm


def _fill_with_bodies(repository: Repository, order: Iterable[int], budget: int) -> ShownParts:
    nodes = repository.index.graph.nodes
    shown: dict[str, set[int]] = defaultdict(set)
    blocks: list[tuple[str, int, int]] = []
    tokens_left = budget
    for node in order:
        path = unescape_path(split_id(nodes.ids[node])[0])
        first, last = int(nodes.start_rows[node]) + 1, int(nodes.end_rows[node]) + 1
        if any(path == other and start <= first and last <= end for other, start, end in blocks):
            continue
        lines = _file_lines(repository, path)[first - 1 : last]
        head = f"{path}:{first}-{last}\n\n"
        whole = len(lines)
        while lines and count_tokens(head + "\n".join(lines)) > tokens_left:
            lines = lines[: int(len(lines) * 0.95) if len(lines) > 20 else len(lines) - 1]
        if not lines:
            break
        tokens_left -= count_tokens(head + "\n".join(lines))
        blocks.append((path, first, last))
        shown[path] |= set(range(first, first + len(lines)))
        if len(lines) < whole:
            break
    return ShownParts(shown, tuple(blocks), budget - tokens_left)


def _file_lines(repository: Repository, path: str) -> list[str]:
    try:
        return (repository.root / path).read_text("utf-8-sig", "replace").split("\n")
    except OSError:
        return []


def score_showing(
    question: ContextQuestion, showing: ShownParts, lines_of: Callable[[str], Sequence[str]]
) -> ContextScore:
    """Return what a pack shows of the gold. Lines without a letter or digit are no gold: brackets alone say nothing."""

    def find_informative(path: str, numbers: Iterable[int]) -> set[int]:
        lines = lines_of(path)
        return {n for n in numbers if n <= len(lines) and any(c.isalnum() for c in lines[n - 1])}

    gold: dict[str, set[int]] = defaultdict(set)
    whole: dict[str, set[int]] = defaultdict(set)
    seen = total = n_full = 0
    for block in question.core:
        lines = find_informative(block.path, block.lines)
        there = lines & showing.lines.get(block.path, set())
        seen, total, n_full = seen + len(there), total + len(lines), n_full + (there == lines)
        gold[block.path] |= lines
        whole[block.path] |= find_informative(block.path, range(block.start, block.end + 1))
    n_shown = sum(len(lines) for lines in showing.lines.values())
    accepted = {block.path for block in (*question.core, *question.support)}
    off = sum(len(lines) for path, lines in showing.lines.items() if path not in accepted)
    n_gold_lines = sum(len(lines) for lines in whole.values())
    shown_gold = sum(len(lines & whole[path]) for path, lines in showing.lines.items() if path in whole)
    shown_telling = sum(len(find_informative(path, lines)) for path, lines in showing.lines.items())
    cores = [(b.path, b.start, b.end) for b in question.core]
    hit_cores = sum(any(p == q and a <= d and c <= b for q, c, d in showing.blocks) for p, a, b in cores)
    hit_blocks = sum(any(p == q and a <= d and c <= b for q, c, d in cores) for p, a, b in showing.blocks)
    return ContextScore(
        id=question.id,
        repo=question.repo,
        kind=question.kind,
        sufficient=seen == total,
        decisive=seen / total if total else 1.0,
        cores_full=n_full,
        cores=len(question.core),
        tokens=showing.tokens,
        items=len(showing.blocks),
        off_file=off / n_shown if n_shown else 0.0,
        file_f1=_f1(len(whole.keys() & showing.lines.keys()), len(showing.lines), len(whole)),
        block_f1=_f1_of(hit_blocks, len(showing.blocks), hit_cores, len(cores)),
        line_f1=_f1_of(shown_gold, shown_telling, shown_gold, n_gold_lines),
        confidence=showing.confidence,
        sufficiency=showing.sufficiency,
    )


def _f1(both: int, shown: int, gold: int) -> float:
    return _f1_of(both, shown, both, gold)


def _f1_of(right: int, shown: int, covered: int, gold: int) -> float:
    precision, recall = right / shown if shown else 0.0, covered / gold if gold else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# `names`: the question with the code words of the question beside it; `words`: these words alone.
ARMS: Mapping[str, Arm] = {
    "default": product_arm(AskOptions()),
    "no-graph": product_arm(AskOptions(graph=False)),
    "no-semantic": product_arm(AskOptions(semantic=False)),
    "bm25": bodies_arm(by_bm25=True),
    "bodies": bodies_arm(by_bm25=False),
    "names": product_arm(AskOptions(), names=True),
    "words": product_arm(AskOptions(), words=True),
    "no-graph-words": product_arm(AskOptions(graph=False), words=True),
    "bm25-words": bodies_arm(by_bm25=True, words=True),
    "bodies-words": bodies_arm(by_bm25=False, words=True),
}


def evaluate_context(
    questions: Sequence[ContextQuestion],
    clones: Path,
    arms: Mapping[str, Arm],
    max_tokens: int,
    progress: Progress,
) -> dict[str, list[ContextScore]]:
    """Return the scores of each arm, in the order of the questions.

    `clones` holds work trees at the commits of the questions, as OWNER+NAME or OWNER/NAME. Raises EvaluationError for a
    clone that is missing or at another commit.
    """
    by_repository: dict[str, list[ContextQuestion]] = defaultdict(list)
    for question in questions:
        by_repository[question.repo].append(question)
    scores: dict[tuple[str, str], ContextScore] = {}
    done = 0
    for repo, group in by_repository.items():
        root = find_work_tree(clones, repo)
        repository = Repository.open(root, exact_root=True)
        for question in group:
            if repository.index.commit != question.commit:
                raise EvaluationError(
                    f"{root} is at {repository.index.commit}, the gold of {question.id} is for {question.commit}; "
                    "check out that commit"
                )
            for name, arm in arms.items():
                showing = arm(repository, question, max_tokens)
                scores[name, question.id] = score_showing(
                    question,
                    showing,
                    lambda path, repository=repository: _file_lines(repository, path),  # type: ignore[misc]
                )
            done += 1
            progress("asking", done, len(questions))
    return {name: [scores[name, question.id] for question in questions] for name in arms}


def find_work_tree(clones: Path, repo: str) -> Path:
    """Return the work tree of a repository below `clones`. Raises EvaluationError."""
    for place in (*clone_places(clones, repo), clones / repo.replace("/", "+")):
        if (place / ".git").exists():
            return place
    git_dir = find_clone(clones, repo)
    if git_dir is not None and git_dir.name == ".git":
        return git_dir.parent
    raise EvaluationError(f"no work tree of {repo} at {clones / repo.replace('/', '+')} or {clones / repo}")


MEASURES: Mapping[str, Callable[[Sequence[ContextScore]], float]] = {
    "sufficient": lambda rows: _mean(row.sufficient for row in rows),
    "decisive": lambda rows: _mean(row.decisive for row in rows),
    "cores full": lambda rows: sum(row.cores_full for row in rows) / max(1, sum(row.cores for row in rows)),
    "tokens": lambda rows: _mean(row.tokens for row in rows),
    "off file": lambda rows: _mean(row.off_file for row in rows),
    "file F1": lambda rows: _mean(row.file_f1 for row in rows),
    "block F1": lambda rows: _mean(row.block_f1 for row in rows),
    "line F1": lambda rows: _mean(row.line_f1 for row in rows),
}


def _mean(values: Iterable[float]) -> float:
    everything = list(values)
    return sum(everything) / len(everything) if everything else 0.0


def interval(rows: Sequence[ContextScore], measure: Callable[[Sequence[ContextScore]], float]) -> tuple[float, float]:
    """Return the 95 % interval of a measure by bootstrap over questions, with a fixed seed."""
    source = random.Random(7)
    values = sorted(measure(source.choices(rows, k=len(rows))) for _ in range(N_RESAMPLES))
    return values[int(0.025 * N_RESAMPLES)], values[int(0.975 * N_RESAMPLES)]


def context_text(scores: Mapping[str, Sequence[ContextScore]], max_tokens: int) -> str:
    """Return a table with a row for each arm and kind of question, and paired differences to the first arm."""
    lines = [f"packs of at most {max_tokens} tokens; sufficient with its 95 % interval", ""]
    head = ["arm", "kind", "n", *MEASURES]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for arm, rows in scores.items():
        for kind in ("all", *dict.fromkeys(row.kind for row in rows)):
            some = [row for row in rows if kind in ("all", row.kind)]
            low, high = interval(some, MEASURES["sufficient"])
            cells = [arm, kind, str(len(some))]
            for name, measure in MEASURES.items():
                value = measure(some)
                text = f"{value:.0f}" if name == "tokens" else f"{value:.2f}"
                cells.append(f"{text} [{low:.2f}–{high:.2f}]" if name == "sufficient" else text)
            lines.append("| " + " | ".join(cells) + " |")
    first, *others = scores
    if others:
        lines += ["", "| pair | sufficient, difference | decisive, difference |", "|---|---|---|"]
    for arm in others:
        cells = [f"{first} − {arm}"]
        for name in ("sufficient", "decisive"):
            pairs = list(zip(scores[first], scores[arm], strict=True))
            values = [float(getattr(a, name)) - float(getattr(b, name)) for a, b in pairs]
            low, high = mean_interval(values)
            cells.append(f"{_mean(values):+.2f} [{low:+.2f}–{high:+.2f}]")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of a mean by bootstrap, with a fixed seed."""
    source = random.Random(7)
    means = sorted(_mean(source.choices(values, k=len(values))) for _ in range(N_RESAMPLES))
    return means[int(0.025 * N_RESAMPLES)], means[int(0.975 * N_RESAMPLES)]


def context_data(scores: Mapping[str, Sequence[ContextScore]], max_tokens: int) -> dict[str, object]:
    """Return the scores as plain JSON."""
    return {
        "max_tokens": max_tokens,
        "arms": {
            arm: {
                "measures": {name: measure(rows) for name, measure in MEASURES.items()},
                "questions": [row._asdict() for row in rows],
            }
            for arm, rows in scores.items()
        },
    }
