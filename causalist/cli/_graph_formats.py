"""Render a code graph and some of its edges as text, in parts.

`node-link` and `graphml` contain all nodes inside the repository; the other formats only nodes with an edge. Edges keep
the order of the input.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from causalist.cli._output import escape_controls, to_json
from causalist.model.symbols import NodeKind, split_id
from causalist.serialize.answers import edge_document

if TYPE_CHECKING:
    from causalist.model.graph import CodeGraph, Edge
    from causalist.model.lookup import DependencyOrder

Format = Callable[["CodeGraph", Iterable["Edge"]], Iterator[str]]

_LINES_PER_PART = 1000
# Edges below this confidence are dashed: they are more likely wrong than right.
_DOUBTFUL_THRESHOLD = 0.5
# Characters that XML 1.0 cannot contain, not even as a reference.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_jsonl(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield one edge per line, with the keys of `edges` in `ask --json`."""
    return _join_parts(to_json(edge_document(edge)) + "\n" for edge in edges)


def render_node_link(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield node-link JSON for `networkx.node_link_graph(data, edges="edges")`."""
    import networkx  # type: ignore[import-untyped]

    yield to_json(networkx.node_link_data(_build_multigraph(graph, edges), edges="edges")) + "\n"


def render_graphml(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield GraphML for `networkx.read_graphml` and graph viewers.

    GraphML has no null, so that None values are omitted. Characters that XML cannot contain are percent-escaped, and so
    is `%` in the paths of ids.
    """
    import networkx

    multigraph = _build_multigraph(graph, edges)
    every = [attributes for _, attributes in multigraph.nodes(data=True)]
    every += [attributes for _, _, attributes in multigraph.edges(data=True)]
    for attributes in every:
        for name, value in list(attributes.items()):
            if value is None:
                del attributes[name]
            elif isinstance(value, str):
                attributes[name] = _escape_xml(value)
    renamed = {node: _escape_xml(node) for node in multigraph if _NOT_XML.search(node)}
    networkx.relabel_nodes(multigraph, renamed, copy=False)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield from _join_parts(f"{line}\n" for line in networkx.generate_graphml(multigraph))


def render_dot(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield DOT for Graphviz; doubtful edges are dashed."""
    return _join_parts(_dot_lines(edges))


def render_mermaid(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield a Mermaid flowchart; nodes are n0, n1, … with their id as label."""
    return _join_parts(_mermaid_lines(edges))


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "jsonl": render_jsonl,
        "node-link": render_node_link,
        "graphml": render_graphml,
        "dot": render_dot,
        "mermaid": render_mermaid,
    }
)


def render_order_dot(order: "DependencyOrder") -> Iterator[str]:
    """Yield a dependency order as DOT: cycles are clusters, and uses to cut are dashed and red."""
    return _join_parts(_order_dot_lines(order))


def render_order_mermaid(order: "DependencyOrder") -> Iterator[str]:
    """Yield a dependency order as a Mermaid flowchart: cycles are subgraphs, and uses to cut are dashed."""
    return _join_parts(_order_mermaid_lines(order))


def _order_dot_lines(order: "DependencyOrder") -> Iterator[str]:
    yield "digraph causalist {\n  node [shape=box];\n"
    for item in order.items:
        if item.cycle is None:
            yield f"  {_dot_string(item.node)};\n"
    for number, cycle in enumerate(order.cycles):
        yield f"  subgraph cluster_{number} {{ {' '.join(f'{_dot_string(each)};' for each in cycle.members)} }}\n"
    for source, target, is_cut in _uses(order):
        style = " [style=dashed, color=red]" if is_cut else ""
        yield f"  {_dot_string(source)} -> {_dot_string(target)}{style};\n"
    yield "}\n"


