"""Everything that answering needs, as it stands in one index file."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph
from causalist.model.lexical import LexicalIndex
from causalist.model.scores import Transition
from causalist.model.strings import StringTable


@dataclass(frozen=True, slots=True)
class Manifest:
    """The indexed files, sorted by path, with what is needed to see that one has changed. Shape (n_files,)."""

    paths: StringTable
    blobs: StringTable  # git's object name of the content
    sizes: NDArray[np.int64]  # bytes
    mtimes: NDArray[np.int64]  # nanoseconds; 0 for files of a git tree


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
