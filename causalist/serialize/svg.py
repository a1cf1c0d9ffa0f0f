"""Draw nodes and edges as SVG, in columns from users to what they use.

The layout is that of layered drawings (Sugiyama, Tagawa and Toda 1981): cycles count as one node, a column is the
longest chain of uses before it, rows follow the mean row of the neighbors, and an edge that skips columns keeps a row
of its own in each. Colors are attributes and not styles, so that a page whose policy forbids styles can show it.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from causalist._internal.text_formatting import count_noun, html_text, neutralize
from causalist.model.node_ids import Role, unescape_name

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import Affected, DependencyOrder, GraphPath
    from causalist.pipeline.repository import Repository
    from causalist.review.report import Review

MAX_PICTURE_NODES = 80  # more do not fit on a page that people can read
_MAX_USERS, _MAX_TESTS = 30, 12  # of a change

_ROW, _HEIGHT, _PASSAGE = 44, 34, 14  # pixels: of a row with a node, of its box, of a row that an edge passes through
_TOP, _GAP, _MARGIN = 40, 80, 16  # pixels
_CHARACTER = 7.2  # pixels of the monospaced font at 12 pixels
_MAX_LABEL = 44  # characters
_SWEEPS = 12  # over all columns; more did not change the drawings of five repositories
_CUT = "to cut"
_DOUBTFUL = 0.5  # below it an edge is more likely wrong than right
_SURE = 0.95


class NodeMark(StrEnum):
    """Part of a node in a picture."""

    PLAIN = "plain"
    FOCUS = "focus"
    CHANGED = "changed"
    ADDED = "added"
    TEST = "test"
    CYCLE = "cycle"


class EdgeSource(StrEnum):
    """Source of an edge, the weakest first."""

    CODE = "code"
    OBSERVED = "observed"
    PROVEN = "proven"


class PictureNode(NamedTuple):
    """A box: its id, a second line below its name, and its part."""

    id: str
    place: str = ""
    mark: NodeMark = NodeMark.PLAIN


class PictureEdge(NamedTuple):
    """An arrow. `alert` is "" or the label of a red arrow: a use to cut, a call that breaks."""

    source: str
    target: str
    kind: str
    confidence: float
    evidence: EdgeSource = EdgeSource.CODE
    alert: str = ""


_FILLS: Mapping[NodeMark, tuple[str, str]] = {
    NodeMark.PLAIN: ("#f6f8fa", "#8c959f"),
    NodeMark.FOCUS: ("#ddf4ff", "#0969da"),
    NodeMark.CHANGED: ("#fff8c5", "#9a6700"),
    NodeMark.ADDED: ("#dafbe1", "#1a7f37"),
    NodeMark.TEST: ("#fbefff", "#8250df"),
    NodeMark.CYCLE: ("#ffebe9", "#cf222e"),
}


def draw_picture(
    nodes: Sequence[PictureNode], edges: Iterable[PictureEdge], title: str, notes: Sequence[str] = ()
) -> str:
    """Return an SVG document of the nodes, at most `MAX_PICTURE_NODES` of them, and the edges among them.

    The first nodes are drawn; a line below the picture counts those that are left out, and gives `notes`. An edge to
    itself is not drawn, and of several edges between two nodes the strongest one is.
    """
    drawn = list({node.id: node for node in nodes}.values())[:MAX_PICTURE_NODES]
    ids = {node.id for node in drawn}
    kept = _strongest(edge for edge in edges if edge.source in ids and edge.target in ids)
    left_out = len({node.id for node in nodes}) - len(drawn)
    lines = [*notes, *([f"{count_noun(left_out, 'node')} more, not drawn"] if left_out else [])]
    layout = _Layout(drawn, kept)
    height = layout.height + 18 * len(lines) + 44
    legend = _legend(kept)
    width = max(layout.width, _CHARACTER * max(map(len, [title, legend, *lines])) + 2 * _MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-size="12" '
        'font-family="ui-monospace, Menlo, Consolas, monospace">',
        f"<title>{_text(title)}</title>",
        '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#57606a"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        f'<text x="{_MARGIN}" y="24" font-weight="bold" fill="#1f2328">{_text(title)}</text>',
        *(_draw_edge(edge, layout.route(edge)) for edge in kept),
        *(_draw_node(node, *layout.box(node.id)) for node in drawn),
    ]
    for number, line in enumerate([*lines, legend]):
        parts.append(f'<text x="{_MARGIN}" y="{layout.height + 22 + 18 * number}" fill="#57606a">{_text(line)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def picture_edge(edge: "Edge") -> PictureEdge:
    """Return the arrow of an edge."""
    evidence = EdgeSource.OBSERVED if edge.observed is not None and edge.observed.n else EdgeSource.CODE
    evidence = EdgeSource.PROVEN if edge.proven is not None else evidence
    return PictureEdge(edge.source, edge.target, edge.kind, edge.confidence, evidence)


def draw_path(start: str, end: str, trail: "GraphPath | None") -> str:
    """Return a path as SVG; both ends and a line that says so if there is none."""
    title = f"{unescape_name(start)} to {unescape_name(end)}"
    if trail is None:
        ends = [PictureNode(start, mark=NodeMark.FOCUS), PictureNode(end, mark=NodeMark.FOCUS)]
        return draw_picture(ends, (), title, ("the graph has no path between them",))
    nodes = [
        PictureNode(hop.node, mark=NodeMark.FOCUS if hop.node in (start, end) else NodeMark.PLAIN)
        for hop in trail.hops  # whose places are those of the uses
    ]
    return draw_picture(nodes, map(picture_edge, trail.edges), title, (f"probability {trail.probability:.2g}",))


def draw_impact(nodes: Sequence[str], affected: Sequence["Affected"], what: str, notes: Sequence[str] = ()) -> str:
    """Return what depends on nodes as SVG, tests marked; the first of `affected` are drawn. `what` names the nodes."""
    drawn = [PictureNode(node, mark=NodeMark.FOCUS) for node in nodes]
    drawn += [PictureNode(each.node, mark=_mark_of(each)) for each in affected]
    among = [*nodes, *(each.node for each in affected)]
    title = f"what depends on {unescape_name(what)}"
    return draw_picture(drawn, _edges_of(affected[:MAX_PICTURE_NODES], nodes, among), title, notes)


def draw_users(node: str, repository: "Repository") -> str:
    """Return `draw_impact` of a node, for which uses are followed only as many steps as a picture has room for.

    To find all that depends on a hub takes seconds, and nearly nothing of it is drawn.
    """
    depth, users = 1, repository.impact(node, max_depth=1)
    while len(users) < MAX_PICTURE_NODES:
        if all(each.depth < depth for each in users):
            return draw_impact([node], users, node)
        depth += 1
        users = repository.impact(node, max_depth=depth)
    return draw_impact([node], users, node, [f"what is more than {count_noun(depth, 'step')} away is not counted"])


def draw_review(review: "Review", uses: Iterable["Edge"]) -> str:
    """Return a change as SVG: changed definitions, who depends on them, tests, and the calls that break.

    `uses` are those that the changed definitions make; the ones among what is drawn are drawn, too.
    """
    from causalist.review.changes import ChangeKind

    changed = {each.new.node: each.kind for each in review.definitions if each.new is not None}
    users = [*review.affected[:_MAX_USERS], *review.tests[:_MAX_TESTS]]
    broken = {(call.node, call.target) for call in review.broken}
    calls = [each for each in review.broken if each.node not in {user.node for user in users}]
    nodes = [
        PictureNode(node, kind, NodeMark.ADDED if kind == ChangeKind.ADDED else NodeMark.CHANGED)
        for node, kind in changed.items()
    ]
    nodes += [PictureNode(each.node, mark=_mark_of(each)) for each in users if each.node not in changed]
    nodes += [PictureNode(each.node, f"{each.path}:{each.line}") for each in calls if each.node not in changed]
    edges = [
        edge._replace(alert="breaks" if (edge.source, edge.target) in broken else "")
        for edge in _edges_of(users, list(changed), [*changed, *(each.node for each in users)])
    ]
    edges += [PictureEdge(each.node, each.target, "calls", each.confidence, alert="breaks") for each in review.broken]
    edges += map(picture_edge, uses)
    n_removed = sum(each.kind is ChangeKind.REMOVED for each in review.definitions)
    notes = [f"{count_noun(n_removed, 'definition')} removed"] if n_removed else []
    for noun, affected, most in (("user", review.affected, _MAX_USERS), ("test", review.tests, _MAX_TESTS)):
        if len(affected) > most:
            notes.append(f"{count_noun(len(affected) - most, noun)} more, not drawn")
    return draw_picture(nodes, edges, f"{_side(review.before)} to {_side(review.after)}", notes)


def uses_of_change(review: "Review", repository: "Repository") -> "list[Edge]":
    """Return the calls that changed definitions make, in the repository after the change."""
    ids = repository.index.graph.nodes.ids
    nodes = sorted({each.new.node for each in review.definitions if each.new is not None})
    return [edge for node in nodes if ids.position(node) >= 0 for edge in repository.callees(node)]


def _side(name: str) -> str:
    """Return the name of one side of a change, of a commit its first ten characters."""
    return name if " " in name else name[:10] or "nothing"


def _mark_of(affected: "Affected") -> NodeMark:
    return NodeMark.TEST if affected.role == Role.TEST.label else NodeMark.PLAIN


def _edges_of(affected: Sequence["Affected"], nodes: Sequence[str], among: Iterable[str]) -> list[PictureEdge]:
    """Return the uses by which `affected` depend on nodes of `among`, which include `nodes`.

    A use may lead to a part of a node, or to what runs it.
    """
    owners = frozenset(among)

    def owner_of(target: str) -> str | None:
        while target not in owners:
            shorter = max(target.rpartition(".")[0], target.rpartition("::")[0], key=len)
            if not shorter or shorter == target or "::" not in target:
                return None
            target = shorter
        return target

    edges = []
    for each in affected:
        target = owner_of(each.overridden_by or each.runs or each.edge.target)
        if target is None and len(nodes) == 1:
            target = nodes[0]
        if target is not None:
            edges.append(picture_edge(each.edge)._replace(source=each.node, target=target))
    return edges


def draw_order(order: "DependencyOrder") -> str:
    """Return a dependency order as SVG: users before what they use, cycles marked, uses to cut dashed and red."""
    nodes = [
        PictureNode(
            item.node,
            "" if item.line is None else f"{item.path}:{item.line}",
            NodeMark.PLAIN if item.cycle is None else NodeMark.CYCLE,
        )
        for item in order.items
    ]
    cuts = {(cut.source, cut.target) for cycle in order.cycles for cut in cycle.cuts}
    uses = [(item.node, target) for item in order.items for target in item.uses]
    needed = _not_implied(uses)
    edges = [PictureEdge(*use, "uses", 1.0, alert=_CUT if use in cuts else "") for use in uses if use in needed]
    notes = order.notes
    if len(needed) < len(set(uses)):
        implied = count_noun(len(set(uses)) - len(needed), "use")
        notes = (*notes, f"{implied} not drawn, because other uses lead from the same item to the same item")
    return draw_picture(nodes, edges, f"dependencies of {count_noun(len(order.items), order.level.value)}", notes)


def _not_implied(uses: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the uses without those that a longer chain of others implies; all uses inside of a cycle stay."""
    import networkx  # type: ignore[import-untyped]

    graph = networkx.DiGraph(uses)
    condensed = networkx.condensation(graph)
    component = condensed.graph["mapping"]
    kept = set(networkx.transitive_reduction(condensed).edges)
    return {
        (source, target)
        for source, target in uses
        if component[source] == component[target] or (component[source], component[target]) in kept
    }


