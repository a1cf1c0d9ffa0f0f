"""Walks over graphs that nobody stores: `python -m tests.benchmarks.fleet.implicit_walks [--largest EDGES]`.

A repository of an implicit graph is made when the walk opens it: its links are numbers that its own number seeds, so
that a graph of 10^9 edges needs no memory but for what is opened. Links across lead to any repository, the first ones
more often, as packages that many use. The walk is that of `causalist.fleet.walk`, with the threshold and the number of
repositories that questions have. Printed are what was opened and pushed and what it cost, by size of the graph.
"""

import argparse
import time
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from causalist.fleet.question import EPSILON
from causalist.fleet.walk import MAX_SHARDS, ShardColumns, make_links, walk_across

N_NODES = 2_000  # of a repository
N_INSIDE = 5  # links of a node
ACROSS_SHARE = 0.05  # of nodes that have a link across
DAMPING = 0.85
N_WALKS = 20
EDGES_OF_ONE = N_NODES * N_INSIDE + int(ACROSS_SHARE * N_NODES)


class _Numbers:
    """The ids of the nodes of a repository: their numbers."""

    def position(self, node: str) -> int:
        return int(node)


class ImplicitGraph:
    """A graph of `n` repositories, each made from its number alone."""

    def __init__(self, n: int) -> None:
        self._n = n
        self.n_made = 0

    def columns(self, name: str) -> ShardColumns:
        """Return the columns of a repository."""
        self.n_made += 1
        chance = np.random.default_rng([self._n, int(name)])
        owners = np.repeat(np.arange(N_NODES), N_INSIDE)
        nearby = (owners + chance.geometric(0.02, len(owners))) % N_NODES  # most links lead to what is near
        crossing = np.sort(chance.choice(N_NODES, int(ACROSS_SHARE * N_NODES), replace=False))
        place = np.full(N_NODES, -1, dtype=np.int64)
        place[crossing] = np.arange(len(crossing))
        is_crossing = place[owners] >= 0
        share = 1.0 / N_INSIDE
        inside = make_links(owners, nearby, np.where(is_crossing, 0.0, share), N_NODES)
        # A link across takes half of the mass of its node.
        boundary = make_links(
            place[owners[is_crossing]], nearby[is_crossing], np.full(int(is_crossing.sum()), share / 2), len(crossing)
        )
        targets = (self._n * chance.random(len(crossing)) ** 3).astype(np.int64)
        nodes = chance.integers(0, N_NODES, len(crossing))
        others = tuple((str(target), str(node)) for target, node in zip(targets.tolist(), nodes.tolist(), strict=True))
        rows = np.arange(len(crossing))
        across = make_links(rows, rows, np.full(len(crossing), 0.5), len(crossing))
        n_links: NDArray[np.int64] = np.full(N_NODES, N_INSIDE, dtype=np.int64)
        n_links[crossing] += 1
        index: Any = SimpleNamespace(graph=SimpleNamespace(nodes=SimpleNamespace(ids=_Numbers())))
        return ShardColumns(cast("Any", index), inside, place, boundary, across, others, n_links)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=10**9, help="edges")
    largest = parser.parse_args().largest
    n_edges = 10**5
    while n_edges <= largest:
        n = max(1, n_edges // EDGES_OF_ONE)
        seconds, opened, rounds, touched, bounds = [], [], [], [], []
        for number in range(N_WALKS):
            graph = ImplicitGraph(n)
            chance = np.random.default_rng(number)
            seeds = np.zeros(N_NODES)
            seeds[chance.choice(N_NODES, 20, replace=False)] = 1.0
            began = time.process_time()
            walk = walk_across(
                {str(int(chance.integers(n))): seeds}, graph.columns, damping=DAMPING, epsilon=EPSILON,
                max_shards=MAX_SHARDS,
            )  # fmt: skip
            seconds.append(time.process_time() - began)
            opened.append(graph.n_made)
            rounds.append(walk.n_rounds)
            touched.append(sum(int(np.count_nonzero(each)) for each in walk.scores.values()))
            bounds.append(walk.bound)
        print(f"{n * EDGES_OF_ONE:13,} edges, {n:7,} repositories: {np.median(seconds):.3f} s (most "
              f"{max(seconds):.3f}), {np.median(opened):.0f} repositories opened, {np.median(touched):.0f} nodes "
              f"touched, {np.median(rounds):.0f} rounds, bound {np.median(bounds):.1e}")  # fmt: skip
        n_edges *= 10


if __name__ == "__main__":
    main()
