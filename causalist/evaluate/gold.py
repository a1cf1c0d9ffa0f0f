"""A commit that answered a question -> the definitions that were the right ones, in the state before it.

History says which rows a change touched; the innermost definition around each of them is what had to be found. Where a
change touched many definitions, none of them is *the* answer, and only its files are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from causalist.errors import GitError
from causalist.model.graph import CodeGraph
from causalist.model.symbols import NodeKind, file_id
from causalist.source.git import Running, locate

# What can be the answer to a question by itself.
DEFINITION_KINDS = (
    NodeKind.FUNCTION,
    NodeKind.METHOD,
    NodeKind.CLASS,
    NodeKind.STRUCT,
    NodeKind.INTERFACE,
    NodeKind.TRAIT,
    NodeKind.ENUM,
    NodeKind.TYPE,
    NodeKind.CONSTANT,
    NodeKind.MACRO,
)
MOST_DEFINITIONS = 6  # of one question; more than these name a region, not an answer
_MOST_ROWS = 60  # of a hunk that are looked at

_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

Hunk = tuple[int, int]  # first row, number of rows; 0-based, and 0 rows where lines were added behind the row


def children_of(git_dir: Path) -> Mapping[str, tuple[str, ...]]:
    """The children of every commit that any branch or tag leads to. Raises GitError."""
    done = Running(locate(git_dir), "rev-list", "--all", "--children").finish().accepted()
    rows = (line.split() for line in done.output.decode("ascii").splitlines())
    return {parent: tuple(children) for parent, *children in rows}


def answering_commit(git_dir: Path, base: str, candidates: Sequence[str], files: Sequence[str]) -> str | None:
    """The one of `candidates`, children of `base`, that changed all of `files` and the fewest others; None without
    any. Raises GitError."""
    found: list[tuple[int, str]] = []
    for commit in candidates:
        changed = _changed_files(git_dir, base, commit)
        if changed.issuperset(files):
            found.append((len(changed), commit))
    return min(found)[1] if found else None


def changed_definitions(git_dir: Path, base: str, answer: str, graph: CodeGraph, files: Sequence[str]) -> list[str]:
    """Ids of the innermost definitions of the state `base`, which `graph` is of, whose rows `answer` changed in
    `files`, sorted. Raises GitError."""
    found = {node for path in files for node in _around(graph, path, list(_hunks(_patch(git_dir, base, answer, path))))}
    return sorted(graph.nodes.ids[node] for node in found)


def changed_between(
    git_dir: Path, base: str, before: str, answer: str, graph: CodeGraph, files: Sequence[str]
) -> list[str]:
    """As `changed_definitions`, where the answer changed the state `before`, which came after `base`: each of its rows
    is followed back to the state that `graph` is of. Rows that were written in between belong to nothing. Raises
    GitError."""
    found: set[int] = set()
    for path in files:
        since = list(_changes(_patch(git_dir, base, before, path)))
        found.update(_around(graph, path, list(_before(_hunks(_patch(git_dir, before, answer, path)), since))))
    return sorted(graph.nodes.ids[node] for node in found)


def _before(hunks: Iterable[Hunk], since: Sequence[tuple[Hunk, Hunk]]) -> Iterator[Hunk]:
    """`hunks` by the rows of a state before the changes `since`, row by row.

    >>> list(_before([(0, 1), (3, 1), (8, 1), (9, 0)], [((2, 1), (2, 4))]))
    [(0, 1), (5, 1), (6, 0)]
    """
    for first, n_rows in hunks:
        for row in range(first, first + min(max(n_rows, 1), _MOST_ROWS)):
            origin = _origin(row, since)
            if origin is not None:
                yield origin, 1 if n_rows else 0


def _origin(row: int, since: Sequence[tuple[Hunk, Hunk]]) -> int | None:
    """Where a row stood before changes, (the old rows, the new ones) from the top; None if they wrote it."""
    moved = 0
    for old, new in since:
        if row < new[0]:
            break
        if row < new[0] + new[1]:
            return None
        moved = old[0] + old[1] - new[0] - new[1]
    return row + moved


def _changed_files(git_dir: Path, base: str, commit: str) -> set[str]:
    done = Running(locate(git_dir), "diff-tree", "-r", "-z", "--name-only", "--no-renames", base, commit, "--").finish()
    return {name.decode("utf-8", "replace") for name in done.accepted().output.split(b"\0") if name}


def _patch(git_dir: Path, base: str, answer: str, path: str) -> bytes:
    options = ("-r", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index")
    command = ("--literal-pathspecs", "diff-tree", *options, base, answer, "--", path)
    done = Running(locate(git_dir), *command).finish()
    if done.code:
        raise GitError(f"git diff-tree failed: {done.messages}")
    return done.output


def _hunks(patch: bytes) -> Iterator[Hunk]:
    """The rows of the old state that each hunk of a patch without context takes the place of.

    >>> list(_hunks(b"@@ -3 +3 @@ f\\n-a\\n+b\\n@@ -7,2 +7,0 @@\\n-c\\n-d\\n@@ -9,0 +8 @@\\n+e\\n"))
    [(2, 1), (6, 2), (8, 0)]
    """
    for match in _HUNK.finditer(patch):
        n_rows = 1 if match[2] is None else int(match[2])
        yield int(match[1]) - 1, n_rows


def _changes(patch: bytes) -> Iterator[tuple[Hunk, Hunk]]:
    """The old rows and the new ones of each hunk of a patch without context; no rows stand before those that follow.

    >>> list(_changes(b"@@ -3 +3,2 @@ f\\n-a\\n+b\\n+c\\n@@ -7,2 +8,0 @@\\n-c\\n-d\\n"))
    [((2, 1), (2, 2)), ((6, 2), (8, 0))]
    """
    for match in _HUNK.finditer(patch):
        sides = []
        for start, n in ((match[1], match[2]), (match[3], match[4])):
            n_rows = 1 if n is None else int(n)
            sides.append((int(start) - (1 if n_rows else 0), n_rows))
        yield sides[0], sides[1]


def _around(graph: CodeGraph, path: str, hunks: Sequence[Hunk]) -> set[int]:
    """The innermost definitions of a file around the rows of hunks. What was added behind the last row of a definition
    does not belong to it."""
    nodes = graph.nodes
    file = nodes.ids.position(file_id(path))
    if file < 0:
        return set()
    inside = np.flatnonzero((nodes.files == file) & np.isin(nodes.kinds, DEFINITION_KINDS))
    starts, ends, order = nodes.start_rows[inside], nodes.end_rows[inside], nodes.start_bytes[inside]
    found: set[int] = set()
    for first, n_rows in hunks:
        for row in range(first, first + min(max(n_rows, 1), _MOST_ROWS)):
            around = np.flatnonzero((starts <= row) & ((ends >= row) if n_rows else (ends > row)))
            if len(around):
                found.add(int(inside[around[np.argmax(order[around])]]))
    return found
