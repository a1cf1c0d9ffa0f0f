"""Repository history -> quality of the answers to questions that its own commits answered.

Each question is asked of the state before the commit that answered it, with what was known by then. Besides the ranks,
the report holds the number of tokens read until everything that had to be changed has been seen. For the contribution
of each signal, the same readings are scored once more without it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from causalist.errors import GitError, NothingToIndex, UsageError
from causalist.evaluate.fit import MAX_RANKED_FILES, best, read_query_signals
from causalist.evaluate.metrics import MIN_LIST_LENGTH, Interval, Ranks, bootstrap, metric_values
from causalist.evaluate.mining import (
    MAX_DEFINITIONS,
    LabelledQuestion,
    find_changed_definitions,
    mine_questions,
    sort_oldest_first,
)
from causalist.evaluate.results import QuestionResult, Skipped, SnapshotFacts, ask_question, find_ranks
from causalist.evaluate.summary import Summary, summarize_files, summarize_symbols
from causalist.extract import hit_of
from causalist.index.options import Progress
from causalist.index.source_text import SourceText
from causalist.model.answer import AskOptions
from causalist.model.index import Index
from causalist.model.scores import Hit
from causalist.model.symbols import NodeId, split_id
from causalist.pack import count_tokens
from causalist.pipeline.repository import Repository
from causalist.rank import LinearModel, Weights, default_weights
from causalist.rank.scoring.fusion import definition_signals, file_signals, sum_signals
from causalist.rank.scoring.signals import QuerySignals
from causalist.source import find_root
from causalist.source.git import work_tree_top

N_QUESTIONS = 50
METRICS = ("accuracy@1", "accuracy@3", "accuracy@5", "accuracy@10", "any@1", "MRR", "recall@10")
COMPARED = ("accuracy@1", "accuracy@10", "MRR")


@dataclass(frozen=True, slots=True)
class Ablation:
    """Contribution of a signal: the metrics with all signals minus those without it, by metric."""

    signal: str
    differences: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Tokens of the results, in order of rank, up to the one with which each right file has been seen.

    `share` is that of the questions where the results do that at all; the others, and `median`, are of these, None
    without any.
    """

    share: Interval
    mean: Interval | None
    median: float | None


@dataclass(frozen=True, slots=True)
class OwnReport:
    """`results` and `tokens` (None where the results do not cover the answer), by time of commit.

    All but the times in `results` is deterministic.
    """

    root: Path
    n_wanted: int
    top_k: int
    results: tuple[QuestionResult, ...]
    tokens: tuple[int | None, ...]
    skipped: tuple[Skipped, ...]
    left_out: Mapping[str, int]
    files: tuple[Summary, ...]
    symbols: tuple[Summary, ...]
    coverage: Coverage | None
    ablations: tuple[Ablation, ...]
    total_s: float


def evaluate_history(path: Path, n: int = N_QUESTIONS, *, top_k: int = 20, progress: Progress) -> OwnReport:
    """Rank the answers of the newest `n` questions that the history of HEAD contains.

    A report without results says why in `left_out`. Raises GitError where there is no history, and UsageError.
    """
    start = time.perf_counter()
    if n < 1:
        raise UsageError(f"--from-git must be at least 1, not {n}")
    if top_k < MIN_LIST_LENGTH:
        raise UsageError(f"--top-k must be at least {MIN_LIST_LENGTH} for accuracy@{MIN_LIST_LENGTH}, not {top_k}")
    root = history_root(path)
    mined = mine_questions(root, n)
    results: list[QuestionResult] = []
    tokens: list[int | None] = []
    readings: list[Mapping[str, Ranks]] = []
    skipped: list[Skipped] = []
    for question, repository in pair_with_parents(root, mined.questions, progress):
        if not isinstance(repository, Repository):
            skipped.append(Skipped(question, str(repository)))
            continue
        known = with_definitions(root, question, repository)
        results.append(ask_question(repository, known, top_k))
        tokens.append(count_tokens_to_cover(repository, known, top_k))
        readings.append(
            rank_without_each_signal(read_query_signals(repository, known.query, default_weights()), known.gold_files)
        )
    return OwnReport(
        root,
        n,
        top_k,
        tuple(results),
        tuple(tokens),
        tuple(skipped),
        mined.left_out,
        summarize_files(results, METRICS, COMPARED) if results else (),
        summarize_symbols(results) if results else (),
        _coverage(tokens) if results else None,
        _ablations(readings) if results else (),
        time.perf_counter() - start,
    )


def history_root(path: Path) -> Path:
    """Return the top of the work tree that contains `path`, or else the result of `find_root`.

    Raises RepositoryNotFound.
    """
    root = find_root(path)
    return work_tree_top(root) or root


