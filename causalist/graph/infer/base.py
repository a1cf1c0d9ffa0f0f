"""What a part of a chain is, and values that hold others: collections, functions, several results.

The marks on a part of a chain say what is done with it: `()` it is called, `[]` an item is taken, `[k]` what a range
counts with, `:1` the second of several results, `^` it is put into a collection, `!` it is said to be of that type.
"""

import itertools
import re
from abc import ABC, abstractmethod

from causalist.graph.program.name_lookup import NameLookup
from causalist.graph.program.program import Program
from causalist.graph.rules import RuleName
from causalist.graph.values import BUILTIN, UNKNOWN, Value
from causalist.model.language import ShapeSettings, TypeSettings
from causalist.model.symbols import NodeKind
from causalist.model.type_notation import split_top

_DEEPEST = 6  # values that are held by one another
_MARKED = re.compile(r"([^()\[\]:^!%&]*)((?:\(\)|\[(?:[k*#]|\d+)?\]|:\d+|[\^!%&])*)")
_NO_SHAPES = ShapeSettings()
_CALLED = re.compile(r"\(\)|\[\]")
_MARK = re.compile(r"\(\)|\[(?:[k*#]|\d+)?\]|:\d+|[\^!%&]")


def split_marks(part: str) -> tuple[str, list[str]]:
    """The name in a part of a chain, and its marks in order.

    >>> split_marks("open():0"), split_marks("x")
    (('open', ['()', ':0']), ('x', []))
    """
    if part[-1:] not in (")", "]", "^", "!", "%", "&") and ":" not in part:
        return part, []
    matched = _MARKED.match(part)
    return (matched[1], _MARK.findall(matched[2])) if matched else (part, [])


def split_calls(part: str) -> tuple[str, list[str]]:
    """The same where only calls and items are marked.

    >>> split_calls("make()[]"), split_calls("print!"), split_calls("[]")
    (('make', ['()', '[]']), ('print!', []), ('[]', []))
    """
    if part[-1:] not in (")", "]"):
        return part, []
    bare = part.rstrip("()[]")
    return (bare, _CALLED.findall(part[len(bare) :])) if bare else (part, [])


def split_part(part: str, types: TypeSettings, shapes: ShapeSettings = _NO_SHAPES) -> tuple[str, list[str]]:
    """The name in a part of a chain, and what is done with it."""
    return split_marks(part) if types.prefixed or shapes.sequences else split_calls(part)


def split_type(written: str) -> tuple[str, list[str]]:
    """The outermost shape of a type, and the types that it holds; ("", []) for a plain name.

    >>> split_type("[K]a.T"), split_type("()(T,error)"), split_type("(T,()(A,B))"), split_type("T")
    (('items', ['a.T', 'K']), ('callable', ['(T,error)']), ('results', ['T', '()(A,B)']), ('', []))
    >>> split_type("struct{a:T,U}")
    ('record', ['a:T', 'U'])
    """
    if "|" in written:
        several = split_top(written, "|")
        if len(several) > 1:
            return "union", several
        if written.startswith("<"):
            return split_type(written[1:-1])
    if written.startswith("="):
        return "class", [written[1:]]
    if written.startswith("{"):
        depths = itertools.accumulate((c == "{") - (c == "}") for c in written)
        end = next((i for i, depth in enumerate(depths) if depth == 0), len(written))
        return "mapping", [written[end + 1 :], written[1:end]]
    if written.startswith("["):
        depths = itertools.accumulate((c == "[") - (c == "]") for c in written)
        end = next((i for i, depth in enumerate(depths) if depth == 0), len(written))
        return "items", [written[end + 1 :], written[1:end]]
    if written.startswith("()"):
        return "callable", [written[2:]]
    if written.startswith("struct{"):
        return "record", split_top(written[7:-1], ",")
    if not written.startswith("("):
        return "", []
    return "results", split_top(written[1:-1], ",")


def _found_by(rule: str, value: Value) -> Value:
    """The same value, and what it holds, as found by another rule."""
    return value._replace(rule=rule, parts=tuple(_found_by(rule, part) for part in value.parts))


class Shapes(ABC):
    """What the marks on a chain do with values. `_held_by` are constants and fields that are being looked into."""

    __slots__ = ()
    program: Program
    name_lookup: NameLookup
    _held_by: set[int]

    @abstractmethod
    def _called(self, value: Value | None) -> Value | None: ...

    @abstractmethod
    def _declared(self, file: int, scope: int, type_name: str, rule: str) -> Value: ...

    @abstractmethod
    def held_by(self, definition: int) -> Value | None: ...

    def is_held(self, value: Value) -> bool:
        return value.kind == "definition" and self.program.is_value(value.number)

    def result(self, value: Value) -> Value | None:
        """What the call of a function that is held somewhere returns."""
        if not self.is_held(value):
            return self._held(value, "callable")
        content = self._content(value.number)
        result = self._called(content) if content is not None else UNKNOWN
        if result is None or self.program.definition_of[value.number].kind != NodeKind.FIELD:
            return result
        return _found_by(RuleName.ATTRIBUTE_TYPE, result)

    def _marked(self, value: Value | None, marks: list[str]) -> Value | None:
        """What the marks on a part make of its value."""
        for mark in marks:
            if mark == "()":
                value = self._called(value)
            elif mark == "^":
                value = Value("items", -1, RuleName.CONSTRUCTED, parts=(value or BUILTIN, BUILTIN))
            elif mark in ("[]", "[k]"):
                value = self._held(value, "items", 0 if mark == "[]" else 1)
            elif mark == "!":
                made = self._called(value)
                value = (
                    made._replace(rule=RuleName.ANNOTATION) if made is not None and made.kind == "instance" else made
                )
            elif value is not None and value.kind == "results":
                position = int(mark[1:])
                value = value.parts[position] if position < len(value.parts) else UNKNOWN
            elif mark != ":0":
                value = BUILTIN  # whether there was a first result
        return value

    def _held(self, value: Value | None, shape: str, which: int = 0) -> Value | None:
        """What an item of a collection is, or what a function value returns. A generic definition is itself
        with types behind it."""
        if value is None or value.kind in ("external", "builtin"):
            return value
        if value.kind == shape:
            return value.parts[which]
        if value.kind == "definition":
            if not self.program.is_value(value.number):
                return value if shape == "items" else UNKNOWN
            held = self._held(self._content(value.number), shape, which)
            if held is None or self.program.definition_of[value.number].kind != NodeKind.FIELD:
                return held
            return _found_by(RuleName.ATTRIBUTE_TYPE, held)
        if value.kind == "instance":
            program = self.program
            file = program.file_of[value.number]
            position = value.number - program.files[file].first
            written = program.files[file].returns.get(position, "")
            if split_type(written)[0]:
                return self._held(self._declared(file, position, written, RuleName.ANNOTATION), shape, which)
        return UNKNOWN

    def _content(self, holder: int) -> Value | None:
        """What a constant or field holds; none where that leads back to it."""
        if holder in self._held_by or len(self._held_by) >= _DEEPEST:
            return None
        self._held_by.add(holder)
        content = self.held_by(holder)
        self._held_by.discard(holder)
        return content
