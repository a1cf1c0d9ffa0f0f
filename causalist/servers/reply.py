"""What a tool answers, and the form in which a protocol with structured results takes it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository
    from causalist.servers.live.repository import View

_MOST_NODES = 100
_MOST_NAMED = 3  # files in a note
_MOST_LISTED = 20


class Excerpt(NamedTuple):
    """Lines of a file of which nothing but its text is known; rows are 0-based."""

    path: str
    start_row: int
    end_row: int


class Reply(NamedTuple):
    """`text` is the whole answer, for an agent. `nodes` are ids of what it is about, the most important first;
    `confidence` is that of an answer to a question, as are the `scores` of its nodes and their causal `order`. Without
    an index `excerpts` stand for nodes, and `n_files` were read."""

    text: str
    nodes: Sequence[str] = ()
    confidence: float | None = None
    excerpts: Sequence[Excerpt] = ()
    n_files: int = 0
    scores: Sequence[float] = ()
    order: Sequence[str] = ()


_NODE = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "kind": {"type": "string"},
        "path": {"type": "string"},
        "start_line": {"type": "integer", "minimum": 1},
        "end_line": {"type": "integer", "minimum": 1},
        "score": {"type": ["number", "null"], "description": "Of a result of `ask`."},
    },
    "required": ["id", "kind", "path", "start_line", "end_line", "score"],
}
# The same for every tool.
OUTPUT_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "The answer; the rest says what it is about."},
        "nodes": {"type": "array", "items": _NODE, "maxItems": _MOST_NODES},
        "order": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids from causes to effects, those between results too.",
            "maxItems": _MOST_NODES,
        },
        "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "coverage": {
            "type": "object",
            "properties": {
                "repository": {"type": "string"},
                "commit": {"type": ["string", "null"]},
                "files": {"type": "integer", "minimum": 0, "description": "That are indexed and were searched."},
                "complete": {"type": "boolean", "description": "Whether that is all there is, as it is now."},
                "generation": {"type": "integer", "minimum": 0, "description": "Rises with every newer index."},
                "behind": {"type": "integer", "minimum": 0, "description": "Files that differ from this index by now."},
                "behind_files": {"type": "array", "items": {"type": "string"}, "maxItems": _MOST_LISTED},
                "indexing": {"type": ["string", "null"], "description": "How far a newer index is."},
            },
            "required": [
                "repository", "commit", "files", "complete", "generation", "behind", "behind_files", "indexing"
            ],
        },
    },
    "required": ["text", "nodes", "order", "confidence", "coverage"],
}  # fmt: skip


def structured(reply: Reply, view: "View", name: str) -> dict[str, Any]:
    """An answer as OUTPUT_SCHEMA has it. `name` is what the repository is called."""
    from causalist._internal.sanitize import neutralise

    repository = view.repository
    nodes = [_file(each) for each in reply.excerpts[:_MOST_NODES]]
    if repository is not None:
        scores: Sequence[float | None] = reply.scores or [None] * len(reply.nodes)
        nodes = [_node(repository, *each) for each in zip(reply.nodes, scores, strict=True)][:_MOST_NODES]
    changed = () if view.behind is None else view.behind.changed
    indexing = None if view.stage is None else str(view.stage)
    if indexing is None and view.failure is not None:
        indexing = f"{view.failure.slug}: {view.failure}"
    return {
        "text": reply.text,
        "nodes": nodes,
        "order": [neutralise(each) for each in reply.order[:_MOST_NODES]],
        "confidence": reply.confidence,
        "coverage": {
            "repository": neutralise(name),
            "commit": None if repository is None else repository.index.commit,
            "files": reply.n_files if repository is None else repository.info().files,
            "complete": repository is not None and view.behind is None and view.failure is None,
            "generation": view.generation,
            "behind": len(changed),
            "behind_files": [neutralise(path) for path in changed[:_MOST_LISTED]],
            "indexing": None if indexing is None else neutralise(indexing),
        },
    }


def note_on(view: "View") -> str:
    """What an answer from an index that is not of the files as they are has to say first; "" where it is."""
    from causalist._internal.sanitize import middle_cut, neutralise

    if view.repository is None or (view.behind is None and view.failure is None):
        return ""
    changed = () if view.behind is None else view.behind.changed
    named = ", ".join(middle_cut(path, 60) for path in changed[:_MOST_NAMED]) + ", …" * (len(changed) > _MOST_NAMED)
    what = f"{len(changed)} changed {'file is' if len(changed) == 1 else 'files are'} not in it ({named})"
    if not changed:
        what = "another commit is checked out" if view.behind is not None and view.behind.is_moved else ""
    if view.failure is not None:
        why = neutralise(f"{view.failure.slug}: {view.failure}")[:200]
    else:
        why = f"still indexing: {view.stage}; ask again for an answer with all of it"
    return f"note: answered from an index that is older than the files; {what}{'; ' * bool(what)}{why}\n"


def not_yet(view: "View", *, is_answered: bool = False) -> str:
    """How far the first index is, for an answer from files that were read as text, or for none at all."""
    far = f"indexing: {0 if view.stage is None else view.stage.percent:.0f} % ({view.stage})"
    if is_answered:
        return f"note: still {far}; ask again for an answer from the code itself\n"
    return f"still {far}. There is nothing to answer this from yet; call again in a few seconds.\n"


def _file(excerpt: Excerpt) -> dict[str, Any]:
    from causalist._internal.sanitize import neutralise

    path = neutralise(excerpt.path)
    rows = {"start_line": excerpt.start_row + 1, "end_line": excerpt.end_row + 1}
    return {"id": path, "kind": "file", "path": path, **rows, "score": None}


def _node(repository: "Repository", id: str, score: float | None) -> dict[str, Any]:
    from causalist._internal.sanitize import neutralise
    from causalist.extract import hit_of

    graph = repository.index.graph
    hit = hit_of(graph, graph.nodes.ids.position(id), 0.0, 0.0, ())
    return {
        "id": neutralise(hit.id),
        "kind": hit.kind,
        "path": neutralise(hit.path),
        "start_line": hit.start_row + 1,
        "end_line": hit.end_row + 1,
        "score": score,
    }
