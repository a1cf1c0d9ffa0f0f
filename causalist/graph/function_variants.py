"""Choice among functions that one name means: twins of which a build compiles one, and procedures of a generic name.

A generic name stands for several procedures, of which a call means the one that takes its arguments, by their declared
types. Where that is not known, the call means the generic name.

Twins, in languages with headers, stand in branches of `#if`, or in files for platforms. Which one a build takes is not
known, so that they are one set: each shares the certainty that it is one of them, by the rule `build-variant`. What the
code around a call is compiled under decides as far as it can: a function behind `#ifdef A` calls no twin behind
`#ifndef A`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.infer.inference import Inference
from causalist.graph.overload_fit import best_overloads, is_constant_method
from causalist.graph.program import Program
from causalist.graph.resolution_results import UNKNOWN, Value, ValueKind
from causalist.graph.rules import MAX_CANDIDATES, RuleName
from causalist.model.facts import MODULE_SCOPE, NEVER, UNCOUNTED, ArgumentKind, opposite_condition
from causalist.model.language_settings import NameSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.type_notation import OPTIONAL, UNCHANGED, bytes_of_kind, split_top

_CONSTANT_PARAMETER = lazy_regex(r"(?<![*&])(?<![*&]\s)\bconst(?=(?:\s+[\w:<>, ]+?)?\s*[*&]\s*(\w+))")
_CONSTANT = lazy_regex(r"(?:static\s+|inline\s+)*(?:const(?:expr)?\b|[\w:]+(?:<[^<>]*>)?\s+const\b)")
_POINTING = lazy_regex(r"[*&]|(?:ptr|Ptr|Ref|iterator)\b|\bmutable\b")
_WRAPPING = lazy_regex(r"(?:ptr|Ptr|Ref)\b")
_SPECIAL = lazy_regex(r"template\s*<\s*>\s*(?:class|struct)\b")
_LIBRARY = "std."
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
        self, place: tuple[int, int], chain: str, functions: Sequence[int], given: tuple[str, str], rule: str
    ) -> list[Meant]:
        """Return what a call of `functions` means, with rules and numbers of candidates.

        `place` is the (file, scope) of the call, `given` its arguments and values as `Call` has them, `rule` the one by
        which the name was resolved.
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
            is_constant = self._has_constant_receiver(place, head, chain.count("."))
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
            is_moved = _is_temporary(*given, self._moved_place(moving[0])) if len(moving) == 1 else None
            fitting = [each for each in several if (each in moving) == is_moved]
            return _with_meant(several, fitting if is_moved is not None else [], rule)
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

    def filter_of(self, definition: int, arguments: str) -> Callable[[Sequence[int]], Sequence[int]] | None:
        """Return a filter that keeps, of functions of one name, those that a call may mean by its arguments.

        Where types convert, they are those with the parameters of `definition`, which was chosen among overloads.
        """
        program = self.program
        settings = program.files[program.file_of[definition]].settings
        if settings is None or not settings.names.has_overloads:
            return None
        literals, kinds = program.literals[settings.name], program.definition_of
        converts = bool(settings.modules.headers)

        def keep(several: Sequence[int]) -> Sequence[int]:
            several = [each for each in several if kinds[each].kind in CALLABLE_KINDS] or several
            if converts and (shape := self._plain_shape(definition)) is not None:
                return [each for each in several if self._plain_shape(each) == shape]
            return best_overloads(several, program.parameters, arguments, literals)

        return keep

    def _plain_shape(self, function: int) -> object:
        """Return the types of parameters by their last names, as they are where a namespace is open."""
        parameters = self.program.parameters.get(function)
        return parameters and [each.removesuffix(OPTIONAL).rpartition(".")[2] for each in parameters]

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
                    alike = [other for other in others if self._may_be_called(function, other)]
                    others = alike or [other for other in others if self._takes_as_many(function, other)]
                    if others:
                        twins[function] = others
        return twins

    def _may_be_called(self, function: int, other: int) -> bool:
        """Return True if a call of a function may mean a twin of it, as far as their parameters tell."""
        kinds = {self.program.definition_of[each].kind for each in (function, other)}
        settings = self.program.files[self.program.file_of[function]].settings
        is_free = settings is None or not settings.names.has_overloads or not kinds.isdisjoint(_MACROS)
        return is_free or self._shape(function) == self._shape(other)

    def _takes_as_many(self, function: int, other: int) -> bool:
        """Return True if two functions take the same number of arguments, of whatever types."""
        own, others = (self.program.parameters.get(each) for each in (function, other))
        return own is not None and others is not None and len(own) == len(others) > 0

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

    def choose_in_branches(self, value: Value, arguments: str) -> list[Meant]:
        """Return what a call means where the type of its receiver differs between branches of `#if`."""
        program, definitions = self.program, [each.number for each in value.parts if each.kind is ValueKind.DEFINITION]
        callables = [each for each in definitions if program.definition_of[each].kind in CALLABLE_KINDS]
        functions = [each for number in callables for each in program.select_overloads(number, arguments)]
        n = len(functions) + len(value.parts) - len(definitions)
        return [(each, RuleName.BUILD_VARIANT, n) for each in functions] if n <= MAX_CANDIDATES else []

    def is_of_library(self, function: int) -> bool:
        """Return True for an overload of what the library has, or a type that is it for some arguments.

        Which arguments a call gives a template is not known here; mostly those of the library.
        """
        definition = self.program.definition_of[function]
        is_part = definition.kind == NodeKind.FUNCTION or bool(_SPECIAL.match(definition.signature))
        return definition.qualname.startswith(_LIBRARY) and is_part

    def _may_be_outside(self, file: int, scope: int, function: int) -> bool:
        """Return True if the function stands in for one of the system, in builds for systems without it.

        It is behind a condition that the call is not behind. That denies its name, or it is a name of the system. Of a
        type there is no other.
        """
        conditions, settings = self._conditions_of(function), self.program.files[file].settings
        if not conditions or settings is None:
            return False
        own_conditions = self._conditions_at(file, scope)
        open_ones = [each for each in conditions if each not in own_conditions]
        name, kind = self.program.definition_of[function].name, self.program.definition_of[function].kind
        return (
            bool(open_ones)
            and kind != NodeKind.METHOD
            and (name in settings.modules.system_names or any(_denies(each, name) for each in open_ones))
        )

    def _is_in_line_elsewhere(self, symbols: FileSymbols, files: Iterable[int]) -> bool:
        """Return True if a header has it in line for one kind of build, and its source defines it for another."""
        assert symbols.settings is not None
        included, endings = self.program.packages.included, symbols.settings.modules.headers
        in_line = {each for each in files if self.program.files[each].path.lower().endswith(endings)}
        return included is not None and any(in_line & included(each) for each in {*files} - in_line)

    def _is_constant(self, function: int) -> bool:
        return is_constant_method(self.program.definition_of[function].signature)

    def _parameter_text(self, function: int) -> str:
        return self.program.definition_of[function].signature.partition("(")[2].rpartition(")")[0]

    def _is_template(self, function: int) -> bool:
        return self.program.definition_of[function].signature.startswith("template")

    def _has_constant_receiver(self, place: tuple[int, int], head: str, n_members: int) -> bool | None:
        """Return True if the function around declares the receiver constant, or is constant itself for its own.

        A member that is no pointer is constant in a constant function; None for others there. `n_members` counts what
        follows the receiver.
        """
        program, (file, scope) = self.program, place
        symbols = program.files[file]
        signature = symbols.facts.definitions[scope].signature if scope >= 0 else ""
        is_constant = is_constant_method(signature)
        if head in ("this", ""):
            return is_constant
        own = symbols.bindings.get(scope, {})
        if head in own:
            return f"{UNCHANGED}{head}" in own or head in _CONSTANT_PARAMETER.findall(signature)
        variables = [
            each.signature for each in symbols.facts.definitions if each.name == head and each.kind == NodeKind.CONSTANT
        ]
        if variables:
            return any(map(_CONSTANT.match, variables))
        number = symbols.first + scope
        owner = program.owner_of.get(number, program.parent(number)) if scope >= 0 and n_members == 1 else -1
        member = program.find_member(owner, head)[0] if owner >= 0 and program.is_type(owner) else -1
        if member >= 0 and program.definition_of[member].kind == NodeKind.FIELD:
            written = program.definition_of[member].signature
            if _CONSTANT.match(written) and not _WRAPPING.search(written):
                return True
            return True if is_constant and not _POINTING.search(written) else None if is_constant else False
        return None if is_constant else head in _CONSTANT_PARAMETER.findall(signature)

    def _moved_place(self, function: int) -> int:
        """Return the position of the only parameter that takes what is moved; -1 for none, and for what fits all."""
        signature = self.program.definition_of[function].signature
        places = [i for i, each in enumerate(split_top(self._parameter_text(function), ",")) if "&&" in each]
        return places[0] if len(places) == 1 and not signature.startswith("template") else -1

    def _shape(self, function: int) -> object:
        """Return the types of the parameters of a function, in languages without overloads their number."""
        parameters = self.program.parameters.get(function)
        if parameters is not None:
            return tuple(each.removesuffix(OPTIONAL) for each in parameters)
        inside = self._parameter_text(function)
        return len(split_top(inside, ",")) if inside.strip() not in ("", "void") else 0


