"""Senses of ambiguous names, separated by the entities and words around their mentions.

Input: passages with their entities, documents and words. Output: the sense of each mention. A name has one sense per
document (Gale, Church and Yarowsky 1992). Two documents share a sense if their passages name it together with the same
other entity. A group of joined documents is a sense if it has at least three documents and its words differ from those
of other groups. Any other document joins the sense with the most similar words. The result depends on the set of
passages only, not on the order in which they were added.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.memory.sparse_matrix import Ints, Matrix
from causalist.rank.terms import STOP_WORDS, terms_of

_WORD = re.compile(r"[^\W_]+")
# Chosen on names made ambiguous by giving two things one name; docs/memory.md has the figures.
MIN_DOCUMENTS = 6  # documents that name a name with senses
MAX_DOCUMENTS = 200  # of a name with senses; above this, neighbors separate no senses
_MIN_DOCUMENTS_EACH = 3  # documents of a sense
_MAX_NEIGHBOR_DOCUMENTS = 20  # documents that name a neighbor; a more frequent one joins any two groups
_MAX_NEIGHBOR_SHARE = 0.2  # of all documents, if that is more
_MAX_PASSAGES_READ = 20  # passages of a group whose words are compared
_SAME_SENSE_COSINE = 0.1  # cosine of the words of two groups; from here on they are one sense


def find_senses(
    mentions: Matrix,
    documents: Ints,
    may_differ: NDArray[np.bool_],
    forward: Matrix,
    names: Sequence[str],
    terms: Sequence[str],
) -> Ints | None:
    """Return the sense number of each entry of `mentions`, shape (n_entries,), or None if no name is ambiguous.

    Sense 0 is the most frequent one. `mentions`: (P, E). `documents`: (P,), document numbers. `may_differ`: (E,), names
    that can be ambiguous. `forward`: (P, T), term counts. `names` and `terms`: ids of E and T.
    """
    n_entities = mentions.n_columns
    rows, entities = mentions.rows, mentions.indices.astype(np.int64)
    pairs = np.unique(documents[rows] * n_entities + entities)
    n_documents = np.bincount(pairs % max(n_entities, 1), minlength=n_entities)
    chosen = may_differ & (n_documents >= MIN_DOCUMENTS) & (n_documents <= MAX_DOCUMENTS)
    if not chosen.any():
        return None
    most = max(_MAX_NEIGHBOR_DOCUMENTS, int(_MAX_NEIGHBOR_SHARE * (int(documents.max(initial=0)) + 1)))
    is_neighbor = (n_documents >= 2) & (n_documents <= most)
    nodes = pairs[chosen[pairs % n_entities]]
    groups = _group_documents(mentions, documents, chosen, is_neighbor, nodes)
    by_entity = nodes % n_entities
    _, first, group_of = np.unique(groups, return_index=True, return_inverse=True)
    sizes = np.bincount(group_of)
    is_sense = sizes >= _MIN_DOCUMENTS_EACH
    n_senses = np.bincount(by_entity[first[is_sense]], minlength=n_entities)
    found: Ints | None = None
    ambiguous = np.flatnonzero(n_senses >= 2)
    if not len(ambiguous):
        return None
    order = np.argsort(mentions.indices, kind="stable")  # mention entries by entity, then by passage
    ends = np.cumsum(np.bincount(entities, minlength=n_entities))
    by_node = np.argsort(by_entity, kind="stable")
    node_ends = np.cumsum(np.bincount(by_entity, minlength=n_entities))
    words = _TermVectors(forward, terms)
    for entity in ambiguous.tolist():
        own = by_node[node_ends[entity - 1] if entity else 0 : node_ends[entity]]
        entries = order[ends[entity - 1] if entity else 0 : ends[entity]]
        group_by_document = dict(zip((nodes[own] // n_entities).tolist(), group_of[own].tolist(), strict=True))
        passages: dict[int, list[int]] = {}
        for entry in entries.tolist():
            passages.setdefault(group_by_document[int(documents[rows[entry]])], []).append(int(rows[entry]))
        sense = _separate_senses(
            passages, [g for g in passages if is_sense[g]], words, words.terms_of_name(names[entity])
        )
        if sense:
            found = np.zeros(len(entities), dtype=np.int64) if found is None else found
            found[entries] = [sense[group_by_document[int(documents[rows[entry]])]] for entry in entries.tolist()]
    return found


def _group_documents(
    mentions: Matrix, documents: Ints, chosen: NDArray[np.bool_], is_neighbor: NDArray[np.bool_], nodes: Ints
) -> Ints:
    """Return the group of each node (document * E + name), shape (nodes,).

    Two documents are in one group if a passage of each names the name together with the same neighbor.
    """
    from scipy.sparse import coo_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    n_entities = mentions.n_columns
    rows, entities = mentions.rows, mentions.indices.astype(np.int64)
    beside = Matrix.from_entries(
        rows[is_neighbor[entities]],
        entities[is_neighbor[entities]],
        np.ones(int(is_neighbor[entities].sum())),
        (mentions.n_rows, n_entities),
    )
    at = np.flatnonzero(chosen[entities])
    neighbors, _, which = beside.gather(rows[at])
    names, holders = entities[at][which], rows[at][which]
    other = neighbors != names
    keys = names[other] * n_entities + neighbors[other]
    node = np.searchsorted(nodes, documents[holders[other]] * n_entities + names[other])
    _, key = np.unique(keys, return_inverse=True)
    size = len(nodes) + int(key.max(initial=-1)) + 1
    graph = coo_array((np.ones(len(key), dtype=np.int8), (node, len(nodes) + key)), shape=(size, size))
    labels = connected_components(graph, directed=False)[1][: len(nodes)]
    # A group has the number of its first node, independent of the library's numbering.
    return np.asarray(np.unique(labels, return_index=True)[1][labels], dtype=np.int64)


class SenseAssignment(NamedTuple):
    """Entities after disambiguation.

    - `names`: sorted entity ids; `numbers`: number of the name of each entity.
    - `mentions`: (P, E); `passages_by_entity` is its transpose.
    - `first`: entity of the first sense, by position of the name before disambiguation.
    - `entity_by_mention`: (document, name number) -> entity, for the `ambiguous` name numbers.
    - `senses`: entity -> all entities of its name, for ambiguous names.
    """

    names: list[str]
    numbers: Ints
    mentions: Matrix
    passages_by_entity: Matrix
    first: Ints
    entity_by_mention: dict[tuple[int, int], int]
    ambiguous: list[int]
    senses: dict[int, tuple[int, ...]]

    def pair_senses(self, a: int, b: int) -> list[tuple[int, int]]:
        """Return the pairs of senses that share a neighbor, or else the pair of first senses."""
        if a not in self.senses and b not in self.senses:
            return [(a, b)]
        met = [
            (one, other)
            for one in self.senses.get(a, (a,))
            for other in self.senses.get(b, (b,))
            if self._neighbors_of(one) & self._neighbors_of(other)
        ]
        return met or [(a, b)]

    def _neighbors_of(self, entity: int) -> set[int]:
        """Return the entities named in the passages of an entity."""
        return set(self.mentions.gather(self.passages_by_entity.row(entity)[0])[0].tolist()) - {entity}


def disambiguate(
    entities: list[str], numbers: Ints, documents: Ints, mentions: Matrix, labels: Ints | None
) -> SenseAssignment:
    """Return the entities with one entity per sense; `labels` is the result of `find_senses`.

    The id of a sense is that of the name with a number from 1 in brackets. No id of a name ends that way.
    """
    if labels is None:
        return SenseAssignment(entities, numbers, mentions, mentions.transpose(), np.arange(len(entities)), {}, [], {})
    rows, columns = mentions.rows, mentions.indices.astype(np.int64)
    pairs = sorted({(int(e), int(s)) for e, s in zip(columns[labels > 0], labels[labels > 0], strict=True)})
    split = sorted({e for e, _ in pairs})
    firsts = set(split)
    ids = [
        *(f"{name}_(1)" if e in firsts else name for e, name in enumerate(entities)),
        *(f"{entities[e]}_({s + 1})" for e, s in pairs),
    ]
    owner = np.concatenate([np.arange(len(entities)), np.array([e for e, _ in pairs], dtype=np.int64)])
    order = sorted(range(len(ids)), key=ids.__getitem__)
    place = np.empty(len(ids), dtype=np.int64)
    place[order] = np.arange(len(ids))
    sense = {pair: int(place[len(entities) + i]) for i, pair in enumerate(pairs)}
    column = place[columns]
    for at in np.flatnonzero(labels > 0).tolist():
        column[at] = sense[int(columns[at]), int(labels[at])]
    entity_by_mention = {
        (int(documents[rows[at]]), int(numbers[columns[at]])): int(column[at])
        for at in np.flatnonzero(np.isin(columns, split)).tolist()
    }
    senses: dict[int, tuple[int, ...]] = {}
    for e in split:
        members = (int(place[e]), *(value for (owned, _), value in sorted(sense.items()) if owned == e))
        senses.update(dict.fromkeys(members, members))
    again = Matrix.from_entries(rows, column, mentions.values, (mentions.n_rows, len(ids)))
    return SenseAssignment(
        [ids[i] for i in order], numbers[owner[order]], again, again.transpose(), place[: len(entities)],
        entity_by_mention,
        [int(numbers[e]) for e in split], senses,
    )  # fmt: skip


class _TermVectors:
    """Term vectors of groups of passages: (1 + log count) * log(P / passage frequency), 0 for stop words."""

    def __init__(self, forward: Matrix, terms: Sequence[str]) -> None:
        self._forward = forward
        self._terms = terms
        frequency = np.bincount(forward.indices, minlength=forward.n_columns)
        tells = np.array([term not in STOP_WORDS for term in terms], dtype=np.bool_)
        self._rarity = np.where(tells, np.log(forward.n_rows / np.maximum(frequency, 1)), 0.0)

    def terms_of_name(self, name: str) -> set[int]:
        """Return the numbers of the terms of a name."""
        found = set()
        for term in {term for word in _WORD.findall(name) for term in terms_of(word)}:
            at = bisect_left(self._terms, term)
            if at < len(self._terms) and self._terms[at] == term:
                found.add(at)
        return found

    def vector_of(self, passages: list[int], without: set[int]) -> "_TermVector":
        """Return the vector of passages, without the terms in `without`."""
        terms, counts, _ = self._forward.gather(np.array(sorted(set(passages))[:_MAX_PASSAGES_READ], dtype=np.int64))
        entity_by_mention, inverse = np.unique(terms, return_inverse=True)
        weights = (1.0 + np.log(np.bincount(inverse, weights=counts))) * self._rarity[entity_by_mention]
        is_informative = (weights > 0) & ~np.isin(entity_by_mention, sorted(without))
        entity_by_mention, weights = entity_by_mention[is_informative], weights[is_informative]
        norm = float(np.sqrt(np.add.reduce(weights * weights)))
        return _TermVector(entity_by_mention, weights / norm if norm else weights)


class _TermVector(NamedTuple):
    """Ascending terms and their weights; norm 1, or empty."""

    terms: NDArray[np.int32]
    weights: NDArray[np.float64]

    def cosine(self, other: "_TermVector") -> float:
        """Return the cosine with another vector."""
        _, own, others = np.intersect1d(self.terms, other.terms, assume_unique=True, return_indices=True)
        return float(np.add.reduce(self.weights[own] * other.weights[others]))


def _separate_senses(
    passages: dict[int, list[int]], groups: list[int], words: _TermVectors, own: set[int]
) -> dict[int, int] | None:
    """Return group -> sense, or None if all groups have one sense.

    `passages` by group; `groups`: those large enough to be a sense; `own`: terms of the name itself, which are ignored.
    """
    senses = [[group] for group in sorted(groups)]
    vectors = [words.vector_of(passages[group], own) for group in sorted(groups)]
    while len(senses) > 1:
        likeness, i, j = max((vectors[i].cosine(vectors[j]), -i, -j) for j in range(len(senses)) for i in range(j))
        if likeness < _SAME_SENSE_COSINE:
            break
        i, j = -i, -j
        senses[i] += senses.pop(j)
        vectors.pop(j)
        vectors[i] = words.vector_of([p for g in senses[i] for p in passages[g]], own)
    if len(senses) == 1:
        return None
    for group in sorted(passages.keys() - set(groups)):
        vector = words.vector_of(passages[group], own)
        likeness_to = [vector.cosine(each) for each in vectors]
        best = max(range(len(senses)), key=lambda k: (likeness_to[k], -k))
        senses[best].append(group)
    order = sorted(
        senses, key=lambda each: (-sum(len(passages[g]) for g in each), min(p for g in each for p in passages[g]))
    )
    return {group: number for number, each in enumerate(order) for group in each}
