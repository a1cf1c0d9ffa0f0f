"""What the best documents leave of a question: the words that they do not have, and the documents that do have them.

A question whose answer stands in several documents says a little of each. Plain retrieval adds up all words, so that
whatever says most of them comes first, and after it what says the same again. What a reader still lacks is what the
first document does not say.

A question -> ranked passages, in one of four modes.

`sparse`: BM25. `dense`: cosine of vectors, or of the corpus's own word associations without an embedder. `hybrid`:
both, fused by reciprocal rank. `hippo`: the entities of the question spread over the graph; a passage scores the sum
of its entities' PageRank, joined with plain retrieval, with documents that define what is named, and with those that
say what the best documents leave of the question. Where no entity matches, `hippo` is plain retrieval.

What speaks for a passage, signal by signal, and what mode `hippo` makes of it: a weighed sum that explains itself.

| Signal | In [0, 1] |
|---|---|
| `vector` | plain retrieval (vectors, or BM25 without an embedder), by the best |
| `graph` | the PageRank of the passage's entities, by the best |
| `definition` | how much its document defines of what the best passages name |
| `remainder` | how much its document has of what the best documents leave of the question |
| `own_remainder` | how much it has of that by itself |
| `document` | BM25 of its document as a whole, by the best; for passages with a word of the question |
| `share` | the square of the share of the question's rarity that its words have |

Weights are those of `RetrievalSettings`, in proportion to their sum, so that a score is in [0, 1] as well. The defaults
are fitted by `python -m tests.benchmarks.memory.fit`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import EmptyQuestion, UsageError
from causalist.memory.entities import EntityExtractor
from causalist.memory.entity_linking import (
    FactFilter,
    LinkedEntities,
    build_fact_seeds,
    build_seeds,
    link_query,
    terms_in_vocabulary,
)
from causalist.memory.snapshot import Snapshot
from causalist.memory.sparse_matrix import Floats
from causalist.memory.walk import MAX_ITERATIONS, TOLERANCE, Seeding, Variant
from causalist.model.answer import RetrievalMode
from causalist.model.scores import PageRankResult
from causalist.rank.lexical.bm25 import K1, bm25

# Chosen on the tuning half of the benchmark; see the decisions.
_N_FIRST_DOCUMENTS = 2  # best documents of which it is asked what they leave
_REMAINDER_POWER = 6  # of their scores, scaled by the best
LONG_QUERY_TERMS = 10  # terms of a question that says more than one thing
_LENGTH_POWER = 2  # power by which what shorter ones leave counts less
_FULL_SHARE = 0.3  # the share of the question's rarity above which what is left counts whole


@dataclass(frozen=True, slots=True)
class UncoveredTerms:
    """How much of what is left of the question each document has, `covered`, shape (documents,), and each passage by
    itself, `said`, shape (P,), both in [0, 1]; `lacking`: the terms that the best document does not have."""

    covered: Floats
    said: Floats
    lacking: tuple[int, ...]


def find_uncovered_terms(terms: Iterable[int], plain: Floats, snapshot: Snapshot) -> UncoveredTerms | None:
    """What the best documents leave of the question; None where they leave nothing.

    `terms`: those of the question; `plain`: scores of all passages, shape (P,). With U the terms that a first document
    lacks, idf those of documents,

        c(d) = (sum of idf over U in d / sum of idf over U)^2

    is averaged over the _FIRST best documents, weighed by (score / best score)^_POWER. The same is done for passages in
    place of d, since who says two missing words in one place says more than who has them pages apart. Both are scaled
    down where U is a small part of the question (what is left of a question that one document answers is noise) and
    where the question has fewer than LONG terms: a short one says one thing, of which documents lack a word because
    they use another."""
    firsts, scores = _top_documents(plain, snapshot)
    by_term = {term: _documents_with_term(term, snapshot) for term in terms}
    lacking = tuple(t for t, has in by_term.items() if not has[firsts[0]]) if firsts else ()
    if not lacking:
        return None
    n = snapshot.n_documents
    idf = {t: float(np.log1p((n - has.sum() + 0.5) / (has.sum() + 0.5))) for t, has in by_term.items()}
    weights = (scores / scores[0]) ** _REMAINDER_POWER
    covered, said = np.zeros(n), np.zeros(snapshot.arrays.n_passages)
    for document, weight in zip(firsts, weights.tolist(), strict=True):
        left = [t for t, has in by_term.items() if not has[document]]
        total = sum(idf[t] for t in left)
        if total > 0:
            share, part = np.zeros(n), np.zeros(len(said))
            for term in left:
                share[by_term[term]] += idf[term] / total
                part[_passages_with_term(term, snapshot)] += idf[term] / total
            covered += weight * share**2
            said += weight * part**2
    amount = min(1.0, sum(idf[t] for t in lacking) / sum(idf.values()) / _FULL_SHARE)
    scale = amount * min(1.0, len(by_term) / LONG_QUERY_TERMS) ** _LENGTH_POWER / float(weights.sum())
    return UncoveredTerms(covered * scale, said * scale, lacking)


def score_uncovered_terms(remainder: UncoveredTerms, snapshot: Snapshot) -> tuple[Floats, Floats]:
    """What each passage gets, shapes (P,): of what its document covers, if it has a lacking term itself; and of what it
    says by itself."""
    says_it = np.zeros(snapshot.arrays.n_passages, dtype=np.bool_)
    for term in remainder.lacking:
        says_it[_passages_with_term(term, snapshot)] = True
    return np.where(says_it, remainder.covered[snapshot.document_of], 0.0), remainder.said


def _top_documents(plain: Floats, snapshot: Snapshot) -> tuple[list[int], Floats]:
    """The best documents by their best passages, best first, ties by number; and their scores."""
    best = np.zeros(snapshot.n_documents)
    np.maximum.at(best, snapshot.document_of, np.round(plain, 12))
    order = np.lexsort((np.arange(len(best)), -best))[:_N_FIRST_DOCUMENTS]
    order = order[best[order] > 0]
    return order.tolist(), best[order]


def _passages_with_term(term: int, snapshot: Snapshot) -> NDArray[np.int32]:
    postings = snapshot.arrays.postings
    return postings.documents[int(postings.indptr[term]) : int(postings.indptr[term + 1])]


def _documents_with_term(term: int, snapshot: Snapshot) -> NDArray[np.bool_]:
    has = np.zeros(snapshot.n_documents, dtype=np.bool_)
    has[snapshot.document_of[_passages_with_term(term, snapshot)]] = True
    return has


FALLBACK_ORIGIN = "fallback"  # origin of passages that plain retrieval found because no entity matched
RRF_K = 60  # Cormack, Clarke and Büttcher (2009)
MAX_FUSED = 200  # of each list
_DIGITS = 12  # scores are compared rounded, then by passage id


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """`score` decides the rank. `ppr_score`: the sum of the passage's entities' PageRank (or its own node's, where the
    variant says so), 0 in modes without a graph. `entity_hits`: those of its entities that the walk reached first,
    best first. `origin`: what found it: a mode, or "fallback"."""

    passage_id: str
    text: str
    ppr_score: float
    entity_hits: list[str]
    metadata: Mapping[str, Any]
    score: float = 0.0
    origin: str = "hippo"


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How `hippo` makes passages of a walk. Where nothing else is said: names and defaults of the methods it follows.

    `top_k_entities`: the best entities, whose passages are looked at; `expand_hops`: so many hops further; None: all.
    `combine_with_vector`: the other signals have a say (`memory.compute_signals` says what each is), by their weights in
    proportion to the sum of these; the share of those of the graph grows with the share of passages that have entities.
    The weights are fitted, see the decisions; `PUBLISHED` has those of the methods. `by_length`: of a short question
    all but plain retrieval counts less."""

    top_k_entities: int | None = 20
    expand_hops: int = 1
    combine_with_vector: bool = True
    vector_weight: float = 0.281
    graph_weight: float = 0.059
    definition_weight: float = 0.094
    remainder_weight: float = 0.19
    own_remainder_weight: float = 0.079
    document_weight: float = 0.049
    share_weight: float = 0.248
    by_length: bool = True

    @property
    def weights(self) -> tuple[float, ...]:
        """In the order of `SIGNALS`."""
        return tuple(getattr(self, f"{name}_weight") for name in SIGNALS)


