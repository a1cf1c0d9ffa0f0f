"""Sparse matrices as arrays, with entries in an order independent of insertion."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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
    def rows(self) -> Ints:
        """Row of each entry."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), np.diff(self.indptr))

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
        starts, sizes = self.indptr[rows], np.diff(self.indptr)[rows]
        total = int(sizes.sum())
        at = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(total)
        return self.indices[at], self.values[at], np.repeat(np.arange(len(rows)), sizes)
