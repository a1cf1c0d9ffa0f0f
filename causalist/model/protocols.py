"""What a stage tells whoever runs it: which step begins, how much it found, what may fail without the answer failing.

A stage knows its steps; the pipeline knows what to do about them. So stages take a `Steps` and neither catch errors nor
look at a clock. A step is called `stage.step`, as in `candidates.words`.

What turns texts into vectors. Which model stands behind it, and what leaves the machine, is its user's decision.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import inf
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

# In the order in which an answer is made; candidates and distil take turns, because the walk starts from what is fused.
STAGES = ("route", "candidates", "validate", "distil", "assemble", "deliver")

_T = TypeVar("_T")


class Steps(Protocol):
    """Who runs the steps of one answer."""

    def timed(self, name: str) -> AbstractContextManager[None]:
        """A step that has to be, timed."""

    def optional(self, name: str, work: Callable[[], _T], without: Callable[[], _T]) -> _T:
        """What `work` gives, timed, or what `without` gives where the step is skipped."""

    def found(self, name: str, n: int) -> None:
        """How many candidates a step found."""

    def take_found(self) -> Mapping[str, int]:
        """What was found since this was asked last, by step."""

    def left(self) -> float:
        """Seconds until what can be left out is left out; infinite where there is no hurry."""

    def in_time(self) -> bool:
        """Whether there are any left."""

    def leave_out(self, what: str) -> None:
        """Told of what was left out because time was up."""


class Unwatched:
    """Runs everything, and everything that goes wrong goes its way: for stages by themselves."""

    def timed(self, name: str) -> AbstractContextManager[None]:
        return nullcontext()

    def optional(self, name: str, work: Callable[[], _T], without: Callable[[], _T]) -> _T:
        return work()

    def found(self, name: str, n: int) -> None:
        return None

    def take_found(self) -> Mapping[str, int]:
        return {}

    def left(self) -> float:
        return inf

    def in_time(self) -> bool:
        return True

    def leave_out(self, what: str) -> None:
        return None


UNWATCHED: Steps = Unwatched()


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
