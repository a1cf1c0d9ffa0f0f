"""The JSON document of `layers`, with the keys and habits of `answers`."""

from typing import TYPE_CHECKING

from causalist.serialize.answers import FORMAT_VERSION, Document, edge_document
from causalist.serialize.lookups import node_document

if TYPE_CHECKING:
    from causalist.model.layers import Layering


def layers_document(found: "Layering | None", limit: int) -> Document:
    """`layers --json`. `n_back_edges` counts all of them, `back_edges` holds the first `limit`."""
    sizes, uses, back = (found.sizes, found.uses, found.back_edges) if found is not None else ((), (), ())
    return {
        "format_version": FORMAT_VERSION,
        "layers": [
            {
                "layer": size.layer,
                "files": size.n_files,
                "definitions": size.n_definitions,
                "hottest": [{**node_document(used.hit), "fan_in": used.fan_in} for used in size.hottest],
            }
            for size in sizes
        ],
        "uses": [use._asdict() for use in uses],
        "n_back_edges": len(back),
        "back_edges": [
            {
                "edge": edge_document(each.edge),
                "source_layer": each.source_layer,
                "target_layer": each.target_layer,
                "steps": each.steps,
            }
            for each in back[:limit]
        ],
    }
