"""Frozen dataclasses <-> named arrays and a JSON header.

Nothing is pickled or executed; data that does not fit raises IndexUnreadable. `plan_splice` replaces rows of arrays and
copies unchanged rows in few pieces. `join_on_disk`, `insert_on_disk` and `empty_on_disk` keep large arrays outside of
memory, and `split_rows` bounds what is computed at once.
`select_top` and `select_first` select the best scores, in an order that does not depend on rounding errors.
"""

import dataclasses
import mmap
import typing
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from causalist.errors import IndexUnreadable

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]


def flatten(value: Any, prefix: str, arrays: Arrays) -> Any:
    """Return the JSON part of a dataclass; its arrays go into `arrays` under dotted names."""
    if isinstance(value, np.ndarray):
        arrays[prefix] = value
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: flatten(getattr(value, field.name), f"{prefix}.{field.name}", arrays)
            for field in dataclasses.fields(value)
        }
    if isinstance(value, tuple):
        return [flatten(item, f"{prefix}[{i}]", arrays) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: flatten(value[key], f"{prefix}.{key}", arrays) for key in sorted(value)}
    return value


def unflatten(kind: type[T], header: Any, prefix: str, arrays: Arrays) -> T:
    """Build the dataclass `kind` from the result of `flatten`. Raises IndexUnreadable."""
    try:
        return typing.cast(T, _build(kind, header, prefix, arrays))
    except (KeyError, TypeError, ValueError) as error:
        raise IndexUnreadable(f"the index does not hold what it should ({error!r}); it is built again") from error


@cache
def _resolve_hint(kind: type, name: str) -> Any:
    """Return the type of one field. Evaluating the types of all fields takes longer than reading them."""
    hint = kind.__annotations__[name]
    return typing.get_type_hints(kind)[name] if isinstance(hint, str) else hint


@cache
def _defaulted_fields(kind: type) -> frozenset[str]:
    """Return names of the fields with a default."""
    missing = dataclasses.MISSING
    fields = dataclasses.fields(typing.cast(Any, kind))
    return frozenset(f.name for f in fields if f.default is not missing or f.default_factory is not missing)


def _build(kind: Any, header: Any, prefix: str, arrays: Arrays) -> Any:
    # Not asked of the type hint: what NDArray[...] looks like at run time differs between versions of numpy.
    if prefix in arrays:
        return arrays[prefix]
    if dataclasses.is_dataclass(kind):
        defaulted = _defaulted_fields(typing.cast(type, kind))
        fields: dict[str, Any] = {}
        for field in dataclasses.fields(kind):
            place = f"{prefix}.{field.name}"
            if place in arrays:
                fields[field.name] = arrays[place]
            # What an earlier version did not write is left at its default; its index is outdated then, and not damaged.
            elif field.name in header or field.name not in defaulted:
                hint = _resolve_hint(typing.cast(type, kind), field.name)
                fields[field.name] = _build(hint, header[field.name], place, arrays)
        return typing.cast(Any, kind)(**fields)
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        return tuple(_build(item, each, f"{prefix}[{i}]", arrays) for i, each in enumerate(header))
    if isinstance(header, dict):
        value = typing.get_args(kind)[1]
        return {key: _build(value, each, f"{prefix}.{key}", arrays) for key, each in header.items()}
    if header is None and type(None) not in typing.get_args(kind):
        raise KeyError(prefix)  # an array that the header does not place
    return header


_Number = TypeVar("_Number", bound=np.generic)

_MAX_PIECES = 10_000  # that are copied one by one: above that, masks of all rows are faster


class SplicePlan(NamedTuple):
    """Plan that replaces rows of a column.

    `gone` are deleted rows, `places` the positions of new rows in the result, which has `n` rows. `pieces` are (start,
    end, shift) of copied rows and may include deleted ones that are overwritten; None if there are too many.
    """

    n: int
    gone: NDArray[np.int64]
    places: NDArray[np.int64]
    pieces: list[tuple[int, int, int]] | None

    def of(self, then: NDArray[_Number], new: NDArray[_Number]) -> NDArray[_Number]:
        """Return a column with its rows replaced; the old array itself if nothing changes."""
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


