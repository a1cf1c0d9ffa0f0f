"""Reads and writes of state: constants and variables of files, fields of types.

In: the facts' accesses, and what stands before the last name of calls and references. Out: definitions. A holder of
which nothing is known gives nothing; variants of enumerations are no state.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from causalist.graph.infer.inference import Inference
from causalist.graph.program import Program
from causalist.graph.rules import RuleName
from causalist.graph.values import Value, ValueKind
from causalist.model.facts import MODULE_SCOPE, Lookup
from causalist.model.language import LanguageSettings, LookupSettings
from causalist.model.symbols import CALLABLE_KINDS, NodeKind
from causalist.model.type_notation import split_calls, split_marks

_HOLDERS = frozenset(
    {ValueKind.INSTANCE, ValueKind.SUPER, ValueKind.DEFINITION, ValueKind.MODULE, ValueKind.PARTIAL_PACKAGE}
)
_FIRST_NAME = re.compile(r"\w+")


class AccessTarget(NamedTuple):
    """Definition that a part of a chain means. `is_last`: the part ends the chain."""

    definition: int
    rule: str
    is_last: bool


@dataclass(slots=True)
class AccessResolver:
    """State in all files of a program whose bases are known."""

    program: Program
    inference: Inference
    _used: dict[tuple[int, int, str, bool], tuple[AccessTarget, ...]] = field(default_factory=dict)

    def clear_cache(self) -> None:
        """Forget the cached targets of accesses."""
        self._used.clear()

    def find_targets(self, file: int, scope: int, chain: str, outer: bool = False) -> tuple[AccessTarget, ...]:
        """Return what the parts of a chain hold, from left to right, as far as it is known.

        With `outer` its first name means one of the file, whatever is bound around.
        """
        scope = self.inference.deciding_scope(file, scope, chain)
        key = file, scope, chain, outer
        cached = self._used.get(key)
        if cached is None:
            cached = self._used[key] = tuple(self._walk_chain(file, scope, chain, outer))
        return cached

    def find_function(self, file: int, scope: int, chain: str) -> AccessTarget | None:
        """Return the function or method that a whole chain denotes without a call, if known."""
        if "(" in chain or chain[:1] in "?<":
            return None
        settings = self.program.files[file].settings
        if settings is None or chain in settings.names.self_names or chain in settings.names.super_names:
            return None  # `super` alone stands for the constructor, and is what the next name belongs to
        value = self.inference.infer_chain(file, scope, chain)
        if value is None or value.kind is not ValueKind.DEFINITION:
            return None
        is_function = self.program.definition_of[value.number].kind in CALLABLE_KINDS
        return AccessTarget(value.number, value.rule, True) if is_function else None

    def _walk_chain(self, file: int, scope: int, chain: str, outer: bool) -> Iterator[AccessTarget]:
        settings = self.program.files[file].settings
        if settings is None or chain[:1] in "?<":
            return
        parts = chain.split(".")
        for i, part in enumerate(parts):
            name, marks = split_marks(part) if settings.types.prefixed else split_calls(part)
            if not name or name == "?":
                return
            if i == 0:
                access = self._find_bare_name(file, scope, name, settings, outer)
            else:
                holder = self._find_holder(file, scope, ".".join(parts[:i]))
                if holder is None:
                    return
                access = self._find_member(file, scope, holder, parts[:i], name)
            if access is not None:
                yield access._replace(is_last=i == len(parts) - 1)
            if marks:
                return  # what a call gives, or an element, is another thing

    def _find_bare_name(
        self, file: int, scope: int, name: str, settings: LanguageSettings, outer: bool
    ) -> AccessTarget | None:
        if name in settings.names.self_names or name in settings.names.super_names:
            return None
        if outer:
            number = self.program.files[file].by_qualname.get(name, -1)
            if number >= 0:
                return self._target_of_state(number, RuleName.SAME_FILE)
            target = self._target_of_value(self.inference.infer_chain(file, MODULE_SCOPE, name))
            if target is not None:
                return target
        return self._target_of_value(self.inference.infer_chain(file, scope, name))

    def _find_holder(self, file: int, scope: int, chain: str) -> Value | None:
        """Return the value of a chain that may hold something; None for what nothing is known of."""
        program = self.program
        holder = self.inference.infer_chain(file, scope, chain)
        if holder is None or holder.kind not in _HOLDERS:
            return None
        if holder.kind is not ValueKind.DEFINITION or program.is_type_like(holder.number):
            return holder
        if not program.is_value(holder.number):
            return None
        content = self.inference.content_of(holder.number)
        if content is None or content.kind is not ValueKind.INSTANCE:
            return None
        is_field = program.definition_of[holder.number].kind == NodeKind.FIELD
        return content._replace(rule=RuleName.ATTRIBUTE_TYPE) if is_field else content

    def _find_member(self, file: int, scope: int, holder: Value, before: list[str], name: str) -> AccessTarget | None:
        if holder.kind in (ValueKind.MODULE, ValueKind.PARTIAL_PACKAGE):
            return self._target_of_value(self.inference.infer_chain(file, scope, ".".join([*before, name])))
        for owner in (holder.number, *holder.also):
            target = self._find_in_type(
                owner, name, RuleName.CLASS_ATTRIBUTE if holder.kind is ValueKind.DEFINITION else holder.rule
            )
            if target is not None:
                return target
        return None

    def _find_in_type(self, owner: int, name: str, rule: str) -> AccessTarget | None:
        program = self.program
        number = program.find_hidden_field(owner, name)
        inherited = False
        if number < 0:
            number, inherited = program.find_member(owner, name)
        if inherited and rule == RuleName.SELF:
            rule = RuleName.INHERITED
        if number >= 0:
            return self._target_of_state(number, rule)
        return None

    def _target_of_value(self, value: Value | None) -> AccessTarget | None:
        return (
            self._target_of_state(value.number, value.rule)
            if value is not None and value.kind is ValueKind.DEFINITION
            else None
        )

    def _target_of_state(self, number: int, rule: str) -> AccessTarget | None:
        return AccessTarget(number, rule, False) if self.holds_state(number) else None

    def holds_state(self, number: int) -> bool:
        """Return True if a definition holds state; functions, types and enumeration variants do not."""
        program = self.program
        if not program.is_value(number):
            return False
        parent = program.parent(number)
        return parent < 0 or program.definition_of[parent].kind != NodeKind.ENUM


def matches_lookup(inference: Inference, file: int, lookup: Lookup, settings: LookupSettings) -> bool:
    """Return True if the receiver of a look-up by key matches `settings` and is not defined in the repository."""
    if not settings.modules and not settings.globals:
        return True
    head = lookup.head or _FIRST_NAME.findall(settings.word)[0]
    value = inference.infer_chain(file, lookup.scope, head)
    if value is None or value.kind is ValueKind.BUILTIN:
        return head in settings.globals
    return value.kind is ValueKind.EXTERNAL and (value.name in settings.modules or head in settings.globals)
