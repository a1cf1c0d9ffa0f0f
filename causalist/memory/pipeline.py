"""What `MemoryPipeline` answers with, and the parts that it is made of.

`MemoryPipeline`: a question to a memory through six stages, each guarded, with at most three attempts.

route -> candidates -> validate -> distil -> assemble -> deliver, named as the stages of questions about code. The route
is read, failing steps are counted and lists are fused by the code that does so there. A step that fails with a
`CausalistError` is left out and named; what is no step (reading the index, ordering, delivering) is not guarded.
"""

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from causalist._internal.circuit_breaker import Circuits
from causalist.errors import CausalistError, ModelFailed, UsageError
from causalist.memory.entity_linking import link, seeds_of
from causalist.memory.index import HippoIndex
from causalist.memory.neighborhood import expanded
from causalist.memory.retrieval import (
    MOST_FUSED,
    Query,
    best_of,
    check_query,
    combined,
    plain_mode,
    plain_scores,
    reciprocal_ranks,
    walk,
)
from causalist.memory.snapshot import View
from causalist.memory.sparse_matrix import Floats
from causalist.memory.stages import (
    FEATURES,
    LEAST,
    MODES,
    Candidates,
    Conflict,
    Feedback,
    Learned,
    MemoryHit,
    Posterior,
    Row,
    ValidationSettings,
    confidence_of,
    learn,
    level_of,
    ordered,
    recency,
    resolved_conflicts,
    sure_enough,
    visible,
)
from causalist.model.answer import MemoryMode, RetrievalMode, Route
from causalist.model.protocols import STAGES
from causalist.rank.query.query import read_question

MOST_CANDIDATES = 50  # of each generator that are looked at
# Which generators run on which route; `lookup` is a route of code, whose names are found by `sparse` here.
GENERATORS: dict[Route, tuple[str, ...]] = {
    Route.SIMPLE: ("dense",),
    Route.MULTI_HOP: ("dense", "graph"),
    Route.EXPLORATORY: ("dense", "sparse", "graph"),
    Route.LOOKUP: ("sparse", "graph"),
}


def generators(route: Route, view: View) -> tuple[str, ...]:
    """Those of a route. Without an embedder BM25 stands in for `dense`, as in mode `hippo`: word associations put the
    right page first half as often. A broadened attempt asks them as well."""
    return tuple(dict.fromkeys(plain_mode(view).value if name == "dense" else name for name in GENERATORS[route]))


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """`hits`: best first. `tiers`: ids by tier. `retrieval_confidence`: how likely the best passage is relevant;
    `is_calibrated`: whether that rests on feedback. `is_partial`: three attempts found nothing that is likely."""

    answer_id: str
    query: str
    mode: MemoryMode
    route: Route
    hits: tuple[MemoryHit, ...]
    tiers: dict[str, tuple[str, ...]]
    conflicts: tuple[Conflict, ...]
    retrieval_confidence: float
    is_calibrated: bool
    is_partial: bool = False
    attempts: int = 1
    diagnostics: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)


def features_of(scores: dict[str, Floats], fused: Floats, factor: Floats, at: Any) -> Any:
    """(n, FEATURES), each in [0, 1]: scores by their best, what no generator gave 0."""
    columns = []
    for name in FEATURES:
        values = factor if name == "recency" else fused if name == "fused" else scores.get(name)
        best = float(values.max(initial=0.0)) if values is not None else 0.0
        columns.append(values[at] / best if values is not None and best > 0 else np.zeros(len(at)))
    return np.stack(columns, axis=1)


def ranks_in(values: Floats) -> dict[int, int]:
    return {i: rank for rank, i in enumerate(best_of(values, MOST_FUSED).tolist(), 1)}


