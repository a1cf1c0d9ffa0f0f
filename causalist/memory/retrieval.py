"""Ranked passages of a query in one of four modes.

`sparse` is BM25. `dense` is the cosine of vectors, or of word associations without an embedder. `hybrid` fuses both by
reciprocal rank. `hippo` spreads the entities of the query over the graph and ranks by a weighted sum of signals; if no
entity matches, it is plain retrieval.

| Signal | In [0, 1] |
|---|---|
| `vector` | plain retrieval (vectors, or BM25 without an embedder), relative to the best |
| `graph` | PageRank of the passage's entities, relative to the best |
| `remainder` | coverage by the document of query terms that the best documents lack |
| `share` | square of the query coverage of the passage, weighted by rarity |
| `named` | rarity of the rarest name in the query that it defines |
| `definition` | it defines a name that a source names |
| `definition_rest` | the same, times its fit to the query terms that the source lacks |
| `shared` | a source names something rare that it names too, and the query does not |
| `shared_rest` | the same, times its fit to the query terms that the source lacks |
| `rest` | its fit to the query terms that a source lacks |

The last five are those of a second hop: the best passages of the first, the sources, lead on by name. Each is the
highest over the sources, a source counting by the square of its score, and a name by its rarity. The fit is BM25 of the
lacking terms, relative to the best passage, times their share of the rarity of the query.

Weights are those of `RetrievalSettings`, divided by their sum, so that a score is in [0, 1] too. The defaults are
fitted by `python -m tests.benchmarks.memory.fit`. Remaining terms count because plain retrieval ranks repetitions of
the first result high, whereas a reader lacks the terms that the first document does not have.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import ROUNDED_AWAY
from causalist._internal.lazy import dataclass
from causalist.errors import EmptyQuestion, UsageError
from causalist.memory.defined_names import Names, fold_words
from causalist.memory.document_text import PATH_LISTS
from causalist.memory.extractors import EntityExtractor
from causalist.memory.matrix_splices import Floats
from causalist.memory.query_entities import (
    MAX_QUERY_CHARACTERS,
    FactFilter,
    LinkedEntities,
    build_fact_seeds,
    build_seeds,
    find_plain_words,
    link_query,
    names_something,
    split_questions,
    terms_in_vocabulary,
)
from causalist.memory.senses import SIMILARITY_THRESHOLD
from causalist.memory.walk import MAX_ITERATIONS, TOLERANCE, Seeding, Snapshot, Variant
from causalist.model.answer import RetrievalMode
from causalist.model.scores import PageRankResult
from causalist.rank.lexical.bm25 import bm25, query_coverage

BRIDGE_SIGNALS = ("named", "definition", "definition_rest", "shared", "shared_rest", "rest")
GRAPH_BRIDGES = ("definition", "definition_rest", "shared", "shared_rest")  # those that follow names

# Chosen on the tuning half of the benchmark; see the decisions.
_N_FIRST_DOCUMENTS = 2  # best documents whose missing terms count
_REMAINDER_POWER = 6  # of their scores, relative to the best
LONG_QUERY_TERMS = 10  # terms; longer queries need no length factor
_LENGTH_POWER = 2  # of the length factor of remainders
_FULL_SHARE = 0.3  # of the query's idf; above it, missing terms count fully


class UncoveredTerms(NamedTuple):
    """Coverage of the query terms that the best documents lack.

    `by_document`: shape (documents,), in [0, 1]; `missing`: the terms that the best document lacks.
    """

    by_document: Floats
    missing: tuple[int, ...]


def find_uncovered_terms(terms: Iterable[int], plain: Floats, snapshot: Snapshot) -> UncoveredTerms | None:
    """Return the coverage of the terms that the best documents lack, or None if they lack no term.

    `terms`: query terms; `plain`: scores of all passages, shape (P,). With U the terms that one of the best documents
    lacks, and idf over documents,

        c(d) = (sum of idf over U in d / sum of idf over U)^2

    is averaged over the _N_FIRST_DOCUMENTS best documents, weighted by (score / best score)^_REMAINDER_POWER. It is
    scaled down if U is a small part of the query (the rest of an answered query is noise), and if the query has fewer
    than LONG_QUERY_TERMS terms (documents may lack a term of a short query because they use a synonym).
    """
    firsts, scores = _top_documents(plain, snapshot)
    by_term = {term: _documents_with_term(term, snapshot) for term in terms}
    missing = tuple(t for t, is_in in by_term.items() if not is_in[firsts[0]]) if firsts else ()
    if not missing:
        return None
    n = snapshot.n_documents
    idf = {t: float(np.log1p((n - is_in.sum() + 0.5) / (is_in.sum() + 0.5))) for t, is_in in by_term.items()}
    weights = (scores / scores[0]) ** _REMAINDER_POWER
    by_document = np.zeros(n)
    for document, weight in zip(firsts, weights.tolist(), strict=True):
        left = [t for t, is_in in by_term.items() if not is_in[document]]
        total = sum(idf[t] for t in left)
        if total > 0:
            share = np.zeros(n)
            for term in left:
                share[by_term[term]] += idf[term] / total
            by_document += weight * share**2
    amount = min(1.0, sum(idf[t] for t in missing) / sum(idf.values()) / _FULL_SHARE)
    scale = amount * min(1.0, len(by_term) / LONG_QUERY_TERMS) ** _LENGTH_POWER / float(weights.sum())
    return UncoveredTerms(by_document * scale, missing)


def score_uncovered_terms(uncovered: UncoveredTerms, snapshot: Snapshot) -> Floats:
    """Return `remainder` of passages, shape (P,).

    The coverage of a document counts for its passages that have a missing term.
    """
    says_it = np.zeros(snapshot.arrays.n_passages, dtype=np.bool_)
    for term in uncovered.missing:
        says_it[_passages_with_term(term, snapshot)] = True
    return np.where(says_it, uncovered.by_document[snapshot.document_of], 0.0)


def _top_documents(plain: Floats, snapshot: Snapshot) -> tuple[list[int], Floats]:
    """Return (best documents by their best passages, best first, ties by number; their scores)."""
    best = np.zeros(snapshot.n_documents)
    np.maximum.at(best, snapshot.document_of, np.round(plain, 12))
    order = np.lexsort((np.arange(len(best)), -best))[:_N_FIRST_DOCUMENTS]
    order = order[best[order] > 0]
    return order.tolist(), best[order]


def _passages_with_term(term: int, snapshot: Snapshot) -> NDArray[np.int32]:
    postings = snapshot.arrays.postings
    return np.asarray(postings.documents[int(postings.indptr[term]) : int(postings.indptr[term + 1])])


def _documents_with_term(term: int, snapshot: Snapshot) -> NDArray[np.bool_]:
    is_in = np.zeros(snapshot.n_documents, dtype=np.bool_)
    is_in[snapshot.document_of[_passages_with_term(term, snapshot)]] = True
    return is_in


FALLBACK_ORIGIN = "fallback"  # origin of passages that plain retrieval found because no entity matched
RRF_K = 60  # Cormack, Clarke and Büttcher (2009)
MAX_FUSED = 200  # per list
_DIGITS = 12  # scores are compared rounded, then by passage id


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A result; `score` decides the rank.

    `ppr_score`: sum of the PageRank of the passage's entities (or of its own node, depending on the variant), 0 in
    modes without a graph. `entity_hits`: entities of the passage among the best of the walk, best first. `origin`:
    mode that found it, or "fallback". `superseded_by`: documents that say they replace it, shown or not.
    `contradicted_by`: further results that contradict it and are newer or surer, or else ranked higher.
    """

    passage_id: str
    text: str
    ppr_score: float
    entity_hits: list[str]
    metadata: Mapping[str, Any]
    score: float = 0.0
    origin: str = "hippo"
    superseded_by: tuple[str, ...] = ()
    contradicted_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Settings of mode `hippo`. Names and defaults follow the published methods where those have them.

    `top_k_entities`: number of best entities with passages that count; `expand_hops`: further hops from them; None:
    all entities. `similarity_threshold`: least similarity, from the default on, of an entity to one that it leads to or
    that replaces it in a query. `combine_with_vector`: add the other signals by their weights; the share of the graph
    signals grows with the share of passages that have entities. The default weights are fitted (see the decisions);
    `PUBLISHED` has those of the methods. `by_length`: reduce PageRank and `share` for short queries. `by_names`: reduce
    the signals of a second hop for queries that name nothing. `meaning_weight`: for these, weight of the similarity by
    the question encoder, beside 1 for all signals together. `questions_weight`: weight of the best of several questions
    in one query, beside 1 for the whole.
    """

    top_k_entities: int | None = 20
    expand_hops: int = 1
    similarity_threshold: float = SIMILARITY_THRESHOLD
    combine_with_vector: bool = True
    vector_weight: float = 0.109
    graph_weight: float = 0.053
    remainder_weight: float = 0.142
    share_weight: float = 0.208
    named_weight: float = 0.109
    definition_weight: float = 0.081
    definition_rest_weight: float = 0.042
    shared_weight: float = 0.109
    shared_rest_weight: float = 0.062
    rest_weight: float = 0.084
    by_length: bool = True
    by_names: bool = True
    meaning_weight: float = 0.6
    questions_weight: float = 1.0

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights in the order of `SIGNALS`."""
        return tuple(getattr(self, f"{name}_weight") for name in SIGNALS)


