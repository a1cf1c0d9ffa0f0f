"""Results of compared rankings: paths or node ids, best first; their metrics, and summaries with intervals.

In: the questions of one repository. Out: their results under each system. Each commit is indexed once, and facts are
shared between commits.

A question has one or more right answers; `ranks` holds the 1-based place of each in one list, None where it is not in
the list. Every metric is a number in [0, 1] for one question; a set of questions has their mean. Accuracy@k, MRR and
recall@k have bootstrap intervals. Summaries cover all questions, the hard ones, and each language. Tables show
percentages, MRR as a number, and intervals in brackets.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.text_formatting import align_columns
from causalist.errors import GitError, NothingToIndex
from causalist.evaluate.mining import LabelledQuestion, sort_oldest_first
from causalist.model.answer import AskOptions, Level
from causalist.model.facts import FileFacts
from causalist.model.index import Index
from causalist.model.node_ids import NodeId, Role, file_id, split_id
from causalist.pipeline.repository import Repository
from causalist.rank import bm25
from causalist.rank.terms import STOP_WORDS, terms_of
from causalist.store import FactsCache

Ranks = Sequence[int | None]

N_RESAMPLES = 2000  # the limits of a 95 % interval then rest on 50 resamples each
SEED = 0
LEVEL = 0.95


class Interval(NamedTuple):
    """A mean and the limits of its interval."""

    value: float
    low: float
    high: float


def accuracy(ranks: Ranks, k: int) -> float:
    """Return 1 if all right answers are among the first k, else 0.

    >>> accuracy([1, 3], 3), accuracy([1, 4], 3), accuracy([1, None], 3)
    (1.0, 0.0, 0.0)
    """
    return float(all(rank is not None and rank <= k for rank in ranks))


def recall(ranks: Ranks, k: int) -> float:
    """Return the share of the right answers that are among the first k.

    >>> recall([1, 4, None, 2], 3)
    0.5
    """
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def reciprocal_rank(ranks: Ranks) -> float:
    """Return 1 / the rank of the first right answer; 0 if there is none in the list.

    >>> reciprocal_rank([None, 4, 2]), reciprocal_rank([None])
    (0.5, 0.0)
    """
    known_ranks = [rank for rank in ranks if rank is not None]
    return 1 / min(known_ranks) if known_ranks else 0.0


def any_of(ranks: Ranks, k: int) -> float:
    """Return 1 if one right answer is among the first k, else 0.

    >>> any_of([7, 1], 1), any_of([7, None], 1)
    (1.0, 0.0)
    """
    return float(any(rank is not None and rank <= k for rank in ranks))


def ndcg(ranks: Ranks, k: int) -> float:
    """Return the normalized discounted cumulative gain of the first k (Järvelin and Kekäläinen 2002).

    Each right answer counts 1 / log2(rank + 1). The sum is divided by its largest possible value.

    >>> ndcg([1], 10), ndcg([3], 10), round(ndcg([2, 3], 10), 4)
    (1.0, 0.5, 0.6934)
    """
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank is not None and rank <= k)
    return gain / sum(1 / math.log2(place + 1) for place in range(1, min(k, len(ranks)) + 1))


METRICS: Mapping[str, Callable[[Ranks], float]] = {
    "accuracy@1": partial(accuracy, k=1),
    "accuracy@3": partial(accuracy, k=3),
    "accuracy@5": partial(accuracy, k=5),
    "accuracy@10": partial(accuracy, k=10),
    "MRR": reciprocal_rank,
    "recall@10": partial(recall, k=10),
    "recall@20": partial(recall, k=20),  # the whole list at the default length, with the places of the graph
}
# What some reports say beside these.
MORE_METRICS: Mapping[str, Callable[[Ranks], float]] = {
    "any@1": partial(any_of, k=1),
    "NDCG@10": partial(ndcg, k=10),
}
MIN_LIST_LENGTH = 10  # results; shorter lists change the meaning of accuracy@10


def metric_values(questions: Sequence[Ranks], names: Sequence[str]) -> NDArray[np.float64]:
    """Return metric `names[j]` of question i at [i, j]; shape (n_questions, n_names)."""
    every = {**METRICS, **MORE_METRICS}
    values = [[every[name](ranks) for name in names] for ranks in questions]
    return np.array(values, dtype=np.float64).reshape(len(questions), len(names))


def bootstrap(
    values: NDArray[np.float64], *, n_resamples: int = N_RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> list[Interval]:
    """Return the mean of each column of `values`, shape (n_questions, n), with a percentile bootstrap interval.

    Whole questions are drawn with replacement, so that columns stay paired: for a paired difference of two systems,
    pass the differences per question. The same seed draws the same questions for every call with as many rows.
    Questions count as independent. Those of one repository are correlated, so the intervals are slightly too narrow.
    """
    n = len(values)
    if n == 0:
        raise ValueError("there is no interval without questions")
    random = np.random.default_rng(seed)
    means = np.empty((n_resamples, values.shape[1]))
    for resample in means:
        resample[:] = np.bincount(random.integers(0, n, n), minlength=n) @ values / n
    outside = 100 * (1 - level) / 2
    low, high = np.percentile(means, [outside, 100 - outside], axis=0)
    return [Interval(*map(float, column)) for column in zip(values.mean(axis=0), low, high, strict=True)]


System = Callable[[Repository, str, int], list[str]]  # repository, question, length of the list

FUSED = "fused"
GRAPH_OFF = "graph off"
WHOLE_FILE = "whole-file BM25"
WHOLE_FILE_CODE = "whole-file BM25, code only"

_WORD = re.compile(r"\w+")
_SCORE_DECIMALS = 12  # scores that differ by less are a tie, decided by path


def _files(repository: Repository, query: str, top_k: int, *, graph: bool) -> list[str]:
    ids = repository.rank_nodes(query, AskOptions(level=Level.FILE, top_k=top_k, graph=graph))
    return [split_id(node)[0] for node in ids]


def _symbols(repository: Repository, query: str, top_k: int, *, graph: bool) -> list[str]:
    return repository.rank_nodes(query, AskOptions(level=Level.SYMBOL, top_k=top_k, graph=graph))


def rank_by_whole_file_bm25(repository: Repository, query: str, top_k: int, *, code_only: bool = False) -> list[str]:
    """Return the ranking of plain BM25 with one document a file: the baseline of the evaluation.

    A document is all the text of a file (definitions, comments, documentation alike) and the words of its path, three
    times. Identifiers are split and also kept whole, parts are stemmed; k1 = 1.2 and b = 0.75 are the usual defaults.
    The question goes through the same splitting, stop words are dropped, and each occurrence of a term counts 1, as
    in Lucene: on 55 paraphrased bug reports that gives accuracy@1 of 25, and of 11 when a repeated term counts once.
    A title is worth no more than a body, names are not looked up, tests and documentation are not demoted.

    `code_only` keeps just the files of Role.CODE, with the same scores. It is the stricter comparison where all right
    answers are code: it has the same knowledge of what tests and documentation are as the fused ranking.
    """
    index = repository.index
    nodes = index.graph.nodes
    numbers = {index.lexical.terms.position(term): float(n) for term, n in _term_counts(query).items()}
    numbers.pop(-1, None)  # terms that the repository does not have
    scores = np.round(bm25(index.lexical.files, numbers, len(nodes)), _SCORE_DECIMALS)
    if code_only:
        scores[nodes.roles != Role.CODE] = 0.0
    positive = np.flatnonzero(scores > 0)
    best = positive[np.lexsort((positive, -scores[positive]))][:top_k]
    return [split_id(nodes.ids[int(node)])[0] for node in best]


def _term_counts(query: str) -> Counter[str]:
    """Count each term of a question. Not `parse_query`, whose weights are part of the comparison.

    >>> sorted(_term_counts("Where do users get a userName?").items())
    [('name', 1), ('user', 2), ('username', 1)]
    """
    words = [word for word in _WORD.findall(query) if word.lower() not in STOP_WORDS]
    return Counter(term for word in words for term in terms_of(word) if len(term) > 1)


FILE_SYSTEMS: Mapping[str, System] = {
    FUSED: partial(_files, graph=True),
    GRAPH_OFF: partial(_files, graph=False),
    WHOLE_FILE: rank_by_whole_file_bm25,
    WHOLE_FILE_CODE: partial(rank_by_whole_file_bm25, code_only=True),
}
SYMBOL_SYSTEMS: Mapping[str, System] = {FUSED: partial(_symbols, graph=True), GRAPH_OFF: partial(_symbols, graph=False)}


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Ranks of a question's gold files and symbols, by system and in the order of the question.

    A rank is None if the answer is not in the list. `unindexed` are gold files and symbols that are not in the index,
    so that no system can find them. `ranking_ms` is the time of `fused`.
    """

    question: LabelledQuestion
    files: Mapping[str, Ranks]
    symbols: Mapping[str, Ranks]
    unindexed: tuple[str, ...]
    ranking_ms: float