def _is_temporary(arguments: str, values: str, position: int) -> bool | None:
    """Return True if the argument at a position is a temporary object, False if it has a name; None if not known.

    >>> [_is_temporary(*each, 0) for each in (("s", ""), ("?", "a.b"), ("?", "f()"), ("?", ""), ("", ""))]
    [True, False, True, None, None]
    """
    if not 0 <= position < len(arguments):
        return None
    if arguments[position] != ArgumentKind.OTHER:
        return True
    given = values.split(",") if values else []
    place = arguments[:position].count(ArgumentKind.OTHER)
    value = given[place] if place < len(given) else ""
    return value.endswith(("()", ">")) if value and not value.isupper() else None  # a macro stands for anything


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


@dataclass(frozen=True, slots=True)
class SpecificProcedures:
    """Procedures that other names stand for, and the choice of one by the arguments of a call."""

    inference: Inference
    _known: dict[tuple[int, int], list[tuple[int, bool]]] = field(default_factory=dict)

    def find(self, number: int, receiver: int = -1) -> list[tuple[int, bool]]:
        """Return the procedures that the name of a definition stands for, itself if it is one.

        With each comes True if it gets the object that it is called on. That has the type `receiver`, which may have
        its own procedures where the definition belongs to a base; or -1.
        """
        if (stored := self._known.get((number, receiver))) is not None:
            return stored
        program = self.inference.program
        self._known[number, receiver] = []  # a cycle of names ends here
        file, owner = program.file_of[number], program.parent(number)
        symbols, is_member = program.files[file], owner >= 0 and program.is_type(owner)
        written = symbols.specifics.get(program.definition_of[number].qualname)
        if written and _WITH_BODY.match(program.definition_of[number].signature):
            written = None  # a procedure with the name of the generic one
        procedures: dict[tuple[int, bool], None] = {}
        scope = program.parent(owner) if is_member else owner
        for each in written or ():
            name = each.lstrip("-.=")
            if each.startswith("="):  # declared to be like another
                procedures[number, True] = None
                continue
            if each.startswith("."):
                member, _ = program.find_member(receiver if receiver >= 0 else owner, name)
                procedures.update(dict.fromkeys(self.find(member) if member >= 0 else ()))
                continue
            value = self.inference.infer_chain(file, scope - symbols.first if scope >= 0 else MODULE_SCOPE, name)
            if value is None or value.kind is not ValueKind.DEFINITION:
                continue
            is_passed = is_member and not each.startswith("-")
            procedure = value.number if value.number != number else self._namesake(number)
            procedures.update(((each, is_passed), None) for each, _ in (self.find(procedure) if procedure >= 0 else ()))
        self._known[number, receiver] = list(procedures) if written else [(number, False)]
        return self._known[number, receiver]

    def _namesake(self, number: int) -> int:
        """Return the procedure that has the name of the generic one that stands for it, or -1."""
        program = self.inference.program
        symbols, generic = program.files[program.file_of[number]], program.definition_of[number]
        same = (
            i for i, d in enumerate(symbols.facts.definitions) if d.qualname == generic.qualname and d is not generic
        )
        return symbols.first + next(same, -1 - symbols.first)

    def choose(self, place: tuple[int, int], number: int, arguments: str, values: str, chain: str = "") -> list[int]:
        """Return the procedure that a call of a definition by its name runs; the definition where that is not known.

        `place` is the (file, scope) of the call, `arguments`, `values` and `chain` are as `Call` has them. None is
        returned where the name is also one of the language, which is not known to mean one of the procedures.
        """
        receiver = self._type_of_receiver(place, chain)
        several = self.find(number, receiver)
        if several and several[0][0] != number:  # procedures of the same name elsewhere are its own as well
            passed = self._others(place, number)
            several = list(dict.fromkeys(each for other in (number, *passed) for each in self.find(other, receiver)))
            is_doubtful = not chain.rpartition(".")[0] and self._is_of_language(number)
        else:
            is_doubtful = False
        if not is_doubtful and (len(several) < 2 or arguments == UNCOUNTED):
            return [several[0][0] if len(several) == 1 else number]
        given = [
            self._type_of_argument(place, each) for each in (values.split(",") if values else [""] * len(arguments))
        ]
        distances = [(self._distance(each, given, is_passed), each) for each, is_passed in several]
        possible = [(far, each) for far, each in distances if far is not None]
        nearest = min((far for far, _ in possible), default=0)
        best = [each for far, each in possible if far == nearest]
        if is_doubtful and (len(best) != 1 or not given or given[0][1] is None):
            return []
        return best if len(best) == 1 else [number]

    def _type_of_receiver(self, place: tuple[int, int], chain: str) -> int:
        """Return the type of what a chain calls a member of, or -1."""
        head = chain.rpartition(".")[0]
        value = self.inference.infer_chain(*place, head) if head else None
        return value.number if value is not None and value.kind is ValueKind.INSTANCE else -1

    def _is_of_language(self, number: int) -> bool:
        settings = self.inference.program.files[self.inference.program.file_of[number]].settings
        return (
            settings is not None and self.inference.program.definition_of[number].name in settings.modules.system_names
        )

    def _others(self, place: tuple[int, int], number: int) -> Sequence[int]:
        """Return the definitions that add procedures to a generic name: of types above, or of modules in sight."""
        program = self.inference.program
        name, owner = program.definition_of[number].name, program.parent(number)
        if owner >= 0 and program.is_type(owner):
            above = [program.find_own_member(each, name) for each in program.linear_bases(owner)[1:]]
            return [each for each in above if each >= 0 and len(self.find(each)) > 1 < len(self.find(number))]
        return self.inference.name_lookup.find_passed(*place, name)

    def _distance(self, function: int, given: Sequence[tuple[str, "_Declared | None"]], is_passed: bool) -> int | None:
        """Return the distance of the parameters of a procedure from arguments with names; None if it takes them not."""
        program = self.inference.program
        place = (program.file_of[function], function - program.files[program.file_of[function]].first)
        declared = self._like(function)
        if declared != function:
            place = (program.file_of[declared], declared - program.files[program.file_of[declared]].first)
        taken = [each.partition(":")[::2] for each in program.parameters.get(declared, ())][is_passed:]
        open_ = dict(taken)
        is_elemental = _ELEMENTAL.search(program.definition_of[declared].signature) is not None
        total = 0
        for position, (name, argument) in enumerate(given):
            name = name or (taken[position][0] if position < len(taken) else "")
            type_ = open_.pop(name, None)
            if type_ is None:
                return None
            wanted = self._declared_type(place, type_.removesuffix(OPTIONAL))
            if is_elemental and wanted is not None and argument is not None and wanted.rank == 0 < argument.rank:
                argument, total = argument._replace(rank=0), total + 1
            far = self._distance_of(wanted, argument)
            if far is None:
                return None
            total += far
        return None if any(not type_.endswith(OPTIONAL) for type_ in open_.values()) else total

    def _like(self, function: int) -> int:
        """Return the procedure whose parameters one has that a type only declares, or itself."""
        program = self.inference.program
        symbols = program.files[program.file_of[function]]
        written = symbols.specifics.get(program.definition_of[function].qualname, ("",))[0]
        if not written.startswith("="):
            return function
        around = program.parent(program.parent(function)) - symbols.first
        value = self.inference.infer_chain(program.file_of[function], max(around, MODULE_SCOPE), written[1:])
        return value.number if value is not None and value.kind is ValueKind.DEFINITION else function

    def _distance_of(self, taken: "_Declared | None", given: "_Declared | None") -> int | None:
        if taken is None or given is None:
            return 1
        if taken.base == _ANY_CLASS:
            if given.rank == _ELEMENT:
                return _ANYTHING + (_OF_SECTION if taken.rank else 0)
            return _ANYTHING if taken.rank == given.rank else None
        far = 0
        if taken.number != given.number:
            bases = self.inference.program.linear_bases(given.number) if given.number >= 0 else ()
            if taken.number not in bases:
                return None
            far = bases.index(taken.number)
        if taken.number < 0 and taken.base != given.base:
            return None
        if taken.rank != max(given.rank, 0) and taken.base:
            if given.rank != _ELEMENT:
                return None
            far += _OF_SECTION
        if taken.kind != given.kind:
            if taken.kind.isdigit() and given.kind.isdigit():
                return None
            far += 1
        return far

    def _type_of_argument(self, place: tuple[int, int], value: str) -> tuple[str, "_Declared | None"]:
        """Return (name of the parameter or "", type) of an argument."""
        if made := _MADE.fullmatch(value):
            types = [self._type_of_argument(place, each)[1] for each in split_top(made[2], ";")]
            return "", _type_of_made(made[1], types)
        if applied := _APPLIED.fullmatch(value):
            declared = self._type_of_call(place, *applied.groups())
            if declared is not None:
                return "", declared
            value = f"{applied[1]}()"
        name, named, rest = value.partition("=")
        if named and name:
            return name, self._type_of_argument(place, rest)[1]
        if named:
            return "", self._declared_type(place, rest)
        chain, section, rank = value.partition(":")
        bare = chain.removesuffix("()")
        if chain in _UNITS:
            return "", _Declared("integer", bytes_of_kind(""), 0, -1)
        typed = self._find_written(*place, bare, chain != bare) if chain else None
        declared = self._declared_type(*typed) if typed is not None else None
        if declared is None:
            return "", None
        if section:  # of a text, it is a part of that
            return "", declared._replace(rank=int(rank)) if declared.rank or bare != chain else declared
        return "", declared._replace(rank=_ELEMENT) if chain != bare and declared.rank > 0 else declared

    def _type_of_call(self, place: tuple[int, int], name: str, inside: str) -> "_Declared | None":
        """Return the type of what a call of a function by its name gives, which may be a generic name."""
        program, (file, scope) = self.inference.program, place
        while scope != MODULE_SCOPE:  # an element of an array is written alike
            if name in program.files[file].bindings.get(scope, {}):
                return None
            scope = program.files[file].facts.definitions[scope].parent
        value = self.inference.infer_chain(*place, name)
        if value is None or value.kind is not ValueKind.DEFINITION or program.is_value(value.number):
            return None
        if program.is_type(value.number):
            return _Declared(name, "", 0, value.number)
        given = split_top(inside, ";")
        chosen = self.choose(place, value.number, "?" * len(given), ",".join(given))
        written = self._return_type(chosen[0])
        if len(chosen) != 1 or len(self.find(chosen[0])) > 1 or not written:
            return None
        file = program.file_of[chosen[0]]
        declared = self._declared_type((file, chosen[0] - program.files[file].first), written)
        if declared is None or not _ELEMENTAL.search(program.definition_of[chosen[0]].signature):
            return declared
        types = [self._type_of_argument(place, each)[1] for each in given]
        return declared._replace(rank=max((each.rank for each in types if each is not None), default=0))

    def _declared_type(self, place: tuple[int, int], written: str) -> "_Declared | None":
        """Return the type that is written in a file and scope."""
        if (matched := _WRITTEN.fullmatch(written)) is None:
            return None
        base, kind, rank = matched["base"], matched["kind"] or "", int(matched["rank"] or 0)
        if base in _INTRINSIC:
            return _Declared(base, self._kind(place, kind) if base != "character" else kind, rank, -1)
        value = self.inference.infer_chain(*place, base) if base != _ANY_CLASS else None
        is_type = value is not None and value.kind is ValueKind.DEFINITION
        return _Declared(base, "", rank, self.inference.program.as_type(value.number) if is_type and value else -1)

    def _find_written(self, file: int, scope: int, chain: str, is_called: bool) -> tuple[tuple[int, int], str] | None:
        """Return the type that a chain has or gives, after the (file, scope) in which it is written."""
        program = self.inference.program
        symbols, at = program.files[file], scope
        while "." not in chain and at != MODULE_SCOPE:
            binding = symbols.bindings.get(at, {}).get(chain)
            if binding is not None:
                return ((file, at), binding.value[1:]) if binding.value.startswith("=") else None
            at = symbols.facts.definitions[at].parent
        value = self.inference.infer_chain(file, scope, chain)
        if value is None or value.kind is not ValueKind.DEFINITION:
            return None
        several = self.find(value.number)
        number = several[0][0] if several else value.number
        definition, file = program.definition_of[number], program.file_of[number]
        symbols = program.files[file]
        if not program.is_value(number):
            if not is_called and "." not in chain:
                return (file, scope), _PROCEDURE  # which is handed on
            written = {self._return_type(each) for each, _ in several}
            return ((file, number - symbols.first), written.pop()) if len(written) == 1 else None
        for name in (definition.name, f".{definition.name}"):
            binding = symbols.bindings.get(definition.parent, {}).get(name)
            if binding is not None and binding.value.startswith("="):
                return (file, definition.parent), binding.value[1:]
        return None

    def _outside_name(self, file: int, scope: int, name: str) -> str:
        """Return the name that a name from outside has there, or itself."""
        symbols = self.inference.program.files[file]
        while True:
            entry = symbols.imports.get(scope, {}).get(name)
            if entry is not None or scope == MODULE_SCOPE:
                return entry.name if entry is not None else name
            scope = symbols.facts.definitions[scope].parent

    def _return_type(self, function: int) -> str:
        symbols = self.inference.program.files[self.inference.program.file_of[function]]
        return symbols.returns.get(function - symbols.first, "")

    def _kind(self, place: tuple[int, int], written: str) -> str:
        """Return the number of bytes of a kind, or its name where that is not known."""
        for _ in range(_MAX_STEPS):
            known = bytes_of_kind(written)
            if known or not written.isidentifier():
                return known or written
            program = self.inference.program
            value = self.inference.infer_chain(*place, written)
            if value is None or value.kind is not ValueKind.DEFINITION:
                written = self._outside_name(*place, written)
                break
            file = program.file_of[value.number]
            place = file, program.definition_of[value.number].parent
            signature = program.definition_of[value.number].signature.lower()
            written = "".join(signature.partition("=")[2].split()) or written
        return bytes_of_kind(written) or written


