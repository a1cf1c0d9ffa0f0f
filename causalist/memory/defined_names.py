"""Names that passages define, and the passages that name them.

A passage defines its title, the names of its list items and the name that it begins with (`passage_records.py`). All
passages are searched for these names, word by word, so that a name is found at the start of a sentence, in lower case
and in any script. With the entities of the extractor they are the links between passages: from a passage that names
something to those that are about it, and to others that name it as well.

Words are compared without case and accents. Characters of scripts without spaces are words of their own. A longer name
hides those inside of it. Words are counted by number, and names are searched by hashes of runs of words, all
passages at once; a hash that fits is checked word by word.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count, groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import join_on_disk, split_rows, transpose_entries, unique_sorted
from causalist._internal.lazy import dataclass, lazy_regex
from causalist.memory.matrix_splices import Axis, Column, Ints, find_entries, join_column, splice_entries
from causalist.rank.terms import STOP_WORDS, terms_of

MAX_NAME_WORDS = 8  # of a name that is searched
_MIN_LETTERS = 2  # of a name of one word
Words = tuple[int, ...]

# Han, kana, Thai, Lao, Khmer, Burmese, Tibetan: written without spaces.
_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = lazy_regex(rf"[{_UNSPACED}]|(?:[^\W_{_UNSPACED}]|[\u0900-\u0dff])+")  # compiling takes milliseconds
_ASCII_WORD = re.compile(r"[^\W_]+")
_UNSPACED_CHARACTER = lazy_regex(f"[{_UNSPACED}]")
_FIRST_KANA = "\u3040"  # from here on scripts have so many characters that two say enough
# Accents of Latin, Greek and Cyrillic letters; vowel marks of Hebrew and Arabic.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")


def fold_words(text: str) -> list[str]:
    """Return the words of a text without case and accents.

    >>> fold_words("Straße in Kraków"), fold_words("東京 Tower")
    (['strasse', 'in', 'krakow'], ['東', '京', 'tower'])
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text))).casefold())


@lru_cache(maxsize=100_000)
def run_terms(run: str, *, is_query: bool = False) -> tuple[str, ...]:
    """Return the terms of a run of a text without case and accents, with repetitions.

    Scripts without spaces have each character, for queries of one, and pairs of them; alphabets also have triples.

    >>> run_terms("Cafés"), run_terms("東京都"), run_terms("กขค", is_query=True)
    (('cafe',), ('東', '京', '都', '東京', '京都'), ('กข', 'ขค', 'กขค'))
    """
    if run.isascii():
        return terms_of(run)
    terms: list[str] = []
    for is_unspaced, words in groupby(fold_words(run), key=lambda word: bool(_UNSPACED_CHARACTER.match(word))):
        some = list(words)
        if not is_unspaced:
            terms += chain.from_iterable(map(terms_of, some))
            continue
        if not is_query or len(some) == 1:
            terms += some
        terms += map("".join, pairwise(some))
        terms += [a + b + c for a, b, c in zip(some, some[1:], some[2:], strict=False) if max(a, b, c) < _FIRST_KANA]
    return tuple(terms)


# What separates words in ASCII; all other characters decide later.
_SEPARATORS = bytes(ord(" ") if i < 128 and not (chr(i).isalnum() or chr(i) == "_") else i for i in range(256))


def split_text(text: str) -> list[str]:
    """Return the runs of a text without ASCII separators; each has one word, or several in other scripts or with _.

    >>> split_text("It's a-b, snake_case; naïve")
    ['It', 's', 'a', 'b', 'snake_case', 'naïve']
    """
    return text.encode("utf-8", "surrogatepass").translate(_SEPARATORS).decode("utf-8", "surrogatepass").split()


