"""JSON documents of the commands that look something up, with the keys and habits of `_wire`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from causalist.cli._wire import FORMAT_VERSION, Document

if TYPE_CHECKING:
    from causalist.model.scores import Hit


def find_document(name: str, hits: "Iterable[Hit]") -> Document:
    """`find --json`."""
    return {
        "format_version": FORMAT_VERSION,
        "name": name,
        "results": [{**node_document(hit), "score": hit.score} for hit in hits],
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