PUBLISHED = RetrievalSettings(
    vector_weight=0.3,
    graph_weight=0.7,
    definition_weight=0.0,
    remainder_weight=0.0,
    own_remainder_weight=0.0,
    document_weight=0.0,
    share_weight=0.0,
    by_length=False,
)


class WalkResult(NamedTuple):
    """`entities`: PageRank, shape (E,); `passages`: what each passage gets of it, shape (P,)."""

    result: PageRankResult
    entities: Floats
    passages: Floats


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and how."""

    text: str
    variant: Variant
    settings: RetrievalSettings = field(default_factory=RetrievalSettings)
    damping: float | None = None
    max_iterations: int = MAX_ITERATIONS
    tolerance: float = TOLERANCE


def check_query(text: str, top_k: int) -> None:
    """Raises EmptyQuestion and UsageError."""
    if not text.strip():
        raise EmptyQuestion("the question is empty; ask with the words that a passage may have")
    if top_k < 1:
        raise UsageError(f"top_k is {top_k}; at least 1 passage has to be asked for")


def score_plain(text: str, snapshot: Snapshot, mode: RetrievalMode) -> Floats:
    """Scores of all passages, shape (P,), 0 where nothing matches."""
    if mode is RetrievalMode.SPARSE:
        return bm25(snapshot.arrays.postings, terms_in_vocabulary(text, snapshot), snapshot.arrays.n_passages)
    if mode is RetrievalMode.DENSE:
        if snapshot.vectors is not None:
            return snapshot.vector_scores(snapshot.vectors.embed([text])[0])
        return snapshot.associations.scores(terms_in_vocabulary(text, snapshot).items())
    if mode is RetrievalMode.HYBRID:
        parts = (RetrievalMode.DENSE, RetrievalMode.SPARSE)
        return fuse_ranks([score_plain(text, snapshot, part) for part in parts])
    raise ValueError(f"{mode} is not plain retrieval")


def plain_mode(snapshot: Snapshot) -> RetrievalMode:
    """What `hippo` joins the graph with: vectors, or words where there is no embedder (BM25 is better than word
    associations by far)."""
    return RetrievalMode.DENSE if snapshot.vectors is not None else RetrievalMode.SPARSE


def fuse_ranks(lists: Sequence[Floats]) -> Floats:
    """Reciprocal rank fusion: the sum over the lists of 1 / (60 + rank), ranks from 1; 0 where no list has it.

    >>> fuse_ranks([np.array([0.9, 0.5, 0.0]), np.array([0.0, 2.0, 1.0])]).round(5).tolist()
    [0.01639, 0.03252, 0.01613]
    """
    total = np.zeros(len(lists[0]))
    for scores in lists:
        order = top_indices(scores, MAX_FUSED)
        total[order] += 1.0 / (RRF_K + 1.0 + np.arange(len(order)))
    return total


def run_walk(query: Query, seeds: NDArray[np.float64], snapshot: Snapshot) -> WalkResult:
    """PageRank from the seeds, and the passages' part in it."""
    memory_walk = snapshot.memory_walk(query.variant)
    damping = query.variant.damping if query.damping is None else query.damping
    result = memory_walk.pagerank(
        seeds, damping=damping, tolerance=query.tolerance, max_iterations=query.max_iterations
    )
    m = memory_walk.graph.n_entities
    entities = result.scores[:m]
    if query.variant.ranks_passage_nodes:
        return WalkResult(result, entities, result.scores[m:])
    kept = _keep_reached(entities, query.settings, snapshot)
    mentions = snapshot.arrays.mentions
    passages: Floats = np.bincount(
        snapshot.mention_passages, weights=kept[mentions.indices], minlength=snapshot.arrays.n_passages
    ).astype(np.float64)
    return WalkResult(result, entities, passages)


