"""Whether one node uses another: yes, no, or not to be known."""

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.navigate import Known, Verdict
from causalist.model.symbols import split_id
from causalist.navigate.edges import calls_from, most_confident_first
from causalist.navigate.gaps import gaps_in
from causalist.navigate.reach import as_one, edges_out_of


def verdict_on(graph: CodeGraph, source: int, target: int, min_confidence: float) -> Verdict:
    """Yes where an edge with that confidence leads from `source` or what it contains to `target` or what that contains.
    Overloads of one name are one.

    Unknown where there are only weaker edges, or where the source calls something by the target's name of which
    nothing else is known. No where neither is so. Containing is no use.
    """
    edges, ids = graph.edges, graph.nodes.ids
    using, used = _inside(graph, source), _inside(graph, target)
    if source != target:  # of a class and its method, the class is what is outside of the method
        using, used = using & ~used, used & ~using
    numbers = edges_out_of(graph, np.flatnonzero(using))
    numbers = numbers[used[edges.targets[numbers]] & (edges.kinds[numbers] != EdgeKind.CONTAINS)]
    found = most_confident_first(graph.edge(number) for number in numbers.tolist())
    if any(edge.confidence >= min_confidence for edge in found):
        return Verdict(ids[source], ids[target], Known.YES, found)
    name = _name(ids[target])
    gaps = gaps_in(graph, using, lambda text: text == name) if name else ()
    known = Known.UNKNOWN if found or gaps else Known.NO
    return Verdict(ids[source], ids[target], known, found, (), gaps, calls_from(graph, source))


def _inside(graph: CodeGraph, node: int) -> NDArray[np.bool_]:
    inside = np.zeros(len(graph.nodes), dtype=np.bool_)
    inside[as_one(graph, [node])] = True
    return inside


def _name(node_id: str) -> str:
    symbol = split_id(node_id)[1] or ""
    return symbol.partition("~")[0].rpartition(".")[2]
