"""Health of an index, and the layers of the repository.

In: an `Index`. Out: violated invariants, parse errors, the share of resolved calls, and for each layer its contents,
the layers that it uses, and the uses that lead upwards.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from causalist.extract import hit_of
from causalist.graph import GUESSES, RULES, fan_in, load_confidences
from causalist.model.graph import USE_KINDS, CodeGraph, EdgeKind
from causalist.model.index import Index
from causalist.model.lookup import (
    BackEdge,
    Finding,
    Health,
    LayerFile,
    Layering,
    LayerSize,
    LayerUses,
    ResolutionCounts,
    UnmeasuredRule,
    UnresolvedCall,
    UsedDefinition,
)
from causalist.model.node_ids import STACKED_LAYERS, Layer, NodeKind, Role, split_id
from causalist.parse import dialect_of

_EXAMPLES = 3  # unresolved calls of a language
_MAX_EXAMPLES = 20  # findings of one kind that are listed; an index that is broken is broken everywhere


def find_defects(index: Index) -> Health:
    """Return the findings in a fixed order: broken invariants of the graph, then partly readable files."""
    graph = index.graph
    broken = [*_nodes(graph), *_edges(graph)]
    doubtful = [
        Finding(note.slug, f"{note.path}:{note.row + 1}" if note.row >= 0 else note.path, note.detail)
        for note in index.notes
    ]
    if broken:  # what follows reads the graph as if it were whole
        return Health((*broken, *doubtful), (), ())
    return Health(tuple(doubtful), _calls(graph), _cycles(graph), _list_unmeasured_rules(graph))


def _nodes(graph: CodeGraph) -> Iterator[Finding]:
    nodes, n = graph.nodes, len(graph.nodes)
    ids = list(nodes.ids)
    for before, after in pairwise(ids):
        if before >= after:
            detail = "two nodes have this id" if before == after else f"stands behind {before}; ids have to be sorted"
            yield Finding("wrong-id", after, detail)
    in_file = nodes.files >= 0
    wrong = (nodes.files >= n) | (nodes.parents >= n) | (in_file & (nodes.kinds == NodeKind.EXTERNAL))
    wrong |= ~in_file & (nodes.kinds != NodeKind.EXTERNAL) & (nodes.kinds != NodeKind.ENTITY)
    yield from _report_nodes(graph, wrong, "wrong-place", "lies in no file, or in one that does not exist")
    files = np.clip(nodes.files, 0, max(n - 1, 0))
    outside = in_file & ~wrong & (
        (nodes.start_bytes > nodes.end_bytes)
        | (nodes.start_bytes < 0)
        | (nodes.end_bytes > nodes.end_bytes[files])
        | (nodes.start_rows > nodes.end_rows)
        | (nodes.end_rows > nodes.end_rows[files])
    )  # fmt: skip
    yield from _report_nodes(graph, outside, "span-outside", "its place reaches out of its file")


def _edges(graph: CodeGraph) -> Iterator[Finding]:
    edges, n = graph.edges, len(graph.nodes)
    dangling = (edges.sources < 0) | (edges.sources >= n) | (edges.targets < 0) | (edges.targets >= n)
    for number in np.flatnonzero(dangling)[:_MAX_EXAMPLES].tolist():
        where = f"edge {number}"
        yield Finding("dangling-edge", where, f"{edges.sources[number]} -> {edges.targets[number]} of {n} nodes")
    is_intact = ~dangling
    without_rule = is_intact & (edges.rules >= len(graph.rule_names))
    for number in np.flatnonzero(without_rule)[:_MAX_EXAMPLES].tolist():
        yield Finding("missing-rule", f"edge {number}", f"its rule has the number {edges.rules[number]}")
    rules = frozenset(rule.name.value for rule in RULES)
    for name in sorted(
        {graph.rule_names[i] for i in np.unique(edges.rules[is_intact & ~without_rule]).tolist()} - rules
    ):
        yield Finding("missing-rule", name, "edges go by this rule, of which nothing is known")
    has_known_rule = is_intact & ~without_rule
    confident = (edges.confidences > 0) & (edges.confidences <= 1) & (edges.candidates >= 1)
    for number in np.flatnonzero(has_known_rule & ~confident)[:_MAX_EXAMPLES].tolist():
        edge = graph.edge(number)
        detail = f"{edge.kind} by {edge.rule}: confidence {edge.confidence}, {edge.candidates} candidates"
        yield Finding("wrong-confidence", f"{edge.source} -> {edge.target}", detail)


def _report_nodes(graph: CodeGraph, wrong: NDArray[np.bool_], slug: str, detail: str) -> Iterator[Finding]:
    for node in np.flatnonzero(wrong)[:_MAX_EXAMPLES].tolist():
        yield Finding(slug, graph.nodes.ids[node], detail)


def _calls(graph: CodeGraph) -> tuple[ResolutionCounts, ...]:
    """Count the call sites of each language; a site with several candidates counts once."""
    edges, nodes, unresolved = graph.edges, graph.nodes, graph.unresolved
    languages = _languages(graph)
    names = sorted(set(languages) - {""})
    calls = edges.kinds == EdgeKind.CALLS
    sites = edges.counts / edges.candidates
    is_guess = np.isin(edges.rules, [number for number, rule in enumerate(graph.rule_names) if rule in GUESSES])
    outside = nodes.kinds[edges.targets] == NodeKind.EXTERNAL
    of_edge = np.array(languages, dtype=object)[nodes.files[edges.sources]] if len(edges) else np.zeros(0, dtype=object)
    of_call = np.array(languages, dtype=object)[nodes.files[unresolved.sources]]
    result = []
    for name in names:
        own = calls & (of_edge == name)
        counts = [
            round(float(sites[own & part].sum())) for part in (~is_guess & ~outside, is_guess & ~outside, outside)
        ]
        unknown = np.flatnonzero(of_call == name)
        examples = _examples(graph, unknown)
        result.append(
            ResolutionCounts(name, counts[0], counts[1], counts[2], int(unresolved.counts[unknown].sum()), examples)
        )
    return tuple(each for each in result if sum(each[1:5]))


def _examples(graph: CodeGraph, rows: NDArray[np.int64]) -> tuple[UnresolvedCall, ...]:
    """Return one unresolved call for each of the most frequent names of these rows, except "?"."""
    calls = graph.unresolved
    sums: dict[int, int] = {}
    for row in rows.tolist():
        name = int(calls.names[row])
        sums[name] = sums.get(name, 0) + int(calls.counts[row])
    frequent_names = sorted(
        (name for name in sums if calls.texts[name] != "?"), key=lambda name: (-sums[name], calls.texts[name])
    )
    first = {int(calls.names[row]): row for row in reversed(rows.tolist())}
    chosen = [first[name] for name in frequent_names[:_EXAMPLES]]
    return tuple(
        UnresolvedCall(
            graph.nodes.ids[int(calls.sources[i])],
            calls.texts[int(calls.names[i])],
            int(calls.rows[i]) + 1,
            sums[int(calls.names[i])],
        )
        for i in chosen
    )


def _list_unmeasured_rules(graph: CodeGraph) -> tuple[UnmeasuredRule, ...]:
    """Return the unmeasured rules that edges of this graph have, in the order of the rules."""
    table, evidence = load_confidences(), {rule.name.value: rule.evidence for rule in RULES}
    counts = np.bincount(graph.edges.rules, minlength=len(graph.rule_names))
    n_edges_by_rule = {name: int(n) for name, n in zip(graph.rule_names, counts.tolist(), strict=True) if n}
    return tuple(
        UnmeasuredRule(
            name, evidence[name].name.lower(), table.confidence_of(name, EdgeKind.CALLS, ""), n_edges_by_rule[name]
        )
        for name in table.unmeasured_rules()
        if name in n_edges_by_rule
    )


def _languages(graph: CodeGraph) -> list[str]:
    """Return the dialect of each file node, "" for all other nodes."""
    nodes = graph.nodes
    result = [""] * len(nodes)
    for file in np.flatnonzero(nodes.kinds == NodeKind.FILE).tolist():
        result[file] = dialect_of(split_id(nodes.ids[file])[0])
    return result


def _cycles(graph: CodeGraph) -> tuple[tuple[str, ...], ...]:
    """Return the strongly connected components of more than one file over imports."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    edges, n = graph.edges, len(graph.nodes)
    imports = edges.kinds == EdgeKind.IMPORTS
    ones = np.ones(int(imports.sum()), dtype=np.int8)
    matrix = csr_array((ones, (edges.sources[imports], edges.targets[imports])), shape=(n, n))
    _, labels = connected_components(matrix, directed=True, connection="strong")
    sizes = np.bincount(labels, minlength=1)
    groups: dict[int, list[str]] = {}
    for node in np.flatnonzero(sizes[labels] > 1).tolist():
        groups.setdefault(int(labels[node]), []).append(graph.nodes.ids[node])
    return tuple(sorted((tuple(group) for group in groups.values()), key=lambda group: (-len(group), group)))


