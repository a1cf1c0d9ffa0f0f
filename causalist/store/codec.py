"""Facts <-> bytes: JSON, with their words beside it.

Nothing is pickled and nothing is executed; what does not fit is `IndexUnreadable`.
"""

import dataclasses
import json
import struct
import zlib
from functools import partial
from typing import Any

from causalist.errors import IndexUnreadable
from causalist.model import facts as f
from causalist.model.interface import body_bindings

# Raised when the meaning of facts changes, so that none that another version wrote are read.
FACTS_FORMAT = 15
_CHECKSUM = struct.Struct("<I")
_LENGTHS = struct.Struct("<II")

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
    "mentions": f.Mention,
    "diagnostics": f.Diagnostic,
}
# `_make` of the types, without a call in Python for each row.
_MADE = [(name, partial(tuple.__new__, row), {len(row._fields)}) for name, row in _ROWS.items()]
_BODIES = (
    "calls",
    "references",
    "accesses",
    "lookups",
    "mentions",
)  # in another one, with what of `bindings` belongs to bodies
_FIELDS = tuple(field.name for field in dataclasses.fields(f.FileFacts) if field.name not in ("words", *_BODIES))


def facts_to_bytes(facts: f.FileFacts) -> bytes:
    """Checksum and lengths, then two JSON arrays: the interface, in the order of the fields of `FileFacts`, and the
    bodies; then the words, which need not be read.

    The checksum is there because a changed letter in a name would still be JSON, and a wrong answer.
    """
    hidden = body_bindings(facts)
    rows = {name: getattr(facts, name) for name in _FIELDS}
    is_hidden = set(hidden)
    rows["bindings"] = [binding for i, binding in enumerate(facts.bindings) if i not in is_hidden]
    bodies = [*(getattr(facts, name) for name in _BODIES), [facts.bindings[i] for i in hidden], hidden]
    parts = [
        json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        for part in (list(rows.values()), bodies)
    ]
    body = _LENGTHS.pack(*map(len, parts)) + b"".join(parts) + (facts.words or b"")
    return _CHECKSUM.pack(zlib.crc32(body)) + body


def facts_from_bytes(data: bytes, *, words: bool = True, bodies: bool = True) -> f.FileFacts:
    """The inverse of `facts_to_bytes`, or nearly so without `words`, or without `bodies`: then it is the interface
    (`model.interface`). Raises IndexUnreadable for anything else."""
    facts, uses = interface_from_bytes(data, words=words)
    return facts_with_bodies(facts, uses) if bodies else facts


def interface_from_bytes(data: bytes, *, words: bool = True) -> tuple[f.FileFacts, bytes]:
    """(the facts without their bodies, these as they are encoded, for `facts_with_bodies`) of `facts_to_bytes`. Raises
    IndexUnreadable."""
    body = _checked(data)
    try:
        n_data, n_bodies = _LENGTHS.unpack_from(body)
        first = _LENGTHS.size + n_data
        rest = first + n_bodies
        values = dict(zip(_FIELDS, _loaded(body[_LENGTHS.size : first]), strict=True))
        for name, make, lengths in _MADE:
            values[name] = _rows(name, make, lengths, values.get(name, ()))
        values["returns"] = tuple((int(d), str(t)) for d, t in values["returns"])
        values["owners"] = tuple((int(d), str(t)) for d, t in values["owners"])
        values["parameters"] = tuple((int(d), tuple(map(str, types))) for d, types in values["parameters"])
        values["manifest"] = tuple((str(k), str(v)) for k, v in values["manifest"])
        values["tests"] = tuple(map(int, values["tests"]))
        values["secrets"] = tuple((int(start), int(end)) for start, end in values["secrets"])
        if values["wildcard_exports"] is not None:
            values["wildcard_exports"] = tuple(values["wildcard_exports"])
        values["words"] = body[rest:] if words else None
        return f.FileFacts(**values), body[first:rest]
    except (ValueError, TypeError, RecursionError, struct.error) as error:
        raise _damaged(error) from error


def facts_with_bodies(facts: f.FileFacts, bodies: bytes) -> f.FileFacts:
    """The whole facts of what `interface_from_bytes` gave. Raises IndexUnreadable."""
    try:
        *uses, hidden, positions = _loaded(bodies)
        made: dict[str, Any] = dict(zip(_BODIES, uses, strict=True))
        for name, make, lengths in _MADE:
            if name in made:
                made[name] = _rows(name, make, lengths, made[name])
            elif name == "bindings":
                bindings = list(facts.bindings)
                for position, binding in zip(positions, _rows(name, make, lengths, hidden), strict=True):
                    bindings.insert(position, binding)
                made[name] = tuple(bindings)
        return dataclasses.replace(facts, **made)
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(error) from error


def _rows(name: str, make: Any, lengths: set[int], rows: Any) -> tuple[Any, ...]:
    if rows and {*map(len, rows)} != lengths:
        raise ValueError(f"{name} have other fields")
    return tuple(map(make, rows)) if rows else ()


def _damaged(error: Exception) -> IndexUnreadable:
    return IndexUnreadable(f"stored facts are damaged ({error}); they are made again")


def parts_of_bytes(data: bytes) -> tuple[bytes, bytes]:
    """(interface, bodies) of `facts_to_bytes` as JSON, in which names stand as they are written. Raises
    IndexUnreadable."""
    body = _checked(data)
    n_data, n_bodies = _LENGTHS.unpack_from(body)
    first = _LENGTHS.size + n_data
    return body[_LENGTHS.size : first], body[first : first + n_bodies]


def _checked(data: bytes) -> bytes:
    body = data[_CHECKSUM.size :]
    if data[: _CHECKSUM.size] != _CHECKSUM.pack(zlib.crc32(body)) or len(body) < _LENGTHS.size:
        raise IndexUnreadable("stored facts are damaged; they are made again")
    return body


def _loaded(text: bytes) -> Any:
    return json.loads(text.decode("utf-8", "surrogatepass"))