def _keep_reached(entities: Floats, settings: RetrievalSettings, snapshot: Snapshot) -> Floats:
    """PageRank of the best entities and of those a few hops further, 0 for the rest."""
    if settings.top_k_entities is None:
        return entities
    chosen = top_indices(entities, settings.top_k_entities)
    keep = np.zeros(len(entities), dtype=np.bool_)
    keep[chosen] = True
    frontier = chosen
    for _ in range(settings.expand_hops):
        reached = find_neighbors(frontier, snapshot)
        frontier = reached[~keep[reached]]
        keep[frontier] = True
    return np.where(keep, entities, 0.0)


def find_neighbors(entities: NDArray[np.int64], snapshot: Snapshot) -> NDArray[np.int64]:
    """Entities that share a passage, a triple or a name with one of these."""
    arrays = snapshot.arrays
    is_seen = np.zeros(arrays.n_passages, dtype=np.bool_)
    is_seen[arrays.passages_by_entity.gather(entities)[0]] = True
    is_object = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_object[entities] = True
    is_reached = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_reached[arrays.mentions.gather(np.flatnonzero(is_seen))[0]] = True
    for matrix in (arrays.similar, arrays.explicit):
        is_reached[matrix.gather(entities)[0]] = True
    is_reached[snapshot.explicit_subjects[is_object[arrays.explicit.indices]]] = True
    return np.flatnonzero(is_reached)


