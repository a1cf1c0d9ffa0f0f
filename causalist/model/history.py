"""What git knows of a repository's past: commits as they are read, and as the arrays that answers use."""

from dataclasses import field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.lexical import Postings
from causalist.model.string_table import StringTable


class Change(NamedTuple):
    """One commit against its parent.

    `name` is its hash, `time` that of the committer in seconds. `files` are the paths that it added or modified, as
    they were called then, sorted; empty where it changed so many that none of them says anything. `renames` are
    (before, after), sorted. `n_files` counts everything that it changed."""

    name: str
    time: int
    message: str
    files: tuple[str, ...]
    renames: tuple[tuple[str, str], ...]
    n_files: int


def _none() -> StringTable:
    return StringTable.from_strings(())


def _integers() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


def _pointers() -> NDArray[np.int64]:
    return np.zeros(1, dtype=np.int64)


def _postings() -> Postings:
    return Postings(_pointers(), _integers(), _integers(), np.zeros(0), 0)


@dataclass(frozen=True, slots=True)
class Commits:
    """What was read of commits, newest first: everything here depends on the commits alone, and not on the files as
    they are now. `words` are the terms of their messages, one document a commit, of those commits that have files.
    `head` is the commit from which they were found, "" for none; `is_shallow`: the repository was cut off there, so
    that others may join."""

    names: StringTable = field(default_factory=_none)  # hashes, (n_commits,)
    times: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # (n_commits,), seconds
    n_files: NDArray[np.int32] = field(default_factory=_integers)  # (n_commits,), how many files each changed in all
    paths: StringTable = field(default_factory=_none)  # sorted, unique
    indptr: NDArray[np.int64] = field(
        default_factory=_pointers
    )  # (n_commits + 1,); its files are indptr[i]:indptr[i+1]
    files: NDArray[np.int32] = field(default_factory=_integers)  # index into `paths`
    renamed_in: NDArray[np.int32] = field(default_factory=_integers)  # (n_renames,), the commit, ascending
    before: NDArray[np.int32] = field(default_factory=_integers)  # (n_renames,), index into `paths`
    after: NDArray[np.int32] = field(default_factory=_integers)  # (n_renames,), index into `paths`
    terms: StringTable = field(default_factory=_none)  # sorted, unique
    words: Postings = field(default_factory=_postings)  # documents are positions of commits
    head: str = ""
    is_shallow: bool = False

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True)
class CoChanges:
    """For each file those that changed together with it, the strongest first.

    `strengths`, in (0, 1), say how much of what was done to the file concerned the other one too; `counts` are the
    commits that changed both."""

    indptr: NDArray[np.int64] = field(default_factory=_pointers)  # (n_files + 1,)
    others: NDArray[np.int32] = field(default_factory=_integers)  # position among the files
    strengths: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    counts: NDArray[np.int32] = field(default_factory=_integers)


@dataclass(frozen=True, slots=True)
class History:
    """The past of the files as they are now. A *file* here is a position in `paths`, which are sorted as
    ids are.

    `messages` are the terms of the messages of all commits that touched a file, one document a file, with the same
    terms as `commits.words`; their counts and norms are in a unit of their own, which cancels out in BM25."""

    commits: Commits = field(default_factory=Commits)
    paths: StringTable = field(default_factory=_none)  # (n_files,)
    nodes: NDArray[np.int32] = field(default_factory=_integers)  # (n_files,), NodeIndex, ascending
    indptr: NDArray[np.int64] = field(default_factory=_pointers)  # (n_commits + 1,)
    files: NDArray[np.int32] = field(default_factory=_integers)  # what each commit touched, ascending in each
    messages: Postings = field(default_factory=_postings)
    co_changes: CoChanges = field(default_factory=CoChanges)
    churn: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))  # (n_files,), commits, decayed by age
    last: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(0, dtype=np.int64)
    )  # (n_files,), seconds; 0: never

    def __len__(self) -> int:
        return len(self.nodes)