def _legend(edges: Sequence[PictureEdge]) -> str:
    """Return a line on what the arrows of a picture mean, as far as they differ."""
    shown = {edge.evidence for edge in edges}
    sentences = ["an arrow leads from the user to what it uses"]
    if shown - {EdgeSource.CODE}:
        firm = ((EdgeSource.PROVEN, "firm"), (EdgeSource.OBSERVED, "thick"))
        sentences += [f"{line}: {evidence}" for evidence, line in firm if evidence in shown]
        sentences.append("thin: read from the code")
    if any(edge.evidence is EdgeSource.CODE and edge.confidence < _DOUBTFUL for edge in edges):
        sentences.append("dashed: below .5")
    alerts = sorted({edge.alert for edge in edges if edge.alert})
    if alerts:
        sentences.append(f"red: {', '.join(alerts)}")
    return "; ".join(sentences)


def _strongest(edges: Iterable[PictureEdge]) -> list[PictureEdge]:
    """Return the strongest edge between each two nodes, in the order of the first."""
    best: dict[tuple[str, str], PictureEdge] = {}
    for edge in edges:
        if edge.source == edge.target:
            continue
        earlier = best.setdefault((edge.source, edge.target), edge)
        if (_rank(edge.evidence), edge.confidence) > (_rank(earlier.evidence), earlier.confidence):
            best[edge.source, edge.target] = edge._replace(alert=edge.alert or earlier.alert)
    return list(best.values())


