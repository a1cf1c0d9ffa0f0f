"""Facts as bytes: the same facts come back, or IndexUnreadable."""

import random
import struct
import zlib
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.errors import IndexUnreadable
from causalist.model import facts as f
from causalist.model.facts import interface_of
from causalist.parse import load_grammar, parse_source, parse_text
from causalist.store import decode_interface, facts_from_bytes, facts_to_bytes, facts_with_bodies, split_parts
from causalist.store.facts_cache import _ROWS
from tests.indexes import any_text

_number = st.integers(-1, 2**40)
_OF_TYPE: dict[Any, st.SearchStrategy[Any]] = {str: any_text, int: _number, bool: st.booleans()}


def _rows(kind: Any) -> st.SearchStrategy[Any]:
    fields = [_OF_TYPE[hint] for hint in get_type_hints(kind).values()]
    return st.lists(st.tuples(*fields).map(kind._make), max_size=3).map(tuple)


random_facts = st.builds(
    f.FileFacts,
    language=any_text,
    **{name: _rows(kind) for name, kind in _ROWS.items()},
    returns=st.lists(st.tuples(_number, any_text), max_size=2).map(tuple),
    words=st.binary(max_size=9),
    doc=any_text,
    n_rows=_number,
    n_bytes=_number,
    wildcard_exports=st.none() | st.lists(any_text, max_size=3).map(tuple),
    manifest=st.lists(st.tuples(any_text, any_text), max_size=2).map(tuple),
)

_SOURCE = '''"""Ünïcode ✓ and \\ud800."""
import os as o
from .m import a as b, c
class K(o.Base):
    def f(self, x: int) -> str:
        return self.g(x)["😀"]
__all__ = ["K"]
'''


@settings(deadline=None)
@given(random_facts)
def test_round_trip(facts: f.FileFacts) -> None:
    again = facts_from_bytes(facts_to_bytes(facts))
    assert again == facts
    for name, kind in _ROWS.items():
        assert all(type(row) is kind for row in getattr(again, name))


@settings(deadline=None)
@given(random_facts)
def test_bodies_may_come_later(facts: f.FileFacts) -> None:
    interface, bodies = decode_interface(split_parts(facts_to_bytes(facts)))
    assert interface == interface_of(facts)
    assert facts_with_bodies(interface, bodies) == facts


@pytest.mark.parametrize("bodies", [b"", b"{}", b"[]", b"[[],[],[],[],[],[],[0]]", b"[[[1]],[],[],[],[],[],[]]"])
def test_bodies_that_are_none_are_refused(bodies: bytes) -> None:
    with pytest.raises(IndexUnreadable):
        facts_with_bodies(f.FileFacts(""), bodies)


def test_nothing_and_an_empty_list_of_exports_are_different() -> None:
    for exports in (None, (), ("",)):
        facts = f.FileFacts("", wildcard_exports=exports)
        assert facts_from_bytes(facts_to_bytes(facts)).wildcard_exports == exports


def test_facts_of_real_files_come_back() -> None:
    facts = parse_source(_SOURCE.encode(), load_grammar("python"))
    assert facts.definitions and facts.imports and facts.words
    assert facts_from_bytes(facts_to_bytes(facts)) == facts
    prose = parse_text("package.json", b'{"name": "x", "main": "./m.js"}')
    assert prose.manifest
    assert facts_from_bytes(facts_to_bytes(prose)) == prose


def test_every_flipped_bit_and_every_truncation_is_refused() -> None:
    data = facts_to_bytes(parse_source(_SOURCE.encode(), load_grammar("python")))
    chance = random.Random(3)
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << chance.randrange(8)
        with pytest.raises(IndexUnreadable):
            facts_from_bytes(bytes(damaged))
        with pytest.raises(IndexUnreadable):
            facts_from_bytes(data[:place])


@given(st.binary(max_size=60))
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(IndexUnreadable):
        facts_from_bytes(data)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "[" * 100_000, '["x"]', "[" + "0," * 17 + "0]", "NaN"])
def test_json_that_holds_no_facts_is_refused(text: str) -> None:
    data = text.encode()
    head = struct.pack("<IIII", len(data), 0, 0, 0)  # the checksum of no bytes is 0
    with pytest.raises(IndexUnreadable, match=r"damaged \((?!a checksum|they end)"):
        facts_from_bytes(zlib.crc32(head + data).to_bytes(4, "little") + head + data)
