"""Senses of ambiguous names: names -> entities, one for each sense; and names that are similar by spelling.

Senses of a name are separated by the entities and words around its mentions. A name has one sense per document (Gale,
Church and Yarowsky 1992). Two documents share a sense if their passages name it together with the same other entity. A
group of joined documents is a sense if it has at least three documents and its words differ from those of other groups.
Any other document joins the sense with the most similar words. The result depends on the set of passages only.

The senses of a name depend on the passages that name it and on which other names are neighbors, but not on how rare its
words are elsewhere: each new passage would change that for words of thousands of passages.

Entity names are similar by spelling in two cases:

- Their stems are the same set ("access tokens", "access-token", "token access"): similarity 1.
- They differ in one word of at least 7 letters by a few slips: similarity 1 - slips / length of the longer name, if
  that reaches the threshold.

Digits never differ, so that versions stay apart. Short words never differ either: `get_name` is not `set_name`. Words
within an edit distance are found by what is left of both without a few letters (Garbe 2012, SymSpell). Without at most
one letter for each slip, their first ten letters have a form in common. Few other words have it, so that a search takes
hardly longer among more words.
"""

import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import empty_on_disk, split_rows, unique_sorted
from causalist.memory.defined_names import run_terms
from causalist.memory.matrix_splices import (
    Counted,
    Floats,
    Ints,
    JoinedStrings,
    Matrix,
    SortedStrings,
    SplicedColumn,
    StringNumbers,
    find_entries,
    join_column,
)
from causalist.rank.terms import STOP_WORDS, damerau_distance, split_word, stem

# Chosen on names made ambiguous by giving two things one name; docs/memory.md has the figures.
MIN_DOCUMENTS = 6  # documents that name a name with senses
MAX_DOCUMENTS = 200  # of a name with senses; above this, neighbors separate no senses
_MIN_DOCUMENTS_EACH = 3  # documents of a sense
_MAX_NEIGHBOR_DOCUMENTS = 20  # documents that name a neighbor; a more frequent one joins any two groups
_MAX_NEIGHBOR_SHARE = 0.2  # of all documents, if that is more
_PASSAGES_AT_ONCE = 5_000  # whose terms are in memory
_MAX_PASSAGES_READ = 20  # passages of a group whose words are compared
_SAME_SENSE_COSINE = 0.2  # cosine of the words of two groups; from here on they are one sense