def count_runs(text: str) -> tuple[NDArray[np.int32], dict[str, int]]:
    """Return (positions of the runs of a text in what follows, in its order; how often it has each run)."""
    positions: defaultdict[str, int] = defaultdict(count().__next__)
    runs = split_text(text)
    order = np.fromiter(map(positions.__getitem__, runs), dtype=np.int32, count=len(runs))
    return order, dict(zip(positions, np.bincount(order).tolist(), strict=True))


def fold_run(run: str) -> list[str]:
    """Return `fold_words` of a run of `split_text`."""
    return [run.lower()] if run.isascii() and "_" not in run else fold_words(run)


def is_name(words: Sequence[str]) -> bool:
    """Return True if these words can be searched: not a stop word, a letter or digits alone."""
    if not 1 <= len(words) <= MAX_NAME_WORDS:
        return False
    if len(words) > 1:
        return any(word not in STOP_WORDS for word in words)
    word = words[0]
    return word not in STOP_WORDS and len(word) >= _MIN_LETTERS and not word.isdigit()


class Links(NamedTuple):
    """Sparse matrix in CSR form without values: row i has the columns `indices[indptr[i]:indptr[i + 1]]`, ascending."""

    indptr: Ints
    indices: Column

    @classmethod
    def from_pairs(cls, rows: Ints, columns: Ints, n_rows: int, n_columns: int) -> "Links":
        """Return the matrix of distinct (row, column) pairs."""
        keys = unique_sorted(rows * max(n_columns, 1) + columns)
        indptr = np.zeros(n_rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(keys // max(n_columns, 1), minlength=n_rows), out=indptr[1:])
        return cls(indptr, (keys % max(n_columns, 1)).astype(np.int32))

    @classmethod
    def from_blocks(cls, blocks: "Iterable[tuple[slice, Pairs]]", n_columns: int) -> "Links":
        """Return the matrix of distinct (row, column) pairs, given in blocks of rows, counted from the first of each.

        >>> links = Links.from_blocks([(slice(0, 2), (np.array([1, 1]), np.array([2, 2])))], 3)
        >>> links.indptr.tolist(), links.indices[:].tolist()
        ([0, 0, 1], [2])
        """
        bounds, pieces, end = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)], 0
        for rows, (of, columns) in blocks:
            part = cls.from_pairs(of, columns, rows.stop - rows.start, n_columns)
            bounds.append(end + part.indptr[1:])
            pieces.append(join_column(part.indices))
            end += len(part.indices)
        return cls(np.concatenate(bounds), join_on_disk(pieces))

    def part(self, rows: slice) -> "Pairs":
        """Return (row, column) of all entries of some rows, which are counted from the first of them."""
        bounds = self.indptr[rows.start : rows.stop + 1]
        of = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        return of, self.indices[int(bounds[0]) : int(bounds[-1])]

    @property
    def sizes(self) -> Ints:
        """Number of columns of each row."""
        return np.diff(self.indptr)

    @property
    def rows(self) -> Ints:
        """Row of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int64), self.sizes)

    def row(self, i: int) -> Ints:
        """Return the columns of a row."""
        return np.asarray(self.indices[self.indptr[i] : self.indptr[i + 1]])

    def gather(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return (columns, position in `rows`) of all entries of these rows, row by row."""
        at, of = find_entries(self.indptr, rows)
        return self.indices[at], of

    def splice(self, rows: Axis, columns: Axis, new: tuple[Ints, Ints], without: Ints | None = None) -> "Links":
        """Return the matrix after a change of its axes, with new entries, sorted, and without some old ones."""
        indptr, indices, _ = splice_entries(self.indptr, self.indices, rows, columns, new, without, may_defer=True)
        return Links(indptr, indices)

    def transpose(self, n_columns: int) -> "Links":
        """Return the transpose."""
        return Links(*transpose_entries(self.indptr, join_column(self.indices), None, n_columns)[:2])


Pairs = tuple[Ints, NDArray[Any]]  # passages, and an entity or a name of each
NOT_NAMED = -1  # in the place of an entity that is not searched


