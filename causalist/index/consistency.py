"""Checks that the arrays of an index fit together, of one that another process or machine may have written.

Checksums say that a file is as it was written, not who wrote it. numpy refuses positions outside of an array, but scipy
multiplies sparse matrices without looking, and would read memory that is not theirs. Every position, length and code
is looked at once; nothing is said of whether edges and words are true.
"""

from collections.abc import Iterator, Mapping, Sized
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.errors import IndexUnreadable
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.index import FileNote, History, Index, LexicalIndex, Manifest, Postings
from causalist.model.node_ids import NO_LAYER, Layer, NodeKind, Role, Tier, file_id
from causalist.model.scores import Transition
from causalist.model.string_table import StringTable

_CONTINUES = 0x80  # the first two bits of a byte inside of a character of UTF-8
_MAX_ROW = 2**30
# By the names of fields; all other arrays hold integers.
_FLOATS = ("confidences", "norms", "weights", "column_weights", "strengths", "churn", "bag_norms", "file_bag_norms")
_BOOLEANS = ("walkable",)
_COUNT_BYTES = 2  # at least


def check_consistency(index: Index) -> None:
    """Raise IndexUnreadable if a position, length or code in an index leads out of it."""
    try:
        problem = next(_problems(index), None)
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        problem = f"it does not hold what it should ({error!r})"
    if problem is not None:
        raise IndexUnreadable(f"the index is inconsistent: {problem}; it is built again")


def _problems(index: Index) -> Iterator[str]:
    """Yield what is wrong. Later checks may rely on those before them: only the first is meant to be read."""
    yield from _header_problems(index)
    yield from _type_problems(index, "")
    n_nodes = len(index.graph.nodes.ids)
    yield from _manifest_problems(index.manifest)
    yield from _graph_problems(index.graph)
    yield from _lexical_problems(index.lexical, n_nodes)
    yield from _transition_problems(index.transition, n_nodes)
    yield from _history_problems(index.history, n_nodes)
    yield from _name_problems(index)


def _type_problems(part: Any, name: str) -> Iterator[str]:
    if isinstance(part, np.ndarray):
        kinds = "f" if name in _FLOATS else "b" if name in _BOOLEANS else "iu"
        is_narrow = name == "counts" and part.dtype.itemsize < _COUNT_BYTES
        if part.ndim != 1 or part.dtype.kind not in kinds or is_narrow:
            yield f"type of {name}"
    elif is_dataclass(part):
        for each in fields(part):
            yield from _type_problems(getattr(part, each.name), each.name)


def _header_problems(index: Index) -> Iterator[str]:
    if not isinstance(index.version, str) or not isinstance(index.commit, str | None):
        yield "version or commit"
    if type(index.scanned_at) is not int or type(index.submodules) is not bool:
        yield "times or options"
    for counts in (index.skipped, index.languages):
        if not isinstance(counts, Mapping) or not all(type(n) is int and n >= 0 for n in counts.values()):
            yield "counts of files"
    if not isinstance(index.examples, Mapping) or not all(map(_are_texts, index.examples.values())):
        yield "examples of files"
    for note in index.notes:
        texts = (note.path, note.slug, note.detail) if isinstance(note, FileNote) else (None,)
        if not _are_texts(texts) or type(note.row) is not int:
            yield "notes"


def _manifest_problems(manifest: Manifest) -> Iterator[str]:
    n = len(manifest.paths)
    tables = ("paths", "blobs", "unfit", "links", "marks", "aside", "kept")
    for name in tables:
        yield from _table_problems(getattr(manifest, name), name)
    yield from _length_problems({"blobs": manifest.blobs, "unfit": manifest.unfit}, n, optional=True)
    yield from _length_problems({"sizes": manifest.sizes, "mtimes": manifest.mtimes, "ctimes": manifest.ctimes}, n)
    spans = manifest.secrets
    yield from _pointer_problems(spans.indptr, n, len(spans.starts), "secrets")
    if len(spans.ends) != len(spans.starts) or np.any(spans.starts < 0) or np.any(spans.ends < spans.starts):
        yield "spans of secrets"
    if n > 1 and not _is_sorted(manifest.paths):
        yield "order of files"


