"""Stages of `MemoryPipeline`: their data, validation, conflicts, learning from feedback, and confidence.

Metadata keys: "timestamp" (age), "confidence" (0 to 1), "visible_to" (readers; without it, everyone),
"contradicts" and "supersedes" (ids of passages or paths of documents). Feedback has one row a query: the features of
its candidates, and which ones were used. Linear weights are fitted to the older rows. They are kept only if they rank
the newer rows better than reciprocal rank fusion does. The confidence of an answer without feedback comes from the lead
of the first document: with m = 1 - second / first, of the best BM25 scores of documents, the probability is
1 / (1 + e to -(A + B m)). It was fitted on 461 queries over four sets of documents; decision 9 has figures.
"""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.errors import IndexNotWritable, UsageError
from causalist.memory.count_matrices import parse_seconds
from causalist.memory.document_text import PATH_LISTS, list_names
from causalist.memory.matrix_splices import Floats
from causalist.memory.passage_records import SUPERSEDES, TIMESTAMP
from causalist.memory.retrieval import CONTRADICTION, RetrievedPassage
from causalist.memory.walk import Snapshot
from causalist.model.answer import MemoryMode
from causalist.rank.scoring.answer_confidence import Penalty, StackedCandidates, loss_of

CONFIDENCE, CONTRADICTS = "confidence", "contradicts"
_DAY_SECONDS = 86_400.0

Reflection = Callable[[str, Sequence[str]], Sequence[bool]]  # (query, texts) -> True for each text that answers it


TIERS = ("plain", "graph", "probabilistic")
MODES: Mapping[MemoryMode, tuple[tuple[str, ...], int]] = {
    MemoryMode.EXECUTION: (TIERS[:2], 5),
    MemoryMode.PLANNING: (TIERS, 10),
    MemoryMode.BRAINSTORMING: (TIERS, 20),
}


@dataclass(frozen=True, slots=True)
class ValidationSettings:
    """Rules for excluding and discounting passages.

    `half_life_days`: age that halves the weight; None: age does not count. `now`: reference time (ISO 8601 or seconds);
    default is the time of the newest passage, so that results need no clock. `reader`: one or several; only passages
    visible to one of them are returned; for none, those that everyone may see. `min_confidence`: minimum of the
    confidence in the metadata. `reflect`: model that judges which passages answer the query.
    """

    half_life_days: float | None = None
    now: str | float | None = None
    reader: str | Collection[str] | None = None
    min_confidence: float = 0.0
    reflect: Reflection | None = None

    @property
    def readers(self) -> Collection[str]:
        """Readers as a collection, () for none."""
        readers: Collection[str] = list_names(self.reader or ())
        return readers

    def __post_init__(self) -> None:
        """Raise UsageError for a value out of range."""
        if self.half_life_days is not None and not self.half_life_days > 0:
            raise UsageError(f"half_life_days must be above 0, not {self.half_life_days}")
        if not 0 <= self.min_confidence <= 1:
            raise UsageError(f"min_confidence must be from 0 to 1, not {self.min_confidence}")
        if self.now is not None and not np.isfinite(parse_seconds(self.now)):
            raise UsageError(f"now must be a time in ISO 8601 or seconds since 1970, not {self.now!r}")


@dataclass(frozen=True, slots=True)
class Posterior:
    """Probability that a passage is relevant, with its 90 % credible interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two contradicting passages, and why the first one wins: "supersedes", "newer", "surer" or "ranked higher"."""

    kept: str
    against: str
    reason: str


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A result and its evidence.

    `ranks`: rank, from 1, in the list of each generator that found it. `tiers`: tiers that contain it.
    `contradicted_by`: passages that win against it. `superseded_by`: visible documents that say they replace it,
    shown or not. `same_text`: other passages with the same text.
    """

    passage_id: str
    text: str
    score: float
    ppr_score: float
    entity_hits: tuple[str, ...]
    metadata: Mapping[str, Any]
    ranks: Mapping[str, int]
    tiers: tuple[str, ...]
    posterior: Posterior
    contradicted_by: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    same_text: tuple[str, ...] = ()


@dataclass(slots=True)
class Candidates:
    """Candidates of one attempt: scores of all passages by generator, shape (P,), and PageRank of the entities."""

    scores: dict[str, Floats] = field(default_factory=dict)
    entities: Floats | None = None
    passages_by_walk: Floats | None = None


def visible_mask(snapshot: Snapshot, settings: ValidationSettings) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the mask of passages that the reader may see, shape (P,). No attempt relaxes it.

    An invalid reader list hides its passage from everyone.
    """
    return snapshot.visible_mask(settings.readers)