_NO_DEFINITIONS = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.ENTITY, NodeKind.EXTERNAL)
_SHOWN = (*reversed(STACKED_LAYERS), *(layer for layer in Layer if layer not in STACKED_LAYERS))


def list_layer_files(graph: CodeGraph, layer: Layer, *, min_confidence: float) -> tuple[LayerFile, ...]:
    """Return the files with nodes of a layer, the most used from other layers first, then by path.

    Uses are those of `summarize_layers`.
    """
    nodes, edges = graph.nodes, graph.edges
    own = (nodes.kinds != NodeKind.EXTERNAL) & (nodes.layers == layer) & (nodes.files >= 0)
    n = len(nodes)
    counted = np.isin(edges.kinds, sorted(USE_KINDS)) & (edges.confidences >= min_confidence)
    crossing = counted & (own[edges.sources] != own[edges.targets]) & (nodes.kinds[edges.targets] != NodeKind.EXTERNAL)
    into, out_of = edges.targets[crossing & own[edges.targets]], edges.sources[crossing & own[edges.sources]]
    n_used = np.bincount(nodes.files[into], minlength=n)
    n_uses = np.bincount(nodes.files[out_of], minlength=n)
    n_definitions = np.bincount(nodes.files[own & ~np.isin(nodes.kinds, _NO_DEFINITIONS)], minlength=n)
    files = np.unique(nodes.files[own]).tolist()
    layer_files = [
        LayerFile(split_id(nodes.ids[file])[0], int(n_definitions[file]), int(n_used[file]), int(n_uses[file]))
        for file in files
    ]
    return tuple(sorted(layer_files, key=lambda each: (-each.n_used, each.path)))


def summarize_layers(graph: CodeGraph, *, min_confidence: float, n_hottest: int = 5) -> Layering:
    """Return the sizes of the layers, the `n_hottest` most used definitions (ties by id) and the uses between layers.

    Uses are edges inside the repository that import, call, refer to or derive from something. Uses by tests,
    documentation and configuration are counted, and are no back edges, since these are outside of the order of layers.
    Vendored and generated code has no part in it: its design was not made here.
    """
    nodes, edges = graph.nodes, graph.edges
    is_inside = (nodes.kinds != NodeKind.EXTERNAL) & ~np.isin(nodes.roles, (Role.VENDORED, Role.GENERATED))
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
    counted = np.isin(edges.kinds, sorted(USE_KINDS)) & (edges.confidences >= min_confidence)
    counted &= is_inside[edges.sources] & is_inside[edges.targets]
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
