"""Comparing indexes to the last bit, and small random ones to compare."""

import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from causalist.model.index import CoChanges, Commits, FileNote, History, Index, LexicalIndex, Manifest, Postings
from causalist.model.scores import Transition
from causalist.model.string_table import StringTable
from tests.graphs import random_graphs

any_text = st.text(st.characters(), max_size=8)  # with lone surrogates
_count = st.integers(0, 2**31 - 1)


def leaves(value: Any, name: str = "index") -> Iterator[tuple[str, Any]]:
    """(dotted name, array or plain value) of everything in a frozen dataclass, mappings in the order of their keys."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name), f"{name}.{field.name}")
    elif isinstance(value, tuple | list):
        yield f"{name}.length", (type(value).__name__, len(value))
        for i, item in enumerate(value):
            yield from leaves(item, f"{name}[{i}]")
    elif hasattr(value, "items"):
        yield f"{name}.keys", tuple(sorted(value))
        for key in sorted(value):
            yield from leaves(value[key], f"{name}[{key!r}]")
    else:
        yield name, value


def arrays_of(index: Any) -> dict[str, np.ndarray]:
    return {name: value for name, value in leaves(index) if isinstance(value, np.ndarray)}


def plain(index: Any) -> list[tuple[str, Any]]:
    """Everything in an index as values that compare: arrays as type, shape and bytes."""
    return [
        (name, (v.dtype.str, v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v) for name, v in leaves(index)
    ]


def differences(one: Any, other: Any) -> list[str]:
    """Names of what differs; empty for equal indexes."""
    a, b = dict(plain(one)), dict(plain(other))
    return sorted(name for name in a.keys() | b.keys() if name not in a or name not in b or a[name] != b[name])


def digest(index: Any) -> str:
    named = hashlib.sha256()
    for name, value in leaves(index):
        is_array = isinstance(value, np.ndarray)
        # What was read is text where what was built is a member of an enumeration of texts.
        plain_value = str(value) if isinstance(value, str) else value
        said = repr((name, value.dtype.str, value.shape) if is_array else (name, plain_value))
        named.update(f"{said}\n".encode("utf-8", "backslashreplace"))
        named.update(np.ascontiguousarray(value).data if is_array else b"")
    return named.hexdigest()


def without_stamps(index: Index) -> Index:
    """The index without what depends on when and where the files were written."""
    never = np.zeros_like(index.manifest.mtimes)
    manifest = dataclasses.replace(index.manifest, mtimes=never, ctimes=never)
    return dataclasses.replace(index, manifest=manifest, scanned_at=0, commit=None)


def _array(items: st.SearchStrategy, dtype: type) -> st.SearchStrategy[np.ndarray]:
    return st.lists(items, max_size=4).map(lambda values: np.array(values, dtype=dtype))


def _strings() -> st.SearchStrategy[StringTable]:
    return st.lists(any_text, max_size=4).map(StringTable.from_strings)


def _numbers(dtype: type) -> st.SearchStrategy[np.ndarray]:
    width = 32 if dtype is np.float32 else 64
    return _array(st.floats(width=width) if np.issubdtype(dtype, np.floating) else _count, dtype)


_postings = st.builds(
    Postings, _numbers(np.int64), _numbers(np.int32), _numbers(np.int32), _numbers(np.float64), st.integers(0, 2**31)
)

_commits = st.builds(
    Commits, _strings(), _numbers(np.int64), _numbers(np.int32), _strings(), _numbers(np.int64), _numbers(np.int32),
    _numbers(np.int32), _numbers(np.int32), _numbers(np.int32), _strings(), _postings, any_text, st.booleans(),
)  # fmt: skip
_history = st.builds(
    History, _commits, _strings(), _numbers(np.int32), _numbers(np.int64), _numbers(np.int32), _postings,
    st.builds(CoChanges, _numbers(np.int64), _numbers(np.int32), _numbers(np.float64), _numbers(np.int32)),
    _numbers(np.float64), _numbers(np.int64),
)  # fmt: skip

random_indexes = st.builds(
    Index,
    version=any_text,
    commit=st.none() | any_text,
    scanned_at=st.integers(0, 2**63),
    manifest=st.builds(Manifest, _strings(), _strings(), _numbers(np.int64), _numbers(np.int64), _numbers(np.int64)),
    graph=random_graphs(max_nodes=5, max_links=6),
    lexical=st.builds(
        LexicalIndex,
        terms=_strings(),
        definitions=_postings,
        files=_postings,
        paths=_postings,
        symbol_names=_postings,
        names=_strings(),
        name_indptr=_numbers(np.int64),
        name_nodes=_numbers(np.int32),
    ),
    transition=st.builds(
        Transition,
        indptr=_numbers(np.int32),
        indices=_numbers(np.int32),
        weights=_numbers(np.float64),
        degrees=_numbers(np.int32),
        walkable=_array(st.booleans(), np.bool_),
        file_degrees=_numbers(np.int32),
    ),
    skipped=st.dictionaries(any_text, _count, max_size=3),
    examples=st.dictionaries(any_text, st.lists(any_text, max_size=3).map(tuple), max_size=2),
    notes=st.lists(st.builds(FileNote, any_text, any_text, any_text, st.integers(-1, 9)), max_size=2).map(tuple),
    languages=st.dictionaries(any_text, _count, max_size=3),
    submodules=st.booleans(),
    history=_history,
)
