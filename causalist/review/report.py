"""Everything that a reviewer asks of a change, in one `Review`, and as text within a budget of tokens.

In: a comparison of versions, the index after the change and its files. Out: users by probability, broken calls, tests,
files that usually change too, and risks. A change is a set of definitions, so that users and tests are those of all of
them.

Uses between layers that the repository's own rules forbid are `BrokenRule`. A rule of `[layers]` in the settings names
layers as `causalist layers` does, or folders with a slash at the end. Without rules nothing is said: the layers of
files are derived, and that a lower one uses a higher one is no defect by itself. Tests may use everything.

The text, in Markdown, begins with the changed definitions with the change marked. Then it shows what the change
touches: calls that no longer fit, users, tests, and the types that the new code names. What does not fit is counted at
the end, never cut in silence. Secrets are masked.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.text_formatting import neutralize
from causalist.errors import BudgetTooSmall
from causalist.index.source_text import SourceText
from causalist.model.graph import USE_KINDS, CodeGraph
from causalist.model.index import Index
from causalist.model.lookup import Affected, ChangesWith
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, Layer, NodeKind, Role, file_id, split_id
from causalist.model.role_by_path import role_of
from causalist.navigate import find_missing_files, find_users_and_tests, mark_tests
from causalist.navigate.edges import with_overloads_and_members
from causalist.parse import find_secrets, with_line_feeds
from causalist.review.broken_calls import BrokenCall, find_broken_calls, locate_versions
from causalist.review.changes import ChangedDefinition, ChangedFile, ChangeKind, Comparison, DefinitionVersion
from causalist.review.versions import FileVersions
from causalist.source import blob_hash

_MIN_CONFIDENCE = 0.5  # of a use that breaks a rule


class LayerRules(NamedTuple):
    """Rules of layers: `order` from the highest to the lowest, `forbidden` as (using, used) pairs."""

    order: tuple[str, ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()


class BrokenRule(NamedTuple):
    """A use that a rule forbids: `line` is 1-based in `path`, `rule` says which one in words."""

    path: str
    line: int
    source: str
    target: str
    rule: str


def read_rules(order: Sequence[str], forbidden: Sequence[str]) -> LayerRules | None:
    """Return the rules of checked settings; None if there are none."""
    pairs = [tuple(part.strip() for part in each.split("->")) for each in forbidden]
    return LayerRules(tuple(order), tuple((one, other) for one, other in pairs)) if order or pairs else None


def find_broken_rules(index: Index, versions: Sequence[FileVersions], rules: LayerRules) -> tuple[BrokenRule, ...]:
    """Return the uses in added lines that break a rule, by path and line.

    Each use counts once, for the first rule that it breaks: the order, then the forbidden pairs.
    """
    graph = index.graph
    nodes, edges = graph.nodes, graph.edges
    members = {
        name: _mark_members(graph, name) for name in {*rules.order, *(n for pair in rules.forbidden for n in pair)}
    }
    ranks = np.full(len(nodes), -1, dtype=np.int64)
    # Of folders in one another the inner one decides, so that it is written last.
    for rank, name in sorted(enumerate(rules.order), key=lambda each: (each[1].endswith("/"), len(each[1]))):
        ranks[members[name]] = rank
    broken: list[BrokenRule] = []
    for version in versions:
        file = nodes.ids.position(file_id(version.after)) if version.after and version.new is not None else -1
        if file < 0 or version.new is None:
            continue
        numbers = graph.edges_out_of(np.flatnonzero((nodes.files == file) & (nodes.roles != Role.TEST)))
        numbers = numbers[np.isin(edges.kinds[numbers], sorted(USE_KINDS))]
        numbers = numbers[graph.certainties(numbers) >= _MIN_CONFIDENCE]
        numbers = numbers[nodes.kinds[edges.targets[numbers]] != NodeKind.EXTERNAL]
        old_lines, lines = set((version.old or b"").splitlines()), version.new.split(b"\n")
        reported: set[tuple[int, str]] = set()
        for number in numbers.tolist():
            source, target, row = int(edges.sources[number]), int(edges.targets[number]), int(edges.rows[number])
            if row >= len(lines) or lines[row].rstrip(b"\r") in old_lines or nodes.files[target] == file:
                continue
            rule = ""
            if 0 <= ranks[target] < ranks[source]:
                rule = f"{rules.order[ranks[source]]} is below {rules.order[ranks[target]]}"
            else:
                pairs = (p for p in rules.forbidden if members[p[0]][source] and members[p[1]][target])
                rule = next((f"{one} may not use {other}" for one, other in pairs), "")
            if rule and (row, rule) not in reported:
                reported.add((row, rule))
                broken.append(BrokenRule(version.after, row + 1, nodes.ids[source], nodes.ids[target], rule))
    return tuple(sorted(broken))


def _mark_members(graph: CodeGraph, name: str) -> NDArray[np.bool_]:
    """Return the mask of the nodes of a layer or folder."""
    nodes = graph.nodes
    if not name.endswith("/"):
        return np.asarray(nodes.layers == Layer[name.upper()], dtype=np.bool_)
    inside = nodes.ids.prefix_range(file_id(name))
    is_member = np.zeros(len(nodes), dtype=np.bool_)
    is_member[inside.start : inside.stop] = True
    return is_member


_MAX_HOT = 5
_MIN_USERS = 3  # of a hot spot
_MIN_COMMITS = 2.0  # of its file; recent ones count more
_MIN_USES = 0.5  # certainty of uses that are counted


class HotSpot(NamedTuple):
    """A definition that was there, is used by many, and whose file changes often (commits, recent ones count more)."""

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


# See `Lookups.with_records`.
JoinRecords = Callable[[NDArray[np.int64], tuple[Affected, ...], Mapping[str, str]], tuple[tuple[Affected, ...], bool]]


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
    observed: CodeGraph | None = None,
    with_records: JoinRecords | None = None,
) -> Review:
    """Return the review of a change. `read` gives a file after it. Raises UsageError for a depth below 1.

    `observed` is the graph of the index with what runs saw, for users and tests; None for that of the index.
    `with_records` joins what is recorded of tests to the tests of nodes, see `Lookups.with_records`.
    """
    graph, ids = index.graph, index.graph.nodes.ids
    places = locate_versions(graph, comparison.definitions)
    definitions = tuple(
        each._replace(node=ids[places[i]]) if i in places else each for i, each in enumerate(comparison.definitions)
    )
    is_test = mark_tests(graph)
    changed = _changed_nodes(index, definitions, places, is_test)
    new = {"", *(each.path for each in comparison.files if each.status == "added")}  # all in them is the change itself
    affected: tuple[Affected, ...] = ()
    tests: tuple[Affected, ...] = ()
    if len(changed):
        affected, tests = find_users_and_tests(
            graph if observed is None else observed,
            changed,
            is_test,
            max_depth=max_depth,
            min_confidence=min_confidence,
            lexical=index.lexical,
            read_text=lambda path: (read(path) or b"").decode("utf-8", "replace"),
        )
        affected = tuple(sorted(affected, key=lambda each: (-each.probability, each.depth, each.node)))
        if with_records is not None:
            tests, _ = with_records(changed, tests, _blobs_before(comparison, versions))
        tests = _with_changed_tests(index, changed, is_test, tests)
    return Review(
        before,
        after,
        definitions,
        comparison.files,
        tuple(each for each in affected if each.role != Role.TEST.label and split_id(each.node)[0] not in new),
        find_broken_calls(index, definitions, places, read, comparison.read),
        tests,
        int(is_test.sum()),
        find_missing_files(index, [each.path for each in comparison.files], _coded_paths(comparison)),
        tuple(each for each in definitions if _is_interface(index, each)),
        _find_hot_spots(index, [n for i, n in places.items() if definitions[i].kind is not ChangeKind.ADDED]),
        tuple(_find_added_secrets(index, versions)),
        () if rules is None else find_broken_rules(index, versions, rules),
        notes,
    )


def _blobs_before(comparison: Comparison, versions: Sequence[FileVersions]) -> dict[str, str]:
    """Return the blobs before the change of the files of which nothing but functions changed that were there before."""
    is_inside: dict[str, bool] = {}
    for each in comparison.definitions:
        version = each.new if each.kind in (ChangeKind.BODY, ChangeKind.SIGNATURE) else None
        is_function = version is not None and version.fact.kind in CALLABLE_KINDS
        is_inside[each.path] = is_inside.get(each.path, True) and is_function
    return {
        each.after: blob_hash(each.old)
        for each in versions
        if each.before == each.after and each.old is not None and is_inside.get(each.after)
    }


def _changed_nodes(
    index: Index, definitions: Sequence[ChangedDefinition], places: dict[int, int], is_test: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the nodes of changed definitions; of a type, its members count only if it is new or moved.

    What stands in a test is part of it: nothing else runs that.
    """
    graph = index.graph
    places = {i: node for i, node in places.items() if not definitions[i].is_import}  # which no user runs
    whole = [
        node
        for position, node in places.items()
        if definitions[position].kind in (ChangeKind.ADDED, ChangeKind.MOVED) and graph.kind(node) is not NodeKind.FILE
    ]
    own = [node for node in places.values() if graph.kind(node) is not NodeKind.FILE]
    inside = with_overloads_and_members(graph, whole).tolist() if whole else []
    files = [node for node in places.values() if graph.kind(node) is NodeKind.FILE]
    return np.array(sorted({_test_around(graph, node, is_test) for node in {*own, *inside, *files}}), dtype=np.int64)


