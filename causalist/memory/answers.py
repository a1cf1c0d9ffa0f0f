"""What `MemoryPipeline` answers with, and the parts that it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from causalist.memory.distil import FEATURES
from causalist.memory.retrieval import MOST_FUSED, plain_mode, reciprocal_ranks
from causalist.memory.signals import best_of
from causalist.memory.snapshot import View
from causalist.memory.sparse_matrix import Floats
from causalist.memory.stages import Candidates, Conflict, MemoryHit, Mode, Posterior
from causalist.model.answer import Route

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
    return tuple(dict.fromkeys(plain_mode(view) if name == "dense" else name for name in GENERATORS[route]))


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """`hits`: best first. `tiers`: ids by tier. `retrieval_confidence`: how likely the best passage is relevant;
    `is_calibrated`: whether that rests on feedback. `is_partial`: three attempts found nothing that is likely."""

    answer_id: str
    query: str
    mode: Mode
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
