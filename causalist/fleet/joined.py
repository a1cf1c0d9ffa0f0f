"""One graph of several shards, with the edges between them; look-ups of a single repository work on it as they are.

In: shards and edges across them. Out: a `CodeGraph` whose ids begin with the name of their repository:
`encode/httpx:httpx/_api.py::get`, and `external:encode/httpx:certifi` for what is outside of one. Nothing is stored.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import FleetError
from causalist.graph.node_and_edge_arrays import EdgeColumns, build_edge_table
from causalist.index.source_text import SourceText
from causalist.model.graph import CodeGraph, EdgeKind, NodeTable, UnresolvedCalls, rows_of
from causalist.model.index import Index, LexicalIndex, Manifest, Postings, SecretSpans
from causalist.model.node_ids import NodeKind
from causalist.model.scores import Hit, Transition
from causalist.model.string_table import StringTable
from causalist.rank import WalkWeights, build_transition
from causalist.rank.terms import terms_of

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository

_OUTSIDE = "external:"
_KINDS = {kind.label: kind for kind in EdgeKind}
# Columns of the table of edges across repositories; nodes are ids inside of their repositories.
COLUMNS = (
    "source_repository", "source", "target_repository", "target", "kind", "rule", "confidence", "row", "n",
)  # fmt: skip
_REPEATED = ("source_repository", "target_repository", "kind", "rule")  # columns of few values


def _kind(label: str) -> EdgeKind:
    return _KINDS.get(label, EdgeKind.REFERENCES)  # another use of something


class CrossEdge(NamedTuple):
    """An edge from a node of one repository to a node of another. `row` is 0-based, -1 for none."""

    source_repo: str
    source_node: str
    target_repo: str
    target_node: str
    kind: str
    rule: str
    confidence: float
    row: int
    n: int


class EdgeEnds(NamedTuple):
    """Edges between nodes of one repository and those of others; all arrays have shape (n_edges,).

    `nodes` and `others` are distinct ids, `places` and `other_places` index them; `repositories` index the names.
    """

    nodes: list[str]
    places: NDArray[np.int64]
    others: list[str]
    other_places: NDArray[np.int64]
    repositories: NDArray[np.int64]
    kinds: NDArray[np.int64]  # EdgeKind
    confidences: NDArray[np.float64]


class CrossEdges:
    """The edges across the repositories that a reader may see."""

    def __init__(self, table: Any, visible: Collection[str]) -> None:
        """Take those rows of a pyarrow table with COLUMNS, sorted by them, whose ends are both visible."""
        missing = [name for name in COLUMNS if name not in table.column_names]
        if missing:
            raise FleetError(f"the table of edges across repositories has no column {missing[0]!r}; index again")
        self.names = sorted(visible)
        self._number = {name: i for i, name in enumerate(self.names)}
        table = table.select(COLUMNS).unify_dictionaries()
        ends = [self._numbers(table.column(name)) for name in ("source_repository", "target_repository")]
        is_seen = (ends[0] >= 0) & (ends[1] >= 0) & (ends[0] != ends[1])
        seen = np.flatnonzero(is_seen)
        table = _take(table, seen)
        first = _first_of_equal(table)
        self._table = _take(table, first)
        self._sources, self._targets = ends[0][seen[first]], ends[1][seen[first]]

    @classmethod
    def read(cls, path: Path, visible: Collection[str]) -> "CrossEdges":
        """Return the edges in a Parquet file. Raises FleetError."""
        import pyarrow as arrow
        import pyarrow.parquet as parquet

        try:
            names = parquet.read_schema(path).names
            columns = [name for name in COLUMNS if name in names]
            table = parquet.read_table(path, memory_map=True, columns=columns, read_dictionary=list(_REPEATED))
        except (OSError, arrow.ArrowException) as error:
            raise FleetError("the table of edges of the fleet is damaged; index again") from error
        return cls(table, visible)

    def _numbers(self, column: Any) -> NDArray[np.int64]:
        """Return the places in `names` of a column of repositories, -1 for one that is not visible."""
        values, codes = _encode(column)
        numbers = np.array([self._number.get(each, -1) for each in values.to_pylist()] or [-1], dtype=np.int64)
        return numbers[codes]

    @classmethod
    def none(cls) -> "CrossEdges":
        """Return no edges."""
        import pyarrow as arrow

        numbers = {"confidence": arrow.float64(), "row": arrow.int32(), "n": arrow.int32()}
        return cls(arrow.table({name: arrow.array([], numbers.get(name, arrow.string())) for name in COLUMNS}), ())

    def __len__(self) -> int:
        return len(self._sources)

    def between(self, names: Collection[str]) -> list[CrossEdge]:
        """Return the edges whose ends are both in these repositories."""
        rows = np.concatenate([_NO_ROWS, *(self._rows_at(name, backward=False) for name in sorted(set(names)))])
        return self._edges(rows[self._mask(names)[self._targets[rows]]])

    def into(self, name: str) -> list[CrossEdge]:
        """Return the edges into a repository."""
        return self._edges(self._rows_at(name, backward=True))

    def out_of(self, name: str) -> list[CrossEdge]:
        """Return the edges out of a repository."""
        return self._edges(self._rows_at(name, backward=False))

    @cached_property
    def _of_sources(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _rows_by_number(self._sources, len(self.names))

    @cached_property
    def _of_targets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _rows_by_number(self._targets, len(self.names))

    def _rows_at(self, name: str, *, backward: bool) -> NDArray[np.int64]:
        """Return the rows out of a repository, or with `backward` into it, ascending. Others are not looked at."""
        number = self._number.get(name)
        if number is None:
            return _NO_ROWS
        rows, bounds = self._of_targets if backward else self._of_sources
        return rows[bounds[number] : bounds[number + 1]]

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return (using repository, used one, sum of confidences), each pair once; numbers are places in `names`."""
        keys = self._sources * len(self.names) + self._targets
        pairs, which = np.unique(keys, return_inverse=True)
        weights = np.asarray(self._table.column("confidence").to_numpy(), dtype=np.float64)
        n = max(len(self.names), 1)
        users, used = np.divmod(pairs, n)
        return users, used, np.bincount(which, weights=weights, minlength=len(pairs)).astype(np.float64)

    def neighbors(self, names: Collection[str], *, backward: bool) -> list[str]:
        """Return the repositories that these use, or with `backward` that use these; names are sorted."""
        users, used, _ = self.pairs
        here, there = (used, users) if backward else (users, used)
        return [self.names[i] for i in np.unique(there[self._mask(names)[here]]).tolist()]

    def ends_at(self, name: str, *, backward: bool) -> "EdgeEnds":
        """Return the edges out of a repository, or with `backward` those into it, as seen from its nodes."""
        import pyarrow as arrow

        rows = self._rows_at(name, backward=backward)
        if not len(rows):
            return EdgeEnds([], _NO_ROWS, [], _NO_ROWS, _NO_ROWS, _NO_ROWS, np.zeros(0))
        there = self._sources if backward else self._targets
        some = self._table.take(arrow.array(rows))
        own, other = ("target", "source") if backward else ("source", "target")
        (nodes, places), (others, other_places) = (_encode(some.column(each)) for each in (own, other))
        labels, codes = _encode(some.column("kind"))
        kinds = np.array([int(_kind(each)) for each in labels.to_pylist()], dtype=np.int64)[codes]
        confidences = np.asarray(some.column("confidence").to_numpy(), dtype=np.float64)
        return EdgeEnds(nodes.to_pylist(), places, others.to_pylist(), other_places, there[rows], kinds, confidences)

    def _mask(self, names: Collection[str]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.names), dtype=np.bool_)
        mask[[self._number[name] for name in names if name in self._number]] = True
        return mask

    def _edges(self, rows: NDArray[np.int64]) -> list[CrossEdge]:
        import pyarrow as arrow

        some = self._table.take(arrow.array(rows))
        columns = [some.column(name).to_pylist() for name in COLUMNS]
        return sorted(CrossEdge(*row) for row in zip(*columns, strict=True))


