"""Uses between layers that a repository's own rules forbid, in the lines that a change adds.

In: the rules of `[layers]` in the settings, the index after the change and its files. Out: `BrokenRule`. A rule names
layers as `causalist layers` does, or folders with a slash at the end. Without rules nothing is said: the layers of
files are derived, and that a lower one uses a higher one is no defect by itself. Tests may use everything.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import USE_KINDS, CodeGraph
from causalist.model.index import Index
from causalist.model.symbols import Layer, NodeKind, Role, file_id
from causalist.review.versions import FileVersions

_LEAST_CONFIDENCE = 0.5  # of a use that breaks a rule


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
    found: list[BrokenRule] = []
    for each in versions:
        file = nodes.ids.position(file_id(each.after)) if each.after and each.new is not None else -1
        if file < 0 or each.new is None:
            continue
        numbers = graph.edges_out_of(np.flatnonzero((nodes.files == file) & (nodes.roles != Role.TEST)))
        numbers = numbers[np.isin(edges.kinds[numbers], sorted(USE_KINDS))]
        numbers = numbers[graph.certainties(numbers) >= _LEAST_CONFIDENCE]
        numbers = numbers[nodes.kinds[edges.targets[numbers]] != NodeKind.EXTERNAL]
        known, lines = set((each.old or b"").splitlines()), each.new.split(b"\n")
        said: set[tuple[int, str]] = set()
        for number in numbers.tolist():
            source, target, row = int(edges.sources[number]), int(edges.targets[number]), int(edges.rows[number])
            if row >= len(lines) or lines[row].rstrip(b"\r") in known or nodes.files[target] == file:
                continue
            rule = ""
            if 0 <= ranks[target] < ranks[source]:
                rule = f"{rules.order[ranks[source]]} is below {rules.order[ranks[target]]}"
            else:
                pairs = (p for p in rules.forbidden if members[p[0]][source] and members[p[1]][target])
                rule = next((f"{one} may not use {other}" for one, other in pairs), "")
            if rule and (row, rule) not in said:
                said.add((row, rule))
                found.append(BrokenRule(each.after, row + 1, nodes.ids[source], nodes.ids[target], rule))
    return tuple(sorted(found))


def _mark_members(graph: CodeGraph, name: str) -> NDArray[np.bool_]:
    """Return the mask of the nodes of a layer or folder."""
    nodes = graph.nodes
    if not name.endswith("/"):
        return np.asarray(nodes.layers == Layer[name.upper()], dtype=np.bool_)
    inside = nodes.ids.prefix_range(file_id(name))
    found = np.zeros(len(nodes), dtype=np.bool_)
    found[inside.start : inside.stop] = True
    return found