def plan_splice(n: int, gone: NDArray[np.int64], groups: NDArray[np.integer[Any]], at: NDArray[np.int64]) -> SplicePlan:
    """Plan `n` rows without the rows `gone` and with a new row before each of the rows `at`.

    Both ascend. Deleted rows and their replacements in different `groups` do not shift one another.

    >>> changed = plan_splice(4, np.array([1]), np.array([0]), np.array([0, 2]))
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
    if len(bounds) > _MAX_PIECES:
        return SplicePlan(n_now, gone, places, None)
    ends = np.append(bounds[1:], n)
    return SplicePlan(n_now, gone, places, list(zip(bounds.tolist(), ends.tolist(), shifts.tolist(), strict=True)))


SCORE_DECIMALS = 12
ROUNDED_AWAY = 1e-11  # above the change of a score by rounding, and above the distance of two scores that round alike

_Integer = TypeVar("_Integer", bound=np.integer)


def select_top(scores: NDArray[np.float64], k: int) -> list[int]:
    """Return at most k nodes with positive scores, best first.

    The order is by descending score (rounded), then by ascending index, so that equal scores are in the order of ids.
    """
    if k <= 0:
        return []
    nodes = select_first(scores, np.flatnonzero(scores > 0), k)
    return [int(n) for n in nodes[np.round(scores[nodes], SCORE_DECIMALS) > 0]]


def select_first(
    scores: NDArray[np.float64], nodes: NDArray[np.int64], k: int, decimals: int = SCORE_DECIMALS
) -> NDArray[np.int64]:
    """Return the first k of some nodes, shape (at most k,), by descending score.

    Scores are rounded to `decimals`; equal ones are ordered by ascending index. `scores` has shape (n_nodes,). Only
    nodes that may be among the first k are rounded and sorted.

    >>> select_first(np.array([1.0, 2.0, 1.0 + 1e-15, 3.0]), np.array([0, 1, 2]), 2).tolist()
    [1, 0]
    """
    values = scores[nodes]
    if 0 < 4 * k < len(nodes):
        least = np.partition(values, len(nodes) - k)[len(nodes) - k]
        # All values that may round to the number that `least` rounds to, or to a larger one.
        may_be = values >= least - max(ROUNDED_AWAY, 10.0 ** (1 - decimals)) * (1.0 + abs(least))
        nodes, values = nodes[may_be], values[may_be]
    return nodes[np.lexsort((nodes, -np.round(values, decimals)))][:k]


_LARGE_BYTES = 32 << 20


def join_on_disk(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the pieces joined, from a temporary file if they are large.

    The file has no name and goes with the array. Without room for it, the array is in memory.
    """
    if sum(piece.nbytes for piece in pieces) < _LARGE_BYTES:
        return np.concatenate(pieces)
    import tempfile

    try:
        with tempfile.TemporaryFile() as file:
            for piece in pieces:
                file.write(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError:
        return np.concatenate(pieces)
    return np.frombuffer(mapped, dtype=pieces[0].dtype).reshape(-1, *pieces[0].shape[1:])


def empty_on_disk(n: int, dtype: Any) -> NDArray[Any]:
    """Return an array of n numbers to be written, in a temporary file as that of `join_on_disk` if it is large."""
    n_bytes = n * np.dtype(dtype).itemsize
    if n_bytes < _LARGE_BYTES:
        return np.empty(n, dtype=dtype)
    import tempfile

    try:
        with tempfile.TemporaryFile() as file:
            for start in range(0, n_bytes, _LARGE_BYTES):  # a page without room would kill the process later
                file.write(bytes(min(_LARGE_BYTES, n_bytes - start)))
            file.flush()
            return np.frombuffer(mmap.mmap(file.fileno(), 0), dtype=dtype)
    except OSError:
        return np.empty(n, dtype=dtype)


def zeros_on_disk(n: int, dtype: Any) -> NDArray[Any]:
    """Return an array of n zeros, in a temporary file as that of `join_on_disk` if it is large."""
    array = empty_on_disk(n, dtype)
    if array.flags.owndata:
        array[:] = 0
    return array


def insert_on_disk(old: NDArray[Any], cuts: NDArray[np.int64], new: NDArray[Any]) -> NDArray[Any]:
    """Return numbers with new ones, each before one of the old; a large result is on disk as that of `join_on_disk`.

    >>> insert_on_disk(np.array([1, 3]), np.array([1, 2, 2]), np.array([2, 4, 5])).tolist()
    [1, 2, 3, 4, 5]
    """
    at = cuts + np.arange(len(cuts))
    merged = empty_on_disk(len(old) + len(at), old.dtype)
    is_old = np.ones(len(merged), dtype=np.bool_)
    is_old[at] = False
    merged[at] = new
    merged[is_old] = old
    return merged


ENTRIES_AT_ONCE = 500_000  # of a sparse matrix, in arrays that are gone after the next ones


def split_rows(indptr: NDArray[np.int64], n_entries: int | None = None) -> Iterator[slice]:
    """Yield slices of all rows of a CSR matrix, each of rows with few entries together, or of one row.

    >>> list(split_rows(np.array([0, 1, 2, 2, 5]), 2))
    [slice(0, 3, None), slice(3, 4, None)]
    """
    first, n = 0, len(indptr) - 1
    while first < n:
        most = indptr[first] + (ENTRIES_AT_ONCE if n_entries is None else n_entries)
        end = max(first + 1, int(np.searchsorted(indptr, most, side="right")) - 1)
        yield slice(first, end)
        first = end


def transpose_entries(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], values: NDArray[Any] | None, n_columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any] | None]:
    """Return the transpose of a CSR matrix with or without values; a large one is in temporary files."""
    bounds = np.zeros(n_columns + 1, dtype=np.int64)
    parts = [slice(start, start + ENTRIES_AT_ONCE) for start in range(0, len(indices), ENTRIES_AT_ONCE)]
    for part in parts:
        bounds[1:] += np.bincount(indices[part], minlength=n_columns)
    np.cumsum(bounds, out=bounds)
    rows = empty_on_disk(len(indices), np.int32)
    turned = None if values is None else empty_on_disk(len(indices), values.dtype)
    free = bounds[:-1].copy()  # the next place of each column
    for part in parts:
        columns = indices[part]
        # Stable, so that rows ascend within a column. numpy uses a radix sort for small integers.
        order = np.argsort(columns, kind="stable")
        ordered = columns[order]
        is_first = np.ones(len(ordered), dtype=np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
        starts = np.flatnonzero(is_first)
        present, sizes = ordered[starts], np.diff(starts, append=len(ordered))
        place = np.repeat(free[present] - starts, sizes) + np.arange(len(columns))
        first, last = np.searchsorted(indptr, [part.start, part.start + len(columns) - 1], side="right").tolist()
        own = np.clip(indptr[first - 1 : last + 1], part.start, part.start + len(columns))
        rows[place] = np.repeat(np.arange(first - 1, last, dtype=np.int32), np.diff(own))[order]
        if turned is not None and values is not None:
            turned[place] = values[part][order]
        free[present] += sizes
    return bounds, rows, turned


def unique_sorted(values: NDArray[_Integer]) -> NDArray[_Integer]:
    """Return the distinct values of some integers, shape (n,), in ascending order.

    `np.unique` gives the same, but it imports `numpy.ma`, which takes a large part of the time of an answer.

    >>> unique_sorted(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def unique_with_first(values: NDArray[_Integer]) -> tuple[NDArray[_Integer], NDArray[np.int64]]:
    """Return `unique_sorted` of some integers, and the position where each of them comes first, shape (n,).

    >>> [each.tolist() for each in unique_with_first(np.array([3, 1, 3, 1]))]
    [[1, 3], [1, 0]]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first], order[is_first].astype(np.int64)


def chunk_by_size(sizes: Sequence[int], most: int = 1_000_000) -> Iterator[tuple[int, int]]:
    """Yield ranges of items, side by side, each of which has about this size.

    >>> list(chunk_by_size([3, 2, 4, 1], 5))
    [(0, 2), (2, 4)]
    """
    first, total = 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= most or i == len(sizes) - 1:
            yield first, i + 1
            first, total = i + 1, 0
