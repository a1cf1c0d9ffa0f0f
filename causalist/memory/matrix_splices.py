"""Sparse matrices with sorted rows and columns, tables of strings, and splices that replace a few rows or columns.

A splice copies what stays, or puts that off, so that a small change costs at most copies of arrays. Its result is equal
to that of building the matrix again from all entries. Strings of a file are decoded when they are asked for.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import (
    empty_on_disk,
    insert_on_disk,
    join_on_disk,
    split_rows,
    transpose_entries,
)
from causalist._internal.lazy import dataclass
from causalist.model.string_table import StringTable

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_FEW_ASKED = 10_000  # strings of a table that are searched byte by byte
_MAX_SEARCHES = 256  # new entries whose places are searched one by one


@dataclass(frozen=True, slots=True)
class Matrix:
    """CSR matrix: row i has `values[indptr[i]:indptr[i + 1]]` in the columns `indices[...]`, ascending."""

    indptr: Ints  # (n_rows + 1,)
    indices: NDArray[np.int32]  # (n_entries,)
    values: Any  # (n_entries,), float64, or int32 for counts of terms; those of mentions may be a `Column`
    n_columns: int

    @classmethod
    def from_entries(cls, rows: Ints, columns: Ints, values: Floats, shape: tuple[int, int]) -> "Matrix":
        """Return the matrix of entries.

        Values at equal positions are summed in ascending order, so that the order of the entries does not matter.
        """
        keys = rows * max(shape[1], 1) + columns
        order = np.argsort(keys, kind="stable")  # much of it is in order already
        if (keys[order[1:]] == keys[order[:-1]]).any():
            order = np.lexsort((values, keys))
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
        summed = np.add.reduceat(values[order], first) if len(keys) else values
        at = keys[first]
        indptr = np.zeros(shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(at // max(shape[1], 1), minlength=shape[0]), out=indptr[1:])
        return cls(indptr, (at % max(shape[1], 1)).astype(np.int32), summed.astype(np.float64), shape[1])

    @classmethod
    def count(cls, bounds: Ints, numbers: NDArray[Any], columns: Ints, n_columns: int) -> "Matrix":
        """Return the matrix of how often each row has a column; row i has `columns[numbers[bounds[i]:bounds[i + 1]]]`.

        >>> counted = Matrix.count(np.array([0, 1, 3, 3]), np.array([5, 4, 4]), np.array([0, 0, 0, 0, 2, 0]), 3)
        >>> counted.indptr.tolist(), counted.indices.tolist(), counted.values.tolist()
        ([0, 1, 2, 2], [0, 2], [1.0, 2.0])
        """
        indptr = np.zeros(len(bounds), dtype=np.int64)
        indices, values = empty_on_disk(len(numbers), np.int32), empty_on_disk(len(numbers), np.float64)
        n, end = max(n_columns, 1), 0
        for rows in split_rows(bounds):
            of = np.repeat(np.arange(rows.stop - rows.start), np.diff(bounds[rows.start : rows.stop + 1]))
            keys = np.sort(of * n + columns[numbers[bounds[rows.start] : bounds[rows.stop]]])
            first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else keys
            part = slice(end, end + len(first))
            values[part] = np.diff(first, append=len(keys))
            indices[part] = keys[first] % n
            indptr[rows.start + 1 : rows.stop + 1] = end + np.cumsum(
                np.bincount(keys[first] // n, minlength=rows.stop - rows.start)
            )
            end = part.stop
        return cls(indptr, indices[:end], values[:end], n_columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def sizes(self) -> Ints:
        """Number of entries of each row."""
        return np.diff(self.indptr)

    @property
    def rows(self) -> Ints:
        """Row of each entry."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), self.sizes)

    def row(self, i: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Return (columns, values) of a row."""
        part = slice(int(self.indptr[i]), int(self.indptr[i + 1]))
        return self.indices[part], self.values[part]

    def transpose(self) -> "Matrix":
        """Return the transpose. A large one is outside of memory, and made in parts of bounded size."""
        indptr, rows, values = transpose_entries(self.indptr, self.indices, self.values, self.n_columns)
        return Matrix(indptr, rows, np.asarray(values), self.n_rows)

    def gather(self, rows: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any], Ints]:
        """Return (columns, values, position in `rows`) of all entries of these rows, row by row."""
        at, of = find_entries(self.indptr, rows)
        return self.indices[at], self.values[at], of

    def columns_of(self, rows: NDArray[Any]) -> tuple[NDArray[np.int32], Ints]:
        """Return (columns, position in `rows`) of all entries of these rows, without their values."""
        at, of = find_entries(self.indptr, rows)
        return self.indices[at], of

    def take(self, rows: NDArray[Any]) -> "Matrix":
        """Return the matrix of these rows."""
        at, _ = find_entries(self.indptr, rows)
        indptr = np.concatenate([[0], np.cumsum(self.indptr[rows + 1] - self.indptr[rows])]).astype(np.int64)
        return Matrix(indptr, self.indices[at], self.values[at], self.n_columns)


def find_entries(indptr: Ints, rows: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return (positions of all entries of these rows of a CSR matrix, position in `rows` of each)."""
    rows = np.asarray(rows, dtype=np.int64)
    starts = indptr[rows]
    sizes = indptr[rows + 1] - starts
    at = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    return at, np.repeat(np.arange(len(rows)), sizes)


class Axis(NamedTuple):
    """A changed axis: `place` has the new position of each old one, -1 if it is gone; `fresh` are new positions."""

    place: Ints  # (n_old,)
    fresh: Ints  # ascending
    n: int

    @classmethod
    def grow(cls, n_old: int, n: int) -> "Axis":
        """Return an axis that keeps its positions and gets new ones at its end."""
        return cls(np.arange(n_old), np.arange(n_old, n), n)

    @property
    def has_gone(self) -> bool:
        """True if an old position is gone."""
        return len(self.place) + len(self.fresh) != self.n

    @property
    def is_same(self) -> bool:
        """True if every old position stays."""
        return not len(self.place) or bool(self.place[-1] == len(self.place) - 1 and not self.has_gone)

    def move(self, old: NDArray[Any], fresh: Any) -> NDArray[Any]:
        """Return an array by new positions from one by old positions and the values of the new ones."""
        if not self.has_gone and 0 < len(self.fresh) <= _MAX_SEARCHES:
            return Splice(None, self.fresh - np.arange(len(self.fresh))).merge(old, fresh)
        moved = np.empty(self.n, dtype=old.dtype)
        alive = self.place >= 0
        moved[self.place[alive]] = old[alive] if self.has_gone else old
        moved[self.fresh] = fresh
        return moved


class Strings(Sequence[str]):
    """Strings by number: those of a file, which are decoded when asked for, and further ones. They only grow."""

    def __init__(self, stored: StringTable | None = None) -> None:
        """Create the table; the strings of a file have the first numbers."""
        self.stored = stored
        self.n_stored = 0 if stored is None else len(stored)
        self.more: list[str] = []

    def __len__(self) -> int:
        """Return the number of strings."""
        return self.n_stored + len(self.more)

    @overload
    def __getitem__(self, number: int) -> str: ...

    @overload
    def __getitem__(self, number: slice) -> list[str]: ...

    def __getitem__(self, number: int | slice) -> str | list[str]:
        """Return the string of a number, or those of a slice."""
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if number >= self.n_stored or self.stored is None:
            return self.more[number - self.n_stored]
        return self.stored[number]

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over all strings."""
        yield from self.stored or ()
        yield from self.more

    def some(self, numbers: Ints) -> list[str]:
        """Return the strings of these numbers; faster than one by one."""
        is_stored = numbers < self.n_stored
        if self.stored is None or not is_stored.any():
            return list(map(self.__getitem__, numbers.tolist()))
        if is_stored.all():
            return list(self.stored.some(numbers))
        stored_strings = iter(self.stored.some(numbers[is_stored]))
        more = ((n, self.more[n - self.n_stored] if n >= self.n_stored else None) for n in numbers.tolist())
        return [next(stored_strings) if string is None else string for _, string in more]

    def pack(self) -> StringTable:
        """Return all strings as a table."""
        if self.stored is not None and not self.more:
            return self.stored
        more = StringTable.from_strings(self.more)
        if self.stored is None:
            return more
        ends = self.stored.offsets.astype(np.int64)
        return StringTable(
            join_on_disk([self.stored.blob[: ends[-1]], more.blob]),
            join_on_disk([ends, ends[-1] + more.offsets[1:].astype(np.int64)]),
        )


class StringNumbers:
    """Numbers of strings in the order of first use; no result depends on that order.

    Strings of a file are found by binary search in their alphabetical order, so that nothing is built to open it.
    """

    def __init__(self, stored: StringTable | None = None, order: NDArray[np.int32] | None = None) -> None:
        """Create the numbers of the strings of a file; `order`: these numbers in the order of their strings."""
        self.strings = Strings(stored)
        self._order = np.zeros(0, dtype=np.int32) if order is None else order
        self._known: dict[str, int] = {}
        self._starts: NDArray[np.uint64] | None = None  # of the strings of the file in order, once many were asked for
        self._n_asked = 0
        self._unknown: str | None = None

    @property
    def by_string(self) -> "StringNumbers":
        """Mapping of strings to their numbers: this one."""
        return self

    def get(self, string: str, default: int = -1) -> int:
        """Return the number of a string, or a default for an unknown one."""
        number = self._known.get(string)
        if number is None:
            number = self._find_stored(string) if string != self._unknown else -1
            if number < 0:
                self._unknown = string  # mostly asked for again, and then added
                return default
            self._known[string] = number
        return number

    def __getitem__(self, string: str) -> int:
        """Return the number of a string. Raises KeyError."""
        number = self.get(string)
        if number < 0:
            raise KeyError(string)
        return number

    def __contains__(self, string: str) -> bool:
        """Return True for a known string."""
        return self.get(string) >= 0

    def intern(self, string: str) -> int:
        """Return the number of a string; a new string gets the next number."""
        number = self._known.get(string)
        if number is None:
            strings = self.strings
            number = self._find_stored(string) if strings.n_stored and string != self._unknown else -1
            if number < 0:
                number = strings.n_stored + len(strings.more)
                strings.more.append(string)
                self._unknown = None
            self._known[string] = number
        return number

    def _find_stored(self, string: str) -> int:
        at = self._place(string)
        return int(self._order[at]) if at < len(self._order) and self._raw(at) == string.encode(*_UTF8) else -1

    def _place(self, string: str) -> int:
        wanted, first, last = string.encode(*_UTF8), 0, len(self._order)
        if self._starts is None:
            self._n_asked += 1
            if self._n_asked > _FEW_ASKED:
                stored = self.strings.stored or StringTable.from_strings(())
                self._starts = stored.starts(self._order)
        if self._starts is not None:  # comparing numbers takes a tenth of the time
            start = int.from_bytes(wanted[:8].ljust(8, b"\0"), "big")
            first = bisect_left(self._starts.data, start)
            last = bisect_right(self._starts.data, start, first)
        return bisect_left(range(last), wanted, first, key=self._raw) if first < last else first

    def _raw(self, at: int) -> bytes:
        assert self.strings.stored is not None
        return self.strings.stored.raw(self._order.item(at))

    def pack(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that `unpack` restores the numbers from."""
        table, n, more = self.strings.pack(), self.strings.n_stored, self.strings.more
        if not more:
            return {"blob": table.blob, "offsets": table.offsets, "order": self._order}
        fresh = np.array(sorted(range(len(more)), key=more.__getitem__), dtype=np.int64)
        cuts = np.fromiter((self._place(more[i]) for i in fresh.tolist()), dtype=np.int64, count=len(fresh))
        order = insert_on_disk(self._order.astype(np.int32), cuts, fresh + n)
        return {"blob": table.blob, "offsets": table.offsets, "order": order}

    def sort(self, used: Ints) -> tuple["SortedStrings", Ints]:
        """Return (the strings of `used` numbers, sorted; position of each number in that list, -1 for the others)."""
        if self.strings.more:
            some = dict(zip(used.tolist(), self.strings.some(used), strict=True))
            order = np.array(sorted(some, key=some.__getitem__), dtype=np.int64)
        else:
            is_used = np.zeros(len(self.strings), dtype=np.bool_)
            is_used[used] = True
            order = self._order[is_used[self._order]].astype(np.int64)
        ranks = np.full(len(self.strings), -1, dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return SortedStrings(self.strings, order), ranks

    def compact(self) -> None:
        """Put all strings into arrays; their numbers stay."""
        packed = self.pack()
        self._order, self._known, self._starts, self._unknown = packed["order"], {}, None, None
        strings = self.strings
        strings.stored, strings.more = StringTable(packed["blob"], packed["offsets"]), []
        strings.n_stored = len(strings.stored)

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[Any]]) -> "StringNumbers":
        """Return the numbers of the arrays that `pack` made. Raises ValueError for bounds that do not fit."""
        offsets, order = arrays["offsets"], arrays["order"]
        if len(offsets) != len(order) + 1 or offsets[0] or (np.diff(offsets) < 0).any() or (
            int(offsets[-1]) != len(arrays["blob"])
        ):  # fmt: skip
            raise ValueError("the bounds of strings do not fit")
        return cls(StringTable(arrays["blob"], offsets), order)