def pair_with_parents(
    root: Path, questions: Sequence[LabelledQuestion], progress: Progress
) -> Iterator[tuple[LabelledQuestion, Repository | GitError | NothingToIndex]]:
    """Yield each question with the state that it is asked of, or the reason why there is none, oldest state first.

    Each is indexed once, and facts are shared.
    """
    by_commit: dict[str, list[LabelledQuestion]] = {}
    for question in questions:
        by_commit.setdefault(question.commit, []).append(question)
    cache = SnapshotFacts()
    known: Index | None = None
    done = 0
    for commit in sort_oldest_first(root, by_commit):
        progress("asking", done, len(questions))
        state: Repository | GitError | NothingToIndex
        try:
            state = Repository.at_commit(root, commit, cache=cache, known=known)
            known = state.index
        except (GitError, NothingToIndex) as error:
            state = error
        for question in by_commit[commit]:
            yield question, state
        done += len(by_commit[commit])
    progress("asking", done, len(questions))


def with_definitions(root: Path, question: LabelledQuestion, repository: Repository) -> LabelledQuestion:
    """Return the question with the definitions that its commit changed, unless they are too many."""
    graph = repository.index.graph
    found = find_changed_definitions(root, question.commit, question.id, graph, question.gold_files)
    return replace(question, gold_symbols=tuple(found) if len(found) <= MAX_DEFINITIONS else ())


def count_tokens_to_cover(repository: Repository, question: LabelledQuestion, top_k: int) -> int | None:
    """Return the tokens of the results up to the one that completes the right files, by the counter of packs.

    A result costs its place, its signature and its text; text that an earlier result has shown is not counted again.
    """
    ids = repository.rank_nodes(question.query, AskOptions(top_k=top_k))
    graph, texts = repository.index.graph, SourceText(repository.index.manifest, repository.read)
    missing = set(question.gold_files)
    shown: list[Hit] = []
    total = 0
    for node in ids:
        hit = hit_of(graph, graph.nodes.ids.position(NodeId(node)), 0.0, 0.0, ())
        total += count_tokens(f"{hit.path}:{hit.start_row + 1}-{hit.end_row + 1} {hit.signature}\n")
        if not any(h.path == hit.path and h.start_byte <= hit.start_byte and hit.end_byte <= h.end_byte for h in shown):
            total += count_tokens(texts.get_text(hit))
            shown.append(hit)
        missing.discard(split_id(node)[0])
        if not missing:
            return total
    return None


def rank_without_each_signal(reading: QuerySignals, gold_files: Sequence[str]) -> dict[str, Ranks]:
    """Return the ranks of the right files with all signals, under "", and without each weighted signal, by its name."""
    weights = default_weights()
    passes = (weights.definition, weights.file)
    names = sorted({name for each in passes for name, weight in each.signals.items() if weight > 0})
    found: dict[str, Ranks] = {"": _ranks(reading, weights, gold_files)}
    for name in names:
        found[name] = _ranks(reading, _without(weights, name), gold_files)
    return found


def _without(weights: Weights, name: str) -> Weights:
    def less(given: LinearModel) -> LinearModel:
        return replace(given, signals={n: 0.0 if n == name else w for n, w in given.signals.items()})

    return replace(weights, definition=less(weights.definition), file=less(weights.file))


def _ranks(reading: QuerySignals, weights: Weights, gold_files: Sequence[str]) -> Ranks:
    definitions = sum_signals(*definition_signals(reading, weights.definition))
    files = np.where(reading.is_file, sum_signals(*file_signals(reading, definitions, weights.file)), 0.0)
    ids = reading.graph.nodes.ids
    return find_ranks(gold_files, [split_id(ids[node])[0] for node in best(files, MAX_RANKED_FILES)])


def _ablations(readings: Sequence[Mapping[str, Ranks]]) -> tuple[Ablation, ...]:
    """Return the effect of each signal on the metrics, largest MRR first, without signals that change no rank."""
    everything = metric_values([ranks[""] for ranks in readings], COMPARED)
    found: list[Ablation] = []
    for name in readings[0]:
        if name and any(ranks[name] != ranks[""] for ranks in readings):
            less = metric_values([ranks[name] for ranks in readings], COMPARED)
            found.append(Ablation(name, dict(zip(COMPARED, bootstrap(everything - less), strict=True))))
    return tuple(sorted(found, key=lambda each: (-round(each.differences["MRR"].value, 12), each.signal)))


def _coverage(tokens: Sequence[int | None]) -> Coverage:
    covered = np.array([n for n in tokens if n is not None], dtype=np.float64)
    share = bootstrap(np.array([[float(n is not None)] for n in tokens]))[0]
    if not len(covered):
        return Coverage(share, None, None)
    return Coverage(share, bootstrap(covered[:, None])[0], float(np.median(covered)))
