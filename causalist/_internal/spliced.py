"""Rows of which some go and others come, as arrays: all that stays is copied in as few pieces as there are."""

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

_Number = TypeVar("_Number", bound=np.generic)

_MOST_PIECES = 10_000  # that are copied one by one: above that, masks of all rows are faster


class Spliced(NamedTuple):
    """Rows of then without those that are `gone`, and new ones at `places` of the result, which has `n` rows. `pieces`:
    (start, end, how much further on it is now); what is gone may be in one of them, where what comes later stands
    instead. None if they are too many."""

    n: int
    gone: NDArray[np.int64]
    places: NDArray[np.int64]
    pieces: list[tuple[int, int, int]] | None

    def of(self, then: NDArray[_Number], new: NDArray[_Number]) -> NDArray[_Number]:
        """A column of the rows; that of then, and no copy, where it is as it was."""
        if self.pieces == [(0, len(then), 0)] and np.array_equal(then[self.places], new):
            return then
        rows = np.empty(self.n, dtype=then.dtype)
        if self.pieces is not None:
            for start, end, shift in self.pieces:
                end = min(end, self.n - shift)
                rows[start + shift : end + shift] = then[start:end]
        else:
            is_old, stays = np.ones(self.n, dtype=np.bool_), np.ones(len(then), dtype=np.bool_)
            is_old[self.places] = stays[self.gone] = False
            rows[is_old] = then[stays]
        rows[self.places] = new
        return rows


def spliced(n: int, gone: NDArray[np.int64], groups: NDArray[np.integer[Any]], at: NDArray[np.int64]) -> Spliced:
    """`n` rows without those that are `gone`, and a new one before each of the rows `at`; both ascend. Among rows that
    are gone and new ones in their place, those of different `groups` do not move one another.

    >>> changed = spliced(4, np.array([1]), np.array([0]), np.array([0, 2]))
    >>> changed.of(np.array([10, 11, 12, 13]), np.array([7, 8]))
    array([ 7, 10,  8, 12, 13])
    """
    places = at + np.arange(len(at)) - np.searchsorted(gone, at)
    n_now = n - len(gone) + len(at)
    # A run of rows of a group that are gone moves what comes behind it, as a new row does.
    is_last = (np.diff(gone, append=n + 1) != 1) | (np.diff(groups, append=-1) != 0)
    n_gone = np.diff(np.flatnonzero(is_last), prepend=-1)
    bounds = np.concatenate([[0], gone[is_last] + 1, at])
    steps = np.concatenate([[0], -n_gone, np.ones(len(at), dtype=np.int64)])
    order = np.argsort(bounds, kind="stable")
    bounds, shifts = bounds[order], np.cumsum(steps[order])
    is_final = np.diff(bounds, append=n + 1) != 0  # of several steps in the same place
    bounds, shifts = bounds[is_final], shifts[is_final]
    is_new = np.append(True, np.diff(shifts) != 0)
    bounds, shifts = bounds[is_new], shifts[is_new]
    if len(bounds) > _MOST_PIECES:
        return Spliced(n_now, gone, places, None)
    ends = np.append(bounds[1:], n)
    return Spliced(n_now, gone, places, list(zip(bounds.tolist(), ends.tolist(), shifts.tolist(), strict=True)))
