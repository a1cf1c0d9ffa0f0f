"""The graph around entities: hops, synonyms, what is known of one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.memory.arrays import types_and_aliases
from causalist.memory.entity_linking import Linked
from causalist.memory.retrieval import neighbours_of
from causalist.memory.snapshot import View

HOP_DECAY = 0.5  # a seed one hop further counts half as much; chosen by hand
_MOST_EACH_HOP = 100  # entities that a hop adds: those with the most links to what was there
_MOST_HOPS = 10


class Neighbour(NamedTuple):
    """An entity near another: hops away, and of its links to what is one hop nearer the kinds and their strength."""

    entity: str
    hops: int
    strength: float
    kinds: tuple[str, ...]


class EntityInfo(NamedTuple):
    """`occurrences`: in all passages; `aliases`: names as written, the most frequent first. `senses`: the ids of the
    things that the name means, where it means several; all else is of all of them together."""

    entity: str
    name: str
    type: str
    aliases: tuple[str, ...]
    occurrences: int
    passages: tuple[str, ...]
    senses: tuple[str, ...] = ()


def expanded(linked: Linked, view: View, max_hops: int) -> Linked:
    """What is linked, and entities up to `max_hops` away; of each hop those that are linked most."""
    _check_hops(max_hops)
    matches = dict(linked.matches)
    frontier = np.array(sorted(matches), dtype=np.int64)
    for hop in range(1, max_hops + 1):
        strengths = _strengths(frontier, view)
        new = np.array([e for e in strengths if e not in matches], dtype=np.int64)
        order = sorted(new.tolist(), key=lambda e: (-strengths[e], e))[:_MOST_EACH_HOP]
        if not order:
            break
        matches.update(dict.fromkeys(order, HOP_DECAY**hop))
        frontier = np.array(sorted(order), dtype=np.int64)
    return Linked(dict(sorted(matches.items())), linked.exact)


def with_synonyms(entities: Sequence[int], view: View) -> list[str]:
    near, _, _ = view.arrays.similar.gathered(np.array(sorted(set(entities)), dtype=np.int64))
    return [view.arrays.entities[e] for e in sorted({*entities, *near.tolist()})]


def neighbourhood(entities: Sequence[int], hops: int, view: View) -> list[Neighbour]:
    """Of one entity, or of all that a name means. By hops, then strength, then id."""
    _check_hops(hops)
    seen = set(entities)
    frontier = sorted(seen)
    found: list[Neighbour] = []
    for hop in range(1, hops + 1):
        ends = np.array(frontier, dtype=np.int64)
        strengths, kinds = _strengths(ends, view), _kinds(ends, view)
        new = [e for e in strengths if e not in seen]
        found += sorted(
            (Neighbour(view.arrays.entities[e], hop, strengths[e], tuple(sorted(kinds[e]))) for e in new),
            key=lambda each: (-each.strength, each.entity),
        )
        seen.update(new)
        frontier = sorted(new)
        if not frontier:
            break
    return found


def entity_info(entities: Sequence[int], view: View) -> EntityInfo:
    """Of one entity, or of all that a name means."""
    arrays = view.arrays
    kind, aliases = types_and_aliases(view.records, arrays, entities)
    rows = [arrays.passages_of.row(entity) for entity in entities]
    places = sorted(place for passages, _ in rows for place in passages.tolist())
    number = int(arrays.entity_numbers[entities[0]])
    name = aliases[0] if aliases else view.records.entities.strings[number].replace("_", " ")
    return EntityInfo(
        arrays.entities[entities[0]] if len(entities) == 1 else view.records.entities.strings[number],
        name,
        kind,
        aliases,
        int(sum(counts.sum() for _, counts in rows)),
        tuple(arrays.passages[place] for place in places),
        tuple(arrays.entities[entity] for entity in entities) if len(entities) > 1 else (),
    )


def synonym_graph(view: View) -> dict[str, dict[str, float]]:
    similar, names = view.arrays.similar, view.arrays.entities
    found: dict[str, dict[str, float]] = {}
    for row, column, value in zip(
        similar.rows.tolist(), similar.indices.tolist(), similar.values.tolist(), strict=True
    ):
        found.setdefault(names[row], {})[names[column]] = value
    return found


def stats(view: View) -> dict[str, int | float]:
    arrays = view.arrays
    return {
        "passages": arrays.n_passages,
        "entities": arrays.n_entities,
        "terms": len(arrays.terms),
        "mentions": len(arrays.mentions.indices),
        "similar_to": len(arrays.similar.indices) // 2,
        "triples": len(arrays.explicit.indices),
        "references": len(arrays.references.indices),
        "coverage": round(view.coverage, 6),
    }


def _strengths(ends: NDArray[np.int64], view: View) -> dict[int, float]:
    """Entities linked with any of these: passages shared, similarities and confidences, added."""
    arrays = view.arrays
    reached = neighbours_of(ends, view)
    passages, _, _ = arrays.passages_of.gathered(ends)
    shared, _, _ = arrays.mentions.gathered(passages)
    total = np.bincount(shared, minlength=arrays.n_entities).astype(np.float64)
    for matrix in (arrays.similar, arrays.explicit):
        columns, values, _ = matrix.gathered(ends)
        total += np.bincount(columns, weights=values, minlength=arrays.n_entities)
    is_end = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_end[ends] = True
    back = is_end[arrays.explicit.indices]
    total += np.bincount(arrays.explicit.rows[back], weights=arrays.explicit.values[back], minlength=arrays.n_entities)
    return {e: float(total[e]) for e in reached.tolist() if not is_end[e]}


def _kinds(ends: NDArray[np.int64], view: View) -> dict[int, set[str]]:
    arrays = view.arrays
    passages, _, _ = arrays.passages_of.gathered(ends)
    found: dict[int, set[str]] = {}
    is_end = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_end[ends] = True
    lists = (
        ("co_occurrence", arrays.mentions.gathered(passages)[0]),
        ("similar_to", arrays.similar.gathered(ends)[0]),
        ("related_to", arrays.explicit.gathered(ends)[0]),
        ("related_to", arrays.explicit.rows[is_end[arrays.explicit.indices]]),
    )
    for kind, entities in lists:
        for e in np.unique(entities).tolist():
            found.setdefault(e, set()).add(kind)
    return found


def _check_hops(hops: int) -> None:
    if not 1 <= hops <= _MOST_HOPS:
        raise UsageError(f"hops is {hops}; it lies between 1 and {_MOST_HOPS}")