class NamedPassage(NamedTuple):
    """Numbers of the words of a passage, of the entities that it mentions, and of those that it defines."""

    words: NDArray[np.int32]
    mentions: NDArray[np.int32]
    defines: NDArray[np.int32]


class WordRuns(Sequence[Words]):
    """Words of names by number: those of a file, and further ones."""

    def __init__(self, stored: Links) -> None:
        """Create the sequence of the rows of `stored`."""
        self.stored = stored
        self.n_stored = len(stored.indptr) - 1
        self.more: list[Words] = []

    def __len__(self) -> int:
        """Return the number of names."""
        return self.n_stored + len(self.more)

    def __getitem__(self, number: Any) -> Any:
        """Return the words of a name."""
        return tuple(self.stored.row(number).tolist()) if number < self.n_stored else self.more[number - self.n_stored]

    def pack(self) -> Links:
        """Return the words of all names, row by row."""
        sizes = np.concatenate([self.stored.sizes, np.fromiter(map(len, self.more), dtype=np.int64)])
        more = np.fromiter(chain.from_iterable(self.more), dtype=np.int32)
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Links(indptr, np.concatenate([self.stored.indices, more]))


class NameNumbers:
    """Numbers of names in the order of first use, which no result depends on; they only grow.

    `by_entity`: number by entity, _NOT_ASKED, or _NO_NAME for an entity that is not searched. Names of a file are found
    by `hashes` of their words, ascending, with their numbers in `order`.
    """

    def __init__(self, stored: Links, by_entity: Ints, hashes: NDArray[np.uint64], order: NDArray[np.int32]) -> None:
        """Create the numbers of the names of a file."""
        self.words = WordRuns(stored)
        self.by_entity = by_entity
        self._hashes, self._order = hashes, order
        self._by_words: dict[Words, int] = {}  # of names that are not of the file

    @classmethod
    def empty(cls) -> "NameNumbers":
        """Return no numbers."""
        none = np.zeros(0, dtype=np.int64)
        words = Links(np.zeros(1, dtype=np.int64), none.astype(np.int32))
        return cls(words, none, none.astype(np.uint64), none.astype(np.int32))

    def number(self, entities: NDArray[np.int32], entity_words: Callable[[int], Words]) -> None:
        """Give the names of entities numbers, but for NOT_NAMED."""
        entities = entities[entities >= 0]
        if len(entities) and int(entities.max()) >= len(self.by_entity):
            more = np.full(int(entities.max()) + 1 + len(self.by_entity) // 8, _NOT_ASKED, dtype=np.int64)
            more[: len(self.by_entity)] = self.by_entity
            self.by_entity = more
        for entity in unique_sorted(entities[self.by_entity[entities] == _NOT_ASKED]).tolist():
            words = entity_words(entity)
            self.by_entity[entity] = self._intern(words) if words else _NO_NAME
            if len(self.words.more) > _MAX_TUPLES:
                self.compact()

    def _intern(self, words: Words) -> int:
        number = self._by_words.get(words)
        if number is None:
            number = self._find_stored(words)
            if number < 0:
                number = self._by_words[words] = len(self.words)
                self.words.more.append(words)
        return number

    def _find_stored(self, words: Words) -> int:
        if not len(self._hashes):
            return -1
        wanted = _hash(np.array([words], dtype=np.int64))
        start, end = (int(np.searchsorted(self._hashes, wanted, side=side)[0]) for side in ("left", "right"))
        return next((n for n in self._order[start:end].tolist() if self.words[n] == words), -1)

    def compact(self) -> None:
        """Put all names into arrays; their numbers stay."""
        packed = self.pack()
        self.words.stored = Links(packed["indptr"], packed["words"])
        self.words.n_stored, self.words.more = len(self.words), []
        self._hashes, self._order, self._by_words = packed["hashes"], packed["order"], {}

    def pack(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that the numbers are restored from."""
        words = self.words.pack()
        more = [_hash(np.array([each], dtype=np.int64)) for each in self.words.more[:_FEW]]
        if len(self.words.more) > _FEW:
            first, lengths = len(self._hashes), words.sizes
            fresh = np.zeros(len(lengths) - first, dtype=np.uint64)
            for length in unique_sorted(lengths[first:]).tolist():
                of = first + np.flatnonzero(lengths[first:] == length)
                fresh[of - first] = _hash(words.indices[words.indptr[of][:, None] + np.arange(length)].astype(np.int64))
            more = [fresh]
        hashes = np.concatenate([self._hashes, *more])
        numbers = np.concatenate([self._order, np.arange(len(self._order), len(hashes), dtype=np.int32)])
        order = np.argsort(hashes, kind="stable")
        return {
            "words": join_column(words.indices), "indptr": words.indptr, "by_entity": self.by_entity,
            "hashes": hashes[order], "order": numbers[order],
        }  # fmt: skip


class Patterns(NamedTuple):
    """Names of one length: their words, their numbers, and their hashes, ascending, with the order of these."""

    words: Ints  # (n, length)
    numbers: Ints
    hashes: NDArray[np.uint64]
    order: Ints

    @classmethod
    def of(cls, words: Ints, numbers: Ints) -> "Patterns":
        """Return the patterns of names."""
        hashes = _hash(words)
        order = np.argsort(hashes, kind="stable")
        return cls(words, numbers, hashes[order], order)

    def find(self, runs: Ints) -> Ints:
        """Return the names with these words, shape (n, length); -1 for others."""
        place = np.minimum(np.searchsorted(self.hashes, _hash(runs)), len(self.order) - 1)
        chosen = self.order[place]
        return np.where((self.words[chosen] == runs).all(axis=1), self.numbers[chosen], -1)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a memory with P passages, as numbers of words.

    - `patterns`: the names that a passage defines, by length.
    - `words`: words of each name. `numbers`: numbers of all names.
    - `naming`: (P, names), passages that name a name or define it; `named_by` is its transpose.
    - `defining`: (names, P), passages that define a name; `defined` is its transpose.
    - `own`: (P, names), names that a passage mentions by an entity.
    - `text`: words of the passages.
    """

    words: Sequence[Words]
    naming: Links
    named_by: Links
    defining: Links
    defined: Links
    own: Links
    text: "Text"
    numbers: NameNumbers
    patterns: Mapping[int, Patterns]

    def specificity(self, names: Ints) -> NDArray[np.float64]:
        """Return the rarity of names, in [0, 1]: 1 for a name in one passage."""
        return rarity(self.named_by.indptr[names + 1] - self.named_by.indptr[names], len(self.naming.indptr) - 1)

    def find(self, words: Sequence[int]) -> list[int]:
        """Return the defined names in a text, given by the numbers of its words (-1 for an unknown one)."""
        text = np.array(words, dtype=np.int64)
        longest: dict[int, tuple[int, int]] = {}  # start -> length, name
        for length in sorted(self.patterns):
            if len(self.patterns[length].numbers) and len(text) >= length:
                names = self.patterns[length].find(np.lib.stride_tricks.sliding_window_view(text, length))
                longest.update((start, (length, int(names[start]))) for start in np.flatnonzero(names >= 0).tolist())
        matched: dict[int, None] = {}
        end = 0
        for start, (length, name) in sorted(longest.items()):
            if start >= end:
                matched[name] = None
                end = start + length
        return list(matched)


class Text:
    """Words of the passages, row by row, in their order.

    No query needs them, so that those of a changed memory are joined when the next change searches them.
    """

    def __init__(self, join: Callable[[], Links]) -> None:
        """Create the text that `join` returns."""
        self._join = join
        self._links: Links | None = None

    @property
    def links(self) -> Links:
        """Numbers of the words of each passage."""
        if self._links is None:
            self._links = self._join()
            del self._join  # with the text before
        return self._links


def build_names(text: Links, mentions: Links, defines: Links, entity_words: Callable[[int], Words]) -> Names:
    """Return the names of all passages.

    `text`: their words; `mentions` and `defines`: the entities of each passage, or NOT_NAMED. `entity_words`: words of
    an entity number, () for a name not searched.
    """
    numbers = NameNumbers.empty()
    for links in (mentions, defines):
        for rows in split_rows(links.indptr):
            numbers.number(links.part(rows)[1], entity_words)
    numbers.compact()
    m = len(numbers.words)
    own, defined = (
        Links.from_blocks(((rows, _find_names(links.part(rows), numbers)) for rows in split_rows(links.indptr)), m)
        for links in (mentions, defines)
    )
    patterns = _patterns_of(unique_sorted(join_column(defined.indices)), numbers.words)

    def naming_of(rows: slice) -> Pairs:
        bounds = text.indptr[rows.start : rows.stop + 1]
        words = Links(bounds - bounds[0], text.indices[bounds[0] : bounds[-1]])
        return _concatenate([own.part(rows), defined.part(rows), _search_block(words, patterns)])

    naming = Links.from_blocks(((rows, naming_of(rows)) for rows in split_rows(text.indptr)), m)
    return _join_names(numbers, own, defined, naming, Text(lambda: text), patterns)


def _find_names(pairs: Pairs, numbers: NameNumbers) -> Pairs:
    is_asked = pairs[1] != NOT_NAMED
    of, names = pairs[0][is_asked], numbers.by_entity[pairs[1][is_asked]]
    return of[names >= 0], names[names >= 0]


def _concatenate(parts: Sequence[Pairs]) -> Pairs:
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _patterns_of(names: Ints, words: Sequence[Words]) -> dict[int, Patterns]:
    if isinstance(words, WordRuns) and len(names) and int(names.max()) < words.n_stored:
        starts, sizes = words.stored.indptr[names], words.stored.sizes[names]
        patterns = {}
        for length in unique_sorted(sizes).tolist():
            at = starts[sizes == length][:, None] + np.arange(length)
            patterns[length] = Patterns.of(words.stored.indices[at].astype(np.int64), names[sizes == length])
        return patterns
    by_length: dict[int, list[int]] = {}
    for name in names.tolist():
        by_length.setdefault(len(words[name]), []).append(name)
    return {length: _build_patterns(each, words) for length, each in by_length.items()}


def _join_names(
    numbers: NameNumbers, own: Links, defined: Links, naming: Links, text: Text, patterns: Mapping[int, Patterns]
) -> Names:
    """Return the names of parts that everything else follows from."""
    m = len(numbers.words)
    named_by = naming.transpose(m)
    return Names(
        numbers.words, naming, named_by, defined.transpose(m), defined, own, text, numbers,
        patterns,
    )  # fmt: skip


_MAX_TUPLES = 500_000  # names that are not in arrays
_FEW = 64  # new names that are hashed one by one
_PARTS = ("naming", "named_by", "defining", "defined", "own")


def pack_names(names: Names) -> dict[str, NDArray[Any]]:
    """Return the arrays that `unpack_names` restores the names from, with the words of all passages."""
    arrays: dict[str, NDArray[Any]] = {f"numbers.{name}": array for name, array in names.numbers.pack().items()}
    for part in _PARTS:
        links: Links = getattr(names, part)
        arrays |= {f"{part}.indptr": links.indptr, part: join_column(links.indices)}
    for length, patterns in names.patterns.items():
        arrays |= {f"patterns.{length}.{name}": array for name, array in patterns._asdict().items()}
    return arrays


def unpack_names(arrays: Mapping[str, NDArray[Any]], text: Links) -> Names:
    """Return the names of arrays that `pack_names` made; `text`: words of the passages, row by row."""
    given = {name.removeprefix("numbers."): array for name, array in arrays.items() if name.startswith("numbers.")}
    numbers = NameNumbers(
        Links(given["indptr"], given["words"]), given["by_entity"].copy(), given["hashes"], given["order"]
    )
    parts = {part: Links(arrays[f"{part}.indptr"], arrays[part]) for part in _PARTS}
    patterns = {}
    for name in arrays:
        kind, _, rest = name.partition(".")
        if kind == "patterns" and rest.endswith(".hashes"):
            length = int(rest.removesuffix(".hashes"))
            patterns[length] = Patterns(**{field: arrays[f"patterns.{length}.{field}"] for field in Patterns._fields})
    return Names(
        words=numbers.words, text=Text(lambda: text), numbers=numbers,
        patterns=patterns, **parts,
    )  # fmt: skip


def update_names(old: Names, rows: Axis, new: Sequence[NamedPassage], entity_words: Callable[[int], Words]) -> Names:
    """Return the names after a change of passages; `new`: those at the new positions of `rows`, in their order.

    All passages are searched for the names that passages have begun or ceased to define. Those that have one are
    searched again for all names, since a longer name hides the shorter ones inside of it.
    """
    n, numbers = rows.n, old.numbers
    n_old = len(old.named_by.indptr) - 1
    mentioned = _number_rows([each.mentions for each in new], numbers, entity_words)
    about = _number_rows([each.defines for each in new], numbers, entity_words)
    m = len(numbers.words)
    columns = Axis.grow(n_old, m)
    mentioned, about = ((rows.fresh[each[0]], each[1]) for each in (mentioned, about))
    mentioned, about = _distinct_pairs(*mentioned, m), _distinct_pairs(*about, m)
    own = old.own.splice(rows, columns, mentioned)
    defined = old.defined.splice(rows, columns, about)
    defining = old.defining.splice(columns, rows, _turn(about))
    was_defined = np.zeros(m, dtype=np.bool_)
    was_defined[:n_old] = old.defining.sizes > 0
    is_defined = defining.sizes > 0
    changed = np.flatnonzero(was_defined != is_defined)
    patterns = _update_patterns(old, changed, is_defined)

    fresh = _stack_words([each.words for each in new])
    old_text = old.text.links
    again = np.zeros(n, dtype=np.bool_)
    again[rows.fresh] = True
    places = rows.place[_find_anywhere(old_text, changed, numbers.words)]
    again[places[places >= 0]] = True
    affected = np.flatnonzero(again)
    old_position = np.full(n, -1, dtype=np.int64)
    alive = np.flatnonzero(rows.place >= 0)
    old_position[rows.place[alive]] = alive
    old_affected = affected[old_position[affected] >= 0]
    text_rows, text_names = _search(fresh, patterns)
    more_rows, more_names = _search(_take(old_text, old_position[old_affected]), patterns)
    text_rows = np.concatenate([rows.fresh[text_rows], old_affected[more_rows]])
    text_names = np.concatenate([text_names, more_names])
    mine, mine_of = own.gather(affected)
    theirs, theirs_of = defined.gather(affected)
    keys = unique_sorted(
        np.concatenate([affected[np.concatenate([mine_of, theirs_of])], text_rows]) * m
        + np.concatenate([mine, theirs, text_names])
    )
    before, before_of = old.naming.gather(old_position[old_affected])
    old_keys = old_affected[before_of] * m + before
    lost, won = _without(old_keys, keys), _without(keys, old_keys)
    lost_at = _locate(old.naming, old_position[lost // m], lost % m)
    naming = old.naming.splice(rows, columns, (won // m, won % m), lost_at)
    order = np.argsort(lost % m, kind="stable")
    lost_at = _locate(old.named_by, (lost % m)[order], old_position[lost // m][order])
    named_by = old.named_by.splice(columns, rows, _turn((won // m, won % m)), lost_at)
    text = Text(lambda: _splice_text(old_text, rows, fresh))
    return Names(numbers.words, naming, named_by, defining, defined, own, text, numbers, patterns)


def _number_rows(
    parts: Sequence[NDArray[np.int32]], numbers: NameNumbers, entity_words: Callable[[int], Words]
) -> tuple[Ints, Ints]:
    """Return (position of the part, name) of all entities that are searched."""
    stacked = _stack_words(parts)
    return _number_pairs(stacked.rows, join_column(stacked.indices), numbers, entity_words)


def _number_pairs(
    of: Ints, entities: NDArray[np.int32], numbers: NameNumbers, entity_words: Callable[[int], Words]
) -> tuple[Ints, Ints]:
    numbers.number(entities, entity_words)
    names = numbers.by_entity[entities]
    return of[names >= 0], names[names >= 0]


def _stack_words(parts: Sequence[NDArray[np.int32]]) -> Links:
    indptr = np.concatenate([[0], np.cumsum([len(each) for each in parts])]).astype(np.int64)
    return Links(indptr, np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32))


def _splice_text(old: Links, rows: Axis, fresh: Links) -> Links:
    """Return the words of all passages after a change."""
    sizes = rows.move(old.sizes, fresh.sizes)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    is_fresh = np.zeros(rows.n, dtype=np.bool_)
    is_fresh[rows.fresh] = True
    kept = old.indices[np.repeat(rows.place >= 0, old.sizes)] if rows.has_gone else old.indices
    words = np.empty(int(indptr[-1]), dtype=np.int32)
    start = end = 0
    for i, row in enumerate(rows.fresh.tolist()):
        more = int(indptr[row]) - end
        words[end : end + more] = kept[start : start + more]
        start, end = start + more, int(indptr[row + 1])
        words[int(indptr[row]) : end] = fresh.row(i)
    words[end:] = kept[start:]
    return Links(indptr, words)


def _take(links: Links, rows: Ints) -> Links:
    return Links(np.concatenate([[0], np.cumsum(links.sizes[rows])]).astype(np.int64), links.gather(rows)[0])


def _distinct_pairs(rows: Ints, columns: Ints, n_columns: int) -> tuple[Ints, Ints]:
    keys = unique_sorted(rows * max(n_columns, 1) + columns)
    return keys // max(n_columns, 1), keys % max(n_columns, 1)


def _turn(pairs: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Return the pairs of the transpose, sorted."""
    order = np.argsort(pairs[1], kind="stable")
    return pairs[1][order], pairs[0][order]


def _without(keys: Ints, others: Ints) -> Ints:
    """Return the keys that are not among others; both are distinct and ascending."""
    if not len(others):
        return keys
    at = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    return np.asarray(keys[others[at] != keys], dtype=np.int64)


def _locate(links: Links, rows: Ints, columns: Ints) -> Ints:
    """Return the positions of entries that exist."""
    positions = [
        int(links.indptr[row]) + int(np.searchsorted(links.row(row), column))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    return np.array(positions, dtype=np.int64)


def _build_patterns(names: Sequence[int], words: Sequence[Words]) -> Patterns:
    return Patterns.of(np.array([words[name] for name in names], dtype=np.int64), np.array(names, dtype=np.int64))


def _update_patterns(old: Names, changed: Ints, is_defined: NDArray[np.bool_]) -> Mapping[int, Patterns]:
    """Return the patterns after names have begun or ceased to be defined."""
    if not len(changed):
        return old.patterns
    all_words, patterns = old.numbers.words, dict(old.patterns)
    by_length: dict[int, list[int]] = {}
    for name in changed.tolist():
        by_length.setdefault(len(all_words[name]), []).append(name)
    for length, names in by_length.items():
        old_patterns = patterns.get(length)
        added = [name for name in names if is_defined[name]]
        words = np.array([all_words[name] for name in added], dtype=np.int64).reshape(-1, length)
        name_numbers = np.array(added, dtype=np.int64)
        if old_patterns is not None:
            stays = is_defined[old_patterns.numbers]
            words, name_numbers = (
                np.concatenate([old_patterns.words[stays], words]),
                np.concatenate([old_patterns.numbers[stays], name_numbers]),
            )
        patterns[length] = Patterns.of(words, name_numbers)
    return patterns


def _find_anywhere(text: Links, names: Ints, words: Sequence[Words]) -> Ints:
    """Return the passages that have one of the names, also inside of longer ones."""
    passages = [np.zeros(0, dtype=np.int64)]
    for length, each in _patterns_of(names, words).items():
        passages.append(_search(text, {length: each})[0])
    return unique_sorted(np.concatenate(passages))


def rarity(n_passages: Ints, n: int) -> NDArray[np.float64]:
    """Return the idf of BM25 for something in `n_passages` of n passages, relative to something in one of them."""
    possible = np.arange(int(n_passages.max(initial=0)) + 1)  # far fewer than there are names
    idf = np.log1p((n - possible + 0.5) / (possible + 0.5))
    return np.asarray(np.minimum(idf / np.log1p((n - 0.5) / 1.5), 1.0)[n_passages], dtype=np.float64)


_NOT_ASKED, _NO_NAME = -2, -1
_FACTOR = 0x9E3779B97F4A7C15  # of the hash of a run of words, modulo 2^64


def _search(text: Links, patterns: Mapping[int, Patterns]) -> tuple[Ints, Ints]:
    """Return (passage, name) of all places where a name occurs. Longer names hide shorter ones."""
    passages, names = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for rows in split_rows(text.indptr):  # so that the memory of a search is bounded
        bounds = text.indptr[rows.start : rows.stop + 1]
        found = _search_block(Links(bounds - bounds[0], text.indices[bounds[0] : bounds[-1]]), patterns)
        passages.append(found[0] + rows.start)
        names.append(found[1])
    return np.concatenate(passages), np.concatenate(names)


def _search_block(text: Links, patterns: Mapping[int, Patterns]) -> tuple[Ints, Ints]:
    rows, columns = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    words = join_column(text.indices)
    is_taken = np.zeros(len(words) + 1, dtype=np.bool_)
    most = int(words.max(initial=0))
    for length in sorted(patterns, reverse=True):
        candidates = patterns[length]
        if not len(candidates.numbers) or len(words) < length:
            continue
        is_first = np.zeros(max(most, int(candidates.words[:, 0].max())) + 1, dtype=np.bool_)
        is_first[candidates.words[:, 0]] = True
        beginnings, only = words[: len(words) - length + 1], candidates.words[0, 0]
        starts = np.flatnonzero(beginnings == only if len(candidates.words) == 1 else is_first[beginnings])
        # A run may not cross the end of its passage.
        passage = np.searchsorted(text.indptr, starts, side="right") - 1
        inside = starts + length <= text.indptr[passage + 1]
        starts, passage = starts[inside], passage[inside]
        if not len(starts):
            continue
        runs = words[starts[:, None] + np.arange(length)].astype(np.int64)
        names = candidates.find(runs)
        starts, passage, names = starts[names >= 0], passage[names >= 0], names[names >= 0]
        free = ~np.logical_or.reduce([is_taken[starts + k] for k in range(length)])
        starts, passage, names = starts[free], passage[free], names[free]
        for k in range(length):
            is_taken[starts + k] = True
        rows.append(passage)
        columns.append(names)
    return np.concatenate(rows), np.concatenate(columns)


def _hash(runs: Ints) -> NDArray[np.uint64]:
    hashes = np.zeros(len(runs), dtype=np.uint64)
    for k in range(runs.shape[1]):
        hashes = (hashes ^ runs[:, k].astype(np.uint64)) * np.uint64(_FACTOR)
        hashes ^= hashes >> np.uint64(29)
    return hashes


__all__ = ["Links", "NamedPassage", "Names", "build_names", "fold_words", "is_name", "rarity", "update_names"]
