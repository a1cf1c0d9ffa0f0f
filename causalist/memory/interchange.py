"""The memory as a graph for other programs: node-link data and NetworkX, both ways.

Nodes: `chunk` (a passage: text and metadata), `entity` and `concept` (an entity whose type is concept; canonical name,
type, aliases, frequency). Edges: `mentions` (chunk to entity: count and positions), `references` (chunk to chunk),
`similar_to` (both ways, strength), `related_to` (between entities: of a triple, with its predicate, confidence as
strength and the chunk that says it; of a shared passage, with `co_occurrence_count` and as strength the share of the
rarer entity's passages). What is read back are chunks, mentions, references and triples; the rest follows from them.
Ids have a prefix for their kind, `chunk:` or `entity:`, because a passage may be called like an entity.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from causalist.errors import IndexUnreadable
from causalist.memory.arrays import types_and_aliases
from causalist.memory.entities import TYPES, Embedder, Entity, Extraction, Triple, extracted
from causalist.memory.records import Records, checked_passage
from causalist.memory.snapshot import View
from causalist.memory.storage import MemoryState
from causalist.memory.variants import cooccurrences
from causalist.memory.vectors import Vectors

FORMAT = 1


def node_link(view: View) -> dict[str, Any]:
    """Node-link data as `networkx.node_link_graph(data, edges="links")` reads them."""
    arrays, records = view.arrays, view.records
    nodes: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    for place, passage in enumerate(arrays.passages):
        record = records.passages[passage]
        metadata = {"text": record.text, **({"metadata": dict(record.metadata)} if record.metadata else {})}
        nodes.append({"id": f"chunk:{passage}", "type": "chunk", "passage_id": passage, **metadata})
        for entity, rows in _by_entity(record.mentions).items():
            links.append(
                {
                    "source": f"chunk:{passage}",
                    "target": f"entity:{view.meant(place, entity)}",
                    "type": "mentions",
                    "count": len(rows),
                    "positions": [int(row[3]) for row in rows],
                    "written": [records.written.strings[row[1]] for row in rows],
                    "entity_types": [TYPES[row[2]] for row in rows],
                }
            )
        links += [
            {"source": f"chunk:{passage}", "target": f"chunk:{other}", "type": "references", "strength": 1.0}
            for other in record.references
            if other in view.passage_place
        ]
        links += [
            {
                "source": f"entity:{view.meant(place, t.subject)}",
                "target": f"entity:{view.meant(place, t.object)}",
                "type": "related_to",
                "predicate": t.predicate,
                "strength": t.confidence,
                "passage": passage,
            }
            for t in record.triples
        ]
    for place, entity_name in enumerate(arrays.entities):
        kind, aliases = types_and_aliases(records, arrays, (place,))
        nodes.append(
            {
                "id": f"entity:{entity_name}",
                "type": "concept" if kind == "concept" else "entity",
                "entity_type": kind,
                "canonical_name": aliases[0] if aliases else entity_name.replace("_", " "),
                "aliases": list(aliases[1:]),
                "frequency": int(arrays.passages_of.row(place)[1].sum()),
            }
        )
    links += [
        {"source": f"entity:{arrays.entities[a]}", "target": f"entity:{arrays.entities[int(b)]}", "type": "similar_to",
         "strength": value}
        for a in range(arrays.n_entities)
        for b, value in zip(*(part.tolist() for part in arrays.similar.row(a)), strict=True)
    ]  # fmt: skip
    frequency = np.diff(arrays.passages_of.indptr)
    for a, b, n in zip(*(part.tolist() for part in cooccurrences(arrays)), strict=True):
        links.append(
            {
                "source": f"entity:{arrays.entities[a]}",
                "target": f"entity:{arrays.entities[b]}",
                "type": "related_to",
                "strength": n / float(min(frequency[a], frequency[b])),
                "co_occurrence_count": int(n),
            }
        )
    return {
        "directed": True,
        "multigraph": True,
        "graph": {"format": FORMAT, "kind": "causalist-memory"},
        "nodes": nodes,
        "links": links,
    }


def read_node_link(data: Any, embedder: Embedder | None = None) -> MemoryState:
    """Return the memory that node-link data describe; the data have no vectors and no diagnostics.

    Raises IndexUnreadable if `data` is not such a graph.
    """
    try:
        records = _records_of(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IndexUnreadable(f"this is no graph of a memory: {type(error).__name__}: {error}") from error
    return MemoryState(records, None if embedder is None else Vectors(embedder), {})


def _records_of(data: Mapping[str, Any]) -> Records:
    links = data["links"] if "links" in data else data["edges"]
    chunks = {node["id"]: node for node in data["nodes"] if node["type"] == "chunk"}
    entities = {node["id"]: node for node in data["nodes"] if node["type"] in ("entity", "concept")}
    mentions: dict[str, list[Entity]] = {}
    triples: dict[str, list[Triple]] = {}
    references: dict[str, list[str]] = {}
    for link in links:
        source, target, kind = link["source"], link["target"], link["type"]
        if kind == "mentions":
            entity = entities[target]
            n = int(link.get("count", 1))
            positions = [int(p) for p in link.get("positions") or [-1] * n]
            written = link.get("written") or [str(entity.get("canonical_name", target.removeprefix("entity:")))] * n
            types = link.get("entity_types") or [str(entity.get("entity_type", "entity")).lower()] * n
            mentions.setdefault(source, []).extend(map(Entity, written, types, positions))
        elif kind == "references":
            references.setdefault(source, []).append(str(chunks[target].get("passage_id", target)))
        elif kind == "related_to" and "predicate" in link:
            names = [str(entities[end].get("canonical_name", end.removeprefix("entity:"))) for end in (source, target)]
            triple = Triple(names[0], str(link["predicate"]), names[1], float(link["strength"]))
            triples.setdefault(f"chunk:{link['passage']}", []).append(triple)
    records = Records()
    for node_id, node in chunks.items():
        passage = str(node.get("passage_id", node_id))
        metadata = dict(node.get("metadata") or {})
        if references.get(node_id):
            known = metadata.get("references", [])
            metadata["references"] = [*known, *(r for r in references[node_id] if r not in known)]
        found = sorted(mentions.get(node_id, ()), key=lambda entity: entity.start)
        text = node["text"] if "text" in node else metadata.pop("text")
        extraction = extracted(Extraction(tuple(found), tuple(triples.get(node_id, ()))))
        records.put(passage, text, checked_passage(passage, text, metadata), extraction)
    return records


def to_networkx(data: Mapping[str, Any]) -> Any:
    """A `networkx.MultiDiGraph` of node-link data."""
    import networkx  # type: ignore[import-untyped]

    return networkx.node_link_graph(dict(data), directed=True, multigraph=True, edges="links")


def from_networkx(graph: Any) -> dict[str, Any]:
    """Node-link data of a NetworkX graph, whichever of its classes it has."""
    import networkx

    data: dict[str, Any] = networkx.node_link_data(graph, edges="links")
    return data


def _by_entity(mentions: np.ndarray[Any, np.dtype[np.int32]]) -> dict[int, list[list[int]]]:
    found: dict[int, list[list[int]]] = {}
    for row in mentions.tolist():
        found.setdefault(row[0], []).append(row)
    return found
