"""Source text -> the lines that a pack may print under each item, every line of a file at most once.

Items nest: a class and its method can both be hits. A row belongs to the innermost item that covers it and is printed
there; the outer item shows one marker line in its place. Ownership does not depend on the budget, so an outer body
reads as an outline whose parts stand under their own headers, whether or not these had room.
"""

import re
from collections.abc import Mapping, Sequence

from causalist._internal.lazy import dataclass, lazy_regex
from causalist._internal.sanitize import ELLIPSIS, neutralise
from causalist.model.answer import PackItem

# Chosen by hand: hardly any line that people write is longer; minified lines are.
MAX_LINE_CHARACTERS = 400
# A fence longer than any run in the source cannot be closed by it; past this length runs are shortened instead.
MAX_BACKTICK_RUN = 16

_BACKTICKS = lazy_regex(rf"`{{{MAX_BACKTICK_RUN + 1},}}", needs=("`" * (MAX_BACKTICK_RUN + 1),))


# A body of more lines is long: where it has to be cut it shows what tells most of the question instead of its
# beginning. Shorter ones are read from the top.
LONG_BODY_THRESHOLD = 60
# Of a long body that is cut come first: its head, longer only where a list of parameters is open; then the lines that
# weigh most, each with its neighbors; then where definitions inside of it begin; then all others. Of 40, 60, 90 and
# 150 lines and contexts of 1 to 4 none can be told from another; a longer head takes the room of what tells:
# docs/packs.md has what all of it brings.
_LEAST_HEAD, _MOST_HEAD = 3, 12
_CONTEXT = 3
_MAX_TELLING_PLACES = 12  # places, before the definitions inside
_MAX_CHARACTERS_READ = 400_000  # characters of a long body


@dataclass(frozen=True, slots=True)
class Body:
    """Lines to print in order.

    `numbers[i]` is the 1-based line that lines[i] is in its file, None for a marker. `weights[i]` is how many of
    the item's own source lines stand in lines[: i + 1], and `n_source` how many there are in all; `clipped` says
    that even all of `lines` show less than that. `order` are positions in `lines`, those that get room first at the
    front; empty where it is the first line that does.
    """

    lines: tuple[str, ...]
    numbers: tuple[int | None, ...]
    weights: tuple[int, ...]
    n_source: int
    clipped: bool
    first_row: bool
    order: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)


EMPTY = Body((), (), (), 0, False, False)


def bodies(items: Sequence[PackItem], labels: Sequence[str], max_characters: int) -> list[Body]:
    """One body for each item, EMPTY where there is nothing to print. `labels` name the items in marker lines."""
    owners = _owners(items)
    return [_body(number, items, labels, owners, max_characters) for number in range(len(items))]


def shows_everything(body: Body, n_lines: int) -> bool:
    return not body.clipped and len(_printed(body, n_lines)) == len(body)


def by_room(body: Body) -> Sequence[str]:
    """The lines in the order in which they get room."""
    return [body.lines[i] for i in body.order] if body.order else body.lines


def _printed(body: Body, n_lines: int) -> Sequence[int]:
    """Positions of the `n_lines` lines that get room first, from top to bottom; a line that is missing by itself is
    printed rather than counted.
    """
    if not body.order or n_lines >= len(body):
        return range(min(n_lines, len(body)))
    chosen = set(body.order[:n_lines])
    chosen |= {i + 1 for i in chosen if i + 2 in chosen}
    return sorted(chosen)