def _test_around(graph: CodeGraph, node: int, is_test: NDArray[np.bool_]) -> int:
    """Return the outermost test around a node, the node itself if there is none."""
    found, around = node, node
    while around >= 0:
        found = around if is_test[around] and graph.kind(around) in CALLABLE_KINDS else found
        around = int(graph.nodes.parents[around])
    return found


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
    role = Role(int(index.graph.nodes.roles[file])) if file >= 0 else role_of(change.path)
    is_hidden = version.fact.kind is NodeKind.HANDLER or not version.is_open or "static inline " in version.signature
    if version.path.endswith(".go"):
        is_hidden = not all(word[:1].isupper() for word in version.fact.qualname.split("."))
    if version.path.endswith(".rs"):
        is_open = version.parent_kind in (NodeKind.TRAIT, NodeKind.ENUM) or "macro_rules" in version.signature
        is_hidden = is_hidden or "pub(" in version.signature or not (is_open or "pub " in version.signature)
    return role is Role.CODE and not is_hidden


def _find_hot_spots(index: Index, places: Iterable[int]) -> tuple[HotSpot, ...]:
    graph, history = index.graph, index.history
    spots: list[tuple[float, HotSpot]] = []
    for node in set(places):
        if graph.kind(node) is NodeKind.FILE or graph.nodes.roles[node] == Role.TEST or not len(history):
            continue
        numbers = graph.edges_into(np.array([node]))
        numbers = numbers[graph.certainties(numbers) >= _MIN_USES]
        users = set(graph.edges.sources[numbers].tolist()) - {int(graph.nodes.parents[node]), node}
        row = int(np.searchsorted(history.nodes, graph.nodes.files[node]))
        if row >= len(history.nodes) or history.nodes[row] != graph.nodes.files[node]:
            continue
        churn = float(history.churn[row])
        if len(users) >= _MIN_USERS and churn >= _MIN_COMMITS:
            spots.append((-churn * len(users), HotSpot(graph.nodes.ids[node], len(users), round(churn, 1))))
    return tuple(spot for _, spot in sorted(spots)[:_MAX_HOT])


