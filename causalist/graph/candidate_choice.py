"""Choices between definitions that one use may mean.

These are overloads, types of one name or in several parts, names when the receiver is unknown, and methods that a queue
runs.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.added_members import is_in_sight, is_out_of_reach
from causalist.graph.imports.declared_packages import first_names_in
from causalist.graph.infer.inference import Inference
from causalist.graph.overload_fit import (
    CONVERTED,
    REST,
    SOME_TYPE,
    TakenType,
    decides,
    distance_by_conversion,
    distance_from_outside,
    held_type,
    is_type_parameter,
    meets_bounds,
    misfit,
    those_with_types,
)
from causalist.graph.program import Program
from causalist.graph.resolution_results import Value, ValueKind
from causalist.graph.rules import MAX_CANDIDATES, MAX_NAMESAKES, RuleName
from causalist.model.facts import UNCOUNTED, ArgumentKind, ImportKind
from causalist.model.language_settings import ConversionSettings, LanguageSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.role_by_path import is_secondary
from causalist.model.type_notation import OPTIONAL, split_top

_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts", ".pyi")
_REEXPORTS = frozenset({ImportKind.REEXPORT, ImportKind.REEXPORT_ALL, ImportKind.REEXPORT_NAMESPACE})
_MAX_OVERLOADS = 400  # of one name: their parameters are not compared with the arguments of each call
_MAX_ALIKE = 40  # plug-ins that have a method alike
_MAX_STEPS = 3  # files that pass on what others pass on
# A call that gives the class back, so that what follows is called on it: `ResizeJob.set(wait: 60).perform_later`.
_PASSES_CLASS = (".set()",)
_MARKS = lazy_regex(r"~\d+|\(.*?\)|\[.*?\]")  # what is done with a part of a chain, and which declaration is meant
_WORD = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_POINTER_TO_FIRST = ".data()"
_PARAMETER_NAME = lazy_regex(r"\w*\s*$")  # at the end of a declaration
_BOUND = lazy_regex(r"\benable_if|\brequires\b|::type\b|\w+_v\s*<|\bis_\w+\s*<")  # in the signature of a template
_TYPE_PARAMETER = lazy_regex(r"\b(?:typename|class)[\s.]+(\w+)")
_ANY_TYPE = 20  # farther than any base: a parameter that takes everything
_ONE_OF_MANY = 100  # a parameter that takes any number of arguments, given one that is no array
# From outside, which a type may have without naming them.
_TYPES_OF_ALL = frozenset({"Comparable", "Enum", "IComparable", "IEquatable", "Record", "Serializable", "ValueType"})
_SAYS_TYPE = lazy_regex(r"<?\w+(?:[~#]\d+)?>?")  # a variable, or an expression of a type
_SAYS_NOTHING = lazy_regex(r"|dynamic|[A-Z]\d?|T[A-Z]\w*")  # a type parameter, which may be that of another function
_OUTSIDE = (ValueKind.BUILTIN, ValueKind.EXTERNAL, ValueKind.CALLABLE)
_CLASS_LITERALS = (".class", ".class.java")  # ends of chains
_UNIVERSAL_TYPES = frozenset({"Object", "object", "dynamic"})


@dataclass(frozen=True, slots=True)
class OverloadChooser:
    """Choice among functions of one name by the types of a call's arguments.

    The values of arguments decide what their number and literals leave open. A type of the repository is compared
    along its bases, any other by its name. An argument of which nothing is known leaves all open.
    """

    inference: Inference
    _taken: dict[tuple[int, str], TakenType | None] = field(default_factory=dict)
    # By functions, arguments and their values: many calls differ by nothing else.
    _nearest: dict[tuple[tuple[int, ...], str, tuple[tuple[int, Value], ...]], tuple[list[int] | None, bool]] = field(
        default_factory=dict
    )

    def select_nearest(
        self, place: tuple[int, int], functions: list[int], arguments: str, chains: str, meant: Value
    ) -> tuple[list[int], Value]:
        """Return the namesakes of `functions` whose parameters are nearest to the arguments; `functions` where none is.

        `functions` fit the number of the arguments and literals best. `place` is the (file, scope) of the call,
        `arguments` and `chains` are as `Call` has them. `meant` is the value of the called name. It is returned with
        the rule `overload` where what is known of the arguments does not decide.
        """
        program = self.inference.program
        settings = program.files[program.file_of[functions[0]]].settings
        same, elsewhere = program.overloads_of(functions[0])
        if settings is None or len(same) + len(elsewhere) > _MAX_OVERLOADS:
            return functions, meant
        if settings.modules.headers:
            return self._select_converting(place, functions, arguments, chains, meant)
        if len(same) + len(elsewhere) < 2:
            return functions, meant
        inferred, definitions = self.infer_arguments(place, arguments, chains), program.definition_of
        functions = those_with_types(functions, definitions, chains, settings.types)
        if not (inferred or ArgumentKind.FUNCTION in arguments):
            return functions, meant
        literals = program.literals[settings.name]
        if not any(misfit(program.parameters.get(e), arguments, literals) is not None for e in same):
            same = [*same, *(each for each in elsewhere if each not in same)]  # members of the type itself come first
        same = those_with_types(same, definitions, chains, settings.types)
        nearest, _ = self._select_among(same, settings, arguments, inferred)
        if nearest is None:
            return self._select_inherited(place, functions, arguments, chains, meant)
        return nearest, meant

    def _select_converting(
        self, place: tuple[int, int], functions: list[int], arguments: str, chains: str, meant: Value
    ) -> tuple[list[int], Value]:
        """Return the same where arguments convert, and functions are defined apart from their declarations."""
        program = self.inference.program
        same, elsewhere = program.overloads_of(functions[0])
        settings = program.files[program.file_of[functions[0]]].settings
        assert settings is not None
        several = list(dict.fromkeys([*same, *elsewhere])) if elsewhere else same or functions
        owner = program.owner_of.get(functions[0], program.parent(functions[0]))
        if owner < 0 or not program.is_type(owner):
            several = program.packages.with_namesakes(place[0], several, program.file_of, program.files)
        fitting = [each for each in several if misfit(program.parameters.get(each), arguments, {}) is not None]
        if len(several) < 2 and fitting:
            return functions, meant
        doubtful = meant._replace(rule=RuleName.OVERLOAD) if settings.names.has_overloads else meant
        if not fitting:  # `using Base::name`
            inherited = self._select_inherited(place, functions, arguments, chains, meant)
            if inherited[0] is not functions or arguments == UNCOUNTED or doubtful is meant:
                return inherited
            is_of_holder = program.definition_of[functions[0]].name in settings.types.unwrap_methods
            return ([], meant) if is_of_holder else (functions, doubtful)  # `get` of a pointer to what has another
        if len(fitting) < 2:
            return fitting, meant  # their number says all
        whole = [each for each in fitting if not self._leaves_out_assumed(each, len(arguments))]
        around = program.files[place[0]].first + place[1]
        if place[1] >= 0 and around in fitting and self._hands_on_all(around, chains):
            fitting, whole = [[each for each in several if each != around] for several in (fitting, whole)]
        inferred = self.infer_arguments(place, arguments, chains)
        several = whole or fitting
        types = dict(settings.types.literals)
        literal = [(i, types[letter][0]) for i, letter in enumerate(arguments) if letter in types]
        inferred += [(i, Value(ValueKind.BUILTIN, -1, "", type=name)) for i, name in literal]
        key = tuple(several), arguments, tuple(inferred)
        if key not in self._nearest:
            self._nearest[key] = self._select_among(several, settings, arguments, inferred)
        nearest, is_sure = self._nearest[key]
        if several is not fitting and (nearest is None or self._is_far(nearest[0], inferred, CONVERTED)):
            other = self._select_among(fitting, settings, arguments, inferred)
            if nearest is None or (other[0] and not self._is_far(other[0][0], inferred, SOME_TYPE)):
                nearest, is_sure = other  # one takes the argument as it is, and not what is made of it
        return functions if nearest is None else nearest, meant if is_sure else doubtful

    def _is_far(self, function: int, inferred: list[tuple[int, Value]], least: int) -> bool:
        """Return True if an argument is that far from its parameter."""
        return any((self.distance(function, *each) or 0) >= least for each in inferred)

    def _leaves_out_assumed(self, function: int, n_arguments: int) -> bool:
        """Return True if so many arguments leave out some, and only a declaration elsewhere might say that they may."""
        parameters = self.inference.program.parameters.get(function, ())
        return n_arguments < len(parameters) and all(each.endswith(OPTIONAL) for each in parameters)

    def _hands_on_all(self, function: int, chains: str) -> bool:
        """Return True if a call is given what the function around it was, as where it calls another of its name."""
        signature = self.inference.program.definition_of[function].signature
        written = split_top(signature.partition("(")[2].rpartition(")")[0], ",")
        return [_PARAMETER_NAME.search(each.partition("=")[0])[0].strip() for each in written] == chains.split(",")  # type: ignore[index]

    def infer_arguments(self, place: tuple[int, int], arguments: str, chains: str) -> list[tuple[int, Value]]:
        """Return the positions of arguments that are no literals, with their values where these are known."""
        unknown = [position for position, letter in enumerate(arguments) if letter == ArgumentKind.OTHER]
        return [
            (position, value)
            for position, chain in zip(unknown, chains.split(","), strict=False)
            if chain and (value := self._infer_argument(place, chain)) is not None
        ]

    def _select_among(
        self, functions: list[int], settings: LanguageSettings, arguments: str, inferred: list[tuple[int, Value]]
    ) -> tuple[list[int] | None, bool]:
        """Return those of `functions` that are nearest to the arguments, whose types are `inferred`; None if none is.

        Where functions are defined apart from their declarations, types convert. With them comes True if what is known
        of the arguments leaves no other.
        """
        program, converts = self.inference.program, bool(settings.modules.headers)
        literals, argument_list = program.literals[settings.name], settings.conversions.argument_list
        given = [position for position, letter in enumerate(arguments) if letter == ArgumentKind.FUNCTION]
        fitting: list[tuple[int, int, int]] = []
        distances: dict[int, list[int]] = {}
        for function in functions:
            far = misfit(program.parameters.get(function), arguments, literals)
            if argument_list and self._misses_list(function, argument_list, inferred):
                continue
            steps = [self.distance(function, at, value) for at, value in inferred] if far is not None else [None]
            if any(not self._takes_function(function, at, at == len(arguments) - 1) for at in given):
                continue
            if far is not None and None not in steps:
                distances[function] = [step or 0 for step in steps]
                fitting.append((far, sum(distances[function]), function))
        if not fitting:
            return None, not converts
        if converts:  # conversions count more than what is left out
            fitting = [
                (far // _ONE_OF_MANY, steps * _ONE_OF_MANY + far % _ONE_OF_MANY, each) for far, steps, each in fitting
            ]
        least = min(each[:2] for each in fitting)
        nearest = [function for far, steps, function in fitting if (far, steps) == least]
        if not converts or len(fitting) == len(nearest):
            return nearest, True
        others = [each for far, _, each in fitting if far == least[0] and each not in nearest]
        is_sure = all(
            self._takes_same(best, other, len(arguments))
            or any(
                decides(own, far, value.type, self._is_bounded_to(best, at, value, settings), settings.conversions)
                for own, far, (at, value) in zip(distances[best], distances[other], inferred, strict=True)
            )
            for best in nearest
            for other in others
        )
        return nearest, is_sure

    def _takes_same(self, function: int, other: int, n_arguments: int) -> bool:
        """Return True if two functions take the same by their first parameters, so that their number says all."""
        own, others = [
            [name.removesuffix(OPTIONAL) for name in self.inference.program.parameters.get(each, ())][:n_arguments]
            for each in (function, other)
        ]
        return own == others

    def _is_bounded(self, function: int) -> bool:
        """Return True for a template that takes only types that have something, whatever that is."""
        signature = self.inference.program.definition_of[function].signature
        return signature.startswith("template") and _BOUND.search(signature) is not None

    def _is_bounded_to(self, function: int, position: int, value: Value, settings: LanguageSettings) -> bool:
        """Return True for a bounded template of which it is not known that it takes the value."""
        parameters = self.inference.program.parameters.get(function)
        if not parameters or not self._is_bounded(function):
            return self._is_bounded(function)
        text = parameters[min(position, len(parameters) - 1)].removesuffix(OPTIONAL)
        return self._meets_bounds(function, text, value, settings.conversions) is not True

    def _misses_list(self, function: int, argument_list: str, inferred: list[tuple[int, Value]]) -> bool:
        """Return True if a function takes the rest of the arguments of another, and none is given: nothing else is."""
        taken = self.inference.program.parameters.get(function, ())
        is_taken = any(each.startswith(argument_list) for each in taken)
        return is_taken and not any(value.type == argument_list for _, value in inferred)

    def _select_inherited(
        self, place: tuple[int, int], functions: list[int], arguments: str, chains: str, meant: Value
    ) -> tuple[list[int], Value]:
        """Return the members of the same name of the nearest base; none of `functions` takes the arguments."""
        program = self.inference.program
        owner = program.owner_of.get(functions[0], program.parent(functions[0]))
        name = program.definition_of[functions[0]].name
        for base in program.linear_bases(owner)[1:] if owner >= 0 and program.is_type(owner) else ():
            number = program.find_own_member(base, name, arguments)
            if number >= 0:
                several = program.select_overloads(number, arguments)
                return self.select_nearest(place, several, arguments, chains, meant)
        return functions, meant

    def _takes_function(self, function: int, position: int, is_last: bool) -> bool:
        """Return False if a parameter is of a class, which no function stands for."""
        program = self.inference.program
        parameters = program.parameters.get(function)
        if not parameters:
            return True
        text = parameters[-1 if is_last else min(position, len(parameters) - 1)].strip("=.")
        file = program.file_of[function]
        if not text.isidentifier() or is_type_parameter(text):
            return True
        wanted = self.inference.infer_annotation(file, function - program.files[file].first, text, RuleName.ANNOTATION)
        if wanted.kind is not ValueKind.INSTANCE:
            return True
        return program.definition_of[wanted.number].kind not in (NodeKind.CLASS, NodeKind.STRUCT, NodeKind.ENUM)

    def _infer_argument(self, place: tuple[int, int], chain: str) -> Value | None:
        """Return the value of an argument: an instance of a type of the repository, or one from outside by its name."""
        settings = self.inference.program.files[place[0]].settings
        of_classes = settings.types.class_types if settings is not None else ()
        for ending, type_ in zip(_CLASS_LITERALS, of_classes, strict=False):
            if chain.endswith(ending):
                return Value(ValueKind.EXTERNAL, -1, RuleName.ANNOTATION, type=type_)
        if settings is not None and settings.conversions.text and chain.endswith(("()", ">")):
            made, types = chain.removesuffix("()").strip("<>"), settings.types  # `std::string(x)`, `std::vector<T>{}`
            if re.fullmatch(settings.conversions.text, made) or made.removeprefix("std.") in types.containers:
                return Value(ValueKind.BUILTIN, -1, RuleName.ANNOTATION, type=made.rpartition(".")[2])
        if chain.endswith(_POINTER_TO_FIRST) and settings is not None and settings.modules.headers:
            return None  # what a container holds is known, and not that it is pointed at
        sign = chain[:1] if chain[:1] in "&*" else ""
        value = self.inference.infer_chain(*place, chain.removeprefix(sign))
        is_said = _SAYS_TYPE.fullmatch(chain) is not None  # and of no member of what is from outside
        if value is not None and value.kind is ValueKind.DEFINITION:
            definition, is_said = self.inference.program.definition_of[value.number], True
            is_value = self.inference.program.is_value(value.number)
            enumeration = self.inference.program.enumeration_around(value.number) if is_value else -1
            if enumeration >= 0:
                return Value(ValueKind.INSTANCE, enumeration, RuleName.ANNOTATION)
            is_property = definition.kind == NodeKind.METHOD and "(" not in definition.signature
            held = self.inference.content_of(value.number) if is_value else None
            value = self.inference.call_result(value) if is_property else held
        if value is not None and settings is not None and not settings.modules.headers and value.kind in _OUTSIDE:
            is_known = not _SAYS_NOTHING.fullmatch(value.type) and (is_said or self._calls_own(place, chain))
            return value._replace(kind=ValueKind.EXTERNAL) if is_known else None
        if value is not None and value.kind in (ValueKind.BUILTIN, ValueKind.UNKNOWN) and value.type:
            pointed_type = f"{value.type}*" if sign == "&" else value.type.removesuffix("*") if sign else value.type
            return value._replace(kind=ValueKind.BUILTIN, type=pointed_type)
        if value is not None and value.kind is ValueKind.COLLECTION and settings and settings.modules.headers:
            return value
        if value is None or (
            value.kind is ValueKind.EXTERNAL and not (value.type and chain.strip("<>").isidentifier())
        ):
            return None  # what a member or a call of something outside gives is not known
        return value if value.kind in (ValueKind.INSTANCE, ValueKind.EXTERNAL) and not value.also else None

    def _calls_own(self, place: tuple[int, int], chain: str) -> bool:
        """Return True for a chain that ends with a call of a function of the repository."""
        callee = self.inference.infer_chain(*place, chain.removesuffix("()"), UNCOUNTED) if "()" in chain[-2:] else None
        return callee is not None and callee.kind is ValueKind.DEFINITION

    def distance(self, function: int, position: int, value: Value) -> int | None:
        """Return the distance of a parameter from a value that it is given; None if it cannot take it."""
        parameters = self.inference.program.parameters.get(function)
        if not parameters:
            return 0
        text = parameters[min(position, len(parameters) - 1)].removesuffix(OPTIONAL)
        if text.endswith(REST):
            far = self._distance_to_type(function, text.removesuffix(REST).removesuffix("[]"), value)
            return far + _ONE_OF_MANY if far is not None else None
        far = self._distance_to_type(function, text, value)
        return self._distance_of_content(function, position, value) if far == 0 and value.parts else far

    def _distance_of_content(self, function: int, position: int, value: Value) -> int | None:
        """Return the distance of what a container of the library holds; 0 where the parameter does not say it."""
        settings = self.inference.program.files[self.inference.program.file_of[function]].settings
        if settings is None or not settings.modules.headers:
            return 0
        signature = self.inference.program.definition_of[function].signature
        held = held_type(signature, position)
        if signature.startswith("template") and held in _TYPE_PARAMETER.findall(signature):
            return 1
        return None if held and value.parts[0].type not in ("", held) else 0

    def _distance_to_type(self, function: int, text: str, value: Value) -> int | None:
        """Return the distance of a type that a function names from a value; None if they do not fit."""
        program = self.inference.program
        file = program.file_of[function]
        symbols, whole = program.files[file], text
        text = text.partition("{")[0]
        if symbols.settings is not None and symbols.settings.modules.headers:
            return self._distance_by_conversion(function, text, value, symbols.settings.conversions)
        name = text.rpartition(".")[2]
        if (
            name in _UNIVERSAL_TYPES
            or is_type_parameter(name)
            or name in symbols.bindings.get(function - symbols.first, {})
            or name in symbols.bindings.get(symbols.facts.definitions[function - symbols.first].parent, {})
        ):
            return _ANY_TYPE
        if value.kind is ValueKind.INSTANCE and (whole.endswith("]") or name[:1].islower() or name == "String"):
            return None
        wanted = self.inference.infer_annotation(file, function - symbols.first, whole, RuleName.ANNOTATION)
        if value.kind is ValueKind.EXTERNAL:
            literals = program.literals[symbols.settings.name] if symbols.settings is not None else {}
            is_ours = wanted.kind is ValueKind.INSTANCE
            return None if is_ours else distance_from_outside(whole, value.type, literals)
        bases = program.linear_bases(value.number)
        if wanted.kind is not ValueKind.INSTANCE:
            is_known = name not in _TYPES_OF_ALL and self.inference.derived_from_outside.isdisjoint(bases)
            return None if is_known else SOME_TYPE
        return bases.index(wanted.number) if wanted.number in bases else None

    def _distance_by_conversion(
        self, function: int, text: str, value: Value, settings: ConversionSettings
    ) -> int | None:
        """Return the distance where numbers convert into one another, and types have constructors that convert."""
        key = function, text
        if key not in self._taken:
            self._taken[key] = self._read_taken(function, text, settings)
        taken = self._taken[key]
        if taken is None:
            is_number = value.kind is ValueKind.BUILTIN and re.fullmatch(settings.numbers, value.type) is not None
            if self._is_bounded(function) and self._meets_bounds(function, text, value, settings) is False:
                return None
            if not text.endswith("*"):
                return 1 if is_number else _ANY_TYPE  # a template takes a number as it is
            return None if is_number else _ANY_TYPE - value.type.endswith("*")
        program, is_instance = self.inference.program, value.kind is ValueKind.INSTANCE
        bases = program.linear_bases(value.number) if is_instance else ()
        counts = is_instance and program.definition_of[value.number].kind in (NodeKind.ENUM, NodeKind.TYPE)
        return distance_by_conversion(taken, value, bases, counts, settings)

    def _meets_bounds(self, function: int, text: str, value: Value, settings: ConversionSettings) -> bool | None:
        """Return what `meets_bounds` says of a value that is given for a parameter of a template."""
        definition_of, name = self.inference.program.definition_of, text.rpartition(".")[2]
        if name.endswith("*"):
            return None
        kind = definition_of[value.number].kind if value.kind is ValueKind.INSTANCE else None
        return meets_bounds(definition_of[function].signature, name, value, kind, settings)

    def _read_taken(self, function: int, text: str, settings: ConversionSettings) -> TakenType | None:
        """Return what a parameter takes; None if it is of a type that a template leaves open."""
        program = self.inference.program
        file = program.file_of[function]
        scope = function - program.files[file].first
        name = text.rpartition(".")[2]
        bare = name.rstrip("*")
        signature = program.definition_of[function].signature
        of_template = _TYPE_PARAMETER.findall(signature) if signature.startswith("template") else ()
        if not bare or is_type_parameter(bare) or bare in of_template:
            return None
        is_pointer = name != bare
        wanted, named = [
            self.inference.infer_annotation(file, scope, each, RuleName.ANNOTATION) for each in (bare, text.rstrip("*"))
        ]
        wanted = named if named.kind in (ValueKind.INSTANCE, ValueKind.COLLECTION) else wanted
        is_ours = wanted.kind is ValueKind.INSTANCE and not self._is_wrapped(file, scope, bare)
        is_alias = wanted.kind is ValueKind.UNKNOWN or (
            is_ours and program.definition_of[wanted.number].kind == NodeKind.TYPE
        )
        if wanted.kind is ValueKind.BUILTIN and wanted.type:
            bare = wanted.type
            name = bare + "*" * is_pointer
        written = text.rpartition(".")[2]
        is_number = re.fullmatch(settings.numbers, name) is not None
        number = wanted.number if is_ours else -1
        elements = wanted.number if wanted.kind is ValueKind.COLLECTION else -1
        is_enum = number >= 0 and program.definition_of[number].kind == NodeKind.ENUM
        return TakenType(written, name, is_pointer, number, is_alias, is_number, elements, is_enum)

    def _is_wrapped(self, file: int, scope: int, name: str) -> bool:
        """Return True if a name is another for a type that holds one: `using P = shared_ptr<T>`."""
        named = self.inference.infer_chain(file, scope, name)
        if named is None or named.kind is not ValueKind.DEFINITION:
            return False
        symbols = self.inference.program.files[self.inference.program.file_of[named.number]]
        return "?" in symbols.returns.get(named.number - symbols.first, "")


def find_deferred(inference: Inference, file: int, scope: int, chain: str) -> int:
    """Return the method that a called chain runs later, -1 if it queues nothing that the repository defines.

    `ResizeImage::dispatch($id)` and `ResizeJob.perform_later(id)` call a method of a framework, which runs a method of
    the class by a name that it fixes. A class that has the called method itself, or by a base, is no job. A function
    such as that of `resize.delay(id)` runs itself.
    """
    program = inference.program
    settings = program.files[file].settings
    if settings is None or not settings.types.deferred:
        return -1
    receiver, _, called = chain.replace("::", ".").rpartition(".")
    method = next((runs for name, runs in settings.types.deferred if name == called), None)
    if method is None or not receiver:
        return -1
    for call in _PASSES_CLASS:
        receiver = receiver.removesuffix(call)
    value = inference.infer_chain(file, scope, receiver)
    number = -1 if value is None or value.kind is not ValueKind.DEFINITION else value.number
    if number < 0 or not method:
        return number if number >= 0 and program.definition_of[number].kind in CALLABLE_KINDS else -1
    is_job = program.is_type(number) and program.find_member(number, called)[0] < 0
    return program.find_member(number, method)[0] if is_job else -1


_ACCESSOR = lazy_regex(r"function\b[^(]*\b[gs]et\.")


class NameCandidates:
    """Candidates for calls of a method on a receiver of which nothing is known, in all files of a program.

    The program has to know the bases of types. Candidates are all methods of that name that the call could mean, or
    none where these are too many to say anything.

    Code calls no methods of tests, examples and documentation that happen to have the name, and a declaration file
    describes code that stands elsewhere. In the measured repositories, one of 580 such candidates was right. Other
    names in the file tell good candidates from others. A receiver that resembles the name of a class,
    `build_state.write()`, means that class, most surely where the file defines, imports or names it.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._visible: dict[int, frozenset[int]] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._reexported: dict[int, frozenset[int]] = {}

    def _is_plain_method(self, number: int) -> bool:
        """Return True for a method that is called by its name: no constructor, and none that a property runs."""
        definition = self._program.definition_of[number]
        is_callable = definition.kind in CALLABLE_KINDS and definition.name != self._owner(number)
        return is_callable and not _ACCESSOR.match(definition.signature)

    def find(self, file: int, chain: str, arguments: str) -> Iterator[tuple[int, str, int]]:
        """Yield (definition, rule, candidates) of each method that a call of `chain` in `file` may mean."""
        program, family = self._program, _family(self._program, file)
        receiver, _, name = chain.rpartition(".")
        settings = program.files[file].settings
        if settings is not None and receiver in settings.builtin_objects:
            return
        every = (
            each
            for each in program.methods.get(name, ())
            if _family(program, program.file_of[each]) == family
            and misfit(program.parameters.get(each), arguments, {}) is not None
            and _is_in_reach(program.files[file].path, program.files[program.file_of[each]].path)
            and not is_out_of_reach(program, file, each)
        )
        called = receiver.rpartition(".")[2]
        if called[:1] == "$":
            called = called.partition("#")[0]  # the number of its declaration
        candidates = list(islice(every, _MAX_ALIKE + 1))  # one more says that there are too many
        if not candidates or (len(candidates) > MAX_CANDIDATES and not self._are_alike(candidates)):
            yield from self.find_in_named_object(file, chain)
            return
        if settings is not None and settings.names.object_first and not all(map(self._is_plain_method, candidates)):
            return  # elements of structures are read like fields of objects
        is_sent = receiver != "?" and arguments != UNCOUNTED  # `f(x)` might run a function from outside
        if settings is not None and settings.names.object_first and is_sent and len(candidates) == 1:
            yield candidates[0], RuleName.UNIQUE_SELECTOR, 1
            return
        seen = [each for each in candidates if each in program.extended and is_in_sight(program, file, each, True)]
        is_namespace = settings is not None and settings.modules.projects  # which a file uses as a whole
        if is_namespace and len(seen) == len(candidates) and len(self._meanings(seen)) == 1:
            yield from ((each, RuleName.TRAIT_IN_SCOPE, len(seen)) for each in seen)
            return
        # Overloads of one name are one meaning, and share what falls to it.
        resembling = [each for each in candidates if resembles(called, self._owner(each))]
        in_sight = [each for each in resembling if self._is_in_sight(file, each)]
        in_holder = [each for each in candidates if self._holder(each) == called]
        for chosen, rule in (
            (in_sight, RuleName.NAMED_RECEIVER),
            (resembling, RuleName.LIKE_NAMED),
            (in_holder, RuleName.NAMED_RECEIVER),
        ):
            if chosen and len(self._meanings(chosen)) == 1:
                yield from ((each, rule, len(chosen)) for each in chosen)
                return
        if in_named := list(self.find_in_named_object(file, chain)):
            yield from in_named
            return
        if settings is not None and (patterns := settings.handlers.types):
            candidates = [e for e in candidates if not any(fnmatchcase(self._owner(e), each) for each in patterns)]
        overloads = self._meanings(candidates)
        few = len(overloads) <= MAX_NAMESAKES
        rule = RuleName.NAME_ONLY if few else RuleName.COMMON_NAME
        if len(overloads) == 1:
            is_seen = any(self._is_in_sight(file, each) for each in candidates)
            rule = RuleName.UNIQUE_IN_SIGHT if is_seen else RuleName.UNIQUE_NAME
            if settings is not None and (settings.types.messages or settings.modules.file_classes):  # who else has it?
                rule = RuleName.UNIQUE_SELECTOR
        for each in candidates:
            yield each, rule, len(overloads) * overloads[self._meaning(each)]

    def find_selector(self, file: int, chain: str) -> list[tuple[int, str, int]]:
        """Return what `find` yields of the only method for a message to something from outside of the repository.

        It is in a category of a type from outside, or in the class that the message names.
        """
        program, family = self._program, _family(self._program, file)
        head, _, selector = chain.rpartition(".")
        methods = [e for e in program.methods.get(selector, ()) if _family(program, program.file_of[e]) == family]
        if len(methods) != 1 or not _is_in_reach(
            program.files[file].path, program.files[program.file_of[methods[0]]].path
        ):
            return []
        owner = program.owner_of.get(methods[0], program.parent(methods[0]))
        is_added = owner in program.canonical or self._owner(methods[0]) == head
        return [(methods[0], RuleName.UNIQUE_SELECTOR, 1)] if is_added else []

    def _are_alike(self, methods: Sequence[int]) -> bool:
        """Return True for methods of one name in the files of one folder, each in a file of its own: plug-ins."""
        files = {self._program.file_of[each] for each in methods}
        folders = {self._program.files[file].path.rpartition("/")[0] for file in files}
        return len(methods) <= _MAX_ALIKE and len(files) == len(methods) and len(folders) == 1

    def find_in_named_object(self, file: int, chain: str) -> Iterator[tuple[int, str, int]]:
        """Yield the function that is a member of the only object with the name of the receiver: `app.use = f`.

        Such objects are handed on, mixed into others and used as prototypes, by the same name as a rule.
        """
        program, family = self._program, _family(self._program, file)
        receiver, _, name = chain.rpartition(".")
        called = receiver.rpartition(".")[2]
        members = [
            each
            for each in program.members_of_objects.get(name, ())
            if program.definition_of[each].qualname.split(".")[-2] == called
            and _family(program, program.file_of[each]) == family
            and _is_in_reach(program.files[file].path, program.files[program.file_of[each]].path)
        ]
        if len(self._meanings(members)) == 1:
            yield from ((each, RuleName.LIKE_NAMED, len(members)) for each in members)

    def _reexported_files(self, file: int) -> frozenset[int]:
        """Return the files of which a file passes something on to those who import it."""
        cached = self._reexported.get(file)
        if cached is None:
            symbols, targets = self._program.files[file], set()
            is_index = symbols.has_visible_imports and symbols.is_index
            for entry in symbols.facts.imports:
                if is_index or entry.kind in _REEXPORTS:
                    targets.add(self._program.target_module(file, entry)[0])
            cached = self._reexported[file] = frozenset(targets - {-1})
        return cached

    def _meaning(self, definition: int) -> tuple[int, str]:
        return self._program.file_of[definition], self._program.definition_of[definition].qualname

    def _meanings(self, definitions: Sequence[int]) -> Counter[tuple[int, str]]:
        return Counter(map(self._meaning, definitions))

    def _owner(self, method: int) -> str:
        """Return the name of the type that a method belongs to; "" for methods of an object that a function makes."""
        program = self._program
        owner = program.owner_of.get(method, program.parent(method))
        return program.definition_of[owner].name if owner >= 0 and not self._is_of_object(method) else ""

    def _is_of_object(self, method: int) -> bool:
        """Return True if a method belongs to an object made by a function, and therefore to no type."""
        parent = self._program.parent(method)
        return parent >= 0 and self._program.definition_of[parent].kind in CALLABLE_KINDS

    def _holder(self, method: int) -> str:
        """Return the name of the variable or member that holds the object around a method, "" where nothing does."""
        if not self._is_of_object(method):
            return ""
        definition, parent = self._program.definition_of[method], self._program.parent(method)
        within = definition.qualname.removeprefix(f"{self._program.definition_of[parent].qualname}.")
        return within.rpartition(".")[0].rpartition(".")[2]

    def _is_in_sight(self, file: int, method: int) -> bool:
        """Return True if a file defines a method's type, imports it or a re-export of it, or uses the type's name.

        An object is in sight only if a name is bound to it.
        """
        if self._is_of_object(method) and not self._holder(method):
            return False
        if self._program.file_of[method] in self.visible_files(file):
            return True
        symbols = self._names.get(file)
        if symbols is None:
            facts = self._program.files[file].facts
            symbols = self._names[file] = first_names_in(facts).union(
                *((each.name, each.alias) for each in facts.imports)
            )
        return self._owner(method) in symbols

    def visible_files(self, file: int) -> frozenset[int]:
        """Return the file, those that it imports and those that they pass on."""
        visible = self._visible.get(file)
        if visible is None:
            imports = self._program.files[file].facts.imports
            reached = {file, *(self._program.target_module(file, entry)[0] for entry in imports)} - {-1}
            visible, steps = frozenset(reached), 0
            while reached and steps < _MAX_STEPS:
                reached = {target for each in reached for target in self._reexported_files(each)}.difference(visible)
                visible, steps = visible | reached, steps + 1
            self._visible[file] = visible
        return visible


def resembles(receiver: str, owner: str) -> bool:
    """Return True if the last part of a receiver resembles the name of a type.

    Their words are equal, or one consists of the last words of the other; a single letter resembles nothing.

    >>> [resembles(name, "BuildState") for name in ("build_state", "state", "oldBuildState", "build", "s")]
    [True, True, True, False, False]
    """
    a, b = _words(receiver), _words(owner)
    if not a or not b or a[-1] != b[-1]:
        return False
    shorter = min(len(a), len(b))
    return len("".join(a)) > 1 and a[-shorter:] == b[-shorter:]  # one letter says nothing


@lru_cache(maxsize=1 << 14)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(_MARKS.sub("", name)))


def _is_in_reach(caller: str, path: str) -> bool:
    if caller == path:
        return True
    if path.endswith(_DECLARATIONS):
        return False
    return not (is_secondary(path) and not is_secondary(caller))


def _family(program: Program, file: int) -> str:
    settings = program.files[file].settings
    return settings.family if settings else ""
