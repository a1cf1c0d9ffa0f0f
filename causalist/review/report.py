"""Everything that a reviewer asks of a change, in one `Review`.

In: a comparison of versions and the index after the change. Out: users by probability, broken calls, tests, files that
usually change too, and risks. A change is a set of definitions, so that users and tests are those of all of them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.model.index import Index
from causalist.model.lookup import Affected, ChangesWith
from causalist.model.symbols import NodeKind, Role, file_id, split_id
from causalist.navigate import find_missing_files, find_users_and_tests, mark_tests
from causalist.navigate.edges import with_overloads_and_members
from causalist.parse import find_secrets, with_line_feeds
from causalist.review.breaking import BrokenCall, find_broken_calls, locate_versions
from causalist.review.changes import ChangedDefinition, ChangedFile, ChangeKind, Comparison, DefinitionVersion
from causalist.review.layer_rules import BrokenRule, LayerRules, find_broken_rules
from causalist.review.versions import FileVersions
from causalist.source import blob_hash

_MAX_HOT = 5
_LEAST_USERS = 3  # of a hot spot
_LEAST_USES = 0.5  # certainty of uses that are counted


class HotSpot(NamedTuple):
    """A changed definition that is used by many and whose file changes often (commits, recent ones count more)."""

    node: str
    n_users: int
    n_commits: float


class AddedSecret(NamedTuple):
    """A line of a file that the change gives what looks like a secret; the secret itself is never shown."""

    path: str
    line: int


class Review(NamedTuple):
    """A change, and what it touches. `before` and `after` name its two sides.

    `affected` are the most probable first; `n_tests` counts all tests of the repository. `interface` are changed
    definitions that other code may use: not private by name, in code that is no test, with another signature, moved or
    removed. `layers` are uses that the rules of the repository forbid. `notes` say what is doubtful.
    """

    before: str
    after: str
    definitions: tuple[ChangedDefinition, ...]
    files: tuple[ChangedFile, ...]
    affected: tuple[Affected, ...]
    broken: tuple[BrokenCall, ...]
    tests: tuple[Affected, ...]
    n_tests: int
    missing: tuple[ChangesWith, ...]
    interface: tuple[ChangedDefinition, ...]
    hot: tuple[HotSpot, ...]
    secrets: tuple[AddedSecret, ...]
    layers: tuple[BrokenRule, ...] = ()
    notes: tuple[str, ...] = ()


def review_change(
    index: Index,
    comparison: Comparison,
    versions: Sequence[FileVersions],
    read: Callable[[str], bytes | None],
    *,
    before: str,
    after: str,
    max_depth: int | None = None,
    min_confidence: float = 0.0,
    rules: LayerRules | None = None,
    notes: tuple[str, ...] = (),
) -> Review:
    """Return the review of a change. `read` gives a file after it. Raises UsageError for a depth below 1."""
    graph, ids = index.graph, index.graph.nodes.ids
    places = locate_versions(graph, comparison.definitions)
    definitions = tuple(
        each._replace(node=ids[places[i]]) if i in places else each for i, each in enumerate(comparison.definitions)
    )
    changed = _changed_nodes(index, definitions, places)
    is_test = mark_tests(graph)
    affected: tuple[Affected, ...] = ()
    tests: tuple[Affected, ...] = ()
    if len(changed):
        affected, tests = find_users_and_tests(
            graph,
            changed,
            is_test,
            max_depth=max_depth,
            min_confidence=min_confidence,
            lexical=index.lexical,
            read_text=lambda path: (read(path) or b"").decode("utf-8", "replace"),
        )
        affected = tuple(sorted(affected, key=lambda each: (-each.probability, each.depth, each.node)))
        tests = _with_changed_tests(index, changed, is_test, tests)
    return Review(
        before,
        after,
        definitions,
        comparison.files,
        tuple(each for each in affected if each.role != Role.TEST.label and split_id(each.node)[0]),
        find_broken_calls(index, definitions, places, read),
        tests,
        int(is_test.sum()),
        find_missing_files(index, [each.path for each in comparison.files], _coded_paths(comparison)),
        tuple(each for each in definitions if _is_interface(index, each)),
        _find_hot_spots(index, places.values()),
        tuple(_find_added_secrets(index, versions)),
        () if rules is None else find_broken_rules(index, versions, rules),
        notes,
    )


def _changed_nodes(index: Index, definitions: Sequence[ChangedDefinition], places: dict[int, int]) -> NDArray[np.int64]:
    """Return the nodes of changed definitions; of a type, its members count only if it is new or moved."""
    graph = index.graph
    whole = [
        node
        for position, node in places.items()
        if definitions[position].kind in (ChangeKind.ADDED, ChangeKind.MOVED) and graph.kind(node) is not NodeKind.FILE
    ]
    own = [node for node in places.values() if graph.kind(node) is not NodeKind.FILE]
    inside = with_overloads_and_members(graph, whole).tolist() if whole else []
    files = [node for node in places.values() if graph.kind(node) is NodeKind.FILE]
    return np.array(sorted({*own, *inside, *files}), dtype=np.int64)


def _with_changed_tests(
    index: Index, changed: NDArray[np.int64], is_test: NDArray[np.bool_], tests: tuple[Affected, ...]
) -> tuple[Affected, ...]:
    """Return the tests, after those that the change touches itself: they certainly run what changed.

    A file or class is left out beside a test in it.
    """
    from causalist.model.graph import Edge

    graph = index.graph
    ids = graph.nodes.ids
    own = [node for node in changed.tolist() if is_test[node]]
    around = {int(graph.nodes.parents[node]) for node in own}
    while more := {int(graph.nodes.parents[node]) for node in around if node >= 0} - around:
        around |= more
    own = [node for node in own if node not in around]
    there = {ids[node] for node in own}
    return (
        *(
            Affected(ids[n], 0, Edge(ids[n], ids[n], "changed", "", 1.0, int(graph.nodes.start_rows[n]) + 1, 1),
                     Role.TEST.label, probability=1.0)
            for n in own
        ),
        *(each for each in tests if each.node not in there),
    )  # fmt: skip


def _coded_paths(comparison: Comparison) -> list[str]:
    """Return the files whose code a change touches: a corrected comment asks for nothing else."""
    touched = {each.path for each in comparison.definitions}
    return [each.path for each in comparison.files if each.path in touched or not each.has_code]


def _is_interface(index: Index, change: ChangedDefinition) -> bool:
    version: DefinitionVersion | None = change.old
    if version is None or change.kind in (ChangeKind.ADDED, ChangeKind.BODY):
        return False
    file = index.graph.nodes.ids.position(file_id(change.path))
    role = Role(int(index.graph.nodes.roles[file])) if file >= 0 else Role.CODE
    words = version.fact.qualname.split(".")
    is_hidden = any(word.startswith(("_", "#")) and not word.endswith("__") for word in words)
    is_hidden = is_hidden or version.signature.startswith(("private ", "static inline "))
    if version.path.endswith(".go"):
        is_hidden = not version.fact.name[:1].isupper()
    return role is Role.CODE and not is_hidden


def _find_hot_spots(index: Index, places: Iterable[int]) -> tuple[HotSpot, ...]:
    graph, history = index.graph, index.history
    found: list[tuple[float, HotSpot]] = []
    for node in set(places):
        if graph.kind(node) is NodeKind.FILE or graph.nodes.roles[node] == Role.TEST or not len(history):
            continue
        numbers = graph.edges_into(np.array([node]))
        numbers = numbers[graph.certainties(numbers) >= _LEAST_USES]
        users = set(graph.edges.sources[numbers].tolist()) - {int(graph.nodes.parents[node]), node}
        place = int(np.searchsorted(history.nodes, graph.nodes.files[node]))
        if place >= len(history.nodes) or history.nodes[place] != graph.nodes.files[node]:
            continue
        churn = float(history.churn[place])
        if len(users) >= _LEAST_USERS and churn > 0:
            found.append((-churn * len(users), HotSpot(graph.nodes.ids[node], len(users), round(churn, 1))))
    return tuple(spot for _, spot in sorted(found)[:_MAX_HOT])


def _find_added_secrets(index: Index, versions: Sequence[FileVersions]) -> Iterable[AddedSecret]:
    manifest = index.manifest
    for each in versions:
        if each.new is None:
            continue
        place = manifest.paths.position(each.after)
        if place >= 0 and manifest.blobs[place] == blob_hash(each.new):
            first, last = manifest.secrets.indptr[place : place + 2].tolist()
            starts = manifest.secrets.starts[first:last].tolist()
        else:
            starts = [start for start, _ in find_secrets(with_line_feeds(each.new))]
        if not starts:
            continue
        known = set((each.old or b"").splitlines())
        text = with_line_feeds(each.new)  # to which the positions belong
        lines = text.split(b"\n")
        for start in starts:
            row = text.count(b"\n", 0, start)
            if lines[row].rstrip(b"\r") not in known:
                yield AddedSecret(each.path, row + 1)
