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
from causalist.memory.entity_linking import FactFilter, Linked, fact_seeds, known_terms, link, seeds_of
from causalist.memory.snapshot import View
from causalist.memory.sparse_matrix import Floats
from causalist.memory.walk import MAX_ITERATIONS, TOLERANCE, Seeding, Variant
from causalist.model.answer import RetrievalMode
from causalist.model.scores import PageRankResult
from causalist.rank.lexical.bm25 import K1, bm25

# Chosen on the tuning half of the benchmark; see the decisions.
_FIRST = 2  # best documents of which it is asked what they leave
_REMAINDER_POWER = 6  # of their scores, scaled by the best
LONG = 10  # terms of a question that says more than one thing
_SHORTER = 2  # power by which what shorter ones leave counts less
_WHOLE = 0.3  # the share of the question's rarity above which what is left counts whole


@dataclass(frozen=True, slots=True)
class Remainder:
    """How much of what is left of the question each document has, `covered`, shape (documents,), and each passage by
    itself, `said`, shape (P,), both in [0, 1]; `lacking`: the terms that the best document does not have."""

    covered: Floats
    said: Floats
    lacking: tuple[int, ...]


def remainder_of(terms: Iterable[int], plain: Floats, view: View) -> Remainder | None:
    """What the best documents leave of the question; None where they leave nothing.

    `terms`: those of the question; `plain`: scores of all passages, shape (P,). With U the terms that a first document
    lacks, idf those of documents,

        c(d) = (sum of idf over U in d / sum of idf over U)^2

    is averaged over the _FIRST best documents, weighed by (score / best score)^_POWER. The same is done for passages in
    place of d, since who says two missing words in one place says more than who has them pages apart. Both are scaled
    down where U is a small part of the question (what is left of a question that one document answers is noise) and
    where the question has fewer than LONG terms: a short one says one thing, of which documents lack a word because
    they use another."""
    firsts, scores = _first_documents(plain, view)
    by_term = {term: _documents_with(term, view) for term in terms}
    lacking = tuple(t for t, has in by_term.items() if not has[firsts[0]]) if firsts else ()
    if not lacking:
        return None
    n = view.n_documents
    idf = {t: float(np.log1p((n - has.sum() + 0.5) / (has.sum() + 0.5))) for t, has in by_term.items()}
    weights = (scores / scores[0]) ** _REMAINDER_POWER
    covered, said = np.zeros(n), np.zeros(view.arrays.n_passages)
    for document, weight in zip(firsts, weights.tolist(), strict=True):
        left = [t for t, has in by_term.items() if not has[document]]
        total = sum(idf[t] for t in left)
        if total > 0:
            share, part = np.zeros(n), np.zeros(len(said))
            for term in left:
                share[by_term[term]] += idf[term] / total
                part[_passages_with(term, view)] += idf[term] / total
            covered += weight * share**2
            said += weight * part**2
    amount = min(1.0, sum(idf[t] for t in lacking) / sum(idf.values()) / _WHOLE)
    scale = amount * min(1.0, len(by_term) / LONG) ** _SHORTER / float(weights.sum())
    return Remainder(covered * scale, said * scale, lacking)


def remainder_support(remainder: Remainder, view: View) -> tuple[Floats, Floats]:
    """What each passage gets, shapes (P,): of what its document covers, if it has a lacking term itself; and of what it
    says by itself."""
    says_it = np.zeros(view.arrays.n_passages, dtype=np.bool_)
    for term in remainder.lacking:
        says_it[_passages_with(term, view)] = True
    return np.where(says_it, remainder.covered[view.document_of], 0.0), remainder.said


def _first_documents(plain: Floats, view: View) -> tuple[list[int], Floats]:
    """The best documents by their best passages, best first, ties by number; and their scores."""
    best = np.zeros(view.n_documents)
    np.maximum.at(best, view.document_of, np.round(plain, 12))
    order = np.lexsort((np.arange(len(best)), -best))[:_FIRST]
    order = order[best[order] > 0]
    return order.tolist(), best[order]


