"""Frozen dataclasses <-> named arrays and a JSON header. Nothing is pickled and nothing is executed; what
does not fit is `IndexUnreadable`."""

import dataclasses
import typing
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from causalist.errors import IndexUnreadable

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]


def flatten(value: Any, prefix: str, arrays: Arrays) -> Any:
    """The JSON part of a dataclass; its arrays go into `arrays` under dotted names."""
    if isinstance(value, np.ndarray):
        arrays[prefix] = value
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: flatten(getattr(value, field.name), f"{prefix}.{field.name}", arrays)
            for field in dataclasses.fields(value)
        }
    if isinstance(value, tuple):
        return [flatten(item, f"{prefix}[{i}]", arrays) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: flatten(value[key], f"{prefix}.{key}", arrays) for key in sorted(value)}
    return value


def unflatten(kind: type[T], header: Any, prefix: str, arrays: Arrays) -> T:
    """The inverse of `flatten` for the dataclass `kind`; raises IndexUnreadable for what does not fit."""
    try:
        return typing.cast(T, _build(kind, header, prefix, arrays))
    except (KeyError, TypeError, ValueError) as error:
        raise IndexUnreadable(f"the index does not hold what it should ({error!r}); it is built again") from error


@cache
def _hint(kind: type, name: str) -> Any:
    """What the field of that name is. Evaluating what all fields are, of which most are arrays, takes longer than
    reading them."""
    hint = kind.__annotations__[name]
    return typing.get_type_hints(kind)[name] if isinstance(hint, str) else hint


@cache
def _defaulted(kind: type) -> frozenset[str]:
    """Names of the fields that need not be given."""
    missing = dataclasses.MISSING
    fields = dataclasses.fields(typing.cast(Any, kind))
    return frozenset(f.name for f in fields if f.default is not missing or f.default_factory is not missing)


def _build(kind: Any, header: Any, prefix: str, arrays: Arrays) -> Any:
    # Not asked of the type hint: what NDArray[...] looks like at run time differs between versions of numpy.
    if prefix in arrays:
        return arrays[prefix]
    if dataclasses.is_dataclass(kind):
        defaulted = _defaulted(typing.cast(type, kind))
        fields: dict[str, Any] = {}
        for field in dataclasses.fields(kind):
            place = f"{prefix}.{field.name}"
            if place in arrays:
                fields[field.name] = arrays[place]
            # What an earlier version did not write is left at its default; its index is outdated then, and not damaged.
            elif field.name in header or field.name not in defaulted:
                hint = _hint(typing.cast(type, kind), field.name)
                fields[field.name] = _build(hint, header[field.name], place, arrays)
        return typing.cast(Any, kind)(**fields)
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        return tuple(_build(item, each, f"{prefix}[{i}]", arrays) for i, each in enumerate(header))
    if isinstance(header, dict):
        value = typing.get_args(kind)[1]
        return {key: _build(value, each, f"{prefix}.{key}", arrays) for key, each in header.items()}
    if header is None and type(None) not in typing.get_args(kind):
        raise KeyError(prefix)  # an array that the header does not place
    return header
