"""Small code graphs for tests: `make_graph(nodes, edges)` sorts and fills in everything that a test does not say."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from causalist.model.graph import CodeGraph, EdgeKind, EdgeTable, NodeTable
from causalist.model.node_ids import Layer, NodeKind, Role, Tier, escape_path, split_id
from causalist.model.string_table import StringTable


class NodeSpec(NamedTuple):
    """A node of a test graph. `kind` None follows from the id: external, passage, function or file."""

    id: str
    kind: NodeKind | None = None
    start_row: int = 0
    end_row: int = 0
    role: Role = Role.CODE
    signature: str = ""
    doc: str = ""
    start_byte: int = 0
    end_byte: int = 0
    layer: Layer = Layer.LOGIC
    tier: Tier = Tier.LEAF


class EdgeSpec(NamedTuple):
    """An edge of a test graph, by ids."""

    source: str
    target: str
    kind: EdgeKind = EdgeKind.CALLS
    confidence: float = 1.0
    candidates: int = 1
    n: int = 1
    row: int = 0
    rule: str = "import"


def make_graph(
    nodes: Iterable[str | NodeSpec | tuple], edges: Iterable[EdgeSpec | tuple] = (), rules: Iterable[str] = ()
) -> CodeGraph:
    """A `CodeGraph` from ids and edges in any order; tuples are taken as `NodeSpec` and `EdgeSpec`.

    A symbol's file must be among the nodes, if its id is made of a path. `rules` come first among the rule names; the
    edges' other rules follow, sorted.

    >>> graph = make_graph(["b.py", "a.py", "a.py::f", "external:os"], [("a.py::f", "b.py"), ("a.py", "external:os")])
    >>> list(graph.nodes.ids), graph.edge(1).source, graph.nodes.files.tolist()
    (['a.py', 'a.py::f', 'b.py', 'external:os'], 'a.py::f', [0, 0, 2, -1])
    """
    specs = [NodeSpec(node) if isinstance(node, str) else NodeSpec(*node) for node in nodes]
    specs.sort(key=lambda spec: spec.id)
    index = {spec.id: i for i, spec in enumerate(specs)}
    if len(index) < len(specs):
        raise ValueError("two nodes have the same id")
    kinds = [_kind(spec) for spec in specs]
    n = len(specs)

    links = [EdgeSpec(*edge) for edge in edges]
    links.sort(key=lambda e: (index[e.source], index[e.target], e.kind))
    triples = {(e.source, e.target, e.kind) for e in links}
    if len(triples) < len(links):
        raise ValueError("two edges have the same source, target and kind")
    first_rules = list(rules)
    rule_names = (*first_rules, *sorted({e.rule for e in links} - set(first_rules)))
    sources = np.array([index[e.source] for e in links], dtype=np.int32)
    targets = np.array([index[e.target] for e in links], dtype=np.int32)
    edge_kinds = np.array([e.kind for e in links], dtype=np.uint8)

    return CodeGraph(
        NodeTable(
            ids=StringTable.from_strings(spec.id for spec in specs),
            kinds=np.array(kinds, dtype=np.uint8),
            roles=np.array([spec.role for spec in specs], dtype=np.uint8),
            files=np.array([_file(spec, index) for spec in specs], dtype=np.int32),
            parents=np.array([_parent(spec, index) for spec in specs], dtype=np.int32),
            start_bytes=np.array([spec.start_byte for spec in specs], dtype=np.int64),
            end_bytes=np.array([spec.end_byte for spec in specs], dtype=np.int64),
            start_rows=np.array([spec.start_row for spec in specs], dtype=np.int32),
            end_rows=np.array([spec.end_row for spec in specs], dtype=np.int32),
            signatures=StringTable.from_strings(spec.signature for spec in specs),
            docs=StringTable.from_strings(spec.doc for spec in specs),
            layers=np.array([spec.layer for spec in specs], dtype=np.uint8),
            tiers=np.array([spec.tier for spec in specs], dtype=np.uint8),
        ),
        EdgeTable(
            indptr=_indptr(sources, n),
            sources=sources,
            targets=targets,
            kinds=edge_kinds,
            rules=np.array([rule_names.index(e.rule) for e in links], dtype=np.uint8),
            confidences=np.array([e.confidence for e in links], dtype=np.float64),
            candidates=np.array([e.candidates for e in links], dtype=np.int32),
            counts=np.array([e.n for e in links], dtype=np.int32),
            rows=np.array([e.row for e in links], dtype=np.int32),
            incoming=np.lexsort((edge_kinds, sources, targets)).astype(np.int32),
            incoming_indptr=_indptr(targets, n),
        ),
        rule_names,
    )


@st.composite
def random_graphs(
    draw: st.DrawFn, *, max_nodes: int = 9, max_links: int = 24, kinds: Iterable[EdgeKind] = tuple(EdgeKind)
) -> CodeGraph:
    """Graphs with files, symbols, externals, loops, several components, dangling nodes and candidate sets."""
    n_files = draw(st.integers(1, 3))
    files = [f"f{i}.py" for i in range(n_files)]
    symbols = [f"{draw(st.sampled_from(files))}::s{i}" for i in range(draw(st.integers(0, max_nodes - n_files)))]
    externals = [f"external:x{i}" for i in range(draw(st.integers(0, 2)))]
    nodes = files + symbols + externals
    edges: dict[tuple[str, str, EdgeKind], EdgeSpec] = {}
    for _ in range(draw(st.integers(0, max_links))):
        source = draw(st.sampled_from(files + symbols))
        kind = draw(st.sampled_from(tuple(kinds)))
        targets = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=3, unique=True))
        precision = draw(st.sampled_from([1.0, 0.95, 0.6, 0.3, 0.05]))
        n, row = draw(st.integers(1, 3)), draw(st.integers(-1, 30))
        rule = draw(st.sampled_from(["import", "name-only", "same-file"]))
        for target in targets:
            spec = EdgeSpec(source, target, kind, precision / len(targets), len(targets), n, row, rule)
            edges.setdefault((source, target, kind), spec)
    return make_graph(nodes, edges.values(), rules=("import", "name-only", "same-file"))


def _indptr(rows: np.ndarray, n: int) -> np.ndarray:
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    return indptr


def _kind(spec: NodeSpec) -> NodeKind:
    if spec.kind is not None:
        return spec.kind
    if spec.id.startswith("external:"):
        return NodeKind.EXTERNAL
    if "::" in spec.id:
        return NodeKind.FUNCTION
    return NodeKind.PASSAGE if "#" in spec.id else NodeKind.FILE


def _file(spec: NodeSpec, index: dict[str, int]) -> int:
    if _kind(spec) in (NodeKind.EXTERNAL, NodeKind.ENTITY):
        return -1
    path = escape_path(split_id(spec.id)[0])
    if path not in index:
        raise ValueError(f"the file of {spec.id} is not among the nodes")
    return index[path]


def _parent(spec: NodeSpec, index: dict[str, int]) -> int:
    """The longest enclosing symbol that is a node, or else the file."""
    if _kind(spec) in (NodeKind.FILE, NodeKind.EXTERNAL, NodeKind.ENTITY):
        return -1
    path, separator, name = spec.id.partition("::")
    while separator and "." in name:
        name = name.rpartition(".")[0]
        if f"{path}::{name}" in index:
            return index[f"{path}::{name}"]
    return _file(spec, index)
