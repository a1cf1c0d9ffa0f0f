"""Methods that override or implement others.

In: a program whose bases are known. Out: pairs of methods with the rule that found them. Methods of bases are found
by name, those of traits by the block that they stand in, those of interfaces that nobody names by the set of methods.

A method overrides the nearest one of each base that has it, so that a chain of overriding methods is a chain of edges.
What nobody can override is left out: constructors, private and static methods, as the language's settings say. Where
functions of one name are told apart by their parameters, an overriding method has the same ones.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from causalist.graph.program.overloads import without_optional_marks
from causalist.graph.program.program import Program
from causalist.graph.relations.structural_types import StructuralTypes
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE
from causalist.model.language import LanguageSettings
from causalist.model.symbols import CALLABLE_KINDS, NodeKind

_WORD = re.compile(r"\w+")
_MANY_BASES = 20  # of one type: they are searched only for a name that another method has


class Override(NamedTuple):
    """Method that overrides or implements another, `base`; both are numbers of definitions."""

    method: int
    base: int
    rule: str


@dataclass(frozen=True, slots=True)
class OverrideFinder:
    """Finder of the methods of a program that override or implement others."""

    program: Program

    def find(
        self,
        blocks: Iterable[tuple[int, int, int]],
        by_method_set: Iterable[tuple[int, int]],
        only: Collection[int] | None = None,
    ) -> Iterator[Override]:
        """Yield all overrides, by rule, then by the number of the method.

        With `only`, at least those of methods in these files are found. `blocks` are (trait, first, end): the
        definitions of a block that implements a trait. `by_method_set` are (type, interface) where nobody says that one
        implements the other.
        """
        yield from self._overrides_of_bases(range(len(self.program.files)) if only is None else sorted(only))
        for trait, first, end in blocks:
            for method in range(first, end):
                base = self.program.find_own_member(trait, self.program.definition_of[method].name)
                if base >= 0 and base != method and self._is_callable(method) and self._is_callable(base):
                    yield Override(method, base, RuleName.TRAIT_METHOD)
        yield from self._overrides_of_method_sets(by_method_set)

    def _overrides_of_bases(self, files: Iterable[int]) -> Iterator[Override]:
        program = self.program
        tables = (program.files[each] for each in files)
        methods = (numbered for symbols in tables for numbered in enumerate(symbols.facts.definitions, symbols.first))
        for number, definition in methods:
            if definition.kind not in (NodeKind.METHOD, NodeKind.FUNCTION):
                continue
            settings = program.files[program.file_of[number]].settings
            owner = self._owner(number)
            if owner < 0 or settings is None or settings.types.structural or not program.bases_of(owner):
                continue
            if program.definition_of[owner].kind == NodeKind.TRAIT or self._is_never_overridden(number, settings):
                continue
            found: dict[int, int] = {}  # the method found -> the base that has it
            has_namesakes = len(program.methods.get(definition.name, ())) > 1
            for base in program.bases_of(owner):
                line = program.linear_bases(base)
                for each in line if has_namesakes or len(line) < _MANY_BASES else ():
                    method = self._overridden_in(number, each, settings) if each != owner else -1
                    if method >= 0:
                        found.setdefault(method, each)
                        break
            for method, base in found.items():
                # What a nearer method overrides itself is overridden through that one.
                nearer = (other for other in found.values() if other != base)
                if method != number and not any(base in program.linear_bases(other) for other in nearer):
                    yield Override(number, method, RuleName.BASE_METHOD)

    def _owner(self, number: int) -> int:
        """Return the type or constructor that a function is a method of; -1 for none and for functions in blocks."""
        parent = self.program.parent(number)
        if parent >= 0:
            return parent if self.program.is_type(parent) else -1
        if number in self.program.owner_of or "." not in self.program.definition_of[number].qualname:
            return -1
        owner = self.program.enclosing_owner(number)
        return owner if owner != number else -1

    def _is_never_overridden(self, number: int, settings: LanguageSettings) -> bool:
        """Return True for a method that cannot be overridden and overrides nothing."""
        definition = self.program.definition_of[number]
        if definition.name in settings.names.constructors:
            return True
        if settings.names.private and re.fullmatch(settings.names.private, definition.name):
            return True
        before = definition.signature.partition(definition.name)[0]
        return not set(settings.names.no_override_keywords).isdisjoint(_WORD.findall(before))

    def _overridden_in(self, number: int, base: int, settings: LanguageSettings) -> int:
        """Return the method of `base` itself that the method `number` overrides, or -1."""
        name = self.program.definition_of[number].name
        symbols = self.program.files[self.program.file_of[base]]
        same = symbols.callables.get(f"{self.program.definition_of[base].qualname}.{name}")
        if same is None or self.program.parameters.get(number) is None:
            found = self.program.find_own_member(base, name)
            return found if found >= 0 and self._is_overridable(found, settings) else -1
        fitting = [m for m in same if self._is_overridable(m, settings) and self._has_same_parameters(number, m)]
        own = without_optional_marks(self.program.parameters[number])
        chosen = [m for m in fitting if without_optional_marks(self.program.parameters[m]) == own] or fitting
        return chosen[0] if len(chosen) == 1 else -1

    def _is_overridable(self, number: int, settings: LanguageSettings) -> bool:
        return self._is_callable(number) and not self._is_never_overridden(number, settings)

    def _is_callable(self, number: int) -> bool:
        return self.program.definition_of[number].kind in CALLABLE_KINDS

    def _has_same_parameters(self, method: int, base: int) -> bool:
        """Return True if both take the same types; a type parameter of the base or its type matches any type."""
        own, others = (
            without_optional_marks(self.program.parameters[method]),
            without_optional_marks(self.program.parameters.get(base)),
        )
        if own is None or others is None or len(own) != len(others):
            return False
        return all(
            _last_name(a) == _last_name(b) or self._is_type_parameter(base, b) for a, b in zip(own, others, strict=True)
        )

    def _is_type_parameter(self, method: int, written: str) -> bool:
        symbols = self.program.files[self.program.file_of[method]]
        name = (_WORD.match(written) or [""])[0]
        scope = method - symbols.first
        while scope != MODULE_SCOPE:
            definition = symbols.facts.definitions[scope]
            binding = symbols.bindings.get(scope, {}).get(name)
            if binding is not None:
                return True
            scope = definition.parent
        return False

    def _overrides_of_method_sets(self, implemented: Iterable[tuple[int, int]]) -> Iterator[Override]:
        implemented = list(implemented)
        members = StructuralTypes(self.program).methods_of_types() if implemented else {}

        def all_methods(owner: int) -> dict[str, int]:
            methods: dict[str, int] = {}
            for base in self.program.linear_bases(owner):
                for name, method in members.get(base, {}).items():
                    methods.setdefault(name, method)
            return methods

        sets: dict[int, dict[str, int]] = {}
        for owner, interface in implemented:
            for each in (owner, interface):
                if each not in sets:
                    sets[each] = all_methods(each)
            for name, base in sets[interface].items():
                method = sets[owner].get(name, base)
                if method != base:
                    yield Override(method, base, RuleName.METHOD_SET)


def _last_name(written: str) -> str:
    """Return a type without the package or type that qualifies it."""
    return written.removesuffix("...").rpartition(".")[2] + ("..." if written.endswith("...") else "")