def _find_added_secrets(index: Index, versions: Sequence[FileVersions]) -> Iterable[AddedSecret]:
    manifest = index.manifest
    for version in versions:
        if version.new is None:
            continue
        position = manifest.paths.position(version.after)
        if position >= 0 and manifest.blobs[position] == blob_hash(version.new):
            first, last = manifest.secrets.indptr[position : position + 2].tolist()
            starts = manifest.secrets.starts[first:last].tolist()
        else:
            starts = [start for start, _ in find_secrets(with_line_feeds(version.new))]
        if not starts:
            continue
        old_lines = set((version.old or b"").splitlines())
        text = with_line_feeds(version.new)  # to which the positions belong
        lines = text.split(b"\n")
        for start in starts:
            row = text.count(b"\n", 0, start)
            if lines[row].rstrip(b"\r") not in old_lines:
                yield AddedSecret(version.path, row + 1)


MIN_TOKENS = 200
_CHANGE_SHARE = 0.65  # of the budget, for the changed definitions themselves while other blocks wait
_WHOLE_LINES = 60  # of a definition that is shown whole beside its change
_AROUND = 3  # lines before and after a use
_MAX_TEST_LINES = 30
_MAX_TYPE_LINES = 12
_MAX_EACH = 12  # blocks of users, of tests and of types
_LAST_LINE_TOKENS = 40
_ORDER = (ChangeKind.SIGNATURE, ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.BODY, ChangeKind.ADDED)


