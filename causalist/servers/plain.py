"""Values of annotated types <-> what JSON can hold, for processes of one program that talk to each other.

Dataclasses, named tuples, tuples, mappings by string, enums, paths and `None` are understood, and what JSON has itself.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Return a value as dictionaries, lists and scalars."""
    if dataclasses.is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") else value  # a number of numpy


def from_plain(kind: type[T], plain: Any) -> T:
    """Invert `to_plain` for a value of the type `kind`.

    >>> from_plain(dict[str, tuple[int, ...]], to_plain({"rows": (1, 2)}))
    {'rows': (1, 2)}
    """
    return typing.cast(T, _build(kind, plain))


def _build(kind: Any, plain: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if plain is None:
        return None
    if origin in (types.UnionType, typing.Union):
        (kind,) = (each for each in arguments if each is not type(None))
        return _build(kind, plain)
    if origin is tuple:
        kinds = [arguments[0]] * len(plain) if arguments[1:] == (...,) else arguments
        return tuple(_build(each, item) for each, item in zip(kinds, plain, strict=True))
    if origin is not None:  # a mapping
        return {key: _build(arguments[1], item) for key, item in plain.items()}
    if dataclasses.is_dataclass(kind):
        made = typing.cast(Any, kind)
        hints = _hints(made)
        return made(**{name: _build(hints[name], item) for name, item in plain.items()})
    if issubclass(kind, tuple):
        return kind(*(_build(each, item) for each, item in zip(_hints(kind).values(), plain, strict=True)))
    return kind(plain) if issubclass(kind, Enum | Path) else plain


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
