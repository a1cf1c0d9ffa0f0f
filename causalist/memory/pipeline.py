"""`MemoryPipeline`: answers of a memory in six guarded stages, with at most three attempts.

route -> candidates -> validate -> distil -> assemble -> deliver, as for queries about code. Circuit breakers and rank
fusion are those of code search. A step that raises `CausalistError` is skipped and named. Reading
the index, ordering and delivery are not guarded.
"""

import hashlib
import json
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
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


_MAX_ROUTED_CHARACTERS = 500
_MAX_LOOKUP_WORDS = 5
_IMPERATIVE = re.compile(
    r"(?:please |can you |could you )?(?:give (?:me )?(?:an? |some |the )?(?:overview|summary|examples?|ideas)|overview"
    r"|tell me (?:everything|all|more|about)|summari[sz]e|describe|explain|outline|discuss|brainstorm|introduce"
    r"|walk (?:me )?through|walk me|list|collect|gather|show (?:me )?(?:all|notes|everything)"
    r"|find (?:all|similar|notes)|ideas|background|everything|anything|highlights|state of the art|main|compare"
    r"|introduction to|summary)\b"
)
_BROAD = re.compile(
    r"\b(?:do (?:we|you|people) (?:know|think)|is known about|pros and cons|overview|in general|generally|usually"
    r"|best practices|lessons|trade-?offs|kinds of|types of|over time|opinions? on|has been (?:tried|done)|evolved"
    r"|should (?:a|an|i|we|new) .*know|information (?:is|exists)|options (?:are|exist)|resources)\b"
)
_BROAD_START = re.compile(
    r"(?:what are (?:the |our |your )?(?:\w+ )?(?!is\b)\w+s\b(?= (?:of|for|about|to|in|with|from|on|and|against)\b)"
    r"|(?:what|which) \w+[^s\W]s (?:are|is|were|do|did|have|has|came|come|connect|exist|there)\b"
    r"|how (?:do|does|are|is) .*\b(?:work|organi[sz]e|handled|interact|fit together)\b)"
)
_MEANING = re.compile(
    r"(?:define|definition of|(?:the )?meaning of|glossary|abbreviation|acronym"
    r"|what does \S+(?: \S+)? (?:stand for|mean)\b|(?:what|who)(?: is| are|'s) (?:an? |the )?\S+(?: \S+)?\??$)"
)
_QUESTION = re.compile(
    r"(?:\w+ )?(?:what|which|who\w*|where|when|why|how)\b"
    r"|(?:is|are|was|were|do|does|did|can|could|should|has|have|had|will)\b"
)


# Words, not structure, say that it needs two facts: what connects things, and relations over two persons.
_TWO_STEPS = re.compile(
    r"\b(?:related to|connect(?:ed|s)? (?:to|with)|relationship between|relation between|influenced by|led to|caused by"
    r"|as a result of|link between|have in common|depends? on the)\b"
    r"|\b(?:grand(?:father|mother|child|son|daughter|parent)s?|\w+-in-law|uncle|aunt|cousin|nephew|niece|step\w+er)\b"
)
# Words that tell how a question is built, whatever it is about.
_STRUCTURE = """
a about across after against all along also among an and and another any are around as at be been before behind
being between both but by can could did do does done during each every few first for from had has have having he
her here him his how i if in inside into is it its last least less many may me might more most much must my name
named called near next no not of on one only or other our outside over same second she should since so some such
than that the their them then there these they third this those three through to two under until us was we were
what when where which while who whom whose why will with within without would you your 's
"""
_STRUCTURE_WORDS = frozenset(_STRUCTURE.split())
# Nouns that join two things, and kinds of things that such nouns describe. Only their number counts.
_RELATIONS = """
actor actress album author band birthplace book brother capital city club company country county daughter director
district father film founder husband leader league mother movie nationality novel owner performer president producer
province publisher river school sister singer song son spouse star state team university wife writer composer series
"""
_RELATION_WORDS = frozenset(_RELATIONS.split())
_MAX_RELATIONS = 4
_PREPOSITIONS = frozenset(["of", "in", "on", "at", "by", "for", "from", "to", "with", "as"])
_VERBS = frozenset(["is", "was", "were", "are", "did", "does", "do", "has", "had", "have", "~ed"])
_ENDINGS = ("est", "ed", "ing", "er", "or", "ist", "ly", "s")  # of other words; the first that a word has counts
_TOKEN = re.compile(r"'s\b|[^\W_]+(?:[-'.&][^\W_]+)*|[,.!\"“”()]")
_MIN_WORDS = (4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 24, 28)
_MAX_RUN = 3  # marks of a feature


