"""Neighborhood of entities in the graph: hops, synonyms and facts about one entity."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.memory.arrays import types_and_aliases
from causalist.memory.entity_linking import LinkedEntities
from causalist.memory.retrieval import find_neighbors
from causalist.memory.snapshot import Snapshot

HOP_DECAY = 0.5  # weight of a seed per hop; chosen by hand
_MAX_ENTITIES_PER_HOP = 100  # the most strongly linked ones
_MAX_HOPS = 10


class Neighbor(NamedTuple):
    """An entity near another; `kinds` and `strength` are those of its links to entities one hop nearer."""

    entity: str
    hops: int
    strength: float
    kinds: tuple[str, ...]


class EntityInfo(NamedTuple):
    """An entity. `occurrences` count all passages; `aliases` are names as written, the most frequent first.

    `senses` are the entity ids of an ambiguous name; the other fields then cover all of them.
    """

    entity: str
    name: str
    type: str
    aliases: tuple[str, ...]
    occurrences: int
    passages: tuple[str, ...]
    senses: tuple[str, ...] = ()


def expand_linked(linked: LinkedEntities, snapshot: Snapshot, max_hops: int) -> LinkedEntities:
    """Return the linked entities and entities up to `max_hops` away; each hop adds the most strongly linked ones."""
    _check_hops(max_hops)
    matches = dict(linked.matches)
    frontier = np.array(sorted(matches), dtype=np.int64)
    for hop in range(1, max_hops + 1):
        strengths = _link_strengths(frontier, snapshot)
        new = np.array([e for e in strengths if e not in matches], dtype=np.int64)
        order = sorted(new.tolist(), key=lambda e: (-strengths[e], e))[:_MAX_ENTITIES_PER_HOP]
        if not order:
            break
        matches.update(dict.fromkeys(order, HOP_DECAY**hop))
        frontier = np.array(sorted(order), dtype=np.int64)
    return LinkedEntities(dict(sorted(matches.items())), linked.exact)


def add_synonyms(entities: Sequence[int], snapshot: Snapshot) -> list[str]:
    """Return ids of the entities and of all that a similarity edge joins to them, in alphabetical order."""
    near, _, _ = snapshot.arrays.similar.gather(np.array(sorted(set(entities)), dtype=np.int64))
    return [snapshot.arrays.entities[e] for e in sorted({*entities, *near.tolist()})]


def find_neighborhood(entities: Sequence[int], hops: int, snapshot: Snapshot) -> list[Neighbor]:
    """Return the neighbors of one entity, or of all senses of a name; by hops, then strength, then id."""
    _check_hops(hops)
    seen = set(entities)
    frontier = sorted(seen)
    found: list[Neighbor] = []
    for hop in range(1, hops + 1):
        ends = np.array(frontier, dtype=np.int64)
        strengths, kinds = _link_strengths(ends, snapshot), _link_kinds(ends, snapshot)
        new = [e for e in strengths if e not in seen]
        found += sorted(
            (Neighbor(snapshot.arrays.entities[e], hop, strengths[e], tuple(sorted(kinds[e]))) for e in new),
            key=lambda each: (-each.strength, each.entity),
        )
        seen.update(new)
        frontier = sorted(new)
        if not frontier:
            break
    return found


def describe_entity(entities: Sequence[int], snapshot: Snapshot) -> EntityInfo:
    """Return the facts about one entity, or about all senses of a name."""
    arrays = snapshot.arrays
    kind, aliases = types_and_aliases(snapshot.records, arrays, entities)
    rows = [arrays.passages_by_entity.row(entity) for entity in entities]
    positions = sorted(position for passages, _ in rows for position in passages.tolist())
    number = int(arrays.entity_numbers[entities[0]])
    name = aliases[0] if aliases else snapshot.records.entities.strings[number].replace("_", " ")
    return EntityInfo(
        arrays.entities[entities[0]] if len(entities) == 1 else snapshot.records.entities.strings[number],
        name,
        kind,
        aliases,
        int(sum(counts.sum() for _, counts in rows)),
        tuple(arrays.passages[position] for position in positions),
        tuple(arrays.entities[entity] for entity in entities) if len(entities) > 1 else (),
    )


def build_synonym_graph(snapshot: Snapshot) -> dict[str, dict[str, float]]:
    """Return similarity edges as an adjacency: entity -> entity -> similarity."""
    similar, names = snapshot.arrays.similar, snapshot.arrays.entities
    found: dict[str, dict[str, float]] = {}
    for row, column, value in zip(
        similar.rows.tolist(), similar.indices.tolist(), similar.values.tolist(), strict=True
    ):
        found.setdefault(names[row], {})[names[column]] = value
    return found


def count_stats(snapshot: Snapshot) -> dict[str, int | float]:
    """Return counts of nodes and edges by kind, and the share of passages with entities."""
    arrays = snapshot.arrays
    return {
        "passages": arrays.n_passages,
        "entities": arrays.n_entities,
        "terms": len(arrays.terms),
        "mentions": len(arrays.mentions.indices),
        "similar_to": len(arrays.similar.indices) // 2,
        "triples": len(arrays.explicit.indices),
        "references": len(arrays.references.indices),
        "coverage": round(snapshot.coverage, 6),
    }


def _link_strengths(ends: NDArray[np.int64], snapshot: Snapshot) -> dict[int, float]:
    """Return the entities linked with any of `ends`: shared passages, similarities and confidences, added."""
    arrays = snapshot.arrays
    reached = find_neighbors(ends, snapshot)
    passages, _, _ = arrays.passages_by_entity.gather(ends)
    shared, _, _ = arrays.mentions.gather(passages)
    total = np.bincount(shared, minlength=arrays.n_entities).astype(np.float64)
    for matrix in (arrays.similar, arrays.explicit):
        columns, values, _ = matrix.gather(ends)
        total += np.bincount(columns, weights=values, minlength=arrays.n_entities)
    is_end = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_end[ends] = True
    back = is_end[arrays.explicit.indices]
    total += np.bincount(arrays.explicit.rows[back], weights=arrays.explicit.values[back], minlength=arrays.n_entities)
    return {e: float(total[e]) for e in reached.tolist() if not is_end[e]}


def _link_kinds(ends: NDArray[np.int64], snapshot: Snapshot) -> dict[int, set[str]]:
    arrays = snapshot.arrays
    passages, _, _ = arrays.passages_by_entity.gather(ends)
    found: dict[int, set[str]] = {}
    is_end = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_end[ends] = True
    lists = (
        ("co_occurrence", arrays.mentions.gather(passages)[0]),
        ("similar_to", arrays.similar.gather(ends)[0]),
        ("related_to", arrays.explicit.gather(ends)[0]),
        ("related_to", arrays.explicit.rows[is_end[arrays.explicit.indices]]),
    )
    for kind, entities in lists:
        for e in np.unique(entities).tolist():
            found.setdefault(e, set()).add(kind)
    return found


def _check_hops(hops: int) -> None:
    if not 1 <= hops <= _MAX_HOPS:
        raise UsageError(f"hops must be from 1 to {_MAX_HOPS}, not {hops}")
