"""Annotations of languages that say what their collections hold -> the notation of types that `graph.shapes` reads.

`[]T` is a sequence of T, `{K}T` a mapping, `(A,B)` a tuple, `()T` a function, `=T` the class T itself, `A|B` one of
both, `<A|B>` the same inside of another. What says nothing, or cannot be told, is "".
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from causalist.model.language import ShapeSettings
from causalist.model.type_notation import split_top
from causalist.parse.syntax.brackets import closing, split_outside, without_comments

PLAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
MOST_PARTS = 6  # of a union
_LONGEST = 2000
_DEEPEST = 8


@lru_cache(maxsize=20_000)
def shape_of(text: str, settings: ShapeSettings) -> str:
    """The notation of an annotation.

    >>> s = ShapeSettings(sequences=("list",), mappings=("dict",), tuples=("tuple",), classes=("type",),
    ...     functions=("Callable",), unions=("Union",), transparent=("Optional",))
    >>> [shape_of(t, s) for t in ("a.B", "'B'", "B | None", "Optional[B]", "list[B]", "dict[str, list[B | C]]")]
    ['a.B', 'B', 'B', 'B', '[]B', '{str}[]<B|C>']
    >>> [shape_of(t, s) for t in ("tuple[A, B]", "tuple[A, ...]", "type[A]", "Callable[..., A]", "Union[A, B]", "D[A]")]
    ['(A,B)', '[]A', '=A', '()A', 'A|B', 'D']
    """
    return _shape(_tidy(text), settings, 0)


def _tidy(text: str) -> str:
    return " ".join(without_comments(text.replace("\\\n", " ")).split()) if len(text) <= _LONGEST else ""


def _shape(text: str, settings: ShapeSettings, depth: int) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        text = text[1:-1].strip()
    if text[:1] == "(" and closing(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    if not text or depth > _DEEPEST or text in settings.nothing:
        return ""
    members = split_outside(text, "|")
    if len(members) > 1:
        return one_of(_shape(each, settings, depth + 1) for each in members)
    if PLAIN.fullmatch(text):
        last = text.rpartition(".")[2]
        return "[]" if last in settings.sequences else "" if last in settings.transparent else text
    name = _DOTTED.match(text)
    if not name or text[name.end() : name.end() + 1] != "[" or text[-1] != "]":
        return ""
    head = name[0].rpartition(".")[2]
    held = split_outside(text[name.end() + 1 : -1], ",")
    if head in settings.transparent:
        return _shape(held[0], settings, depth + 1)
    if head in settings.unions:
        return one_of(_shape(each, settings, depth + 1) for each in held)
    if head in settings.sequences:
        return f"[]{_inner(held[0], settings, depth)}"
    if head in settings.mappings:
        return f"{{{_inner(held[0], settings, depth)}}}{_inner(held[-1], settings, depth) if len(held) > 1 else ''}"
    if head in settings.tuples:
        if held[-1].strip() == "...":
            return f"[]{_inner(held[0], settings, depth)}"
        return f"({','.join(_inner(each, settings, depth) for each in held)})"
    if head in settings.functions:
        return f"(){_inner(held[-1], settings, depth)}"
    if head in settings.classes:
        members = _parts(_shape(held[0], settings, depth + 1))
        return one_of(f"={each}" for each in members if each[:1] not in ("", "[", "(", "{", "="))
    return name[0]


def _inner(text: str, settings: ShapeSettings, depth: int) -> str:
    shape = _shape(text, settings, depth + 1)
    return f"<{shape}>" if "|" in shape and len(_parts(shape)) > 1 else shape


def _parts(shape: str) -> list[str]:
    return split_top(shape, "|")


def one_of(members: Iterable[str]) -> str:
    """The notation of one of several types or values."""
    found: list[str] = []
    for each in members:
        for part in _parts(each):
            if part and part not in found:
                found.append(part)
    return "|".join(found[:MOST_PARTS])