def _rank(evidence: EdgeSource) -> int:
    return list(EdgeSource).index(evidence)


# A place in a column: a node, or (number of an edge, column) where an edge passes through.
_Slot = str | tuple[int, int]


class _Layout:
    """Positions of boxes and courses of edges. `width` and `height` are those of the drawing, in pixels."""

    def __init__(self, nodes: Sequence[PictureNode], edges: Sequence[PictureEdge]) -> None:
        self._edges = {(edge.source, edge.target): number for number, edge in enumerate(edges)}
        width_by_node = {node.id: _label_width(node) for node in nodes}
        self._column = _columns([node.id for node in nodes], edges)
        self._rows = _order_columns(*self._slots(nodes, edges))
        widths = [
            max((width_by_node[slot] for slot in rows if isinstance(slot, str)), default=0.0) for rows in self._rows
        ]
        self._left = [_MARGIN + sum(widths[:n]) + _GAP * n for n in range(len(widths))]
        self._widths = widths
        tallest = max((sum(map(_slot_height, rows)) for rows in self._rows), default=0)
        self._y: dict[_Slot, float] = {}
        for rows in self._rows:
            y = _TOP + (tallest - sum(map(_slot_height, rows))) / 2
            for slot in rows:
                self._y[slot] = y
                y += _slot_height(slot)
        self.width = (self._left[-1] + widths[-1] if widths else 0.0) + _MARGIN + 30
        self.height = _TOP + tallest

    def box(self, node: str) -> tuple[float, float, float]:
        """Return (left, top, width) of a node."""
        column = self._column[node]
        return self._left[column], self._y[node], self._widths[column]

    def route(self, edge: PictureEdge) -> str:
        """Return the path of an edge, as the attribute `d`."""
        number = self._edges[edge.source, edge.target]
        left, top, width = self.box(edge.source)
        x, y = left + width, top + _HEIGHT / 2
        first, last = self._column[edge.source], self._column[edge.target]
        end_left, end_top, end_width = self.box(edge.target)
        if last <= first:  # inside of a cycle: around the right side
            end_x, end_y = end_left + end_width, end_top + _HEIGHT / 2
            out = max(x, end_x) + 30
            return f"M{x:.1f} {y:.1f}C{out:.1f} {y:.1f} {out:.1f} {end_y:.1f} {end_x:.1f} {end_y:.1f}"
        course = f"M{x:.1f} {y:.1f}"
        for column in range(first + 1, last):
            to_x, to_y = self._left[column], self._y[number, column] + _PASSAGE / 2
            course += _curve(x, to_x, y, to_y)
            x, y = to_x + self._widths[column], to_y
            course += f"L{x:.1f} {y:.1f}"
        return course + _curve(x, end_left, y, end_top + _HEIGHT / 2)

    def _slots(
        self, nodes: Sequence[PictureNode], edges: Sequence[PictureEdge]
    ) -> tuple[list[list[_Slot]], list[tuple[_Slot, _Slot]]]:
        """Return the slots of each column, and the pairs of slots in neighboring columns that an edge joins."""
        rows: list[list[_Slot]] = [[] for _ in range(max(self._column.values(), default=-1) + 1)]
        for node in nodes:
            rows[self._column[node.id]].append(node.id)
        joined: list[tuple[_Slot, _Slot]] = []
        for number, edge in enumerate(edges):
            first, last = self._column[edge.source], self._column[edge.target]
            if last <= first:
                continue
            course: list[_Slot] = [edge.source, *((number, c) for c in range(first + 1, last)), edge.target]
            for column, slot in enumerate(course[1:-1], first + 1):
                rows[column].append(slot)
            joined += pairwise(course)
        return rows, joined