def _passages_with(term: int, view: View) -> NDArray[np.int32]:
    postings = view.arrays.postings
    return postings.documents[int(postings.indptr[term]) : int(postings.indptr[term + 1])]


def _documents_with(term: int, view: View) -> NDArray[np.bool_]:
    has = np.zeros(view.n_documents, dtype=np.bool_)
    has[view.document_of[_passages_with(term, view)]] = True
    return has


FALLBACK_ORIGIN = "fallback"  # origin of passages that plain retrieval found because no entity matched
RRF_K = 60  # Cormack, Clarke and Büttcher (2009)
MOST_FUSED = 200  # of each list
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
    `combine_with_vector`: the other signals have a say (`memory.signals` says what each is), by their weights in
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


class Walked(NamedTuple):
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


def plain_scores(text: str, view: View, mode: RetrievalMode) -> Floats:
    """Scores of all passages, shape (P,), 0 where nothing matches."""
    if mode is RetrievalMode.SPARSE:
        return bm25(view.arrays.postings, known_terms(text, view), view.arrays.n_passages)
    if mode is RetrievalMode.DENSE:
        if view.vectors is not None:
            return view.vector_scores(view.vectors.of([text])[0])
        return view.associations.scores(known_terms(text, view).items())
    if mode is RetrievalMode.HYBRID:
        parts = (RetrievalMode.DENSE, RetrievalMode.SPARSE)
        return reciprocal_ranks([plain_scores(text, view, part) for part in parts])
    raise ValueError(f"{mode} is not plain retrieval")


def plain_mode(view: View) -> RetrievalMode:
    """What `hippo` joins the graph with: vectors, or words where there is no embedder (BM25 is better than word
    associations by far)."""
    return RetrievalMode.DENSE if view.vectors is not None else RetrievalMode.SPARSE


def reciprocal_ranks(lists: Sequence[Floats]) -> Floats:
    """Reciprocal rank fusion: the sum over the lists of 1 / (60 + rank), ranks from 1; 0 where no list has it.

    >>> reciprocal_ranks([np.array([0.9, 0.5, 0.0]), np.array([0.0, 2.0, 1.0])]).round(5).tolist()
    [0.01639, 0.03252, 0.01613]
    """
    total = np.zeros(len(lists[0]))
    for scores in lists:
        order = best_of(scores, MOST_FUSED)
        total[order] += 1.0 / (RRF_K + 1.0 + np.arange(len(order)))
    return total


def walk(query: Query, seeds: NDArray[np.float64], view: View) -> Walked:
    """PageRank from the seeds, and the passages' part in it."""
    walker = view.walker(query.variant)
    damping = query.variant.damping if query.damping is None else query.damping
    result = walker.pagerank(seeds, damping=damping, tolerance=query.tolerance, max_iterations=query.max_iterations)
    m = walker.graph.n_entities
    entities = result.scores[:m]
    if query.variant.ranks_passage_nodes:
        return Walked(result, entities, result.scores[m:])
    kept = _kept(entities, query.settings, view)
    mentions = view.arrays.mentions
    passages: Floats = np.bincount(
        view.mention_rows, weights=kept[mentions.indices], minlength=view.arrays.n_passages
    ).astype(np.float64)
    return Walked(result, entities, passages)


def _kept(entities: Floats, settings: RetrievalSettings, view: View) -> Floats:
    """PageRank of the best entities and of those a few hops further, 0 for the rest."""
    if settings.top_k_entities is None:
        return entities
    chosen = best_of(entities, settings.top_k_entities)
    keep = np.zeros(len(entities), dtype=np.bool_)
    keep[chosen] = True
    frontier = chosen
    for _ in range(settings.expand_hops):
        reached = neighbours_of(frontier, view)
        frontier = reached[~keep[reached]]
        keep[frontier] = True
    return np.where(keep, entities, 0.0)