def could_differ(n_documents: Ints, may_differ: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask of names that may have several senses; both arguments are by name."""
    return may_differ & (n_documents >= MIN_DOCUMENTS) & (n_documents <= MAX_DOCUMENTS)


def are_neighbors(n_documents: Ints, n_all: int) -> NDArray[np.bool_]:
    """Return the mask of names that join documents; `n_documents` by name, `n_all` documents in all."""
    most = max(_MAX_NEIGHBOR_DOCUMENTS, int(_MAX_NEIGHBOR_SHARE * n_all))
    return (n_documents >= 2) & (n_documents <= most)


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
    own = unique_sorted(by_entity)
    n_senses = np.bincount(np.searchsorted(own, by_entity[first[is_sense]]), minlength=len(own))
    order = at[np.argsort(entities[at], kind="stable")]  # chosen entries by name, then by passage
    ends = np.append(np.searchsorted(entities[order], own), len(order))
    by_node = np.argsort(by_entity, kind="stable")
    node_ends = np.append(np.searchsorted(by_entity[by_node], own), len(by_node))
    ambiguous = np.flatnonzero(n_senses >= 2)
    n_entries = ends[ambiguous + 1] - ends[ambiguous]
    for part in split_rows(np.concatenate([[0], np.cumsum(n_entries)]), _PASSAGES_AT_ONCE):
        words.read(rows[order[find_entries(ends, ambiguous[part])[0]]])
        for k in ambiguous[part].tolist():
            own_nodes = by_node[node_ends[k] : node_ends[k + 1]]
            entries = order[ends[k] : ends[k + 1]]
            documents_of = (nodes[own_nodes] // n_names).tolist()
            group_by_document = dict(zip(documents_of, group_of[own_nodes].tolist(), strict=True))
            group_by_entry = [group_by_document[document] for document in documents[rows[entries]].tolist()]
            passages: dict[int, list[int]] = {}
            for holder, group in zip(rows[entries].tolist(), group_by_entry, strict=True):
                passages.setdefault(group, []).append(holder)
            large = [group for group in passages if is_sense[group]]
            sense = _separate_senses(passages, large, words, words.terms_of_name(names[own[k]]))
            if sense:
                sense_of_entry[entries] = [sense[group] for group in group_by_entry]
    return sense_of_entry


def _group_documents(
    mentions: Matrix, documents: Ints, chosen: NDArray[np.bool_], is_neighbor: NDArray[np.bool_], nodes: Ints
) -> Ints:
    """Return the group of each node (document * E + name), shape (nodes,).

    Two documents are in one group if a passage of each names the name together with the same neighbor.
    """
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
    return _find_components(node, key, len(nodes))


def _find_components(node: Ints, key: Ints, n: int) -> Ints:
    """Return the first node of the component of each of n nodes; nodes with the same key are joined. Imports no scipy.

    >>> _find_components(np.array([1, 2, 2, 4]), np.array([0, 0, 1, 1]), 5).tolist()
    [0, 1, 1, 3, 1]
    """
    labels = np.arange(n, dtype=np.int64)
    while True:
        lowest = np.full(int(key.max(initial=-1)) + 1, n, dtype=np.int64)
        np.minimum.at(lowest, key, labels[node])
        components = labels.copy()
        np.minimum.at(components, node, lowest[key])
        np.minimum.at(components, labels, components.copy())  # what a node learns, its label learns
        components = components[components]
        if np.array_equal(components, labels):
            return labels
        labels = components


class SenseAssignment(NamedTuple):
    """Entities after disambiguation.

    - `names`: entity ids; `numbers`: number of the name of each entity.
    - `mentions`: (P, E); `passages_by_entity` is its transpose.
    - `first`: entity of the first sense, by position of the name before disambiguation.
    - `mention_keys`: document * names + name of all mentions of ambiguous names, ascending, and the entity of each.
    - `senses`: entity -> all entities of its name, for ambiguous names.
    """

    names: SortedStrings
    numbers: Ints
    mentions: Matrix
    passages_by_entity: Matrix
    first: Ints
    mention_keys: tuple[Ints, Ints]
    senses: dict[int, tuple[int, ...]]

    def resolve(self, documents: Ints, names: Ints) -> Ints:
        """Return the entities that documents mean by names, given by their positions before disambiguation."""
        keys, entities = self.mention_keys
        found = self.first[names]
        if len(keys):
            wanted = documents * len(self.first) + names
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = np.where(keys[at] == wanted, entities[at], found)
        return np.asarray(found, dtype=np.int64)

    def pair_senses(self, pairs: Ints, values: Floats) -> tuple[Ints, Floats]:
        """Return pairs of entities with their values, from pairs of names, given by the entities of first senses.

        Of ambiguous names, all pairs of senses that share a neighbor are joined, or else the first senses.
        """
        is_ambiguous = np.zeros(len(self.names), dtype=np.bool_)
        is_ambiguous[list(self.senses)] = True
        is_split = is_ambiguous[pairs].any(axis=1)
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
        entities, at = np.unique(pairs, return_inverse=True)
        m = self.mentions.n_columns
        entries, of = find_entries(self.passages_by_entity.indptr, entities)
        entries, which = find_entries(self.mentions.indptr, self.passages_by_entity.indices[entries])
        near, owners = self.mentions.indices[entries], of[which]
        # Most are named by one passage, and nobody meets there.
        is_other = (np.bincount(near, minlength=m) > 1)[near] & (near != entities[owners])
        kind = np.int32 if len(entities) * m < 2**31 else np.int64  # half as many bytes are sorted in half the time
        keys = unique_sorted((owners[is_other] * m + near[is_other]).astype(kind))
        bounds = np.searchsorted(keys, np.arange(len(entities) + 1) * m)
        firsts, seconds = at.reshape(pairs.shape).T.astype(np.int64)
        entries, pair = find_entries(bounds, firsts)
        wanted = seconds[pair] * m + keys[entries] % m
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return np.bincount(pair[keys[place] == wanted], minlength=len(pairs)) > 0


def disambiguate(
    names: SortedStrings, documents: Ints, mentions: Matrix, mentioned_by: Matrix, labels: Ints
) -> SenseAssignment:
    """Return the entities with one entity per sense; `labels` is the result of `find_senses`.

    `mentions`: (P, names); `mentioned_by` is its transpose. The id of a sense is that of the name with a number from 1
    in brackets. No id of a name ends that way.
    """
    n, m, numbers = mentions.n_rows, len(names), names.numbers
    at = np.flatnonzero(labels)
    if not len(at):
        nothing = np.zeros(0, dtype=np.int64)
        return SenseAssignment(names, numbers, mentions, mentioned_by, np.arange(m), (nothing, nothing), {})
    pairs = unique_sorted(mentions.indices[at].astype(np.int64) * int(labels.max() + 1) + labels[at])
    owners = pairs // int(labels.max() + 1)
    split = unique_sorted(owners)
    n_senses = np.bincount(owners)[split] + 1
    starts = np.cumsum(n_senses) - n_senses
    of_name = list(zip(SortedStrings(names.strings, numbers[split]), split.tolist(), n_senses.tolist(), strict=True))
    fresh = [f"{name}_({k + 1})" for name, _, most in of_name for k in range(most)]
    n_strings = len(names.strings)
    joined = SortedStrings(JoinedStrings(names.strings, fresh, n_strings), numbers)
    numbered = {each: n_strings + i for i, each in enumerate(fresh)}
    beside = dict(zip(fresh, np.repeat(split, n_senses).tolist(), strict=True))
    entities, axis = joined.splice(split.tolist(), numbered, beside)
    placed = np.empty(len(fresh), dtype=np.int64)  # by name, then by sense
    placed[sorted(range(len(fresh)), key=fresh.__getitem__)] = axis.fresh
    first = axis.place.copy()
    first[split] = placed[starts]
    e = len(entities)
    is_split = np.zeros(m, dtype=np.bool_)
    is_split[split] = True
    of_split = np.flatnonzero(is_split[mentions.indices])
    names_of_split = mentions.indices[of_split]
    columns_of_split = first[names_of_split]
    columns_of_split[np.searchsorted(of_split, at)] = placed[
        starts[np.searchsorted(split, mentions.indices[at])] + labels[at]
    ]
    passages = np.searchsorted(mentions.indptr, of_split, side="right") - 1
    indices = empty_on_disk(len(mentions.indices), np.int32)
    moved = first.astype(np.int32)
    for rows in split_rows(mentions.indptr):
        part = slice(int(mentions.indptr[rows.start]), int(mentions.indptr[rows.stop]))
        indices[part] = moved[mentions.indices[part]]
    indices[of_split] = columns_of_split
    is_lower = np.zeros(len(indices) + 1, dtype=np.bool_)  # than the entry before; of most rows none is
    is_lower[of_split] = indices[of_split] <= indices[of_split - 1]
    before = of_split[of_split < len(indices) - 1]
    is_lower[before + 1] = indices[before + 1] <= indices[before]
    is_lower[mentions.indptr] = False
    mixed = np.searchsorted(mentions.indptr, np.flatnonzero(is_lower), side="right") - 1
    changed, of = find_entries(mentions.indptr, unique_sorted(mixed))
    origin = changed[np.argsort(of * e + indices[changed], kind="stable")]
    indices[changed] = indices[origin]

    def move_values() -> NDArray[Any]:
        values = join_column(mentions.values).astype(np.float64)
        values[changed] = values[origin]
        return values

    def replace_values() -> NDArray[Any]:
        new = join_column(mentions.values)[of_split[by_sense]]
        return _replace_entries(join_column(mentioned_by.values), of_names, of_senses, new)

    again = Matrix(mentions.indptr, indices, LateColumn(len(indices), move_values), e)
    sizes = np.zeros(e, dtype=np.int64)
    sizes[first] = mentioned_by.sizes
    sizes[placed] = np.bincount(columns_of_split, minlength=e)[placed]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    of_senses, of_names = find_entries(indptr, np.sort(placed))[0], find_entries(mentioned_by.indptr, split)[0]
    by_sense = np.lexsort((passages, columns_of_split))
    named_by = _replace_entries(mentioned_by.indices, of_names, of_senses, passages[by_sense])
    by_entity = Matrix(indptr, named_by, LateColumn(len(indices), replace_values), n)
    keys = documents[passages] * m + names_of_split
    order = np.argsort(keys, kind="stable")
    senses: dict[int, tuple[int, ...]] = {}
    for start, most in zip(starts.tolist(), n_senses.tolist(), strict=True):
        members = tuple(placed[start : start + most].tolist())
        senses.update(dict.fromkeys(members, members))
    of_entity = np.empty(e, dtype=np.int64)
    of_entity[first] = numbers
    of_entity[placed] = np.repeat(numbers[split], n_senses)
    return SenseAssignment(entities, of_entity, again, by_entity, first, (keys[order], columns_of_split[order]), senses)


class LateColumn(SplicedColumn):
    """A column that is computed when it is asked for."""

    __slots__ = ("_compute", "_n")

    def __init__(self, n: int, compute: Callable[[], NDArray[Any]]) -> None:
        """Create the column of the `n` entries that `compute` returns."""
        self._n, self._compute = n, compute
        self._joined = None

    def __len__(self) -> int:
        """Return the number of entries."""
        return self._n

    def __getitem__(self, key: slice | NDArray[Any], /) -> NDArray[Any]:
        """Return the entries of a slice, or those at an array of positions."""
        return self.join()[key]

    def join(self) -> NDArray[Any]:
        """Return all entries."""
        if self._joined is None:
            self._joined = self._compute()
            del self._compute
        return self._joined


def _replace_entries(values: NDArray[Any], gone: Ints, at: Ints, new: NDArray[Any]) -> NDArray[Any]:
    """Return the values without those of `gone`, and new ones at the ascending positions `at` of what is returned."""
    replaced = empty_on_disk(len(values), values.dtype)
    is_kept, is_new = (np.ones(len(values), dtype=np.bool_) for _ in range(2))
    is_kept[gone] = is_new[at] = False
    replaced[is_new] = values[is_kept]
    replaced[at] = new
    return replaced


class TermVectors:
    """Term vectors of groups of passages: 1 + log count, without stop words."""

    def __init__(self, forward: Counted, rows: Ints, terms: SortedStrings) -> None:
        """Create vectors of passages, `rows` of `forward`."""
        self._forward, self._rows, self._terms = forward, rows, terms
        self._counted: dict[int, bool] = {}  # by term: False for stop words
        self._read: dict[int, list[tuple[int, int]]] = {}

    def read(self, passages: Ints) -> None:
        """Read the terms of some passages, in the place of those read before."""
        some = unique_sorted(passages)
        terms, counts, of = self._forward.gather(self._rows[some])
        ends = np.cumsum(np.bincount(of, minlength=len(some))).tolist()
        entries = list(zip(terms.tolist(), counts.astype(np.int64).tolist(), strict=True))
        self._read = {
            passage: entries[start:end] for passage, start, end in zip(some.tolist(), [0, *ends], ends, strict=False)
        }

    def _is_counted(self, term: int) -> bool:
        is_counted = self._counted.get(term)
        if is_counted is None:
            is_counted = self._counted[term] = self._terms[term] not in STOP_WORDS
        return is_counted

    def terms_of_name(self, name: str) -> set[int]:
        """Return the numbers of the terms of a name."""
        terms = {term for word in _WORDS.findall(name) for term in run_terms(word)}
        return {at for term in terms if (at := self._terms.find(term)) >= 0}

    def vector_of(self, passages: list[int], without: set[int]) -> dict[int, float]:
        """Return the vector of passages that were read, without the terms in `without`: norm 1, or empty."""
        totals: dict[int, int] = {}
        for passage in sorted(set(passages))[:_MAX_PASSAGES_READ]:
            for term, count in self._read[passage]:
                totals[term] = totals.get(term, 0) + count
        weights = {
            term: 1.0 + math.log(count)
            for term, count in totals.items()
            if self._is_counted(term) and term not in without
        }
        norm = math.sqrt(sum(weight * weight for weight in weights.values()))
        return {term: weight / norm for term, weight in weights.items()}


def _cosine(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    if len(one) > len(other):
        one, other = other, one
    return sum(weight * other[term] for term, weight in one.items() if term in other)


def _separate_senses(
    passages: dict[int, list[int]], groups: list[int], words: TermVectors, left_out: set[int]
) -> dict[int, int] | None:
    """Return group -> sense, or None if all groups have one sense.

    `passages` by group; `groups`: those large enough to be a sense; `left_out`: terms of the name itself.
    """
    members = {group: [group] for group in sorted(groups)}
    vector_by = {group: words.vector_of(passages[group], left_out) for group in members}
    likeness = {(a, b): _cosine(vector_by[a], vector_by[b]) for a, b in combinations(members, 2)}
    while likeness:
        one, other = max(likeness, key=lambda pair: (likeness[pair], -pair[0], -pair[1]))
        if likeness[one, other] < _SAME_SENSE_COSINE:
            break
        members[one] += members.pop(other)
        del vector_by[other]
        likeness = {pair: value for pair, value in likeness.items() if other not in pair}
        vector_by[one] = words.vector_of([p for group in members[one] for p in passages[group]], left_out)
        for pair in likeness:
            if one in pair:
                likeness[pair] = _cosine(vector_by[pair[0]], vector_by[pair[1]])
    senses, vectors = list(members.values()), list(vector_by.values())
    if len(senses) == 1:
        return None
    for group in sorted(passages.keys() - set(groups)):
        vector = words.vector_of(passages[group], left_out)
        likeness_to = [_cosine(vector, each) for each in vectors]
        best = max(range(len(senses)), key=lambda k: (likeness_to[k], -k))
        senses[best].append(group)
    order = sorted(
        senses, key=lambda each: (-sum(len(passages[g]) for g in each), min(p for g in each for p in passages[g]))
    )
    return {group: number for number, each in enumerate(order) for group in each}


SIMILARITY_THRESHOLD = 0.85
_MIN_WORD_LETTERS = 7
_MAX_SLIPS = 2
_FORM_LETTERS = 10  # of a word, from its start, by which similar ones are found
_WORDS = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"[+#*]")


def stem_key(name: str) -> str:
    """Return the stems of a name in alphabetical order, or "" if it has no words.

    >>> stem_key("access tokens") == stem_key("Access-Token"), stem_key("c++")
    (True, 'c')
    """
    return " ".join(sorted({stem(part) for word in _WORDS.findall(name) for part in split_word(word)}))


def _stem_key_with_marks(name: str) -> str:
    """Return the stem key and the marks that distinguish names with the same letters: c++, c#."""
    return stem_key(name) + "".join(_MARKS.findall(name))


class NameSimilarity:
    """Pairs of similar names; names are added one by one, in any order, or are those of a file.

    Names and words are found by checksums, and what is found is compared, so that equal checksums do no harm.
    """

    def __init__(self, entities: StringNumbers | None = None, stored: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Create a set of the names in `stored`, which `pack` returned; `entities` numbers all names."""
        self._entities = StringNumbers() if entities is None else entities
        self._words = StringNumbers() if stored is None else StringNumbers.unpack(_part_of(stored, "words"))
        if stored is not None and "forms" not in stored:  # of a file of an older format
            formed = [(form, number) for number, word in enumerate(self._words.strings) for form in _forms(word)]
            forms, form_words = _merge_keys(_NOTHING["forms"], _NOTHING["form_words"], formed)
            stored = {**stored, "forms": forms, "form_words": form_words}
        self._restore(_NOTHING if stored is None else stored)
        self.n_revised = 0  # pairs that got another similarity

    def _restore(self, stored: Mapping[str, NDArray[Any]]) -> None:
        self._stored = stored
        self._names: set[str] = set()  # without those of the file, as are all tables below
        self._by_stems: dict[str, list[str]] = {}
        self._near: dict[int, list[int]] = {}  # by number of a word
        self._by_form: dict[int, list[int]] = {}  # by checksum of a form
        self._letters: dict[int, int] = {}  # by number of a word that was compared
        self.pairs: dict[tuple[str, str], float] = {}  # key: smaller name, larger name; pairs are never removed

    def compact(self) -> None:
        """Put all names into arrays."""
        self._restore(self.pack())
        self._words.compact()

    def add(self, name: str) -> None:
        """Add an entity id."""
        if name in self:
            return
        key = _stem_key_with_marks(name)
        for other in self._names_of_key(key):
            self._pair(name, other, 1.0)
        self._names.add(name)
        self._entities.intern(name)
        self._by_stems.setdefault(key, []).append(name)
        words = name.split("_")
        number_by_word = {word: self._add_word(word) for word in _correctable_words(name)}
        for word, number in number_by_word.items():
            for near in map(self._words.strings.__getitem__, self._list_near(number)):
                other = "_".join(near if each == word else each for each in words)
                if other in self:
                    self._pair_if_similar(name, other, word, near)

    def __contains__(self, name: str) -> bool:
        """Return True for a name that was added."""
        if name in self._names:
            return True
        is_stored = self._stored["is_name"]
        return len(is_stored) > 0 and (number := self._entities.get(name)) >= 0 and (
            number < len(is_stored) and bool(is_stored[number])
        )  # fmt: skip

    def list_pairs(self) -> tuple[NDArray[np.int32], Floats]:
        """Return (numbers of the names of the pairs of the file, shape (n, 2); similarities)."""
        return self._stored["pairs"], self._stored["similarities"]

    def names_with_words(self, name: str) -> list[str]:
        """Return the known names with the same words, inflected or in another order."""
        return self._names_of_key(_stem_key_with_marks(name))

    def _names_of_key(self, key: str) -> list[str]:
        if not key.strip("+#*"):
            return []
        keys, wanted = self._stored["keys"], _checksum(key)
        places = range(*np.searchsorted(keys, np.array([wanted, wanted + 1], dtype=np.int64)).tolist())
        stored = (self._entities.strings[int(self._stored["key_names"][at])] for at in places)
        return [*(each for each in stored if _stem_key_with_marks(each) == key), *self._by_stems.get(key, ())]

    def similar_names(self, name: str) -> dict[str, float]:
        """Return the known names similar to any name, with their similarity; the name itself included."""
        similarity_by_name: dict[str, float] = {name: 1.0} if name in self else {}
        similarity_by_name.update(dict.fromkeys(self.names_with_words(name), 1.0))
        words = name.split("_")
        for word in _correctable_words(name):
            number = self._words.get(word)
            for near in self._list_near(number) if number >= 0 else self._find_similar_words(word):
                other = "_".join(self._words.strings[near] if each == word else each for each in words)
                if other in self:
                    similarity_by_name.setdefault(other, self._similarity(name, other, word, self._words.strings[near]))
        return {other: value for other, value in sorted(similarity_by_name.items()) if value >= SIMILARITY_THRESHOLD}

    def pack(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which the set is restored."""
        old, number = self._stored, self._entities.get
        names = sorted(map(number, self._names))
        is_name = np.zeros(len(self._entities.strings), dtype=np.uint8)
        is_name[: len(old["is_name"])] = old["is_name"]
        is_name[names] = 1
        keyed = [(_checksum(key), number(name)) for key, each in self._by_stems.items() for name in each]
        keys, key_names = _merge_keys(old["keys"], old["key_names"], keyed)
        formed = [(checksum, word) for checksum, words in self._by_form.items() for word in words]
        forms, form_words = _merge_keys(old["forms"], old["form_words"], formed)
        near = [(a, b) for a, others in self._near.items() for b in others]
        stored = np.repeat(np.arange(len(old["near.indptr"]) - 1), np.diff(old["near.indptr"]))
        ends = np.concatenate([np.stack([stored, old["near"]], axis=1), np.array(near, dtype=np.int64).reshape(-1, 2)])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        pairs = np.array([(number(a), number(b)) for a, b in self.pairs], dtype=np.int32).reshape(-1, 2)
        sizes = np.bincount(ends[:, 0], minlength=len(self._words.strings))
        return {
            "is_name": is_name,
            "keys": keys,
            "key_names": key_names,
            "forms": forms,
            "form_words": form_words,
            "near.indptr": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            "near": ends[:, 1].astype(np.int32),
            "pairs": np.concatenate([old["pairs"], pairs]),
            "similarities": np.concatenate([old["similarities"], np.array([*self.pairs.values()], dtype=np.float64)]),
            **{f"words.{name}": array for name, array in self._words.pack().items()},
        }

    def _pair(self, a: str, b: str, similarity: float) -> None:
        if a != b:
            pair = (a, b) if a < b else (b, a)
            known = self.pairs.get(pair)
            if known is None or similarity > known:
                self.pairs[pair] = similarity
                self.n_revised += known is not None

    def _pair_if_similar(self, a: str, b: str, word: str, near: str) -> None:
        similarity = self._similarity(a, b, word, near)
        if similarity >= SIMILARITY_THRESHOLD:
            self._pair(a, b, similarity)

    def _similarity(self, a: str, b: str, word: str, near: str) -> float:
        return 1.0 - damerau_distance(word, near, _MAX_SLIPS) * a.split("_").count(word) / max(len(a), len(b))

    def _add_word(self, word: str) -> int:
        """Return the number of a word; a new one is compared with all others."""
        number = self._words.get(word)
        if number < 0:
            near = self._find_similar_words(word)
            number = self._words.intern(word)
            self._near[number] = near
            for other in near:
                self._near.setdefault(other, []).append(number)
            for form in _forms(word):
                self._by_form.setdefault(form, []).append(number)
        return number

    def _list_near(self, number: int) -> list[int]:
        indptr = self._stored["near.indptr"]
        stored = self._stored["near"][indptr[number] : indptr[number + 1]].tolist() if number < len(indptr) - 1 else []
        return [*stored, *self._near.get(number, ())]

    def _find_similar_words(self, word: str) -> list[int]:
        """Return the numbers of known words within the edit distance that the longer word allows."""
        probes = _forms(word)
        forms = self._stored["forms"]
        bounds = np.searchsorted(forms, np.array([[each, each + 1] for each in probes], dtype=np.int64).reshape(-1, 2))
        stored = [self._stored["form_words"][start:end].tolist() for start, end in bounds.tolist() if start < end]
        own = (self._by_form.get(probe, ()) for probe in probes)
        words: dict[int, None] = {}
        letters = _letters_of(word)
        for number in dict.fromkeys(chain.from_iterable([*stored, *own])):
            known = self._letters.get(number)
            if known is None:
                known = self._letters[number] = _letters_of(self._words.strings[number])
            if (letters ^ known).bit_count() > 2 * _MAX_SLIPS:
                continue  # one slip takes one letter away and adds another one at most
            other = self._words.strings[number]
            most = _allowed_slips(max(len(word), len(other)))
            if other != word and damerau_distance(word, other, most) <= most:
                words[number] = None
        return list(words)


_NOTHING: Mapping[str, NDArray[Any]] = {
    "near.indptr": np.zeros(1, dtype=np.int64),
    "pairs": np.zeros((0, 2), dtype=np.int32),
    "similarities": np.zeros(0),
    **{name: np.zeros(0, dtype=np.int64) for name in ("keys", "forms")},
    **{name: np.zeros(0, dtype=np.int32) for name in ("key_names", "form_words", "near", "is_name")},
}


def _part_of(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _merge_keys(keys: Ints, values: NDArray[np.int32], new: list[tuple[int, int]]) -> tuple[Ints, NDArray[np.int32]]:
    """Return (ascending keys, their values) with new pairs."""
    if not new:
        return keys, values
    more = np.array(new, dtype=np.int64)
    keys, values = np.concatenate([keys, more[:, 0]]), np.concatenate([values, more[:, 1].astype(np.int32)])
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]


def _correctable_words(name: str) -> list[str]:
    """Return the words of a name that may be misspelled."""
    return [word for word in dict.fromkeys(name.split("_")) if len(word) >= _MIN_WORD_LETTERS and word.isalpha()]


def _letters_of(word: str) -> int:
    """Return the letters of a word as bits; letters may share a bit."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits


def _allowed_slips(length: int) -> int:
    """Return the slips that a word of this length may have, so that its similarity reaches the threshold."""
    return min(_MAX_SLIPS, int(round((1 - SIMILARITY_THRESHOLD) * 100) * length // 100))


def _forms(word: str) -> list[int]:
    """Return checksums of the first letters of a word without up to as many as slips of a similar pair can damage.

    Let a and b become the same word c without k letters each. Of their first letters, those that are left begin c. The
    longer beginning becomes the shorter one without some more, but not more than k in all.
    """
    start = word[:_FORM_LETTERS]
    forms = {start, *(without := _leave_out(start))}
    if _allowed_slips(len(word) + _MAX_SLIPS) > 1:
        forms.update(*map(_leave_out, without))
    return list(map(_checksum, sorted(forms)))


def _leave_out(word: str) -> list[str]:
    """Return a word without each of its letters."""
    return [word[:i] + word[i + 1 :] for i in range(len(word))]
