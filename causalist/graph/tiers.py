"""How much rests on each node: its tier, by the rank of its fan-in."""

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import ORDERING_KINDS, EdgeKind, EdgeTable
from causalist.model.symbols import NodeKind, Tier

# Edges that are less certain do not count: guesses share a name among many that nobody uses.
MIN_CONFIDENCE = 0.5
_ORDERS = np.isin(np.arange(max(EdgeKind) + 1), sorted(ORDERING_KINDS))  # by EdgeKind
_NOT_RANKED = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.ENTITY, NodeKind.EXTERNAL)


def fan_in(edges: EdgeTable, n_nodes: int) -> NDArray[np.int64]:
    """Shape (n_nodes,): how many other nodes use each node, by edges of use with a confidence of at least 0.5.

    However many kinds of edges lead from one node to another, it counts once; a node's use of itself does not count.
    """
    counted = _ORDERS[edges.kinds] & (edges.confidences >= MIN_CONFIDENCE)
    counted &= edges.sources != edges.targets
    sources, targets = edges.sources[counted], edges.targets[counted]
    first = np.ones(len(sources), dtype=np.bool_)  # edges are sorted by source and target
    first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    return np.bincount(targets[first], minlength=n_nodes)


def tiers(kinds: NDArray[np.uint8], fan_ins: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Shape (n_nodes,), of Tier. Symbols are ranked among symbols and files among files, by falling fan-in, ties by
    node (that is, by id). Of n, the first n / 10 are hot and the others of the first n / 4 are core, both rounded up,
    so that the most used of a few is hot too. What nothing uses is leaf whatever its rank, and so is all else.

    >>> kinds = np.array([NodeKind.FUNCTION] * 5 + [NodeKind.PASSAGE], dtype=np.uint8)
    >>> [Tier(t).label for t in tiers(kinds, np.array([0, 3, 1, 3, 0, 9])).tolist()]
    ['leaf', 'hot', 'leaf', 'core', 'leaf', 'leaf']
    """
    result = np.full(len(kinds), Tier.LEAF, dtype=np.uint8)
    is_file = kinds == NodeKind.FILE
    for group in (np.flatnonzero(is_file), np.flatnonzero(~np.isin(kinds, _NOT_RANKED))):
        n = len(group)
        falling = fan_ins.max(initial=0) - fan_ins[group]
        if falling.max(initial=0) <= np.iinfo(np.uint16).max:
            falling = falling.astype(np.uint16)  # which numpy counts instead of comparing
        order = group[np.argsort(falling, kind="stable")]
        result[order[: -(-n // 4)]] = Tier.CORE
        result[order[: -(-n // 10)]] = Tier.HOT
    result[fan_ins == 0] = Tier.LEAF
    return result