def sensible_cut(body: Body, n_lines: int) -> int:
    """A line count of at most `n_lines` after which a reader can stop: before the least indented or a blank line
    among the last third; at least one line.
    """
    if n_lines >= len(body) or body.order:
        return min(n_lines, len(body))
    best, best_indent = n_lines, 1 << 30
    for count in range(n_lines, max(1, n_lines - n_lines // 3) - 1, -1):
        following = body.lines[count]
        indent = len(_indent(following)) if following.strip() else 0
        if indent < best_indent:
            best, best_indent = count, indent
    while best > 1 and not body.lines[best - 1].strip():
        best -= 1
    return max(1, best)


def shown_lines(body: Body, n_lines: int) -> tuple[str, ...]:
    """The first `n_lines` and, when that is not all, a last line that says how many source lines are missing."""
    if not body.order or n_lines >= len(body):  # without gaps, as nearly all are
        lines = body.lines[:n_lines]
        below = _below(body, len(lines) - 1)
        return (*lines, below) if below else lines
    return tuple(line for _, line in numbered_lines(body, n_lines))


def numbered_lines(body: Body, n_lines: int) -> tuple[tuple[int | None, str], ...]:
    """`shown_lines` with the number that each has in its file; None for lines that the file does not have."""
    lines: list[tuple[int | None, str]] = []
    above = -1
    for place in _printed(body, n_lines):
        missing = [number for number in body.numbers[above + 1 : place] if number is not None]
        if missing:
            lines.append((None, f"{_indent(body.lines[place])}{ELLIPSIS} {missing[0]}-{missing[-1]}"))
        lines.append((body.numbers[place], body.lines[place]))
        above = place
    below = _below(body, above)
    if below:
        lines.append((None, below))
    return tuple(lines)


def _below(body: Body, last: int) -> str:
    """Return the text below the last printed line, its position `last` (-1: none is printed)."""
    n_below = body.n_source - (body.weights[last] if last >= 0 else 0)
    # Where none are below although something is missing, it is cut inside of a line, and the line itself says so.
    if last < 0 or n_below <= 0 or (last == len(body) - 1 and not body.clipped):
        return ""
    return f"{ELLIPSIS} {n_below} more line{'s' if n_below > 1 else ''}"


def shown_ranges(body: Body, n_lines: int) -> tuple[tuple[int, int], ...]:
    """The lines of the file that `shown_lines` prints, as first and last of each run."""
    ranges: list[tuple[int, int]] = []
    for place in _printed(body, n_lines):
        number = body.numbers[place]
        if number is None:
            continue
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return tuple(ranges)


def _owners(items: Sequence[PackItem]) -> dict[str, list[tuple[int, int, int]]]:
    """For each path the items that have text, as (first row, last row, number), in the order in which they may claim
    rows: smaller spans first, whole files last, then better scores.
    """
    by_path: dict[str, list[tuple[int, int, int]]] = {}
    for number, item in enumerate(items):
        if item.text and not item.via:
            first = item.hit.start_row
            last = first + item.text.count("\n") - (1 if item.text.endswith("\n") else 0)
            by_path.setdefault(item.hit.path, []).append((first, max(first, last), number))
    for spans in by_path.values():
        spans.sort(key=lambda s: (s[1] - s[0], items[s[2]].hit.kind == "file", -items[s[2]].hit.score, s[2]))
    return by_path


def _body(
    number: int,
    items: Sequence[PackItem],
    labels: Sequence[str],
    owners: dict[str, list[tuple[int, int, int]]],
    max_characters: int,
) -> Body:
    item = items[number]
    if not item.text or item.via:
        return EMPTY
    spans = owners[item.hit.path]
    place = next(place for place, span in enumerate(spans) if span[2] == number)
    first, last, _ = spans[place]
    inner = sorted((s for s in spans[:place] if s[0] <= last and s[1] >= first), key=lambda s: (s[0], -s[1]))
    max_characters = max(max_characters, _MAX_CHARACTERS_READ) if item.telling else max_characters
    clipped = len(item.text) > max_characters
    source = _safe(item.text[:max_characters]).split("\n")
    if len(source) > 1 and (clipped or not source[-1]):
        source.pop()
    taken = _merged(inner, first, last)
    n_source = (last - first + 1) - sum(stop - start + 1 for start, stop, _ in taken)
    if not n_source:
        return EMPTY
    drop = _superfluous_indent(source)
    lines: list[str] = []
    numbers: list[int | None] = []
    weights: list[int] = []
    printed = gap = 0
    for offset, line in enumerate(source):
        row = first + offset
        while gap < len(taken) and taken[gap][1] < row:
            gap += 1
        if gap < len(taken) and taken[gap][0] <= row:
            if row == taken[gap][0]:
                start, stop, inside = taken[gap]
                rows = f"{start + 1}-{stop + 1}" if stop > start else f"{start + 1}"
                lines.append(f"{_indent(line)[drop:]}{ELLIPSIS} {rows}: {labels[inside]}")
                numbers.append(None)
                weights.append(printed)
            continue
        if drop:
            line = line[min(drop, len(_indent(line))) :]
        line = line.rstrip()
        if not line and len(lines) > 1 and not lines[-1] and not lines[-2]:
            printed += 1  # what a notebook's outputs leave is nothing but blank lines
            continue
        if len(line) > MAX_LINE_CHARACTERS:
            line = f"{line[:MAX_LINE_CHARACTERS]}{ELLIPSIS} {len(line) - MAX_LINE_CHARACTERS} more characters"
            clipped = True
        printed += 1
        lines.append(line)
        numbers.append(row + 1)
        weights.append(printed)
    order = _order(lines, numbers, dict(item.telling)) if len(lines) > LONG_BODY_THRESHOLD and item.telling else ()
    return Body(
        tuple(lines), tuple(numbers), tuple(weights), n_source, clipped, not taken or taken[0][0] > first, order
    )


def _order(lines: Sequence[str], numbers: Sequence[int | None], telling: Mapping[int, float]) -> tuple[int, ...]:
    """The positions of a long body in the order in which they get room; lines that stand for other items, which would
    be missed, come with the head. `telling` are weights by row.
    """
    order = dict.fromkeys(range(_head(lines)))
    order.update((i, None) for i, number in enumerate(numbers) if number is None)
    weights = {
        i: telling[number - 1] for i, number in enumerate(numbers) if number is not None and number - 1 in telling
    }
    places = sorted((i for i, weight in weights.items() if weight > 0), key=lambda i: (-weights[i], i))
    n_before = 0
    for place in places:
        if n_before == _MAX_TELLING_PLACES:
            order.update((i, None) for i, weight in weights.items() if weight == 0)
        n_before += place not in order
        for step in range(_CONTEXT + 1):
            order.update((i, None) for i in (place - step, place + step) if 0 <= i < len(lines))
    order.update((i, None) for i, weight in weights.items() if weight == 0)
    order.update((i, None) for i in range(len(lines)))
    return tuple(order)


def _head(lines: Sequence[str]) -> int:
    """Return the number of lines at the top of a long body that say what it is the body of."""
    n_open = 0
    for number, line in enumerate(lines[:_MOST_HEAD], start=1):
        n_open += line.count("(") - line.count(")")
        if number >= _LEAST_HEAD and n_open <= 0:
            return number
    return _MOST_HEAD


def _merged(spans: Sequence[tuple[int, int, int]], first: int, last: int) -> list[tuple[int, int, int]]:
    """Disjoint spans inside of first..last, each with the number of its outermost item."""
    merged: list[tuple[int, int, int]] = []
    for start, stop, number in spans:
        start, stop = max(start, first), min(stop, last)
        if merged:
            start = max(start, merged[-1][1] + 1)
        if start <= stop:
            merged.append((start, stop, number))
    return merged


def _superfluous_indent(lines: Sequence[str]) -> int:
    """Return the number of leading characters that all lines can lose."""
    least = -1
    for line in lines:
        if line.strip():
            indent = len(line) - len(line.lstrip(" \t"))
            if not indent:
                return 0
            least = indent if least < 0 else min(least, indent)
    return max(least, 0)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _safe(text: str) -> str:
    return _BACKTICKS.sub(_shortened, neutralise(text))


def _shortened(match: re.Match[str]) -> str:
    return f"{'`' * MAX_BACKTICK_RUN}{ELLIPSIS} {len(match[0]) - MAX_BACKTICK_RUN} more"
