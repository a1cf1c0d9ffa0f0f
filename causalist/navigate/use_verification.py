"""Verdict whether one node uses another: yes, no or unknown, with the reason.

In: an `Index` and two nodes. Out: the verdict, and the unresolved calls (only the name of the callee is known) that
could change it.
"""

import re
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from causalist.graph import RULES, load_confidences
from causalist.model.facts import Call
from causalist.model.graph import SYMMETRIC_KINDS, CodeGraph, Edge, EdgeKind
from causalist.model.index import Index
from causalist.model.lookup import CallSite, Certainty, RulePrecision, UnresolvedCall, Verdict, VerdictReason
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, last_name, split_id
from causalist.navigate.edges import calls_from, mark_reachable, sort_by_confidence, with_overloads_and_members
from causalist.navigate.implicit_calls import class_of_constructor, edge_of, find_implicit_uses
from causalist.parse import dialect_of, load_settings
from causalist.rank import find_nodes_by_name

_CALLED_KINDS = sorted((CALLABLE_KINDS | TYPE_KINDS) - {NodeKind.HANDLER})


def list_unresolved_calls(
    graph: CodeGraph, is_inside: NDArray[np.bool_], may_mean: Callable[[str], bool]
) -> tuple[UnresolvedCall, ...]:
    """Return the unresolved calls of some nodes whose name `may_mean` accepts, by node and name.

    `is_inside` is the mask of these nodes, of shape (n_nodes,).
    """
    unresolved = graph.unresolved
    rows = np.flatnonzero(is_inside[unresolved.sources]) if len(unresolved) else np.zeros(0, dtype=np.int64)
    definitions_by_name = {
        name: may_mean(unresolved.texts[name]) for name in np.unique(unresolved.names[rows]).tolist()
    }
    return tuple(
        UnresolvedCall(
            graph.nodes.ids[int(unresolved.sources[i])],
            unresolved.texts[int(unresolved.names[i])],
            int(unresolved.rows[i]) + 1,
            int(unresolved.counts[i]),
        )
        for i in rows.tolist()
        if definitions_by_name[int(unresolved.names[i])]
    )


def find_completing_calls(index: Index, source: int, target: int) -> tuple[UnresolvedCall, ...]:
    """Return the unresolved calls that could complete a path from `source` to `target`.

    Their callers are reachable from the source. Their names are those of callables or types from which the target is
    reachable.
    """
    graph = index.graph
    usable = ~np.isin(graph.edges.kinds, sorted(SYMMETRIC_KINDS))
    before = mark_reachable(graph, np.array([source]), usable, backward=False)
    behind = mark_reachable(graph, np.array([target]), usable, backward=True)
    behind &= np.isin(graph.nodes.kinds, _CALLED_KINDS)

    def may_mean(name: str) -> bool:
        return any(bool(behind[node]) for node in find_nodes_by_name(name, index.lexical))

    return list_unresolved_calls(graph, before, may_mean)


_MEANINGS = {rule.name.value: rule.meaning for rule in RULES}
_NUMBERED = re.compile(r"~\d+")


