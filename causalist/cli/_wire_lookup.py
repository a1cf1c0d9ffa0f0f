"""JSON documents of the commands that look something up, with the keys and habits of `_wire`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from causalist.cli._wire import FORMAT_VERSION, Document

if TYPE_CHECKING:
    from causalist.model.navigate import Definition
    from causalist.model.scores import Hit


def find_document(name: str, hits: "Iterable[Hit]") -> Document:
    """`find --json`."""
    return {
        "format_version": FORMAT_VERSION,
        "name": name,
        "results": [{**node_document(hit), "score": hit.score} for hit in hits],
    }


def show_document(definition: "Definition | None") -> Document:
    """`show --json`; without a definition where there was nothing to index."""
    if definition is None:
        return {"format_version": FORMAT_VERSION, "node": None}
    return {
        "format_version": FORMAT_VERSION,
        **node_document(definition.hit),
        "role": definition.role,
        "fan_in": definition.fan_in,
        "fan_out": definition.fan_out,
        "callers": definition.n_callers,
        "callees": definition.n_callees,
        "namesakes": list(definition.namesakes),
        "outline": [node_document(hit) for hit in definition.outline],
        "stale": definition.stale,
        "text": definition.text or None,
    }


def node_document(hit: "Hit") -> Document:
    """A node, as it stands in `find`, `show` and others. Externals have no path and no lines."""
    is_inside = bool(hit.path)
    return {
        "node": hit.id,
        "path": hit.path or None,
        "symbol": hit.symbol,
        "kind": hit.kind,
        "start_line": hit.start_row + 1 if is_inside else None,
        "end_line": hit.end_row + 1 if is_inside else None,
        "signature": hit.signature or None,
        "doc": hit.doc or None,
    }