class _Declared(NamedTuple):
    """Declared type: its name, kind and rank (or `_ELEMENT`), and its number in the repository, or -1."""

    base: str
    kind: str
    rank: int
    number: int


_APPLIED = lazy_regex(r"(\w+)\((.+)\)")  # a call with what it is given
_WITH_BODY = lazy_regex(r"(?i)(?:[^!'\"]*\s)?(?:subroutine|function)\s+\w")
_ELEMENTAL = lazy_regex(r"\belemental\b", re.IGNORECASE)  # takes arrays as well
_ELEMENT = -1  # rank of what is taken from an array by places: 0, but for a section that a list of places makes
_OF_SECTION = 3
_ANY_CLASS = "*"
_UNITS = frozenset({"error_unit", "input_unit", "output_unit"})  # numbers of open files
_ANYTHING = 20  # distance of a parameter that takes an object of any type
_MAX_STEPS = 4  # names of kinds, each given by the next
_INTRINSIC = frozenset({"character", "complex", "integer", "logical", "real"})
_WRITTEN = lazy_regex(r"(?P<base>\w+|\*)(?:\((?P<kind>(?:[^()]|\([^()]*\))*)\))?(?:\[(?P<rank>\d+)\])?")
_MADE = lazy_regex(r"([+*|^&0-9])\((.*)\)")  # what an operator or a function of the language makes of values
_PROCEDURE = "procedure"
_NUMBERS = ("integer", "real", "complex")