PUBLISHED = RetrievalSettings(
    vector_weight=0.3,
    graph_weight=0.7,
    meaning_weight=0.0,
    questions_weight=0.0,
    by_length=False,
    **{f"{name}_weight": 0.0 for name in ("remainder", "share", *BRIDGE_SIGNALS)},  # type: ignore[arg-type]
)


class WalkResult(NamedTuple):
    """Result of a walk. `entities`: PageRank, shape (E,); `passages`: scores of passages, shape (P,)."""

    result: PageRankResult
    entities: Floats
    passages: Floats


@dataclass(frozen=True, slots=True)
class Query:
    """Query text with its settings."""

    text: str
    variant: Variant
    settings: RetrievalSettings = field(default_factory=RetrievalSettings)
    damping: float | None = None
    max_iterations: int = MAX_ITERATIONS
    tolerance: float = TOLERANCE


def check_query(text: str, top_k: int) -> None:
    """Raise EmptyQuestion or UsageError for an invalid query."""
    if not text.strip():
        raise EmptyQuestion("the query is empty; use words that a passage may contain")
    if top_k < 1:
        raise UsageError(f"top_k must be at least 1, not {top_k}")


def score_plain(text: str, snapshot: Snapshot, mode: RetrievalMode) -> Floats:
    """Return the scores of all passages, shape (P,), 0 without a match; `mode` is any but `hippo`."""
    if mode is RetrievalMode.SPARSE:
        return bm25(snapshot.arrays.postings, terms_in_vocabulary(text, snapshot), snapshot.arrays.n_passages)
    if mode is RetrievalMode.DENSE:
        if snapshot.vectors is not None:
            return snapshot.vector_scores(snapshot.vectors.embed([text])[0])
        return _score_dense(text, snapshot)
    if mode is RetrievalMode.HYBRID:
        parts = (RetrievalMode.DENSE, RetrievalMode.SPARSE)
        return fuse_ranks([score_plain(text, snapshot, part) for part in parts])
    raise ValueError(f"{mode} is not plain retrieval")


