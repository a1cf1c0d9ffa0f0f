"""A sequence of strings in two arrays: it can be memory-mapped and decodes only strings in use."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass

_COPIED_BYTES = 1000  # of a blob, in the time that one slice of its memory takes longer than one of bytes
_FEW_LOOKUPS = 1000  # until a dictionary of a table pays


@dataclass(frozen=True, slots=True)
class StringTable:
    """An immutable sequence of strings.

    `blob`: uint8, shape (n_bytes,), the UTF-8 of all strings one after the other.
    `offsets`: shape (n + 1,), string i is `blob[offsets[i]:offsets[i + 1]]`; int32, from 2 GiB of strings on int64.

    >>> table = StringTable.from_strings(["a", "bc"])
    >>> table[1], len(table), table.position("bc"), table.position("b")
    ('bc', 2, 1, -1)
    """

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int32] | NDArray[np.int64]

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> "StringTable":
        """Build the table of these strings."""
        strings = list(strings)
        text = "".join(strings)
        data = text.encode("utf-8", "surrogatepass")
        if len(data) != len(text):
            return cls.from_bytes([s.encode("utf-8", "surrogatepass") for s in strings])
        return cls._of(data, list(map(len, strings)))  # ASCII, as most tables are: that takes a third of the time

    @classmethod
    def from_bytes(cls, encoded: Sequence[bytes]) -> "StringTable":
        """Build the table of strings with these UTF-8 bytes."""
        return cls._of(b"".join(encoded), list(map(len, encoded)))

    @classmethod
    def _of(cls, data: bytes, lengths: Sequence[int]) -> "StringTable":
        return cls(np.frombuffer(data, dtype=np.uint8), _offsets_of(np.array(lengths, dtype=np.int64)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def raw(self, i: int) -> bytes:
        """Return the UTF-8 bytes of string i."""
        return self.blob[self.offsets[i] : self.offsets[i + 1]].tobytes()

    def __getitem__(self, i: int) -> str:
        if not 0 <= i < len(self.offsets) - 1:
            raise IndexError(i)
        offsets = self.offsets.data  # slices of memory are made in less time than arrays
        return str(self.blob.data[offsets[i] : offsets[i + 1]], "utf-8", "surrogatepass")

    def some(self, positions: NDArray[np.int64]) -> list[str]:
        """Return the strings at these positions."""
        starts, ends = self.offsets[positions].tolist(), self.offsets[positions + 1].tolist()
        is_few = _COPIED_BYTES * len(positions) < len(self.blob)  # copying the blob takes longer than slices of it
        blob = self.blob.data if is_few else self.blob.tobytes()
        return [str(blob[start:end], "utf-8", "surrogatepass") for start, end in zip(starts, ends, strict=True)]

    def starts(self, positions: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the first eight bytes of the strings at these positions as numbers, which are in the same order.

        >>> StringTable.from_strings(["a", "", "ab"]).starts(np.array([1, 0, 2])).argsort().tolist()
        [0, 1, 2]
        """
        starts = np.zeros(len(positions), dtype=np.uint64)
        at, ends = self.offsets[positions].astype(np.int64), self.offsets[positions + 1].astype(np.int64)
        for k in range(8):
            is_there = at + k < ends
            starts[is_there] |= self.blob[at[is_there] + k].astype(np.uint64) << np.uint64(8 * (7 - k))
        return starts

    def ending_in(self, positions: NDArray[np.int64], endings: Iterable[str]) -> NDArray[np.bool_]:
        """Return which of the strings at these positions end in one of some texts; no string is decoded.

        >>> StringTable.from_strings(["a.b", "b", "c.b"]).ending_in(np.array([0, 1, 2]), [".b"]).tolist()
        [True, False, True]
        """
        starts, ends = self.offsets[positions], self.offsets[positions + 1]
        found = np.zeros(len(positions), dtype=np.bool_)
        for ending in endings:
            wanted = ending.encode("utf-8", "surrogatepass")
            some = np.flatnonzero(ends - starts >= len(wanted))
            for back, byte in enumerate(reversed(wanted), 1):
                some = some[self.blob[ends[some] - back] == byte]
            found[some] = True
        return found

    def take(self, order: NDArray[np.int64], more: Sequence[str] = ()) -> "StringTable":
        """Return the table of the strings at these positions, in this order.

        Positions beyond the table mean strings of `more`. Fast if most neighbors were neighbors before.
        """
        if not len(order):
            return StringTable.from_strings(())
        added = StringTable.from_strings(more)
        blob = np.concatenate([self.blob, added.blob])
        offsets = np.concatenate([self.offsets.astype(np.int64), added.offsets[1:] + np.int64(self.offsets[-1])])
        breaks = np.flatnonzero(np.diff(order) != 1)
        firsts, lasts = order[np.append(0, breaks + 1)], order[np.append(breaks, len(order) - 1)]
        pieces = zip(offsets[firsts].tolist(), offsets[lasts + 1].tolist(), strict=True)
        return StringTable(
            np.concatenate([blob[start:end] for start, end in pieces]), _offsets_of(np.diff(offsets)[order])
        )

    def __iter__(self) -> Iterator[str]:
        blob, offsets = self.blob.tobytes(), self.offsets.tolist()
        if blob.isascii():
            text = blob.decode("ascii")
            return (text[start:end] for start, end in pairwise(offsets))
        return (blob[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(offsets))

    def same_as(self, other: "StringTable") -> bool:
        """Return True if both hold the same strings in the same order; nothing is decoded."""
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.blob, other.blob)

    def position(self, string: str) -> int:
        """Return the index of `string` in a *sorted* table, or -1.

        The byte order of UTF-8 is code point order.
        """
        wanted = string.encode("utf-8", "surrogatepass")
        i = self.lower_bound(wanted)
        return i if i < len(self) and self.raw(i) == wanted else -1

    def prefix_range(self, prefix: str) -> range:
        """Return the positions of strings with this prefix in a *sorted* table."""
        wanted = prefix.encode("utf-8", "surrogatepass")
        first = self.lower_bound(wanted)
        low = high = first
        step = 1
        while high < len(self) and self.raw(high).startswith(wanted):  # mostly none has it, or a few have
            low, high, step = high + 1, min(high + step, len(self)), 2 * step
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle).startswith(wanted):
                low = middle + 1
            else:
                high = middle
        return range(first, low)

    def lower_bound(self, wanted: bytes, order: NDArray[np.int64] | None = None) -> int:
        """Return the number of strings of a *sorted* table before `wanted`, which is UTF-8.

        `order`: positions of some strings of any table, in the order of these strings; then the number of those.

        >>> StringTable.from_strings(["b", "c", "a"]).lower_bound(b"b", np.array([2, 0, 1]))
        1
        """
        # Slices of memory are made and compared in less time than arrays.
        blob, offsets = self.blob.data, self.offsets.data
        positions = range(len(self)) if order is None else order.data
        low, high = 0, len(positions)
        while low < high:
            middle = (low + high) // 2
            at = positions[middle]
            if bytes(blob[offsets[at] : offsets[at + 1]]) < wanted:
                low = middle + 1
            else:
                high = middle
        return low