def _type_of_made(sign: str, types: Sequence[_Declared | None]) -> _Declared | None:
    """Return the type of what is made of values: the signs are those of `typed_arguments`.

    `+` and `*` stand for an operator and a product of matrices, `|` and `^` for the size and a part of a complex
    number, `&` for each element a value of the first type, and a digit for a rank.

    >>> whole, long = _Declared("integer", "4", 0, -1), _Declared("real", "8", 1, -1)
    >>> plane = _Declared("real", "4", 2, -1)
    >>> [(t.base, t.kind, t.rank) for t in (_type_of_made("+", [whole, long]), _type_of_made("*", [plane, plane]))]
    [('real', '8', 1), ('real', '4', 2)]
    >>> _type_of_made("0", [long]).rank, _type_of_made("^", [whole]).base, _type_of_made("+", [whole, None])
    (0, 'real', None)
    """
    first = types[0]
    if first is None:
        return None
    if sign.isdigit():
        return first._replace(rank=int(sign))
    if sign == "&":
        return first._replace(rank=max((each.rank for each in types[1:] if each is not None), default=0))
    if sign in "|^":
        is_part = first.base == "complex"
        plain = first if sign == "|" else first._replace(base="real", kind=bytes_of_kind(""))
        return first._replace(base="real") if is_part else plain
    if any(each is None or each.base not in _NUMBERS for each in types):
        same = all(each is not None and each[:2] == first[:2] and each.number == first.number for each in types)
        return first if same else None
    known = [each for each in types if each is not None]
    base = max((each.base for each in known), key=_NUMBERS.index)
    kinds = {each.kind for each in known if each.base == base or (base == "complex" and each.base == "real")}
    if len(kinds) > 1 and not all(map(str.isdigit, kinds)):
        return None
    ranks = [each.rank for each in known]
    rank = max(0, sum(ranks) - 2) if sign == "*" else max(ranks)
    return _Declared(base, max(kinds, key=lambda kind: (len(kind), kind)), rank, -1)


