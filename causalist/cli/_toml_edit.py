"""Edit one table of a TOML text and keep everything else byte for byte.

The table must have a header of its own, `[a.b]`. Text that cannot be parsed, inline tables and dotted keys raise
NotToml. Every edit is verified by parsing the result.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

_HEADER = re.compile(r"[ \t]*\[\[?[^\n]*")
_KEY = re.compile(r"[ \t]*(?P<key>[A-Za-z0-9_-]+)[ \t]*=")


class NotToml(ValueError):
    """The text is not TOML, or contains the table in a form that cannot be edited safely."""


def get_member(text: str, path: Sequence[str]) -> object:
    """Return the value at `path`, or None if there is none. Raises NotToml."""
    value: object = _parse_document(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def with_member(text: str, path: Sequence[str], data: Mapping[str, object]) -> str:
    """Return `text` with a table at `path` that contains just `data`. Subtables stay. Raises NotToml."""
    before = _parse_document(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    place = _find_table(text, path)
    below = {key: value for key, value in data.items() if isinstance(value, dict)}
    own = {key: value for key, value in data.items() if key not in below}
    if place is None:
        if get_member(text, path) is not None:
            raise NotToml(f"{'.'.join(path)} is not written as a table with a header of its own")
        head = f"[{'.'.join(path)}]{newline}"
        body = "".join(f"{key} = {_render_value(value)}{newline}" for key, value in own.items())
        gap = "" if not text.strip("\ufeff \t\r\n") else newline if text.endswith("\n") else newline * 2
        changed = f"{text}{gap}{head}{body}"
    else:
        changed = text[: place[0]] + _with_keys(text[place[0] : place[1]], own, newline) + text[place[1] :]
    _set_member(before, path, dict(data))
    return _verify_result(changed, before)


def without_member(text: str, path: Sequence[str]) -> str:
    """Return `text` without the table at `path` and its subtables. Raises NotToml."""
    before = _parse_document(text)
    if get_member(text, path) is None:
        return text
    changed = text
    while (place := _find_table(changed, path, below=True)) is not None:
        start, end = place
        # Comments above the next header belong to the next table.
        own = changed[start:end].splitlines(keepends=True)
        while len(own) > 1 and (not own[-1].strip() or own[-1].lstrip().startswith("#")):
            own.pop()
        end = start + sum(map(len, own))
        is_set_off = changed[:start].endswith(("\n\n", "\n\r\n")) or changed[:start] in ("\n", "\r\n")
        if is_set_off and (not changed[end:].strip() or not changed[end:].split("\n", 1)[0].strip()):
            start = changed.rfind("\n", 0, start - 1) + 1
        changed = changed[:start] + changed[end:]
    _set_member(before, path, None)
    return _verify_result(changed, before)


def _find_table(text: str, path: Sequence[str], *, below: bool = False) -> tuple[int, int] | None:
    """Return the span of the table with a header; with `below`, also of its first subtable."""
    start: int | None = None
    for at, line in _find_headers(text):
        if start is not None:
            return start, at
        keys = _header_keys(line)
        if keys == list(path) or (below and keys[: len(path)] == list(path)):
            start = at
    return None if start is None else (start, len(text))


def _find_headers(text: str) -> list[tuple[int, str]]:
    """Return (offset, line) of each header: lines before which the text parses by itself."""
    found = []
    at = 0
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line) and _is_complete(text[:at]):
            found.append((at, line))
        at += len(line)
    return found


def _is_complete(text: str) -> bool:
    """Return True if no string or list is open at the end of `text`."""
    try:
        tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _header_keys(header: str) -> list[str]:
    try:
        value: Any = tomllib.loads(header.strip())
    except tomllib.TOMLDecodeError:
        return []
    keys = []
    while isinstance(value, dict) and value:
        (key, value), *_ = value.items()
        keys.append(key)
    return keys


def _with_keys(table: str, data: Mapping[str, object], newline: str) -> str:
    """Return the text of a table with these values; other keys stay."""
    head, *lines = table.splitlines(keepends=True)
    kept, left = [head if head.endswith("\n") else head + newline], dict(data)
    number = 0
    while number < len(lines):
        match = _KEY.match(lines[number])
        length = 1
        if match:
            while not _is_complete("".join(lines[number : number + length])) and number + length < len(lines):
                length += 1
            chunk = "".join(lines[number : number + length])
            key = match["key"]
            if key not in left:
                kept.append(chunk)
            elif tomllib.loads(chunk.replace("\r\n", "\n")).get(key) == left[key]:
                kept.append(chunk)
                del left[key]
            else:
                kept.append(f"{key} = {_render_value(left.pop(key))}{newline}")
        else:
            kept.append(lines[number])
        number += length
    at = len(kept)
    while at > 1 and not kept[at - 1].strip():
        at -= 1
    new = [f"{key} = {_render_value(value)}{newline}" for key, value in left.items()]
    return "".join([*kept[:at], *new, *kept[at:]])


def _render_value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_render_value, value))}]"
    # JSON strings, numbers and booleans are valid TOML.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parse_document(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotToml(str(error)) from error


def _set_member(document: dict[str, Any], path: Sequence[str], data: object) -> None:
    """Set `data` at `path`, or remove the value there if `data` is None."""
    for key in path[:-1]:
        document = document.setdefault(key, {})
        if not isinstance(document, dict):
            raise NotToml(f"{key} is no table")
    if data is None:
        document.pop(path[-1], None)
    else:
        document[path[-1]] = data


def _verify_result(text: str, expected: dict[str, Any]) -> str:
    """Return `text` if it parses to the expected document. Raises NotToml."""
    if _without_empty(_parse_document(text)) != _without_empty(expected):
        raise NotToml("it is written in a way that cannot be changed safely")
    return text


def _without_empty(value: Any) -> Any:
    """Return a value without empty tables: removing the last key of a table without header removes it."""
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each != {}}