def tiers_of(
    tiers: Sequence[str],
    n: int,
    view: View,
    scores: dict[str, Floats],
    final: Floats,
    posteriors: dict[int, Posterior],
) -> dict[str, list[int]]:
    """The `n` best passages of each tier: by words, by the graph, by how likely they are relevant."""
    nothing = np.zeros(view.arrays.n_passages)
    plain = [scores[name] for name in ("dense", "sparse") if name in scores]
    found = {
        "plain": best_of(reciprocal_ranks(plain) if plain else nothing, n).tolist(),
        "graph": best_of(scores.get("graph", nothing), n).tolist(),
        "probabilistic": sorted(posteriors, key=lambda i: (-posteriors[i].mean, -round(float(final[i]), 12), i))[:n],
    }
    return {tier: found[tier] for tier in tiers}


def entities_of(place: int, found: Candidates, view: View) -> tuple[str, ...]:
    """The entities of a passage that the walk reached, best first, at most ten."""
    if found.entities is None:
        return ()
    own = view.arrays.mentions.row(place)[0]
    own = own[found.entities[own] > 0]
    order = np.lexsort((own, -np.round(found.entities[own], 12)))[:10]
    return tuple(view.arrays.entities[e] for e in own[order].tolist())


_MOST_ATTEMPTS = 3
_LEAST_POSTERIOR = 0.2  # below it another attempt is made, where feedback or vectors decide; chosen by hand
_CACHED = 64
_HOPS = 2  # that a broadened attempt seeds further

T = TypeVar("T")


@dataclass(slots=True)
class _Run:
    """What one question gathers on its way."""

    diagnostics: list[str] = field(default_factory=list)
    milliseconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))


