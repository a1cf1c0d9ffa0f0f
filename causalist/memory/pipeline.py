"""`MemoryPipeline`: answers of a memory in six guarded stages, with at most three attempts.

route -> candidates -> validate -> distil -> assemble -> deliver, as for queries about code. Circuit breakers and rank
fusion are those of code search. A step that raises `CausalistError` is skipped and named. Reading
the index, ordering and delivery are not guarded.
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

from causalist._internal.stage_clock import Circuits
from causalist.errors import CausalistError, ModelFailed, UsageError
from causalist.memory.conflicts_and_confidence import (
    FEATURES,
    MIN_CONFIDENCE,
    MODES,
    Candidates,
    Conflict,
    Feedback,
    FeedbackRow,
    LearnedPassageWeights,
    MemoryHit,
    Posterior,
    ValidationSettings,
    compute_level,
    confident_mask,
    estimate_confidence,
    learn_weights,
    order_by_conflicts,
    recency_factors,
    resolve_conflicts,
    visible_mask,
)
from causalist.memory.index import HippoIndex, expand_linked
from causalist.memory.matrix_splices import Floats
from causalist.memory.query_entities import build_seeds, link_query
from causalist.memory.retrieval import (
    MAX_FUSED,
    Query,
    check_query,
    choose_route,
    combine_signals,
    fuse_ranks,
    plain_mode,
    run_walk,
    score_plain,
    top_indices,
)
from causalist.memory.walk import Snapshot
from causalist.model.answer import MemoryMode, RetrievalMode, Route
from causalist.model.protocols import STAGES

MAX_CANDIDATES = 50  # per generator
# Generators of each route. No route does without the graph: it is better for questions of one hop, too.
GENERATORS: dict[Route, tuple[str, ...]] = {
    Route.SIMPLE: ("dense", "graph"),
    Route.MULTI_HOP: ("dense", "graph"),
    Route.EXPLORATORY: ("dense", "sparse", "graph"),
    Route.LOOKUP: ("sparse", "graph"),
}


def choose_generators(route: Route, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the generators of a route.

    Without an embedder, BM25 replaces `dense`, as in mode `hippo`: word associations rank the right page first half as
    often. A broadened attempt uses word associations too.
    """
    return tuple(dict.fromkeys(plain_mode(snapshot).value if name == "dense" else name for name in GENERATORS[route]))


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """Answer to a query; `hits` are best first.

    `tiers`: passage ids by tier. `retrieval_confidence`: probability that the best passage is relevant;
    `is_calibrated`: True if feedback calibrates it. `is_partial`: three attempts found no likely passage.
    """

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


def build_features(scores: dict[str, Floats], fused: Floats, factor: Floats, at: Any) -> Any:
    """Return features, shape (n, FEATURES), each in [0, 1]: scores relative to the best, 0 without a score."""
    columns = []
    for name in FEATURES:
        values = factor if name == "recency" else fused if name == "fused" else scores.get(name)
        best = float(values.max(initial=0.0)) if values is not None else 0.0
        columns.append(values[at] / best if values is not None and best > 0 else np.zeros(len(at)))
    return np.stack(columns, axis=1)


def fuse_candidates(scores: dict[str, Floats], lists: Sequence[Floats]) -> Floats:
    """Return the ranking of all candidates: by the graph, which joins plain retrieval already, then by rank fusion.

    Passages that the graph does not find come last. Without the graph, all lists are fused by reciprocal rank.
    """
    graph = scores.get("graph")
    best = float(graph.max(initial=0.0)) if graph is not None else 0.0
    fused = fuse_ranks(lists)
    if graph is None or best <= 0:
        return fused
    return np.asarray(graph / best + _TAIL_SHARE * fused, dtype=np.float64)


def compute_ranks(values: Floats) -> dict[int, int]:
    """Return position -> rank from 1."""
    return {i: rank for rank, i in enumerate(top_indices(values, MAX_FUSED).tolist(), 1)}


