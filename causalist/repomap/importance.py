"""How much of the code rests on each node: PageRank without a question."""

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph
from causalist.model.scores import Transition
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role
from causalist.rank import within
from causalist.rank.pagerank.power_iteration import personalized_pagerank

_DEFINITIONS = sorted(CALLABLE_KINDS | TYPE_KINDS)


def product_nodes(graph: CodeGraph) -> NDArray[np.bool_]:
    """Shape (n_nodes,): what is in the files that make up the product: code, or whatever there is where none is."""
    nodes = graph.nodes
    is_definition = np.isin(nodes.kinds, _DEFINITIONS)
    product = (nodes.roles == Role.CODE) & (nodes.kinds != NodeKind.EXTERNAL)
    if (is_definition & product).any():
        return np.asarray(product, dtype=np.bool_)
    others = nodes.kinds != NodeKind.EXTERNAL
    return np.asarray(others, dtype=np.bool_)


def importance(graph: CodeGraph, transition: Transition, product: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Shape (n_nodes,), sums to 1, or all 0 without a definition: PageRank with all definitions of the product as seeds
    alike, walking from and to nodes of the product alone. What only tests use is not important for that."""
    seeds = (np.isin(graph.nodes.kinds, _DEFINITIONS) & product & transition.walkable).astype(np.float64)
    if not seeds.any():
        return np.zeros(len(graph.nodes))
    scores = personalized_pagerank(within(transition, product), seeds).scores
    return np.asarray(scores * product, dtype=np.float64)
