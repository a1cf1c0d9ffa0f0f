"""Protocols between stages and the pipeline: the steps of an answer, and embedders.

A stage reports which step begins and how much it found, and which steps are optional; the pipeline times them and
handles failures. So stages take a `Steps` and neither catch errors nor read a clock. A step is called `stage.step`, as
in `candidates.words`. Which model an embedder uses, and what leaves the machine, is its user's decision.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from math import inf
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

# In the order in which an answer is made; candidates and distil take turns, because the walk starts from what is fused.
STAGES = ("route", "candidates", "validate", "distil", "assemble", "deliver")


class Step(StrEnum):
    """Steps of an answer, by stage. JSON and diagnostics show the values."""

    ROUTE_CACHE = "route.cache"
    ROUTE_READING = "route.reading"
    CANDIDATES_TERMS = "candidates.terms"
    CANDIDATES_LITERALS = "candidates.literals"
    CANDIDATES_WORDS = "candidates.words"
    CANDIDATES_FILES = "candidates.files"
    CANDIDATES_TESTS = "candidates.tests"
    CANDIDATES_NAMES = "candidates.names"
    CANDIDATES_MENTIONS = "candidates.mentions"
    CANDIDATES_FRAMES = "candidates.frames"
    CANDIDATES_SYNONYMS = "candidates.synonyms"
    CANDIDATES_DENSE = "candidates.dense"
    CANDIDATES_SEMANTIC = "candidates.semantic"
    CANDIDATES_HISTORY = "candidates.history"
    CANDIDATES_GRAPH = "candidates.graph"
    CANDIDATES_PAGERANK = "candidates.pagerank"
    CANDIDATES_PLACES = "candidates.places"
    VALIDATE_FILTERS = "validate.filters"
    VALIDATE_ROLES = "validate.roles"
    VALIDATE_SCOPE = "validate.scope"
    DISTIL_SUM = "distil.sum"
    DISTIL_WEIGHTS = "distil.weights"
    ASSEMBLE_ATTRIBUTION = "assemble.attribution"
    ASSEMBLE_CONFLICTS = "assemble.conflicts"
    ASSEMBLE_DUPLICATES = "assemble.duplicates"
    ASSEMBLE_EXTRACTION = "assemble.extraction"
    ASSEMBLE_ORDER = "assemble.order"
    ASSEMBLE_PATHS = "assemble.paths"
    ASSEMBLE_PLACES = "assemble.places"
    ASSEMBLE_REASONS = "assemble.reasons"
    DELIVER_CONFIDENCE = "deliver.confidence"
    DELIVER_PACKING = "deliver.packing"
    DELIVER_REMEMBERING = "deliver.remembering"
    DELIVER_TEXTS = "deliver.texts"


_T = TypeVar("_T")


class Steps(Protocol):
    """Runner of the steps of one answer."""

    def timed(self, name: Step) -> AbstractContextManager[None]:
        """Time a required step."""

    def optional(self, name: Step, work: Callable[[], _T], without: Callable[[], _T]) -> _T:
        """Run `work`, timed; return `without()` if the step is skipped."""

    def record_count(self, name: str, n: int) -> None:
        """Record how many candidates a step found."""

    def take_found(self) -> Mapping[str, int]:
        """Return the numbers recorded since the last call, by step."""

    def seconds_left(self) -> float:
        """Return the seconds until optional work is left out; infinite without a deadline."""

    def in_time(self) -> bool:
        """Return True if there is time left."""

    def leave_out(self, what: str) -> None:
        """Record that something was left out for lack of time."""


class NoSteps:
    """Steps without timing, deadline or error handling, for stages used alone."""

    def timed(self, name: Step) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()

    def optional(self, name: Step, work: Callable[[], _T], without: Callable[[], _T]) -> _T:
        """Run `work`."""
        return work()

    def record_count(self, name: str, n: int) -> None:
        """Ignore the number."""
        return

    def take_found(self) -> Mapping[str, int]:
        """Return no numbers."""
        return {}

    def seconds_left(self) -> float:
        """Return infinity."""
        return inf

    def in_time(self) -> bool:
        """Return True."""
        return True

    def leave_out(self, what: str) -> None:
        """Ignore it."""
        return


NO_STEPS: Steps = NoSteps()


@runtime_checkable
class Embedder(Protocol):
    """Texts -> vectors of one length; texts of the same meaning have a high cosine.

    `name` identifies the model and, if known, its version: vectors are stored under it. `local` promises that no text
    leaves the machine. The same text has the same vector in any batch.
    """

    @property
    def name(self) -> str:
        """Name and version of the model."""
        ...

    @property
    def local(self) -> bool:
        """True if no text leaves the machine."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of n texts, shape (n, d), of any norm."""
        ...