@dataclass(frozen=True, slots=True)
class SkippedQuestion:
    """A question that was not asked, and why."""

    question: LabelledQuestion
    reason: str


@dataclass(frozen=True, slots=True)
class RepositoryResult:
    """Results of the questions of one repository, unordered. `indexing_ms` has one value per commit."""

    results: tuple[QuestionResult, ...]
    skipped: tuple[SkippedQuestion, ...]
    indexing_ms: tuple[float, ...]


class SnapshotFacts(FactsCache):
    """A cache in memory that also keeps the facts of the last snapshot decoded: most of the next one's are the same.

    Of older snapshots only the encoded bytes stay, a seventh of the size.
    """

    def __init__(self) -> None:
        super().__init__()
        self._decoded: dict[tuple[str, str], FileFacts] = {}

    def get_many(
        self, keys: Iterable[tuple[str, str]], *, words: bool = True, bodies: bool = True
    ) -> dict[tuple[str, str], FileFacts]:
        """Return the facts of these keys, from memory where they were decoded before."""
        wanted = list(dict.fromkeys(keys))
        kept = {key: self._decoded[key] for key in wanted if key in self._decoded}
        decoded = super().get_many(key for key in wanted if key not in kept)
        self._decoded.update(decoded)
        return kept | decoded

    def keep_only(self, keys: Iterable[tuple[str, str]]) -> None:
        """Drop the decoded facts of all other keys."""
        kept = set(keys)
        self._decoded = {key: facts for key, facts in self._decoded.items() if key in kept}


