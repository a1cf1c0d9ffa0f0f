"""The subgraph as SVG: one row for each item in causal order, edges as arcs to the left of the names.

An arc runs from the row of the source to the row of its target, where the arrow is; in causal order most run down.
Short arcs are flat and long ones wide, so that they seldom cross. The drawing is as wide as a phone.
"""

from collections.abc import Mapping, Sequence

from causalist._internal.escape import html_text
from causalist._internal.sanitize import middle_cut
from causalist.pack.plan import Link, Plan, Shown

_WIDTH, _ROW = 340, 26
_ARCS = 92  # the width for arcs
_NARROWEST, _WIDEST_STEP = 12, 11
_LONGEST_NAME = 28  # what fits beside the arcs at 13 pixels
_MARKED_KINDS = ("calls", "contains")


def drawing(plan: Plan, numbers: Mapping[str, int]) -> str:
    """An `<svg>` of all shown items and every edge among them, whether or not there is room to list it in words;
    `numbers` are their rows by node. "" where there is nothing to draw."""
    rows = {numbers[shown.entry.node]: shown for shown in reversed(plan.items)}
    if not rows:
        return ""
    ends = [(numbers.get(link.edge.source), numbers.get(link.edge.target), link) for link in plan.every_link]
    # One arc for a pair, whatever the number of its kinds: that of the kind that says most.
    spans = {
        (a, b): (a, b, link)
        for a, b, link in sorted(ends, key=lambda end: _weight(end[2]))
        if a is not None and b is not None and a != b
    }
    height = len(rows) * _ROW
    head = (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="The items in order and the edges among them">\n'
        '<defs><marker id="arrow" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" '
        'orient="auto"><path d="M0 0L6 3L0 6z"/></marker></defs>\n'
    )
    return head + _arcs(list(spans.values())) + "".join(label(row, rows[row]) for row in sorted(rows)) + "</svg>\n"


def label(row: int, shown: Shown) -> str:
    """The name of an item in its row, as a link to the item."""
    entry = shown.entry
    is_part = entry.rank is None and not entry.via  # a definition below the file that it stands for
    y = row * _ROW + _ROW // 2
    name = html_text(middle_cut(entry.name, _LONGEST_NAME - is_part))
    x, radius = (_ARCS + 28, 2) if is_part else (_ARCS + 20, 4)
    return (
        f'<a href="#i{row}"{" class=via" if entry.via else ""}><circle cx="{_ARCS + 8}" cy="{y}" r="{radius}"/>'
        f'<text x="{x}" y="{y}">{name}</text></a>\n'
    )


def _arcs(spans: Sequence[tuple[int, int, Link]]) -> str:
    """Arcs in lanes: the shortest first, each in the first lane where it overlaps no other."""
    lanes: list[list[tuple[int, int]]] = []
    placed: list[tuple[int, int, int, Link]] = []
    for source, target, link in sorted(spans, key=lambda s: (abs(s[0] - s[1]), s[0], s[1])):
        low, high = min(source, target), max(source, target)
        lane = 0
        while lane < len(lanes) and any(low < b and a < high for a, b in lanes[lane]):
            lane += 1
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((low, high))
        placed.append((lane, source, target, link))
    step = min(_WIDEST_STEP, (_ARCS - _NARROWEST) / max(1, len(lanes) - 1))
    # Wide arcs first: what is drawn later lies on top.
    return "".join(_arc(_NARROWEST + lane * step, a, b, link) for lane, a, b, link in reversed(placed))


def _weight(link: Link) -> tuple[bool, int]:
    """Kept edges before those set aside, calls before other uses, these before what merely contains."""
    kind = link.edge.kind
    return not link.removed, 2 if kind == "calls" else 0 if kind == "contains" else 1


def _arc(width: float, source: int, target: int, link: Link) -> str:
    x, y1, y2 = _ARCS + 3, source * _ROW + _ROW // 2, target * _ROW + _ROW // 2
    # The curve reaches three quarters of the way to its control points.
    control = round(x - width * 4 / 3, 1)
    kind = link.edge.kind if link.edge.kind in _MARKED_KINDS else ""
    classes = " ".join(name for name in (kind, "removed" if link.removed else "") if name)
    css = f' class="{classes}"' if classes else ""
    return f'<path{css} d="M{x} {y1}C{control} {y1} {control} {y2} {x} {y2}" marker-end="url(#arrow)"/>\n'
