"""What a tool answers, and the form in which a protocol with structured results takes it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from causalist.pipeline import Repository

_MOST_NODES = 100


class Reply(NamedTuple):
    """`text` is the whole answer, for an agent. `nodes` are ids of what it is about, the most important first;
    `confidence` is that of an answer to a question."""

    text: str
    nodes: Sequence[str] = ()
    confidence: float | None = None


_NODE = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "kind": {"type": "string"},
        "path": {"type": "string"},
        "start_line": {"type": "integer", "minimum": 1},
        "end_line": {"type": "integer", "minimum": 1},
    },
    "required": ["id", "kind", "path", "start_line", "end_line"],
}
# The same for every tool.
OUTPUT_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "The answer; the rest says what it is about."},
        "nodes": {"type": "array", "items": _NODE, "maxItems": _MOST_NODES},
        "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "coverage": {
            "type": "object",
            "properties": {
                "repository": {"type": "string"},
                "commit": {"type": ["string", "null"]},
                "files": {"type": "integer", "minimum": 0, "description": "That are indexed and were searched."},
                "complete": {"type": "boolean", "description": "Whether that is all there is, as it is now."},
                "indexing": {"type": ["string", "null"], "description": "How far a newer index is."},
            },
            "required": ["repository", "commit", "files", "complete", "indexing"],
        },
    },
    "required": ["text", "nodes", "confidence", "coverage"],
}


def structured(reply: Reply, repository: "Repository | None", name: str, indexing: str | None) -> dict[str, Any]:
    """An answer as OUTPUT_SCHEMA has it. `repository` is None while there is no index; `indexing` says how far a newer
    index is, None where there is none on its way."""
    nodes = [] if repository is None else [_node(repository, each) for each in reply.nodes[:_MOST_NODES]]
    return {
        "text": reply.text,
        "nodes": nodes,
        "confidence": reply.confidence,
        "coverage": {
            "repository": name,
            "commit": None if repository is None else repository.index.commit,
            "files": 0 if repository is None else repository.info().files,
            "complete": repository is not None and indexing is None,
            "indexing": indexing,
        },
    }


def _node(repository: "Repository", id: str) -> dict[str, Any]:
    from causalist.extract import hit_of
    from causalist.pack.clean import neutralise

    graph = repository.index.graph
    hit = hit_of(graph, graph.nodes.ids.position(id), 0.0, 0.0, ())
    return {
        "id": neutralise(hit.id),
        "kind": hit.kind,
        "path": neutralise(hit.path),
        "start_line": hit.start_row + 1,
        "end_line": hit.end_row + 1,
    }
