"""Quality of the answers to questions that a repository's own commits answered, and weights learned from its history.

Each question is asked of the state before the commit that answered it, with what was known by then. Besides the ranks,
the report holds the number of tokens read until everything that had to be changed has been seen. For the contribution
of each signal, the same readings are scored once more without it.

Weights are learned from the history and from feedback, and kept only if they rank unseen questions better. They are
fitted on the older questions, near the shipped ones, and compared with these on the newer ones, which had no part in
them. Most repositories have too few questions to tell a gain from chance; then nothing changes.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from causalist.errors import GitError, NothingToIndex, UsageError
from causalist.evaluate.fit import (
    MAX_RANKED_FILES,
    Example,
    best,
    build_example,
    fit_weights,
    ranks_with,
    read_query_signals,
)
from causalist.evaluate.mining import (
    MAX_DEFINITIONS,
    LabelledQuestion,
    find_changed_definitions,
    mine_questions,
    sort_oldest_first,
)
from causalist.evaluate.results import (
    MIN_LIST_LENGTH,
    Interval,
    QuestionResult,
    Ranks,
    SkippedQuestion,
    SnapshotFacts,
    Summary,
    ask_question,
    bootstrap,
    find_ranks,
    metric_values,
    summarize_files,
    summarize_symbols,
)
from causalist.extract import hit_of
from causalist.index.options import Progress
from causalist.index.source_text import SourceText
from causalist.model.answer import AskOptions
from causalist.model.index import Index
from causalist.model.node_ids import NodeId, split_id
from causalist.model.scores import Hit
from causalist.pack import count_tokens
from causalist.pipeline.feedback_and_weights import weights_document
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
    skipped: tuple[SkippedQuestion, ...]
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
    skipped: list[SkippedQuestion] = []
    for question, repository in pair_with_parents(root, mined.questions, progress):
        if not isinstance(repository, Repository):
            skipped.append(SkippedQuestion(question, str(repository)))
            continue
        labeled = with_definitions(root, question, repository)
        results.append(ask_question(repository, labeled, top_k))
        tokens.append(count_tokens_to_cover(repository, labeled, top_k))
        readings.append(
            rank_without_each_signal(
                read_query_signals(repository, labeled.query, default_weights()), labeled.gold_files
            )
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
    previous_index: Index | None = None
    done = 0
    for commit in sort_oldest_first(root, by_commit):
        progress("asking", done, len(questions))
        state: Repository | GitError | NothingToIndex
        try:
            state = Repository.at_commit(root, commit, cache=cache, known=previous_index)
            previous_index = state.index
        except (GitError, NothingToIndex) as error:
            state = error
        for question in by_commit[commit]:
            yield question, state
        done += len(by_commit[commit])
    progress("asking", done, len(questions))


def with_definitions(root: Path, question: LabelledQuestion, repository: Repository) -> LabelledQuestion:
    """Return the question with the definitions that its commit changed, unless they are too many."""
    graph = repository.index.graph
    definitions = find_changed_definitions(root, question.commit, question.id, graph, question.gold_files)
    return replace(question, gold_symbols=tuple(definitions) if len(definitions) <= MAX_DEFINITIONS else ())


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
    ranks_by_signal: dict[str, Ranks] = {"": _ranks(reading, weights, gold_files)}
    for name in names:
        ranks_by_signal[name] = _ranks(reading, _without(weights, name), gold_files)
    return ranks_by_signal


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
    ablations: list[Ablation] = []
    for name in readings[0]:
        if name and any(ranks[name] != ranks[""] for ranks in readings):
            less = metric_values([ranks[name] for ranks in readings], COMPARED)
            ablations.append(Ablation(name, dict(zip(COMPARED, bootstrap(everything - less), strict=True))))
    return tuple(sorted(ablations, key=lambda each: (-round(each.differences["MRR"].value, 12), each.signal)))


def _coverage(tokens: Sequence[int | None]) -> Coverage:
    covered = np.array([n for n in tokens if n is not None], dtype=np.float64)
    share = bootstrap(np.array([[float(n is not None)] for n in tokens]))[0]
    if not len(covered):
        return Coverage(share, None, None)
    return Coverage(share, bootstrap(covered[:, None])[0], float(np.median(covered)))


N_LEARNING_QUESTIONS = 200
MIN_QUESTIONS = 20  # in all; fewer say nothing of either part
OLDER_SHARE = 0.7
# Of a learned weight's distance from the shipped one, per question. Chosen by hand: what is kept is measured anyway.
NEAR_RIDGE = 0.01
LEARNING_LEVEL = 0.90  # the lower limit of its interval is the 5th percentile


@dataclass(frozen=True, slots=True)
class Learning:
    """Result of learning from a repository.

    `shipped`, `learned` and `difference` are MRR over the `n_newer` questions, and the difference with its interval of
    LEARNING_LEVEL. They are None if there were too few questions; then `document` is None too. `is_better`: the
    document is to be kept.
    """

    n_history: int
    n_feedback: int
    n_older: int
    n_newer: int
    shipped: float | None
    learned: float | None
    difference: Interval | None
    is_better: bool
    document: Mapping[str, Any] | None

    def decision(self) -> str:
        """Return one sentence with the result and its consequence."""
        asked = f"{self.n_history} questions from history and {self.n_feedback} from feedback"
        if self.shipped is None or self.learned is None or self.difference is None:
            needed = f"at least {MIN_QUESTIONS} are needed, in more than a few files"
            return f"{asked} are too few to learn from ({needed}), so the shipped weights stay"
        figures = (
            f"{asked}: on the newer {self.n_newer}, which had no part in the fit, MRR is {self.learned:.3f} with "
            f"learned and {self.shipped:.3f} with shipped weights (difference {self.difference.value:+.3f}, "
            f"{LEARNING_LEVEL:.0%} interval {self.difference.low:+.3f} to {self.difference.high:+.3f})"
        )
        if self.is_better:
            return f"{figures}; the learned weights are better"
        if self.difference.value > 0:
            return f"{figures}; that may be chance, so the shipped weights stay"
        return f"{figures}; that is no gain, so the shipped weights stay"


def learn(repository: Repository, n: int = N_LEARNING_QUESTIONS, *, progress: Progress) -> Learning:
    """Fit weights and compare them with the shipped ones; nothing is stored.

    Raises UsageError, and GitError where there is neither history nor feedback.
    """
    if n < 1:
        raise UsageError(f"--questions must be at least 1, not {n}")
    feedback = [] if repository.feedback_store is None else repository.feedback_store.read_feedback()
    past = _from_history(repository, n, progress, is_needed=not feedback)
    recent = _from_feedback(repository, feedback)
    older, newer = (
        past_part + recent_part for past_part, recent_part in zip(_split(past), _split(recent), strict=True)
    )
    if len(older) + len(newer) < MIN_QUESTIONS:
        return Learning(len(past), len(recent), len(older), len(newer), None, None, None, False, None)
    start = default_weights()
    try:
        weights = fit_weights(older, start, ridge=NEAR_RIDGE, near=True)
    except ValueError:  # nothing wrong was ever near what was right
        return Learning(len(past), len(recent), len(older), len(newer), None, None, None, False, None)
    before, after = (metric_values([ranks_with(e, w).files for e in newer], ["MRR"]) for w in (start, weights))
    difference = bootstrap(after - before, level=LEARNING_LEVEL)[0]
    shipped, learned = float(before.mean()), float(after.mean())
    is_better = difference.value > 0 and difference.low > 0
    learning = Learning(len(past), len(recent), len(older), len(newer), shipped, learned, difference, is_better, None)
    return _with_document(learning, weights, repository)


def _with_document(learning: Learning, weights: Weights, repository: Repository) -> Learning:
    assert learning.difference is not None and learning.shipped is not None and learning.learned is not None
    provenance = (
        f"learned at commit {repository.index.commit} from the older {learning.n_older} of {learning.n_history} "
        f"questions from history and {learning.n_feedback} from feedback; MRR on the other {learning.n_newer}: "
        f"{learning.learned:.3f}, with shipped weights {learning.shipped:.3f}"
    )
    figures = {
        "older": learning.n_older,
        "newer": learning.n_newer,
        "mrr_shipped": round(learning.shipped, 6),
        "mrr_learned": round(learning.learned, 6),
        "difference": {key: round(value, 6) for key, value in learning.difference._asdict().items()},
        "level": LEARNING_LEVEL,
    }
    document = weights_document(weights, repository.index.version, provenance, figures)
    return replace(learning, document=document)


def _from_history(repository: Repository, n: int, progress: Progress, *, is_needed: bool) -> list[Example]:
    """Return examples from the newest `n` questions of the history, the oldest first."""
    root: Path = history_root(repository.root)
    try:
        questions = mine_questions(root, n).questions
    except GitError:
        if is_needed:
            raise
        return []
    weights = default_weights()
    examples: list[Example] = []
    for question, state in pair_with_parents(root, questions, progress):
        if isinstance(state, Repository):
            labeled = with_definitions(root, question, state)
            reading = read_query_signals(state, labeled.query, weights)
            examples.append(build_example(reading, weights, labeled.gold_files, labeled.gold_symbols))
    return examples


def _from_feedback(repository: Repository, feedback: Sequence[tuple[str, tuple[str, ...]]]) -> list[Example]:
    """Examples from what was used, asked of the files as they are; files that are gone teach nothing."""
    weights, paths = default_weights(), set(repository.index.manifest.paths)
    examples: list[Example] = []
    for query, used in feedback:
        there = [path for path in used if path in paths]
        if there:
            examples.append(build_example(read_query_signals(repository, query, weights), weights, there, ()))
    return examples


def _split(examples: list[Example]) -> tuple[list[Example], list[Example]]:
    at = round(OLDER_SHARE * len(examples))
    return examples[:at], examples[at:]