def neighbours_of(entities: NDArray[np.int64], view: View) -> NDArray[np.int64]:
    """Entities that share a passage, a triple or a name with one of these."""
    arrays = view.arrays
    is_seen = np.zeros(arrays.n_passages, dtype=np.bool_)
    is_seen[arrays.passages_of.gathered(entities)[0]] = True
    is_object = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_object[entities] = True
    is_reached = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_reached[arrays.mentions.gathered(np.flatnonzero(is_seen))[0]] = True
    for matrix in (arrays.similar, arrays.explicit):
        is_reached[matrix.gathered(entities)[0]] = True
    is_reached[view.explicit_subjects[is_object[arrays.explicit.indices]]] = True
    return np.flatnonzero(is_reached)


def rank(
    query: Query,
    view: View,
    extractor: EntityExtractor,
    mode: RetrievalMode,
    top_k: int,
    *,
    linked: Linked | None = None,
    fact_filter: FactFilter | None = None,
) -> list[RetrievedPassage]:
    """The `top_k` best passages. `linked`: what the question seeds, where that is known already."""
    if not view.arrays.n_passages:
        return []
    if mode is not RetrievalMode.HIPPO:
        return listed(plain_scores(query.text, view, mode), view, top_k, origin=mode.value)
    plain = plain_scores(query.text, view, plain_mode(view))
    seeds = None
    if query.variant.seeding is Seeding.FACTS:
        seeds, _ = fact_seeds(query.text, view, query.variant, plain, fact_filter)
    else:
        seeds = seeds_of(linked or link(query.text, view, extractor), view, query.variant, plain)
    if seeds is None:
        return listed(plain, view, top_k, origin=FALLBACK_ORIGIN)
    walked = walk(query, seeds, view)
    scores = combined(query.text, walked.passages, plain, view, query.settings)
    return listed(scores, view, top_k, walked=walked, settings=query.settings)


def listed(
    scores: Floats,
    view: View,
    top_k: int,
    *,
    walked: Walked | None = None,
    settings: RetrievalSettings | None = None,
    origin: str = RetrievalMode.HIPPO.value,
) -> list[RetrievedPassage]:
    """The best passages with what led to them."""
    arrays = view.arrays
    reached: NDArray[np.bool_] | None = None
    if walked is not None:
        reached = np.zeros(arrays.n_entities, dtype=np.bool_)
        most = (settings.top_k_entities if settings else None) or RetrievalSettings().top_k_entities or 20
        reached[best_of(walked.entities, most)] = True
    found = []
    for place in best_of(scores, top_k).tolist():
        passage = arrays.passages[place]
        record = view.records.passages[passage]
        hits: list[str] = []
        if walked is not None and reached is not None:
            own = arrays.mentions.row(place)[0]
            own = own[reached[own]]
            order = np.lexsort((own, -np.round(walked.entities[own], _DIGITS)))
            hits = [arrays.entities[e] for e in own[order].tolist()]
        found.append(
            RetrievedPassage(
                passage,
                record.text,
                float(walked.passages[place]) if walked is not None else 0.0,
                hits,
                record.metadata,
                float(scores[place]),
                origin,
            )
        )
    return found


SIGNALS = ("vector", "graph", "definition", "remainder", "own_remainder", "document", "share")
OF_THE_GRAPH = ("graph", "definition")  # weighed by the share of passages with entities
_OF_LONG_QUESTIONS = ("graph", "definition", "document", "share")
_SOURCES = 2  # best passages by words whose entities are followed to their definitions
_POWER = 3  # of their scores, scaled by the best; with _SOURCES chosen on the tuning half of the benchmark
# scores are compared rounded, then by passage id


def combined(text: str, graph: Floats, plain: Floats, view: View, settings: "RetrievalSettings") -> Floats:
    """Scores of all passages, shape (P,), in [0, 1]; `graph` and `plain`: those of a walk and of plain retrieval.

    The weights of the walk and of definitions are multiplied with the share of passages that have entities, and all but
    those of remainders, which see to it themselves, with the question's length as far as it is below LONG terms: what
    a short question says stands in one place mostly. What they lack to their whole is plain retrieval's."""
    if not settings.combine_with_vector:
        return graph
    total = sum(settings.weights)
    shares = dict(zip(SIGNALS, (weight / total for weight in settings.weights), strict=True))
    shares.update((name, shares[name] * view.coverage) for name in OF_THE_GRAPH)
    amount = min(1.0, len(known_terms(text, view)) / LONG) if settings.by_length else 1.0
    shares.update((name, shares[name] * amount) for name in _OF_LONG_QUESTIONS)
    shares["vector"] += 1.0 - sum(shares.values())
    found = signals(text, graph, plain, view, [name for name in SIGNALS if shares[name] > 0])
    scores = np.zeros(view.arrays.n_passages)
    for name in SIGNALS:
        if name in found:
            scores += shares[name] * found[name]
    return scores


