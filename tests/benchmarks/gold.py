"""Gold definitions of a question: the commit that answered it, and the definitions that this commit changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from causalist.evaluate.mining import _HUNK, _MAX_HUNK_ROWS, Hunk, _around, read_hunks, read_patch
from causalist.model.graph import CodeGraph
from causalist.source.git import RunningGit, git_arguments


def children_of(git_dir: Path) -> Mapping[str, tuple[str, ...]]:
    """Return the children of every commit reachable from any branch or tag, by commit.

    Raises GitError.
    """
    done = RunningGit(git_arguments(git_dir), "rev-list", "--all", "--children").finish().check()
    rows = (line.split() for line in done.output.decode("ascii").splitlines())
    return {parent: tuple(children) for parent, *children in rows}


def find_answering_commit(git_dir: Path, base: str, candidates: Sequence[str], files: Sequence[str]) -> str | None:
    """Return the one of `candidates`, children of `base`, that changed all of `files` and the fewest others.

    Returns None if no candidate changed all of them. Raises GitError.
    """
    commits: list[tuple[int, str]] = []
    for commit in candidates:
        changed = _changed_files(git_dir, base, commit)
        if changed.issuperset(files):
            commits.append((len(changed), commit))
    return min(commits)[1] if commits else None


def find_changed_definitions_since(
    git_dir: Path, base: str, before: str, answer: str, graph: CodeGraph, files: Sequence[str]
) -> list[str]:
    """Return `find_changed_definitions` for an answer that changed the state `before`, a descendant of `base`.

    Each changed row of `before` is mapped back to the state of `graph`. Rows added in between belong to no definition.
    Raises GitError.
    """
    nodes: set[int] = set()
    for path in files:
        since = list(_changes(read_patch(git_dir, base, before, path)))
        nodes.update(_around(graph, path, list(_before(read_hunks(read_patch(git_dir, before, answer, path)), since))))
    return sorted(graph.nodes.ids[node] for node in nodes)


def _before(hunks: Iterable[Hunk], since: Sequence[tuple[Hunk, Hunk]]) -> Iterator[Hunk]:
    """Yield `hunks` by the rows of a state before the changes `since`, row by row.

    >>> list(_before([(0, 1), (3, 1), (8, 1), (9, 0)], [((2, 1), (2, 4))]))
    [(0, 1), (5, 1), (6, 0)]
    """
    for first, n_rows in hunks:
        for row in range(first, first + min(max(n_rows, 1), _MAX_HUNK_ROWS)):
            origin = _origin(row, since)
            if origin is not None:
                yield origin, 1 if n_rows else 0


def _origin(row: int, since: Sequence[tuple[Hunk, Hunk]]) -> int | None:
    """Return the row's number before changes, (old rows, new rows) from the top; None if they wrote it."""
    moved = 0
    for old, new in since:
        if row < new[0]:
            break
        if row < new[0] + new[1]:
            return None
        moved = old[0] + old[1] - new[0] - new[1]
    return row + moved


def _changed_files(git_dir: Path, base: str, commit: str) -> set[str]:
    done = RunningGit(
        git_arguments(git_dir), "diff-tree", "-r", "-z", "--name-only", "--no-renames", base, commit, "--"
    ).finish()
    return {name.decode("utf-8", "replace") for name in done.check().output.split(b"\0") if name}


def _changes(patch: bytes) -> Iterator[tuple[Hunk, Hunk]]:
    r"""Yield the old and the new rows of each hunk of a patch without context.

    An empty range is placed before the row that follows it.

    >>> list(_changes(b"@@ -3 +3,2 @@ f\n-a\n+b\n+c\n@@ -7,2 +8,0 @@\n-c\n-d\n"))
    [((2, 1), (2, 2)), ((6, 2), (8, 0))]
    """
    for match in _HUNK.finditer(patch):
        sides = []
        for start, n in ((match[1], match[2]), (match[3], match[4])):
            n_rows = 1 if n is None else int(n)
            sides.append((int(start) - (1 if n_rows else 0), n_rows))
        yield sides[0], sides[1]
