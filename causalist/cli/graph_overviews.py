"""Commands about the whole graph: its export (`graph export`), order (`topo`), gaps (`lint`), `layers`, and its `map`.

Of an export, `node-link` and `graphml` contain all nodes inside the repository; the other formats only nodes with an
edge. Edges keep the order of the input. The dependency order of files, definitions or folders is text, a diagram or
JSON.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from causalist._internal.text_formatting import align_columns, count_noun
from causalist.cli._output import emit, emit_document, escape_controls, open_destination, say, to_json
from causalist.cli._repository import (
    edge_location,
    limit_option,
    lookup_options,
    min_confidence_option,
    node_location,
    open_for_lookup,
    open_repository,
    print_result,
    report_notes,
    repository_options,
)
from causalist.cli._run import NOTHING_FOUND
from causalist.model.node_ids import STACKED_LAYERS, NodeKind, split_id
from causalist.serialize.answers import edge_document
from causalist.serialize.lookup_documents import (
    layer_document,
    layers_document,
    lint_document,
    map_document,
    topo_document,
)

if TYPE_CHECKING:
    from causalist.model.graph import CodeGraph, Edge
    from causalist.model.lookup import (
        CycleCut,
        DependencyCycle,
        DependencyOrder,
        Health,
        LayerFile,
        Layering,
        OrderedItem,
        UnresolvedCall,
    )


Format = Callable[["CodeGraph", Iterable["Edge"]], Iterator[str]]

_LINES_PER_PART = 1000
# Edges below this confidence are dashed: they are more likely wrong than right.
_DOUBTFUL_THRESHOLD = 0.5
# Characters that XML 1.0 cannot contain, not even as a reference.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_jsonl(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield one edge per line, with the keys of `edges` in `ask --json`."""
    return _join_parts(to_json(edge_document(edge)) + "\n" for edge in edges)