def _graph_problems(graph: CodeGraph) -> Iterator[str]:
    nodes, edges, n = graph.nodes, graph.edges, len(graph.nodes.ids)
    for name in ("ids", "signatures", "docs"):
        table = getattr(nodes, name)
        yield from _table_problems(table, name)
        if len(table) != n:
            yield f"number of {name}"
    if n > 1 and not _is_sorted(nodes.ids):
        yield "order of nodes"
    columns = ("kinds", "roles", "files", "parents", "start_bytes", "end_bytes", "start_rows", "end_rows",
               "layers", "tiers")  # fmt: skip
    yield from _length_problems({name: getattr(nodes, name) for name in columns}, n)
    yield from _length_problems({"said layers": nodes.said_layers}, n, optional=True)
    yield from _code_problems(nodes.kinds, NodeKind, "kinds of nodes")
    yield from _code_problems(nodes.roles, Role, "roles")
    yield from _code_problems(nodes.layers, Layer, "layers")
    yield from _code_problems(nodes.said_layers[nodes.said_layers != NO_LAYER], Layer, "layers")
    yield from _code_problems(nodes.tiers, Tier, "tiers")
    yield from _range_problems(nodes.files, -1, n, "files of nodes")
    yield from _range_problems(nodes.parents, -1, n, "parents")
    if _has_circle(nodes.parents):
        yield "parents in a circle"
    for first, last in ((nodes.start_bytes, nodes.end_bytes), (nodes.start_rows, nodes.end_rows)):
        if np.any(first < 0) or np.any(last < first) or np.any(last > _MAX_ROW):
            yield "spans of nodes"
    m = len(edges.sources)
    yield from _pointer_problems(edges.indptr, n, m, "edges")
    yield from _pointer_problems(edges.incoming_indptr, n, m, "incoming edges")
    names = ("targets", "kinds", "rules", "confidences", "candidates", "counts", "rows", "incoming")
    yield from _length_problems({name: getattr(edges, name) for name in names}, m)
    yield from _range_problems(edges.sources, 0, n, "sources")
    yield from _range_problems(edges.targets, 0, n, "targets")
    yield from _range_problems(edges.incoming, 0, m, "incoming edges")
    yield from _code_problems(edges.kinds, EdgeKind, "kinds of edges")
    yield from _range_problems(edges.rules, 0, len(graph.rule_names), "rules")
    yield from _range_problems(edges.rows, -1, _MAX_ROW, "rows of edges")
    if not np.all((edges.confidences > 0) & (edges.confidences <= 1)) or np.any(edges.candidates < 1):
        yield "confidences"
    if not _are_texts(graph.rule_names):
        yield "names of rules"
    unresolved = graph.unresolved
    yield from _table_problems(unresolved.texts, "unresolved names")
    k = len(unresolved.sources)
    yield from _length_problems({name: getattr(unresolved, name) for name in ("names", "counts", "rows")}, k)
    yield from _range_problems(unresolved.sources, 0, n, "unresolved calls")
    yield from _range_problems(unresolved.names, 0, len(unresolved.texts), "unresolved names")
    yield from _range_problems(unresolved.rows, -1, _MAX_ROW, "rows of unresolved calls")


def _name_problems(index: Index) -> Iterator[str]:
    """Every node is named after its file, and every file is one of the manifest."""
    ids, files = list(index.graph.nodes.ids), index.graph.nodes.files.tolist()
    file_ids = {file_id(path) for path in index.manifest.paths}
    for name, file in zip(ids, files, strict=True):
        if file < 0:
            is_named = name.startswith("external:")
        else:
            is_named = ids[file] in file_ids and (
                name == ids[file] or name.startswith((f"{ids[file]}::", f"{ids[file]}#"))
            )
        if not is_named:
            yield f"name of the node {name}"


def _lexical_problems(lexical: LexicalIndex, n_nodes: int) -> Iterator[str]:
    yield from _table_problems(lexical.terms, "terms")
    yield from _table_problems(lexical.names, "names")
    if not (_is_sorted(lexical.terms) and _is_sorted(lexical.names)):
        yield "order of terms"
    n_terms = len(lexical.terms)
    yield from _postings_problems(lexical.definitions, n_terms, n_nodes, "definitions")
    yield from _postings_problems(lexical.files, n_terms, n_nodes, "files")
    yield from _postings_problems(lexical.paths, n_terms, n_nodes, "words of paths", are_counted=False)
    yield from _postings_problems(lexical.symbol_names, n_terms, n_nodes, "words of names", are_counted=False)
    yield from _pointer_problems(lexical.name_indptr, len(lexical.names), len(lexical.name_nodes), "names")
    yield from _range_problems(lexical.name_nodes, 0, n_nodes, "nodes of names")
    norms = {"norms": lexical.bag_norms, "norms of files": lexical.file_bag_norms}
    yield from _length_problems(norms, n_nodes if len(lexical.bag_norms) else 0)


def _postings_problems(
    postings: Postings, n_terms: int, n_documents: int, name: str, *, are_counted: bool = True
) -> Iterator[str]:
    n = len(postings.documents)
    if n or len(postings.indptr) > 1:
        yield from _pointer_problems(postings.indptr, n_terms, n, name)
    yield from _range_problems(postings.documents, 0, n_documents, name)
    yield from _length_problems({f"counts of {name}": postings.counts}, n if are_counted else 0)
    yield from _length_problems({f"norms of {name}": postings.norms}, n_documents if are_counted else 0)
    if type(postings.n_documents) is not int or postings.n_documents < 0:
        yield f"number of {name}"


