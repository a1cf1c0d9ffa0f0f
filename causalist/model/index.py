"""The index: words for BM25 and exact mentions, git history, and everything else in one file."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.graph import CodeGraph
from causalist.model.scores import Transition
from causalist.model.string_table import StringTable


@dataclass(frozen=True, slots=True)
class Postings:
    """Documents by term.

    They hold counts rather than weights, so that postings of unchanged files can be reused when the number and length
    of documents have changed.
    """

    indptr: NDArray[np.int32]  # (n_terms + 1,)
    documents: NDArray[np.int32]  # (n_postings,), NodeIndex, ascending within a term
    # (n_postings,), weighted occurrences, at most MAX_COUNT; empty where only the document counts
    counts: NDArray[np.uint16] | NDArray[np.int32]
    norms: NDArray[np.float64]  # (n_nodes,), BM25's K1 * (1 - b + b * length / mean length); empty as `counts` is
    n_documents: int


@dataclass(frozen=True, slots=True)
class LexicalIndex:
    """Lexical index.

    `terms` are sorted. `definitions` holds one document a node, `files` one document a file (all of its text). `paths`
    are the path words of files, with impact idf. `names` are sorted distinct last names of symbols, file names and
    stems in lower case; `name_nodes[name_indptr[i]:name_indptr[i + 1]]` are the nodes of name i.
    """

    terms: StringTable
    definitions: Postings
    files: Postings
    paths: Postings
    symbol_names: Postings
    names: StringTable
    name_indptr: NDArray[np.int32]
    name_nodes: NDArray[np.int32]
    # (n_nodes,), norms of the sums of word vectors; empty if these could not be read
    bag_norms: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    # (n_nodes,), the same of the sums over all nodes of a file, 0 except files
    file_bag_norms: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))


class CommitChange(NamedTuple):
    """One commit against its parent.

    `name` is its hash, `time` that of the committer in seconds. `files` are the paths that it added or modified, under
    their names at that time, sorted; empty if it changed too many to be informative. `renames` are (before, after),
    sorted. `n_files` counts all changed files.
    """

    name: str
    time: int
    message: str
    files: tuple[str, ...]
    renames: tuple[tuple[str, str], ...]
    n_files: int


def _empty_strings() -> StringTable:
    return StringTable.from_strings(())


def _empty_integers() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


def _empty_pointers() -> NDArray[np.int64]:
    return np.zeros(1, dtype=np.int64)


def _empty_postings() -> Postings:
    return Postings(np.zeros(1, dtype=np.int32), _empty_integers(), _empty_integers(), np.zeros(0), 0)


@dataclass(frozen=True, slots=True)
class Commits:
    """Commits as read from git, newest first, independent of the files as they are now.

    `words` are the terms of their messages, one document a commit with files. `head` is the commit from which they were
    found, "" for none. `is_shallow` is True if the repository was a shallow clone, so that older ones may appear.
    """

    names: StringTable = field(default_factory=_empty_strings)  # hashes, (n_commits,)
    times: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # (n_commits,), seconds
    n_files: NDArray[np.int32] = field(
        default_factory=_empty_integers
    )  # (n_commits,), how many files each changed in all
    paths: StringTable = field(default_factory=_empty_strings)  # sorted, unique
    indptr: NDArray[np.int64] = field(
        default_factory=_empty_pointers
    )  # (n_commits + 1,); its files are indptr[i]:indptr[i+1]
    files: NDArray[np.int32] = field(default_factory=_empty_integers)  # index into `paths`
    renamed_in: NDArray[np.int32] = field(default_factory=_empty_integers)  # (n_renames,), the commit, ascending
    before: NDArray[np.int32] = field(default_factory=_empty_integers)  # (n_renames,), index into `paths`
    after: NDArray[np.int32] = field(default_factory=_empty_integers)  # (n_renames,), index into `paths`
    terms: StringTable = field(default_factory=_empty_strings)  # sorted, unique
    words: Postings = field(default_factory=_empty_postings)  # documents are positions of commits
    head: str = ""
    is_shallow: bool = False

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True)
class CoChanges:
    """For each file the files that changed together with it, the strongest first.

    `strengths`, in (0, 1), are the share of the file's changes that changed the other one too; `counts` are the commits
    that changed both.
    """

    indptr: NDArray[np.int64] = field(default_factory=_empty_pointers)  # (n_files + 1,)
    others: NDArray[np.int32] = field(default_factory=_empty_integers)  # position among the files
    strengths: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    counts: NDArray[np.int32] = field(default_factory=_empty_integers)


@dataclass(frozen=True, slots=True)
class History:
    """History of the files as they are now. A *file* here is a position in `paths`, sorted as ids are.

    `messages` are the terms of the messages of all commits that touched a file, one document a file, with the terms of
    `commits.words`; their counts and norms have a unit of their own, which cancels out in BM25.
    """

    commits: Commits = field(default_factory=Commits)
    paths: StringTable = field(default_factory=_empty_strings)  # (n_files,)
    nodes: NDArray[np.int32] = field(default_factory=_empty_integers)  # (n_files,), NodeIndex, ascending
    indptr: NDArray[np.int64] = field(default_factory=_empty_pointers)  # (n_commits + 1,)
    files: NDArray[np.int32] = field(default_factory=_empty_integers)  # what each commit touched, ascending in each
    messages: Postings = field(default_factory=_empty_postings)
    co_changes: CoChanges = field(default_factory=CoChanges)
    churn: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))  # (n_files,), commits, decayed by age
    last: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(0, dtype=np.int64)
    )  # (n_files,), seconds; 0: never

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True)
class SecretSpans:
    """Bytes that are never shown.

    Those of file i of the manifest are starts[k] to ends[k] for k in indptr[i]:indptr[i + 1], disjoint and in order.
    They hold for the content that the manifest names.
    """

    indptr: NDArray[np.int64]  # (n_files + 1,)
    starts: NDArray[np.int64]  # (n_spans,)
    ends: NDArray[np.int64]  # (n_spans,), exclusive

    @classmethod
    def from_spans(cls, spans: Sequence[Sequence[tuple[int, int]]]) -> "SecretSpans":
        """Build the table from the spans of each file of the manifest."""
        flat = np.array([span for each in spans for span in each], dtype=np.int64).reshape(-1, 2)
        indptr = np.cumsum([0, *map(len, spans)], dtype=np.int64)
        return cls(indptr=indptr, starts=flat[:, 0].copy(), ends=flat[:, 1].copy())

    def of(self, file: int) -> list[tuple[int, int]]:
        """Return the spans of a file by its position in the manifest."""
        first, last = int(self.indptr[file]), int(self.indptr[file + 1])
        return list(zip(self.starts[first:last].tolist(), self.ends[first:last].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Manifest:
    """The indexed files, sorted by path, with the metadata that shows changes. Shape (n_files,)."""

    paths: StringTable
    blobs: StringTable  # git's object name of the content
    sizes: NDArray[np.int64]  # bytes
    mtimes: NDArray[np.int64]  # nanoseconds; 0 for files of a git tree
    ctimes: NDArray[np.int64]  # nanoseconds; 0 where the system does not say when a file was changed
    secrets: SecretSpans
    # Why a file that was read is not searched (binary, minified), "" for all others: that it stays out can be seen
    # again, which is not a change.
    unfit: StringTable = field(default_factory=lambda: StringTable.from_strings(()))
    links: StringTable = field(default_factory=lambda: StringTable.from_strings(()))  # path, "\0", where it leads
    # Of files whose paths or attributes say what they are: path, "\0", a `SetAside` or IS_SOURCE.
    marks: StringTable = field(default_factory=lambda: StringTable.from_strings(()))
    # Of all generated and repeated files: path, "\0", the `SetAside`.
    aside: StringTable = field(default_factory=lambda: StringTable.from_strings(()))
    kept: StringTable = field(default_factory=lambda: StringTable.from_strings(()))  # `Scan.kept`


@dataclass(frozen=True, slots=True)
class FileNote:
    """A diagnostic of one file; `row` is 0-based."""

    path: str
    slug: str
    detail: str
    row: int


@dataclass(frozen=True, slots=True)
class Index:
    """Everything needed to answer, in one file.

    `version` identifies the program, grammars and weights that built it: another version is rebuilt. `skipped` counts
    skipped files by reason, with up to three `examples` each. Metadata is trusted for files written before
    `scanned_at`, in nanoseconds. `submodules` is True if nested repositories are indexed; a refresh does the same.
    """

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