def render_node_link(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield node-link JSON for `networkx.node_link_graph(data, edges="edges")`."""
    import networkx  # type: ignore[import-untyped]

    yield to_json(networkx.node_link_data(_build_multigraph(graph, edges), edges="edges")) + "\n"


def render_graphml(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield GraphML for `networkx.read_graphml` and graph viewers.

    GraphML has no null, so that None values are omitted. Characters that XML cannot contain are percent-escaped, and so
    is `%` in the paths of ids.
    """
    import networkx

    multigraph = _build_multigraph(graph, edges)
    every = [attributes for _, attributes in multigraph.nodes(data=True)]
    every += [attributes for _, _, attributes in multigraph.edges(data=True)]
    for attributes in every:
        for name, value in list(attributes.items()):
            if value is None:
                del attributes[name]
            elif isinstance(value, str):
                attributes[name] = _escape_xml(value)
    renamed = {node: _escape_xml(node) for node in multigraph if _NOT_XML.search(node)}
    networkx.relabel_nodes(multigraph, renamed, copy=False)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield from _join_parts(f"{line}\n" for line in networkx.generate_graphml(multigraph))


def render_dot(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield DOT for Graphviz; doubtful edges are dashed."""
    return _join_parts(_dot_lines(edges))


def render_mermaid(graph: "CodeGraph", edges: "Iterable[Edge]") -> Iterator[str]:
    """Yield a Mermaid flowchart; nodes are n0, n1, … with their id as label."""
    return _join_parts(_mermaid_lines(edges))


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "jsonl": render_jsonl,
        "node-link": render_node_link,
        "graphml": render_graphml,
        "dot": render_dot,
        "mermaid": render_mermaid,
    }
)


def render_order_dot(order: "DependencyOrder") -> Iterator[str]:
    """Yield a dependency order as DOT: cycles are clusters, and uses to cut are dashed and red."""
    return _join_parts(_order_dot_lines(order))


def render_order_mermaid(order: "DependencyOrder") -> Iterator[str]:
    """Yield a dependency order as a Mermaid flowchart: cycles are subgraphs, and uses to cut are dashed."""
    return _join_parts(_order_mermaid_lines(order))


def _order_dot_lines(order: "DependencyOrder") -> Iterator[str]:
    yield "digraph causalist {\n  node [shape=box];\n"
    for item in order.items:
        if item.cycle is None:
            yield f"  {_dot_string(item.node)};\n"
    for number, cycle in enumerate(order.cycles):
        yield f"  subgraph cluster_{number} {{ {' '.join(f'{_dot_string(each)};' for each in cycle.members)} }}\n"
    for source, target, is_cut in _uses(order):
        style = " [style=dashed, color=red]" if is_cut else ""
        yield f"  {_dot_string(source)} -> {_dot_string(target)}{style};\n"
    yield "}\n"


def _order_mermaid_lines(order: "DependencyOrder") -> Iterator[str]:
    yield "flowchart LR\n"
    names = {item.node: f"n{number}" for number, item in enumerate(order.items)}
    for item in order.items:
        if item.cycle is None:
            yield f'  {names[item.node]}["{_mermaid_label(item.node)}"]\n'
    for number, cycle in enumerate(order.cycles):
        yield f"  subgraph c{number} [cycle]\n"
        yield from (f'    {names[each]}["{_mermaid_label(each)}"]\n' for each in cycle.members)
        yield "  end\n"
    for source, target, is_cut in _uses(order):
        yield f"  {names[source]} {'-.->|cut|' if is_cut else '-->'} {names[target]}\n"


def _uses(order: "DependencyOrder") -> Iterator[tuple[str, str, bool]]:
    """Yield source and target of each use, and True for one to cut."""
    cuts = {(cut.source, cut.target) for cycle in order.cycles for cut in cycle.cuts}
    for item in order.items:
        yield from ((item.node, target, (item.node, target) in cuts) for target in item.uses)


def _dot_lines(edges: "Iterable[Edge]") -> Iterator[str]:
    yield "digraph causalist {\n  node [shape=box];\n"
    for edge in edges:
        dashed = ", style=dashed" if edge.confidence < _DOUBTFUL_THRESHOLD else ""
        yield (
            f"  {_dot_string(edge.source)} -> {_dot_string(edge.target)} "
            f"[label={_dot_string(edge.kind)}, rule={_dot_string(edge.rule)}, "
            f"confidence={edge.confidence!r}{dashed}];\n"
        )
    yield "}\n"


def _dot_string(text: str) -> str:
    from causalist._internal.text_formatting import dot_string

    return dot_string(escape_controls(text), is_label=False)


def _mermaid_lines(edges: "Iterable[Edge]") -> Iterator[str]:
    yield "flowchart LR\n"
    names: dict[str, str] = {}
    for edge in edges:
        for node in (edge.source, edge.target):
            if node not in names:
                names[node] = f"n{len(names)}"
                yield f'  {names[node]}["{_mermaid_label(node)}"]\n'
        arrow = "-.->" if edge.confidence < _DOUBTFUL_THRESHOLD else "-->"
        yield f"  {names[edge.source]} {arrow}|{edge.kind}| {names[edge.target]}\n"


def _mermaid_label(text: str) -> str:
    from causalist._internal.text_formatting import mermaid_label

    return mermaid_label(escape_controls(text))


def _build_multigraph(graph: "CodeGraph", edges: "Iterable[Edge]") -> Any:
    """Return a networkx.MultiDiGraph with edges keyed by kind.

    Its nodes are all nodes inside the repository and the ends of the edges.
    """
    import networkx

    result = networkx.MultiDiGraph()
    ids, nodes = graph.nodes.ids, graph.nodes
    for number, node in enumerate(ids):
        kind = graph.kind(number)
        if kind is not NodeKind.EXTERNAL:
            first, last = int(nodes.start_rows[number]) + 1, int(nodes.end_rows[number]) + 1
            result.add_node(
                node, kind=kind.label, path=split_id(node)[0], start_line=first, end_line=last,
                layer=graph.layer(number), tier=graph.tier(number),
            )  # fmt: skip
    for edge in edges:
        for node in (edge.source, edge.target):
            if node not in result:
                outside = dict.fromkeys(("path", "start_line", "end_line", "layer", "tier"))
                result.add_node(node, kind=NodeKind.EXTERNAL.label, **outside)
        attributes = edge_document(edge)
        result.add_edge(attributes.pop("source"), attributes.pop("target"), key=edge.kind, **attributes)
    return result


def _escape_xml(text: str) -> str:
    return _NOT_XML.sub(lambda match: "".join(f"%{b:02X}" for b in match[0].encode("utf-8", "surrogatepass")), text)


def _join_parts(lines: Iterable[str]) -> Iterator[str]:
    """Yield the same text in fewer, larger pieces."""
    remaining = iter(lines)
    while part := "".join(islice(remaining, _LINES_PER_PART)):
        yield part


@click.group("graph")
def graph_command() -> None:
    """Export the code graph.

    \b
    Example:
      causalist graph export --format graphml --output graph.graphml
    """


@graph_command.command("export")
@repository_options
@click.option("--format", "graph_format", type=click.Choice(list(FORMATS)), required=True,
              help="Format of the export.")  # fmt: skip
@click.option("--kind", "kinds", multiple=True, metavar="K", help="Only edges of this kind. Repeatable.")
@min_confidence_option(0.5, "Minimum confidence of an edge.")
@click.option(
    "--all", "everything", is_flag=True, help="Export all edges, including external nodes and any confidence."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write instead of standard output; replaced atomically.",
)
def export_command(
    repo: Path | None,
    force: bool,
    graph_format: str,
    kinds: tuple[str, ...],
    min_confidence: float,
    everything: bool,
    output: Path | None,
) -> None:
    """Export the edges inside the repository and their nodes.

    networkx reads `node-link` and `graphml`, which also contain nodes without edges.

    \b
    Example:
      causalist graph export --format jsonl --kind calls | head
      causalist graph export --format dot --kind imports | dot -Tsvg > imports.svg
    """
    repository = open_repository(repo, force=force)
    report_notes(repository)
    edges = _EdgeCounter(repository.edges(kinds=kinds, min_confidence=min_confidence, everything=everything))
    with open_destination(output) as write:
        for part in FORMATS[graph_format](repository.index.graph, edges):
            write(part)
    if not edges.n:
        say("no edges match; `--all` includes edges of low confidence and external nodes")
        click.get_current_context().exit(NOTHING_FOUND)


class _EdgeCounter:
    """Iterator over edges that counts them."""

    def __init__(self, edges: "Iterable[Edge]") -> None:
        self._edges = edges
        self.n = 0

    def __iter__(self) -> "Iterator[Edge]":
        for edge in self._edges:
            self.n += 1
            yield edge


_MAX_CYCLE_FILES = 5


@click.command("lint")
@lookup_options
@limit_option(20, "Maximum number of findings, and of import cycles.")
def lint_command(repo: Path | None, force: bool, limit: int, as_json: bool) -> None:
    """Check the index and report call resolution.

    Verify the checksum of the stored index even if its timestamps are unchanged. A damaged index is rebuilt and
    reported.

    Findings (exit code 1) are broken invariants of the graph, and files that were parsed or read only in part. The
    report also has the share of resolved calls, rules without measured precision and import cycles; these are not
    findings.

    \b
    Example:
      causalist lint --json | jq '.findings[].slug'
    """
    repository = open_for_lookup(repo, force=force, when_empty=lint_document(None) if as_json else None, anew=True)
    health = repository.lint()
    n = len(health.findings)
    nothing = f"{n} finding{'s'[: n != 1]}" if n else ""
    print_result(lint_document(health) if as_json else None, _format_health(health, limit), nothing)


def _format_health(health: "Health", limit: int) -> Iterator[str]:
    yield from align_columns([(f.slug, f.where, f.detail) for f in health.findings[:limit]])
    if len(health.findings) > limit:
        yield f"and {len(health.findings) - limit} more findings; --limit shows more of them"
    if health.calls:
        if health.findings:
            yield ""
        yield "calls: resolved, guessed by name, outside, of unknown receivers"
        yield from align_columns(
            [("  " + c.language, *_format_shares(c.resolved, c.guessed, c.outside, c.unresolved)) for c in health.calls]
        )
        for calls in health.calls:
            if calls.examples:
                names = ", ".join(f"{g.name} ({g.n:,}, as in {_call_location(g)})" for g in calls.examples)
                yield f"  {calls.language}, called on what is of no known type: {names}"
    if health.unmeasured:
        yield ""
        yield "rules whose precision was not measured:"
        yield from align_columns(
            [
                ("  " + u.rule, f"{u.edges:,} edges", f"{u.confidence:.2f}, as for {u.evidence}")
                for u in health.unmeasured
            ]
        )
    if health.cycles:
        yield ""
        yield f"files that import one another: {len(health.cycles)} circle{'s'[: len(health.cycles) != 1]}"
        for cycle in health.cycles[:limit]:
            more = f" and {len(cycle) - _MAX_CYCLE_FILES} more" if len(cycle) > _MAX_CYCLE_FILES else ""
            yield f"  {len(cycle)} files: {', '.join(cycle[:_MAX_CYCLE_FILES])}{more}"


def _call_location(gap: "UnresolvedCall") -> str:
    return f"{split_id(gap.node)[0]}:{gap.line}"


def _format_shares(*counts: int) -> list[str]:
    return [f"{n:,} ({100 * n / sum(counts):.0f} %)" for n in counts]


_MAX_CUTS = 3  # of a cycle that are named
_MAX_DELETED = 10


@click.command("topo")
@click.argument("names", metavar="[SET]...", nargs=-1)
@lookup_options
@click.option("--from", "start", metavar="NODE", help="Only NODE and what it uses, directly or indirectly.")
@click.option("--diff", "revision", metavar="[REV]", is_flag=False, flag_value="HEAD",
              help="Only what changed between a commit and the working tree, or in a range A..B or A...B.  "
              "[without REV: HEAD]")  # fmt: skip
@click.option("--level", type=click.Choice(["file", "definition", "folder"]),
              help="Items to order.  [default: definition if one is named, else file]")  # fmt: skip
@click.option("--layers", "in_layers", is_flag=True, help="Group items by depth: the longest chain of uses below them.")
@click.option("--format", "order_format", type=click.Choice(["text", "mermaid", "dot", "svg"]), default="text",
              show_default=True, help="Format of the order.")  # fmt: skip
@min_confidence_option(0.5, "Minimum confidence of a use.")
@click.option("--tests", is_flag=True, help="Include tests.")
@click.option("--all", "everything", is_flag=True,
              help="Include tests, documentation, examples, configuration, generated and vendored files.")  # fmt: skip
def topo_command(
    names: tuple[str, ...],
    repo: Path | None,
    force: bool,
    start: str | None,
    revision: str | None,
    level: str | None,
    in_layers: bool,
    order_format: str,
    min_confidence: float,
    tests: bool,
    everything: bool,
    as_json: bool,
) -> None:
    """List files or definitions, dependencies first.

    The order says what to read, build, port or review first. SET is any number of folders, .gitignore patterns, paths,
    and ids or names of nodes; without it, the repository. --from and --diff narrow it. Tests and other files beside the
    product are left out, unless they are named or SET has nothing else.

    Items that use one another are a cycle. They are listed together, with the cheapest uses to cut so that no cycle is
    left, the least certain first.

    \b
    Example:
      causalist topo src --layers
      causalist topo --from Session.verify --level definition
      causalist topo --diff main...HEAD
    """
    from causalist.model.lookup import OrderLevel

    if as_json and order_format != "text":
        raise click.UsageError("Give either --json or --format.")
    repository = open_for_lookup(repo, force=force, when_empty=topo_document(None) if as_json else None)
    order = repository.topo(
        *names,
        start=start,
        revision=revision,
        level=OrderLevel(level) if level else None,
        min_confidence=min_confidence,
        tests=tests,
        everything=everything,
    )
    for note in order.notes:
        say(f"note: {note}")
    if order.deleted:
        more = f" and {len(order.deleted) - _MAX_DELETED} more" if len(order.deleted) > _MAX_DELETED else ""
        say(f"note: deleted files have no place in the order: {', '.join(order.deleted[:_MAX_DELETED])}{more}")
    if order.left_out:
        left_out = ", ".join(f"{n:,} {role}" for role, n in order.left_out)
        say(f"note: files left out: {left_out}; --all includes them")
    if order.items and order_format != "text":
        if order_format == "svg":
            from causalist.serialize.svg import draw_order

            emit(draw_order(order))
        else:
            emit("".join((render_order_dot if order_format == "dot" else render_order_mermaid)(order)))
        return
    nothing = "" if order.items else "the set has nothing to order"
    if nothing and revision is not None:
        nothing = f"nothing of the set changed since {revision}"
    if nothing and order_format != "text":
        say(nothing)
        click.get_current_context().exit(NOTHING_FOUND)
    print_result(topo_document(order) if as_json else None, _format_order(order, in_layers=in_layers), nothing)


def _format_order(order: "DependencyOrder", *, in_layers: bool) -> Iterator[str]:
    """Yield the number of items, then one item per line; the items of a cycle are indented below its cuts."""
    items = order.items
    if in_layers:
        items = tuple(sorted(items, key=lambda item: item.depth))  # stable, so that cycles stay together
    noun = order.level.value
    cycles = f", {count_noun(len(order.cycles), 'cycle')}" if order.cycles else ""
    if items:
        yield f"{count_noun(len(items), noun, ',')}{cycles}, dependencies first"
    width = len(str(len(items)))
    with_kind = any(item.line is not None for item in items)
    lines = align_columns([_format_item(i, item, width, with_kind=with_kind) for i, item in enumerate(items, start=1)])
    depth, cycle = -1, None
    for item, line in zip(items, lines, strict=True):
        if in_layers and item.depth != depth:
            depth, cycle = item.depth, None
            n = sum(each.depth == depth for each in items)
            yield ""
            yield f"depth {depth}: {count_noun(n, noun, ',')}"
        if item.cycle is not None and item.cycle != cycle:
            yield from _format_cycle(order.cycles[item.cycle], noun)
        cycle = item.cycle
        yield f"  | {line}" if cycle is not None else f"    {line}"


def _format_item(number: int, item: "OrderedItem", width: int, *, with_kind: bool) -> tuple[str, ...]:
    place: tuple[str, ...] = ()
    if with_kind:
        place = (item.kind, item.path if item.line is None else f"{item.path}:{item.line}")
    return (f"{number:>{width}}", item.node, *place, f"uses {len(item.uses)}, used by {item.n_users}")


def _format_cycle(cycle: "DependencyCycle", noun: str) -> Iterator[str]:
    n = len(cycle.cuts)
    cut = "the cheapest use to cut is" if n == 1 else f"the cheapest {n} uses to cut, the least certain first:"
    if n == 1:
        yield f"  cycle of {count_noun(len(cycle.members), noun)}; {cut} {_format_cut(cycle.cuts[0])}"
        return
    yield f"  cycle of {count_noun(len(cycle.members), noun)}; {cut}"
    yield from (f"    {_format_cut(each)}" for each in cycle.cuts[:_MAX_CUTS])
    if n > _MAX_CUTS:
        yield f"    and {n - _MAX_CUTS} more; --json lists all"


def _format_cut(cut: "CycleCut") -> str:
    sites = count_noun(cut.n, "site")
    where = f"{cut.edge.kind} at {edge_location(cut.edge)}"
    return f"{cut.source} -> {cut.target} ({cut.confidence:.2f}, {sites}, {where})"


@click.command("map")
@lookup_options
@click.option("--max-tokens", type=int, default=2000, show_default=True, help="Token budget, a hard limit.")
@click.option("--format", "map_format", type=click.Choice(["text", "markdown", "json"]), default="text",
              show_default=True, help="Format of the map.")  # fmt: skip
def map_command(repo: Path | None, force: bool, max_tokens: int, map_format: str, as_json: bool) -> None:
    """Summarize the repository within a token budget.

    The map shows the description from README and manifest, languages and sizes, entry points, folders and their most
    used definitions, and the uses between folders. Importance is PageRank over the code without tests.

    \b
    Example:
      causalist map --max-tokens 1000
      causalist map --format markdown > MAP.md
    """
    repository = open_for_lookup(repo, force=force, when_empty=map_document(None) if as_json else None)
    drawn = repository.map(max_tokens=max_tokens, format=map_format)
    if as_json:
        emit_document(map_document(drawn))
    else:
        emit(drawn.text)


_STACKED = frozenset(layer.label for layer in STACKED_LAYERS)


@click.command("layers")
@click.argument("name", required=False)
@lookup_options
@min_confidence_option(0.5, "Minimum confidence of a use.")
@limit_option(20, "Maximum number of uses of higher layers, or of files of NAME.")
def layers_command(
    name: str | None, repo: Path | None, force: bool, min_confidence: float, limit: int, as_json: bool
) -> None:
    """Show the layers of the code, or the files of one.

    From highest to lowest, the layers are ui, api, logic, data and infra. The layers test, config and docs have no
    rank. The layer of a file follows from its name, folders, imports and type names. For each of the five layers
    (`--json`: for all), the most used definitions are shown with the number of their users. In the table, rows use
    columns. Uses of a higher layer by a lower one are listed, largest distance first. Files of NAME are listed with
    the number of their definitions, of uses by other layers and of uses of other layers. `review` reports added uses
    that `[layers]` in the settings forbids.

    \b
    Example:
      causalist layers --limit 100
      causalist layers --json | jq '.back_edges[].edge'
    """
    repository = open_for_lookup(repo, force=force, when_empty=layers_document(None, limit) if as_json else None)
    if name is not None:
        files = repository.layer_files(name, min_confidence=min_confidence)
        document = layer_document(name, files, limit) if as_json else None
        print_result(document, _format_files(files, limit), "" if files else f"no file is in the layer {name}")
        return
    layering = repository.layers(min_confidence=min_confidence)
    print_result(layers_document(layering, limit) if as_json else None, _format_layers(layering, limit))


def _format_files(files: "Sequence[LayerFile]", limit: int) -> Iterator[str]:
    rows = [
        (
            each.path,
            count_noun(each.n_definitions, "definition", ","),
            f"used {each.n_used:,} times",
            f"uses others {each.n_uses:,} times",
        )
        for each in files[:limit]
    ]
    yield from align_columns(rows)
    if len(files) > limit:
        yield f"and {len(files) - limit:,} more; --limit shows more of them"


def _format_layers(layering: "Layering", limit: int) -> Iterator[str]:
    sizes = layering.sizes
    yield from align_columns(
        [(s.layer, count_noun(s.n_files, "file", ","), count_noun(s.n_definitions, "definition", ",")) for s in sizes]
    )
    for size in sizes:
        if size.hottest and size.layer in _STACKED:
            yield ""
            yield f"{size.layer}, most used:"
            yield from align_columns(
                [(f"  {used.fan_in:,}", used.hit.id, node_location(used.hit)) for used in size.hottest]
            )
    if not layering.uses:
        return
    n = {(use.source, use.target): use.n for use in layering.uses}
    yield ""
    yield "uses, rows of columns:"
    header = ("", *(size.layer for size in sizes))
    rows = [[f"{n[one.layer, two.layer]:,}" if (one.layer, two.layer) in n else "." for two in sizes] for one in sizes]
    widths = [max(len(name), *(len(row[i]) for row in rows)) for i, name in enumerate(header[1:])]
    named = [header, *((size.layer, *row) for size, row in zip(sizes, rows, strict=True))]
    for name, *cells in named:
        yield "  ".join([f"  {name:<6}", *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))])
    back = layering.back_edges
    yield ""
    total = sum(use.n for use in layering.uses)
    yield f"{len(back):,} of {total:,} uses lead from a lower layer to a higher one" + (":" if back else "")
    yield from align_columns(
        [
            (
                f"  {each.source_layer} -> {each.target_layer}",
                f"{each.edge.source} {each.edge.kind} {each.edge.target}",
                f"{each.edge.rule} {each.edge.confidence:.2f}",
                edge_location(each.edge),
            )
            for each in back[:limit]
        ]
    )
    if len(back) > limit:
        yield f"and {len(back) - limit:,} more; --limit shows more of them"