def verify_use(
    graph: CodeGraph,
    source: int,
    target: int,
    min_confidence: float,
    file_calls: Iterable[Call] = (),
    rows_written: Callable[[str], Iterable[int]] = lambda _: (),
) -> Verdict:
    """Return whether `source` uses `target`: yes, no or unknown, with the reason.

    Yes: an edge with at least that confidence leads from `source` or its contents to `target` or its contents.
    Overloads of one name are one, as are functions between which a build chooses. Making an instance uses the
    constructor. A user of a class may use its special methods, which is a weaker edge. A request uses what handles its
    route. Containment is no use.
    `file_calls` are the calls in the file of `source`.
    `rows_written` returns the rows of that file in which a word stands.

    Unknown: there are only weaker edges; or the source has a call by the target's name for which no other callee is
    certain; or it calls a method that the target overrides; or the target's name stands in it, as in a string; or the
    target is kept somewhere as a value, and the source calls a value. No: none of these holds.
    """
    edges, ids = graph.edges, graph.nodes.ids
    is_source, is_target = _inside(graph, source), _inside(graph, target)
    if graph.kind(source) is NodeKind.FILE and graph.nodes.files[target] == source:
        is_source &= ~is_target  # what stands beside the target in its file
    elif source != target:  # of a class and its method, the class is what is outside of the method
        is_source, is_target = is_source & ~is_target, is_target & ~is_source
    names = _names(graph, target)
    numbers = graph.edges_out_of(np.flatnonzero(is_source))
    is_meant = is_target[edges.targets[numbers]] & (edges.kinds[numbers] != EdgeKind.CONTAINS)
    # Documentation uses what it mentions; a test whose docstring names something may not.
    is_prose = np.isin(graph.nodes.kinds[edges.sources[numbers]], (NodeKind.PASSAGE, NodeKind.FILE))
    is_meant &= is_prose | (edges.kinds[numbers] != EdgeKind.MENTIONS)
    # A request of a route uses what handles it.
    handled = (edges.kinds == EdgeKind.ROUTES) & is_target[edges.targets]
    routes = edges.sources[handled & (graph.nodes.kinds[edges.sources] == NodeKind.EXTERNAL)]
    is_meant |= (edges.kinds[numbers] == EdgeKind.ROUTES) & np.isin(edges.targets[numbers], routes)
    matching = numbers[is_meant].tolist()
    uses = find_implicit_uses(graph, [target, *graph.namesakes(target)])
    implicit = [use for use in uses if is_source[edges.sources[use.number]] and use.number not in matching]
    using_edges = sort_by_confidence([*map(graph.edge, matching), *(edge_of(graph, use) for use in implicit)])
    is_meant |= np.isin(numbers, [use.number for use in implicit])
    bases = tuple(find_rule_precision(edge) for edge in using_edges)
    if any(edge.certainty >= min_confidence for edge in using_edges):
        return Verdict(ids[source], ids[target], Certainty.YES, VerdictReason.USES, using_edges, (), bases)
    gaps = list_unresolved_calls(graph, is_source, lambda text: text in names) if names else ()
    is_call = (edges.kinds[numbers] == EdgeKind.CALLS) & ~is_meant
    others = [graph.edge(number) for number in numbers[is_call].tolist()]
    others = [edge for edge in others if last_name(edge.target) in names]
    overridden = [edge for edge in others if _overrides(graph, target, ids.position(edge.target))]
    sites = _sites(graph, source, is_target, names, file_calls)
    n_elsewhere = sum(edge.n / edge.candidates for edge in others)
    certainty = Certainty.UNKNOWN
    if using_edges:
        reason = VerdictReason.WEAK
    elif gaps:
        reason = VerdictReason.RECEIVER
    elif overridden:
        reason, others = VerdictReason.DISPATCH, overridden
    elif n_elsewhere < len(sites) and any("." in site.callee for site in sites):
        reason = VerdictReason.UNCLEAR
    else:
        certainty = Certainty.NO
        reason = VerdictReason.ELSEWHERE if others else VerdictReason.OUTSIDE if sites else VerdictReason.ABSENT
        if reason is VerdictReason.ABSENT:
            leaf = last_name(ids[target])
            written = _rows_inside(graph, source, is_target, rows_written(leaf)) if leaf else []
            if written:
                certainty, reason = Certainty.UNKNOWN, VerdictReason.WRITTEN
                sites = tuple(CallSite(row + 1, leaf) for row in written)
            elif _is_kept(graph, is_target, is_source) and list_unresolved_calls(graph, is_source, lambda _: True):
                certainty, reason = Certainty.UNKNOWN, VerdictReason.KEPT
                gaps = list_unresolved_calls(graph, is_source, lambda _: True)
    instead = sort_by_confidence(others)
    calls = calls_from(graph, source)
    return Verdict(ids[source], ids[target], certainty, reason, using_edges, (), bases, sites, gaps, instead, calls)