class _Block(NamedTuple):
    """A part of the pack: `kind` counts it if it does not fit."""

    kind: str
    title: str
    code: str
    language: str = ""

    def text(self) -> str:
        runs = re.findall(r"`+", self.code)
        fence = "`" * max(3, 1 + max(map(len, runs), default=0))
        code = f"{fence}{self.language}\n{self.code.rstrip()}\n{fence}\n" if self.code.strip() else ""
        return neutralize(f"{self.title}\n{code}")


def pack_review(index: Index, texts: SourceText, review: Review, *, max_tokens: int) -> str:
    """Return the pack of a review, of at most `max_tokens`. Raises BudgetTooSmall below 200 tokens."""
    if max_tokens < MIN_TOKENS:
        raise BudgetTooSmall(f"a review needs at least {MIN_TOKENS} tokens, not {max_tokens}")
    from causalist.pack import count_tokens  # no other review needs it

    head = f"# Change of {len(review.files)} files: {len(review.definitions)} definitions\n\n"
    parts, n_left_out = [head], dict[str, int]()
    room = max_tokens - count_tokens(head) - _LAST_LINE_TOKENS
    lines = _Lines(texts)
    groups: list[tuple[str, Iterable[_Block], float]] = [
        ("Calls that no longer fit", _broken_blocks(review, lines), 0.2),
        ("Changed", _changed_blocks(review), _CHANGE_SHARE),
        ("Users", _user_blocks(review.affected, lines), 0.5),
        ("Tests", _test_blocks(index, review.tests, lines), 0.7),
        ("Types", _type_blocks(index, review, lines), 1.0),
    ]
    for title, blocks, share in groups:
        own, is_first = int(room * share), True
        for block in blocks:
            text = (f"## {title}\n\n" if is_first else "") + block.text() + "\n"
            cost = count_tokens(text) + 1
            if cost > own:
                n_left_out[block.kind] = n_left_out.get(block.kind, 0) + 1
                continue
            parts.append(text)
            own, room, is_first = own - cost, room - cost, False
    if n_left_out:
        named = ", ".join(f"{n} {kind}" for kind, n in n_left_out.items())
        parts.append(f"left out: {named}; raise max-tokens\n")
    return "".join(parts).rstrip() + "\n"


class _Lines:
    """Lines of files without their secrets, each file read once."""

    def __init__(self, texts: SourceText) -> None:
        self._texts = texts
        self._known: dict[str, list[str]] = {}

    def around(self, path: str, first: int, last: int) -> str:
        """Return 0-based rows, both included, that exist."""
        if path not in self._known:
            self._known[path] = self._texts.read_text(path).split("\n")
        return "\n".join(self._known[path][max(first, 0) : last + 1])


