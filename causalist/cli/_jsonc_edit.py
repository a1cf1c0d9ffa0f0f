"""Changing one member or list item of a JSON file and nothing else in it: a text in, a text out.

Reads JSON as editors write it for people: with comments and commas before a closing bracket. All of that stays, as do
indentation, line ends and the order of members. What cannot be read raises NotJson and is not guessed at.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_DEEPEST = 100
_GAP = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
# The rest of a line that says no more than a comment.
_REST_OF_LINE = re.compile(r"[ \t]*+(?://[^\n\r]*+|(?:/\*(?:[^*\n]|\*(?!/))*+\*/[ \t]*+)*+)(?=\r?\n)")
_BLANK_TO_END = re.compile(r"[ \t]*\r?\n")
_SCALAR = json.JSONDecoder()


class NotJson(ValueError):
    """The text is not JSON, or has something else where an object should be. The message says where and what."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value with its place, `text[start:end]`. `members` are those of an object, in order; else None. `items` are
    those of a list, in order; else None."""

    start: int
    end: int
    data: object
    members: "tuple[_Member, ...] | None" = None
    items: "tuple[_Member, ...] | None" = None


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object, or an item of a list, which has no key. `comma` is where the comma behind it stands, or
    None."""

    key: str
    start: int
    value: _Value
    comma: int | None


