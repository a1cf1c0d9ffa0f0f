"""What a name leads to."""

from collections.abc import Iterable
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

    @staticmethod
    def union(values: "Iterable[Value | None]") -> "Value | None":
        """Return one of several values, in their order; of those from outside the first one stands for all."""
        found: list[Value] = []
        rest: Value | None = None
        for value in values:
            for each in value.parts if value is not None and value.kind == "union" else (value,):
                if each is None:
                    continue
                if each.kind not in KNOWN_KINDS:
                    if rest is None or rest.kind in ("local", "unknown-member"):
                        rest = each
                    if each.kind in _FOREIGN_KINDS and not any(f.kind in _FOREIGN_KINDS for f in found):
                        found.append(each)
                elif not any((each.kind, each.number, each.parts) == (f.kind, f.number, f.parts) for f in found):
                    found.append(each)
        if not any(each.kind in KNOWN_KINDS for each in found):
            return rest
        if len(found) == 1:
            return found[0]
        return Value("union", -1, found[0].rule, parts=tuple(found[:_MAX_UNION_PARTS]))

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
        element = self if self.kind == "instance" or self.kind in HOLDERS else BUILTIN
        return Value("items", -1, self.rule, parts=(element, BUILTIN))

    def _with_rule_of_kinds(self, rule: str, kinds: frozenset[str]) -> "Value":
        if self.kind not in kinds:
            return self
        return self._replace(rule=rule, parts=tuple(part._with_rule_of_kinds(rule, kinds) for part in self.parts))


_MAX_UNION_PARTS = 8
UNKNOWN = Value("local", -1, "")
UNKNOWN_MEMBER = Value("unknown-member", -1, "")  # of a receiver that nothing is known of
BUILTIN = Value("builtin", -1, "")
HOLDERS = frozenset({"items", "mapping", "callable", "results"})  # kinds of values whose `parts` say what they hold
KNOWN_KINDS = frozenset({"definition", "instance", "module", "dotted", "super", *HOLDERS})  # members can be looked up
_FOREIGN_KINDS = frozenset({"external", "builtin"})
_TYPED_KINDS = frozenset({"instance", "union", *HOLDERS})
_DEFINITION_KINDS = frozenset({"definition", "union"})


def value_of_resolution(found: Resolution, rule: str) -> Value:
    """Return the value of what a name means, found by `rule` unless that is empty."""
    return Value(found.kind, found.number, rule or found.rule, found.name)
