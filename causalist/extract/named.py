"""Nodes and edges of the subgraph with their names: what goes into an answer."""

from collections.abc import Sequence

from causalist.model.answer import Level
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.scores import Hit, Hop
from causalist.model.subgraph import SubgraphEdge
from causalist.model.symbols import split_id


def hops_between(graph: CodeGraph, paths: Sequence[tuple[Hop, ...]], nodes: Sequence[int], level: Level) -> list[int]:
    """Nodes (or, for files, the files of nodes) on the paths of hits that are no hits themselves, as they appear."""
    seen = set(nodes)
    result: list[int] = []
    for path in paths:
        for hop in path:
            number = graph.nodes.ids.position(hop.node)
            if level is Level.FILE:
                number = int(graph.nodes.files[number])
            if number not in seen:
                seen.add(number)
                result.append(number)
    return result


def named_edge(graph: CodeGraph, edge: SubgraphEdge, ids: Sequence[str]) -> Edge:
    """An edge of the subgraph with ids, labels and a 1-based line."""
    return Edge(
        source=ids[edge.source],
        target=ids[edge.target],
        kind=EdgeKind(edge.kind).label,
        rule=graph.rule_names[edge.rule],
        confidence=edge.confidence,
        line=edge.row + 1 if edge.row >= 0 else None,
        n=edge.n,
        candidates=edge.candidates,
    )


def hit_of(graph: CodeGraph, node: int, score: float, pagerank: float, path: tuple[Hop, ...]) -> Hit:
    """A node as a hit, without reasons."""
    nodes = graph.nodes
    node_id = nodes.ids[node]
    file_path, symbol = split_id(node_id)
    return Hit(
        node=node,
        id=node_id,
        path=file_path,
        symbol=symbol,
        kind=graph.kind(node).label,
        start_row=int(nodes.start_rows[node]),
        end_row=int(nodes.end_rows[node]),
        start_byte=int(nodes.start_bytes[node]),
        end_byte=int(nodes.end_bytes[node]),
        signature=nodes.signatures[node],
        doc=nodes.docs[node],
        score=score,
        pagerank=pagerank,
        path_from_seed=path,
        layer=graph.layer(node),
        tier=graph.tier(node),
    )
