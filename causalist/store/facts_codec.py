"""Facts <-> bytes: JSON in two parts, the interface and the bodies, with their words beside it; each can be read
without those that follow.

Nothing is pickled and nothing is executed; what does not fit is `IndexUnreadable`.
"""

import dataclasses
import json
import struct
import zlib
from functools import partial
from typing import Any, NamedTuple

from causalist.errors import IndexUnreadable
from causalist.model import facts as f
from causalist.model.interface import body_bindings

# Raised when the meaning of facts changes, so that none that another version wrote are read.
FACTS_FORMAT = 16
# The checksum of the rest of it and of the interface; lengths of interface and bodies; checksums of bodies and words.
_HEAD = struct.Struct("<IIIII")
_CHECKSUM_BYTES = 4

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


class Encoded(NamedTuple):
    """The parts of what `facts_to_bytes` gave. `interface` begins with the checksums and lengths of all of them;
    `bodies` and `words` may be left out, as None."""

    interface: bytes
    bodies: bytes | None = None
    words: bytes | None = None


def facts_to_bytes(facts: f.FileFacts) -> bytes:
    """Checksums and lengths, then two JSON arrays: the interface, in the order of the fields of `FileFacts`, and the
    bodies; then the words.

    The checksums are there because a changed letter in a name would still be JSON, and a wrong answer.
    """
    hidden = body_bindings(facts)
    rows = {name: getattr(facts, name) for name in _FIELDS}
    is_hidden = set(hidden)
    rows["bindings"] = [binding for i, binding in enumerate(facts.bindings) if i not in is_hidden]
    uses = [*(getattr(facts, name) for name in _BODIES), [facts.bindings[i] for i in hidden], hidden]
    interface, bodies = (
        json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        for part in (list(rows.values()), uses)
    )
    words = facts.words or b""
    head = _HEAD.pack(0, len(interface), len(bodies), zlib.crc32(bodies), zlib.crc32(words))[_CHECKSUM_BYTES:]
    checksum = zlib.crc32(interface, zlib.crc32(head)).to_bytes(_CHECKSUM_BYTES, "little")
    return b"".join((checksum, head, interface, bodies, words))


def parts_of_bytes(data: bytes) -> Encoded:
    """The parts of `facts_to_bytes`. Raises IndexUnreadable for what is too short to have them."""
    if len(data) < _HEAD.size:
        raise _damaged("they end too soon")
    _, n_interface, n_bodies, _, _ = _HEAD.unpack_from(data)
    first = _HEAD.size + n_interface
    rest = first + n_bodies
    return Encoded(data[:first], data[first:rest], data[rest:])


def json_of(encoded: Encoded) -> tuple[bytes, bytes]:
    """(interface, bodies) as JSON, in which names stand as they are written; of what was left out b"". Raises
    IndexUnreadable."""
    interface, bodies, words = encoded
    if len(interface) < _HEAD.size:
        raise _damaged("they end too soon")
    checksum, n_interface, _, of_bodies, of_words = _HEAD.unpack_from(interface)
    if (
        checksum != zlib.crc32(memoryview(interface)[_CHECKSUM_BYTES:])
        or n_interface != len(interface) - _HEAD.size
        or (bodies is not None and of_bodies != zlib.crc32(bodies))
        or (words is not None and of_words != zlib.crc32(words))
    ):
        raise _damaged("a checksum differs")
    return interface[_HEAD.size :], bodies or b""


def facts_from_bytes(data: bytes) -> f.FileFacts:
    """The inverse of `facts_to_bytes`, or nearly so. Raises IndexUnreadable for anything else."""
    return facts_with_bodies(*interface_of_parts(parts_of_bytes(data)))


def interface_of_parts(encoded: Encoded) -> tuple[f.FileFacts, bytes]:
    """(the facts without their bodies (`model.interface`), and without words where these are left out; the bodies as
    `facts_with_bodies` takes them, b"" where they are left out). Raises IndexUnreadable."""
    interface, bodies = json_of(encoded)
    try:
        values = dict(zip(_FIELDS, _loaded(interface), strict=True))
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
        values["words"] = encoded.words
        return f.FileFacts(**values), bodies
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(error) from error


def facts_with_bodies(facts: f.FileFacts, bodies: bytes) -> f.FileFacts:
    """The whole facts of what `interface_of_parts` gave. Raises IndexUnreadable."""
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


def _damaged(error: object) -> IndexUnreadable:
    return IndexUnreadable(f"stored facts are damaged ({error}); they are made again")


def _loaded(text: bytes) -> Any:
    return json.loads(text.decode("utf-8", "surrogatepass"))
