"""Many strings in two arrays, so that a table of names can be memory-mapped and only what is touched is decoded."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class StringTable:
    """An immutable sequence of strings.

    `blob`: uint8, shape (n_bytes,), the UTF-8 of all strings one after the other.
    `offsets`: int64, shape (n + 1,), string i is `blob[offsets[i]:offsets[i + 1]]`.

    >>> table = StringTable.from_strings(["a", "bc"])
    >>> table[1], len(table), table.position("bc"), table.position("b")
    ('bc', 2, 1, -1)
    """

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> "StringTable":
        encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(b) for b in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def raw(self, i: int) -> bytes:
        """The UTF-8 bytes of string i."""
        return self.blob[self.offsets[i] : self.offsets[i + 1]].tobytes()

    def __getitem__(self, i: int) -> str:
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self.raw(i).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def position(self, string: str) -> int:
        """Index of `string` in a *sorted* table, or -1. Byte order of UTF-8 is code point order."""
        wanted = string.encode("utf-8", "surrogatepass")
        i = self._lower_bound(wanted)
        return i if i < len(self) and self.raw(i) == wanted else -1

    def prefix_range(self, prefix: str) -> range:
        """Positions of the strings that start with `prefix`, in a *sorted* table."""
        wanted = prefix.encode("utf-8", "surrogatepass")
        first = self._lower_bound(wanted)
        low, high = first, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle).startswith(wanted):
                low = middle + 1
            else:
                high = middle
        return range(first, low)

    def _lower_bound(self, wanted: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low
