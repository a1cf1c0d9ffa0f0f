"""Senses of ambiguous names: names -> entities, one for each sense.

Senses of a name are separated by the entities and words around its mentions. A name has one sense per document (Gale,
Church and Yarowsky 1992). Two documents share a sense if their passages name it together with the same other entity. A
group of joined documents is a sense if it has at least three documents and its words differ from those of other groups.
Any other document joins the sense with the most similar words. The result depends on the set of passages only.

A name depends on the passages that name it, on which other names are neighbors, and on how rare its words are. Rarity
is counted in doublings, so that a new passage changes it for few words, and few names are looked at again.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted
from causalist.memory.matrix_splices import Floats, Ints, Matrix, find_entries, splice_sorted
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


def could_differ(n_documents: Ints, may_differ: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask of names that may have several senses; both arguments are by name."""
    return may_differ & (n_documents >= MIN_DOCUMENTS) & (n_documents <= MAX_DOCUMENTS)


def are_neighbors(n_documents: Ints, n_all: int) -> NDArray[np.bool_]:
    """Return the mask of names that join documents; `n_documents` by name, `n_all` documents in all."""
    most = max(_MAX_NEIGHBOR_DOCUMENTS, int(_MAX_NEIGHBOR_SHARE * n_all))
    return (n_documents >= 2) & (n_documents <= most)


def count_doublings(n_passages: Ints) -> Ints:
    """Return how often 1 doubles up to each number of passages; 0 for none.

    >>> count_doublings(np.array([0, 1, 2, 3, 4, 1000])).tolist()
    [0, 0, 1, 1, 2, 9]
    """
    return np.asarray(np.frexp(np.maximum(n_passages, 1).astype(np.float64))[1] - 1, dtype=np.int64)


