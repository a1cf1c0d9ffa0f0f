"""Names that differ from a wanted one by little.

The optimal string alignment distance (Levenshtein's insertions, deletions and substitutions, and swaps of neighbours)
to all names at once: one step of the dynamic program is an operation on arrays, so that a hundred thousand names take
some hundredths of a second. Distances are in bytes of UTF-8, which for names is nearly always in characters.
"""

import numpy as np
from numpy.typing import NDArray

from causalist.model.string_table import StringTable

# One change for every so many characters is a likely slip of the finger, but no more than this in all.
_LETTERS_A_CHANGE = 3
_MOST_CHANGES = 3
_LONGEST = 64  # bytes of a name that are compared; longer names are never near


def nearest(names: StringTable, wanted: str, limit: int, *, beginnings: bool = False) -> list[int]:
    """Positions of at most `limit` names that are `wanted` after few changes, the nearest first, then by position.

    `beginnings`: also names that begin so; of names equally near, the shorter come first.

    >>> names = StringTable.from_strings(["sign", "verify", "verify_all", "versify"])
    >>> nearest(names, "verfiy", 5), nearest(names, "verfiy", 5, beginnings=True)
    ([1, 3], [1, 2, 3])
    """
    encoded = wanted.encode("utf-8", "surrogatepass")
    allowed = min(_MOST_CHANGES, len(encoded) // _LETTERS_A_CHANGE)
    if not 0 < len(encoded) <= _LONGEST or allowed < 1:
        return []
    lengths = np.diff(names.offsets)
    fits = (lengths >= max(1, len(encoded) - allowed)) & (beginnings | (lengths <= len(encoded) + allowed))
    near_in_length = np.flatnonzero(fits)
    if not len(near_in_length):
        return []
    # What stands behind this many bytes can bring no beginning nearer.
    rows = _distances(names, near_in_length, encoded, len(encoded) + allowed)
    ends = np.minimum(lengths[near_in_length], rows.shape[1] - 1)
    if beginnings:
        distances = np.where(np.arange(rows.shape[1]) <= ends[:, None], rows, len(encoded) + allowed).min(axis=1)
    else:
        distances = rows[np.arange(len(rows)), ends]
    order = np.lexsort((near_in_length, lengths[near_in_length] if beginnings else near_in_length, distances))
    return [int(near_in_length[i]) for i in order[:limit] if distances[i] <= allowed]


def _distances(names: StringTable, positions: NDArray[np.int64], wanted: bytes, longest: int) -> NDArray[np.int16]:
    """Shape (len(positions), w + 1): changes between `wanted` and the first j bytes of each name, in column j up to
    the name's length or `longest`."""
    lengths = np.diff(names.offsets)[positions]
    width = min(longest, int(lengths.max()))
    columns = np.arange(width)
    places = names.offsets[positions, None] + columns
    # Behind the end of a name stands what no byte of UTF-8 is.
    letters = np.where(
        columns < lengths[:, None], names.blob[np.minimum(places, len(names.blob) - 1)].astype(np.int16), -1
    )
    before = np.zeros((len(positions), width + 1), dtype=np.int16)  # the row above the row above
    last = np.broadcast_to(np.arange(width + 1, dtype=np.int16), before.shape).copy()
    for i, byte in enumerate(wanted, start=1):
        row = np.empty_like(last)
        row[:, 0] = i
        same = letters == byte
        for j in range(1, width + 1):
            best = np.minimum(np.minimum(last[:, j], row[:, j - 1]) + 1, last[:, j - 1] + ~same[:, j - 1])
            if i > 1 and j > 1:
                swapped = (letters[:, j - 2] == byte) & (letters[:, j - 1] == wanted[i - 2])
                best = np.where(swapped, np.minimum(best, before[:, j - 2] + 1), best)
            row[:, j] = best
        before, last = last, row
    return last
