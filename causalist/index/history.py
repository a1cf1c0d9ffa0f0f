"""Commits and the files as they are now -> which commit touched which file, and which files change together.

Two files that one commit changes have something to do with each other, all the more the fewer others it changes:

    shared_ij   = sum of decay / (files - 1)   over the commits that changed i and j
    changes_i   = sum of decay                 over the commits that changed i
    strength_ij = shared_ij / (changes_i + SHRINKAGE)

with decay = 0.5 ** (age / HALF_LIFE_DAYS), the age counted from the first of the commits: HEAD, or the newest that it
merged. The condition is the file that one looks at, so that a file which every commit changes (a changelog) is near to
none of them; the shrinkage keeps a file with a single commit from being sure of anything.

Git's history -> the part of the index that knows it.

What commits say is kept by their names, so that a refresh reads only those that are new. A repository without git, or
without a commit, has an empty history.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.model.index import Change, CoChanges, Commits, History
from causalist.model.string_table import StringTable
from causalist.parse import find_secrets, masked, texts_to_look_at
from causalist.rank import merge_commits, message_postings
from causalist.source import ancestry, is_shallow, read_changes

# Of 90, 180, 365, 730 days and none, the best at foretelling the rest of a commit from one of its files
# (`python -m tests.benchmarks.history --partners`). So is this strength beside a cosine and pointwise information.
HALF_LIFE_DAYS = 365.0
SHRINKAGE = 2.0  # chosen by hand; it does not change the order of a file's partners
MOST_PARTNERS = 20  # of a file; what is further down has next to no strength
_DAY = 86_400.0


def touched_files(commits: Commits, paths: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(indptr, files): commit i touched the files `files[indptr[i]:indptr[i + 1]]`, positions in `paths`, ascending.

    A file is followed to the names that it had before. Paths that no file has now are left out.
    """
    here = {path: i for i, path in enumerate(paths)}
    place = np.array([here.get(path, -1) for path in commits.paths], dtype=np.int32)
    # By now a rename tells what an older name means. Newest first, so that later names are known already.
    parts: list[NDArray[np.int32]] = []
    first = 0
    for commit in [*np.unique(commits.renamed_in).tolist(), len(commits)]:
        # This commit's files have their new names.
        last = min(commit + 1, len(commits))
        parts.append(place[commits.files[commits.indptr[first] : commits.indptr[last]]])
        first = last
        if commit < len(commits):
            inside = commits.renamed_in == commit
            place[commits.before[inside]] = place[commits.after[inside]]
    flat = np.concatenate(parts)
    owners = np.repeat(np.arange(len(commits), dtype=np.int64), np.diff(commits.indptr))
    kept = flat >= 0
    pairs = np.unique(owners[kept] * max(len(paths), 1) + flat[kept])
    counts = np.bincount(pairs // max(len(paths), 1), minlength=len(commits))
    indptr = np.zeros(len(commits) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    return indptr, (pairs % max(len(paths), 1)).astype(np.int32)


def decay(commits: Commits) -> NDArray[np.float64]:
    """What a commit counts by its age, (n_commits,), in (0, 1]."""
    if not len(commits):
        return np.zeros(0)
    days = np.maximum(commits.times[0] - commits.times, 0) / _DAY
    result: NDArray[np.float64] = np.exp2(-days / HALF_LIFE_DAYS)
    return result


def changes_of(
    commits: Commits, indptr: NDArray[np.int64], files: NDArray[np.int32], n_files: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(how many commits touched each file, decayed by age; the time of the last one), each (n_files,)."""
    owners = np.repeat(np.arange(len(commits)), np.diff(indptr))
    churn = np.bincount(files, weights=decay(commits)[owners], minlength=n_files).astype(np.float64)
    last = np.zeros(n_files, dtype=np.int64)
    np.maximum.at(last, files, commits.times[owners])
    return churn, last


def co_changes(
    commits: Commits, indptr: NDArray[np.int64], files: NDArray[np.int32], churn: NDArray[np.float64]
) -> CoChanges:
    """The partners of each file, by the formula above; `indptr` and `files` as `touched_files` gives them."""
    n = len(churn)
    first, second, owners = _pairs(indptr, files)
    if not len(first):
        return CoChanges(indptr=np.zeros(n + 1, dtype=np.int64))
    weight = decay(commits) / np.maximum(commits.n_files - 1, 1)
    keys, place, counts = np.unique(first * n + second, return_inverse=True, return_counts=True)
    shared = np.bincount(place.ravel(), weights=weight[owners], minlength=len(keys))
    rows, others = keys // n, keys % n
    strengths = shared / (churn[rows] + SHRINKAGE)
    order = np.lexsort((others, -strengths, rows))
    rows, others, strengths, counts = rows[order], others[order], strengths[order], counts[order]
    starts = np.searchsorted(rows, np.arange(n))
    kept = np.arange(len(rows)) - starts[rows] < MOST_PARTNERS
    pointers = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows[kept], minlength=n), out=pointers[1:])
    return CoChanges(pointers, others[kept].astype(np.int32), strengths[kept], counts[kept].astype(np.int32))


def _pairs(
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


def commits_behind(root: Path, commit: str | None, known: Commits) -> Commits:
    """The commits behind `commit`, of which those in `known` are not read again. Raises GitError.

    Of a folder inside of a work tree only what happened in it.
    """
    if commit is None:
        return Commits()
    if known.head == commit and not known.is_shallow and not is_shallow(root):
        return known
    names = ancestry(root, commit)
    there = frozenset(known.names)
    fresh = read_changes(root, [name for name in names if name not in there])
    merged = merge_commits(names, known, _without_secrets(fresh))
    return replace(merged, head=commit, is_shallow=is_shallow(root))


def history_of(commits: Commits, paths: Sequence[str], nodes: NDArray[np.int32], previous: History) -> History:
    """The history of the files `paths`, whose nodes are `nodes`. `previous`: that of an earlier state, of which what
    still holds is taken over; it changes nothing."""
    order = np.argsort(nodes)
    nodes, paths = nodes[order], [paths[i] for i in order.tolist()]
    table = StringTable.from_strings(paths)
    if commits is previous.commits and table.same_as(previous.paths):
        return replace(previous, nodes=nodes)
    indptr, files = touched_files(commits, paths)
    churn, last = changes_of(commits, indptr, files, len(paths))
    return History(
        commits=commits,
        paths=table,
        nodes=nodes,
        indptr=indptr,
        files=files,
        messages=message_postings(commits, indptr, files, len(paths)),
        co_changes=co_changes(commits, indptr, files, churn),
        churn=churn,
        last=last,
    )


def _without_secrets(changes: Iterable[Change]) -> Iterator[Change]:
    """Each message by itself: what is kept of a commit may not depend on which others are read with it."""
    changes = list(changes)
    texts = [change.message.encode() for change in changes]
    for i in texts_to_look_at(texts):
        spans = find_secrets(texts[i])
        if spans:
            changes[i] = changes[i]._replace(message=masked(texts[i], spans).decode("utf-8", "replace"))
    yield from changes
