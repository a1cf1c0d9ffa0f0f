"""Choice among functions of one name of which a build compiles one, in languages with headers.

Such twins stand in branches of `#if`, or in files for platforms. Which one a build takes is not known, so that they
are one set: each shares the certainty that it is one of them, by the rule `build-variant`. What the code around a call
is compiled under decides as far as it can: a function behind `#ifdef A` calls no twin behind `#ifndef A`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.program import Program
from causalist.graph.rules import RuleName
from causalist.model.facts import NEVER, opposite_condition
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.type_notation import OPTIONAL, split_top

_CONSTANT_PARAMETER = re.compile(r"\bconst(?=\s+[\w:<>, ]+?\s*[*&]\s*(\w+))")
_CONSTANT = re.compile(r"(?:static\s+|inline\s+)*const(?:expr)?\b")
_CONSTANT_METHOD = re.compile(r"\)\s*const\b")
_MACROS = (NodeKind.MACRO, NodeKind.CONSTANT)

_Conditions = tuple[str, ...]
Meant = tuple[int, str, int]  # definition, rule, number of candidates


@dataclass(frozen=True, slots=True)
class TwinChooser:
    """Choice among functions of one name that differ by build, by `const` or by `&&`."""

    program: Program
    _conditions: dict[int, dict[int, _Conditions]] = field(default_factory=dict)  # file -> definition -> conditions
    _twins: dict[int, dict[int, list[int]]] = field(default_factory=dict)  # file -> definition -> twins in that file

    def choose(
        self, place: tuple[int, int], chain: str, functions: Sequence[int], values: str, rule: str
    ) -> list[Meant]:
        """Return what a call of `functions` means, with rules and numbers of candidates.

        `place` is the (file, scope) of the call, `rule` the one by which the name was resolved.
        """
        file, scope = place
        symbols = self.program.files[file]
        if symbols.settings is None or not symbols.settings.modules.headers:
            return [(each, rule, len(functions)) for each in functions]
        several = self._with_twins(functions)
        if len(several) > 1:
            several = self._compiled_at(file, scope, several)
        if len(several) == 1:
            if self._may_be_outside(file, scope, several[0]):
                return [(several[0], RuleName.BUILD_VARIANT, 2)]
            return [(several[0], rule, 1)]
        constants = [each for each in several if self._is_constant(each)]
        if constants and len(constants) < len(several):
            head = chain.partition(".")[0].partition("(")[0] if "." in chain else ""
            is_constant = self._has_constant_receiver(symbols, scope, head)
            fitting = [each for each in several if (each in constants) == is_constant]
            if is_constant is None or not self._are_exclusive(fitting):
                return _with_meant(several, fitting if is_constant is not None else [], rule)
            several = fitting
        if self._are_exclusive(several):
            return _as_variants(several)
        overloads = symbols.settings.names.has_overloads
        if overloads and len({self._shape(each) for each in several}) > 1:
            return _with_meant(several, [], rule)  # of which the arguments say which is meant
        moving = [each for each in several if "&&" in self.program.definition_of[each].signature]
        if moving and len(moving) < len(several):  # temporary objects are moved, named ones are not
            fitting = [each for each in several if (each in moving) == values.endswith(("()", ">"))]
            return _with_meant(several, fitting if values and "," not in values else [], rule)
        files = {self.program.file_of[each] for each in several}
        written = {"".join(self._parameter_text(each).split()) for each in several}
        if len(files) == 1 and overloads and (len(written) > 1 or all(map(self._is_template, several))):
            return _with_meant(several, [], rule)  # overloads that differ by more than their names tell
        included = self.program.packages.included
        near = included(file) if included is not None else frozenset[int]()
        seen = [each for each in several if self.program.file_of[each] in near]
        if len(seen) == 1 and not self._is_in_line_elsewhere(symbols, files):
            return _with_meant(several, seen, rule)
        return _as_variants(several)

    def _with_twins(self, functions: Sequence[int]) -> list[int]:
        """Return functions with what their files define by the same names in other branches of `#if`."""
        with_twins = dict.fromkeys(functions)
        for each in functions:
            file = self.program.file_of[each]
            if self.program.files[file].facts.conditions:
                with_twins.update(dict.fromkeys(self._twins_in(file).get(each, ())))
        return list(with_twins)

    def _twins_in(self, file: int) -> dict[int, list[int]]:
        twins = self._twins.get(file)
        if twins is None:
            twins = self._twins[file] = {}
            symbols, conditions = self.program.files[file], self._conditions_in(file)
            definitions, first = symbols.facts.definitions, symbols.first
            names = {definitions[number - first].qualname for number in conditions}
            several: dict[str, list[int]] = {}
            for i, definition in enumerate(definitions):
                if definition.qualname in names and (definition.kind in CALLABLE_KINDS or definition.kind in _MACROS):
                    several.setdefault(definition.qualname, []).append(first + i)
            for same in several.values():
                for function in same if len(same) > 1 else ():
                    own = conditions.get(function, ())
                    others = [other for other in same if are_exclusive(own, conditions.get(other, ()))]
                    others = [other for other in others if self._may_be_called(function, other)]
                    if others:
                        twins[function] = others
        return twins

    def _may_be_called(self, function: int, other: int) -> bool:
        """Return True if a call of a function may mean a twin of it, as far as their parameters tell."""
        kinds = {self.program.definition_of[each].kind for each in (function, other)}
        settings = self.program.files[self.program.file_of[function]].settings
        is_free = settings is None or not settings.names.has_overloads or not kinds.isdisjoint(_MACROS)
        return is_free or self._shape(function) == self._shape(other)

    def _conditions_in(self, file: int) -> dict[int, _Conditions]:
        conditions = self._conditions.get(file)
        if conditions is None:
            symbols = self.program.files[file]
            conditions = self._conditions[file] = {symbols.first + i: each for i, each in symbols.facts.conditions}
        return conditions

    def _conditions_of(self, function: int) -> _Conditions:
        return self._conditions_in(self.program.file_of[function]).get(function, ())

    def _conditions_at(self, file: int, scope: int) -> _Conditions:
        return self._conditions_in(file).get(self.program.files[file].first + scope, ()) if scope >= 0 else ()

    def _compiled_at(self, file: int, scope: int, functions: list[int]) -> list[int]:
        """Return the functions that may be compiled together with what a scope holds; all where none may."""
        own_conditions = self._conditions_at(file, scope)
        of = [self._conditions_of(each) for each in functions]
        return [
            each
            for each, conditions in zip(functions, of, strict=True)
            if NEVER not in conditions and not are_exclusive(conditions, own_conditions)
        ] or functions

    def _are_exclusive(self, functions: Sequence[int]) -> bool:
        """Return True if no build has all of the functions."""
        of = [self._conditions_of(each) for each in functions]
        return any(are_exclusive(a, b) for i, a in enumerate(of) for b in of[:i])

    def _may_be_outside(self, file: int, scope: int, function: int) -> bool:
        """Return True if the function stands in for one of the system, in builds for systems without it.

        It is behind a condition that the call is not behind. That denies its name, or it is a name of the system.
        """
        conditions, settings = self._conditions_of(function), self.program.files[file].settings
        if not conditions or settings is None:
            return False
        own_conditions = self._conditions_at(file, scope)
        open_ones = [each for each in conditions if each not in own_conditions]
        name = self.program.definition_of[function].name
        return bool(open_ones) and (
            name in settings.modules.system_names or any(_denies(each, name) for each in open_ones)
        )

    def _is_in_line_elsewhere(self, symbols: FileSymbols, files: Iterable[int]) -> bool:
        """Return True if a header has it in line for one kind of build, and its source defines it for another."""
        assert symbols.settings is not None
        included, endings = self.program.packages.included, symbols.settings.modules.headers
        in_line = {each for each in files if self.program.files[each].path.lower().endswith(endings)}
        return included is not None and any(in_line & included(each) for each in {*files} - in_line)

    def _is_constant(self, function: int) -> bool:
        return _CONSTANT_METHOD.search(self.program.definition_of[function].signature) is not None

    def _parameter_text(self, function: int) -> str:
        return self.program.definition_of[function].signature.partition("(")[2].rpartition(")")[0]

    def _is_template(self, function: int) -> bool:
        return self.program.definition_of[function].signature.startswith("template")

    def _has_constant_receiver(self, symbols: FileSymbols, scope: int, head: str) -> bool | None:
        """Return True if the function around declares the receiver constant, or is constant itself for its own.

        None for members in a constant function, which may be pointers.
        """
        signature = symbols.facts.definitions[scope].signature if scope >= 0 else ""
        is_constant = _CONSTANT_METHOD.search(signature) is not None
        if head in ("this", ""):
            return is_constant
        if head not in symbols.bindings.get(scope, {}):
            named = [each for each in symbols.facts.definitions if each.name == head]
            if variables := [each.signature for each in named if each.kind == NodeKind.CONSTANT]:
                return any(map(_CONSTANT.match, variables))
            if is_constant:
                return None
        return head in _CONSTANT_PARAMETER.findall(signature)

    def _shape(self, function: int) -> object:
        """Return the types of the parameters of a function, in languages without overloads their number."""
        parameters = self.program.parameters.get(function)
        if parameters is not None:
            return tuple(each.removesuffix(OPTIONAL) for each in parameters)
        inside = self._parameter_text(function)
        return len(split_top(inside, ",")) if inside.strip() not in ("", "void") else 0


def _with_meant(functions: list[int], chosen: list[int], rule: str) -> list[Meant]:
    """Return (function, rule, number of candidates) of each function; the number is 1 for the only one of `chosen`."""
    only = chosen[0] if len(chosen) == 1 else -1
    return [(each, rule, 1 if each == only else len(functions)) for each in functions]


def _as_variants(functions: list[int]) -> list[Meant]:
    return [(each, RuleName.BUILD_VARIANT, len(functions)) for each in functions]


@lru_cache(maxsize=1 << 12)
def are_exclusive(one: _Conditions, other: _Conditions) -> bool:
    """Return True if a condition of one denies a condition of the other, so that no build has both.

    >>> are_exclusive(("A", "B"), ("!A",)), are_exclusive(("A",), ("B",)), are_exclusive((), ("A",))
    (True, False, False)
    """
    return NEVER in one or NEVER in other or any(opposite_condition(each) in other for each in one)


def _denies(condition: str, name: str) -> bool:
    """Return True if a condition says that there is no `name`: `!strlcpy`, `!HAVE_STRLCPY`."""
    return any(word.lower() == name.lower() for word in re.findall(r"!(?:HAVE_|HAS_)?(\w+)", condition))
