"""A plot with two logarithmic axes as SVG, without a library: points, the line between them, and linear growth from the
first point for comparison. It can be read on a light and on a dark page."""

from collections.abc import Sequence
from math import ceil, floor, log10

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 40, 50
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #444 }
  .grid { stroke: #8886; stroke-width: 1 }
  .line { stroke: #2563c9; stroke-width: 2; fill: none }
  .point { fill: #2563c9 }
  .linear { stroke: #b4630b; stroke-width: 1.5; stroke-dasharray: 5 4; fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #ccc }
    .line { stroke: #7aa7ff } .point { fill: #7aa7ff } .linear { stroke: #eba65b }
  }
"""


def log_log(title: str, across: str, points: Sequence[tuple[float, float]], slope: float) -> str:
    """`points`: positive, ascending in the first. The text is a function of the arguments."""
    x_low, x_high = floor(log10(points[0][0])), ceil(log10(points[-1][0]))
    first_x, first_y = points[0]
    linear = [(x, first_y * x / first_x) for x, _ in points]
    every = [y for _, y in (*points, *linear)]
    y_low, y_high = floor(log10(min(every))), ceil(log10(max(every)))

    def at(x: float, y: float) -> tuple[float, float]:
        right = (log10(x) - x_low) / max(1, x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)
        up = (log10(y) - y_low) / max(1, y_high - y_low) * (_HEIGHT - _TOP - _BOTTOM)
        return round(_LEFT + right, 1), round(_HEIGHT - _BOTTOM - up, 1)

    def line(kind: str, through: Sequence[tuple[float, float]]) -> str:
        return f'<polyline class="{kind}" points="{" ".join("{},{}".format(*at(*p)) for p in through)}"/>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{title}, by {across}</title>",
        f"<style>{_STYLE}</style>",
        f'<text x="{_LEFT}" y="22">{title}: slope {slope:.2f}; dashed: linear growth</text>',
    ]
    for power in range(x_low, x_high + 1):
        x, bottom = at(10.0**power, 10.0**y_low)
        parts.append(f'<line class="grid" x1="{x}" y1="{_TOP}" x2="{x}" y2="{bottom}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{10**power:,}</text>')
    for power in range(y_low, y_high + 1):
        left, y = at(10.0**x_low, 10.0**power)
        parts.append(f'<line class="grid" x1="{left}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{10.0**power:,g}</text>')
    parts.append(f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 12}" text-anchor="end">{across}</text>')
    parts += [line("linear", linear), line("line", points)]
    parts += ['<circle class="point" cx="{}" cy="{}" r="4"/>'.format(*at(*point)) for point in points]
    return "\n".join([*parts, "</svg>"]) + "\n"
