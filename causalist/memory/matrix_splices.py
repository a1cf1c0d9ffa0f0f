"""Sparse matrices with sorted rows and columns, and splices that replace a few rows or columns of them.

A splice copies what stays, so that the cost of a small change is that of copying arrays. Its result is equal to that of
building the matrix again from all entries.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_MAX_SEARCHES = 256  # new entries whose places are searched one by one


@dataclass(frozen=True, slots=True)
class Matrix:
    """CSR matrix: row i has `values[indptr[i]:indptr[i + 1]]` in the columns `indices[...]`, ascending."""

    indptr: Ints  # (n_rows + 1,)
    indices: NDArray[np.int32]  # (n_entries,)
    values: Floats  # (n_entries,)
    n_columns: int

    @classmethod
    def from_entries(cls, rows: Ints, columns: Ints, values: Floats, shape: tuple[int, int]) -> "Matrix":
        """Return the matrix of entries.

        Values at equal positions are summed in ascending order, so that the order of the entries does not matter.
        """
        keys = rows * max(shape[1], 1) + columns
        order = np.lexsort((values, keys))
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
        summed = np.add.reduceat(values[order], first) if len(keys) else values
        at = keys[first]
        indptr = np.zeros(shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(at // max(shape[1], 1), minlength=shape[0]), out=indptr[1:])
        return cls(indptr, (at % max(shape[1], 1)).astype(np.int32), summed.astype(np.float64), shape[1])

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

    def row(self, i: int) -> tuple[NDArray[np.int32], Floats]:
        """Return (columns, values) of a row."""
        part = slice(int(self.indptr[i]), int(self.indptr[i + 1]))
        return self.indices[part], self.values[part]

    def transpose(self) -> "Matrix":
        """Return the transpose."""
        # Stable, so that rows ascend within a column. numpy uses a radix sort for small integers.
        order = np.argsort(self.indices, kind="stable")
        indptr = np.zeros(self.n_columns + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.indices, minlength=self.n_columns), out=indptr[1:])
        return Matrix(indptr, self.rows[order].astype(np.int32), self.values[order], self.n_rows)

    def gather(self, rows: NDArray[Any]) -> tuple[NDArray[np.int32], Floats, Ints]:
        """Return (columns, values, position in `rows`) of all entries of these rows, row by row."""
        at, of = find_entries(self.indptr, rows)
        return self.indices[at], self.values[at], of

    def take(self, rows: NDArray[Any]) -> "Matrix":
        """Return the matrix of these rows."""
        at, _ = find_entries(self.indptr, rows)
        indptr = np.concatenate([[0], np.cumsum(self.indptr[rows + 1] - self.indptr[rows])]).astype(np.int64)
        return Matrix(indptr, self.indices[at], self.values[at], self.n_columns)

    def join_columns(self, other: "Matrix") -> "Matrix":
        """Return the matrix with the columns of another one of as many rows behind its own."""
        own_sizes, others = self.sizes, other.sizes
        at = np.arange(len(self.indices)) + np.repeat(other.indptr[:-1], own_sizes)
        at_other = np.arange(len(other.indices)) + np.repeat(self.indptr[1:], others)
        indices = np.empty(len(at) + len(at_other), dtype=np.int32)
        values = np.empty(len(indices))
        indices[at], indices[at_other] = self.indices, other.indices + np.int32(self.n_columns)
        values[at], values[at_other] = self.values, other.values
        return Matrix(self.indptr + other.indptr, indices, values, self.n_columns + other.n_columns)

    def join_rows(self, other: "Matrix") -> "Matrix":
        """Return the matrix with the rows of another one of as many columns below its own."""
        return Matrix(
            np.concatenate([self.indptr, other.indptr[1:] + self.indptr[-1]]),
            np.concatenate([self.indices, other.indices]),
            np.concatenate([self.values, other.values]),
            self.n_columns,
        )


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
        moved = np.empty(self.n, dtype=old.dtype)
        alive = self.place >= 0
        moved[self.place[alive]] = old[alive] if self.has_gone else old
        moved[self.fresh] = fresh
        return moved


def splice_sorted(old: list[str], gone: Iterable[int], new: Iterable[str]) -> tuple[list[str], Axis]:
    """Return sorted strings without those at the positions `gone` and with new ones, and the change of positions.

    >>> splice_sorted(["a", "c", "d"], [2], ["b"])
    (['a', 'b', 'c'], Axis(place=array([ 0,  2, -1]), fresh=array([1]), n=3))
    """
    is_gone = np.zeros(len(old), dtype=np.bool_)
    is_gone[np.array(list(gone), dtype=np.int64)] = True
    kept = list(compress(old, (~is_gone).tolist())) if is_gone.any() else old
    fresh = sorted(new)
    cuts = [bisect_left(kept, each) for each in fresh]
    merged: list[str] = []
    start = 0
    for cut, each in zip(cuts, fresh, strict=True):
        merged += kept[start:cut]
        merged.append(each)
        start = cut
    merged += kept[start:]
    rank = np.cumsum(~is_gone) - 1
    at = np.array(cuts, dtype=np.int64)
    new_position = np.where(is_gone, -1, rank + np.searchsorted(at, rank, side="right"))
    return merged, Axis(new_position.astype(np.int64), at + np.arange(len(at)), len(merged))


class Splice(NamedTuple):
    """A change of the entries of a matrix: those that stay, and before which of these each new entry stands."""

    kept: NDArray[np.bool_] | None  # by old entry; None if all stay
    cuts: Ints  # by new entry, ascending

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
    indices: NDArray[Any],
    rows: Axis,
    columns: Axis,
    new: tuple[NDArray[Any], NDArray[Any]],
    without: Ints | None = None,
) -> tuple[Ints, NDArray[Any], Splice]:
    """Return (indptr, indices, splice of the values) of a changed CSR matrix.

    `new`: rows and columns of the new entries, by row, then by column. `without`: further entries that are removed.
    Columns keep their order, so that rows stay sorted.
    """
    sizes = np.diff(indptr)
    moved = indices if columns.is_same else columns.place.astype(indices.dtype)[indices]
    is_kept: NDArray[np.bool_] | None = None
    if rows.has_gone or columns.has_gone or without is not None:
        is_kept = np.repeat(rows.place >= 0, sizes) & (moved >= 0)
        if without is not None:
            is_kept[without] = False
        moved = moved[is_kept]
        sizes = np.diff(np.concatenate([[0], np.cumsum(is_kept)])[indptr])
    alive = rows.place >= 0
    new_sizes = np.zeros(rows.n, dtype=np.int64)
    new_sizes[rows.place[alive]] = sizes[alive]
    starts = np.zeros(rows.n + 1, dtype=np.int64)
    np.cumsum(new_sizes, out=starts[1:])
    new_rows, new_columns = new[0].astype(np.int64), new[1].astype(np.int64)
    if len(new_rows) <= _MAX_SEARCHES:
        cuts = np.array(
            [
                starts[r] + np.searchsorted(moved[starts[r] : starts[r + 1]], c)
                for r, c in zip(new_rows.tolist(), new_columns.tolist(), strict=True)
            ],
            dtype=np.int64,
        )
    else:
        keys = np.repeat(np.arange(rows.n, dtype=np.int64), new_sizes) * columns.n + moved
        cuts = np.searchsorted(keys, new_rows * columns.n + new_columns)
    result = starts.copy()
    result[1:] += np.cumsum(np.bincount(new_rows, minlength=rows.n))
    splice = Splice(is_kept, cuts)
    return result, splice.merge(moved, new_columns.astype(indices.dtype)), splice


def splice_matrix(
    matrix: Matrix, rows: Axis, columns: Axis, new: tuple[NDArray[Any], NDArray[Any]], values: NDArray[Any]
) -> tuple[Matrix, Splice]:
    """Return a changed matrix, and the splice of its entries; `new` and `values`: new entries by row, then column."""
    indptr, indices, splice = splice_entries(matrix.indptr, matrix.indices, rows, columns, new)
    return Matrix(indptr, indices, splice.apply(matrix.values, values), columns.n), splice


class SortedPositions(Mapping[str, int]):
    """Positions in a sorted list, and of some further strings, without a table of all of them."""

    def __init__(self, strings: list[str], further: Mapping[str, int]) -> None:
        """Create the mapping."""
        self._strings = strings
        self._further = further

    def __getitem__(self, string: str) -> int:
        """Return the position of a string. Raises KeyError."""
        position = self._further.get(string)
        if position is not None:
            return position
        at = bisect_left(self._strings, string)
        if at < len(self._strings) and self._strings[at] == string:
            return at
        raise KeyError(string)

    def __iter__(self) -> Any:
        """Return an iterator over all strings."""
        yield from self._strings
        yield from self._further

    def __len__(self) -> int:
        """Return the number of strings."""
        return len(self._strings) + len(self._further)


__all__ = [
    "Axis",
    "Floats",
    "Ints",
    "Matrix",
    "SortedPositions",
    "Splice",
    "find_entries",
    "splice_entries",
    "splice_matrix",
    "splice_sorted",
]
