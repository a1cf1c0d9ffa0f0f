"""What a name leads to."""

from typing import NamedTuple


class Resolution(NamedTuple):
    """What a name means: a definition, a file taken as a module, or something outside of the repository.

    `kind` is "definition", "module", "external" or "value" (what a chain of names gives at the top of a file); `number`
    a definition or file; `rule` how it was found; `name` the package of an external, or the chain of a value.
    """

    kind: str
    number: int
    rule: str
    name: str = ""


class Value(NamedTuple):
    """What a part of a chain is. `kind`: "definition", "instance" (of the type `number`), "many" (a collection of such
    instances), "super", "module", "dotted" (a package of which only longer names are modules), "external", "builtin"
    (of a type that no file defines), "local" (a variable that nothing is known of), "items", "callable" and "results"
    (which hold what `parts` says). `also` are further types that an instance has at the same time; `type` is the name
    of a type that is builtin or external."""

    kind: str
    number: int
    rule: str
    name: str = ""
    parts: "tuple[Value, ...]" = ()
    also: tuple[int, ...] = ()
    type: str = ""


UNKNOWN = Value("local", -1, "")
UNKNOWN_MEMBER = Value("unknown-member", -1, "")  # of a receiver that nothing is known of
BUILTIN = Value("builtin", -1, "")
HOLDERS = frozenset({"items", "mapping", "callable", "results"})  # kinds of values whose `parts` say what they hold


def value_of_resolution(found: Resolution, rule: str) -> Value:
    """Return the value of what a name means, found by `rule` unless that is empty."""
    return Value(found.kind, found.number, rule or found.rule, found.name)


def array_of(element: Value) -> Value:
    """Return an array of such values."""
    held = element if element.kind == "instance" or element.kind in HOLDERS else BUILTIN
    return Value("items", -1, element.rule, parts=(held, BUILTIN))