def build_tiers(
    tiers: Sequence[str],
    n: int,
    snapshot: Snapshot,
    scores: dict[str, Floats],
    final: Floats,
    posteriors: dict[int, Posterior],
) -> dict[str, list[int]]:
    """Return the `n` best passages of each tier: by words, by the graph, by probability of relevance."""
    nothing = np.zeros(snapshot.arrays.n_passages)
    plain = [scores[name] for name in ("dense", "sparse") if name in scores]
    passages_by_tier = {
        "plain": top_indices(fuse_ranks(plain) if plain else nothing, n).tolist(),
        "graph": top_indices(scores.get("graph", nothing), n).tolist(),
        "probabilistic": sorted(posteriors, key=lambda i: (-posteriors[i].mean, -round(float(final[i]), 12), i))[:n],
    }
    return {tier: passages_by_tier[tier] for tier in tiers}


def list_entities(position: int, candidates: Candidates, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the entities of a passage that the walk reached, best first, at most ten."""
    if candidates.entities is None:
        return ()
    mentioned = snapshot.arrays.mentions.row(position)[0]
    mentioned = mentioned[candidates.entities[mentioned] > 0]
    order = np.lexsort((mentioned, -np.round(candidates.entities[mentioned], 12)))[:10]
    return tuple(snapshot.arrays.entities[e] for e in mentioned[order].tolist())


_TAIL_SHARE = 1e-6  # of reciprocal ranks beside the graph: they order what it leaves equal
_MAX_ATTEMPTS = 3
_MIN_POSTERIOR = 0.2  # below it, another attempt, if feedback or vectors decide; chosen by hand
_MAX_CACHED_ANSWERS = 64
_BROADENED_HOPS = 2  # further hops that a broadened attempt seeds

T = TypeVar("T")


@dataclass(slots=True)
class _RunState:
    """Diagnostics and timings of one query."""

    diagnostics: list[str] = field(default_factory=list)
    milliseconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))


class MemoryPipeline:
    """Answers queries to `index` in six stages.

    `validation`: rules for excluding and discounting passages. `feedback`: file that keeps feedback; without it,
    feedback lives as long as this object.

    >>> index = HippoIndex()
    >>> index.add_passage("a", "The Ledger is kept by Ada Byron.")
    >>> answer = MemoryPipeline(index).run("Who keeps the Ledger?")
    >>> [hit.passage_id for hit in answer.hits], answer.route.value, answer.attempts
    (['a'], 'simple', 1)
    """

    def __init__(
        self, index: HippoIndex, *, validation: ValidationSettings | None = None, feedback: Path | None = None
    ) -> None:
        """Create a pipeline over an index; the class describes the options."""
        self.index = index
        self.validation = validation or ValidationSettings()
        self.store = Feedback(feedback)
        self.circuits = Circuits()
        self.learned: LearnedPassageWeights | None = learn_weights(self.store.rows)
        self._answers: OrderedDict[str, MemoryAnswer] = OrderedDict()
        self._rows: OrderedDict[str, tuple[list[str], FeedbackRow]] = OrderedDict()

    def run(
        self, query: str, mode: str | MemoryMode = MemoryMode.EXECUTION, route: str | Route | None = None
    ) -> MemoryAnswer:
        """Return the answer to a query. Raises EmptyQuestion; UsageError for an unknown mode or route."""
        check_query(query, 1)
        chosen, forced = _parse_mode(mode), _parse_route(route)
        run = _RunState()
        key = self._key(query, chosen, forced)
        began = time.perf_counter()
        cached = self._answers.get(key)
        if cached is not None:
            # Route `skip`: nothing has changed since this answer.
            self._answers.move_to_end(key)
            return replace(cached, route=Route.SKIP, timings_ms=run.milliseconds)
        if forced is Route.SKIP:
            raise UsageError("route 'skip' needs an earlier answer to this query; use another route")
        planned = forced or choose_route(query)
        self._add_time(run, "route", began)
        answer: MemoryAnswer | None = None
        attempts, least = 0, MIN_CONFIDENCE if self._has_word_confidence else _MIN_POSTERIOR
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            attempts = attempt
            tried = self._run_attempt(query, chosen, _attempt_route(planned, attempt), attempt, run)
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
        if not run.diagnostics:  # an answer with skipped steps is not cached
            self._answers[key] = answer
            if len(self._answers) > _MAX_CACHED_ANSWERS:
                self._answers.popitem(last=False)
        return answer

    def feedback(self, answer_id: str, used: Sequence[str]) -> LearnedPassageWeights | None:
        """Record the used passages of an answer. Return the weights in use from now on; None means fusion.

        Raises UsageError for an answer that is not among the last ones, IndexNotWritable.
        """
        recorded = self._rows.get(answer_id)
        if recorded is None:
            raise UsageError(f"no answer {answer_id!r} is among the last ones")
        passages, row = recorded
        self.store.add(replace(row, used=np.isin(passages, list(used))))
        self._answers.clear()
        self.learned = learn_weights(self.store.rows)
        return self.learned

    # -- stages

    def _run_attempt(self, query: str, mode: MemoryMode, route: Route, attempt: int, run: _RunState) -> MemoryAnswer:
        snapshot = self.index.snapshot
        began = time.perf_counter()
        names = choose_generators(route, snapshot) if attempt == 1 else ("dense", "sparse", "graph")
        candidates = self._generate_candidates(query, snapshot, names, attempt, run)
        self._add_time(run, "candidates", began)

        began = time.perf_counter()
        factor = self._validation_factors(snapshot, attempt, run)
        scores = {name: values * factor for name, values in candidates.scores.items()}
        self._add_time(run, "validate", began)

        began = time.perf_counter()
        tiers, n = MODES[mode]
        lists = [scores[name] for name in names if name in scores] or [np.zeros(snapshot.arrays.n_passages)]
        fused = fuse_candidates(scores, lists)
        ranks = {name: compute_ranks(values) for name, values in scores.items()}
        final = self._run_optional("distil", lambda: self._score_features(scores, fused, factor), lambda: fused, run)
        self._add_time(run, "distil", began)

        began = time.perf_counter()
        levels = {
            i: compute_level([r[i] for r in ranks.values() if i in r])
            for i in top_indices(fused, MAX_CANDIDATES).tolist()
        }
        posteriors = {i: self.store.posterior(level) for i, level in levels.items()}
        by_tier = build_tiers(tiers, n, snapshot, scores, final, posteriors)
        members = list(dict.fromkeys(i for each in by_tier.values() for i in each))
        members.sort(key=lambda i: (-round(float(final[i]), 12), i))
        members = self._reflect(query, members, snapshot, run) if attempt == 1 else members
        hits, conflicts = self._assemble(members, final, ranks, by_tier, posteriors, candidates, snapshot, run)
        self._add_time(run, "assemble", began)

        began = time.perf_counter()
        key = self._key(query, mode, None)
        self._remember(query, mode, members, scores, fused, factor, levels, snapshot)
        tier_ids = {
            tier: tuple(snapshot.arrays.passages[i] for i in each if i in set(members))
            for tier, each in by_tier.items()
        }
        confidence = self._confidence(query, hits, factor, snapshot)
        self._add_time(run, "deliver", began)
        return MemoryAnswer(
            key, query, mode, route, hits, tier_ids, conflicts, confidence, self.store.is_calibrated
        )  # fmt: skip

    @property
    def _has_word_confidence(self) -> bool:
        """True if confidence comes from words: there are no vectors and not enough feedback."""
        return self.index.vectors is None and not self.store.is_calibrated

    def _confidence(self, query: str, hits: Sequence[MemoryHit], factor: Floats, snapshot: Snapshot) -> float:
        if hits and self._has_word_confidence:
            return estimate_confidence(score_plain(query, snapshot, RetrievalMode.SPARSE) * factor, snapshot)
        return max((hit.posterior.mean for hit in hits), default=0.0)

    def _generate_candidates(
        self, query: str, snapshot: Snapshot, names: Sequence[str], attempt: int, run: _RunState
    ) -> Candidates:
        """Return the candidates of all generators, which run in parallel. The order in which they end is irrelevant."""
        candidates = Candidates()
        _ = (
            snapshot.associations,
            snapshot.position_by_entity,
            snapshot.mention_passages,
            snapshot.explicit_subjects,
        )  # computed once, before the threads start

        def work(name: str) -> Floats:
            return (
                self._score_graph(query, snapshot, candidates, attempt)
                if name == "graph"
                else score_plain(query, snapshot, RetrievalMode(name))
            )

        def run_guarded(name: str) -> tuple[Floats | None, str]:
            step = f"candidates.{name}"
            why = self.circuits.passes_over(step)
            if why:
                return None, f"{step}: {why}"
            try:
                value = work(name)
            except CausalistError as error:
                self.circuits.record_failure(step, f"{error.slug}: {error}")
                return None, f"{step}: skipped: {error.slug}: {error}"
            self.circuits.record_success(step)
            return value, ""

        if snapshot.arrays.n_passages == 0:
            return candidates
        with ThreadPoolExecutor(max_workers=len(names)) as pool:
            results = list(pool.map(run_guarded, names))
        for name, (values, why) in zip(names, results, strict=True):
            if values is not None:
                candidates.scores[name] = values
            if why:
                run.diagnostics.append(why)
        return candidates

    def _score_graph(self, query: str, snapshot: Snapshot, candidates: Candidates, attempt: int) -> Floats:
        linked = link_query(query, snapshot, self.index.extractor)
        if attempt > 1 and linked.matches:
            linked = expand_linked(linked, snapshot, _BROADENED_HOPS)
        plain = score_plain(query, snapshot, plain_mode(snapshot))
        seeds = build_seeds(linked, snapshot, self.index.variant, plain)
        if seeds is None:
            return np.zeros(snapshot.arrays.n_passages)
        walk_result = run_walk(Query(query, self.index.variant, self.index.settings), seeds, snapshot)
        candidates.entities, candidates.passages_by_walk = walk_result.entities, walk_result.passages
        return combine_signals(query, walk_result.passages, plain, snapshot, self.index.settings)

    def _validation_factors(self, snapshot: Snapshot, attempt: int, run: _RunState) -> Floats:
        """Return a factor for each passage, 0 to exclude it. Only the first attempt applies age and confidence."""
        allowed = visible_mask(snapshot, self.validation).astype(np.float64)
        if attempt > 1:
            return allowed
        factor = self._run_optional(
            "validate.recency", lambda: recency_factors(snapshot, self.validation), lambda: np.ones(1), run
        )
        least = self.validation.min_confidence
        return allowed * factor * confident_mask(snapshot, least) if least else allowed * factor

    def _score_features(self, scores: dict[str, Floats], fused: Floats, factor: Floats) -> Floats:
        if self.learned is None:
            return fused
        matrix = build_features(scores, fused, factor, np.arange(len(fused)))
        weights = np.array([self.learned.weights[name] for name in FEATURES])
        return np.asarray(np.where(fused > 0, matrix @ weights, 0.0), dtype=np.float64)

    def _reflect(self, query: str, members: list[int], snapshot: Snapshot, run: _RunState) -> list[int]:
        """Return the passages that the model judges as answers; all of them if the model fails."""
        reflect = self.validation.reflect
        if reflect is None or not members:
            return members

        def judge() -> list[int]:
            texts = [snapshot.records.passages[snapshot.arrays.passages[i]].text for i in members]
            try:
                answers = list(reflect(query, texts))
            except CausalistError:
                raise
            except Exception as error:  # a provider can raise anything
                raise ModelFailed(f"the self-check failed: {type(error).__name__}: {str(error)[:200]}") from error
            if len(answers) != len(members) or not all(isinstance(each, bool) for each in answers):
                raise ModelFailed(f"the self-check returned {len(answers)} judgments for {len(members)} passages")
            return [i for i, answers_it in zip(members, answers, strict=True) if answers_it]

        return self._run_optional("validate.reflect", judge, lambda: members, run)

    def _assemble(
        self,
        members: list[int],
        final: Floats,
        ranks: dict[str, dict[int, int]],
        by_tier: dict[str, list[int]],
        posteriors: dict[int, Posterior],
        candidates: Candidates,
        snapshot: Snapshot,
        run: _RunState,
    ) -> tuple[tuple[MemoryHit, ...], tuple[Conflict, ...]]:
        """Return hits with duplicates merged and conflicts resolved, and the conflicts."""
        passages = snapshot.arrays.passages
        same: dict[str, list[int]] = {}
        for i in members:
            same.setdefault(" ".join(snapshot.records.passages[passages[i]].text.split()).lower(), []).append(i)
        firsts = {group[0]: group[1:] for group in same.values()}
        names = [passages[i] for i in members if i in firsts]
        nothing: list[Conflict] = []
        conflicts = self._run_optional(
            "assemble.conflicts", lambda: resolve_conflicts(names, snapshot), lambda: nothing, run
        )
        hits, readers = [], () if self.validation.reader is None else (self.validation.reader,)
        for name in order_by_conflicts(names, conflicts):
            i = snapshot.position_by_passage[name]
            record = snapshot.records.passages[name]
            hits.append(
                MemoryHit(
                    name,
                    record.text,
                    float(final[i]),
                    float(candidates.passages_by_walk[i]) if candidates.passages_by_walk is not None else 0.0,
                    list_entities(i, candidates, snapshot),
                    record.metadata,
                    {
                        generator: rank_by_position[i]
                        for generator, rank_by_position in ranks.items()
                        if i in rank_by_position
                    },
                    tuple(tier for tier, each in by_tier.items() if i in each),
                    posteriors.get(i) or self.store.posterior(compute_level([MAX_CANDIDATES])),
                    tuple(c.kept for c in conflicts if c.against == name),
                    snapshot.find_superseding(name, readers),
                    tuple(passages[j] for j in firsts[i]),
                )
            )
        return tuple(hits), tuple(conflicts)

    # -- shared by stages

    def _run_optional(self, step: str, work: Callable[[], T], without: Callable[[], T], run: _RunState) -> T:
        """Run `work`. Return `without()` if it raises or if the circuit breaker of this step is open."""
        why = self.circuits.passes_over(step)
        if why:
            run.diagnostics.append(f"{step}: {why}")
            return without()
        try:
            value = work()
        except CausalistError as error:
            self.circuits.record_failure(step, f"{error.slug}: {error}")
            run.diagnostics.append(f"{step}: skipped: {error.slug}: {error}")
            return without()
        self.circuits.record_success(step)
        return value

    def _add_time(self, run: _RunState, stage: str, began: float) -> None:
        run.milliseconds[stage] += 1000 * (time.perf_counter() - began)

    def _key(self, query: str, mode: MemoryMode, route: Route | None) -> str:
        settings = replace(self.validation, reflect=None)
        key_data = [query, mode.value, route.value if route else None, self.index.records.generation, repr(settings)]
        return hashlib.sha256(json.dumps(key_data).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _remember(
        self,
        query: str,
        mode: MemoryMode,
        members: list[int],
        scores: dict[str, Floats],
        fused: Floats,
        factor: Floats,
        levels: dict[int, int],
        snapshot: Snapshot,
    ) -> None:
        """Store the features of the shown passages for feedback, under the key of every route."""
        if not members:
            return
        shown = np.array(members, dtype=np.int64)
        row = FeedbackRow(
            build_features(scores, fused, factor, shown),
            tuple(levels.get(i, compute_level([MAX_CANDIDATES])) for i in members),
            np.zeros(len(members), dtype=np.bool_),
        )
        ids = [snapshot.arrays.passages[i] for i in members]
        for route in (None, *Route):
            self._rows[self._key(query, mode, route)] = (ids, row)
        while len(self._rows) > 10 * _MAX_CACHED_ANSWERS:
            self._rows.popitem(last=False)


def _parse_mode(mode: str | MemoryMode) -> MemoryMode:
    try:
        return MemoryMode(mode)
    except ValueError:
        raise UsageError(f"unknown mode {mode!r}; the modes are {', '.join(MemoryMode)}") from None


def _parse_route(route: str | Route | None) -> Route | None:
    try:
        return None if route is None else Route(route)
    except ValueError:
        raise UsageError(f"unknown route {route!r}; the routes are {', '.join(Route)}") from None


def _attempt_route(planned: Route, attempt: int) -> Route:
    """Return the route of an attempt: the planned one, the planned one broadened, or the other one."""
    if attempt < _MAX_ATTEMPTS:
        return planned
    return Route.SIMPLE if planned is Route.MULTI_HOP else Route.MULTI_HOP