def _transition_problems(walk: Transition, n: int) -> Iterator[str]:
    yield from _pointer_problems(walk.indptr, n, len(walk.indices), "walk")
    yield from _range_problems(walk.indices, 0, n, "walk")
    yield from _length_problems({"weights": walk.weights}, len(walk.indices))
    degrees = {"degrees": walk.degrees, "walkable": walk.walkable, "degrees of files": walk.file_degrees}
    yield from _length_problems(degrees, n)
    if not np.all((walk.weights >= 0) & (walk.weights <= 1)) or np.any(walk.degrees < 1):
        yield "weights of the walk"
    if len(walk.column_indptr):
        yield from _pointer_problems(walk.column_indptr, n, len(walk.column_indices), "walk by columns")
        yield from _range_problems(walk.column_indices, 0, n, "walk by columns")
    yield from _length_problems({"column weights": walk.column_weights}, len(walk.column_indices))


def _history_problems(history: History, n_nodes: int) -> Iterator[str]:
    commits, n_files = history.commits, len(history.paths)
    for table, name in ((commits.names, "commits"), (commits.paths, "paths of commits"), (commits.terms, "messages"),
                        (history.paths, "paths")):  # fmt: skip
        yield from _table_problems(table, name)
    n = len(commits.names)
    yield from _length_problems({"commits": commits.times, "sizes of commits": commits.n_files}, n)
    yield from _pointer_problems(commits.indptr, n, len(commits.files), "files of commits")
    yield from _range_problems(commits.files, 0, len(commits.paths), "files of commits")
    renames = len(commits.renamed_in)
    yield from _length_problems({"renames": commits.before, "new names": commits.after}, renames)
    yield from _range_problems(commits.renamed_in, 0, n, "renames")
    for renamed in (commits.before, commits.after):
        yield from _range_problems(renamed, 0, len(commits.paths), "renames")
    yield from _postings_problems(commits.words, len(commits.terms), n, "words of messages")
    yield from _length_problems({"nodes": history.nodes}, n_files)
    yield from _range_problems(history.nodes, 0, n_nodes, "files of the history")
    if len(history.indptr) > 1 or len(history.files):
        yield from _pointer_problems(history.indptr, n, len(history.files), "history")
    yield from _range_problems(history.files, 0, n_files, "history")
    yield from _postings_problems(history.messages, len(commits.terms), n_files, "messages of files")
    together = history.co_changes
    if len(together.indptr) > 1 or len(together.others):
        yield from _pointer_problems(together.indptr, n_files, len(together.others), "changes together")
    yield from _range_problems(together.others, 0, n_files, "changes together")
    yield from _length_problems({"strengths": together.strengths, "counts": together.counts}, len(together.others))
    yield from _length_problems({"churn": history.churn, "last": history.last}, n_files)
    if not isinstance(commits.head, str) or type(commits.is_shallow) is not bool:
        yield "head of the history"


# -- what is asked of one array


def _table_problems(table: StringTable, name: str) -> Iterator[str]:
    offsets, blob = table.offsets, table.blob
    if blob.dtype != np.uint8 or blob.ndim != 1 or offsets.ndim != 1 or offsets.dtype.kind != "i" or not len(offsets):
        yield f"type of {name}"
        return
    yield from _pointer_problems(offsets, len(offsets) - 1, len(blob), name)
    # Each string is read alone, so that none may begin inside of a character.
    starts = offsets[offsets < len(blob)]
    if np.any(blob[starts] & 0xC0 == _CONTINUES):
        yield f"text of {name}"
    try:
        blob.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        yield f"text of {name}"


def _pointer_problems(indptr: NDArray[Any], n_rows: int, n_entries: int, name: str) -> Iterator[str]:
    if indptr.ndim != 1 or indptr.dtype.kind != "i" or len(indptr) != n_rows + 1:
        yield f"number of {name}"
    elif int(indptr[0]) != 0 or int(indptr[-1]) != n_entries or np.any(indptr[1:] < indptr[:-1]):
        yield f"rows of {name}"


def _range_problems(values: NDArray[Any], first: int, end: int, name: str) -> Iterator[str]:
    if values.ndim != 1 or values.dtype.kind not in "iu":
        yield f"type of {name}"
    elif len(values) and (int(values.min()) < first or int(values.max()) >= end):
        yield f"{name} lead out of the index"


def _code_problems(values: NDArray[Any], kinds: Any, name: str) -> Iterator[str]:
    yield from _range_problems(values, 0, len(list(kinds)), name)


def _length_problems(columns: Mapping[str, Sized], n: int, *, optional: bool = False) -> Iterator[str]:
    for name, column in columns.items():
        if len(column) != n and not (optional and not len(column)):
            yield f"number of {name}"


def _is_sorted(table: StringTable) -> bool:
    return all(before < after for before, after in pairwise(table))


def _has_circle(parents: NDArray[np.int32]) -> bool:
    """Return True if going from parent to parent does not end: each step doubles, so that n nodes take log n steps."""
    ends = np.append(parents, -1)
    for _ in range(max(1, len(parents)).bit_length()):
        ends = ends[ends]
    return bool(np.any(ends[:-1] != -1)) if len(parents) else False


def _are_texts(values: Any) -> bool:
    return isinstance(values, tuple | list) and all(isinstance(each, str) for each in values)
