"""Source text -> the lines that a pack may print under each item, every line of a file at most once.

Items nest: a class and its method can both be hits. A row belongs to the innermost item that covers it and is printed
there; the outer item shows one marker line in its place. Ownership does not depend on the budget, so an outer body
reads as an outline whose parts stand under their own headers, whether or not these had room.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from causalist._internal.lazy import dataclass, lazy_regex
from causalist._internal.text_formatting import ELLIPSIS, neutralize
from causalist.model.answer import PackItem
from causalist.model.node_ids import NodeKind

# Chosen by hand: hardly any line that people write is longer; minified lines are.
MAX_LINE_CHARACTERS = 400
# A fence longer than any run in the source cannot be closed by it; past this length runs are shortened instead.
MAX_BACKTICK_RUN = 16

_BACKTICKS = lazy_regex(rf"`{{{MAX_BACKTICK_RUN + 1},}}", needs=("`" * (MAX_BACKTICK_RUN + 1),))


# Shorter bodies are shown from the top where they have to be cut; longer ones are folded.
FOLD_THRESHOLD = 12
_MIN_HEAD_LINES, _MAX_HEAD_LINES = 1, 12
_MAX_FILLED_GAP = 2  # lines; a mark costs as much as these
_MAX_CHARACTERS_READ = 400_000  # characters of a body

# Weights of a line of a folded body, from a logistic model of the lines of 182 functions that answer 90 questions, with
# names and without: the decisive ones against all others. Lines that return a value would get -0.3; they have no weight
# of their own, since they say what the function does.
_QUERY_WEIGHT = 2.8  # of the words of the query that stand there, as a share of the best line of the body
_NEARBY_DECAY = 0.6  # of that weight, for each line between
_NEARBY_LINES = 4
_CALL_WEIGHT = 2.0  # of a line that uses another item of the pack
# In longer bodies the form of a line counts only near one that says the query or uses an item: a component of a
# thousand lines has a hundred conditions.
_MAX_LINES_OF_FORMS = 100
_FAR_WEIGHT = -1.0
_TELLING_SHARE = 0.3  # of the best line of the query: a line that says less makes those around it no less far
_CHOICES = "if|elif|else if|elsif|unless|case|when|switch|match|guard|for|while|foreach|catch|except|rescue|default"
_EXITS = "return|raise|throw|throws|yield|panic"
_MARKS = "else|finally|try|ensure|do|begin"
_COMMENT = r"\s*(?://|#|/?\*|--)"
_FORMS: tuple[tuple[re.Pattern[str], float], ...] = (
    (lazy_regex(rf"\W*(?:{_CHOICES})\b"), 0.37),
    (lazy_regex(rf"\W*(?:{_EXITS})\b"), 0.3),
    (lazy_regex(rf"\W*(?:{_MARKS})\b"), -0.65),
    (lazy_regex(_COMMENT), -1.2),
    (lazy_regex(r"\s*[\w.]*\b(?:log|logger|logging|console|print|println|slog|_logger)\b[.!(]", re.IGNORECASE), -2.4),
    (lazy_regex(r"\W*$"), -6.0),
)
# Most lines have no form, which one expression tells; that of logging is slow, and a line without its words skips it.
_ANY_FORM = lazy_regex(rf"\W*(?:(?:{_CHOICES}|{_EXITS}|{_MARKS})\b|$)|{_COMMENT}")
_LOG_WORDS = ("log", "console", "print")
# Documentation inside of a body: a docstring, a comment between two marks, and lines that begin with three slashes.
_QUOTES = ('"""', "'''")
_DOCUMENTATION_MARKS = (*_QUOTES, "/*", "<#", "///", "//!")
_CLOSINGS = {"/*": "*/", "<#": "#>"}
_OPENING = lazy_regex(r"\s*(?:@\w*doc\s+)?(?:[rRuU]|~[sS])?(\"\"\"|'''|/\*|<#|//[/!])")
_CLOSING = lazy_regex(r"[\s*]*(?:\"\"\"|'''|\*/|#>)[\s,;]*")
_SAYS_WORDS = lazy_regex(r"[^@\w]*\w")
_MIN_PROSE_LINES = 6
_MAX_SUMMARY_LINES = 4
_OPENERS = ("{", ":", "(", "[", "=>", "->", "then", "do", "&&", "||", ",", "=", "+", "|")