def _score_dense(text: str, snapshot: Snapshot) -> Floats:
    """Return the scores without an embedder: by word associations; by meaning first for a query that names nothing.

    The question encoder compares what associations and BM25 find. Of names it knows too little.
    """
    associated = snapshot.associations.scores(terms_in_vocabulary(text, snapshot).items())
    if names_something(text):
        return associated
    found = (associated, score_plain(text, snapshot, RetrievalMode.SPARSE))
    best = np.union1d(*(top_indices(each, _N_DENSE) for each in found))
    similarities = compare_meaning(text, best, snapshot)
    if similarities is None:
        return associated
    scores = np.array(_scale_by_max(associated))
    scores[best] = 1.0 + similarities
    return scores


def plain_mode(snapshot: Snapshot) -> RetrievalMode:
    """Return the mode that `hippo` joins with the graph: `dense` with an embedder, otherwise `sparse`.

    BM25 is far better than word associations.
    """
    return RetrievalMode.DENSE if snapshot.vectors is not None else RetrievalMode.SPARSE


def fuse_ranks(lists: Sequence[Floats]) -> Floats:
    """Return the reciprocal rank fusion: sum over the lists of 1 / (60 + rank), ranks from 1; 0 if no list has it.

    >>> fuse_ranks([np.array([0.9, 0.5, 0.0]), np.array([0.0, 2.0, 1.0])]).round(5).tolist()
    [0.01639, 0.03252, 0.01613]
    """
    total = np.zeros(len(lists[0]))
    for scores in lists:
        order = top_indices(scores, MAX_FUSED)
        total[order] += 1.0 / (RRF_K + 1.0 + np.arange(len(order)))
    return total