class Positions:
    """Positions of strings in a sorted table, by a dictionary once very many were asked for."""

    def __init__(self, table: StringTable) -> None:
        self._table = table
        self._n_asked = 0
        self._places: dict[bytes, int] | None = None

    def of(self, string: str) -> int:
        """Return `StringTable.position` of a string."""
        if self._places is None:
            self._n_asked += 1
            if self._n_asked <= _FEW_LOOKUPS:
                return self._table.position(string)
            blob = self._table.blob.tobytes()
            spans = pairwise(self._table.offsets.tolist())
            self._places = {blob[start:end]: place for place, (start, end) in enumerate(spans)}
        return self._places.get(string.encode("utf-8", "surrogatepass"), -1)


def _offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int32] | NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets if offsets[-1] > np.iinfo(np.int32).max else offsets.astype(np.int32)


class MergedTable(NamedTuple):
    """A sorted table without repetition.

    `old[i]` is the position of string i of the source table, -1 if it was dropped; `added[j]` that of added string j.
    """

    table: StringTable
    old: NDArray[np.int32]
    added: NDArray[np.int64]


def merge_tables(table: StringTable, kept: NDArray[np.bool_], strings: Sequence[str]) -> MergedTable:
    """Merge the `kept` strings of a sorted table, a mask of shape (n,), with other strings.

    The other strings may repeat strings of the table.

    >>> table = StringTable.from_strings(["a", "b", "c"])
    >>> result = merge_tables(table, np.array([True, False, True]), ["d", "c", "aa"])
    >>> list(result.table), result.old.tolist(), result.added.tolist()
    (['a', 'aa', 'c', 'd'], [0, -1, 2], [3, 2, 1])
    """
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    distinct = sorted(set(encoded))
    if not len(table):
        position_by_text = {each: i for i, each in enumerate(distinct)}
        none = np.zeros(0, dtype=np.int32)
        return MergedTable(
            StringTable.from_bytes(distinct),
            none,
            np.array([position_by_text[each] for each in encoded], dtype=np.int64),
        )
    place_by_text: dict[bytes, int] = {}
    fresh: list[bytes] = []
    before: list[int] = []  # of each fresh string, how many of the table come before it
    kept = kept.copy()
    for each in distinct:
        position = table.lower_bound(each)
        if position < len(table) and table.raw(position) == each:
            kept[position] = True
            place_by_text[each] = position
        else:
            fresh.append(each)
            before.append(position)
    if not fresh and kept.all():
        at_once = np.array([place_by_text[each] for each in encoded], dtype=np.int64)
        return MergedTable(table, np.arange(len(table), dtype=np.int32), at_once)
    n_before = np.concatenate([[0], np.cumsum(kept)])
    at = n_before[np.array(before, dtype=np.int64)]  # kept ones before each fresh string
    rank = n_before[:-1]
    old = np.where(kept, rank + np.searchsorted(at, rank, side="right"), -1).astype(np.int32)
    fresh_at = at + np.arange(len(fresh))
    order = np.empty(int(n_before[-1]) + len(fresh), dtype=np.int64)
    order[old[kept]] = np.flatnonzero(kept)
    order[fresh_at] = len(table) + np.arange(len(fresh))
    position_by_text = {each: int(old[position]) for each, position in place_by_text.items()}
    position_by_text.update(zip(fresh, fresh_at.tolist(), strict=True))
    decoded = [each.decode("utf-8", "surrogatepass") for each in fresh]
    return MergedTable(
        table.take(order, decoded), old, np.array([position_by_text[each] for each in encoded], dtype=np.int64)
    )