def ask_repository(
    git_dir: Path, questions: Sequence[LabelledQuestion], top_k: int, asked: Callable[[int], None]
) -> RepositoryResult:
    """Ask the questions of one repository, each at its own commit; `asked` receives the number done so far."""
    by_commit: dict[str, list[LabelledQuestion]] = {}
    for question in questions:
        by_commit.setdefault(question.commit, []).append(question)
    cache = SnapshotFacts()
    previous_index: Index | None = None
    results: list[QuestionResult] = []
    skipped: list[SkippedQuestion] = []
    indexing_ms: list[float] = []
    for commit in sort_oldest_first(git_dir, by_commit):
        start = time.perf_counter()
        try:
            repository = Repository.at_commit(git_dir, commit, cache=cache, known=previous_index)
        except (GitError, NothingToIndex) as error:
            skipped += [SkippedQuestion(question, str(error)) for question in by_commit[commit]]
        else:
            previous_index = repository.index
            indexing_ms.append((time.perf_counter() - start) * 1000)
            results += [ask_question(repository, question, top_k) for question in by_commit[commit]]
        asked(len(by_commit[commit]))
    return RepositoryResult(tuple(results), tuple(skipped), tuple(indexing_ms))


def ask_question(repository: Repository, question: LabelledQuestion, top_k: int) -> QuestionResult:
    """Return the ranks of one question's gold by every system."""
    files: dict[str, Ranks] = {}
    ranking_ms = 0.0
    for name, system in FILE_SYSTEMS.items():
        start = time.perf_counter()
        ranking = system(repository, question.query, top_k)
        if name == FUSED:
            ranking_ms = (time.perf_counter() - start) * 1000
        files[name] = find_ranks(question.gold_files, ranking)
    symbols: dict[str, Ranks] = {}
    if question.gold_symbols:
        for name, system in SYMBOL_SYSTEMS.items():
            symbols[name] = find_ranks(question.gold_symbols, system(repository, question.query, top_k))
    return QuestionResult(question, files, symbols, _list_unindexed(repository, question), ranking_ms)


def find_ranks(gold: Sequence[str], ranking: Sequence[str]) -> tuple[int | None, ...]:
    """Return the 1-based rank in `ranking` of each of `gold`; None if it is not there.

    >>> find_ranks(["b", "c"], ["a", "b"])
    (2, None)
    """
    rank_by_name = {name: rank for rank, name in enumerate(ranking, 1)}
    return tuple(rank_by_name.get(name) for name in gold)


def _list_unindexed(repository: Repository, question: LabelledQuestion) -> tuple[str, ...]:
    ids = repository.index.graph.nodes.ids
    wanted = [(path, file_id(path)) for path in question.gold_files]
    wanted += [(symbol, NodeId(symbol)) for symbol in question.gold_symbols]
    return tuple(name for name, node in wanted if ids.position(node) < 0)


FILE_METRICS = tuple(METRICS)
DIFFERENCE_METRICS = ("accuracy@1", "accuracy@10", "MRR", "recall@20")
SYMBOL_METRICS = ("accuracy@10", "recall@10", "recall@20")

Row = Mapping[str, Interval]  # by metric


@dataclass(frozen=True, slots=True)
class Summary:
    """Metrics by system, and `fused` minus each other system by that system, for `n` questions.

    `name` is "all", "hard" or "language:" and a language.
    """

    name: str
    n: int
    systems: Mapping[str, Row]
    differences: Mapping[str, Row]


