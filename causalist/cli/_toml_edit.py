"""Edit one table of a TOML text and keep everything else byte for byte.

tomlkit reads and writes the text with its comments; it is imported when a text is edited. The table must have a header
of its own, `[a.b]`. Text that cannot be parsed or would be reordered, inline tables and dotted keys raise NotToml.
Every edit is verified by parsing the result.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
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


def get_member(text: str, path: Sequence[str]) -> object:
    """Return the value at `path`, or None if there is none. Raises NotToml."""
    value: object = _load(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def with_member(text: str, path: Sequence[str], data: Mapping[str, object]) -> str:
    """Return `text` with a table at `path` that contains just `data`. Subtables stay. Raises NotToml."""
    import tomlkit

    expected, known = _load(text), get_member(text, path)
    if known is None:
        nested: dict[str, Any] = dict(data)
        for key in reversed(path):
            nested = {key: nested}
        gap = "\n" if text.strip(f"{_BOM} \t\r\n") else ""
        changed = text + (gap if text.endswith("\n") else gap * 2) + tomlkit.dumps(nested)
    else:
        document = _parse_document(text)
        table = next((each for *_, each in _find_tables(document, path) if not each.is_super_table()), None)
        if table is None or not isinstance(known, dict):
            raise NotToml(f"{'.'.join(path)} is not written as a table with a header of its own")
        # New keys come before the comments of the next table.
        body, after = table.value.body, []
        while body and body[-1][0] is None:
            after.append(body.pop())
        for key, value in data.items():
            if known.get(key) != value:
                table[key] = value
        body.extend(reversed(after))
        changed = _render(document, text)
    if not _LONE_NEWLINE.search(text):
        changed = _LONE_NEWLINE.sub("\r\n", changed) if "\n" in text else changed
    _set_member(expected, path, dict(data))
    return _verify_result(changed, expected)


def without_member(text: str, path: Sequence[str]) -> str:
    """Return `text` without the table at `path` and its subtables. Raises NotToml."""
    expected = _load(text)
    if get_member(text, path) is None:
        return text
    from tomlkit import ws

    document = _parse_document(text)
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


def _parse_document(text: str) -> "TOMLDocument":
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
            raise NotToml(f"{key} is no table")
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