_UTF8 = ("utf-8", "surrogatepass")


class SortedStrings(Sequence[str]):
    """Strings in alphabetical order, by their numbers in a table."""

    def __init__(self, strings: Sequence[str], numbers: Ints) -> None:
        """Create the list of these numbers, which are in the order of their strings."""
        self.strings = strings
        self.numbers = numbers
        self._ranks: Ints | None = None

    @property
    def ranks(self) -> Ints:
        """Position of each number of the table, -1 for one that is not used."""
        if self._ranks is None:
            self._ranks = np.full(len(self.strings), -1, dtype=np.int64)
            self._ranks[self.numbers] = np.arange(len(self))
        return self._ranks

    @classmethod
    def of(cls, strings: Sequence[str]) -> "SortedStrings":
        """Return sorted strings as such a list."""
        return cls(strings, np.arange(len(strings), dtype=np.int64))

    def __len__(self) -> int:
        """Return the number of strings."""
        return len(self.numbers)

    @overload
    def __getitem__(self, position: int) -> str: ...

    @overload
    def __getitem__(self, position: slice) -> list[str]: ...

    def __getitem__(self, position: int | slice) -> str | list[str]:
        """Return the string at a position, or those of a slice."""
        if isinstance(position, slice):
            return [self.strings[number] for number in self.numbers[position].tolist()]
        return self.strings[self.numbers.item(position)]

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over the strings in their order."""
        return iter(self._some(slice(None)))

    def _some(self, positions: Any) -> Iterable[str]:
        """Return the strings at an array of positions, or in a slice."""
        if isinstance(self.strings, Strings | JoinedStrings):
            return self.strings.some(self.numbers[positions])
        return [self.strings[number] for number in self.numbers[positions].tolist()]

    def __eq__(self, other: object) -> bool:
        """Return True for the same strings in the same order."""
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def find(self, string: str) -> int:
        """Return the position of a string, -1 if there is none.

        >>> SortedStrings.of(["a", "c"]).find("c"), SortedStrings.of(["a", "c"]).find("b")
        (1, -1)
        """
        at = bisect_left(self, string)
        return at if at < len(self) and self[at] == string else -1

    def splice(
        self, gone: Iterable[int], new: Mapping[str, int], near: Mapping[str, int] | None = None
    ) -> tuple["SortedStrings", Axis]:
        """Return the list without the positions `gone` and with new strings, given with their numbers, and the change.

        `near`: positions of strings shortly before the new ones, for all or none of these.

        >>> found, axis = SortedStrings(["d", "c", "a", "b"], np.array([2, 1, 0])).splice([2], {"b": 3})
        >>> list(found), axis
        (['a', 'b', 'c'], Axis(place=array([ 0,  2, -1]), fresh=array([1]), n=3))
        """
        lost = np.array(list(gone), dtype=np.int64)
        kept, rank = self, np.arange(len(self))
        if len(lost):
            is_gone = np.zeros(len(self), dtype=np.bool_)
            is_gone[lost] = True
            kept, rank = SortedStrings(self.strings, self.numbers[~is_gone]), np.cumsum(~is_gone) - 1
        fresh = sorted(new)
        if near is not None:
            cuts = kept._find_cuts(fresh, rank[np.array([near[each] for each in fresh], dtype=np.int64)] + 1)
        elif len(fresh) > max(_MAX_SEARCHES, len(kept) // 8):
            merged = sorted([*kept, *fresh])  # two ascending runs
            place = {string: i for i, string in enumerate(merged)}
            cuts = np.array([place[each] for each in fresh], dtype=np.int64) - np.arange(len(fresh))
        else:
            cuts = np.array([bisect_left(kept, each) for each in fresh], dtype=np.int64)
        # As many new ones as there are cuts up to it stand before what is kept.
        if kept is self and len(cuts) <= _MAX_SEARCHES:
            _count_up(rank, cuts)
        elif len(kept):
            n_before = np.repeat(np.arange(len(cuts) + 1), np.diff(cuts, prepend=0, append=len(kept)))
            rank = rank + (n_before if kept is self else n_before[np.minimum(rank, len(kept) - 1)])
        rank[lost] = -1
        axis = Axis(rank, cuts + np.arange(len(cuts)), len(kept) + len(fresh))
        numbers = np.insert(kept.numbers, cuts, [new[each] for each in fresh]) if fresh else kept.numbers
        return SortedStrings(self.strings, numbers), axis

    def _find_cuts(self, strings: Sequence[str], low: Ints) -> Ints:
        """Return the positions at which strings would stand, each at its position in `low` or not far behind it."""
        low, high, width = low.copy(), np.full(len(low), len(self)), 1
        left = np.flatnonzero(low < high)
        while len(left):
            probe = np.minimum(low[left] + width - 1, (low[left] + high[left]) // 2)
            others = zip(left.tolist(), self._some(probe), strict=True)
            is_less = np.array([other < strings[i] for i, other in others], dtype=np.bool_)
            low[left[is_less]] = probe[is_less] + 1
            high[left[~is_less]] = probe[~is_less]
            left, width = left[low[left] < high[left]], 2 * width
        return low


class JoinedStrings(Sequence[str]):
    """The first `n` strings of a table, and further ones behind them."""

    def __init__(self, strings: Sequence[str], more: list[str], n: int) -> None:
        """Create the sequence."""
        self._strings, self.n, self.more = strings, n, more

    def __len__(self) -> int:
        """Return the number of strings."""
        return self.n + len(self.more)

    def __getitem__(self, number: Any) -> Any:
        """Return the string of a number."""
        return self._strings[number] if number < self.n else self.more[number - self.n]

    def some(self, numbers: Ints) -> list[str]:
        """Return the strings of these numbers; faster than one by one."""
        if isinstance(self._strings, Strings) and len(numbers) and int(numbers.max()) < self.n:
            return self._strings.some(numbers)
        return list(map(self.__getitem__, numbers.tolist()))


class Column(Protocol):
    """Numbers that are read in slices of step 1 and by arrays of positions that are not negative; joined or not."""

    def __len__(self) -> int:
        """Return the number of entries."""

    def __getitem__(self, key: slice | NDArray[Any], /) -> NDArray[Any]:
        """Return the entries of a slice, or those at an array of positions."""


class SplicedColumn:
    """A column with few new entries, which `join_column` joins when all of it is needed.

    Parts are read from the old array and the new entries, so that a query after an addition copies little.
    """

    __slots__ = ("_at", "_joined", "_new", "_old", "_place")

    def __init__(self, old: NDArray[Any], place: NDArray[Any] | None, at: Ints, new: NDArray[Any]) -> None:
        """Create the column with `new` at positions `at`, ascending; `place`: new value of each old one, if changed.

        >>> column = SplicedColumn(np.array([0, 1]), np.array([0, 2]), np.array([1]), np.array([1]))
        >>> column[1:3].tolist(), column[np.array([2, 0])].tolist(), join_column(column).tolist()
        ([1, 2], [2, 0], [0, 1, 2])
        """
        self._old, self._place, self._at = old, place, at
        self._new = new.astype(old.dtype)
        self._joined: NDArray[Any] | None = None

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._old) + len(self._at) if self._joined is None else len(self._joined)

    def __getitem__(self, key: slice | NDArray[Any], /) -> NDArray[Any]:
        """Return the entries of a slice, or those at an array of positions."""
        if self._joined is not None:
            return self._joined[key]
        if isinstance(key, slice):
            start, stop, _ = key.indices(len(self))
            first, last = np.searchsorted(self._at, [start, max(start, stop)]).tolist()
            part = self._move(self._old[start - first : max(start, stop) - last])
            inside = self._at[first:last] - start - np.arange(last - first)
            return np.insert(part, inside, self._new[first:last]) if last > first else part
        before = np.searchsorted(self._at, key)
        found = self._move(self._old[np.minimum(key - before, len(self._old) - 1)])
        is_new = self._at[np.minimum(before, len(self._at) - 1)] == key
        found[is_new] = self._new[before[is_new]]
        return found

    def join(self) -> NDArray[Any]:
        """Return all entries."""
        if self._joined is None:
            cuts = self._at - np.arange(len(self._at))
            self._joined = Splice(None, cuts).merge(self._move(self._old), self._new)
            self._old = self._new
        return self._joined

    def _move(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self._place is None else self._place[values]


def join_column(column: Column) -> NDArray[Any]:
    """Return all entries of a column."""
    return column.join() if isinstance(column, SplicedColumn) else np.asarray(column)


class Counted(NamedTuple):
    """A matrix like `Matrix` of which rows are read, and whose entries may not be joined yet."""

    indptr: Ints
    indices: Column
    values: Column
    n_columns: int

    @classmethod
    def of(cls, matrix: Matrix) -> "Counted":
        """Return a matrix as such a one."""
        return cls(matrix.indptr, matrix.indices, matrix.values, matrix.n_columns)

    @property
    def sizes(self) -> Ints:
        """Number of entries of each row."""
        return np.diff(self.indptr)

    def row(self, i: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Return (columns, values) of a row."""
        part = slice(int(self.indptr[i]), int(self.indptr[i + 1]))
        return self.indices[part], self.values[part]

    def gather(self, rows: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any], Ints]:
        """Return (columns, values, position in `rows`) of all entries of these rows, row by row."""
        at, of = find_entries(self.indptr, rows)
        return self.indices[at], self.values[at], of


