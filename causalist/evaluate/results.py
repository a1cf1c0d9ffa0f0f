"""Compared rankings of one repository's questions: paths or node ids, best first.

In: the questions of one repository. Out: their results under each system. Each commit is indexed once, and facts are
shared between commits.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from causalist.errors import GitError, NothingToIndex
from causalist.evaluate.metrics import Ranks
from causalist.evaluate.mining import LabelledQuestion, sort_oldest_first
from causalist.model.answer import AskOptions, Level
from causalist.model.facts import FileFacts
from causalist.model.index import Index
from causalist.model.symbols import NodeId, Role, file_id, split_id
from causalist.pipeline.repository import Repository
from causalist.rank import bm25
from causalist.rank.terms import STOP_WORDS, terms_of
from causalist.store import FactsCache

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
    found = np.flatnonzero(scores > 0)
    best = found[np.lexsort((found, -scores[found]))][:top_k]
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
class Skipped:
    """A question that was not asked, and why."""

    question: LabelledQuestion
    reason: str


@dataclass(frozen=True, slots=True)
class RepositoryResult:
    """Results of the questions of one repository, unordered. `indexing_ms` has one value per commit."""

    results: tuple[QuestionResult, ...]
    skipped: tuple[Skipped, ...]
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
        found = {key: self._decoded[key] for key in wanted if key in self._decoded}
        decoded = super().get_many(key for key in wanted if key not in found)
        self._decoded.update(decoded)
        return found | decoded

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
    known: Index | None = None
    results: list[QuestionResult] = []
    skipped: list[Skipped] = []
    indexing_ms: list[float] = []
    for commit in sort_oldest_first(git_dir, by_commit):
        start = time.perf_counter()
        try:
            repository = Repository.at_commit(git_dir, commit, cache=cache, known=known)
        except (GitError, NothingToIndex) as error:
            skipped += [Skipped(question, str(error)) for question in by_commit[commit]]
        else:
            known = repository.index
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
        found = system(repository, question.query, top_k)
        if name == FUSED:
            ranking_ms = (time.perf_counter() - start) * 1000
        files[name] = find_ranks(question.gold_files, found)
    symbols: dict[str, Ranks] = {}
    if question.gold_symbols:
        for name, system in SYMBOL_SYSTEMS.items():
            symbols[name] = find_ranks(question.gold_symbols, system(repository, question.query, top_k))
    return QuestionResult(question, files, symbols, _unindexed(repository, question), ranking_ms)


def find_ranks(gold: Sequence[str], found: Sequence[str]) -> tuple[int | None, ...]:
    """Return the 1-based rank in `found` of each of `gold`; None if it is not there.

    >>> find_ranks(["b", "c"], ["a", "b"])
    (2, None)
    """
    places = {name: place for place, name in enumerate(found, 1)}
    return tuple(places.get(name) for name in gold)


def _unindexed(repository: Repository, question: LabelledQuestion) -> tuple[str, ...]:
    ids = repository.index.graph.nodes.ids
    wanted = [(path, file_id(path)) for path in question.gold_files]
    wanted += [(symbol, NodeId(symbol)) for symbol in question.gold_symbols]
    return tuple(name for name, node in wanted if ids.position(node) < 0)