@dataclass(frozen=True, slots=True)
class Body:
    """Lines to print in order.

    `numbers[i]` is the 1-based line that lines[i] is in its file, None for a marker. `weights[i]` is how many of
    the item's own source lines stand in lines[: i + 1], and `n_source` how many there are in all; `clipped` says
    that even all of `lines` show less than that. `order` are positions in `lines`, those that get room first at the
    front; empty where it is the first line that does. Of a very long body only `n_telling` of `order` are worth their
    tokens unless all of it is shown; 0 stands for no such limit. The last `n_prose` of `order` are documentation.
    """

    lines: tuple[str, ...]
    numbers: tuple[int | None, ...]
    weights: tuple[int, ...]
    n_source: int
    clipped: bool
    first_row: bool
    order: tuple[int, ...] = ()
    n_telling: int = 0
    n_prose: int = 0

    def __len__(self) -> int:
        return len(self.lines)


EMPTY = Body((), (), (), 0, False, False)


def bodies(items: Sequence[PackItem], labels: Sequence[str], max_characters: int) -> list[Body]:
    """One body for each item, EMPTY where there is nothing to print. `labels` name the items in marker lines."""
    owners = _owners(items)
    return [_body(number, items, labels, owners, max_characters) for number in range(len(items))]


def shows_everything(body: Body, n_lines: int) -> bool:
    """Return True if `n_lines` lines of a body are all of it."""
    return not body.clipped and len(_select_printed_lines(body, n_lines)) == len(body)


def by_room(body: Body) -> Sequence[str]:
    """Return the lines in the order in which they get room."""
    return [body.lines[i] for i in body.order] if body.order else body.lines


def _select_printed_lines(body: Body, n_lines: int) -> Sequence[int]:
    """Return the positions of the `n_lines` lines that get room first, from top to bottom.

    Gaps that a mark would not make shorter are printed.
    """
    if not body.order or n_lines >= len(body):
        return range(min(n_lines, len(body)))
    chosen = sorted(body.order[:n_lines])
    printed = chosen[:1]
    for place in chosen[1:]:
        if place - printed[-1] <= _MAX_FILLED_GAP + 1:
            printed.extend(range(printed[-1] + 1, place))
        printed.append(place)
    if printed and not body.clipped and len(body) - 1 - printed[-1] <= _MAX_FILLED_GAP:
        printed.extend(range(printed[-1] + 1, len(body)))
    return printed


