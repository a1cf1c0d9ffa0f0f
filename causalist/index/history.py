"""Git's history -> the part of the index that knows it.

What commits say is kept by their names, so that a refresh reads only those that are new. A repository without git, or
without a commit, has an empty history.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.index.changing import changes_of, co_changes, touched_files
from causalist.model.history import Change, Commits, History
from causalist.model.string_table import StringTable
from causalist.parse import find_secrets, masked, texts_to_look_at
from causalist.rank import merge_commits, message_postings
from causalist.source import ancestry, is_shallow, read_changes


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