def find_senses(
    mentions: Matrix,
    documents: Ints,
    chosen: NDArray[np.bool_],
    is_neighbor: NDArray[np.bool_],
    words: "TermVectors",
    names: Sequence[str],
) -> Ints:
    """Return the sense of each entry of `mentions`, shape (n_entries,), 0 for the most frequent one.

    `mentions`: (P, names), with all passages of the names in the mask `chosen`. `documents`: (P,), document numbers.
    `words`: term vectors of these passages. Names that are not chosen have one sense.
    """
    n_names = mentions.n_columns
    rows, entities = mentions.rows, mentions.indices.astype(np.int64)
    sense_of_entry = np.zeros(len(entities), dtype=np.int64)
    at = np.flatnonzero(chosen[entities])
    if not len(at):
        return sense_of_entry
    nodes = unique_sorted(documents[rows[at]] * n_names + entities[at])
    groups = _group_documents(mentions, documents, chosen, is_neighbor, nodes)
    by_entity = nodes % n_names
    _, first, group_of = np.unique(groups, return_index=True, return_inverse=True)
    is_sense = np.bincount(group_of) >= _MIN_DOCUMENTS_EACH
    n_senses = np.bincount(by_entity[first[is_sense]], minlength=n_names)
    ambiguous = np.flatnonzero(n_senses >= 2)
    order = at[np.argsort(entities[at], kind="stable")]  # chosen entries by name, then by passage
    ends = np.cumsum(np.bincount(entities[order], minlength=n_names))
    by_node = np.argsort(by_entity, kind="stable")
    node_ends = np.cumsum(np.bincount(by_entity, minlength=n_names))
    for entity in ambiguous.tolist():
        own_nodes = by_node[node_ends[entity - 1] if entity else 0 : node_ends[entity]]
        entries = order[ends[entity - 1] if entity else 0 : ends[entity]]
        group_by_document = dict(zip((nodes[own_nodes] // n_names).tolist(), group_of[own_nodes].tolist(), strict=True))
        holders = rows[entries].tolist()
        group_by_entry = [group_by_document[document] for document in documents[rows[entries]].tolist()]
        passages: dict[int, list[int]] = {}
        for holder, group in zip(holders, group_by_entry, strict=True):
            passages.setdefault(group, []).append(holder)
        sense = _separate_senses(
            passages, [g for g in passages if is_sense[g]], words, words.terms_of_name(names[entity])
        )
        if sense:
            sense_of_entry[entries] = [sense[group] for group in group_by_entry]
    return sense_of_entry


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
    neighbors, _, neighbor_entry = beside.gather(rows[at])
    names, holders = entities[at][neighbor_entry], rows[at][neighbor_entry]
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
    - `mention_keys`: document * names + name of all mentions of ambiguous names, ascending, and the entity of each.
    - `senses`: entity -> all entities of its name, for ambiguous names.
    """

    names: list[str]
    numbers: Ints
    mentions: Matrix
    passages_by_entity: Matrix
    first: Ints
    mention_keys: tuple[Ints, Ints]
    senses: dict[int, tuple[int, ...]]

    def resolve(self, document: int, name: int) -> int:
        """Return the entity that a document means by a name, given by its position before disambiguation."""
        keys, entities = self.mention_keys
        if len(keys):
            key = document * len(self.first) + name
            at = int(np.searchsorted(keys, key))
            if at < len(keys) and keys[at] == key:
                return int(entities[at])
        return int(self.first[name])

    def pair_senses(self, pairs: Ints, values: Floats) -> tuple[Ints, Floats]:
        """Return pairs of entities with their values, from pairs of names, given by the entities of first senses.

        Of ambiguous names, all pairs of senses that share a neighbor are joined, or else the first senses.
        """
        is_split = np.isin(pairs, list(self.senses)).any(axis=1)
        if not is_split.any():
            return pairs, values
        sense_pairs, of = [], []
        for i, (a, b) in enumerate(pairs[is_split].tolist()):
            for pair in product(self.senses.get(a, (a,)), self.senses.get(b, (b,))):
                sense_pairs.append(pair)
                of.append(i)
        candidates, owners = np.array(sense_pairs, dtype=np.int64), np.array(of, dtype=np.int64)
        has_met = self._share_neighbors(candidates)
        # The first pair of each name pair is that of the first senses.
        is_first = np.concatenate([[True], owners[1:] != owners[:-1]])
        n_met = np.bincount(owners, weights=has_met)
        chosen = has_met | (is_first & (n_met[owners] == 0))
        return (
            np.concatenate([pairs[~is_split], candidates[chosen]]),
            np.concatenate([values[~is_split], values[is_split][owners[chosen]]]),
        )

    def _share_neighbors(self, pairs: Ints) -> NDArray[np.bool_]:
        """Return the mask of pairs of entities that passages name together with the same third one."""
        from scipy.sparse import csr_array

        entities, at = np.unique(pairs, return_inverse=True)
        at = at.reshape(pairs.shape)
        entity_passages = self.passages_by_entity.take(entities)
        n, m = self.mentions.n_rows, self.mentions.n_columns
        holders = csr_array(
            (np.ones(len(entity_passages.indices), np.int32), entity_passages.indices, entity_passages.indptr),
            shape=(len(entities), n),
        )
        mentions = csr_array(
            (np.ones(len(self.mentions.indices), np.int32), self.mentions.indices, self.mentions.indptr), shape=(n, m)
        )
        near = (holders @ mentions).tocsr()
        near.data[near.indices == np.repeat(entities, np.diff(near.indptr))] = 0
        shared = near[at[:, 0]].multiply(near[at[:, 1]])
        return np.asarray(shared.sum(axis=1) > 0).reshape(-1)


def disambiguate(
    names: list[str], numbers: Ints, documents: Ints, mentions: Matrix, mentioned_by: Matrix, labels: Ints
) -> SenseAssignment:
    """Return the entities with one entity per sense; `labels` is the result of `find_senses`.

    `mentions`: (P, names); `mentioned_by` is its transpose. The id of a sense is that of the name with a number from 1
    in brackets. No id of a name ends that way.
    """
    n, m = mentions.n_rows, len(names)
    at = np.flatnonzero(labels)
    if not len(at):
        nothing = np.zeros(0, dtype=np.int64)
        return SenseAssignment(names, numbers, mentions, mentioned_by, np.arange(m), (nothing, nothing), {})
    pairs = unique_sorted(mentions.indices[at] * int(labels.max() + 1) + labels[at])
    owners = pairs // int(labels.max() + 1)
    split = unique_sorted(owners)
    n_senses = dict(zip(split.tolist(), (np.bincount(owners)[split] + 1).tolist(), strict=True))
    fresh = {f"{names[e]}_({k + 1})": (e, k) for e, most in n_senses.items() for k in range(most)}
    entities, axis = splice_sorted(names, split.tolist(), fresh)
    position_by_entity = {fresh[entities[position]]: position for position in axis.fresh.tolist()}
    first = axis.place.copy()
    first[split] = [position_by_entity[e, 0] for e in split.tolist()]
    columns = first[mentions.indices]
    columns[at] = [
        position_by_entity[each] for each in zip(mentions.indices[at].tolist(), labels[at].tolist(), strict=True)
    ]
    e = len(entities)
    rows = mentions.rows
    order = np.argsort(rows * e + columns, kind="stable")  # nearly sorted already
    again = Matrix(mentions.indptr, columns[order].astype(np.int32), mentions.values[order], e)

    is_split = np.zeros(m, dtype=np.bool_)
    is_split[split] = True
    of_split = np.flatnonzero(is_split[mentions.indices])
    entries, _ = find_entries(mentioned_by.indptr, split)
    by_name = first[mentioned_by.rows]
    by_name[entries] = columns[of_split[np.argsort(mentions.indices[of_split], kind="stable")]]
    order = np.argsort(by_name, kind="stable")
    indptr = np.zeros(e + 1, dtype=np.int64)
    np.cumsum(np.bincount(by_name, minlength=e), out=indptr[1:])
    by_entity = Matrix(indptr, mentioned_by.indices[order], mentioned_by.values[order], n)

    keys = documents[rows[of_split]] * m + mentions.indices[of_split]
    order = np.argsort(keys, kind="stable")
    senses: dict[int, tuple[int, ...]] = {}
    for name, most in n_senses.items():
        members = tuple(position_by_entity[name, k] for k in range(most))
        senses.update(dict.fromkeys(members, members))
    of_entity = np.empty(e, dtype=np.int64)
    of_entity[first] = numbers
    for (name, _), position in position_by_entity.items():
        of_entity[position] = numbers[name]
    mention_keys = keys[order], columns[of_split[order]]
    return SenseAssignment(entities, of_entity, again, by_entity, first, mention_keys, senses)


class TermVectors:
    """Term vectors of groups of passages: (1 + log count) * rarity, 0 for stop words.

    The rarity of a term is the number of doublings from the passages that have it to all of them.
    """

    def __init__(self, forward: Matrix, terms: Sequence[str], frequency: Ints, n_passages: int) -> None:
        """Create vectors of the passages in `forward`. `frequency`: passages of each term among `n_passages`."""
        self._forward = forward
        self._terms = terms
        self._rarity = count_doublings(np.array([2 * n_passages - 1]))[0] - count_doublings(frequency)
        for word in STOP_WORDS:
            at = bisect_left(terms, word)
            if at < len(terms) and terms[at] == word:
                self._rarity[at] = 0

    def terms_of_name(self, name: str) -> set[int]:
        """Return the numbers of the terms of a name."""
        terms = set()
        for term in {term for word in _WORD.findall(name) for term in terms_of(word)}:
            at = bisect_left(self._terms, term)
            if at < len(self._terms) and self._terms[at] == term:
                terms.add(at)
        return terms

    def vector_of(self, passages: list[int], without: set[int]) -> "_TermVector":
        """Return the vector of passages, without the terms in `without`."""
        terms, counts, _ = self._forward.gather(np.array(sorted(set(passages))[:_MAX_PASSAGES_READ], dtype=np.int64))
        used, inverse = np.unique(terms, return_inverse=True)
        weights = (1.0 + np.log(np.bincount(inverse, weights=counts))) * self._rarity[used]
        is_informative = (weights > 0) & ~np.isin(used, sorted(without))
        used, weights = used[is_informative], weights[is_informative]
        norm = float(np.sqrt(np.add.reduce(weights * weights)))
        return _TermVector(used, weights / norm if norm else weights)


class _TermVector(NamedTuple):
    """Ascending terms and their weights; norm 1, or empty."""

    terms: NDArray[np.int32]
    weights: NDArray[np.float64]

    def cosine(self, other: "_TermVector") -> float:
        """Return the cosine with another vector."""
        _, own_positions, others = np.intersect1d(self.terms, other.terms, assume_unique=True, return_indices=True)
        return float(np.add.reduce(self.weights[own_positions] * other.weights[others]))


def _separate_senses(
    passages: dict[int, list[int]], groups: list[int], words: TermVectors, left_out: set[int]
) -> dict[int, int] | None:
    """Return group -> sense, or None if all groups have one sense.

    `passages` by group; `groups`: those large enough to be a sense; `left_out`: terms of the name itself.
    """
    senses = [[group] for group in sorted(groups)]
    vectors = [words.vector_of(passages[group], left_out) for group in sorted(groups)]
    while len(senses) > 1:
        likeness, i, j = max((vectors[i].cosine(vectors[j]), -i, -j) for j in range(len(senses)) for i in range(j))
        if likeness < _SAME_SENSE_COSINE:
            break
        i, j = -i, -j
        senses[i] += senses.pop(j)
        vectors.pop(j)
        vectors[i] = words.vector_of([p for g in senses[i] for p in passages[g]], left_out)
    if len(senses) == 1:
        return None
    for group in sorted(passages.keys() - set(groups)):
        vector = words.vector_of(passages[group], left_out)
        likeness_to = [vector.cosine(each) for each in vectors]
        best = max(range(len(senses)), key=lambda k: (likeness_to[k], -k))
        senses[best].append(group)
    order = sorted(
        senses, key=lambda each: (-sum(len(passages[g]) for g in each), min(p for g in each for p in passages[g]))
    )
    return {group: number for number, each in enumerate(order) for group in each}
