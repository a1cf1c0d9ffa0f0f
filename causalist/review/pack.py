"""The context of a change for a reviewer that reads code, within a budget of tokens.

In: a review, the index after the change and its files. Out: Markdown. First come the changed definitions with the
change marked, then what it touches: calls that no longer fit, users, tests, and the types that the new code names. What
does not fit is counted at the end, never cut in silence. Secrets are masked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from typing import NamedTuple

import numpy as np

from causalist._internal.escape import neutralise
from causalist.errors import BudgetTooSmall
from causalist.index.source_text import SourceText
from causalist.model.graph import USE_KINDS
from causalist.model.index import Index
from causalist.model.lookup import Affected
from causalist.model.symbols import TYPE_KINDS, Role, split_id
from causalist.pack import count_tokens
from causalist.review.changes import ChangedDefinition, ChangeKind
from causalist.review.report import Review

LEAST_TOKENS = 200
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
        return neutralise(f"{self.title}\n{code}")


def pack_review(index: Index, texts: SourceText, review: Review, *, max_tokens: int) -> str:
    """Return the pack of a review, of at most `max_tokens`. Raises BudgetTooSmall below 200 tokens."""
    if max_tokens < LEAST_TOKENS:
        raise BudgetTooSmall(f"a review needs at least {LEAST_TOKENS} tokens, not {max_tokens}")
    head = f"# Change of {len(review.files)} files: {len(review.definitions)} definitions\n\n"
    parts, left = [head], dict[str, int]()
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
                left[block.kind] = left.get(block.kind, 0) + 1
                continue
            parts.append(text)
            own, room, is_first = own - cost, room - cost, False
    if left:
        named = ", ".join(f"{n} {kind}" for kind, n in left.items())
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
        was = f", was {each.old.node}" if each.kind == ChangeKind.MOVED and each.old else ""
        what = "imports or code outside of definitions" if each.label == "file" else f"{each.kind.value} {each.label}"
        title = f"`{each.node}` line {each.line} ({what}{was})"
        yield _Block("changed definitions", title, _mark_change(each), "diff")


def _mark_change(change: ChangedDefinition) -> str:
    """Return the code of a changed definition with `-` and `+` before changed lines; "" for code outside of all."""
    old = change.old.shown.split("\n") if change.old else []
    new = change.new.shown.split("\n") if change.new else []
    if not old and not new:
        return ""
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
        place = f" line {line}" if line is not None else ""
        yield _Block("users", f"`{each.node}`{place} {each.edge.kind} `{each.edge.target}`", code)


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
    found = dict.fromkeys(
        node
        for node in edges.targets[numbers].tolist()
        if nodes.kinds[node] in TYPE_KINDS and nodes.roles[node] == Role.CODE and nodes.ids[node] not in changed
    )
    for node in list(found)[:_MAX_EACH]:
        path, first = split_id(nodes.ids[node])[0], int(nodes.start_rows[node])
        code = lines.around(path, first, min(int(nodes.end_rows[node]), first + _MAX_TYPE_LINES - 1))
        yield _Block("types", f"`{nodes.ids[node]}` line {first + 1}", code)