def run_walk(query: Query, seeds: NDArray[np.float64], snapshot: Snapshot) -> WalkResult:
    """Return PageRank from the seeds, and the scores of passages by it."""
    memory_walk = snapshot.memory_walk(query.variant)
    damping = query.variant.damping if query.damping is None else query.damping
    result = memory_walk.pagerank(
        seeds, damping=damping, tolerance=query.tolerance, max_iterations=query.max_iterations
    )
    m = memory_walk.graph.n_entities
    entities = result.scores[:m]
    if query.variant.ranks_passage_nodes:
        return WalkResult(result, entities, result.scores[m:])
    reached_entities = _keep_reached(entities, query.settings, snapshot)
    reached = np.flatnonzero(reached_entities)  # few of many; entities ascend, so that sums are those of all mentions
    named_by, of = snapshot.arrays.passages_by_entity.columns_of(reached)
    passages: Floats = np.bincount(
        named_by, weights=reached_entities[reached[of]], minlength=snapshot.arrays.n_passages
    ).astype(np.float64)
    return WalkResult(result, entities, passages)


def _keep_reached(entities: Floats, settings: RetrievalSettings, snapshot: Snapshot) -> Floats:
    """Return the PageRank of the best entities and of those a few hops further, 0 for the rest."""
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
    """Return the entities that share a passage, a triple or a similarity edge with one of `entities`."""
    arrays = snapshot.arrays
    is_seen = np.zeros(arrays.n_passages, dtype=np.bool_)
    is_seen[arrays.passages_by_entity.columns_of(entities)[0]] = True
    is_object = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_object[entities] = True
    is_reached = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_reached[arrays.mentions.columns_of(np.flatnonzero(is_seen))[0]] = True
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
    """Return the `top_k` best passages. `linked`: entities of the query, if they are known already."""
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
        scores = add_questions(query, add_meaning(query.text, plain, 0.0, snapshot, query.settings), snapshot)
        return build_results(scores, snapshot, top_k, origin=FALLBACK_ORIGIN)
    walk_result = run_walk(query, seeds, snapshot)
    scores = combine_signals(query.text, walk_result.passages, plain, snapshot, query.settings)
    scores = add_questions(query, scores, snapshot)
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
    """Return the best passages, each with its best entities."""
    arrays = snapshot.arrays
    reached: NDArray[np.bool_] | None = None
    if walk_result is not None:
        reached = np.zeros(arrays.n_entities, dtype=np.bool_)
        most = (settings.top_k_entities if settings else None) or RetrievalSettings().top_k_entities or 20
        reached[top_indices(walk_result.entities, most)] = True
    results = []
    for position in top_indices(scores, top_k).tolist():
        passage = arrays.passages[position]
        record = snapshot.records.passages[passage]
        hits: list[str] = []
        if walk_result is not None and reached is not None:
            mentioned = arrays.mentions.columns_of(np.array([position]))[0]
            mentioned = mentioned[reached[mentioned]]
            order = np.lexsort((mentioned, -np.round(walk_result.entities[mentioned], _DIGITS)))
            hits = [arrays.entities[e] for e in mentioned[order].tolist()]
        results.append(
            RetrievedPassage(
                passage,
                record.text,
                float(walk_result.passages[position]) if walk_result is not None else 0.0,
                hits,
                record.metadata,
                float(scores[position]),
                origin,
                snapshot.find_superseding(passage),
            )
        )
    return results


CONTRADICTION = "contradicts"  # predicate of triples that state a contradiction


def says_against(result: RetrievedPassage, snapshot: Snapshot) -> bool:
    """Return True if a result says that it contradicts or replaces something."""
    return any(result.metadata.get(key) for key in PATH_LISTS) or any(
        triple.predicate.lower() == CONTRADICTION for triple in snapshot.records.passages[result.passage_id].triples
    )


SIGNALS = ("vector", "graph", "remainder", "share", *BRIDGE_SIGNALS)
GRAPH_SIGNALS = ("graph", *GRAPH_BRIDGES)  # weighted by the share of passages with entities
_LONG_QUERY_SIGNALS = ("graph", "share")
_SECOND_HOP_SIGNALS = ("remainder", "rest", *GRAPH_BRIDGES)
_CLEAR_NAME = 0.6  # rarity of a name from which a query counts as naming it; fitted, see the decisions
_N_DENSE = 200  # best passages of each kind whose meaning decides in mode `dense`
_N_BY_MEANING = 50  # best passages whose meaning counts; 100 and 200 are no better