def build_route_features(query: str) -> list[str]:
    """Return the features of a question that `route_weights.json` weighs, in alphabetical order.

    A question becomes a list of marks: its words of structure and its punctuation as they are, other words by their
    ending, and "w" for a word without one of these endings, "W" for several. Features are all runs of one to three
    marks, "^" and "$" being its ends, and thresholds of counts, also of nouns that join things (_RELATIONS). Case does
    not matter, nor does the subject otherwise.

    >>> [each for each in build_route_features("Who directed Blue Meridian?") if each.startswith("^")]
    ['^', '^ who', '^ who ~ed']
    """
    tokens = _TOKEN.findall(query.lower().replace("’", "'").replace("'s", " 's"))
    marks = ["^"]
    for token in tokens:
        mark = _mark_of(token)
        if mark == "w" and marks[-1] in ("w", "W"):
            marks[-1] = "W"
        else:
            marks.append(mark)
    marks.append("$")
    features = {" ".join(marks[i : i + n]) for n in range(1, _MAX_RUN + 1) for i in range(len(marks) - n + 1)}
    n_words = sum(token[0].isalnum() for token in tokens)
    features.update(f"words>={n}" for n in _MIN_WORDS if n_words >= n)
    counts = Counter(marks)
    n_all = {"prepositions": sum(counts[each] for each in _PREPOSITIONS), "verbs": sum(counts[each] for each in _VERBS)}
    features.update(f"{name}>={n}" for name, count in n_all.items() for n in range(1, min(count, 6) + 1))
    n_relations = min(sum(token in _RELATION_WORDS for token in tokens), _MAX_RELATIONS)
    features.update(f"relations>={n}" for n in range(1, n_relations + 1))
    repeated = {mark: min(count, 4) for mark, count in counts.items() if mark in _STRUCTURE_WORDS}
    features.update(f"{mark}>={n}" for mark, count in repeated.items() for n in range(2, count + 1))
    return sorted(features)


def _mark_of(token: str) -> str:
    if token in _STRUCTURE_WORDS:
        return token
    if not token[0].isalnum():
        return token if token in (",", ".", "!") else '"'
    if any(each.isdigit() for each in token):
        return "#" if token.isdigit() else "#w"
    if token.endswith("ss"):
        return "w"
    ending = next((each for each in _ENDINGS if token.endswith(each) and len(token) > len(each) + 2), "")
    return f"~{ending}" if ending else "w"


@lru_cache(maxsize=1)
def route_weights() -> Mapping[str, float]:
    """Return the weights of features, "" being the constant, from `route_weights.json`, which states their origin."""
    data = json.loads(Path(__file__).with_name("route_weights.json").read_text(encoding="utf-8"))
    return {"": float(data["intercept"]), **data["weights"]}


def choose_route(query: str) -> Route:
    """Return the route of a query, by its words alone.

    | Route | A query that |
    |---|---|
    | `exploratory` | asks for everything about a subject: overviews, lists, ideas, pros and cons |
    | `multi_hop` | describes what it asks about instead of naming it, compares things, or asks what connects them |
    | `lookup` | is a name, or asks what a name means |
    | `simple` | asks for one fact: everything else |

    Patterns recognize `exploratory` and `lookup`. A linear model of how a question is built, fitted and judged by
    `tests/benchmarks/memory/routes.py`, and a few words tell `multi_hop` from `simple`. All read English. A query in
    another language is `simple`, or `lookup` if it is short and no question.

    >>> [choose_route(each).value for each in ("max_connections", "When does the pool close?")]
    ['lookup', 'simple']
    >>> choose_route("Who manages the team that handles JWT authentication?").value
    'multi_hop'
    """
    text = " ".join(query[:_MAX_ROUTED_CHARACTERS].replace("’", "'").split()).lower()
    if _IMPERATIVE.match(text):
        return Route.EXPLORATORY
    is_question = bool(_QUESTION.match(text)) or text.endswith("?")
    if _MEANING.match(text) or (not is_question and len(text.split()) <= _MAX_LOOKUP_WORDS):
        return Route.LOOKUP
    weights = route_weights()
    score = weights[""] + sum(weights.get(each, 0.0) for each in build_route_features(text))
    if score > 0 or _TWO_STEPS.search(text):
        return Route.MULTI_HOP
    is_broad = _BROAD.search(text) or _BROAD_START.match(text)
    return Route.EXPLORATORY if is_broad else Route.SIMPLE


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
    mentioned = snapshot.arrays.mentions.columns_of(np.array([position]))[0]
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

    def with_validation(self, validation: ValidationSettings) -> "MemoryPipeline":
        """Return the pipeline with other rules; feedback and earlier answers are shared."""
        other = copy(self)
        other.validation = validation
        return other

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
        snapshot = self.index.visible_to(self.validation.readers).snapshot
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
        hits = []
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
                    snapshot.find_superseding(name),
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
