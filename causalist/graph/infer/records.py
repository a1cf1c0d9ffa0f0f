"""Structs without a name: values that are told apart by their fields alone, as in `var limits = struct{ all Limit }{}`.

A record is a value whose `parts` are what its fields hold and whose `name` lists theirs, with a dot before one that is
embedded and so gives its own members to the record.
"""

from typing import TYPE_CHECKING

from causalist.graph.infer import annotations as receivers
from causalist.graph.rules import RuleName
from causalist.graph.values import UNKNOWN, Value

if TYPE_CHECKING:
    from causalist.graph.infer.inference import Values

_FOUND_BY = RuleName.ATTRIBUTE_TYPE


def declared(values: "Values", file: int, scope: int, fields: list[str]) -> Value:
    """A record with these fields, in the notation of types: `name:T`, `name:` or, embedded, `T`."""
    names: list[str] = []
    parts: list[Value] = []
    for each in fields:
        name, named, written = each.partition(":")
        held = written if named else name
        names.append(name if named else f".{name.rpartition('.')[2]}")
        parts.append(receivers.declared(values, file, scope, held, _FOUND_BY) if held else UNKNOWN)
    return Value("record", -1, _FOUND_BY, ",".join(names), tuple(parts))


def member(values: "Values", file: int, value: Value, name: str, called: str | None) -> Value | None:
    """A field of a record or a member of what it embeds; None where it has none of that name."""
    fields = value.name.split(",")
    for field, part in zip(fields, value.parts, strict=True):
        if field.lstrip(".") == name:
            return part
    for field, part in zip(fields, value.parts, strict=True):
        if field.startswith("."):
            if part.kind not in ("instance", "record"):
                return part  # of another repository: whatever it has
            found = values.along(file, part, ["", name], 1, called)
            if found is not None:
                return found
    return None
