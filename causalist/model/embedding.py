"""What turns texts into vectors. Which model stands behind it, and what leaves the machine, is its user's decision."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """Texts -> vectors of one length, so that texts which mean the same have a high cosine.

    `name` says which model it is, and in which version, as far as that is known: vectors are kept under it. `local`
    promises that no text leaves the machine. The same text has the same vector, whatever stands beside it.
    """

    @property
    def name(self) -> str: ...

    @property
    def local(self) -> bool: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (n, d), n texts, of any norm."""
        ...