def find_rule_precision(edge: Edge) -> RulePrecision:
    """Return the rule, and its measured precision, that the confidence of an edge rests on.

    An edge that only runs have seen has no rule.
    """
    if edge.rule not in _MEANINGS:
        return RulePrecision("no rule finds it; it was seen when the code ran", 0, 0, 0, "")
    settings = load_settings().get(dialect_of(split_id(edge.source)[0]))
    kind = next(kind for kind in EdgeKind if kind.label == edge.kind)
    measured = load_confidences().measurement_of(edge.rule, kind, settings.name if settings else "")
    meaning = _MEANINGS.get(edge.rule, "")
    if measured is None:
        return RulePrecision(meaning, 0, 0, 0, "")
    return RulePrecision(meaning, measured.right, measured.wrong, measured.repositories, measured.language)


def _inside(graph: CodeGraph, node: int) -> NDArray[np.bool_]:
    is_inside = np.zeros(len(graph.nodes), dtype=np.bool_)
    is_inside[with_overloads_and_members(graph, [node])] = True
    return is_inside


def _names(graph: CodeGraph, target: int) -> frozenset[str]:
    """Return the names by which a call may denote the target; a constructor also has the name of its class."""
    node_id = graph.nodes.ids[target]
    owner = class_of_constructor(graph, target)
    return frozenset({last_name(node_id), last_name(graph.nodes.ids[owner]) if owner >= 0 else ""} - {""})


def _sites(
    graph: CodeGraph, source: int, is_target: NDArray[np.bool_], names: frozenset[str], file_calls: Iterable[Call]
) -> tuple[CallSite, ...]:
    """Return the calls by one of those names in the rows of the source, outside of the rows of the target."""
    nodes = graph.nodes
    file = nodes.files[source]
    spans = [(int(nodes.start_rows[i]), int(nodes.end_rows[i])) for i in (source, *graph.namesakes(source))]
    aside = [
        (int(nodes.start_rows[i]), int(nodes.end_rows[i]))
        for i in np.flatnonzero(is_target & (nodes.files == file) & (nodes.parents >= 0)).tolist()
    ]
    sites = [
        CallSite(call.row + 1, _NUMBERED.sub("", call.callee))
        for call in file_calls
        if _NUMBERED.sub("", call.callee).replace("::", ".").rpartition(".")[2] in names
        and any(start <= call.row <= end for start, end in spans)
        and not any(start <= call.row <= end for start, end in aside)
    ]
    return tuple(sorted(sites))


def _rows_inside(graph: CodeGraph, source: int, is_target: NDArray[np.bool_], rows: Iterable[int]) -> list[int]:
    """Return those of some rows of the file that are in the source and outside of the target."""
    nodes = graph.nodes
    spans = [(int(nodes.start_rows[i]), int(nodes.end_rows[i])) for i in (source, *graph.namesakes(source))]
    inside = np.flatnonzero(is_target & (nodes.files == nodes.files[source]) & (nodes.parents >= 0)).tolist()
    aside = [(int(nodes.start_rows[i]), int(nodes.end_rows[i])) for i in inside]
    return sorted(
        row
        for row in set(rows)
        if any(start <= row <= end for start, end in spans) and not any(start <= row <= end for start, end in aside)
    )


def _is_kept(graph: CodeGraph, is_target: NDArray[np.bool_], is_source: NDArray[np.bool_]) -> bool:
    """Return True if a function of the target is handed on or kept as a value."""
    edges, kinds = graph.edges, graph.nodes.kinds
    functions = np.flatnonzero(is_target & np.isin(kinds, sorted(CALLABLE_KINDS)))
    return bool((edges.kinds[graph.edges_into(functions)] == EdgeKind.REFERENCES).any())


def _overrides(graph: CodeGraph, target: int, called: int) -> bool:
    """Return True if the type of `target` derives from the type of `called`."""
    ids, kinds = graph.nodes.ids, graph.edges.kinds
    derived, base = (ids.position(_owner(ids[node])) for node in (target, called))
    if derived < 0 or base < 0:
        return False
    usable = (kinds == EdgeKind.EXTENDS) | (kinds == EdgeKind.IMPLEMENTS)
    return derived != base and bool(mark_reachable(graph, np.array([derived]), usable, backward=False)[base])


def _owner(node_id: str) -> str:
    """Return the id of the type that encloses a member, "" for an id that is no member."""
    path, _, symbol = node_id.partition("::")
    holder = symbol.rpartition(".")[0]
    return f"{path}::{holder}" if holder else ""
