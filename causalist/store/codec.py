"""Plain data <-> bytes: facts as JSON with their words beside it, frozen dataclasses as named arrays and a JSON header.

Nothing is pickled and nothing is executed; what does not fit is `IndexUnreadable`.
"""

import dataclasses
import json
import struct
import typing
import zlib
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from causalist.errors import IndexUnreadable
from causalist.model import facts as f
from causalist.model.interface import body_bindings

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]

# Raised when the meaning of facts changes, so that none that another version wrote are read.
FACTS_FORMAT = 12
_CHECKSUM = struct.Struct("<I")
_LENGTHS = struct.Struct("<III")

_ROWS: dict[str, Any] = {
    "definitions": f.Definition,
    "bases": f.Base,
    "implementations": f.Implementation,
    "calls": f.Call,
    "references": f.Reference,
    "imports": f.Import,
    "exports": f.Export,
    "bindings": f.Binding,
    "accesses": f.Access,
    "lookups": f.Lookup,
    "passages": f.Passage,
    "diagnostics": f.Diagnostic,
}
_WORDS = ("words", "counts")  # in a part of their own that need not be read
_BODIES = ("calls", "references", "accesses", "lookups")  # in another one, with what of `bindings` belongs to bodies
_FIELDS = tuple(field.name for field in dataclasses.fields(f.FileFacts) if field.name not in (*_WORDS, *_BODIES))


def facts_to_bytes(facts: f.FileFacts) -> bytes:
    """Checksum and lengths, then three JSON arrays: the interface, in the order of the fields of `FileFacts`; the
    bodies; the words; and the counts of these.

    The checksum is there because a changed letter in a name would still be JSON, and a wrong answer.
    """
    hidden = body_bindings(facts)
    rows = {name: getattr(facts, name) for name in _FIELDS}
    is_hidden = set(hidden)
    rows["bindings"] = [binding for i, binding in enumerate(facts.bindings) if i not in is_hidden]
    bodies = [*(getattr(facts, name) for name in _BODIES), [facts.bindings[i] for i in hidden], hidden]
    parts = [
        json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        for part in (list(rows.values()), bodies, facts.words)
    ]
    body = _LENGTHS.pack(*map(len, parts)) + b"".join(parts) + (facts.counts.data if facts.counts else b"")
    return _CHECKSUM.pack(zlib.crc32(body)) + body


def facts_from_bytes(data: bytes, *, words: bool = True, bodies: bool = True) -> f.FileFacts:
    """The inverse of `facts_to_bytes`, or nearly so without `words`, or without `bodies`: then it is the interface
    (`model.interface`). Raises IndexUnreadable for anything else."""
    body = _checked(data)
    try:
        n_data, n_bodies, n_words = _LENGTHS.unpack_from(body)
        first = _LENGTHS.size + n_data
        rest = first + n_bodies
        values = dict(zip(_FIELDS, _loaded(body[_LENGTHS.size : first]), strict=True))
        if bodies:
            *uses, hidden, positions = _loaded(body[first:rest])
            values.update(zip(_BODIES, uses, strict=True))
            for position, binding in zip(positions, hidden, strict=True):
                values["bindings"].insert(position, binding)
        for name, row in _ROWS.items():
            values[name] = tuple(map(row._make, values.get(name, ())))
        values["returns"] = tuple((int(d), str(t)) for d, t in values["returns"])
        values["owners"] = tuple((int(d), str(t)) for d, t in values["owners"])
        values["parameters"] = tuple((int(d), tuple(map(str, types))) for d, types in values["parameters"])
        values["manifest"] = tuple((str(k), str(v)) for k, v in values["manifest"])
        values["tests"] = tuple(map(int, values["tests"]))
        values["secrets"] = tuple((int(start), int(end)) for start, end in values["secrets"])
        if values["wildcard_exports"] is not None:
            values["wildcard_exports"] = tuple(values["wildcard_exports"])
        values["counts"] = None
        if words:
            values["words"] = tuple(_loaded(body[rest : rest + n_words]))
            values["counts"] = f.WordCounts(body[rest + n_words :])
            values["counts"].rows()  # a length that is no number of rows is damage
        return f.FileFacts(**values)
    except (ValueError, TypeError, RecursionError, struct.error) as error:
        raise IndexUnreadable(f"stored facts are damaged ({error}); they are made again") from error


def parts_of_bytes(data: bytes) -> tuple[bytes, bytes]:
    """(interface, bodies) of `facts_to_bytes` as JSON, in which names stand as they are written. Raises
    IndexUnreadable."""
    body = _checked(data)
    n_data, n_bodies, _ = _LENGTHS.unpack_from(body)
    first = _LENGTHS.size + n_data
    return body[_LENGTHS.size : first], body[first : first + n_bodies]


def _checked(data: bytes) -> bytes:
    body = data[_CHECKSUM.size :]
    if data[: _CHECKSUM.size] != _CHECKSUM.pack(zlib.crc32(body)) or len(body) < _LENGTHS.size:
        raise IndexUnreadable("stored facts are damaged; they are made again")
    return body


def _loaded(text: bytes) -> Any:
    return json.loads(text.decode("utf-8", "surrogatepass"))


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
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


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
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind):
        hints = _hints(typing.cast(type, kind))
        # What an earlier version did not write is left at its default; its index is outdated then, and not damaged.
        known = {
            name: hint
            for name, hint in hints.items()
            if name in header or name not in _defaulted(typing.cast(type, kind))
        }
        return typing.cast(Any, kind)(
            **{name: _build(hint, header[name], f"{prefix}.{name}", arrays) for name, hint in known.items()}
        )
    if origin is tuple:
        item = typing.get_args(kind)[0]
        return tuple(_build(item, each, f"{prefix}[{i}]", arrays) for i, each in enumerate(header))
    if isinstance(header, dict):
        value = typing.get_args(kind)[1]
        return {key: _build(value, each, f"{prefix}.{key}", arrays) for key, each in header.items()}
    if header is None and type(None) not in typing.get_args(kind):
        raise KeyError(prefix)  # an array that the header does not place
    return header