def _order_mermaid_lines(order: "DependencyOrder") -> Iterator[str]:
    yield "flowchart LR\n"
    names = {item.node: f"n{number}" for number, item in enumerate(order.items)}
    for item in order.items:
        if item.cycle is None:
            yield f'  {names[item.node]}["{_mermaid_label(item.node)}"]\n'
    for number, cycle in enumerate(order.cycles):
        yield f"  subgraph c{number} [cycle]\n"
        yield from (f'    {names[each]}["{_mermaid_label(each)}"]\n' for each in cycle.members)
        yield "  end\n"
    for source, target, is_cut in _uses(order):
        yield f"  {names[source]} {'-.->|cut|' if is_cut else '-->'} {names[target]}\n"


def _uses(order: "DependencyOrder") -> Iterator[tuple[str, str, bool]]:
    """Yield source and target of each use, and True for one to cut."""
    cuts = {(cut.source, cut.target) for cycle in order.cycles for cut in cycle.cuts}
    for item in order.items:
        yield from ((item.node, target, (item.node, target) in cuts) for target in item.uses)


def _dot_lines(edges: "Iterable[Edge]") -> Iterator[str]:
    yield "digraph causalist {\n  node [shape=box];\n"
    for edge in edges:
        dashed = ", style=dashed" if edge.confidence < _DOUBTFUL_THRESHOLD else ""
        yield (
            f"  {_dot_string(edge.source)} -> {_dot_string(edge.target)} "
            f"[label={_dot_string(edge.kind)}, rule={_dot_string(edge.rule)}, "
            f"confidence={edge.confidence!r}{dashed}];\n"
        )
    yield "}\n"


def _dot_string(text: str) -> str:
    from causalist._internal.escape import dot_string

    return dot_string(escape_controls(text), is_label=False)


def _mermaid_lines(edges: "Iterable[Edge]") -> Iterator[str]:
    yield "flowchart LR\n"
    names: dict[str, str] = {}
    for edge in edges:
        for node in (edge.source, edge.target):
            if node not in names:
                names[node] = f"n{len(names)}"
                yield f'  {names[node]}["{_mermaid_label(node)}"]\n'
        arrow = "-.->" if edge.confidence < _DOUBTFUL_THRESHOLD else "-->"
        yield f"  {names[edge.source]} {arrow}|{edge.kind}| {names[edge.target]}\n"


def _mermaid_label(text: str) -> str:
    from causalist._internal.escape import mermaid_label

    return mermaid_label(escape_controls(text))


def _build_multigraph(graph: "CodeGraph", edges: "Iterable[Edge]") -> Any:
    """Return a networkx.MultiDiGraph with edges keyed by kind.

    Its nodes are all nodes inside the repository and the ends of the edges.
    """
    import networkx

    result = networkx.MultiDiGraph()
    ids, nodes = graph.nodes.ids, graph.nodes
    for number, node in enumerate(ids):
        kind = graph.kind(number)
        if kind is not NodeKind.EXTERNAL:
            first, last = int(nodes.start_rows[number]) + 1, int(nodes.end_rows[number]) + 1
            result.add_node(
                node, kind=kind.label, path=split_id(node)[0], start_line=first, end_line=last,
                layer=graph.layer(number), tier=graph.tier(number),
            )  # fmt: skip
    for edge in edges:
        for node in (edge.source, edge.target):
            if node not in result:
                outside = dict.fromkeys(("path", "start_line", "end_line", "layer", "tier"))
                result.add_node(node, kind=NodeKind.EXTERNAL.label, **outside)
        attributes = edge_document(edge)
        result.add_edge(attributes.pop("source"), attributes.pop("target"), key=edge.kind, **attributes)
    return result


def _escape_xml(text: str) -> str:
    return _NOT_XML.sub(lambda match: "".join(f"%{b:02X}" for b in match[0].encode("utf-8", "surrogatepass")), text)


def _join_parts(lines: Iterable[str]) -> Iterator[str]:
    """Yield the same text in fewer, larger pieces."""
    remaining = iter(lines)
    while part := "".join(islice(remaining, _LINES_PER_PART)):
        yield part
