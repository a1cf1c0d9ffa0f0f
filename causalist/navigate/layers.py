"""How a repository is layered: what each layer holds, which uses which, and which uses lead upwards."""

import numpy as np

from causalist.extract import hit_of
from causalist.graph import fan_in
from causalist.model.graph import USE_KINDS, CodeGraph
from causalist.model.lookup import BackEdge, Layering, LayerSize, LayerUses, UsedDefinition
from causalist.model.symbols import STACKED_LAYERS, Layer, NodeKind

_NO_DEFINITIONS = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.ENTITY, NodeKind.EXTERNAL)
_SHOWN = (*reversed(STACKED_LAYERS), *(layer for layer in Layer if layer not in STACKED_LAYERS))


def layering_of(graph: CodeGraph, *, min_confidence: float, n_hottest: int = 5) -> Layering:
    """Layers with their sizes, `n_hottest` most used definitions (ties by id) and uses of one another.

    Uses are edges inside the repository that import, call, refer to or derive from something. What tests, documentation
    and configuration use is counted, and is no back edge: they stand beside the layers.
    """
    nodes, edges = graph.nodes, graph.edges
    is_inside = nodes.kinds != NodeKind.EXTERNAL
    is_definition = ~np.isin(nodes.kinds, _NO_DEFINITIONS)
    fan_ins = fan_in(edges, len(nodes))
    sizes = []
    for layer in _SHOWN:
        own = is_inside & (nodes.layers == layer)
        if not own.any():
            continue
        definitions = np.flatnonzero(own & is_definition)
        best = definitions[np.lexsort((definitions, -fan_ins[definitions]))][:n_hottest]
        hottest = tuple(
            UsedDefinition(hit_of(graph, n, 0.0, 0.0, ()), int(fan_ins[n])) for n in best.tolist() if fan_ins[n]
        )
        n_files = int((own & (nodes.kinds == NodeKind.FILE)).sum())
        sizes.append(LayerSize(layer.label, n_files, len(definitions), hottest))
    counted = np.isin(edges.kinds, sorted(USE_KINDS)) & (edges.confidences >= min_confidence) & is_inside[edges.targets]
    numbers = np.flatnonzero(counted)
    sources, targets = nodes.layers[edges.sources[numbers]], nodes.layers[edges.targets[numbers]]
    matrix = np.zeros((len(Layer), len(Layer)), dtype=np.int64)
    np.add.at(matrix, (sources, targets), 1)
    pairs = [(one, other) for one in _SHOWN for other in _SHOWN if matrix[one, other]]
    uses = tuple(LayerUses(one.label, other.label, int(matrix[one, other])) for one, other in pairs)
    is_back = (targets > sources) & np.isin(
        targets, STACKED_LAYERS
    )  # their numbers rise from the lowest to the highest
    back = [
        BackEdge(graph.edge(number), Layer(source).label, Layer(target).label, target - source)
        for number, source, target in zip(
            numbers[is_back].tolist(), sources[is_back].tolist(), targets[is_back].tolist(), strict=True
        )
    ]
    back.sort(key=lambda b: (-b.steps, -b.edge.confidence, b.edge.source, b.edge.target, b.edge.kind))
    return Layering(tuple(sizes), uses, tuple(back))