def _changed_blocks(review: Review) -> Iterator[_Block]:
    order = {kind: place for place, kind in enumerate(_ORDER)}
    for each in sorted(review.definitions, key=lambda change: order[change.kind]):
        if each.is_import:
            continue
        was = f", was {each.old.node}" if each.kind == ChangeKind.MOVED and each.old else ""
        what = "code outside of definitions" if each.label == "file" else f"{each.kind.value} {each.label}"
        title = f"`{each.node}` line {each.line} ({what}{was})"
        yield _Block("changed definitions", title, _mark_change(each), "diff")


def _mark_change(change: ChangedDefinition) -> str:
    """Return the code of a change with `-` and `+` before changed lines."""
    old, new = (each.shown.split("\n") if each else [] for each in (change.old, change.new))
    if change.outside:
        old, new = (each.outside_shown.split("\n") for each in change.outside)
    if not old and not new:
        return ""
    from difflib import unified_diff  # no review but --pack needs it

    around = max(len(old), len(new)) if max(len(old), len(new)) <= _WHOLE_LINES else _AROUND
    marked = list(unified_diff(old, new, lineterm="", n=around))[2:]
    marked = [line for line in marked if around == _AROUND or not line.startswith("@@")]
    return "\n".join(marked) if marked else "\n".join(f" {line}" for line in new)


def _broken_blocks(review: Review, lines: _Lines) -> Iterator[_Block]:
    for each in review.broken:
        code = lines.around(each.path, each.line - 1 - _AROUND, each.line - 1 + _AROUND)
        yield _Block("broken calls", f"{each.path}:{each.line} calls `{each.target}`: {each.why}", code)


def _user_blocks(affected: Sequence[Affected], lines: _Lines) -> Iterator[_Block]:
    near = [each for each in affected if each.depth == 1][:_MAX_EACH]
    for each in near:
        path, line = split_id(each.edge.source)[0], each.edge.line
        code = lines.around(path, line - 1 - _AROUND, line - 1 + _AROUND) if line is not None else ""
        line_text = f" line {line}" if line is not None else ""
        yield _Block("users", f"`{each.node}`{line_text} {each.edge.kind} `{each.edge.target}`", code)


def _test_blocks(index: Index, tests: Sequence[Affected], lines: _Lines) -> Iterator[_Block]:
    nodes = index.graph.nodes
    for each in tests[:_MAX_EACH]:
        node, path = nodes.ids.position(each.node), split_id(each.node)[0]
        first, last = int(nodes.start_rows[node]), int(nodes.end_rows[node])
        code = lines.around(path, first, min(last, first + _MAX_TEST_LINES - 1))
        more = "" if last - first < _MAX_TEST_LINES else ", its begin"
        yield _Block("tests", f"{each.probability:.2f} `{each.node}`{more}", code)


def _type_blocks(index: Index, review: Review, lines: _Lines) -> Iterator[_Block]:
    """Yield the begin of types that changed definitions name and that did not change."""
    graph = index.graph
    nodes, edges = graph.nodes, graph.edges
    changed = {each.node for each in review.definitions}
    sources = [n for n in (nodes.ids.position(node) for node in sorted(changed)) if n >= 0]
    numbers = graph.edges_out_of(np.array(sorted(sources), dtype=np.int64))
    numbers = numbers[np.isin(edges.kinds[numbers], sorted(USE_KINDS)) & (graph.certainties(numbers) >= 0.5)]
    types = dict.fromkeys(
        node
        for node in edges.targets[numbers].tolist()
        if nodes.kinds[node] in TYPE_KINDS and nodes.roles[node] == Role.CODE and nodes.ids[node] not in changed
    )
    for node in list(types)[:_MAX_EACH]:
        path, first = split_id(nodes.ids[node])[0], int(nodes.start_rows[node])
        code = lines.around(path, first, min(int(nodes.end_rows[node]), first + _MAX_TYPE_LINES - 1))
        yield _Block("types", f"`{nodes.ids[node]}` line {first + 1}", code)