def rank_passages(
    query: Query,
    snapshot: Snapshot,
    extractor: EntityExtractor,
    mode: RetrievalMode,
    top_k: int,
    *,
    linked: LinkedEntities | None = None,
    fact_filter: FactFilter | None = None,
) -> list[RetrievedPassage]:
    """The `top_k` best passages. `linked`: what the question seeds, where that is known already."""
    if not snapshot.arrays.n_passages:
        return []
    if mode is not RetrievalMode.HIPPO:
        return build_results(score_plain(query.text, snapshot, mode), snapshot, top_k, origin=mode.value)
    plain = score_plain(query.text, snapshot, plain_mode(snapshot))
    seeds = None
    if query.variant.seeding is Seeding.FACTS:
        seeds, _ = build_fact_seeds(query.text, snapshot, query.variant, plain, fact_filter)
    else:
        seeds = build_seeds(linked or link_query(query.text, snapshot, extractor), snapshot, query.variant, plain)
    if seeds is None:
        return build_results(plain, snapshot, top_k, origin=FALLBACK_ORIGIN)
    walk_result = run_walk(query, seeds, snapshot)
    scores = combine_signals(query.text, walk_result.passages, plain, snapshot, query.settings)
    return build_results(scores, snapshot, top_k, walk_result=walk_result, settings=query.settings)


def build_results(
    scores: Floats,
    snapshot: Snapshot,
    top_k: int,
    *,
    walk_result: WalkResult | None = None,
    settings: RetrievalSettings | None = None,
    origin: str = RetrievalMode.HIPPO.value,
) -> list[RetrievedPassage]:
    """The best passages with what led to them."""
    arrays = snapshot.arrays
    reached: NDArray[np.bool_] | None = None
    if walk_result is not None:
        reached = np.zeros(arrays.n_entities, dtype=np.bool_)
        most = (settings.top_k_entities if settings else None) or RetrievalSettings().top_k_entities or 20
        reached[top_indices(walk_result.entities, most)] = True
    found = []
    for place in top_indices(scores, top_k).tolist():
        passage = arrays.passages[place]
        record = snapshot.records.passages[passage]
        hits: list[str] = []
        if walk_result is not None and reached is not None:
            own = arrays.mentions.row(place)[0]
            own = own[reached[own]]
            order = np.lexsort((own, -np.round(walk_result.entities[own], _DIGITS)))
            hits = [arrays.entities[e] for e in own[order].tolist()]
        found.append(
            RetrievedPassage(
                passage,
                record.text,
                float(walk_result.passages[place]) if walk_result is not None else 0.0,
                hits,
                record.metadata,
                float(scores[place]),
                origin,
            )
        )
    return found


SIGNALS = ("vector", "graph", "definition", "remainder", "own_remainder", "document", "share")
GRAPH_SIGNALS = ("graph", "definition")  # weighed by the share of passages with entities
_LONG_QUERY_SIGNALS = ("graph", "definition", "document", "share")
_N_SOURCES = 2  # best passages by words whose entities are followed to their definitions
_SOURCE_POWER = 3  # of their scores, scaled by the best; with _SOURCES chosen on the tuning half of the benchmark
# scores are compared rounded, then by passage id


def combine_signals(
    text: str, graph: Floats, plain: Floats, snapshot: Snapshot, settings: "RetrievalSettings"
) -> Floats:
    """Scores of all passages, shape (P,), in [0, 1]; `graph` and `plain`: those of a walk and of plain retrieval.

    The weights of the walk and of definitions are multiplied with the share of passages that have entities, and all but
    those of remainders, which see to it themselves, with the question's length as far as it is below LONG terms: what
    a short question says stands in one place mostly. What they lack to their whole is plain retrieval's."""
    if not settings.combine_with_vector:
        return graph
    total = sum(settings.weights)
    shares = dict(zip(SIGNALS, (weight / total for weight in settings.weights), strict=True))
    shares.update((name, shares[name] * snapshot.coverage) for name in GRAPH_SIGNALS)
    amount = min(1.0, len(terms_in_vocabulary(text, snapshot)) / LONG_QUERY_TERMS) if settings.by_length else 1.0
    shares.update((name, shares[name] * amount) for name in _LONG_QUERY_SIGNALS)
    shares["vector"] += 1.0 - sum(shares.values())
    found = compute_signals(text, graph, plain, snapshot, [name for name in SIGNALS if shares[name] > 0])
    scores = np.zeros(snapshot.arrays.n_passages)
    for name in SIGNALS:
        if name in found:
            scores += shares[name] * found[name]
    return scores