def recency_factors(snapshot: Snapshot, settings: ValidationSettings) -> Floats:
    """Return 0.5 to the number of half-lives of each passage's age, shape (P,); 1 if its time is unknown."""
    times = snapshot.arrays.times
    is_dated = np.isfinite(times)
    if settings.half_life_days is None or not is_dated.any():
        return np.ones(len(times))
    now = float(times[is_dated].max()) if settings.now is None else parse_seconds(settings.now)
    ages = np.maximum(now - np.where(is_dated, times, now), 0.0)
    return np.asarray(0.5 ** (ages / (_DAY_SECONDS * settings.half_life_days)), dtype=np.float64)


def confident_mask(snapshot: Snapshot, least: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the mask of passages with at least this stated confidence, shape (P,)."""
    return np.array([stated_confidence(snapshot, p) >= least for p in snapshot.arrays.passages], dtype=np.bool_)


def stated_confidence(snapshot: Snapshot, passage: str) -> float:
    """Return the confidence in a passage's metadata, 1 if there is none."""
    value = snapshot.records.passages[passage].metadata.get(CONFIDENCE, 1.0)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return min(max(float(value), 0.0), 1.0) if is_number else 1.0


def find_contradictions(passages: Sequence[str], snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return pairs of contradicting passages, each once, in the order of `passages`.

    Passages contradict by their metadata ("contradicts" and "supersedes", with ids of passages or paths of documents),
    or if a triple "contradicts" joins an entity of one with an entity of the other.
    """
    position_by_passage = {passage: i for i, passage in enumerate(passages)}
    stated: dict[str, list[str]] = {}
    passages_by_name: dict[str, list[str]] = {}  # by id, and by path of the document
    entities: dict[str, set[int]] = {}
    triples = {}
    for passage in passages:
        record = snapshot.records.passages[passage]
        metadata = record.metadata
        stated[passage] = [name for key in PATH_LISTS for name in list_names(metadata.get(key)) or ()]
        for name in {passage, str(metadata.get("path", passage))}:
            passages_by_name.setdefault(name, []).append(passage)
        triples[passage] = [triple for triple in record.triples if triple.predicate.lower() == CONTRADICTION]
    if any(triples.values()):
        entities = {p: set(snapshot.records.passages[p].mentions[:, 0].tolist()) for p in passages}
    pairs: set[tuple[str, str]] = set()
    for passage in passages:
        others = [other for name in stated[passage] for other in passages_by_name.get(str(name), ())]
        for triple in triples[passage]:
            others += [p for p in passages if triple.object in entities[p] and triple.subject not in entities[p]]
        for other in others:
            if other != passage:
                first = position_by_passage[passage] < position_by_passage[other]
                pairs.add((passage, other) if first else (other, passage))
    return sorted(pairs, key=lambda pair: (position_by_passage[pair[0]], position_by_passage[pair[1]]))


def _is_stated(stated: object, other: str, snapshot: Snapshot) -> bool:
    """Return True if a list of ids and paths has a passage, or its document."""
    path, names = snapshot.records.passages[other].metadata.get("path"), list_names(stated)
    return isinstance(names, list) and (other in names or (isinstance(path, str) and path in names))


def resolve_conflicts(passages: Sequence[str], snapshot: Snapshot) -> list[Conflict]:
    """Return the winner of each contradiction.

    That is the passage that supersedes the other, else the newer one, else the surer one, else the one ranked higher.
    """
    conflicts = []
    for first, second in find_contradictions(passages, snapshot):
        replaced = [
            _is_stated(snapshot.records.passages[a].metadata.get(SUPERSEDES), b, snapshot)
            for a, b in ((first, second), (second, first))
        ]
        if replaced[0] != replaced[1]:
            conflicts.append(Conflict(*((first, second) if replaced[0] else (second, first)), "supersedes"))
            continue
        times = [parse_seconds(snapshot.records.passages[p].metadata.get(TIMESTAMP)) for p in (first, second)]
        sure = [stated_confidence(snapshot, p) for p in (first, second)]
        if np.isfinite(times).all() and times[0] != times[1]:
            later, reason = times[1] > times[0], "newer"
        elif sure[0] != sure[1]:
            later, reason = sure[1] > sure[0], "surer"
        else:
            later, reason = False, "ranked higher"
        conflicts.append(Conflict(second, first, reason) if later else Conflict(first, second, reason))
    return conflicts


def mark_contradicted(results: Sequence[RetrievedPassage], snapshot: Snapshot) -> list[RetrievedPassage]:
    """Return the results, each with those of them that win against it."""
    winners: dict[str, list[str]] = {}
    for conflict in resolve_conflicts([each.passage_id for each in results], snapshot):
        if conflict.reason != "supersedes":
            winners.setdefault(conflict.against, []).append(conflict.kept)
    return [replace(each, contradicted_by=tuple(winners.get(each.passage_id, ()))) for each in results]


def order_by_conflicts(passages: Sequence[str], conflicts: Sequence[Conflict]) -> list[str]:
    """Return `passages` with each losing passage behind its winner."""
    order = list(passages)
    for conflict in conflicts:
        kept, against = order.index(conflict.kept), order.index(conflict.against)
        if against < kept:
            order.remove(conflict.kept)
            order.insert(against, conflict.kept)
    return order


FEATURES = ("dense", "sparse", "graph", "fused", "recency")
MIN_FEEDBACK_QUERIES = 20  # before weights are learned or confidence counts as calibrated
OLDER_SHARE = 0.7
_RIDGE = 1e-3
_MAX_ROWS = 5_000
# Prior of a passage by its best rank in any list (1, up to 3, up to 10, further) and
# by the number of lists: Beta(mean * strength, (1 - mean) * strength). Chosen by hand.
_RANKS = (1, 3, 10)
_PRIOR = ((0.5, 0.6, 0.7), (0.3, 0.4, 0.5), (0.12, 0.2, 0.3), (0.04, 0.06, 0.1))
_PRIOR_STRENGTH = 4.0


@dataclass(frozen=True, slots=True)
class FeedbackRow:
    """Feedback on one query: `features` of shape (n, FEATURES), `levels` and `used` of shape (n,)."""

    features: NDArray[np.float64]
    levels: tuple[int, ...]
    used: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LearnedPassageWeights:
    """Weights by feature. `heuristic` and `learned`: MRR of fusion and weights on the `n_newer` held-out queries."""

    weights: Mapping[str, float]
    n_older: int
    n_newer: int
    heuristic: float
    learned: float


class Feedback:
    """Feedback rows in memory, and in a JSON Lines file if one is given; unreadable lines are skipped."""

    def __init__(self, path: Path | None = None) -> None:
        """Read the rows of the file, if it exists."""
        self.path = path
        self.rows: list[FeedbackRow] = []
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()[-_MAX_ROWS:]:
                row = _parse_row(line)
                if row is not None:
                    self.rows.append(row)

    def add(self, row: FeedbackRow) -> None:
        """Add a row. Raises IndexNotWritable."""
        self.rows.append(row)
        if self.path is None:
            return
        data = {"features": row.features.tolist(), "levels": list(row.levels), "used": row.used.tolist()}
        try:
            with self.path.open("a", encoding="ascii") as file:
                file.write(json.dumps(data) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise IndexNotWritable(f"cannot write {self.path}: {error.strerror or error}") from error

    @property
    def is_calibrated(self) -> bool:
        """True with enough feedback to calibrate confidence."""
        return len(self.rows) >= MIN_FEEDBACK_QUERIES

    def posterior(self, level: int) -> Posterior:
        """Return the posterior of passages of this level: prior plus observed use."""
        shown = sum(row.levels.count(level) for row in self.rows)
        used = sum(int(row.used[np.array(row.levels) == level].sum()) for row in self.rows)
        mean = _PRIOR[level // 3][level % 3]
        a, b = mean * _PRIOR_STRENGTH + used, (1 - mean) * _PRIOR_STRENGTH + shown - used
        from scipy.special import betaincinv  # type: ignore[import-untyped]

        return Posterior(a / (a + b), float(betaincinv(a, b, 0.05)), float(betaincinv(a, b, 0.95)))


def compute_level(ranks: Sequence[int]) -> int:
    """Return the level of a passage, 0 to 11, by its best rank and the number of lists that contain it.

    >>> compute_level([1]), compute_level([5, 2]), compute_level([40, 50, 60])
    (0, 4, 11)
    """
    best = sum(min(ranks) > limit for limit in _RANKS)
    return best * 3 + min(len(ranks), 3) - 1


def learn_weights(rows: Sequence[FeedbackRow]) -> LearnedPassageWeights | None:
    """Return weights that rank the newer queries better than fusion does; None with too few queries or no gain."""
    judged = [row for row in rows if row.used.any() and not row.used.all()]
    if len(judged) < MIN_FEEDBACK_QUERIES:
        return None
    cut = int(OLDER_SHARE * len(judged))
    older, newer = judged[:cut], judged[cut:]
    weights = _fit_weights(older)
    heuristic = float(np.mean([_reciprocal_rank(row.features[:, FEATURES.index("fused")], row.used) for row in newer]))
    learned = float(np.mean([_reciprocal_rank(row.features @ weights, row.used) for row in newer]))
    if learned <= heuristic:
        return None
    weight_by_feature = {name: round(float(w), 6) for name, w in zip(FEATURES, weights, strict=True)}
    return LearnedPassageWeights(weight_by_feature, len(older), len(newer), heuristic, learned)


def _fit_weights(rows: Sequence[FeedbackRow]) -> NDArray[np.float64]:
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    sizes = np.array([len(row.used) for row in rows])
    query_of_row = np.repeat(np.arange(len(rows)), sizes)
    gold = np.concatenate([row.used for row in rows])
    stacked = StackedCandidates(
        np.concatenate([row.features for row in rows]),
        np.zeros((int(sizes.sum()), 0)),
        gold,
        query_of_row,
        np.cumsum(sizes) - sizes,
        np.bincount(query_of_row[gold], minlength=len(rows)),
    )
    n = len(FEATURES)
    penalty = Penalty(np.zeros(n), _RIDGE)
    fit = minimize(
        loss_of, np.ones(n), args=(stacked, n, penalty), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * n
    )
    return np.asarray(fit.x, dtype=np.float64)


def _reciprocal_rank(scores: NDArray[np.float64], used: NDArray[np.bool_]) -> float:
    order = np.argsort(-np.round(scores, 12), kind="stable")
    return 1.0 / (1.0 + int(np.flatnonzero(used[order])[0]))


def _parse_row(line: str) -> FeedbackRow | None:
    try:
        data: Any = json.loads(line)
        features = np.array(data["features"], dtype=np.float64)
        used = np.array(data["used"], dtype=np.bool_)
        levels = tuple(int(level) for level in data["levels"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    fits = features.ndim == 2 and features.shape == (len(used), len(FEATURES)) and len(levels) == len(used)
    in_range = all(0 <= level < 3 * len(_PRIOR) for level in levels)
    return FeedbackRow(features, levels, used) if fits and in_range and np.isfinite(features).all() else None


_INTERCEPT, _SLOPE = -0.258, 10.72
MIN_CONFIDENCE = 0.45  # below it, the pipeline makes another attempt


def estimate_confidence(words: Floats, snapshot: Snapshot) -> float:
    """Return the probability that the first document is right; `words`: BM25 scores of passages, shape (P,).

    It is 0 if no word matches.
    """
    documents = np.zeros(snapshot.n_documents)
    np.maximum.at(documents, snapshot.document_of, np.round(words, 12))
    best = float(documents.max(initial=0.0))
    if best <= 0:
        return 0.0
    second = float(np.partition(documents, -2)[-2]) if len(documents) > 1 else 0.0
    return 1.0 / (1.0 + exp(-(_INTERCEPT + _SLOPE * (1.0 - second / best))))
