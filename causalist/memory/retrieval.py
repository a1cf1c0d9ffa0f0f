"""A question -> ranked passages, in one of four modes.

`sparse`: BM25. `dense`: cosine of vectors, or of the corpus's own word associations without an embedder. `hybrid`:
both, fused by reciprocal rank. `hippo`: the entities of the question spread over the graph; a passage scores the sum
of its entities' PageRank, joined with plain retrieval, with documents that define what is named, and with those that
say what the best documents leave of the question. Where no entity matches, `hippo` is plain retrieval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import EmptyQuestion, UsageError
from causalist.memory.entities import EntityExtractor
from causalist.memory.entity_linking import FactFilter, Linked, fact_seeds, known_terms, link, seeds_of
from causalist.memory.signals import SIGNALS, best_of, combined
from causalist.memory.snapshot import View
from causalist.memory.sparse_matrix import Floats
from causalist.memory.variants import Seeding, Variant
from causalist.memory.walk import MAX_ITERATIONS, TOLERANCE
from causalist.model.scores import PageRankResult
from causalist.rank.lexical.bm25 import bm25

MODES = ("hippo", "dense", "sparse", "hybrid")
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


def plain_scores(text: str, view: View, mode: str) -> Floats:
    """Scores of all passages, shape (P,), 0 where nothing matches."""
    if mode == "sparse":
        return bm25(view.arrays.postings, known_terms(text, view), view.arrays.n_passages)
    if mode == "dense":
        if view.vectors is not None:
            return view.vector_scores(view.vectors.of([text])[0])
        return view.associations.scores(known_terms(text, view).items())
    if mode == "hybrid":
        return reciprocal_ranks([plain_scores(text, view, "dense"), plain_scores(text, view, "sparse")])
    raise UsageError(f"there is no mode {mode!r}; there are {', '.join(MODES)}")


def plain_mode(view: View) -> str:
    """What `hippo` joins the graph with: vectors, or words where there is no embedder (BM25 is better than word
    associations by far)."""
    return "dense" if view.vectors is not None else "sparse"


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
    mode: str,
    top_k: int,
    *,
    linked: Linked | None = None,
    fact_filter: FactFilter | None = None,
) -> list[RetrievedPassage]:
    """The `top_k` best passages. `linked`: what the question seeds, where that is known already."""
    if not view.arrays.n_passages:
        return []
    if mode != "hippo":
        return listed(plain_scores(query.text, view, mode), view, top_k, origin=mode)
    plain = plain_scores(query.text, view, plain_mode(view))
    seeds = None
    if query.variant.seeding is Seeding.FACTS:
        seeds, _ = fact_seeds(query.text, view, query.variant, plain, fact_filter)
    else:
        seeds = seeds_of(linked or link(query.text, view, extractor), view, query.variant, plain)
    if seeds is None:
        return listed(plain, view, top_k, origin="fallback")
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
    origin: str = "hippo",
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