_NO_ROWS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def _take(table: Any, rows: NDArray[np.int64]) -> Any:
    import pyarrow as arrow

    return table if len(rows) == len(table) else table.take(arrow.array(rows))


def _encode(column: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return (the values of a pyarrow column, the place of each row among them)."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.dictionary, np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _first_of_equal(table: Any) -> NDArray[np.int64]:
    """Return the rows that stay of a sorted table, ascending: of the same ends and kind, the most confident one.

    A graph has one edge for each such triple.
    """
    import pyarrow.compute as compute

    is_first = np.ones(len(table), dtype=np.bool_)
    is_first[1:] = False
    for name in COLUMNS[:5]:
        column = table.column(name).combine_chunks()
        values = column.indices if name in _REPEATED and hasattr(column, "indices") else column
        is_first[1:] |= compute.not_equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    confidences = np.asarray(table.column("confidence").to_numpy(), dtype=np.float64)
    order = np.lexsort((-confidences, np.cumsum(is_first)))
    return order[is_first]


def _rows_by_number(numbers: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (rows sorted by their number, where those of each of `n` numbers begin)."""
    return np.argsort(numbers, kind="stable"), np.cumsum([0, *np.bincount(numbers, minlength=n)])


@dataclass(frozen=True)
class GraphPart:
    """A shard in a joined graph; with `nodes`, ascending, these alone."""

    name: str
    index: Index
    nodes: NDArray[np.int64] | None = None


def joined_id(repository: str, node: str) -> str:
    """Return the id of a node of a repository in the joined graph.

    >>> joined_id("shop/api", "a.py::f"), joined_id("shop/api", "external:os")
    ('shop/api:a.py::f', 'external:shop/api:os')
    """
    outside = node.startswith(_OUTSIDE)
    return f"{_OUTSIDE}{repository}:{node.removeprefix(_OUTSIDE)}" if outside else f"{repository}:{node}"


def split_joined(node: str) -> tuple[str, str]:
    """Return (repository, id inside of it) of an id of the joined graph.

    >>> split_joined("shop/api:a.py::f"), split_joined("external:shop/api:os")
    (('shop/api', 'a.py::f'), ('shop/api', 'external:os'))
    """
    if node.startswith(_OUTSIDE):
        repository, _, name = node.removeprefix(_OUTSIDE).partition(":")
        return repository, f"{_OUTSIDE}{name}"
    repository, _, inner = node.partition(":")
    return repository, inner


@dataclass(frozen=True)
class JoinedGraph:
    """A graph of several shards. `places[i]` has the joined node of each node of part i, -1 if it is left out."""

    parts: tuple[GraphPart, ...]
    places: tuple[NDArray[np.int32], ...]
    graph: CodeGraph

    @cached_property
    def transition(self) -> Transition:
        """The walk of the joined graph."""
        return build_transition(self.graph, WalkWeights())

    def place(self, repository: str, node: str) -> int:
        """Return the joined node of an id of a repository, -1 if it is not there."""
        return self.graph.nodes.ids.position(joined_id(repository, node))

    def words_of(self, nodes: Iterable[int]) -> LexicalIndex:
        """Return the postings of the words of the names of these nodes, over all parts; nothing else is looked up."""
        ids = self.graph.nodes.ids
        names = {ids[node].rpartition("::")[2].rpartition("/")[2] for node in nodes}
        return self._postings({term for name in names for term in _terms(name)})

    def _postings(self, terms: Collection[str]) -> LexicalIndex:
        table = StringTable.from_strings(sorted(terms))
        n = len(self.graph.nodes)
        fields = []
        for field in ("definitions", "symbol_names"):
            documents: list[NDArray[np.int32]] = []
            sizes = [0]
            n_documents = 0
            for term in table:
                here = [self._documents(part, places, field, term) for part, places in self._both()]
                documents.append(np.sort(np.concatenate(here)) if here else np.zeros(0, dtype=np.int32))
                sizes.append(len(documents[-1]))
            for part, _ in self._both():
                n_documents += getattr(part.index.lexical, field).n_documents
            joined = np.concatenate(documents) if documents else np.zeros(0, dtype=np.int32)
            indptr = np.cumsum(sizes).astype(np.int32)
            fields.append(Postings(indptr, joined, np.ones(len(joined), dtype=np.int32), np.zeros(n), n_documents))
        none = Postings(np.zeros(len(table) + 1, dtype=np.int32), np.zeros(0, dtype=np.int32),
                        np.zeros(0, dtype=np.int32), np.zeros(n), 0)  # fmt: skip
        empty = StringTable.from_strings(())
        pointers = np.zeros(1, dtype=np.int32)
        return LexicalIndex(table, fields[0], none, none, fields[1], empty, pointers, pointers[:0])

    def _both(self) -> Iterator[tuple[GraphPart, NDArray[np.int32]]]:
        return zip(self.parts, self.places, strict=True)

    @staticmethod
    def _documents(part: GraphPart, places: NDArray[np.int32], field: str, term: str) -> NDArray[np.int32]:
        postings: Postings = getattr(part.index.lexical, field)
        number = part.index.lexical.terms.position(term)
        if number < 0:
            return np.zeros(0, dtype=np.int32)
        documents = places[postings.documents[int(postings.indptr[number]) : int(postings.indptr[number + 1])]]
        return documents[documents >= 0]


def _terms(name: str) -> Iterator[str]:
    import re

    return (term for word in re.findall(r"\w+", name) for term in terms_of(word))


def join_graphs(parts: Sequence[GraphPart], across: Iterable[CrossEdge] = ()) -> JoinedGraph:
    """Return one graph of several shards and the edges across them.

    An edge with an end that is not in the parts is left out. Ids are sorted, as in any graph. Raises FleetError for two
    parts of one name.
    """
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise FleetError("a repository is in the joined graph twice")
    parts = sorted(parts, key=lambda part: f"{part.name}:".encode())
    chosen = [_choose_nodes(part) for part in parts]
    is_outside = [part.index.graph.nodes.kinds[nodes] == NodeKind.EXTERNAL for part, nodes in _zip(parts, chosen)]
    # Blocks stand in the order of their prefixes, none of which begins another.
    blocks = [(f"{part.name}:".encode(), i, False) for i, part in enumerate(parts)]
    blocks += [(f"{_OUTSIDE}{part.name}:".encode(), i, True) for i, part in enumerate(parts)]
    blocks.sort()
    members = [chosen[i][is_outside[i] == outside] for _, i, outside in blocks]
    places = [np.full(len(part.index.graph.nodes), -1, dtype=np.int32) for part in parts]
    first = 0
    for (_, i, _), nodes in zip(blocks, members, strict=True):
        places[i][nodes] = np.arange(first, first + len(nodes), dtype=np.int32)
        first += len(nodes)
    graphs = [part.index.graph for part in parts]

    def column(name: str) -> NDArray[Any]:
        values = [getattr(graph.nodes, name) for graph in graphs]
        rows = [values[i][n] for (_, i, _), n in zip(blocks, members, strict=True) if len(values[i])]
        return np.concatenate(rows or values)

    def link_column(name: str) -> NDArray[np.int32]:
        columns = []
        for (_, i, _), nodes in zip(blocks, members, strict=True):
            others = getattr(graphs[i].nodes, name)[nodes]
            columns.append(np.where(others >= 0, places[i][others], -1).astype(np.int32))
        return np.concatenate(columns)

    def strings(name: str) -> StringTable:
        rows = [getattr(graphs[i].nodes, name).take(n) for (_, i, _), n in zip(blocks, members, strict=True)]
        return _concatenate(rows)

    ids = [
        _with_prefix(graphs[i].nodes.ids.take(nodes), prefix, len(_OUTSIDE) if outside else 0)
        for (prefix, i, outside), nodes in zip(blocks, members, strict=True)
    ]
    nodes = NodeTable(
        _concatenate(ids), column("kinds"), column("roles"), link_column("files"), link_column("parents"),
        column("start_bytes"), column("end_bytes"), column("start_rows"), column("end_rows"), strings("signatures"),
        strings("docs"), column("said_layers"), column("layers"), column("tiers"),
    )  # fmt: skip
    return _with_edges(parts, places, nodes, list(across))


def _with_edges(
    parts: Sequence[GraphPart], places: Sequence[NDArray[np.int32]], nodes: NodeTable, across: list[CrossEdge]
) -> JoinedGraph:
    graphs = [part.index.graph for part in parts]
    ends = [(joined_id(e.source_repo, e.source_node), joined_id(e.target_repo, e.target_node)) for e in across]
    ends_of = [(nodes.ids.position(source), nodes.ids.position(target)) for source, target in ends]
    best: dict[tuple[int, int, int], CrossEdge] = {}
    for (source, target), edge in zip(ends_of, across, strict=True):
        key = (source, target, int(_kind(edge.kind)))
        if source >= 0 and target >= 0 and (key not in best or best[key].confidence < edge.confidence):
            best[key] = edge
    rules = sorted({rule for graph in graphs for rule in graph.rule_names} | {each.rule for each in best.values()})
    number_of = {rule: number for number, rule in enumerate(rules)}
    chunks: dict[str, list[NDArray[Any]]] = {name: [] for name in EdgeColumns._fields}
    for graph, place in zip(graphs, places, strict=True):
        edges = graph.edges
        kept = np.flatnonzero((place[edges.sources] >= 0) & (place[edges.targets] >= 0))
        names = np.array([number_of[rule] for rule in graph.rule_names] or [0], dtype=np.uint8)
        chunks["sources"].append(place[edges.sources[kept]])
        chunks["targets"].append(place[edges.targets[kept]])
        chunks["rules"].append(names[edges.rules[kept]])
        for name in ("kinds", "confidences", "candidates", "counts", "rows"):
            chunks[name].append(getattr(edges, name)[kept])
    keys, more = list(best), list(best.values())
    added = {
        "sources": np.array([key[0] for key in keys], dtype=np.int32),
        "targets": np.array([key[1] for key in keys], dtype=np.int32),
        "kinds": np.array([key[2] for key in keys], dtype=np.uint8),
        "rules": np.array([number_of[each.rule] for each in more], dtype=np.uint8),
        "confidences": np.array([each.confidence for each in more], dtype=np.float64),
        "candidates": np.ones(len(more), dtype=np.int32),
        "counts": np.array([each.n for each in more], dtype=np.int32),
        "rows": np.array([each.row for each in more], dtype=np.int32),
    }
    columns = EdgeColumns(**{name: np.concatenate([*chunks[name], added[name]]) for name in EdgeColumns._fields})
    graph = CodeGraph(nodes, build_edge_table(columns, len(nodes)), tuple(rules), _join_unresolved(graphs, places))
    return JoinedGraph(tuple(parts), tuple(places), graph)


def _join_unresolved(graphs: Sequence[CodeGraph], places: Sequence[NDArray[np.int32]]) -> UnresolvedCalls:
    texts = sorted({text for graph in graphs for text in graph.unresolved.texts})
    number_of = {text: number for number, text in enumerate(texts)}
    columns: list[list[NDArray[np.int32]]] = [[], [], [], []]
    for graph, place in zip(graphs, places, strict=True):
        calls = graph.unresolved
        kept = np.flatnonzero(place[calls.sources] >= 0)
        names = np.array([number_of[text] for text in calls.texts] or [0], dtype=np.int32)
        rows = (place[calls.sources[kept]], names[calls.names[kept]], calls.counts[kept], calls.rows[kept])
        for column, values in zip(columns, rows, strict=True):
            column.append(values.astype(np.int32))
    sources, numbers, counts, rows_ = (np.concatenate(column) for column in columns)
    order = np.lexsort((numbers, sources))
    table = StringTable.from_strings(texts)
    return UnresolvedCalls(sources[order], numbers[order], counts[order], rows_[order], table)


def _choose_nodes(part: GraphPart) -> NDArray[np.int64]:
    """Return the nodes of a part: all, or those wanted with the files and definitions around them."""
    nodes = part.index.graph.nodes
    if part.nodes is None:
        return np.arange(len(nodes), dtype=np.int64)
    wanted = np.zeros(len(nodes), dtype=np.bool_)
    level = part.nodes
    while len(level):
        wanted[level] = True
        around = np.concatenate([nodes.parents[level], nodes.files[level]])
        around = around[around >= 0]
        level = np.unique(around[~wanted[around]]).astype(np.int64)
    return np.flatnonzero(wanted)


def _zip(
    parts: Sequence[GraphPart], nodes: Sequence[NDArray[np.int64]]
) -> Iterator[tuple[GraphPart, NDArray[np.int64]]]:
    return zip(parts, nodes, strict=True)


def _with_prefix(table: StringTable, prefix: bytes, n_cut: int) -> StringTable:
    """Return the strings of a table with a prefix, in place of their first `n_cut` bytes."""
    lengths = np.diff(table.offsets).astype(np.int64) - n_cut
    start = np.frombuffer(prefix, dtype=np.uint8)
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths + len(start), out=offsets[1:])
    blob = np.empty(int(offsets[-1]), dtype=np.uint8)
    places, _ = rows_of(table.offsets, np.arange(len(lengths), dtype=np.int64))
    is_prefix = np.zeros(len(blob), dtype=np.bool_)
    for i, letter in enumerate(start.tolist()):
        blob[offsets[:-1] + i] = letter
        is_prefix[offsets[:-1] + i] = True
    if n_cut:
        within = places - np.repeat(table.offsets[:-1].astype(np.int64), np.diff(table.offsets))
        places = places[within >= n_cut]
    blob[~is_prefix] = table.blob[places]
    return StringTable(blob, offsets)


def _concatenate(tables: Sequence[StringTable]) -> StringTable:
    sizes = [int(table.offsets[-1]) for table in tables]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    offsets = [table.offsets[:-1].astype(np.int64) + start for table, start in zip(tables, starts, strict=False)]
    blob = np.concatenate([table.blob[: int(table.offsets[-1])] for table in tables] or [np.zeros(0, dtype=np.uint8)])
    return StringTable(blob.astype(np.uint8), np.concatenate([*offsets, starts[-1:]]))


def join_indexes(joined: JoinedGraph) -> Index:
    """Return an index with a joined graph and the files of its parts, whose paths begin with the repository.

    It has no history, and no words: names are ids. What a look-up does with an index, it does with this one.
    """
    manifests = [part.index.manifest for part in joined.parts]
    prefixes = [f"{part.name}:".encode() for part in joined.parts]
    paths = _concatenate([_with_prefix(m.paths, p, 0) for m, p in zip(manifests, prefixes, strict=True)])
    starts = np.cumsum([0, *(len(m.secrets.starts) for m in manifests)])
    indptr = [m.secrets.indptr[:-1] + start for m, start in zip(manifests, starts, strict=False)]
    secrets = SecretSpans(
        np.concatenate([*indptr, starts[-1:]]).astype(np.int64),
        np.concatenate([m.secrets.starts for m in manifests]),
        np.concatenate([m.secrets.ends for m in manifests]),
    )
    sizes = np.concatenate([m.sizes for m in manifests])
    aside = _concatenate([_with_prefix(m.aside, p, 0) for m, p in zip(manifests, prefixes, strict=True)])
    manifest = Manifest(
        paths, _concatenate([m.blobs for m in manifests]), sizes, np.zeros_like(sizes), np.zeros_like(sizes), secrets,
        aside=aside,
    )  # fmt: skip
    first = joined.parts[0].index
    return Index(first.version, None, 0, manifest, joined.graph, joined.words_of(()), joined.transition, {}, {}, (), {})


class FleetText(SourceText):
    """Source text of the nodes of a joined graph, each from its repository."""

    def __init__(self, repositories: Mapping[str, "Repository"]) -> None:
        self._texts = {name: SourceText(each.index.manifest, each.read) for name, each in repositories.items()}
        self.changed_paths: list[str] = []
        self.read_paths: dict[str, None] = {}

    def get_text(self, hit: Hit) -> str:
        """Return the text of a hit of the joined graph."""
        from dataclasses import replace

        name, path = split_joined(hit.path)
        return self._texts[name].get_text(replace(hit, path=path))

    def load(self, path: str) -> None:
        """Read a file whose text will be shown; `path` begins with the repository."""
        name, inner = split_joined(path)
        self._texts[name].load(inner)

    def read_text(self, path: str) -> str:
        """Return the text of a file; `path` begins with the repository."""
        name, inner = split_joined(path)
        return self._texts[name].read_text(inner)

    def read_bytes(self, path: str) -> bytes:
        """Return the bytes of a file; `path` begins with the repository."""
        name, inner = split_joined(path)
        return self._texts[name].read_bytes(inner)

    def get_line(self, node_id: str, line: int | None) -> str:
        """Return a line of the file of a node of the joined graph."""
        name, inner = split_joined(node_id)
        return self._texts[name].get_line(inner, line)
