"""What a part of a chain is, and values that hold others: collections, functions, several results.

The marks on a part of a chain say what is done with it: `()` it is called, `[]` an item is taken, `[k]` what a range
counts with, `:1` the second of several results, `^` it is put into a collection, `!` it is said to be of that type.
"""

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from causalist.graph.program.name_lookup import NameLookup
from causalist.graph.program.program import Program
from causalist.graph.rules import RuleName
from causalist.graph.values import BUILTIN, UNKNOWN, Value, ValueKind
from causalist.model.facts import Binding
from causalist.model.language import ShapeSettings, TypeSettings
from causalist.model.symbols import NodeKind
from causalist.model.type_notation import split_top

_MAX_HOLDERS = 6  # values that are held by one another
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


class InferenceBase(ABC):
    """Entry points of inference, which its parts call, and the effect of marks on values."""

    __slots__ = ()
    program: Program
    name_lookup: NameLookup
    derived_from_outside: set[int]  # types with a base that is not of the repository
    unfolding: set[object]  # aliases and bounds being followed: one may lead to itself
    _open_holders: set[int]  # constants and fields whose content is being looked into

    @property
    @abstractmethod
    def depth(self) -> int:
        """Number of chains that are being read, each for the sake of the one before."""

    @abstractmethod
    def infer_chain(self, file: int, scope: int, chain: str, called: str | None = None) -> Value | None:
        """Return the value of a chain."""

    @abstractmethod
    def follow_members(
        self, file: int, value: Value | None, parts: list[str], first: int, called: str | None = None
    ) -> Value | None:
        """Return the value of the chain `parts` if everything before its part number `first` is `value`."""

    @abstractmethod
    def lookup_name(
        self, file: int, scope: int, name: str, called: str | None = None, path: bool = False
    ) -> Value | None:
        """Return the value of a bare name."""

    @abstractmethod
    def assignments_of(self, owner: int, name: str) -> Sequence[tuple[int, Binding]]:
        """Return (file, binding) wherever a type is given an attribute."""

    @abstractmethod
    def default_export(self, module: Value) -> Value | None:
        """Return the value that a file puts in the place of its module."""

    @abstractmethod
    def infer_annotation(self, file: int, scope: int, name: str, rule: str) -> Value:
        """Return an instance of the type that an annotation names."""

    @abstractmethod
    def resolve_alias(self, definition: int) -> Value | None:
        """Return the type that another name is given to."""

    @abstractmethod
    def call_result(self, value: Value | None) -> Value | None:
        """Return what calling a value gives."""

    @abstractmethod
    def content_of(self, definition: int) -> Value | None:
        """Return the content of a constant or field."""

    def content_of_value(self, value: Value) -> Value | None:
        """Return the content of a constant, field or property; None of all else, and where that leads back to it."""
        kind = self.program.definition_of[value.number].kind
        if not (self.program.is_value(value.number) or kind == NodeKind.METHOD):
            return None
        return self._content_unless_open(value.number)

    def is_held(self, value: Value) -> bool:
        """True if a value is a constant or field, which holds another value."""
        return value.kind is ValueKind.DEFINITION and self.program.is_value(value.number)

    def result_of_held(self, value: Value) -> Value | None:
        """Return the result of calling a function that a constant, field or value holds."""
        if not self.is_held(value):
            return self._part_of(value, ValueKind.CALLABLE)
        content = self._content_unless_open(value.number)
        result = self.call_result(content) if content is not None else UNKNOWN
        if result is None or self.program.definition_of[value.number].kind != NodeKind.FIELD:
            return result
        return result.with_rule_throughout(RuleName.ATTRIBUTE_TYPE)

    def _apply_marks(self, value: Value | None, marks: list[str]) -> Value | None:
        """Return the value of a part of a chain after its marks, in their order."""
        for mark in marks:
            if mark == "()":
                value = self.call_result(value)
            elif mark == "^":
                value = Value(ValueKind.SEQUENCE, -1, RuleName.CONSTRUCTED, parts=(value or BUILTIN, BUILTIN))
            elif mark in ("[]", "[k]"):
                value = self._part_of(value, ValueKind.SEQUENCE, 0 if mark == "[]" else 1)
            elif mark == "!":
                made = self.call_result(value)
                value = (
                    made._replace(rule=RuleName.ANNOTATION)
                    if made is not None and made.kind is ValueKind.INSTANCE
                    else made
                )
            elif value is not None and value.kind is ValueKind.TUPLE:
                position = int(mark[1:])
                value = value.parts[position] if position < len(value.parts) else UNKNOWN
            elif mark != ":0":
                value = BUILTIN  # whether there was a first result
        return value

    def _part_of(self, value: Value | None, kind: ValueKind, which: int = 0) -> Value | None:
        """Return an item of a collection, or the result of a function value.

        A generic definition with types behind it is itself."""
        if value is None or value.kind in (ValueKind.EXTERNAL, ValueKind.BUILTIN):
            return value
        if value.kind is kind:
            return value.parts[which]
        if value.kind is ValueKind.DEFINITION:
            if not self.program.is_value(value.number):
                return value if kind is ValueKind.SEQUENCE else UNKNOWN
            held = self._part_of(self._content_unless_open(value.number), kind, which)
            if held is None or self.program.definition_of[value.number].kind != NodeKind.FIELD:
                return held
            return held.with_rule_throughout(RuleName.ATTRIBUTE_TYPE)
        if value.kind is ValueKind.INSTANCE:
            program = self.program
            file = program.file_of[value.number]
            position = value.number - program.files[file].first
            written = program.files[file].returns.get(position, "")
            if split_type(written)[0]:
                return self._part_of(self.infer_annotation(file, position, written, RuleName.ANNOTATION), kind, which)
        return UNKNOWN

    def _content_unless_open(self, holder: int) -> Value | None:
        """Return the content of a constant or field; None where that leads back to it."""
        if holder in self._open_holders or len(self._open_holders) >= _MAX_HOLDERS:
            return None
        self._open_holders.add(holder)
        content = self.content_of(holder)
        self._open_holders.discard(holder)
        return content