def find_called(program: Program, owner: int, method: str) -> int:
    """Return the method that runs when an instance is called, or -1; the type itself where that makes one."""
    number, _ = program.find_member(owner, method)
    settings = program.files[program.file_of[owner]].settings
    return owner if number < 0 and settings is not None and method in settings.names.constructors else number


def made_value(inference: Inference, value: Value, names: NameSettings) -> Value:
    """Return what a value holds that is called, where that makes an instance: `x = new`."""
    if names.call_method not in names.constructors or not inference.is_held(value):
        return value
    content = inference.content_of_value(value)
    return content if content is not None and content.kind is ValueKind.INSTANCE else UNKNOWN


def type_of(inference: Inference, place: tuple[int, int], chain: str, value: Value, n_types: str) -> Value | None:
    """Return the type that is made by a name in a scope of a file: no field or property that has its name."""
    program, (file, scope) = inference.program, place
    settings = program.files[file].settings
    found: Value | None = value
    is_declared = settings is not None and settings.names.all_declared and "." not in chain
    while found and is_declared and scope >= 0 and not program.is_type_like(found.number):
        scope = program.files[file].facts.definitions[scope].parent
        found = inference.infer_chain(file, scope, chain)
        found = found if found is not None and found.kind is ValueKind.DEFINITION else None
    return found._replace(number=program.of_arity(found.number, int(n_types))) if found and n_types else found
