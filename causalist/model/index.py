"""Everything that answering needs, as it stands in one index file."""

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.graph import CodeGraph
from causalist.model.history import History
from causalist.model.lexical import LexicalIndex
from causalist.model.scores import Transition
from causalist.model.string_table import StringTable


@dataclass(frozen=True, slots=True)
class SecretSpans:
    """Bytes that are never shown: those of file i of the manifest are starts[k] to ends[k] for k in
    indptr[i]:indptr[i + 1], disjoint and in order. They hold for the content that the manifest names."""

    indptr: NDArray[np.int64]  # (n_files + 1,)
    starts: NDArray[np.int64]  # (n_spans,)
    ends: NDArray[np.int64]  # (n_spans,), exclusive

    @classmethod
    def from_spans(cls, spans: Sequence[Sequence[tuple[int, int]]]) -> "SecretSpans":
        """`spans` of each file of the manifest."""
        flat = np.array([span for each in spans for span in each], dtype=np.int64).reshape(-1, 2)
        indptr = np.cumsum([0, *map(len, spans)], dtype=np.int64)
        return cls(indptr=indptr, starts=flat[:, 0].copy(), ends=flat[:, 1].copy())

    def of(self, file: int) -> list[tuple[int, int]]:
        """The spans of a file by its position in the manifest."""
        first, last = int(self.indptr[file]), int(self.indptr[file + 1])
        return list(zip(self.starts[first:last].tolist(), self.ends[first:last].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Manifest:
    """The indexed files, sorted by path, with what is needed to see that one has changed. Shape (n_files,)."""

    paths: StringTable
    blobs: StringTable  # git's object name of the content
    sizes: NDArray[np.int64]  # bytes
    mtimes: NDArray[np.int64]  # nanoseconds; 0 for files of a git tree
    ctimes: NDArray[np.int64]  # nanoseconds; 0 where the system does not say when a file was changed
    secrets: SecretSpans
    # Why a file that was read is not searched (binary, minified), "" for all others: that it stays out can be seen
    # again, which is not a change.
    unfit: StringTable = field(default_factory=lambda: StringTable.from_strings(()))


@dataclass(frozen=True, slots=True)
class FileNote:
    """A diagnostic of one file: `row` is 0-based."""

    path: str
    slug: str
    detail: str
    row: int


@dataclass(frozen=True, slots=True)
class Index:
    """`version` names the program, grammars and weights that made it: another version is rebuilt. `skipped` counts
    files that were left out, by reason, with up to three `examples` each. `scanned_at` is the time in nanoseconds
    before which a file must have been written for its metadata to be trusted. `submodules`: whether repositories inside
    of this one were asked for; a refresh asks for the same."""

    version: str
    commit: str | None
    scanned_at: int
    manifest: Manifest
    graph: CodeGraph
    lexical: LexicalIndex
    transition: Transition
    skipped: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    notes: tuple[FileNote, ...]
    languages: Mapping[str, int]
    submodules: bool = False
    history: History = field(default_factory=History)
