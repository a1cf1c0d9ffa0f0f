"""Results of resolution and inference, the meaning of a name and the value of a chain, and how sure rules are of them.

The table of measured precision is given here unread: `index_version` hashes its bytes for each question, and `rules`
would cost more.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from causalist._internal.lazy import with_direct_members
from causalist.model.language_settings import LanguageSettings
from causalist.model.type_notation import Shape


@with_direct_members
class ResolutionKind(StrEnum):
    """Kinds of `Resolution`."""

    DEFINITION = "definition"
    MODULE = "module"
    EXTERNAL = "external"
    VALUE = "value"  # of a chain of names at the top of a file


@with_direct_members
class ValueKind(StrEnum):
    """Kinds of `Value`."""

    DEFINITION = "definition"
    INSTANCE = "instance"  # of the type `number`
    COLLECTION = "many"  # of instances of the type `number`
    SUPER = "super"
    MODULE = "module"
    PARTIAL_PACKAGE = "dotted"  # only longer names are modules
    EXTERNAL = "external"
    BUILTIN = "builtin"  # of a type that no file defines
    UNKNOWN = "local"  # a variable that nothing is known of
    UNKNOWN_MEMBER = "unknown-member"  # of a receiver that nothing is known of
    SEQUENCE = "items"  # `parts`: element, key
    MAPPING = "mapping"  # `parts`: value, key
    CALLABLE = "callable"  # `parts`: result
    TUPLE = "results"  # `parts`: one each
    UNION = "union"  # `parts`: one each
    RECORD = "record"  # `parts`: what the fields of a struct without a name hold
    OBJECT = "holder"  # an object literal, or the exports of a file
    CLASS = "class"  # `parts`: its instance


class Resolution(NamedTuple):
    """Meaning of a name: a definition, a file taken as a module, or something outside of the repository.

    `number` is a definition or file, `rule` the way it was found. `name` is the package of an external, or the chain of
    a value.
    """

    kind: ResolutionKind
    number: int
    rule: str
    name: str = ""


class Value(NamedTuple):
    """Inferred value of a part of a chain.

    `also` are further types that an instance has at the same time; `type` is the name of a type that is builtin or
    external.
    """

    kind: ValueKind
    number: int
    rule: str
    name: str = ""
    parts: "tuple[Value, ...]" = ()
    also: tuple[int, ...] = ()
    type: str = ""

    @staticmethod
    def union(values: "Iterable[Value | None]") -> "Value | None":
        """Return one of several values, in their order; of those from outside the first one stands for all."""
        members: list[Value] = []
        rest: Value | None = None
        for value in values:
            for part in value.parts if value is not None and value.kind is ValueKind.UNION else (value,):
                if part is None:
                    continue
                if part.kind not in KNOWN_KINDS:
                    if rest is None or rest.kind in (ValueKind.UNKNOWN, ValueKind.UNKNOWN_MEMBER):
                        rest = part
                    if part.kind in _FOREIGN_KINDS and not any(f.kind in _FOREIGN_KINDS for f in members):
                        members.append(part)
                elif len(members) <= _MAX_UNION_PARTS and not any(
                    (part.kind, part.number, part.parts) == (f.kind, f.number, f.parts) for f in members
                ):
                    members.append(part)
        if not any(each.kind in KNOWN_KINDS for each in members):
            return rest
        if len(members) == 1:
            return members[0]
        return Value(ValueKind.UNION, -1, members[0].rule, parts=tuple(members[:_MAX_UNION_PARTS]))

    def place_of(self, name: str) -> int:
        """Return the place of an item of a tuple, by its number, its name or as `Item1`; -1 where it has none."""
        numbered = name.removeprefix("Item")
        place = int(name) if name.isdigit() else int(numbered) - 1 if numbered.isdigit() and numbered != name else -1
        if place < 0 and name:
            names = self.name.split(",")
            place = names.index(name) if name in names else -1
        return place if place < len(self.parts) else -1

    def with_rule(self, rule: str) -> "Value":
        """Return instances and containers, with their parts, as found by another rule; other values as they are."""
        return self._with_rule_of_kinds(rule, _TYPED_KINDS)

    def with_definition_rule(self, rule: str) -> "Value":
        """Return functions and classes, or a union of such, as found by another rule; other values as they are."""
        return self._with_rule_of_kinds(rule, _DEFINITION_KINDS)

    def with_rule_throughout(self, rule: str) -> "Value":
        """Return the value and all its parts, of whatever kind, as found by another rule."""
        return self._replace(rule=rule, parts=tuple(part.with_rule_throughout(rule) for part in self.parts))

    def as_element_of_array(self) -> "Value":
        """Return an array of such values."""
        element = self if self.kind is ValueKind.INSTANCE or self.kind in HOLDERS else BUILTIN
        return Value(ValueKind.SEQUENCE, -1, self.rule, parts=(element, BUILTIN))

    def _with_rule_of_kinds(self, rule: str, kinds: frozenset[ValueKind]) -> "Value":
        if self.kind not in kinds:
            return self
        return self._replace(rule=rule, parts=tuple(part._with_rule_of_kinds(rule, kinds) for part in self.parts))


_MAX_UNION_PARTS = 8
QUERY = "query"  # `type` of a sequence that a library finds, and of a method of it, whose part it is
UNKNOWN = Value(ValueKind.UNKNOWN, -1, "")
UNKNOWN_MEMBER = Value(ValueKind.UNKNOWN_MEMBER, -1, "")  # of a receiver that nothing is known of
BUILTIN = Value(ValueKind.BUILTIN, -1, "")
# Kinds of values whose `parts` say what they hold.
HOLDERS = frozenset({ValueKind.SEQUENCE, ValueKind.MAPPING, ValueKind.CALLABLE, ValueKind.TUPLE})
# Kinds of values in which members can be looked up.
KNOWN_KINDS = frozenset(
    {ValueKind.DEFINITION, ValueKind.INSTANCE, ValueKind.MODULE, ValueKind.PARTIAL_PACKAGE, ValueKind.SUPER, *HOLDERS}
)
_VALUE_KINDS = {
    ResolutionKind.DEFINITION: ValueKind.DEFINITION,
    ResolutionKind.MODULE: ValueKind.MODULE,
    ResolutionKind.EXTERNAL: ValueKind.EXTERNAL,
}
KIND_OF_SHAPE = {
    Shape.UNION: ValueKind.UNION,
    Shape.CLASS: ValueKind.CLASS,
    Shape.MAPPING: ValueKind.MAPPING,
    Shape.SEQUENCE: ValueKind.SEQUENCE,
    Shape.CALLABLE: ValueKind.CALLABLE,
    Shape.RECORD: ValueKind.RECORD,
    Shape.TUPLE: ValueKind.TUPLE,
}
RESOLUTION_KINDS = {kind: resolution for resolution, kind in _VALUE_KINDS.items()}
_FOREIGN_KINDS = frozenset({ValueKind.EXTERNAL, ValueKind.BUILTIN})
_TYPED_KINDS = frozenset({ValueKind.INSTANCE, ValueKind.UNION, *HOLDERS})
_DEFINITION_KINDS = frozenset({ValueKind.DEFINITION, ValueKind.UNION})


def value_of_resolution(resolution: Resolution, rule: str) -> Value:
    """Return the value of what a name means, found by `rule` unless that is empty."""
    return Value(_VALUE_KINDS[resolution.kind], resolution.number, rule or resolution.rule, resolution.name)


class ModuleKey(NamedTuple):
    """A module: the file in which it begins, "" for a package, and its names from there, joined by dots."""

    root: str
    name: str


class Meaning(NamedTuple):
    """Meaning of a name: definitions of one name in a module, a module, or something from outside."""

    definitions: tuple[int, ...] = ()
    module: ModuleKey | None = None  # that has them, or that is meant
    rule: str = "package-scope"
    outside: str = ""


class ArgumentType(NamedTuple):
    """Type of an argument: its number in the repository, or -1 and its name."""

    number: int
    name: str


def split_call(part: str) -> tuple[str, int]:
    """Return the name that a chain ends with and, if that is called, the number of arguments; -1 where not known.

    >>> split_call("a.f(2)"), split_call("f()"), split_call("f(*)"), split_call("a.b")
    (('a.f', 2), ('f', -1), ('f', -1), ('a.b', -1))
    """
    name, _, given = part.rpartition("(") if part.endswith(")") else (part, "", "")
    return name, int(given[:-1]) if given[:-1].isdigit() else -1


class MethodFit(NamedTuple):
    """Fit of a method to arguments: its distance; True if only some values of their types fit, or that is unknown."""

    distance: int
    is_narrower: bool = False
    is_unknown: bool = False
    is_own: bool = False  # a type of the repository says that it is meant


def callable_parts(value: Value, settings: LanguageSettings, method: str) -> tuple[list[Value], int]:
    """Return (definitions that a call of one of several values may run, number of possible ones).

    An external or builtin value is possible if it may have the method.
    """
    callables: list[Value] = []
    n_others = 0
    for part in value.parts:
        if part.kind is ValueKind.DEFINITION:
            callables.append(part)
        elif callables:
            continue
        elif part.kind is ValueKind.EXTERNAL or (part.kind is ValueKind.BUILTIN and method in settings.builtin_methods):
            n_others = 1
    return callables, len(callables) + n_others