def combine_signals(
    text: str, graph: Floats, plain: Floats, snapshot: Snapshot, settings: "RetrievalSettings"
) -> Floats:
    """Return the scores of all passages, shape (P,), in [0, 1].

    `graph` and `plain` are the scores of a walk and of plain retrieval. The weights of graph signals are multiplied
    with the share of passages that have entities. Below LONG_QUERY_TERMS terms, PageRank and `share` are multiplied
    with the relative length of the query, or with the rarity of a defined name in it if that is more: a short query
    without a name is mostly answered by one passage. For a query that names nothing, the signals of a second hop are
    multiplied with the square of the rarity of a defined name in it, relative to _CLEAR_NAME, if that is below 1; what
    they lose so goes to the meaning of the best passages. Plain retrieval gets the rest of the weight.
    """
    if not settings.combine_with_vector:
        return graph
    total = sum(settings.weights)
    shares = dict(zip(SIGNALS, (weight / total for weight in settings.weights), strict=True))
    shares.update((name, shares[name] * snapshot.coverage) for name in GRAPH_SIGNALS)
    signals = compute_signals(text, graph, plain, snapshot, [name for name in SIGNALS if shares[name] > 0])
    best_named = float(signals["named"].max(initial=0.0)) if "named" in signals else 0.0
    if settings.by_names and best_named < _CLEAR_NAME and not names_something(text):
        shares.update((name, shares[name] * (best_named / _CLEAR_NAME) ** 2) for name in _SECOND_HOP_SIGNALS)
    if settings.by_length:
        length = len(terms_in_vocabulary(text, snapshot)) / LONG_QUERY_TERMS
        amount = min(1.0, max(length, best_named))
        shares.update((name, shares[name] * amount) for name in _LONG_QUERY_SIGNALS)
    shares["vector"] += 1.0 - sum(shares.values())
    scores = np.zeros(snapshot.arrays.n_passages)
    for name in SIGNALS:
        if name in signals:
            scores += shares[name] * signals[name]
    return add_meaning(text, scores, best_named, snapshot, settings)


def add_questions(query: Query, scores: Floats, snapshot: Snapshot) -> Floats:
    """Return the scores of a query with those of the best of its questions, without PageRank; as they are for one.

    Of two passages that answer one half each, neither has much of the whole.
    """
    settings, parts = query.settings, split_questions(query.text)
    if not settings.questions_weight or not settings.combine_with_vector or len(parts) < 2:
        return scores
    mode, best, no_walk = plain_mode(snapshot), float(scores.max(initial=0.0)), np.zeros(len(scores))
    each = [combine_signals(p, no_walk, score_plain(p, snapshot, mode), snapshot, settings) for p in parts]
    added = settings.questions_weight * best * np.maximum.reduce([_scale_by_max(one) for one in each])
    return np.asarray((scores + added) / (1.0 + settings.questions_weight), dtype=np.float64)


def add_meaning(
    text: str, scores: Floats, best_named: float, snapshot: Snapshot, settings: "RetrievalSettings"
) -> Floats:
    """Return the scores with the similarity of the best passages to a query that names nothing; else as they are.

    `best_named`: rarity of a defined name in the query. With an embedder, its vectors say the meaning already.
    """
    amount = settings.meaning_weight * max(0.0, 1.0 - (best_named / _CLEAR_NAME) ** 2)
    if amount <= 0 or snapshot.vectors is not None or names_something(text):
        return scores
    best = top_indices(scores, _N_BY_MEANING)
    similarities = compare_meaning(text, best, snapshot)
    if similarities is None:
        return scores
    added = np.zeros(len(scores))
    added[best] = _scale_by_max(similarities) * float(scores.max(initial=0.0))
    return np.asarray((scores + amount * added) / (1.0 + amount), dtype=np.float64)