def summarize_files(
    results: Sequence[QuestionResult],
    metrics: Sequence[str] = FILE_METRICS,
    compared: Sequence[str] = DIFFERENCE_METRICS,
) -> tuple[Summary, ...]:
    """Return summaries over files, of each group that has a question; `compared` are among the `metrics`."""
    return _summaries(results, lambda r: r.files, list(FILE_SYSTEMS), metrics, compared)


def summarize_symbols(results: Sequence[QuestionResult]) -> tuple[Summary, ...]:
    """Return summaries over symbols, of the questions that name some."""
    named = [result for result in results if result.symbols]
    return _summaries(named, lambda r: r.symbols, list(SYMBOL_SYSTEMS), SYMBOL_METRICS, SYMBOL_METRICS)


def _summaries(
    results: Sequence[QuestionResult],
    ranks: Callable[[QuestionResult], Mapping[str, Ranks]],
    systems: Sequence[str],
    metrics: Sequence[str],
    compared: Sequence[str],
) -> tuple[Summary, ...]:
    groups = [("all", list(results)), ("hard", [r for r in results if r.question.hard])]
    languages = sorted({r.question.lang for r in results})
    groups += [(f"language:{lang}", [r for r in results if r.question.lang == lang]) for lang in languages]
    return tuple(
        _summary(name, {system: [ranks(r)[system] for r in group] for system in systems}, metrics, compared)
        for name, group in groups
        if group
    )


def _summary(
    name: str, ranks: Mapping[str, Sequence[Ranks]], metrics: Sequence[str], compared: Sequence[str]
) -> Summary:
    values = {system: metric_values(rows, metrics) for system, rows in ranks.items()}
    paired = [list(metrics).index(metric) for metric in compared]
    return Summary(
        name,
        len(values[FUSED]),
        {system: dict(zip(metrics, bootstrap(table), strict=True)) for system, table in values.items()},
        {
            system: dict(zip(compared, bootstrap((values[FUSED] - table)[:, paired]), strict=True))
            for system, table in values.items()
            if system != FUSED
        },
    )


def render_summaries(summaries: Sequence[Summary]) -> list[str]:
    """Return one block for each group with a line for each system, then the differences of all and hard questions.

    A group that is the same as "all" is left out. A star marks a difference whose interval does not contain zero.
    """
    if not summaries:
        return []
    everything = summaries[0]
    shown = [s for s in summaries if s is everything or s.n < everything.n]
    metrics = list(next(iter(everything.systems.values())))
    rows = [["", *metrics]]
    for summary in shown:
        rows.append([f"{summary.name.removeprefix('language:')} ({summary.n})", *[""] * len(metrics)])
        rows += _system_rows(summary.systems, metrics)
    lines = align_columns(rows)
    compared = list(next(iter(everything.differences.values())))
    rows = [["paired difference (* interval without 0)", *compared]]
    for summary in shown:
        if summary.name in ("all", "hard"):
            rows += [
                [f"{summary.name}: fused − {other}", *(difference(metric, row[metric]) for metric in compared)]
                for other, row in summary.differences.items()
            ]
    return [*lines, "", *align_columns(rows)]


def _system_rows(systems: Mapping[str, Mapping[str, Interval]], metrics: Sequence[str]) -> list[list[str]]:
    return [[f"  {name}", *(_cell(metric, row[metric]) for metric in metrics)] for name, row in systems.items()]


def _cell(metric: str, interval: Interval) -> str:
    """Return a cell of the table: a value with its interval, shares in percent.

    >>> _cell("accuracy@1", Interval(0.415, 0.331, 0.5)), _cell("MRR", Interval(0.5561, 0.489, 0.62))
    ('41.5 [33–50]', '0.556 [0.49–0.62]')
    """
    value, low, high = interval
    if metric == "MRR":
        return f"{value:.3f} [{low:.2f}–{high:.2f}]"
    return f"{100 * value:.1f} [{100 * low:.0f}–{100 * high:.0f}]"


def difference(metric: str, interval: Interval) -> str:
    """Return a cell with a paired difference and its interval; a star marks an interval without 0.

    >>> difference("accuracy@1", Interval(0.033, -0.01, 0.08)), difference("MRR", Interval(0.05, 0.012, 0.09))
    ('+3.3 [-1.0 … +8.0]', '+0.050 [+0.012 … +0.090]*')
    """
    value, low, high = interval if metric == "MRR" else (100 * part for part in interval)
    digits = 3 if metric == "MRR" else 1
    star = "*" if low > 0 or high < 0 else ""
    return f"{value:+.{digits}f} [{low:+.{digits}f} … {high:+.{digits}f}]{star}"
