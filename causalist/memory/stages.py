"""What the stages of `MemoryPipeline` hand on, and the stages that need no model: validate, assemble.

Metadata that are read: "timestamp" (how old), "confidence" (how sure, 0 to 1), "visible_to" (a list of readers; without
it everybody may see the passage), "contradicts" (ids of passages that this one contradicts).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from causalist.errors import UsageError
from causalist.memory.arrays import seconds_of
from causalist.memory.records import TIMESTAMP
from causalist.memory.snapshot import View
from causalist.memory.sparse_matrix import Floats

CONFIDENCE, VISIBLE_TO, CONTRADICTS = "confidence", "visible_to", "contradicts"
CONTRADICTION = "contradicts"  # predicate of triples that say so
_DAY = 86_400.0

Reflection = Callable[[str, Sequence[str]], Sequence[bool]]  # (question, texts) -> which of them answer it


class Mode(StrEnum):
    """How broadly to look: which tiers, and how many results of each."""

    EXECUTION = "execution"
    PLANNING = "planning"
    BRAINSTORMING = "brainstorming"


TIERS = ("plain", "graph", "probabilistic")
MODES: Mapping[Mode, tuple[tuple[str, ...], int]] = {
    Mode.EXECUTION: (TIERS[:2], 5),
    Mode.PLANNING: (TIERS, 10),
    Mode.BRAINSTORMING: (TIERS, 20),
}


@dataclass(frozen=True, slots=True)
class ValidationSettings:
    """`half_life_days`: after which a passage counts half; None: age does not matter. `now`: the moment that ages are
    reckoned from (ISO 8601 or seconds); without it the newest passage's, so that no clock is read. `reader`: who asks;
    passages that are not visible to them are never shown. `min_confidence`: of the passage's own metadata. `reflect`: a
    model's judgement of which passages answer the question."""

    half_life_days: float | None = None
    now: str | float | None = None
    reader: str | None = None
    min_confidence: float = 0.0
    reflect: Reflection | None = None

    def __post_init__(self) -> None:
        if self.half_life_days is not None and not self.half_life_days > 0:
            raise UsageError(f"half_life_days is {self.half_life_days}; it must be above 0")
        if not 0 <= self.min_confidence <= 1:
            raise UsageError(f"min_confidence is {self.min_confidence}; it lies between 0 and 1")
        if self.now is not None and not np.isfinite(seconds_of(self.now)):
            raise UsageError(f"now is {self.now!r}; it is a time in ISO 8601, or seconds since 1970")


@dataclass(frozen=True, slots=True)
class Posterior:
    """The probability that a passage is relevant, and the limits between which it lies with 90 %."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two passages that contradict each other, and why the first one counts: "newer", "surer" or "ranked higher"."""

    kept: str
    against: str
    reason: str


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A passage and where it comes from. `ranks`: its rank, from 1, in the list of each generator that found it;
    `tiers`: those that hold it; `contradicted_by`: passages that count more."""

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
    same_text: tuple[str, ...] = ()


@dataclass(slots=True)
class Candidates:
    """Of one attempt: scores of all passages by generator, each of shape (P,), and PageRank of the entities."""

    scores: dict[str, Floats] = field(default_factory=dict)
    entities: Floats | None = None
    passages_by_walk: Floats | None = None


def visible(view: View, settings: ValidationSettings) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which passages the reader may see, shape (P,). Never relaxed. What has a list that is none is shown to nobody."""
    found = np.ones(view.arrays.n_passages, dtype=np.bool_)
    for i, passage in enumerate(view.arrays.passages):
        readers = view.records.passages[passage].metadata.get(VISIBLE_TO)
        if readers is not None:
            found[i] = isinstance(readers, list) and settings.reader is not None and settings.reader in readers
    return found


def recency(view: View, settings: ValidationSettings) -> Floats:
    """0.5 to the number of half-lives that a passage is old, shape (P,); 1 where its time is not known."""
    times = view.arrays.times
    known = np.isfinite(times)
    if settings.half_life_days is None or not known.any():
        return np.ones(len(times))
    now = float(times[known].max()) if settings.now is None else seconds_of(settings.now)
    ages = np.maximum(now - np.where(known, times, now), 0.0)
    return np.asarray(0.5 ** (ages / (_DAY * settings.half_life_days)), dtype=np.float64)


def sure_enough(view: View, least: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which passages have at least this confidence of their own, shape (P,); 1 where nothing is said."""
    return np.array([confidence_of(view, p) >= least for p in view.arrays.passages], dtype=np.bool_)


def confidence_of(view: View, passage: str) -> float:
    value = view.records.passages[passage].metadata.get(CONFIDENCE, 1.0)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return min(max(float(value), 0.0), 1.0) if is_number else 1.0


def contradictions(passages: Sequence[str], view: View) -> list[tuple[str, str]]:
    """Pairs of these passages that contradict each other: by their metadata, or because both name the two ends of a
    triple "contradicts"; each once, in the order of `passages`."""
    place = {passage: i for i, passage in enumerate(passages)}
    found: dict[tuple[str, str], None] = {}
    names = {p: set(view.records.passages[p].mentions[:, 0].tolist()) for p in passages}
    for passage in passages:
        record = view.records.passages[passage]
        said = record.metadata.get(CONTRADICTS, ())
        others = [other for other in (said if isinstance(said, list) else ()) if other in place and other != passage]
        for triple in record.triples:
            if triple.predicate.lower() == CONTRADICTION:
                others += [p for p in passages if p != passage and triple.object in names[p]
                           and triple.subject not in names[p]]  # fmt: skip
        for other in others:
            pair = (passage, other) if place[passage] < place[other] else (other, passage)
            found[pair] = None
    return sorted(found, key=lambda pair: (place[pair[0]], place[pair[1]]))


def resolved_conflicts(passages: Sequence[str], view: View) -> list[Conflict]:
    """Which of two passages counts: the newer one, of equally old ones the surer one, else the one ranked higher."""
    found = []
    for first, second in contradictions(passages, view):
        times = [seconds_of(view.records.passages[p].metadata.get(TIMESTAMP)) for p in (first, second)]
        sure = [confidence_of(view, p) for p in (first, second)]
        if np.isfinite(times).all() and times[0] != times[1]:
            later, reason = times[1] > times[0], "newer"
        elif sure[0] != sure[1]:
            later, reason = sure[1] > sure[0], "surer"
        else:
            later, reason = False, "ranked higher"
        found.append(Conflict(second, first, reason) if later else Conflict(first, second, reason))
    return found


def ordered(passages: Sequence[str], conflicts: Sequence[Conflict]) -> list[str]:
    """`passages` with each that counts less behind the one that contradicts it."""
    order = list(passages)
    for conflict in conflicts:
        kept, against = order.index(conflict.kept), order.index(conflict.against)
        if against < kept:
            order.remove(conflict.kept)
            order.insert(against, conflict.kept)
    return order