def compare_meaning(text: str, positions: NDArray[np.int64], snapshot: Snapshot) -> Floats | None:
    """Return the cosines of passages, as bags of words, with a query, both by the question encoder; at least 0.

    None if the encoder does not understand the query, as in most languages but English. A cosine does not depend on
    other passages, nor on the order in which words were numbered.
    """
    from causalist.model.string_table import StringTable
    from causalist.rank.lexical.question_encoder import bag_cosines, encode_once, shipped_encoder

    encoder = shipped_encoder()
    vector = encode_once(text, encoder) if len(positions) else None
    if vector is None:
        return None
    terms = [snapshot.records.passages[snapshot.arrays.passages[p]].terms for p in positions.tolist()]
    used, columns = np.unique(np.concatenate(terms)[:, 0], return_inverse=True)
    strings = snapshot.records.terms.strings.some(used.astype(np.int64))
    order = sorted(range(len(strings)), key=strings.__getitem__)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    table = StringTable.from_strings([strings[i] for i in order])
    owners = np.repeat(np.arange(len(terms)), list(map(len, terms)))
    return bag_cosines(vector, table, (owners, ranks[columns], np.concatenate(terms)[:, 1]), encoder)


def compute_signals(
    text: str, graph: Floats, plain: Floats, snapshot: Snapshot, wanted: Iterable[str] = SIGNALS
) -> Mapping[str, Floats]:
    """Return the wanted signals by name, each of shape (P,)."""
    wanted = set(wanted)
    signals = {"vector": _scale_by_max(plain), "graph": _scale_by_max(graph)}
    terms = terms_in_vocabulary(text, snapshot)
    if "remainder" in wanted:
        remainder = find_uncovered_terms(terms, plain, snapshot)
        if remainder is not None:
            signals["remainder"] = score_uncovered_terms(remainder, snapshot)
    if "share" in wanted:
        signals["share"] = query_coverage(terms, snapshot.arrays.postings, snapshot.arrays.n_passages) ** 2
    if wanted & set(BRIDGE_SIGNALS):
        signals.update(score_bridges(text, terms, plain, snapshot))
    return {name: signals[name] for name in SIGNALS if name in wanted and name in signals}


_BLOCK = 256  # scores


