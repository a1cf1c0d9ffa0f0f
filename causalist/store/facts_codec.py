"""Facts <-> bytes: JSON for the interface and the bodies, then the words.

Each part can be read without those after it. Nothing is pickled or executed; data that does not fit raises
IndexUnreadable.
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
from causalist.model.source import Diagnostic

# Raised when the meaning of facts changes, so that none that another version wrote are read.
FACTS_FORMAT = 18
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
    "routes": f.RouteFact,
    "passages": f.Passage,
    "mentions": f.Mention,
    "diagnostics": Diagnostic,
}
# `_make` of the types, without a call in Python for each row.
_ROW_MAKERS = [(name, partial(tuple.__new__, row), {len(row._fields)}) for name, row in _ROWS.items()]
_BODIES = (
    "calls",
    "references",
    "accesses",
    "lookups",
    "mentions",
)  # in another one, with what of `bindings` belongs to bodies
_FIELDS = tuple(field.name for field in dataclasses.fields(f.FileFacts) if field.name not in ("words", *_BODIES))


class EncodedFacts(NamedTuple):
    """Parts of the result of `facts_to_bytes`.

    `interface` begins with checksums and lengths of all parts; `bodies` and `words` are None if left out.
    """

    interface: bytes
    bodies: bytes | None = None
    words: bytes | None = None


def facts_to_bytes(facts: f.FileFacts) -> bytes:
    """Encode facts: checksums and lengths, then interface and bodies as JSON arrays, then the words.

    The interface follows the order of the fields of `FileFacts`. A changed letter in a name would still be valid JSON,
    so each part has a checksum.
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


def split_parts(data: bytes) -> EncodedFacts:
    """Split the result of `facts_to_bytes`. Raises IndexUnreadable if it is too short."""
    if len(data) < _HEAD.size:
        raise _damaged_error("they end too soon")
    _, n_interface, n_bodies, _, _ = _HEAD.unpack_from(data)
    first = _HEAD.size + n_interface
    rest = first + n_bodies
    return EncodedFacts(data[:first], data[first:rest], data[rest:])


def extract_json(encoded: EncodedFacts) -> tuple[bytes, bytes]:
    """Return (interface, bodies) as JSON with unescaped names; b"" for a part left out.

    Raises IndexUnreadable.
    """
    interface, bodies, words = encoded
    if len(interface) < _HEAD.size:
        raise _damaged_error("they end too soon")
    checksum, n_interface, _, of_bodies, of_words = _HEAD.unpack_from(interface)
    if (
        checksum != zlib.crc32(memoryview(interface)[_CHECKSUM_BYTES:])
        or n_interface != len(interface) - _HEAD.size
        or (bodies is not None and of_bodies != zlib.crc32(bodies))
        or (words is not None and of_words != zlib.crc32(words))
    ):
        raise _damaged_error("a checksum differs")
    return interface[_HEAD.size :], bodies or b""


def facts_from_bytes(data: bytes) -> f.FileFacts:
    """Decode the result of `facts_to_bytes`. Raises IndexUnreadable."""
    return facts_with_bodies(*decode_interface(split_parts(data)))


def decode_interface(encoded: EncodedFacts) -> tuple[f.FileFacts, bytes]:
    """Return (facts without bodies, encoded bodies for `facts_with_bodies`).

    Words are None and bodies b"" if they were left out. Raises IndexUnreadable.
    """
    interface, bodies = extract_json(encoded)
    try:
        values = dict(zip(_FIELDS, _load_json(interface), strict=True))
        for name, make, lengths in _ROW_MAKERS:
            values[name] = _build_rows(name, make, lengths, values.get(name, ()))
        values["returns"] = tuple((int(d), str(t)) for d, t in values["returns"])
        values["owners"] = tuple((int(d), str(t)) for d, t in values["owners"])
        values["parameters"] = tuple((int(d), tuple(map(str, types))) for d, types in values["parameters"])
        values["conditions"] = tuple((int(d), tuple(map(str, every))) for d, every in values["conditions"])
        values["manifest"] = tuple((str(k), str(v)) for k, v in values["manifest"])
        values["tests"] = tuple(map(int, values["tests"]))
        values["secrets"] = tuple((int(start), int(end)) for start, end in values["secrets"])
        if values["wildcard_exports"] is not None:
            values["wildcard_exports"] = tuple(values["wildcard_exports"])
        values["words"] = encoded.words
        return f.FileFacts(**values), bodies
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged_error(error) from error


def facts_with_bodies(facts: f.FileFacts, bodies: bytes) -> f.FileFacts:
    """Return complete facts from the result of `decode_interface`. Raises IndexUnreadable."""
    try:
        *uses, hidden, positions = _load_json(bodies)
        made: dict[str, Any] = dict(zip(_BODIES, uses, strict=True))
        for name, make, lengths in _ROW_MAKERS:
            if name in made:
                made[name] = _build_rows(name, make, lengths, made[name])
            elif name == "bindings":
                bindings = list(facts.bindings)
                for position, binding in zip(positions, _build_rows(name, make, lengths, hidden), strict=True):
                    bindings.insert(position, binding)
                made[name] = tuple(bindings)
        return dataclasses.replace(facts, **made)
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged_error(error) from error


def _build_rows(name: str, make: Any, lengths: set[int], rows: Any) -> tuple[Any, ...]:
    if rows and {*map(len, rows)} != lengths:
        raise ValueError(f"{name} have other fields")
    return tuple(map(make, rows)) if rows else ()


def _damaged_error(error: object) -> IndexUnreadable:
    return IndexUnreadable(f"stored facts are damaged ({error}); they are made again")


def _load_json(text: bytes) -> Any:
    return json.loads(text.decode("utf-8", "surrogatepass"))
