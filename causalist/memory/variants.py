"""The graph that is walked and how it is seeded: one frozen set of choices for each published method, by name.

`log` is the default: what design and benchmark say. `hipporag` (Gutiérrez et al. 2024) walks entities alone, seeds them
uniformly times 1 / passages that name them, damping 0.5. `hipporag2` (Gutiérrez et al. 2025) has passages as nodes,
seeds the entities of the facts that fit the question and every passage a little, and ranks passages by their own node.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.memory.arrays import MemoryArrays
from causalist.memory.sparse_matrix import Floats, Matrix
from causalist.model.answer import Specificity
from causalist.model.scores import Transition


class Seeding(Enum):
    """What a question seeds: entities by how well they match, the same for all of them, or by its facts."""

    MATCH = "match"
    UNIFORM = "uniform"
    FACTS = "facts"


@dataclass(frozen=True, slots=True)
class Variant:
    """`explicit`, `similar`, `cooccurrence`, `mention`, `reference`: what one link of that kind weighs; 0: not walked.
    Mentions and references link passages, so that without `has_passages` they are not walked either. A link counts
    whole in the degree and carries its confidence, unless `is_normalised`: then columns are scaled to 1.
    `passage_seed`: what the best passage is seeded with, by plain retrieval, where the best entity has 1.
    `ranks_passage_nodes`: a passage's score is that of its own node, not the sum of its entities'."""

    name: str
    damping: float
    specificity: Specificity
    seeding: Seeding
    has_passages: bool
    is_normalised: bool
    explicit: float
    similar: float
    cooccurrence: float
    mention: float
    reference: float
    passage_seed: float = 0.0
    ranks_passage_nodes: bool = False


VARIANTS: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant("log", 0.85, Specificity.LOG, Seeding.MATCH, True, False, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0),
        Variant("hipporag", 0.5, Specificity.PASSAGES, Seeding.UNIFORM, False, True, 1.0, 1.0, 1.0, 0.0, 0.0),
        Variant("hipporag2", 0.5, Specificity.PASSAGES, Seeding.FACTS, True, True, 1.0, 1.0, 0.0, 1.0, 0.0, 0.05, True),
    )
}


def variant_named(name: str) -> Variant:
    """Raises UsageError for a name that there is not."""
    if name not in VARIANTS:
        raise UsageError(f"there is no variant {name!r}; there are {', '.join(VARIANTS)}")
    return VARIANTS[name]


@dataclass(frozen=True, slots=True)
class WalkGraph:
    """The matrix M = carried / totals of an undirected graph, nodes 0..E-1 entities, then passages where there are any.

    `transition` holds M. `totals`, shape (n,): the weight of each node's links, 1 where it has none. `balanced`: the
    entries of D^-1/2 carried D^-1/2, in the places of M's.
    """

    transition: Transition
    totals: Floats
    balanced: Floats
    n_entities: int
    has_passages: bool


def walk_graph(arrays: MemoryArrays, variant: Variant) -> WalkGraph:
    """Every link is walked both ways, alike.

        D_i = sum of w_kind over the links of i, M_ji = sum of w_kind * confidence / D_i   (links between i and j)

    A triple's confidence and a similarity are confidences; a co-occurrence is 1 for each passage that names both, a
    mention and a reference 1.
    """
    m, n = arrays.n_entities, arrays.n_passages
    size = m + n if variant.has_passages else m
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]] = []
    if variant.explicit:
        given = arrays.explicit
        weight = np.maximum(np.ceil(given.values), 1.0)  # at least as many links as their confidences add up to
        parts.append((given.rows, given.indices.astype(np.int64), variant.explicit * weight,
                      variant.explicit * given.values))  # fmt: skip
    if variant.similar:
        rows, columns = arrays.similar.rows, arrays.similar.indices.astype(np.int64)
        once = rows < columns
        values = arrays.similar.values[once]
        parts.append((rows[once], columns[once], np.full(len(values), variant.similar), variant.similar * values))
    if variant.cooccurrence:
        rows, columns, shared = cooccurrences(arrays)
        weight = variant.cooccurrence * shared
        parts.append((rows, columns, weight, weight))
    if variant.has_passages and variant.mention:
        rows, columns = arrays.mentions.rows + m, arrays.mentions.indices.astype(np.int64)
        weight = np.full(len(rows), variant.mention)
        parts.append((rows, columns, weight, weight))
    if variant.has_passages and variant.reference:
        rows, columns = arrays.references.rows + m, arrays.references.indices.astype(np.int64) + m
        weight = np.full(len(rows), variant.reference)
        parts.append((rows, columns, weight, weight))
    ends = [np.concatenate([part[k] for part in parts] or [np.zeros(0)]) for k in range(4)]
    a, b = ends[0].astype(np.int64), ends[1].astype(np.int64)
    both = (np.concatenate([a, b]), np.concatenate([b, a]))
    links = Matrix.from_entries(*both, np.concatenate([ends[2], ends[2]]), (size, size))
    carried = Matrix.from_entries(*both, np.concatenate([ends[3], ends[3]]), (size, size))
    weighed = carried if variant.is_normalised else links
    totals: Floats = np.bincount(weighed.rows, weights=weighed.values, minlength=size).astype(np.float64)
    totals = np.where(totals > 0, totals, 1.0)
    degrees = np.maximum(np.diff(carried.indptr), 1).astype(np.int32)
    transition = Transition(
        carried.indptr.astype(np.int32),
        carried.indices,
        np.minimum(carried.values / totals[carried.indices], 1.0),
        degrees,
        np.ones(size, dtype=np.bool_),
    )
    root = np.sqrt(totals)
    balanced = carried.values / (root[carried.rows] * root[carried.indices])
    return WalkGraph(transition, totals, balanced, m, variant.has_passages)


def cooccurrences(arrays: MemoryArrays) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """(smaller entity, larger one, number of passages that name both) of all pairs that some passage names."""
    from scipy.sparse import csr_array, triu  # type: ignore[import-untyped]

    ones = np.ones(len(arrays.mentions.indices))
    shape = (arrays.n_passages, arrays.n_entities)
    matrix = csr_array((ones, arrays.mentions.indices, arrays.mentions.indptr), shape=shape)
    pairs = triu(matrix.T @ matrix, k=1).tocoo()
    order = np.lexsort((pairs.col, pairs.row))
    return pairs.row[order].astype(np.int64), pairs.col[order].astype(np.int64), pairs.data[order].astype(np.float64)
