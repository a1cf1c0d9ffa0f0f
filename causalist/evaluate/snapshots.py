"""The questions of one repository -> their results: each commit is indexed once, and facts are shared between them."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from causalist.errors import GitError, NothingToIndex
from causalist.evaluate.clones import oldest_first
from causalist.evaluate.dataset import LabelledQuestion
from causalist.evaluate.metrics import Ranks
from causalist.evaluate.systems import FILE_SYSTEMS, FUSED, SYMBOL_SYSTEMS
from causalist.model.facts import FileFacts
from causalist.model.index import Index
from causalist.model.symbols import NodeId, file_id
from causalist.pipeline.repository import Repository
from causalist.store import FactsCache


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Ranks of a question's gold files and symbols, by system and in the order of the question; None: not in the
    list. `unindexed` are gold files and symbols that no system could have found. `ranking_ms` is the time `fused` took.
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
    """What came of the questions of one repository, in no particular order. `indexing_ms`: one a commit."""

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
        wanted = list(dict.fromkeys(keys))
        found = {key: self._decoded[key] for key in wanted if key in self._decoded}
        decoded = super().get_many(key for key in wanted if key not in found)
        self._decoded.update(decoded)
        return found | decoded

    def keep_only(self, keys: Iterable[tuple[str, str]]) -> None:
        kept = set(keys)
        self._decoded = {key: facts for key, facts in self._decoded.items() if key in kept}


def ask_repository(
    git_dir: Path, questions: Sequence[LabelledQuestion], top_k: int, asked: Callable[[int], None]
) -> RepositoryResult:
    """Asks questions of one repository, each of its own commit; `asked` is told how many were dealt with."""
    by_commit: dict[str, list[LabelledQuestion]] = {}
    for question in questions:
        by_commit.setdefault(question.commit, []).append(question)
    cache = SnapshotFacts()
    known: Index | None = None
    results: list[QuestionResult] = []
    skipped: list[Skipped] = []
    indexing_ms: list[float] = []
    for commit in oldest_first(git_dir, by_commit):
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
    """The ranks of one question's gold by every system."""
    files: dict[str, Ranks] = {}
    ranking_ms = 0.0
    for name, system in FILE_SYSTEMS.items():
        start = time.perf_counter()
        found = system(repository, question.query, top_k)
        if name == FUSED:
            ranking_ms = (time.perf_counter() - start) * 1000
        files[name] = ranks_of(question.gold_files, found)
    symbols: dict[str, Ranks] = {}
    if question.gold_symbols:
        for name, system in SYMBOL_SYSTEMS.items():
            symbols[name] = ranks_of(question.gold_symbols, system(repository, question.query, top_k))
    return QuestionResult(question, files, symbols, _unindexed(repository, question), ranking_ms)


def ranks_of(gold: Sequence[str], found: Sequence[str]) -> tuple[int | None, ...]:
    """The 1-based place in `found` of each of `gold`.

    >>> ranks_of(["b", "c"], ["a", "b"])
    (2, None)
    """
    places = {name: place for place, name in enumerate(found, 1)}
    return tuple(places.get(name) for name in gold)


def _unindexed(repository: Repository, question: LabelledQuestion) -> tuple[str, ...]:
    ids = repository.index.graph.nodes.ids
    wanted = [(path, file_id(path)) for path in question.gold_files]
    wanted += [(symbol, NodeId(symbol)) for symbol in question.gold_symbols]
    return tuple(name for name, node in wanted if ids.position(node) < 0)
