"""Git history of the indexed files: which commit touched which file, and which files change together.

Two files of one commit are related, the more the fewer files the commit changes:

    shared_ij   = sum of decay / (files - 1)   over the commits that changed i and j
    changes_i   = sum of decay                 over the commits that changed i
    strength_ij = shared_ij / (changes_i + SHRINKAGE)

with decay = 0.5 ** (age / HALF_LIFE_DAYS). The age counts from the first commit: HEAD, or the newest that it merged.
The strength is conditional on file i, so a file that every commit changes (a changelog) is close to none. Shrinkage
keeps a file with a single commit from certainty.

Commits are stored by name, so that a refresh reads only new ones. A repository without git or commits has an empty
history.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted
from causalist.model.index import CoChanges, CommitChange, Commits, History
from causalist.model.string_table import StringTable
from causalist.parse import find_candidate_texts, find_secrets, mask_secrets
from causalist.rank import merge_commits, message_postings
from causalist.source import MAX_COMMITS, is_shallow, list_ancestors, read_changes

# Of 90, 180, 365, 730 days and none, the best at foretelling the rest of a commit from one of its files
# (`python -m tests.benchmarks.history --partners`). So is this strength beside a cosine and pointwise information.
HALF_LIFE_DAYS = 365.0
SHRINKAGE = 2.0  # chosen by hand; it does not change the order of a file's partners
MAX_PARTNERS = 20  # of a file; what is further down has next to no strength
_DAY = 86_400.0


def touched_files(commits: Commits, paths: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return (indptr, files): commit i touched `files[indptr[i]:indptr[i + 1]]`.

    Files are positions in `paths`, ascending. A file is followed through renames. Paths that no file has now are left
    out.
    """
    here = {path: i for i, path in enumerate(paths)}
    node_of_path = np.array([here.get(path, -1) for path in commits.paths], dtype=np.int32)
    # By now a rename tells what an older name means. Newest first, so that later names are known already.
    parts: list[NDArray[np.int32]] = []
    first = 0
    for commit in [*unique_sorted(commits.renamed_in).tolist(), len(commits)]:
        # This commit's files have their new names.
        last = min(commit + 1, len(commits))
        parts.append(node_of_path[commits.files[commits.indptr[first] : commits.indptr[last]]])
        first = last
        if commit < len(commits):
            inside = commits.renamed_in == commit
            node_of_path[commits.before[inside]] = node_of_path[commits.after[inside]]
    flat = np.concatenate(parts)
    owners = np.repeat(np.arange(len(commits), dtype=np.int64), np.diff(commits.indptr))
    kept = flat >= 0
    pairs = unique_sorted(owners[kept] * max(len(paths), 1) + flat[kept])
    counts = np.bincount(pairs // max(len(paths), 1), minlength=len(commits))
    indptr = np.zeros(len(commits) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    return indptr, (pairs % max(len(paths), 1)).astype(np.int32)


def compute_decay(commits: Commits) -> NDArray[np.float64]:
    """Return the weight of each commit by its age, shape (n_commits,), in (0, 1]."""
    if not len(commits):
        return np.zeros(0)
    days = np.maximum(commits.times[0] - commits.times, 0) / _DAY
    result: NDArray[np.float64] = np.exp2(-days / HALF_LIFE_DAYS)
    return result


def sum_changes(
    commits: Commits, indptr: NDArray[np.int64], files: NDArray[np.int32], n_files: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return (decayed number of commits, time of the last commit) of each file, each of shape (n_files,)."""
    owners = np.repeat(np.arange(len(commits)), np.diff(indptr))
    churn = np.bincount(files, weights=compute_decay(commits)[owners], minlength=n_files).astype(np.float64)
    last = np.zeros(n_files, dtype=np.int64)
    np.maximum.at(last, files, commits.times[owners])
    return churn, last


def find_co_changes(
    commits: Commits, indptr: NDArray[np.int64], files: NDArray[np.int32], churn: NDArray[np.float64]
) -> CoChanges:
    """Return the partners of each file by the formula of this module.

    `indptr` and `files` are those of `touched_files`.
    """
    n = len(churn)
    first, second, owners = _list_pairs(indptr, files)
    if not len(first):
        return CoChanges(indptr=np.zeros(n + 1, dtype=np.int64))
    weight = compute_decay(commits) / np.maximum(commits.n_files - 1, 1)
    keys, pair_index, counts = np.unique(first * n + second, return_inverse=True, return_counts=True)
    shared = np.bincount(pair_index.ravel(), weights=weight[owners], minlength=len(keys))
    rows, others = keys // n, keys % n
    strengths = shared / (churn[rows] + SHRINKAGE)
    order = np.lexsort((others, -strengths, rows))
    rows, others, strengths, counts = rows[order], others[order], strengths[order], counts[order]
    starts = np.searchsorted(rows, np.arange(n))
    kept = np.arange(len(rows)) - starts[rows] < MAX_PARTNERS
    pointers = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows[kept], minlength=n), out=pointers[1:])
    return CoChanges(pointers, others[kept].astype(np.int32), strengths[kept], counts[kept].astype(np.int32))


def _list_pairs(
    indptr: NDArray[np.int64], files: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(file, another file, commit) for every ordered pair of files that a commit touched."""
    sizes = np.diff(indptr)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    repeats = sizes[owners]
    first = np.repeat(files, repeats).astype(np.int64)
    commits = np.repeat(owners, repeats)
    within = np.arange(len(first)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    second = files[indptr[commits] + within].astype(np.int64)
    differ = first != second
    return first[differ], second[differ], commits[differ]


def read_commits(root: Path, commit: str | None, stored: Commits, most: int = MAX_COMMITS) -> Commits:
    """Return the `most` newest commits behind `commit`; those in `stored` are not read again.

    For a folder inside a work tree, only changes in that folder count. Raises GitError.
    """
    if commit is None:
        return Commits()
    if stored.head == commit and not stored.is_shallow and not is_shallow(root):
        return stored
    names = list_ancestors(root, commit, most)
    there = frozenset(stored.names)
    fresh = read_changes(root, [name for name in names if name not in there])
    merged = merge_commits(names, stored, _without_secrets(fresh))
    return replace(merged, head=commit, is_shallow=is_shallow(root))


def build_history(commits: Commits, paths: Sequence[str], nodes: NDArray[np.int32], previous: History) -> History:
    """Return the history of the files `paths`, whose nodes are `nodes`.

    `previous` is an earlier history. Parts that still hold are reused; the result is the same without it.
    """
    order = np.argsort(nodes)
    nodes, paths = nodes[order], [paths[i] for i in order.tolist()]
    table = StringTable.from_strings(paths)
    if commits is previous.commits and table.same_as(previous.paths):
        return replace(previous, nodes=nodes)
    indptr, files = touched_files(commits, paths)
    churn, last = sum_changes(commits, indptr, files, len(paths))
    return History(
        commits=commits,
        paths=table,
        nodes=nodes,
        indptr=indptr,
        files=files,
        messages=message_postings(commits, indptr, files, len(paths)),
        co_changes=find_co_changes(commits, indptr, files, churn),
        churn=churn,
        last=last,
    )


def _without_secrets(changes: Iterable[CommitChange]) -> Iterator[CommitChange]:
    """Yield the commits with secrets in their messages masked.

    Each message is masked by itself: what is stored of a commit may not depend on the others read with it.
    """
    changes = list(changes)
    texts = [change.message.encode() for change in changes]
    for i in find_candidate_texts(texts):
        spans = find_secrets(texts[i])
        if spans:
            changes[i] = changes[i]._replace(message=mask_secrets(texts[i], spans).decode("utf-8", "replace"))
    yield from changes