def member(text: str, path: Sequence[str]) -> object:
    """The value at `path`, or None where there is none. Raises NotJson."""
    value: object = _document(text).data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def with_member(text: str, path: Sequence[str], data: object) -> str:
    """`text` with `data` at `path`; objects on the way are made if need be. Raises NotJson."""
    root = _document(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _indent_unit(text, root)
    place, depth = root, 0
    for depth, key in enumerate(path, start=1):
        if place.members is None:
            raise NotJson(f"{_named(path[: depth - 1])} is {_kind(place.data)}, not an object")
        found = next((m for m in reversed(place.members) if m.key == key), None)
        if found is None:
            break
        place = found.value
    else:
        written = _written(data, unit, newline, depth if "\n" in text else -1)
        return text[: place.start] + written + text[place.end :]
    for key in reversed(path[depth:]):
        data = {key: data}
    return _with_new(text, place, path[depth - 1], data, unit, newline, depth)


def without_member(text: str, path: Sequence[str]) -> str:
    """`text` without what stands at `path`; the object around it stays, even if empty. Raises NotJson."""
    while True:
        place = _value_at(text, path[:-1])
        if place is None or place.members is None or all(m.key != path[-1] for m in place.members):
            return text
        text = _without(text, place, next(i for i, m in enumerate(place.members) if m.key == path[-1]))


def with_item(text: str, path: Sequence[str], data: object) -> str:
    """`text` with `data` as the last item of the list at `path`, which is made if need be. Raises NotJson."""
    place = _value_at(text, path)
    if place is None:
        return with_member(text, path, [data])
    if place.items is None:
        raise NotJson(f"{_named(path)} is {_kind(place.data)}, not a list")
    newline = "\r\n" if "\r\n" in text else "\n"
    return _with_new(text, place, None, data, _indent_unit(text, _document(text)), newline, len(path) + 1)


def without_items(text: str, path: Sequence[str], is_meant: Callable[[object], bool]) -> str:
    """`text` without the items of the list at `path` that are meant; the list stays, even if empty. Raises NotJson."""
    while True:
        place = _value_at(text, path)
        items = place.items if place is not None else None
        number = next((i for i, item in enumerate(items or ()) if is_meant(item.value.data)), None)
        if place is None or number is None:
            return text
        text = _without(text, place, number)


def _value_at(text: str, path: Sequence[str]) -> _Value | None:
    place: _Value | None = _document(text)
    for key in path:
        members = place.members or () if place is not None else ()
        place = next((m.value for m in reversed(members) if m.key == key), None)
    return place


def _with_new(text: str, place: _Value, key: str | None, data: object, unit: str, newline: str, depth: int) -> str:
    """`text` with a new last member in the object `place`, whose members stand `depth` levels deep; without a key, with
    a new last item in the list `place`."""
    members = place.members if key is not None else place.items
    assert members is not None
    name = f"{json.dumps(key)}: " if key is not None else ""
    inner, outer = newline + unit * depth, newline + unit * (depth - 1)
    if not members:
        comments = text[place.start + 1 : place.end - 1].rstrip()
        entry = f"{name}{_written(data, unit, newline, depth)}"
        return text[: place.start + 1] + comments + inner + entry + outer + text[place.end - 1 :]
    last = members[-1]
    if "\n" not in text[place.start : place.end]:
        entry = f"{name}{_written(data, unit, newline, -1)}"
        return f"{text[: last.value.end]}, {entry}{text[last.value.end :]}"
    entry = f"{name}{_written(data, unit, newline, depth)}"
    after = last.value.end if last.comma is None else last.comma + 1
    # A comment on the line of the last member is about that one.
    rest = _REST_OF_LINE.match(text, after)
    at = rest.end() if rest else after
    # Whoever writes a comma behind the last one goes on doing so.
    comma, own = (",", "") if last.comma is None else ("", ",")
    return text[: last.value.end] + comma + text[last.value.end : at] + inner + entry + own + text[at:]


def _without(text: str, place: _Value, number: int) -> str:
    """`text` without the member or item `number` of `place`, its comma, and the lines that it had for itself."""
    members = place.members if place.members is not None else place.items
    assert members is not None
    found = members[number]
    start, end = found.start, found.value.end if found.comma is None else found.comma + 1
    line_start = text.rfind("\n", 0, start) + 1
    rest = _BLANK_TO_END.match(text, end)
    is_last_of_several = found.comma is None and number > 0
    if rest and not text[line_start:start].strip(" \t"):
        start, end = line_start, rest.end()
    elif is_last_of_several:
        start = len(text[:start].rstrip(" \t"))
    else:
        end = len(text) - len(text[end:].lstrip(" \t"))
    kept = text[:start] + text[end:]
    if is_last_of_several:
        comma = members[number - 1].comma
        assert comma is not None
        return kept[:comma] + kept[comma + 1 :]
    closing = place.end - 1 - (end - start)
    if not kept[place.start + 1 : closing].strip():
        return kept[: place.start + 1] + kept[closing:]
    return kept


def _document(text: str) -> _Value:
    value = _parsed(text, _after_gap(text, 0), 0)
    end = _after_gap(text, value.end)
    if end != len(text):
        raise _wrong(text, end)
    return value


def _parsed(text: str, at: int, depth: int) -> _Value:
    if depth > _DEEPEST:
        raise NotJson(f"it is nested more than {_DEEPEST} levels deep")
    opening = text[at : at + 1]
    if opening == "{":
        return _parsed_object(text, at, depth)
    if opening == "[":
        return _parsed_list(text, at, depth)
    try:
        data, end = _SCALAR.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise _wrong(text, at) from None
    return _Value(at, end, data)


def _parsed_list(text: str, at: int, depth: int) -> _Value:
    items: list[_Member] = []
    end = _after_gap(text, at + 1)
    while text[end : end + 1] != "]":
        item = _parsed(text, end, depth + 1)
        end = _after_gap(text, item.end)
        comma = None
        if text[end : end + 1] == ",":
            comma = end
            end = _after_gap(text, end + 1)
        elif text[end : end + 1] != "]":
            raise _wrong(text, end)
        items.append(_Member("", item.start, item, comma))
    return _Value(at, end + 1, [item.value.data for item in items], items=tuple(items))


def _parsed_object(text: str, at: int, depth: int) -> _Value:
    members: list[_Member] = []
    data: dict[str, object] = {}
    end = _after_gap(text, at + 1)
    while text[end : end + 1] != "}":
        start = end
        if text[start : start + 1] != '"':
            raise _wrong(text, start)
        key = _parsed(text, start, depth + 1)
        colon = _after_gap(text, key.end)
        if text[colon : colon + 1] != ":":
            raise _wrong(text, colon)
        value = _parsed(text, _after_gap(text, colon + 1), depth + 1)
        end = _after_gap(text, value.end)
        comma = None
        if text[end : end + 1] == ",":
            comma = end
            end = _after_gap(text, end + 1)
        elif text[end : end + 1] != "}":
            raise _wrong(text, end)
        members.append(_Member(str(key.data), start, value, comma))
        data[str(key.data)] = value.data
    return _Value(at, end + 1, data, tuple(members))


def _after_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _wrong(text: str, at: int) -> NotJson:
    line = text.count("\n", 0, at) + 1
    if at >= len(text):
        return NotJson(f"it ends in line {line} before it is complete")
    return NotJson(f"line {line} has {text[at : at + 20].splitlines()[0]!r} where JSON has something else")


def _indent_unit(text: str, root: _Value) -> str:
    """The indentation of the first member that begins a line."""
    for each in root.members or ():
        before = text[text.rfind("\n", 0, each.start) + 1 : each.start]
        if before and not before.strip(" \t") and "\n" in text[: each.start]:
            return before
    return "  "


def _written(data: object, unit: str, newline: str, depth: int) -> str:
    """`data` as JSON whose later lines stand `depth` levels deep; on one line if that is negative."""
    if depth < 0:
        return json.dumps(data, ensure_ascii=False)
    return json.dumps(data, ensure_ascii=False, indent=unit).replace("\n", newline + unit * depth)


def _named(path: Sequence[str]) -> str:
    return ".".join(path) or "the file"


def _kind(data: object) -> str:
    return {list: "a list", str: "a string", bool: "true or false", type(None): "null"}.get(type(data), "a number")