class MemoryPipeline:
    """Questions to `index`. `feedback`: a file that keeps what was of use; without it this object does.

    >>> index = HippoIndex()
    >>> index.add_passage("a", "The Ledger is kept by Ada Byron.")
    >>> answer = MemoryPipeline(index).run("Who keeps the Ledger?")
    >>> [hit.passage_id for hit in answer.hits], answer.route.value, answer.attempts
    (['a'], 'simple', 1)
    """

    def __init__(
        self, index: HippoIndex, *, validation: ValidationSettings | None = None, feedback: Path | None = None
    ) -> None:
        self.index = index
        self.validation = validation or ValidationSettings()
        self.store = Feedback(feedback)
        self.circuits = Circuits()
        self.learned: Learned | None = learn(self.store.rows)
        self._answers: OrderedDict[str, MemoryAnswer] = OrderedDict()
        self._rows: OrderedDict[str, tuple[list[str], Row]] = OrderedDict()

    def run(
        self, query: str, mode: str | MemoryMode = MemoryMode.EXECUTION, route: str | Route | None = None
    ) -> MemoryAnswer:
        """Raises EmptyQuestion; UsageError for a mode or route that there is not."""
        check_query(query, 1)
        chosen, forced = _mode(mode), _route(route)
        run = _Run()
        key = self._key(query, chosen, forced)
        began = time.perf_counter()
        known = self._answers.get(key)
        if known is not None:
            # The route `skip`: nothing has changed since this was answered.
            self._answers.move_to_end(key)
            return replace(known, route=Route.SKIP, timings_ms=run.milliseconds)
        if forced is Route.SKIP:
            raise UsageError("this question was not answered before, so that there is nothing to skip to")
        planned = forced or read_question(query).route
        self._spend(run, "route", began)
        answer: MemoryAnswer | None = None
        attempts, least = 0, LEAST if self._goes_by_words else _LEAST_POSTERIOR
        for attempt in range(1, _MOST_ATTEMPTS + 1):
            attempts = attempt
            tried = self._attempt(query, chosen, _route_of(planned, attempt), attempt, run)
            if answer is None or tried.retrieval_confidence > answer.retrieval_confidence:
                answer = tried
            if answer.retrieval_confidence >= least:
                break
        assert answer is not None
        is_partial = answer.retrieval_confidence < least
        milliseconds = {name: round(value, 3) for name, value in run.milliseconds.items()}
        answer = replace(
            answer, answer_id=key, attempts=attempts, is_partial=is_partial, timings_ms=milliseconds,
            diagnostics=tuple(dict.fromkeys(run.diagnostics)),
        )  # fmt: skip
        if not run.diagnostics:  # an answer that could be better is not kept
            self._answers[key] = answer
            if len(self._answers) > _CACHED:
                self._answers.popitem(last=False)
        return answer

    def feedback(self, answer_id: str, used: Sequence[str]) -> Learned | None:
        """Tells which passages of an answer were of use; the weights that are in use from now on, None: fusion.

        Raises UsageError for an answer that is not among the last ones, IndexNotWritable."""
        known = self._rows.get(answer_id)
        if known is None:
            raise UsageError(f"no answer {answer_id!r} is among the last ones")
        passages, row = known
        self.store.add(replace(row, used=np.isin(passages, list(used))))
        self._answers.clear()
        self.learned = learn(self.store.rows)
        return self.learned

    # -- stages

    def _attempt(self, query: str, mode: MemoryMode, route: Route, attempt: int, run: _Run) -> MemoryAnswer:
        view = self.index.view
        began = time.perf_counter()
        names = generators(route, view) if attempt == 1 else ("dense", "sparse", "graph")
        found = self._candidates(query, view, names, attempt, run)
        self._spend(run, "candidates", began)

        began = time.perf_counter()
        factor = self._validated(view, attempt, run)
        scores = {name: values * factor for name, values in found.scores.items()}
        self._spend(run, "validate", began)

        began = time.perf_counter()
        tiers, n = MODES[mode]
        lists = [scores[name] for name in names if name in scores] or [np.zeros(view.arrays.n_passages)]
        fused = reciprocal_ranks(lists)
        ranks = {name: ranks_in(values) for name, values in scores.items()}
        final = self._optional("distil", lambda: self._distilled(scores, fused, factor), lambda: fused, run)
        self._spend(run, "distil", began)

        began = time.perf_counter()
        levels = {
            i: level_of([r[i] for r in ranks.values() if i in r]) for i in best_of(fused, MOST_CANDIDATES).tolist()
        }
        posteriors = {i: self.store.posterior(level) for i, level in levels.items()}
        by_tier = tiers_of(tiers, n, view, scores, final, posteriors)
        members = list(dict.fromkeys(i for each in by_tier.values() for i in each))
        members.sort(key=lambda i: (-round(float(final[i]), 12), i))
        members = self._reflected(query, members, view, run) if attempt == 1 else members
        hits, conflicts = self._assembled(members, final, ranks, by_tier, posteriors, found, view, run)
        self._spend(run, "assemble", began)

        began = time.perf_counter()
        key = self._key(query, mode, None)
        self._remember(query, mode, members, scores, fused, factor, levels, view)
        tier_ids = {
            tier: tuple(view.arrays.passages[i] for i in each if i in set(members)) for tier, each in by_tier.items()
        }
        confidence = self._confidence(query, hits, factor, view)
        self._spend(run, "deliver", began)
        return MemoryAnswer(
            key, query, mode, route, hits, tier_ids, conflicts, confidence, self.store.is_calibrated
        )  # fmt: skip

    @property
    def _goes_by_words(self) -> bool:
        """Whether confidence is that of `memory.confidence`: it is fitted to words, and feedback knows better."""
        return self.index.vectors is None and not self.store.is_calibrated

    def _confidence(self, query: str, hits: Sequence[MemoryHit], factor: Floats, view: View) -> float:
        if hits and self._goes_by_words:
            return confidence_of(plain_scores(query, view, RetrievalMode.SPARSE) * factor, view)
        return max((hit.posterior.mean for hit in hits), default=0.0)

    def _candidates(self, query: str, view: View, names: Sequence[str], attempt: int, run: _Run) -> Candidates:
        """The generators at the same time; what they give does not depend on which one ends first."""
        found = Candidates()
        _ = view.associations, view.place_of, view.mention_rows, view.explicit_subjects  # made once, not by each thread

        def work(name: str) -> Floats:
            return (
                self._graph(query, view, found, attempt)
                if name == "graph"
                else plain_scores(query, view, RetrievalMode(name))
            )

        def guarded(name: str) -> tuple[Floats | None, str]:
            step = f"candidates.{name}"
            why = self.circuits.passes_over(step)
            if why:
                return None, f"{step}: {why}"
            try:
                value = work(name)
            except CausalistError as error:
                self.circuits.failed(step, f"{error.slug}: {error}")
                return None, f"{step}: skipped: {error.slug}: {error}"
            self.circuits.worked(step)
            return value, ""

        if view.arrays.n_passages == 0:
            return found
        with ThreadPoolExecutor(max_workers=len(names)) as pool:
            results = list(pool.map(guarded, names))
        for name, (values, why) in zip(names, results, strict=True):
            if values is not None:
                found.scores[name] = values
            if why:
                run.diagnostics.append(why)
        return found

    def _graph(self, query: str, view: View, found: Candidates, attempt: int) -> Floats:
        linked = link(query, view, self.index.extractor)
        if attempt > 1 and linked.matches:
            linked = expanded(linked, view, _HOPS)
        plain = plain_scores(query, view, plain_mode(view))
        seeds = seeds_of(linked, view, self.index.variant, plain)
        if seeds is None:
            return np.zeros(view.arrays.n_passages)
        walked = walk(Query(query, self.index.variant, self.index.settings), seeds, view)
        found.entities, found.passages_by_walk = walked.entities, walked.passages
        return combined(query, walked.passages, plain, view, self.index.settings)

    def _validated(self, view: View, attempt: int, run: _Run) -> Floats:
        """A factor for each passage: 0 for what is not shown. The first attempt is strict about age and confidence."""
        allowed = visible(view, self.validation).astype(np.float64)
        if attempt > 1:
            return allowed
        factor = self._optional("validate.recency", lambda: recency(view, self.validation), lambda: np.ones(1), run)
        least = self.validation.min_confidence
        return allowed * factor * sure_enough(view, least) if least else allowed * factor

    def _distilled(self, scores: dict[str, Floats], fused: Floats, factor: Floats) -> Floats:
        if self.learned is None:
            return fused
        matrix = features_of(scores, fused, factor, np.arange(len(fused)))
        weights = np.array([self.learned.weights[name] for name in FEATURES])
        return np.asarray(np.where(fused > 0, matrix @ weights, 0.0), dtype=np.float64)

    def _reflected(self, query: str, members: list[int], view: View, run: _Run) -> list[int]:
        """What a model says answers the question; everything where it cannot be asked."""
        reflect = self.validation.reflect
        if reflect is None or not members:
            return members

        def judged() -> list[int]:
            texts = [view.records.passages[view.arrays.passages[i]].text for i in members]
            try:
                answers = list(reflect(query, texts))
            except CausalistError:
                raise
            except Exception as error:  # whatever a provider raises
                raise ModelFailed(f"the self-check failed: {type(error).__name__}: {str(error)[:200]}") from error
            if len(answers) != len(members) or not all(isinstance(each, bool) for each in answers):
                raise ModelFailed(f"the self-check gave {len(answers)} judgements of {len(members)} passages")
            return [i for i, answers_it in zip(members, answers, strict=True) if answers_it]

        return self._optional("validate.reflect", judged, lambda: members, run)

    def _assembled(
        self,
        members: list[int],
        final: Floats,
        ranks: dict[str, dict[int, int]],
        by_tier: dict[str, list[int]],
        posteriors: dict[int, Posterior],
        found: Candidates,
        view: View,
        run: _Run,
    ) -> tuple[tuple[MemoryHit, ...], tuple[Conflict, ...]]:
        """Same texts once, conflicts resolved, each with where it comes from."""
        passages = view.arrays.passages
        same: dict[str, list[int]] = {}
        for i in members:
            same.setdefault(" ".join(view.records.passages[passages[i]].text.split()).lower(), []).append(i)
        firsts = {group[0]: group[1:] for group in same.values()}
        names = [passages[i] for i in members if i in firsts]
        nothing: list[Conflict] = []
        conflicts = self._optional("assemble.conflicts", lambda: resolved_conflicts(names, view), lambda: nothing, run)
        hits = []
        for name in ordered(names, conflicts):
            i = view.passage_place[name]
            record = view.records.passages[name]
            hits.append(
                MemoryHit(
                    name,
                    record.text,
                    float(final[i]),
                    float(found.passages_by_walk[i]) if found.passages_by_walk is not None else 0.0,
                    entities_of(i, found, view),
                    record.metadata,
                    {generator: places[i] for generator, places in ranks.items() if i in places},
                    tuple(tier for tier, each in by_tier.items() if i in each),
                    posteriors.get(i) or self.store.posterior(level_of([MOST_CANDIDATES])),
                    tuple(c.kept for c in conflicts if c.against == name),
                    tuple(passages[j] for j in firsts[i]),
                )
            )
        return tuple(hits), tuple(conflicts)

    # -- what stages share

    def _optional(self, step: str, work: Callable[[], T], without: Callable[[], T], run: _Run) -> T:
        """What `work` gives, or what `without` gives where the step fails or keeps failing."""
        why = self.circuits.passes_over(step)
        if why:
            run.diagnostics.append(f"{step}: {why}")
            return without()
        try:
            value = work()
        except CausalistError as error:
            self.circuits.failed(step, f"{error.slug}: {error}")
            run.diagnostics.append(f"{step}: skipped: {error.slug}: {error}")
            return without()
        self.circuits.worked(step)
        return value

    def _spend(self, run: _Run, stage: str, began: float) -> None:
        run.milliseconds[stage] += 1000 * (time.perf_counter() - began)

    def _key(self, query: str, mode: MemoryMode, route: Route | None) -> str:
        settings = replace(self.validation, reflect=None)
        said = [query, mode.value, route.value if route else None, self.index.records.generation, repr(settings)]
        return hashlib.sha256(json.dumps(said).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _remember(
        self,
        query: str,
        mode: MemoryMode,
        members: list[int],
        scores: dict[str, Floats],
        fused: Floats,
        factor: Floats,
        levels: dict[int, int],
        view: View,
    ) -> None:
        """Keeps the features of what was shown, for feedback; under the keys of every route that may be given."""
        if not members:
            return
        shown = np.array(members, dtype=np.int64)
        row = Row(
            features_of(scores, fused, factor, shown),
            tuple(levels.get(i, level_of([MOST_CANDIDATES])) for i in members),
            np.zeros(len(members), dtype=np.bool_),
        )
        ids = [view.arrays.passages[i] for i in members]
        for route in (None, *Route):
            self._rows[self._key(query, mode, route)] = (ids, row)
        while len(self._rows) > 10 * _CACHED:
            self._rows.popitem(last=False)


def _mode(mode: str | MemoryMode) -> MemoryMode:
    try:
        return MemoryMode(mode)
    except ValueError:
        raise UsageError(f"there is no mode {mode!r}; there are {', '.join(MemoryMode)}") from None


def _route(route: str | Route | None) -> Route | None:
    try:
        return None if route is None else Route(route)
    except ValueError:
        raise UsageError(f"there is no route {route!r}; there are {', '.join(Route)}") from None


def _route_of(planned: Route, attempt: int) -> Route:
    """The route of an attempt: as planned, as planned but broadened, the other one."""
    if attempt < _MOST_ATTEMPTS:
        return planned
    return Route.SIMPLE if planned is Route.MULTI_HOP else Route.MULTI_HOP
