"""Edit one member of a client's settings, in JSON or TOML, and keep everything else of the text byte for byte.

The parser of JSON accepts comments and trailing commas, as editors write them. Indentation, line ends and the order of
members are kept. Text that cannot be parsed raises NotJson.

tomlkit reads and writes TOML with its comments; it is imported when a text is edited. A table must have a header of its
own, `[a.b]`. Text that cannot be parsed or would be reordered, inline tables and dotted keys raise NotToml. Every edit
is verified by parsing the result.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.container import Container
    from tomlkit.items import Table


_BOM = "\ufeff"
# No TOML text contains this character. The newline keeps tomlkit from adding one.
_CUT = "\0\n"
_LONE_NEWLINE = re.compile(r"(?<!\r)\n")


class NotToml(ValueError):
    """The text is not TOML, or contains the table in a form that cannot be edited safely."""


def get_table(text: str, path: Sequence[str]) -> object:
    """Return the value at `path`, or None if there is none. Raises NotToml."""
    value: object = _load(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def with_table(text: str, path: Sequence[str], data: Mapping[str, object]) -> str:
    """Return `text` with a table at `path` that contains just `data`. Subtables stay. Raises NotToml."""
    import tomlkit

    expected, current = _load(text), get_table(text, path)
    if current is None:
        nested: dict[str, Any] = dict(data)
        for key in reversed(path):
            nested = {key: nested}
        gap = "\n" if text.strip(f"{_BOM} \t\r\n") else ""
        changed = text + (gap if text.endswith("\n") else gap * 2) + tomlkit.dumps(nested)
    else:
        document = _parse_toml(text)
        table = next((each for *_, each in _find_tables(document, path) if not each.is_super_table()), None)
        if table is None or not isinstance(current, dict):
            raise NotToml(f"{'.'.join(path)} is not written as a table with a header of its own")
        # New keys come before the comments of the next table.
        body, after = table.value.body, []
        while body and body[-1][0] is None:
            after.append(body.pop())
        for key, value in data.items():
            if current.get(key) != value:
                table[key] = value
        body.extend(reversed(after))
        changed = _render(document, text)
    if not _LONE_NEWLINE.search(text):
        changed = _LONE_NEWLINE.sub("\r\n", changed) if "\n" in text else changed
    _set_member(expected, path, dict(data))
    return _verify_result(changed, expected)


def without_table(text: str, path: Sequence[str]) -> str:
    """Return `text` without the table at `path` and its subtables. Raises NotToml."""
    expected = _load(text)
    if get_table(text, path) is None:
        return text
    from tomlkit import ws

    document = _parse_toml(text)
    for container, index, table in list(_find_tables(document, path)):
        container.body[index] = (None, ws(_CUT + _after_last_value(table.as_string())))
    before, *parts = _render(document, text).split(_CUT)
    for after in parts:
        is_set_off = before.endswith(("\n\n", "\n\r\n")) or before in ("\n", "\r\n")
        if is_set_off and not after.partition("\n")[0].strip():
            before = before.removesuffix("\n").removesuffix("\r")
        before += after
    _set_member(expected, path, None)
    return _verify_result(before, expected)


def _find_tables(container: "Container", path: Sequence[str]) -> "Iterator[tuple[Container, int, Table]]":
    """Yield each table with this path, its container and its place there; a text may define a table in parts."""
    from tomlkit.items import Table

    for index, (key, item) in enumerate(container.body):
        if key is None or key.key != path[0] or not isinstance(item, Table):
            continue
        if len(path) == 1:
            yield container, index, item
        else:
            yield from _find_tables(item.value, path[1:])


def _after_last_value(table: str) -> str:
    """Return the blank lines and comments at the end of a table: they belong to the next one."""
    lines = list(StringIO(table, newline="\n"))
    n = len(lines)
    while n and (not lines[n - 1].strip() or lines[n - 1].lstrip().startswith("#")):
        n -= 1
    return "".join(lines[n:])


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(_BOM).replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotToml(str(error)) from error


def _parse_toml(text: str) -> "TOMLDocument":
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text.removeprefix(_BOM))
    except (TOMLKitError, RecursionError) as error:
        raise NotToml(str(error)) from error
    # tomlkit moves the parts of a table or list that is written in several places together.
    if _render(document, text) != text:
        raise NotToml("a table is written in several places")
    return document


def _render(document: "TOMLDocument", before: str) -> str:
    return (_BOM if before.startswith(_BOM) else "") + document.as_string()


def _set_member(document: dict[str, Any], path: Sequence[str], data: object) -> None:
    """Set `data` at `path`, or remove the value there if `data` is None."""
    for key in path[:-1]:
        document = document.setdefault(key, {})
        if not isinstance(document, dict):
            raise NotToml(f"{key} is not a table")
    if data is None:
        document.pop(path[-1], None)
    else:
        document[path[-1]] = data


def _verify_result(text: str, expected: dict[str, Any]) -> str:
    """Return `text` if it parses to the expected document. Raises NotToml."""
    if _without_empty(_load(text)) != _without_empty(expected):
        raise NotToml("it is written in a way that cannot be changed safely")
    return text


def _without_empty(value: Any) -> Any:
    """Return a value without empty tables: removing the last key of a table without header removes it."""
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each != {}}


_MAX_DEPTH = 100
_GAP = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
# The rest of a line with nothing but comments.
_REST_OF_LINE = re.compile(r"[ \t]*+(?://[^\n\r]*+|(?:/\*(?:[^*\n]|\*(?!/))*+\*/[ \t]*+)*+)(?=\r?\n)")
_BLANK_TO_END = re.compile(r"[ \t]*\r?\n")
_SCALAR = json.JSONDecoder()


class NotJson(ValueError):
    """The text is not JSON, or has another value where an object or list should be."""


@dataclass(frozen=True, slots=True)
class _Value:
    """Value with its span `text[start:end]`.

    `members` are the members of an object, `items` the items of a list, both in order; otherwise None.
    """

    start: int
    end: int
    data: object
    members: "tuple[_Member, ...] | None" = None
    items: "tuple[_Member, ...] | None" = None


@dataclass(frozen=True, slots=True)
class _Member:
    """Member of an object, or item of a list (whose key is "").

    `comma` is the offset of the comma after the member, or None.
    """

    key: str
    start: int
    value: _Value
    comma: int | None


def get_member(text: str, path: Sequence[str]) -> object:
    """Return the value at `path`, or None if there is none. Raises NotJson."""
    value: object = _parse_document(text).data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def with_member(text: str, path: Sequence[str], data: object) -> str:
    """Return `text` with `data` at `path`. Missing parent objects are added. Raises NotJson."""
    root = _parse_document(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _indent_unit(text, root)
    place, depth = root, 0
    for depth, key in enumerate(path, start=1):
        if place.members is None:
            raise NotJson(f"{_format_path(path[: depth - 1])} is {_type_name(place.data)}, not an object")
        member = next((m for m in reversed(place.members) if m.key == key), None)
        if member is None:
            break
        place = member.value
    else:
        written = _render_value(data, unit, newline, depth if "\n" in text else -1)
        return text[: place.start] + written + text[place.end :]
    for key in reversed(path[depth:]):
        data = {key: data}
    return _with_child(text, place, path[depth - 1], data, unit, newline, depth)


def without_member(text: str, path: Sequence[str]) -> str:
    """Return `text` without the member at `path`. Its parent stays, even if empty. Raises NotJson."""
    while True:
        place = _value_at(text, path[:-1])
        if place is None or place.members is None or all(m.key != path[-1] for m in place.members):
            return text
        text = _without_child(text, place, next(i for i, m in enumerate(place.members) if m.key == path[-1]))


def with_item(text: str, path: Sequence[str], data: object) -> str:
    """Return `text` with `data` appended to the list at `path`, which is added if missing. Raises NotJson."""
    place = _value_at(text, path)
    if place is None:
        return with_member(text, path, [data])
    if place.items is None:
        raise NotJson(f"{_format_path(path)} is {_type_name(place.data)}, not a list")
    newline = "\r\n" if "\r\n" in text else "\n"
    return _with_child(text, place, None, data, _indent_unit(text, _parse_document(text)), newline, len(path) + 1)


def without_items(text: str, path: Sequence[str], is_meant: Callable[[object], bool]) -> str:
    """Return `text` without the matching items of the list at `path`. Raises NotJson.

    The list stays, even if it is empty.
    """
    while True:
        place = _value_at(text, path)
        items = place.items if place is not None else None
        number = next((i for i, item in enumerate(items or ()) if is_meant(item.value.data)), None)
        if place is None or number is None:
            return text
        text = _without_child(text, place, number)


def _value_at(text: str, path: Sequence[str]) -> _Value | None:
    place: _Value | None = _parse_document(text)
    for key in path:
        members = place.members or () if place is not None else ()
        place = next((m.value for m in reversed(members) if m.key == key), None)
    return place


def _with_child(text: str, place: _Value, key: str | None, data: object, unit: str, newline: str, depth: int) -> str:
    """Return `text` with a new last member in the object `place`, or a new last item without a key.

    `depth` is the nesting level of the new child.
    """
    members = place.members if key is not None else place.items
    assert members is not None
    name = f"{json.dumps(key)}: " if key is not None else ""
    inner, outer = newline + unit * depth, newline + unit * (depth - 1)
    if not members:
        comments = text[place.start + 1 : place.end - 1].rstrip()
        entry = f"{name}{_render_value(data, unit, newline, depth)}"
        return text[: place.start + 1] + comments + inner + entry + outer + text[place.end - 1 :]
    last = members[-1]
    if "\n" not in text[place.start : place.end]:
        entry = f"{name}{_render_value(data, unit, newline, -1)}"
        return f"{text[: last.value.end]}, {entry}{text[last.value.end :]}"
    entry = f"{name}{_render_value(data, unit, newline, depth)}"
    after = last.value.end if last.comma is None else last.comma + 1
    # A comment on the line of the last member belongs to that member.
    rest = _REST_OF_LINE.match(text, after)
    at = rest.end() if rest else after
    # Keep the style of a trailing comma.
    comma, own = (",", "") if last.comma is None else ("", ",")
    return text[: last.value.end] + comma + text[last.value.end : at] + inner + entry + own + text[at:]


def _without_child(text: str, place: _Value, number: int) -> str:
    """Return `text` without child `number` of `place`, its comma, and the lines that contain nothing else."""
    members = place.members if place.members is not None else place.items
    assert members is not None
    member = members[number]
    start, end = member.start, member.value.end if member.comma is None else member.comma + 1
    line_start = text.rfind("\n", 0, start) + 1
    rest = _BLANK_TO_END.match(text, end)
    is_last_of_several = member.comma is None and number > 0
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


def _parse_document(text: str) -> _Value:
    value = _parse_value(text, _skip_gap(text, 0), 0)
    end = _skip_gap(text, value.end)
    if end != len(text):
        raise _syntax_error(text, end)
    return value


def _parse_value(text: str, at: int, depth: int) -> _Value:
    if depth > _MAX_DEPTH:
        raise NotJson(f"it is nested more than {_MAX_DEPTH} levels deep")
    opening = text[at : at + 1]
    if opening == "{":
        return _parse_object(text, at, depth)
    if opening == "[":
        return _parse_list(text, at, depth)
    try:
        data, end = _SCALAR.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise _syntax_error(text, at) from None
    return _Value(at, end, data)


def _parse_list(text: str, at: int, depth: int) -> _Value:
    items: list[_Member] = []
    end = _skip_gap(text, at + 1)
    while text[end : end + 1] != "]":
        item = _parse_value(text, end, depth + 1)
        end = _skip_gap(text, item.end)
        comma = None
        if text[end : end + 1] == ",":
            comma = end
            end = _skip_gap(text, end + 1)
        elif text[end : end + 1] != "]":
            raise _syntax_error(text, end)
        items.append(_Member("", item.start, item, comma))
    return _Value(at, end + 1, [item.value.data for item in items], items=tuple(items))


def _parse_object(text: str, at: int, depth: int) -> _Value:
    members: list[_Member] = []
    data: dict[str, object] = {}
    end = _skip_gap(text, at + 1)
    while text[end : end + 1] != "}":
        start = end
        if text[start : start + 1] != '"':
            raise _syntax_error(text, start)
        key = _parse_value(text, start, depth + 1)
        colon = _skip_gap(text, key.end)
        if text[colon : colon + 1] != ":":
            raise _syntax_error(text, colon)
        value = _parse_value(text, _skip_gap(text, colon + 1), depth + 1)
        end = _skip_gap(text, value.end)
        comma = None
        if text[end : end + 1] == ",":
            comma = end
            end = _skip_gap(text, end + 1)
        elif text[end : end + 1] != "}":
            raise _syntax_error(text, end)
        members.append(_Member(str(key.data), start, value, comma))
        data[str(key.data)] = value.data
    return _Value(at, end + 1, data, tuple(members))


def _skip_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _syntax_error(text: str, at: int) -> NotJson:
    line = text.count("\n", 0, at) + 1
    if at >= len(text):
        return NotJson(f"it ends in line {line} before it is complete")
    return NotJson(f"line {line} has {text[at : at + 20].splitlines()[0]!r} where JSON has something else")


def _indent_unit(text: str, root: _Value) -> str:
    """Return the indentation of the first member that begins a line."""
    for each in root.members or ():
        before = text[text.rfind("\n", 0, each.start) + 1 : each.start]
        if before and not before.strip(" \t") and "\n" in text[: each.start]:
            return before
    return "  "


def _render_value(data: object, unit: str, newline: str, depth: int) -> str:
    """Return `data` as JSON with later lines indented `depth` levels; on one line if `depth` is negative."""
    if depth < 0:
        return json.dumps(data, ensure_ascii=False)
    return json.dumps(data, ensure_ascii=False, indent=unit).replace("\n", newline + unit * depth)


def _format_path(path: Sequence[str]) -> str:
    return ".".join(path) or "the file"


def _type_name(data: object) -> str:
    return {list: "a list", str: "a string", bool: "true or false", type(None): "null"}.get(type(data), "a number")
