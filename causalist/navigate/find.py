"""Search by name: a name, or a part of one -> the nodes that have it, best first.

A name fits exactly, by its beginning, by the beginnings of its words (`AuthMw` finds `AuthMiddleware`) or by a part;
where none does, after a few changes or by its letters in order. Names are those of definitions, files (with and
without extension), sections and packages outside. Filters say which part of a repository is searched, or ranks first.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from posixpath import normpath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.errors import UsageError
from causalist.extract import hit_of
from causalist.model.answer import AskOptions
from causalist.model.graph import CodeGraph
from causalist.model.index import Index
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, last_name, split_id, unescape_name
from causalist.model.scores import Hit, Transition
from causalist.rank import WalkWeights, build_transition, restrict_to

_SEPARATORS = lazy_regex(r"::|[/\\.#:\s]+")
_SEPARATORS_OF_FILES = lazy_regex(r"::|[/\\#\s]+")
# Where a word begins: AuthMiddleware, auth_middleware, auth-middleware, HTTPServer, sha256.
_WORDS = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
# A subsequence of few letters, or one with many others between them, is hardly a match.
_MIN_SCATTERED_LETTERS = 3
_MAX_SCATTERED_SPREAD = 2  # characters from first to last letter, as a multiple of the letters
_MAX_NEAR_NAMES = 20  # names that differ by little


class Fit(IntEnum):
    """Kind of match between a name and the query, best first."""

    EXACT = 0
    ANY_CASE = 1
    PREFIX = 2
    WORDS = 3
    PART = 4
    SLIP = 5
    SCATTERED = 6


def find_nodes(index: Index, name: str, limit: int, kind: str | None = None) -> tuple[Hit, ...]:
    """Return at most `limit` nodes whose name matches `name`, of the kind with that label if one is given.

    Of a dotted name or path the last part is looked for, and the parts before it have to stand in the id, in order.
    Better fits come first, then code before tests and documentation, members behind what holds them, shorter names,
    what more other nodes are linked with, and then the id decides. A hit's `score` is 1 for an exact fit and falls
    with the fit.

    Raises UsageError for a kind that does not exist and a limit below 1.
    """
    if limit < 1:
        raise UsageError(f"--limit must be at least 1, not {limit}")
    labels = {each.label: each for each in NodeKind}
    if kind is not None and kind not in labels:
        raise UsageError(f"unknown node kind {kind!r}. Choose from {', '.join(sorted(labels))}.")
    if not name.strip("./\\#: \t\r\n"):
        return ()
    fits: dict[int, int] = {}
    # `map.py` may be one name, or two parts of which the last is the name. A handler's name may be any text.
    for separators in (_SEPARATORS, _SEPARATORS_OF_FILES, None):
        parts = [part for part in separators.split(name.strip()) if part] if separators else [name.strip()]
        for node, fit in _fits(index, parts[-1]).items() if parts else ():
            if len(parts) == 1 or _stands_before(index, node, parts[:-1]):
                fits[node] = min(fit, fits.get(node, fit))
    for node in sorted(fits):  # what a file declares and another defines is one thing
        if (defined := index.graph.definition_of(node)) != node:
            fits[defined] = min(fits.pop(node), fits.get(defined, len(Fit)))
    nodes, degrees = index.graph.nodes, index.transition.degrees
    lengths = np.diff(nodes.ids.offsets)

    def place(node: int) -> tuple[int, bool, bool, bool, int, int, int]:
        own = nodes.kinds[node]
        is_aside = nodes.roles[node] != Role.CODE
        return (
            fits[node], bool(own == NodeKind.EXTERNAL), bool(is_aside), bool(own == NodeKind.FIELD),
            -int(degrees[node]), int(lengths[node]), node,
        )  # fmt: skip

    wanted = [node for node in fits if kind is None or nodes.kinds[node] == labels[kind]]
    if any(fits[node] < Fit.SLIP for node in wanted):
        wanted = [node for node in wanted if fits[node] < Fit.SLIP]
    best = sorted(wanted, key=place)[:limit]
    return tuple(hit_of(index.graph, node, round(1 - fits[node] / len(Fit), 3), 0.0, ()) for node in best)


def _fits(index: Index, wanted: str) -> dict[int, int]:
    """Return the best match of each matching node; edits and subsequences only if no name matches better."""
    lower, humps = wanted.lower(), _words(wanted)
    fit_by_node: dict[int, int] = {}
    scattered: dict[int, int] = {}
    if not lower:
        return fit_by_node
    in_order = re.compile(".*?".join(map(re.escape, lower)), re.DOTALL)
    for name, node in _names(index):
        if lower in name:
            fit = Fit.ANY_CASE if name == lower else Fit.PREFIX if name.startswith(lower) else Fit.PART
            fit_by_node[node] = min(int(fit), fit_by_node.get(node, fit))
        elif match := in_order.search(name):
            scattered[node] = match.end() - match.start()
    ids = index.graph.nodes.ids
    for node, current in fit_by_node.items():
        own = _display_name(ids[node])
        if current == Fit.ANY_CASE and wanted in (own, own.partition(".")[0], own.partition(" ")[2]):
            fit_by_node[node] = Fit.EXACT
        elif current == Fit.PART and _begins_words(humps, own):
            fit_by_node[node] = Fit.WORDS
    fit_by_node.update((node, Fit.WORDS) for node in scattered if _begins_words(humps, _display_name(ids[node])))
    return fit_by_node or _nearly(index, lower, scattered)


def _nearly(index: Index, lower: str, scattered: dict[int, int]) -> dict[int, int]:
    """Return names that begin with the letters after a few edits, or contain them in order and close together."""
    fit_by_node: dict[int, int] = {}
    if len(lower) >= _MIN_SCATTERED_LETTERS:
        close = _MAX_SCATTERED_SPREAD * len(lower)
        fit_by_node = {node: int(Fit.SCATTERED) for node, width in scattered.items() if width <= close}
    lexical = index.lexical
    from causalist.navigate.names import nearest  # a question needs none of that module

    for at in nearest(lexical.names, lower, _MAX_NEAR_NAMES, beginnings=True):
        nodes = lexical.name_nodes[int(lexical.name_indptr[at]) : int(lexical.name_indptr[at + 1])]
        fit_by_node.update(dict.fromkeys(nodes.tolist(), int(Fit.SLIP)))
    return fit_by_node


def _names(index: Index) -> Iterator[tuple[str, int]]:
    """Yield (name in lower case, node): definitions and files from the index of words, sections and externals by id."""
    lexical = index.lexical
    bounds, nodes = lexical.name_indptr.tolist(), lexical.name_nodes.tolist()
    for at, name in enumerate(lexical.names):
        for node in nodes[bounds[at] : bounds[at + 1]]:
            yield name, node
    kinds, ids = index.graph.nodes.kinds, index.graph.nodes.ids
    for node in np.flatnonzero((kinds == NodeKind.PASSAGE) | (kinds == NodeKind.EXTERNAL)).tolist():
        yield _display_name(ids[node]).lower(), node


def _display_name(node_id: str) -> str:
    if node_id.startswith("external:"):
        return node_id.removeprefix("external:")
    path, symbol = split_id(node_id)
    if symbol is not None:
        return unescape_name(last_name(node_id))
    return node_id.rpartition("#")[2] if "#" in node_id else path.rpartition("/")[2]


def _words(name: str) -> list[str]:
    return _WORDS.findall(name)


def _begins_words(humps: list[str], name: str) -> bool:
    """Return True if each hump begins a word of the name, in order.

    >>> _begins_words(_words("AuthMw"), "AuthMiddleware"), _begins_words(_words("am"), "auth_middleware")
    (True, True)
    """
    if sum(map(len, humps)) < 2:
        return False
    words = [word.lower() for word in _words(name)]
    readings = ([hump.lower() for hump in humps], list("".join(humps).lower()))
    return any(len(pieces) > 1 and _in_order(pieces, words) for pieces in readings)


def _in_order(pieces: list[str], words: list[str]) -> bool:
    at = 0
    for piece in pieces:
        while at < len(words) and not _abbreviates(piece, words[at]):
            at += 1
        if at == len(words):
            return False
        at += 1
    return True


def _abbreviates(piece: str, word: str) -> bool:
    """Return True if the piece is the word's first letter and later letters in order: `mw` for `middleware`."""
    letters = iter(word)
    return word[:1] == piece[:1] and all(letter in letters for letter in piece)


def _stands_before(index: Index, node: int, parts: list[str]) -> bool:
    """Return True if the parts occur in the id before its last name, in order, ignoring case."""
    before = index.graph.nodes.ids[node].lower()
    at = 0
    for part in parts:
        at = before.find(part.lower(), at) + len(part)
        if at < len(part):
            return False
    return True


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


def select_definitions(
    graph: CodeGraph, *, min_lines: int, roles: Sequence[Role], kinds: Sequence[int] = (*CALLABLE_KINDS, *TYPE_KINDS)
) -> NDArray[np.int64]:
    """Return the functions and types of enough lines in files of these roles, ascending."""
    nodes = graph.nodes
    is_long = nodes.end_rows - nodes.start_rows + 1 >= min_lines
    return np.flatnonzero(np.isin(nodes.kinds, sorted(kinds)) & is_long & np.isin(nodes.roles, sorted(roles)))
