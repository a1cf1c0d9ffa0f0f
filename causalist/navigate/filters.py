"""Parts of a repository that a query is limited to, or that rank first."""

from collections.abc import Callable, Sequence
from pathlib import Path
from posixpath import normpath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.answer import AskOptions
from causalist.model.graph import CodeGraph
from causalist.model.index import Index
from causalist.model.scores import Transition
from causalist.model.symbols import NodeKind, split_id
from causalist.rank import WalkWeights, build_transition, restrict_to


class Filters(NamedTuple):
    """Nodes and transition that the options of a query leave.

    `inside` are the nodes that may answer, `scope` the nodes that rank first: shape (n_nodes,) each, None if not
    requested. The transition stays inside.
    """

    transition: Transition
    inside: NDArray[np.bool_] | None
    scope: NDArray[np.bool_] | None


def apply_filters(index: Index, options: AskOptions, *, root: Path | None, folder: str) -> Filters:
    """Return the part of the repository that the options select.

    Raises UsageError for an invalid pattern or scope.
    """
    graph, transition = index.graph, index.transition
    if options.normalise:
        transition = build_transition(graph, WalkWeights(), normalise=True)
    inside = nodes_inside(graph, options.include, options.exclude, folder)
    if inside is not None:
        transition = restrict_to(transition, inside)
    scope = ""
    if options.scope is not None:
        scope = resolve_folder(index, options.scope, root=root, folder=folder)
    return Filters(transition, inside, nodes_below(graph, scope) if scope else None)


def nodes_inside(
    graph: CodeGraph, include: Sequence[str], exclude: Sequence[str], folder: str = ""
) -> NDArray[np.bool_] | None:
    """Return a mask, shape (n_nodes,), of the nodes in files that match `include` and not `exclude`.

    Returns None without patterns; an empty `include` matches all files. Patterns are those of `.gitignore`; one that
    begins with "./" is relative to `folder`.

    Raises UsageError for an invalid pattern.
    """
    if not include and not exclude:
        return None
    wanted, unwanted = _matcher("--include", include, folder), _matcher("--exclude", exclude, folder)
    nodes = graph.nodes
    is_inside = np.zeros(len(nodes) + 1, dtype=np.bool_)  # the last entry answers for what lies in no file
    for file in np.flatnonzero(nodes.kinds == NodeKind.FILE).tolist():
        path = split_id(nodes.ids[file])[0]
        is_inside[file] = (not include or wanted(path)) and not unwanted(path)
    return np.asarray(is_inside[nodes.files], dtype=np.bool_)


def _matcher(option: str, patterns: Sequence[str], folder: str) -> Callable[[str], bool]:
    """Return a predicate that is true for paths that one of the patterns matches."""
    from pathspec import GitIgnoreSpec

    rooted = []
    for pattern in patterns:
        if not pattern.strip() or pattern.lstrip().startswith("#"):
            raise UsageError(f"{option} must be a .gitignore pattern such as 'src/**/*.py', not {pattern!r}")
        from_here = pattern.startswith("./")
        rooted.append(f"/{folder}{pattern[1:]}".replace("//", "/") if from_here else pattern)
    try:
        return GitIgnoreSpec.from_lines(rooted).match_file
    except ValueError as error:
        raise UsageError(f"{option}: {error}; write patterns as in .gitignore") from error


def resolve_folder(index: Index, name: str, *, root: Path | None, folder: str) -> str:
    """Return the folder below the root that `name` denotes, as a relative path; "" for the root, also as "/".

    `name` is written as `resolve` accepts paths. Raises UsageError for a folder without an indexed file.
    """
    posix_name = name.strip().replace("\\", "/")
    if posix_name == "/":
        return ""
    from causalist.navigate.names import paths_below  # most questions have no scope

    for path in paths_below(index, posix_name, root=root, folder=folder) if posix_name else ():
        path = normpath(path)
        if path == "." or len(index.manifest.paths.prefix_range(f"{path}/")):
            return "" if path == "." else path
    raise UsageError(f"--scope must be a folder with indexed files, or / for all, not {name!r}")


def nodes_below(graph: CodeGraph, folder: str) -> NDArray[np.bool_]:
    """Return a mask, shape (n_nodes,), of the nodes in files below a folder."""
    nodes = graph.nodes
    is_below = np.zeros(len(nodes) + 1, dtype=np.bool_)
    for file in np.flatnonzero(nodes.kinds == NodeKind.FILE).tolist():
        is_below[file] = split_id(nodes.ids[file])[0].startswith(f"{folder}/")
    return np.asarray(is_below[nodes.files], dtype=np.bool_)