def top_indices(scores: Floats, most: int) -> NDArray[np.int64]:
    """Return the positions of the `most` highest scores above 0, best first, ties by position (passage id)."""
    least = 0.0
    blocks = scores[: len(scores) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    if 0 < most < len(blocks):  # as many scores are at least the `most`-th highest of the blocks' maxima
        maxima = blocks.max(axis=1)
        least = float(np.partition(maxima, len(maxima) - most)[len(maxima) - most])
        least = max(0.0, least - ROUNDED_AWAY * (1.0 + abs(least)))
    positive = np.flatnonzero(scores >= least if least > 0 else scores > 0)
    values = scores[positive]
    if len(positive) > 4 * most:
        edge = np.partition(values, len(positive) - most)[len(positive) - most]
        # All that may round to the number that `edge` rounds to, or to a larger one.
        may_be = values >= edge - ROUNDED_AWAY * (1.0 + abs(edge))
        positive, values = positive[may_be], values[may_be]
    rounded = np.round(values, _DIGITS)
    order = np.argsort(-rounded, kind="stable")[:most]
    return positive[order[rounded[order] > 0]]


def _scale_by_max(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores


# Chosen on samples of HotpotQA, 2WikiMultiHopQA and MuSiQue; see the decisions.
N_SOURCES = 5
_SOURCE_POWER = 2
_NAMED_WEIGHT = 0.5  # in the first hop, beside plain retrieval
_PLAIN_WORD = 0.4  # of the rarity of a name that the query writes like any word
_MAX_SHARED_PASSAGES = 300  # of a name that links passages which do not define it


def score_bridges(text: str, terms: Iterable[int], plain: Floats, snapshot: Snapshot) -> Mapping[str, Floats]:
    """Return BRIDGE_SIGNALS by name, each of shape (P,).

    `terms`: positions of the query terms; `plain`: scores of plain retrieval, shape (P,).
    """
    names, n = snapshot.names, snapshot.arrays.n_passages
    signals = {name: np.zeros(n) for name in BRIDGE_SIGNALS}
    number = snapshot.records.words.by_string
    words = [number.get(word, -1) for word in fold_words(text[:MAX_QUERY_CHARACTERS])]
    plain_words = frozenset(number.get(word, -1) for word in find_plain_words(text[:MAX_QUERY_CHARACTERS]))
    signals["named"] = score_named(words, names, n, plain_words)
    best = float(plain.max(initial=0.0))
    first = (plain / best if best > 0 else plain) + _NAMED_WEIGHT * signals["named"]
    sources = _top(first, N_SOURCES)
    if not len(sources):
        return signals
    weights = (first[sources] / first[sources[0]]) ** _SOURCE_POWER
    query_words = frozenset(words)
    fits = _Fits(terms, snapshot)
    for source, weight in zip(sources.tolist(), weights.tolist(), strict=True):
        rest = fits.score(source)
        reached, strength = _follow_definitions(source, names)
        definition = np.zeros(n)
        np.maximum.at(definition, reached, weight * strength)
        reached, strength = _follow_shared(source, query_words, names)
        shared = np.zeros(n)
        np.maximum.at(shared, reached, weight * strength)
        definition[source] = shared[source] = 0.0
        np.maximum(signals["definition"], definition, out=signals["definition"])
        np.maximum(signals["shared"], shared, out=signals["shared"])
        if rest is not None:
            np.maximum(signals["definition_rest"], definition * rest, out=signals["definition_rest"])
            np.maximum(signals["shared_rest"], shared * rest, out=signals["shared_rest"])
            np.maximum(signals["rest"], weight * rest, out=signals["rest"])
    return signals


def score_named(words: Iterable[int], names: Names, n: int, plain_words: Container[int] = ()) -> Floats:
    """Return `named` of passages: rarity of a name in the query / root of the number of passages that define it.

    A name of one word counts _PLAIN_WORD if the word is one of `plain_words`: headings and list items define words such
    as "users" and "default", too.
    """
    scores = np.zeros(n)
    for name in names.find(list(words)):
        passages, own = names.defining.row(name), names.words[name]
        rarity = float(names.specificity(np.array([name]))[0]) * (
            _PLAIN_WORD if len(own) == 1 and own[0] in plain_words else 1.0
        )
        np.maximum.at(scores, passages, rarity / len(passages) ** 0.5)
    return scores


def _follow_definitions(source: int, names: Names) -> tuple[NDArray[np.int64], Floats]:
    """Return (passages, strength) that define a name in the source: its rarity / number of definitions."""
    source_names = names.naming.row(source)
    passages, of = names.defining.gather(source_names)
    strength = names.specificity(source_names) / np.maximum(names.defining.sizes[source_names], 1)
    return passages, strength[of]


def _follow_shared(source: int, query_words: frozenset[int], names: Names) -> tuple[NDArray[np.int64], Floats]:
    """Return (passages, rarity) that name something which the source names and the query does not."""
    source_names = names.naming.row(source)
    source_names = source_names[names.named_by.sizes[source_names] <= _MAX_SHARED_PASSAGES]
    source_names = np.array(
        [k for k in source_names.tolist() if not query_words.issuperset(names.words[k])], dtype=np.int64
    )
    passages, of = names.named_by.gather(source_names)
    return passages, names.specificity(source_names)[of]


class _Fits:
    """Fit of passages to the query terms that a source lacks."""

    def __init__(self, terms: Iterable[int], snapshot: Snapshot) -> None:
        self._postings = postings = snapshot.arrays.postings
        self._n = snapshot.arrays.n_passages
        self._terms = sorted(terms)
        df = np.diff(postings.indptr)[self._terms] if self._terms else np.zeros(0)
        self._rarities = np.log1p((self._n - df + 0.5) / (df + 0.5))
        self._forward = snapshot.arrays.forward
        self._known: dict[tuple[int, ...], Floats | None] = {}

    def score(self, source: int) -> Floats | None:
        """Return the fit, shape (P,), in [0, 1]; None if the source lacks no term."""
        source_terms = set(self._forward.row(source)[0].tolist())
        missing = tuple(i for i, term in enumerate(self._terms) if term not in source_terms)
        if missing not in self._known:
            self._known[missing] = self._compute(missing)
        return self._known[missing]

    def _compute(self, missing: tuple[int, ...]) -> Floats | None:
        scores = bm25(self._postings, {self._terms[i]: 1.0 for i in missing}, self._n)
        best = float(scores.max(initial=0.0))
        if best <= 0:
            return None
        share = float(self._rarities[list(missing)].sum() / self._rarities.sum())
        return np.asarray(scores * (share / best), dtype=np.float64)


def _top(scores: Floats, most: int) -> NDArray[np.int64]:
    rounded = np.round(scores, 12)
    positive = np.flatnonzero(rounded > 0)
    return positive[np.argsort(-rounded[positive], kind="stable")][:most]
