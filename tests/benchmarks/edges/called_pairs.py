"""Pairs of definitions that call each other: those of a graph against those of an oracle, found by their lines.

An oracle gives its calls as places in files; a place is the innermost definition around its line. Constructors count as
their classes on both sides. An edge is judged only if it starts where the oracle looked, and if the oracle resolved the
name there.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from causalist import Repository
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind

Place = tuple[str, int]  # path in the clone, 1-based line


class Gold(NamedTuple):
    """Pairs of places, those left aside, what each source calls that is not resolved, and lines that were looked at."""

    pairs: set[tuple[Place, Place]]
    aside: set[tuple[Place, Place]]
    unknown: dict[Place, set[str]]
    lines: dict[str, set[int]]
    sources: set[Place]


class Nodes:
    """Nodes by the lines of their definitions."""

    def __init__(self, graph: CodeGraph, more_kinds: frozenset[NodeKind] = frozenset()) -> None:
        self._graph = graph
        self._in_file: dict[str, list[int]] = defaultdict(list)
        for i, node in enumerate(graph.nodes.ids):
            if graph.nodes.kinds[i] in CALLABLE_KINDS | TYPE_KINDS | more_kinds:
                self._in_file[node.partition("::")[0]].append(i)

    def at(self, place: Place) -> int:
        """Return the innermost definition around a line, or -1."""
        nodes = self._graph.nodes
        around = [i for i in self._in_file.get(place[0], ()) if nodes.start_rows[i] < place[1] <= nodes.end_rows[i] + 1]
        return min(around, key=lambda i: int(nodes.end_rows[i] - nodes.start_rows[i]), default=-1)

    def as_class(self, node: int) -> int:
        """Return the class of a constructor, any other node as it is."""
        ids, parent = self._graph.nodes.ids, int(self._graph.nodes.parents[node])
        own = ids[node].rpartition("::")[2].partition("~")[0].split(".")
        if len(own) > 1 and own[-1] in (own[-2], "__construct"):
            holder = ids.position(f"{ids[node].partition('::')[0]}::{'.'.join(own[:-1])}")
            return parent if parent >= 0 else holder if holder >= 0 else node
        return node


def compare(
    graph: CodeGraph, gold: Gold, source_kinds: frozenset[NodeKind] = frozenset()
) -> Iterator[tuple[str, set[tuple[int, int]]]]:
    """Yield named sets of pairs of nodes: right, missed, wrong, and wrong at .99.

    `source_kinds` are kinds of nodes beside functions and types at which calls may start.
    """
    nodes = Nodes(graph, source_kinds)
    numbers: dict[Place, int] = {}

    def number(place: Place) -> int:
        if place not in numbers:
            numbers[place] = nodes.at(place)
        return numbers[place]

    def pairs(found: set[tuple[Place, Place]]) -> set[tuple[int, int]]:
        made = {(number(a), nodes.as_class(number(b)) if number(b) >= 0 else -1) for a, b in found}
        return {(a, b) for a, b in made if a >= 0 and b >= 0 and graph.nodes.kinds[b] not in source_kinds}

    wanted, aside = pairs(gold.pairs), pairs(gold.aside)
    covered = {number(place) for place in gold.sources} - {-1}
    unknown: dict[int, set[str]] = defaultdict(set)
    for place, names in gold.unknown.items():
        unknown[number(place)] |= names
    edges, kinds = graph.edges, graph.nodes.kinds
    found: dict[tuple[int, int], float] = {}
    for e in range(len(edges)):
        source, target = int(edges.sources[e]), int(edges.targets[e])
        if edges.kinds[e] != EdgeKind.CALLS or source not in covered or kinds[target] == NodeKind.EXTERNAL:
            continue
        path = graph.nodes.ids[source].partition("::")[0]
        name = graph.nodes.ids[target].rpartition("::")[2].rpartition(".")[2].partition("~")[0]
        is_seen = int(edges.rows[e]) + 1 in gold.lines.get(path, ()) and name not in unknown.get(source, ())
        key = source, nodes.as_class(target)
        if is_seen or key in wanted:
            found[key] = max(found.get(key, 0.0), float(edges.confidences[e]))
    likely = {pair for pair, value in found.items() if value >= 0.5}
    sure = {pair for pair, value in found.items() if value >= 0.99}
    yield "right", wanted & likely
    yield "missed", wanted - likely
    yield "wrong", likely - wanted - aside
    yield "sure", sure
    yield "wrong and sure", sure - wanted - aside
    yield "aside", aside - wanted


def report(
    program: str,
    read: Callable[[Path, list[str]], Gold],
    option: str,
    aside: str,
    source_kinds: frozenset[NodeKind] = frozenset(),
) -> int:
    """Print the comparison of one clone; `read` gets the clone and the values of the program's own option."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.benchmarks.edges.{program}")
    parser.add_argument("clone", type=Path)
    parser.add_argument(option, dest="own", action="append", default=[])
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    clone = arguments.clone.resolve()
    graph = Repository.open(clone, exact_root=True).index.graph
    print_comparison(
        clone.name, graph, dict(compare(graph, read(clone, arguments.own), source_kinds)), aside, arguments.show
    )
    return 0


def print_comparison(
    name: str, graph: CodeGraph, found: Mapping[str, set[tuple[int, int]]], aside: str, show: int
) -> None:
    """Print the totals of the sets that `compare` yields, and `show` of what is missed and of what is wrong."""
    right, missed, wrong = (len(found[each]) for each in ("right", "missed", "wrong"))
    recall, precision = right / max(1, right + missed), right / max(1, right + wrong)
    sys.stdout.write(
        f"{name}: {right + missed} calls, recall {recall:.3f}, precision {precision:.3f}, "
        f"F1 {2 * recall * precision / max(1e-9, recall + precision):.3f}; of {len(found['sure'])} edges of .99 "
        f"{len(found['wrong and sure'])} wrong; {len(found['aside'])} more {aside}\n"
    )
    for kind in ("missed", "wrong"):
        for a, b in sorted(found[kind])[:show]:
            mark = " (.99)" if (a, b) in found["wrong and sure"] else ""
            sys.stdout.write(f"  {kind} {graph.nodes.ids[a]} -> {graph.nodes.ids[b]}{mark}\n")