def compute_signals(
    text: str, graph: Floats, plain: Floats, snapshot: Snapshot, wanted: Iterable[str] = SIGNALS
) -> Mapping[str, Floats]:
    """The signals that are wanted, by name, each of shape (P,)."""
    wanted = set(wanted)
    found = {"vector": _scale_by_max(plain), "graph": _scale_by_max(graph)}
    if "definition" in wanted:
        found["definition"] = score_definitions(plain, snapshot)
    terms = terms_in_vocabulary(text, snapshot)
    if wanted & {"remainder", "own_remainder"}:
        remainder = find_uncovered_terms(terms, plain, snapshot)
        if remainder is not None:
            found["remainder"], found["own_remainder"] = score_uncovered_terms(remainder, snapshot)
    if wanted & {"document", "share"}:
        found["document"], found["share"] = score_words(terms, snapshot)
    return {name: found[name] for name in SIGNALS if name in wanted and name in found}


def score_words(terms: Iterable[int], snapshot: Snapshot) -> tuple[Floats, Floats]:
    """(`document`, `share`) of passages. With N documents of which df have a term, a term's rarity is
    ln(1 + (N - df + 0.5) / (df + 0.5)), the idf of BM25."""
    postings, document_of, n = snapshot.arrays.postings, snapshot.document_of, snapshot.n_documents
    whole, said, total = np.zeros(n), np.zeros(snapshot.arrays.n_passages), 0.0
    for term in terms:
        part = slice(int(postings.indptr[term]), int(postings.indptr[term + 1]))
        passages = postings.documents[part]
        documents, of = np.unique(document_of[passages], return_inverse=True)
        counts = np.bincount(of, weights=postings.counts[part])
        rarity = float(np.log1p((n - len(documents) + 0.5) / (len(documents) + 0.5)))
        whole[documents] += rarity * counts * (K1 + 1) / (counts + snapshot.document_norms[documents])
        said[passages] += rarity
        total += rarity
    if not total:
        return whole[document_of], said
    return np.where(said > 0, _scale_by_max(whole)[document_of], 0.0), np.asarray((said / total) ** 2, dtype=np.float64)


def score_definitions(plain: Floats, snapshot: Snapshot) -> Floats:
    """How much each passage's document defines of what the best passages name, shape (P,), in [0, 1].

    With a the scores of the best passages, x = sum over them of a for each entity that they name, divided by the number
    of documents which define it; a document gets the sum of x over what it defines, and the square root of that, scaled
    by the best, goes to its passages that share a word with the question."""
    arrays = snapshot.arrays
    found = np.zeros(arrays.n_passages)
    top = top_indices(plain, _N_SOURCES)
    if not len(top) or not len(arrays.defines.indices):
        return found
    weights = (plain[top] / plain[top[0]]) ** _SOURCE_POWER
    entities, _, source = arrays.mentions.gather(top)
    x = np.bincount(entities, weights=weights[source], minlength=arrays.n_entities)
    named = np.flatnonzero(x)
    documents, _, of = snapshot.definers.gather(named)
    share = x[named] / np.maximum(np.diff(snapshot.definers.indptr)[named], 1)
    by_document = np.bincount(documents, weights=share[of], minlength=snapshot.n_documents)
    best = float(by_document.max(initial=0.0))
    if best > 0:
        found = np.sqrt(by_document / best)[snapshot.document_of] * (plain > 0)
    return np.asarray(found, dtype=np.float64)


def top_indices(scores: Floats, most: int) -> NDArray[np.int64]:
    """The positions of the highest scores above 0, best first, ties by position, which is that of the passage id."""
    rounded = np.round(scores, _DIGITS)
    found = np.flatnonzero(rounded > 0)
    if len(found) > 4 * most:
        edge = np.partition(rounded[found], len(found) - most)[len(found) - most]
        found = found[rounded[found] >= edge]
    return found[np.argsort(-rounded[found], kind="stable")][:most]


def _scale_by_max(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
