"""`graph_peer.py PROGRAM TASK FOLDER`: one task over a graph of `store_graphs`, with arrays or with networkx.

load       read the graph of the walk from disk: the mapped index, or a pickled `DiGraph` (its fastest format)
pagerank   Personalized PageRank from 50 seeds to an L1 step of 1e-5, on the loaded graph
reach      the nodes that a path leads to from the same 50 nodes, over the edges as they were found

Nodes of the `DiGraph` are integers without attributes, which is as small as it can be. Importing scipy, which
`networkx.pagerank` needs, counts as importing.
"""

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.libraries.measuring import report

if TYPE_CHECKING:
    from causalist.model.index import Index

TASKS = ("load", "pagerank", "reach")
_N_SEEDS = 50
_DAMPING, _TOLERANCE = 0.85, 1e-5


def store_graphs(repo: Path, folder: Path) -> str:
    """Store the index of `repo` and the same graph for networkx in `folder`; return the size of the graph."""
    import networkx

    from causalist import Repository
    from causalist.store import write_index

    index = Repository.open(repo, exact_root=True).index
    write_index(folder / "index.bin", index)
    walk, edges, n = index.transition, index.graph.edges, len(index.graph.nodes)
    rows = [row for row in range(n) for _ in range(walk.indptr[row], walk.indptr[row + 1])]
    entries = zip(walk.indices.tolist(), rows, walk.weights.tolist(), strict=True)
    for name, add in (
        ("walk", lambda graph: graph.add_weighted_edges_from(entries)),
        ("edges", lambda graph: graph.add_edges_from(zip(edges.sources.tolist(), edges.targets.tolist(), strict=True))),
    ):
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(n))
        add(graph)
        with (folder / f"{name}.pickle").open("wb") as file:
            pickle.dump(graph, file, protocol=pickle.HIGHEST_PROTOCOL)
    return f"{n} nodes, {len(edges)} edges, {len(walk.indices)} entries of the transition matrix"


def seed_nodes(n: int) -> list[int]:
    """Return 50 nodes at equal distances."""
    return list(range(0, n, n // _N_SEEDS))[:_N_SEEDS]


def causalist(task: str, folder: Path) -> Callable[[], object]:
    import numpy as np

    from causalist.navigate.edges import mark_reachable
    from causalist.rank.pagerank import personalized_pagerank
    from causalist.store import read_index

    def load() -> "Index":
        index = read_index(folder / "index.bin")
        assert index is not None
        return index

    if task == "load":
        return lambda: f"{len(load().graph.nodes)} nodes"
    index = load()
    nodes = np.array(seed_nodes(len(index.graph.nodes)))

    def pagerank() -> object:
        seeds = np.zeros(len(index.graph.nodes))
        seeds[nodes[index.transition.walkable[nodes]]] = 1
        result = personalized_pagerank(index.transition, seeds, damping=_DAMPING, tolerance=_TOLERANCE)
        return f"{result.n_iterations} iterations"

    def reach() -> object:
        usable = np.ones(len(index.graph.edges), dtype=np.bool_)
        return f"{int(mark_reachable(index.graph, nodes, usable, backward=False).sum())} nodes"

    return {"pagerank": pagerank, "reach": reach}[task]


def networkx(task: str, folder: Path) -> Callable[[], object]:
    import networkx
    import scipy.sparse  # type: ignore[import-untyped]  # noqa: F401

    def load(name: str) -> "networkx.DiGraph":
        with (folder / f"{name}.pickle").open("rb") as file:
            return pickle.load(file)

    if task == "load":
        return lambda: f"{len(load('walk'))} nodes"
    graph = load("walk" if task == "pagerank" else "edges")
    nodes = seed_nodes(len(graph))

    def pagerank() -> object:
        reset = {node: 1.0 for node in nodes if graph.degree(node)}
        # networkx stops at an L1 step of n * tol.
        scores = networkx.pagerank(
            graph, alpha=_DAMPING, personalization=reset, dangling=reset, tol=_TOLERANCE / len(graph), max_iter=500
        )
        return f"{len(scores)} nodes"

    def reach() -> object:
        return f"{sum(len(layer) for layer in networkx.bfs_layers(graph, nodes))} nodes"

    return {"pagerank": pagerank, "reach": reach}[task]


if __name__ == "__main__":
    program = {"causalist": causalist, "networkx": networkx}[sys.argv[1]]
    report(lambda: program(sys.argv[2], Path(sys.argv[3])))
