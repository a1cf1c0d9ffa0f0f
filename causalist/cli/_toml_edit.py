"""Changing one table of a TOML file and nothing else in it: a text in, a text out.

The table stands under a header of its own, `[a.b]`; everything before and behind stays as it is, byte for byte. What
cannot be read or is written otherwise (inline, by dotted keys) raises NotToml and is not guessed at: every change is
checked by reading the result.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

_HEADER = re.compile(r"[ \t]*\[\[?[^\n]*")
_KEY = re.compile(r"[ \t]*(?P<key>[A-Za-z0-9_-]+)[ \t]*=")


class NotToml(ValueError):
    """The text is not TOML, or holds the table in a form that cannot be changed safely. The message says what."""


def member(text: str, path: Sequence[str]) -> object:
    """The value at `path`, or None where there is none. Raises NotToml."""
    value: object = _document(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def with_member(text: str, path: Sequence[str], data: Mapping[str, object]) -> str:
    """`text` with a table at `path` that holds just `data`. Tables below it stay. Raises NotToml."""
    before = _document(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    place = _place(text, path)
    below = {key: value for key, value in data.items() if isinstance(value, dict)}
    own = {key: value for key, value in data.items() if key not in below}
    if place is None:
        if member(text, path) is not None:
            raise NotToml(f"{'.'.join(path)} is not written as a table with a header of its own")
        head = f"[{'.'.join(path)}]{newline}"
        body = "".join(f"{key} = {_written(value)}{newline}" for key, value in own.items())
        gap = "" if not text.strip("\ufeff \t\r\n") else newline if text.endswith("\n") else newline * 2
        changed = f"{text}{gap}{head}{body}"
    else:
        changed = text[: place[0]] + _with_keys(text[place[0] : place[1]], own, newline) + text[place[1] :]
    _set(before, path, dict(data))
    return _checked(changed, before)


def without_member(text: str, path: Sequence[str]) -> str:
    """`text` without the table at `path` and what is below it. Raises NotToml."""
    before = _document(text)
    if member(text, path) is None:
        return text
    changed = text
    while (place := _place(changed, path, below=True)) is not None:
        start, end = place
        # Comments above the next header are about what is there.
        own = changed[start:end].splitlines(keepends=True)
        while len(own) > 1 and (not own[-1].strip() or own[-1].lstrip().startswith("#")):
            own.pop()
        end = start + sum(map(len, own))
        is_set_off = changed[:start].endswith(("\n\n", "\n\r\n")) or changed[:start] in ("\n", "\r\n")
        if is_set_off and (not changed[end:].strip() or not changed[end:].split("\n", 1)[0].strip()):
            start = changed.rfind("\n", 0, start - 1) + 1
        changed = changed[:start] + changed[end:]
    _set(before, path, None)
    return _checked(changed, before)


def _place(text: str, path: Sequence[str], *, below: bool = False) -> tuple[int, int] | None:
    """Where the table with that header begins and ends; with `below` also the first of those inside of it."""
    start: int | None = None
    for at, line in _headers(text):
        if start is not None:
            return start, at
        keys = _keys_of(line)
        if keys == list(path) or (below and keys[: len(path)] == list(path)):
            start = at
    return None if start is None else (start, len(text))


def _headers(text: str) -> list[tuple[int, str]]:
    """(offset, line) of each line that is a header: those at which what is before can be read by itself."""
    found = []
    at = 0
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line) and _is_whole(text[:at]):
            found.append((at, line))
        at += len(line)
    return found


def _is_whole(text: str) -> bool:
    """Whether no string or list is still open at the end of `text`."""
    try:
        tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _keys_of(header: str) -> list[str]:
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
    """The text of a table with these values; what else it has stays."""
    head, *lines = table.splitlines(keepends=True)
    kept, left = [head if head.endswith("\n") else head + newline], dict(data)
    number = 0
    while number < len(lines):
        match = _KEY.match(lines[number])
        length = 1
        if match:
            while not _is_whole("".join(lines[number : number + length])) and number + length < len(lines):
                length += 1
            chunk = "".join(lines[number : number + length])
            key = match["key"]
            if key not in left:
                kept.append(chunk)
            elif tomllib.loads(chunk.replace("\r\n", "\n")).get(key) == left[key]:
                kept.append(chunk)
                del left[key]
            else:
                kept.append(f"{key} = {_written(left.pop(key))}{newline}")
        else:
            kept.append(lines[number])
        number += length
    at = len(kept)
    while at > 1 and not kept[at - 1].strip():
        at -= 1
    new = [f"{key} = {_written(value)}{newline}" for key, value in left.items()]
    return "".join([*kept[:at], *new, *kept[at:]])


def _written(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    # JSON's strings, numbers and truth values are TOML's as well.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _document(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotToml(str(error)) from error


def _set(document: dict[str, Any], path: Sequence[str], data: object) -> None:
    """Puts `data` at `path`, or removes what is there; what is then empty goes too where nothing was written."""
    for key in path[:-1]:
        document = document.setdefault(key, {})
        if not isinstance(document, dict):
            raise NotToml(f"{key} is no table")
    if data is None:
        document.pop(path[-1], None)
    else:
        document[path[-1]] = data


def _checked(text: str, expected: dict[str, Any]) -> str:
    """`text`, if it says what it should. Raises NotToml."""
    if _without_empty(_document(text)) != _without_empty(expected):
        raise NotToml("it is written in a way that cannot be changed safely")
    return text


def _without_empty(value: Any) -> Any:
    """Without empty tables: removing the last member of one that has no header removes it."""
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each != {}}