def signals(
    text: str, graph: Floats, plain: Floats, view: View, wanted: Iterable[str] = SIGNALS
) -> Mapping[str, Floats]:
    """The signals that are wanted, by name, each of shape (P,)."""
    wanted = set(wanted)
    found = {"vector": _by_best(plain), "graph": _by_best(graph)}
    if "definition" in wanted:
        found["definition"] = definition_support(plain, view)
    terms = known_terms(text, view)
    if wanted & {"remainder", "own_remainder"}:
        remainder = remainder_of(terms, plain, view)
        if remainder is not None:
            found["remainder"], found["own_remainder"] = remainder_support(remainder, view)
    if wanted & {"document", "share"}:
        found["document"], found["share"] = word_support(terms, view)
    return {name: found[name] for name in SIGNALS if name in wanted and name in found}


def word_support(terms: Iterable[int], view: View) -> tuple[Floats, Floats]:
    """(`document`, `share`) of passages. With N documents of which df have a term, a term's rarity is
    ln(1 + (N - df + 0.5) / (df + 0.5)), the idf of BM25."""
    postings, document_of, n = view.arrays.postings, view.document_of, view.n_documents
    whole, said, total = np.zeros(n), np.zeros(view.arrays.n_passages), 0.0
    for term in terms:
        part = slice(int(postings.indptr[term]), int(postings.indptr[term + 1]))
        passages = postings.documents[part]
        documents, of = np.unique(document_of[passages], return_inverse=True)
        counts = np.bincount(of, weights=postings.counts[part])
        rarity = float(np.log1p((n - len(documents) + 0.5) / (len(documents) + 0.5)))
        whole[documents] += rarity * counts * (K1 + 1) / (counts + view.document_norms[documents])
        said[passages] += rarity
        total += rarity
    if not total:
        return whole[document_of], said
    return np.where(said > 0, _by_best(whole)[document_of], 0.0), np.asarray((said / total) ** 2, dtype=np.float64)


def definition_support(plain: Floats, view: View) -> Floats:
    """How much each passage's document defines of what the best passages name, shape (P,), in [0, 1].

    With a the scores of the best passages, x = sum over them of a for each entity that they name, divided by the number
    of documents which define it; a document gets the sum of x over what it defines, and the square root of that, scaled
    by the best, goes to its passages that share a word with the question."""
    arrays = view.arrays
    found = np.zeros(arrays.n_passages)
    top = best_of(plain, _SOURCES)
    if not len(top) or not len(arrays.defines.indices):
        return found
    weights = (plain[top] / plain[top[0]]) ** _POWER
    entities, _, source = arrays.mentions.gathered(top)
    x = np.bincount(entities, weights=weights[source], minlength=arrays.n_entities)
    named = np.flatnonzero(x)
    documents, _, of = view.definers.gathered(named)
    share = x[named] / np.maximum(np.diff(view.definers.indptr)[named], 1)
    by_document = np.bincount(documents, weights=share[of], minlength=view.n_documents)
    best = float(by_document.max(initial=0.0))
    if best > 0:
        found = np.sqrt(by_document / best)[view.document_of] * (plain > 0)
    return np.asarray(found, dtype=np.float64)


def best_of(scores: Floats, most: int) -> NDArray[np.int64]:
    """The positions of the highest scores above 0, best first, ties by position, which is that of the passage id."""
    rounded = np.round(scores, _DIGITS)
    found = np.flatnonzero(rounded > 0)
    if len(found) > 4 * most:
        edge = np.partition(rounded[found], len(found) - most)[len(found) - most]
        found = found[rounded[found] >= edge]
    return found[np.argsort(-rounded[found], kind="stable")][:most]


def _by_best(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