def _slot_height(slot: _Slot) -> int:
    return _ROW if isinstance(slot, str) else _PASSAGE


def _curve(x: float, to_x: float, y: float, to_y: float) -> str:
    middle = (x + to_x) / 2
    return f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"


def _columns(nodes: Sequence[str], edges: Sequence[PictureEdge]) -> dict[str, int]:
    """Return the column by node: the longest chain of uses that leads to it, a cycle taken as one node."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from((edge.source, edge.target) for edge in edges if edge.alert != _CUT)
    condensed = networkx.condensation(graph)
    column_by_node: dict[str, int] = {}
    for column, group in enumerate(networkx.topological_generations(condensed)):
        for component in group:
            column_by_node.update(dict.fromkeys(condensed.nodes[component]["members"], column))
    return column_by_node


def _order_columns(rows: list[list[_Slot]], joined: Sequence[tuple[_Slot, _Slot]]) -> list[list[_Slot]]:
    """Return the columns with their slots by the mean row of their neighbors, to and fro until nothing moves."""
    before: dict[_Slot, list[_Slot]] = {}
    after: dict[_Slot, list[_Slot]] = {}
    for source, target in joined:
        after.setdefault(source, []).append(target)
        before.setdefault(target, []).append(source)
    for sweep in range(_SWEEPS):
        neighbors = before if sweep % 2 == 0 else after
        earlier = [list(each) for each in rows]
        for column in range(len(rows)) if sweep % 2 == 0 else reversed(range(len(rows))):
            # Rows of shorter columns are centered, so compare shares of the height.
            height_by_slot = {slot: (n + 0.5) / len(each) for each in rows for n, slot in enumerate(each)}
            means = {
                slot: _mean([height_by_slot[o] for o in neighbors.get(slot, ())], height_by_slot[slot])
                for slot in rows[column]
            }
            rows[column] = sorted(rows[column], key=lambda slot, means=means: means[slot])  # type: ignore[misc]
        if rows == earlier and sweep > 1:
            break
    return rows


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _draw_edge(edge: PictureEdge, course: str) -> str:
    width = {EdgeSource.PROVEN: 3.0, EdgeSource.OBSERVED: 2.0}.get(
        edge.evidence, 1.2 if edge.confidence >= _SURE else 0.9
    )
    dashed = edge.evidence is EdgeSource.CODE and edge.confidence < _DOUBTFUL
    color = "#cf222e" if edge.alert else "#57606a"
    ends = f"{unescape_name(edge.source)} {edge.kind} {unescape_name(edge.target)}"
    title = f"{ends}, {edge.confidence:.2f}, {edge.evidence}"
    style = ' stroke-dasharray="4 3"' if dashed or edge.alert == _CUT else ""
    return (
        f'<path d="{course}" fill="none" stroke="{color}" stroke-width="{width}"{style} marker-end="url(#end)">'
        f"<title>{_text(title)}{f' ({edge.alert})' if edge.alert else ''}</title></path>"
    )


def _draw_node(node: PictureNode, left: float, top: float, width: float) -> str:
    fill, stroke = _FILLS[node.mark]
    label, below = _lines_of(node)
    return (
        f'<g data-node="{_text(node.id)}"><title>{_text(unescape_name(node.id))}</title>'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{_HEIGHT}" rx="4" fill="{fill}" '
        f'stroke="{stroke}"/>'
        f'<text x="{left + 8:.1f}" y="{top + (14 if below else 21):.1f}" fill="#1f2328">{_text(label)}</text>'
        + (f'<text x="{left + 8:.1f}" y="{top + 28:.1f}" fill="#57606a" font-size="10">{_text(below)}</text>'
           if below else "")
        + "</g>"
    )  # fmt: skip


def _lines_of(node: PictureNode) -> tuple[str, str]:
    """Return (the name, what stands below it) of a box."""
    path, _, name = node.id.partition("::")
    return _shorten(unescape_name(name) or path), _shorten(node.place or (path if name else ""))


def _label_width(node: PictureNode) -> float:
    name, below = _lines_of(node)
    return max(len(name) * _CHARACTER, len(below) * _CHARACTER * 10 / 12) + 16


def _shorten(text: str) -> str:
    """Return a text of at most `_MAX_LABEL` characters; the end tells more than the beginning."""
    return text if len(text) <= _MAX_LABEL else "…" + text[1 - _MAX_LABEL :]


def _text(text: str) -> str:
    return html_text(neutralize(text))


def svg_elements(svg: str) -> list[object]:
    """Return [tag, attributes, children …] of each element: the page makes no markup of text."""
    from xml.etree import ElementTree

    def plain(element: ElementTree.Element) -> list[object]:
        tag = element.tag.rpartition("}")[2]
        text = (element.text or "").strip()
        return [tag, dict(element.attrib), *([text] if text else []), *map(plain, element)]

    return plain(ElementTree.fromstring(svg))
