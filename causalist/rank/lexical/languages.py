"""What kind of code a file is: how much of the repository is written in its language, by the ends of file names, and
whether it does anything."""

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph
from causalist.model.string_table import StringTable
from causalist.model.symbols import NodeKind, Role

_NO_DEFINITIONS = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.EXTERNAL)
# By kind; looked up for all nodes, which takes a fraction of `np.isin`.
DEFINES = ~np.isin(np.arange(max(NodeKind) + 1), _NO_DEFINITIONS)
_RUNS = np.isin(np.arange(max(NodeKind) + 1), (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.PASSAGE))
_LONGEST = 8  # bytes of an end, with the dot, that are told apart; one machine word


def language_shares(graph: CodeGraph) -> NDArray[np.float64]:
    """Shape (n_nodes,): of each file, the share of all files of code whose names end alike; 0 for nodes that are no
    files, and where there is no code. Code is what defines something: templates and drawings do not.

    Scripts, pages and configuration beside the code proper are seldom what is looked for."""
    nodes = graph.nodes
    result = np.zeros(len(nodes))
    files = np.flatnonzero(nodes.kinds == NodeKind.FILE)
    if not len(files):
        return result
    ends, places = np.unique(_ends(nodes.ids, files), return_inverse=True)
    is_code = np.zeros(len(nodes), dtype=np.bool_)
    is_code[nodes.files[(nodes.files >= 0) & DEFINES[nodes.kinds]]] = True
    is_code &= nodes.roles == Role.CODE
    of_ends = np.bincount(places[is_code[files]], minlength=len(ends))
    result[files] = of_ends[places] / max(int(of_ends.sum()), 1)
    return result


def files_that_run(graph: CodeGraph) -> NDArray[np.bool_]:
    """Shape (n_nodes,): files that define a function or method with a body, or are prose; others declare, or pass on
    definitions."""
    files, kinds, parents = graph.nodes.files, graph.nodes.kinds, graph.nodes.parents
    inside = _RUNS[kinds] & (files >= 0)
    inside &= (parents < 0) | (kinds[np.maximum(parents, 0)] != NodeKind.INTERFACE)
    result = np.zeros(len(graph.nodes), dtype=np.bool_)
    result[files[inside]] = True
    return result


def _ends(ids: StringTable, files: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Shape (n_files,): what follows the last dot among the last bytes of each, as a number; 0 where there is none."""
    stops = ids.offsets[files + 1]
    lengths = stops - ids.offsets[files]
    back = np.arange(_LONGEST, 0, -1)
    places = stops[:, None] - back
    last = np.where(back <= lengths[:, None], ids.blob[np.maximum(places, 0)], 0)
    n_after = np.argmax(last[:, ::-1] == ord("."), axis=1)  # bytes behind the last dot; 0 without a dot, too
    kept = np.where(back <= n_after[:, None], last, 0).astype(np.uint8)
    numbers: NDArray[np.uint64] = np.ascontiguousarray(kept).view(np.uint64)[:, 0]
    return numbers