class Splice(NamedTuple):
    """A change of the entries of a matrix: those that stay, and before which of these each new entry stands."""

    kept: NDArray[np.bool_] | None  # by old entry; None if all stay
    cuts: Ints  # by new entry, ascending

    def defer(self, old: NDArray[Any], place: NDArray[Any] | None, new: NDArray[Any]) -> SplicedColumn:
        """Return the values of all entries, which stay, as a column that is joined when all of it is needed."""
        return SplicedColumn(old, place, self.cuts + np.arange(len(self.cuts)), new)

    def apply(self, old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        """Return the values of all entries."""
        return self.merge(old if self.kept is None else old[self.kept], new)

    def merge(self, kept: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        """Return the values of all entries, from those of the entries that stay."""
        if not len(self.cuts):
            return kept
        at = self.cuts + np.arange(len(self.cuts))
        merged = np.empty(len(kept) + len(at), dtype=kept.dtype)
        is_old = np.ones(len(merged), dtype=np.bool_)
        merged[at] = new
        if len(at) > _MAX_SEARCHES:
            is_old[at] = False
            merged[is_old] = kept
            return merged
        start = 0
        for i, cut in enumerate(self.cuts.tolist()):
            merged[start + i : cut + i] = kept[start:cut]
            start = cut
        merged[start + len(at) :] = kept[start:]
        return merged


def splice_entries(
    indptr: Ints,
    indices: Column,
    rows: Axis,
    columns: Axis,
    new: tuple[NDArray[Any], NDArray[Any]],
    without: Ints | None = None,
    *,
    may_defer: bool = False,
) -> tuple[Ints, Column, Splice]:
    """Return (indptr, indices, splice of the values) of a changed CSR matrix.

    `new`: rows and columns of the new entries, by row, then by column. `without`: further entries that are removed.
    Columns keep their order, so that rows stay sorted. `may_defer`: few new entries are not joined at once.
    """
    old = join_column(indices)
    stays = not (rows.has_gone or columns.has_gone or (without is not None and len(without)))
    is_few = len(new[0]) <= _MAX_SEARCHES
    is_deferred = may_defer and stays and len(old) > 0 and len(new[0]) > 0 and is_few
    place = None if columns.is_same else columns.place.astype(old.dtype)
    moved = old if place is None or is_deferred else place[old]
    is_kept: NDArray[np.bool_] | None = None
    if stays and len(rows.fresh) <= _MAX_SEARCHES:
        before = rows.fresh - np.arange(len(rows.fresh))
        starts = Splice(None, before).merge(indptr, indptr[before])
        starts = starts.copy() if starts is indptr else starts  # it is changed below
    else:
        sizes = np.diff(indptr)
        if not stays:
            is_kept = np.repeat(rows.place >= 0, sizes) & (moved >= 0)
            if without is not None:
                is_kept[without] = False
            moved = moved[is_kept]
            sizes = np.diff(np.concatenate([[0], np.cumsum(is_kept)])[indptr])
        starts = np.zeros(rows.n + 1, dtype=np.int64)
        np.cumsum(rows.move(sizes, 0), out=starts[1:])
    new_rows, new_columns = new[0].astype(np.int64), new[1].astype(np.int64)
    wanted = np.searchsorted(columns.place, new_columns) if is_deferred else new_columns  # among what is there
    if is_few:
        cuts = np.array(
            [
                starts[r] + np.searchsorted(moved[starts[r] : starts[r + 1]], c)
                for r, c in zip(new_rows.tolist(), wanted.tolist(), strict=True)
            ],
            dtype=np.int64,
        )
        _count_up(starts, new_rows + 1)
    else:
        keys = np.repeat(np.arange(rows.n, dtype=np.int64), np.diff(starts)) * columns.n + moved
        cuts = np.searchsorted(keys, new_rows * columns.n + new_columns)
        starts[1:] += np.cumsum(np.bincount(new_rows, minlength=rows.n))
    splice = Splice(is_kept, cuts)
    if is_deferred:
        return starts, splice.defer(old, place, new_columns), splice
    return starts, splice.merge(moved, new_columns.astype(old.dtype)), splice


def _count_up(numbers: Ints, places: Ints) -> None:
    """Add to each number how many of the few ascending places are at or before it."""
    for i, (start, end) in enumerate(pairwise([*places.tolist(), len(numbers)]), 1):
        numbers[start:end] += i


def splice_matrix(
    matrix: Matrix, rows: Axis, columns: Axis, new: tuple[NDArray[Any], NDArray[Any]], values: NDArray[Any]
) -> tuple[Matrix, Splice]:
    """Return a changed matrix, and the splice of its entries; `new` and `values`: new entries by row, then column."""
    indptr, indices, splice = splice_entries(matrix.indptr, matrix.indices, rows, columns, new)
    old = join_column(matrix.values)
    may_defer = splice.kept is None and 0 < len(values) <= _MAX_SEARCHES
    all_values = splice.defer(old, None, values) if may_defer else splice.apply(old, values)
    return Matrix(indptr, join_column(indices), all_values, columns.n), splice


def splice_counted(
    matrix: Counted, rows: Axis, columns: Axis, new: tuple[NDArray[Any], NDArray[Any]], values: NDArray[Any]
) -> Counted:
    """Return a changed matrix as `splice_matrix` does; few new entries are not joined at once."""
    indptr, indices, splice = splice_entries(matrix.indptr, matrix.indices, rows, columns, new, may_defer=True)
    old = join_column(matrix.values)
    is_joined = not isinstance(indices, SplicedColumn)
    all_values: Column = splice.apply(old, values) if is_joined else splice.defer(old, None, values)
    return Counted(indptr, indices, all_values, columns.n)


__all__ = [
    "Axis", "Column", "Counted", "Floats", "Ints", "JoinedStrings", "Matrix", "SortedStrings", "Splice",
    "SplicedColumn", "StringNumbers", "Strings", "find_entries", "join_column", "splice_counted", "splice_entries",
    "splice_matrix"
]  # fmt: skip