def sensible_cut(body: Body, n_lines: int) -> int:
    """Return a line count of at most `n_lines` after which a reader can stop.

    It is before the least indented or a blank line among the last third, and at least 1.
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
    """Return the `n_lines` lines that get room first, with marks where lines are missing."""
    if not body.order or n_lines >= len(body):  # without gaps, as nearly all are
        lines = body.lines[:n_lines]
        below = _below(body, len(lines) - 1)
        return (*lines, below) if below else lines
    return tuple(line for _, line in numbered_lines(body, n_lines))


def numbered_lines(body: Body, n_lines: int) -> tuple[tuple[int | None, str], ...]:
    """`shown_lines` with the number that each has in its file; None for lines that the file does not have."""
    lines: list[tuple[int | None, str]] = []
    above = -1
    for row in _select_printed_lines(body, n_lines):
        missing = [number for number in body.numbers[above + 1 : row] if number is not None]
        if missing:
            lines.append((None, f"{_indent(body.lines[row])}{ELLIPSIS} {missing[0]}-{missing[-1]}"))
        lines.append((body.numbers[row], body.lines[row]))
        above = row
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
    """Return the lines of the file that `shown_lines` prints, as first and last of each run."""
    ranges: list[tuple[int, int]] = []
    for row in _select_printed_lines(body, n_lines):
        number = body.numbers[row]
        if number is None:
            continue
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return tuple(ranges)


def _owners(items: Sequence[PackItem]) -> dict[str, list[tuple[int, int, int]]]:
    """Return for each path the items that have text, as (first row, last row, number).

    They stand in the order in which they may claim rows: smaller spans first, whole files last, then better scores.
    """
    by_path: dict[str, list[tuple[int, int, int]]] = {}
    for number, item in enumerate(items):
        if item.text:
            first = item.hit.start_row
            last = first + item.text.count("\n") - (1 if item.text.endswith("\n") else 0)
            by_path.setdefault(item.hit.path, []).append((first, max(first, last), number))
    for spans in by_path.values():
        spans.sort(
            key=lambda s: (s[1] - s[0], items[s[2]].hit.kind == NodeKind.FILE.label, -items[s[2]].hit.score, s[2])
        )
    return by_path


def _body(
    number: int,
    items: Sequence[PackItem],
    labels: Sequence[str],
    owners: dict[str, list[tuple[int, int, int]]],
    max_characters: int,
) -> Body:
    item = items[number]
    if not item.text:
        return EMPTY
    spans = owners[item.hit.path]
    place = next(place for place, span in enumerate(spans) if span[2] == number)
    first, last, _ = spans[place]
    inner = sorted((s for s in spans[:place] if s[0] <= last and s[1] >= first), key=lambda s: (s[0], -s[1]))
    max_characters = max(max_characters, _MAX_CHARACTERS_READ)
    clipped = len(item.text) > max_characters
    source = _safe(item.text[:max_characters]).split("\n")
    if len(source) > 1 and (clipped or not source[-1]):
        source.pop()
    taken = _merge_spans(inner, first, last)
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
    prose: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()
    n_telling = 0
    if len(lines) > FOLD_THRESHOLD:
        if any(mark in item.text for mark in _DOCUMENTATION_MARKS):
            prose = _prose(lines)
        order, n_telling = _fold_order(lines, numbers, item, prose)
    is_first = not taken or taken[0][0] > first
    return Body(tuple(lines), tuple(numbers), tuple(weights), n_source, clipped, is_first, order, n_telling, len(prose))


def _prose(lines: Sequence[str]) -> frozenset[int]:
    """Return the positions of documentation inside of a body, but for the first paragraph of each.

    Documentation is a docstring, and a block of comments that is as long as one. It repeats the words of a query in
    every line, so that it would take the place of the code.
    """
    result: list[int] = []
    position = 0
    while position < len(lines):
        stop = _documentation_end(lines, position)
        if stop - position >= _MIN_PROSE_LINES:
            summary = position
            while summary < stop and (summary <= position or _SAYS_WORDS.match(lines[summary])):
                summary += 1
            summary = min(summary, position + _MAX_SUMMARY_LINES)
            result.extend(range(summary, stop - 1 if _CLOSING.fullmatch(lines[stop - 1]) else stop))
        position = max(stop, position + 1)
    return frozenset(result) if len(result) >= _MIN_PROSE_LINES else frozenset()


def _documentation_end(lines: Sequence[str], start: int) -> int:
    """Return the position behind the documentation that begins at `start`, and `start` if none does."""
    opening = _OPENING.match(lines[start])
    if opening is None:
        return start
    mark = opening[1]
    if mark.startswith("//"):
        return next((i for i in range(start, len(lines)) if not lines[i].lstrip().startswith(mark)), len(lines))
    if mark in _QUOTES and not opening[0].lstrip().startswith("@"):
        above = next((line for line in reversed(lines[max(0, start - 3) : start]) if line.strip()), "")
        if not above.rstrip().endswith(":"):
            return start
    closing = _CLOSINGS.get(mark, mark)
    if closing in lines[start][opening.end() :]:
        return start
    stop = next((i for i in range(start + 1, len(lines)) if closing in lines[i]), len(lines) - 1)
    return stop + 1


def _fold_order(
    lines: Sequence[str], numbers: Sequence[int | None], item: PackItem, prose: Collection[int]
) -> tuple[tuple[int, ...], int]:
    """Return the positions of a body in the order in which they get room, and how many of them tell something.

    The head comes first, then lines that stand for other items, which would be missed, then lines by weight. Each line
    brings the lines that open the blocks around it, and the next one if it ends in the middle of a statement or opens a
    block.
    """
    n_head = _head(lines)
    order = dict.fromkeys(range(n_head))
    order.update((i, None) for i, number in enumerate(numbers) if number is None)
    said = dict(item.snippet_lines)
    for i in prose:
        said.pop((numbers[i] or 0) - 1, None)
    weights, is_far = _line_weights(lines, numbers, said, frozenset(item.uses))
    n_telling = 0
    indents = [
        len(line) - len(line.lstrip(" \t")) if line.strip() and i not in prose else -1 for i, line in enumerate(lines)
    ]
    around = _block_openers(indents)
    for row in sorted(range(len(lines)), key=lambda i: (-weights[i], i)):
        if row in order or row in prose or not lines[row].strip():
            continue
        if is_far[row] and not n_telling:
            n_telling = len(order)
        chain = []
        outer = around[row]
        while outer >= 0 and outer not in order:
            chain.append(outer)
            outer = around[outer]
        order.update((i, None) for i in reversed(chain))
        order[row] = None
        if lines[row].rstrip().endswith(_OPENERS) and row + 1 < len(lines) and row + 1 not in prose:
            order[row + 1] = None
    order.update((i, None) for i in range(len(lines)) if i not in prose)
    order.update((i, None) for i in sorted(prose))
    return tuple(order), n_telling


def _line_weights(
    lines: Sequence[str], numbers: Sequence[int | None], weight_by_row: Mapping[int, float], uses: Collection[int]
) -> tuple[list[float], list[bool]]:
    """Return the weight of each line of a body, and True for those that are far from all that tells something.

    `weight_by_row` and `uses` have rows of the file. Of a body of few lines, or one where nothing tells, none is far.
    """
    weights = [0.0 if number is None else weight_by_row.get(number - 1, 0.0) for number in numbers]
    used = [number is not None and number - 1 in uses for number in numbers]
    most = max(weights, default=0.0)
    near = [0.0] * len(lines)
    is_far = [len(lines) > _MAX_LINES_OF_FORMS and (most > 0 or any(used))] * len(lines)
    for j, each in enumerate(weights):
        for i in range(max(0, j - _NEARBY_LINES), min(len(lines), j + _NEARBY_LINES + 1)) if each or used[j] else ():
            near[i] = max(near[i], each * _NEARBY_DECAY ** abs(i - j))
            is_far[i] &= not used[j] and each < _TELLING_SHARE * most
    result = []
    for i, line in enumerate(lines):
        weight = _CALL_WEIGHT * used[i]
        if most:
            weight += _QUERY_WEIGHT * near[i] / most
        form = _form_weight(line)
        result.append(min(form, 0.0) + _FAR_WEIGHT if is_far[i] else weight + form)
    return result, is_far


def _form_weight(line: str) -> float:
    """Return the sum of the weights of the forms of a line."""
    if line.isascii() and not _ANY_FORM.match(line):
        lowered = line.lower()
        if not any(word in lowered for word in _LOG_WORDS):
            return 0.0
    return float(sum(given for form, given in _FORMS if form.match(line)))


def _block_openers(indents: Sequence[int]) -> list[int]:
    """Return for each line the nearest line above that is indented less, -1 if there is none."""
    result: list[int] = []
    open_lines: list[int] = []
    for i, indent in enumerate(indents):
        if indent < 0:
            result.append(-1)
            continue
        while open_lines and indents[open_lines[-1]] >= indent:
            open_lines.pop()
        result.append(open_lines[-1] if open_lines else -1)
        open_lines.append(i)
    return result


def _head(lines: Sequence[str]) -> int:
    """Return the number of lines at the top of a body that say what it is the body of."""
    n_open = 0
    for number, line in enumerate(lines[:_MAX_HEAD_LINES], start=1):
        n_open += line.count("(") - line.count(")")
        is_decorator = line.lstrip().startswith(("@", "#["))
        if number >= _MIN_HEAD_LINES and n_open <= 0 and not is_decorator:
            return number
    return _MIN_HEAD_LINES


def _merge_spans(spans: Sequence[tuple[int, int, int]], first: int, last: int) -> list[tuple[int, int, int]]:
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
    return _BACKTICKS.sub(_shorten_run, neutralize(text))


def _shorten_run(match: re.Match[str]) -> str:
    return f"{'`' * MAX_BACKTICK_RUN}{ELLIPSIS} {len(match[0]) - MAX_BACKTICK_RUN} more"
