"""Mask of tests: what a runner of tests runs by itself.

Tests are known by edges, and by what runners of their language go by: names, and marks of a type.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted
from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, split_id
from causalist.navigate.implicit_calls import class_of_constructor
from causalist.parse import dialect_of, load_settings

if TYPE_CHECKING:
    from causalist.model.language_settings import LanguageSettings

# What prepares tests, by its name.
SETUP = lazy_regex(r"(?:async)?_?(?:set_?up|before|tear_?down|after|initiali[sz]e)", re.IGNORECASE)
# What gives tests their data: it is static and returns something, or says what it returns in PHP.
_PROVIDER = lazy_regex(r"^(?!.*\bvoid\b).*(?:\bstatic\b|\bfunction\b.*\)\s*:)", re.DOTALL)


def mark_tests(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return the mask of tests, of shape (n_nodes,): what a runner of tests runs by itself.

    These are the sources of edges `tests`, functions of files of tests whose names say so, and handlers that are given
    to a function that declares a test: `it("…")`. Where a mark makes a method a test, those that nothing calls count,
    too, of types that have a known test or the name of one. A function inside of another is none: that one runs it.
    """
    edges, nodes = graph.edges, graph.nodes
    is_test = np.zeros(len(nodes), dtype=np.bool_)
    is_test[edges.sources[edges.kinds == EdgeKind.TESTS]] = True
    callables = np.isin(nodes.kinds, sorted(CALLABLE_KINDS)) & (nodes.roles == Role.TEST)
    is_handler = callables & ~is_test & (nodes.kinds == NodeKind.HANDLER)
    every, by_file = load_settings(), dict[int, "LanguageSettings | None"]()
    for file, path in paths_of(graph, callables & ~is_test):
        by_file[file] = every.get(dialect_of(path))
    beginnings = _beginnings_of_tests(graph, is_test & callables)
    _mark_handlers(graph, is_handler, by_file, is_test)
    candidates = np.flatnonzero(callables & ~is_test & ~is_handler)
    is_free = np.ones(len(nodes), dtype=np.bool_)  # nothing calls it, and it overrides nothing
    is_free[edges.targets[edges.kinds == EdgeKind.CALLS]] = False
    is_free[edges.sources[edges.kinds == EdgeKind.OVERRIDES]] = False
    of_known = {int(nodes.parents[node]) for node in np.flatnonzero(is_test & callables).tolist()}
    rows = zip(candidates.tolist(), nodes.files[candidates].tolist(), nodes.ids.some(candidates), strict=True)
    for node, file, node_id in rows:
        settings, name = by_file[file], (node_id.partition("::")[2]).rpartition(".")[2]
        if settings is None or not name:
            continue
        if settings.tests.functions and re.fullmatch(settings.tests.functions, name):
            is_test[node] = True
        elif settings.tests.methods and nodes.kinds[node] == NodeKind.METHOD:
            is_test[node] = bool(re.fullmatch(settings.tests.methods, name))
        elif settings.tests.fixtures and beginnings:
            is_test[node] = name.partition("_")[0] in beginnings
        else:
            is_free_method = bool(settings.tests.marks) and is_free[node] and _is_run_by_runner(graph, node, name)
            owner = int(nodes.parents[node])
            is_test[node] = is_free_method and (owner in of_known or _has_name_of_tests(graph, owner, settings))
    runs = (NodeKind.FUNCTION, NodeKind.METHOD)
    is_inside = (nodes.parents >= 0) & np.isin(nodes.kinds[nodes.parents], runs)
    return is_test & ~(is_inside & np.isin(nodes.kinds, runs))


def paths_of(graph: CodeGraph, mask: NDArray[np.bool_]) -> Iterator[tuple[int, str]]:
    """Yield (node, path) of the files of the nodes in a mask."""
    files = unique_sorted(graph.nodes.files[mask]).astype(np.int64)
    files = files[files >= 0]
    yield from zip(files.tolist(), (split_id(each)[0] for each in graph.nodes.ids.some(files)), strict=True)


def _mark_handlers(
    graph: CodeGraph,
    is_handler: NDArray[np.bool_],
    by_file: Mapping[int, "LanguageSettings | None"],
    is_test: NDArray[np.bool_],
) -> None:
    """Mark the handlers in a mask whose last name begins with a word for tests: `it returns nothing`.

    All are compared at once, because files of tests have more of them than of anything else.
    """
    nodes = graph.nodes
    handlers = np.flatnonzero(is_handler)
    if not len(handlers):
        return
    blob, offsets = nodes.ids.blob, nodes.ids.offsets
    files = nodes.files[handlers].astype(np.int64)
    ends = offsets[handlers + 1]
    symbols = offsets[handlers] + (offsets[files + 1] - offsets[files]) + len("::")
    dots = np.append(np.flatnonzero(blob == ord(".")), -1)
    starts = np.maximum(dots[np.searchsorted(dots[:-1], ends) - 1] + 1, symbols)
    files_by_word: dict[str, list[int]] = {}
    for file, settings in by_file.items():
        for word in settings.handlers.tests if settings is not None else ():
            files_by_word.setdefault(word, []).append(file)
    for word in sorted(files_by_word):
        has = np.array(files_by_word[word], dtype=np.int64)
        encoded = np.frombuffer(word.encode(), dtype=np.uint8)
        after = starts + len(encoded)
        matches = np.isin(files, has) & (after <= ends)
        for i, letter in enumerate(encoded.tolist()):
            matches[matches] = blob[starts[matches] + i] == letter
        matches[matches] = (after[matches] == ends[matches]) | (
            blob[np.minimum(after[matches], len(blob) - 1)] == ord(" ")
        )
        is_test[handlers[matches]] = True


def _beginnings_of_tests(graph: CodeGraph, tests: NDArray[np.bool_]) -> frozenset[str]:
    """Return the first words of names of known tests that have them by settings of the runner: `it` of `it_opens`."""
    beginnings: set[str] = set()
    for node in np.flatnonzero(tests).tolist():
        path, symbol = split_id(graph.nodes.ids[node])
        settings = load_settings().get(dialect_of(path))
        word, underscore, _ = (symbol or "").rpartition(".")[2].partition("_")
        if settings is None or not settings.tests.fixtures or not word or not underscore:
            continue
        if not re.fullmatch(settings.tests.functions, f"{word}_"):
            beginnings.add(word)
    return frozenset(beginnings)


def _is_run_by_runner(graph: CodeGraph, node: int, name: str) -> bool:
    """Return True for such a method of a type: the graph does not have the mark of a test."""
    nodes = graph.nodes
    if _PROVIDER.search(nodes.signatures[node]):
        return False
    owner = int(nodes.parents[node])
    if nodes.kinds[node] != NodeKind.METHOD or owner < 0 or nodes.kinds[owner] not in TYPE_KINDS or SETUP.match(name):
        return False
    return class_of_constructor(graph, node) < 0


def _has_name_of_tests(graph: CodeGraph, owner: int, settings: "LanguageSettings") -> bool:
    """Return True for a type whose name is that of tests: `DoorTest`, `TestDoor`."""
    name = graph.nodes.ids[owner].rpartition("::")[2].rpartition(".")[2]
    patterns = (pattern.partition("*") for pattern in settings.tests.names)
    return any((before or after) and name.startswith(before) and name.endswith(after) for before, _, after in patterns)
