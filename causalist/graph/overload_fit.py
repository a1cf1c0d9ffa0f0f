"""Overloads: the fit of functions of one name to the number of arguments and the literals of a call.

In: parameters as facts have them, and the arguments of a call. Out: a distance, and the functions that fit best. Types
of arguments that are no literals are left to the resolver, which asks for the distance of one that converts.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.graph.resolution_results import Value, ValueKind
from causalist.model.facts import UNCOUNTED, ArgumentKind, Definition, LambdaForm
from causalist.model.language_settings import ConversionSettings, LanguageSettings, TypeSettings
from causalist.model.node_ids import NodeKind
from causalist.model.type_notation import (
    BEHIND,
    OPTIONAL,
    closing_bracket,
    count_types_given,
    split_generic,
    split_top,
)

REST = "..."
_CONSTANT_METHOD = lazy_regex(r"\)\s*const\b")
_TOP_TYPES = frozenset({"Any", "Comparable", "Object", "Serializable"})
_UNKNOWN_TYPE = 200  # a type of which it is unknown if it takes the argument; farther than any number of arguments
SOME_TYPE = 10  # distance of a type from outside, which the argument may have
_SAME_KIND = 3  # distance of another name for a type that is not known
CONVERTED = 30  # distance of a type that the type of the argument is converted to

# Letter of an argument -> types that take it, the most fitting first. Under the words that follow: types of functions
# that give their last argument, all types of functions, and types of what is waited for.
Literals = Mapping[str, Sequence[str]]
GIVING, TAKING, WAITED = "giving", "taking", "waited"


def misfit(parameters: Sequence[str] | None, arguments: str, literals: Literals) -> int | None:
    """Return the distance of a function from these arguments: 0 is best, None if it does not take them.

    `parameters` and `arguments` are as `FileFacts.parameters` and `Call.arguments` describe them. A parameter that ends
    with "=" may be left out. A type that is not known to take a literal does not take it, unless it looks like a type
    parameter: one letter, perhaps with a digit.

    >>> literals = {"s": ("String", "Object")}
    >>> [misfit(p, "s", literals) for p in (["String"], ["Object"], ["T"], ["int"], ["Object..."], [], None)]
    [0, 1, 2, None, 101, None, 0]
    >>> [misfit(p, "s", literals) for p in (["String", "int="], ["String", "int"], ["String...", "Object="])]
    [1, None, 100]
    >>> misfit(["String[]..."], "ss", literals)
    100
    """
    if parameters is None or arguments == UNCOUNTED:
        return 0
    parameter_text = "".join(parameters)
    takes_rest = REST in parameter_text
    fewest = len(parameters) - takes_rest
    if OPTIONAL in parameter_text:
        fewest -= sum(each[-1:] == OPTIONAL for each in parameters)
        parameters = [each.removesuffix(OPTIONAL) for each in parameters]
    if len(arguments) < fewest or (len(arguments) > len(parameters) and not takes_rest):
        return None
    # Any number of arguments comes after the exact one, unless the last argument may be all of them, as one of a type
    # may; "..." alone has no type.
    is_packed = takes_rest and (
        len(arguments) != len(parameters) or arguments[-1] != ArgumentKind.OTHER or parameters[-1] == REST
    )
    total = 100 if is_packed else 0
    if takes_rest and not parameters[-1].endswith(REST):
        return total  # which parameter an argument is for is not counted
    if len(arguments) < len(parameters) and not takes_rest:
        total += len(parameters) - len(arguments)  # what takes them and leaves out the fewest comes first
    for position, letter in enumerate(arguments):
        if letter.isupper():  # a function of a known form
            letter = ArgumentKind.FUNCTION
        accepted = literals.get(letter)
        if accepted is None:
            continue
        written = parameters[min(position, len(parameters) - 1)].removesuffix(REST)
        name = written.partition("{")[0].rpartition(".")[2]
        if letter == ArgumentKind.FUNCTION:
            fits = [_distance_of_lambda(written, arguments[position], literals)]
            if position == len(arguments) - 1:  # it may stand behind arguments that were left out
                fits.append(_distance_of_lambda(parameters[-1].removesuffix(REST), arguments[position], literals))
            possible = [far for far in fits if far is not None]
            if not possible:
                return None
            total += min(possible)
            continue
        if takes_rest and position >= len(parameters) - 1:
            name = name.removesuffix("[]")  # `params string[]`
        if name in accepted:
            total += accepted.index(name)
        elif is_type_parameter(name):
            total += len(accepted)
        elif "*" in accepted and name[:1].isupper():
            total += _UNKNOWN_TYPE
        elif not (takes_rest and position == len(parameters) - 1 and letter in (ArgumentKind.NULL, ArgumentKind.OTHER)):
            return None
    return total


def _distance_of_lambda(written: str, letter: str, literals: Literals) -> int | None:
    """Return how far a type is from a function of the form that a letter says; None where it takes none such.

    >>> literals = {GIVING: ("Func",), TAKING: ("Action", "Func"), WAITED: ("Task",), ">": ("*",)}
    >>> types = ("Action{}", "Action{int}", "Func{T}", "Func{Task}", "Func{Task?T}", "Func{A,B}", "Handler")
    >>> [_distance_of_lambda(each, LambdaForm(0, "nothing", False).letter, literals) for each in types]
    [0, None, None, None, None, None, 200]
    >>> [_distance_of_lambda(each, LambdaForm(0, "value", False).letter, literals) for each in types]
    [None, None, 0, 1, 1, None, 200]
    >>> [_distance_of_lambda(each, LambdaForm(0, "nothing", True).letter, literals) for each in types]
    [2, None, 1, 0, None, None, 200]
    """
    form, (head, types) = LambdaForm.of_letter(letter), split_generic(written)
    name = head.rpartition(".")[2]
    if form is None or name not in literals.get(TAKING, ()):
        return _distance_of_function(name, literals)
    result = types.pop() if types and name in literals[GIVING] else None
    if form.n_parameters != len([each for each in types if each or len(types) > 1]):
        return None
    if result is None:
        return None if form.gives == "value" else 2 * form.is_async
    outer, is_waited, _ = result.partition("?")
    if not form.is_async:
        return None if form.gives == "nothing" else int(form.gives == "value" and outer in literals[WAITED])
    if outer not in literals[WAITED]:
        return 1 if not result or result == outer else None
    return None if form.gives == ("nothing" if is_waited else "value") else 0


def _distance_of_function(name: str, literals: Literals) -> int | None:
    """Return how far a type is from one that takes a function; None for types of other literals.

    >>> literals = {"s": ("String", "Any"), ">": ("*",)}
    >>> [_distance_of_function(name, literals) for name in ("(Int)->Unit", "T", "Handler", "String", "Any", "int[]")]
    [0, 1, 200, None, 200, None]
    """
    if "->" in name:
        return 0
    if is_type_parameter(name):
        return 1
    of_values = any(name in literals[each] and name not in _TOP_TYPES for each in literals if len(each) == 1)
    return None if of_values or not name[:1].isupper() else _UNKNOWN_TYPE


def best_overloads(
    functions: Sequence[int], parameters: Mapping[int, Sequence[str]], arguments: str, literals: Literals
) -> list[int]:
    """Return those of `functions` that fit the arguments best, all of them where none fits."""
    fits = [(misfit(parameters.get(each), arguments, literals), each) for each in functions]
    possible = [(far, each) for far, each in fits if far is not None]
    if not possible:
        return list(functions)
    nearest = min(far for far, _ in possible)
    return [each for far, each in possible if far == nearest]


_HELD = lazy_regex(r"[^<]*<\s*(?:const\s+)?(?:\w+::)*(\w+(?:\s*\*)?)\s*>[^<>]*")  # `std::vector<T> x`, and nothing else


def held_type(signature: str, position: int) -> str:
    """Return the name of the type that the container holds which a parameter is, "" for any other parameter.

    >>> [held_type("int f(std::vector<const a::T> &x, int y, std::map<K, V> z)", i) for i in range(4)]
    ['T', '', '', '']
    """
    written = split_top(signature.partition("(")[2].rpartition(")")[0], ",")
    held = _HELD.fullmatch(written[position].strip()) if position < len(written) else None
    return held[1] if held else ""


def is_type_parameter(name: str) -> bool:
    """Return True if a name looks like the name of a type parameter."""
    return name[:1].isupper() and (len(name) == 1 or (len(name) == 2 and name[1].isdigit()))


def those_with_types(
    functions: Sequence[int], definitions: Sequence[Definition], values: str, settings: TypeSettings
) -> list[int]:
    """Return the functions that take the type arguments that the `values` of a call say; all where none does."""
    n_given, is_told = count_types_given(values), settings.inferred_by_arguments
    if not n_given and not is_told:
        return list(functions)
    several = [(each, definitions[each]) for each in functions]
    return [each for each, own in several if takes_types(own.signature, own.name, n_given, is_told)] or list(functions)


@lru_cache(maxsize=1 << 14)
def takes_types(signature: str, name: str, n_given: int, is_told: bool) -> bool:
    """Return True if a function can be called with so many type arguments, where none says that arguments tell them.

    With `is_told`, what the parameters do not name has to be written.

    >>> signatures = ("A<T> f<T>(B b)", "A f(B b)", "void f<T, [C(D)] U>(this T t, B<U> u)", "void f<T>(B b, …")
    >>> [[takes_types(each, "f", number, True) for each in signatures] for number in (0, 1)]
    [[False, True, True, True], [True, False, False, True]]
    """
    if "<" not in signature:
        return not n_given
    found = re.search(rf"\b{re.escape(name)}\s*<((?:[^<>]|<[^<>]*>)*)>\s*\(", signature)
    names = [each.split()[-1] for each in split_top(found[1], ",") if each.strip()] if found else []
    if n_given:
        return len(names) == n_given
    taken = signature[found.end() :] if found else ""
    is_whole = ")" in taken or not taken
    return not is_told or not is_whole or all(re.search(rf"\b{each}\b", taken) for each in names)


def is_constant_method(signature: str) -> bool:
    """Return True if a method is declared to leave its object as it is, as in C++: `int size() const`."""
    return _CONSTANT_METHOD.search(signature) is not None


def literals_of(settings: LanguageSettings) -> Literals:
    """Return the types that take literals and functions in a language, none where types convert."""
    types = settings.types
    if settings.modules.headers:
        return {}
    of_functions = {GIVING: types.functions, TAKING: settings.lambdas.types, WAITED: types.transparent}
    return {**dict(types.literals), **(of_functions if types.functions and types.literals else {})}


def arguments_of(part: str, called: str | None) -> str | None:
    """Return the arguments of a part of a chain: those of the call for the last part, unknown for the others."""
    return UNCOUNTED if "()" in part else called


def without_optional_marks(parameters: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return parameters without the marks of optional ones."""
    return tuple(each.removesuffix(OPTIONAL) for each in parameters) if parameters is not None else None


class TakenType(NamedTuple):
    """Type of a parameter where arguments convert."""

    written: str
    name: str  # what it is another name for, with a "*" for a pointer
    is_pointer: bool
    number: int  # of the type in the repository, or -1
    is_alias: bool  # of an unknown type
    is_number: bool
    elements: int = -1  # number of the type of which it holds several, under a name of its own
    is_enum: bool = False  # to which nothing converts


def distance_by_conversion(
    taken: TakenType, value: Value, bases: Sequence[int], counts: bool, settings: ConversionSettings
) -> int | None:
    """Return the distance of an argument from its parameter, None if the argument does not convert.

    `bases` are those of an instance, which converts to a number if it `counts`.

    >>> settings = ConversionSettings(numbers="int|long", promoted=(("int", ("long",)),), any_pointer="void*")
    >>> value = Value(ValueKind.BUILTIN, -1, "", type="int")
    >>> names = ("int", "long", "void*", "Name")
    >>> several = [TakenType(n, n, "*" in n, -1, False, n in ("int", "long")) for n in names]
    >>> [distance_by_conversion(each, value, (), False, settings) for each in several]
    [0, 2, None, 30]
    """
    written, name, is_pointer, number, is_alias, is_number, elements, is_enum = taken
    given, is_truth = value.type, name == settings.truth
    if value.kind is ValueKind.BUILTIN and given == written:
        return 0
    if is_pointer and given.endswith("*") and given[:-1] in settings.characters:
        alias = written.rstrip("*")
        if alias not in settings.characters and any(each in alias.lower() for each in settings.characters):
            return _SAME_KIND
    if value.kind is ValueKind.COLLECTION:
        if elements >= 0 and value.number >= 0:
            return 0 if elements == value.number else None
        return CONVERTED + 1 if number >= 0 or is_number else SOME_TYPE
    if value.kind is ValueKind.INSTANCE:
        if number >= 0 and number in bases:
            return bases.index(number)
        if is_number:
            return 1 if counts else CONVERTED if is_truth else None
        return CONVERTED if name == settings.any_pointer else None if is_pointer or is_enum else CONVERTED + 1
    if not given or value.kind is ValueKind.EXTERNAL:
        return 0 if given and given.rpartition(".")[2] == written else SOME_TYPE
    if given == name:
        return 0
    if given == settings.function:
        return None if is_number or (is_pointer and "(" not in name) else SOME_TYPE
    if given == settings.null:
        return 1 if is_pointer else None if is_number else CONVERTED
    if is_alias:
        return _SAME_KIND if given.endswith("*") == is_pointer else CONVERTED + 1
    if re.fullmatch(settings.numbers, given):
        if is_number:
            return 2 if name in dict(settings.promoted).get(given, ()) else 3  # after a template, which is 1
        return None if is_pointer or is_enum or _is_text(name, settings) else CONVERTED
    if is_enum:
        return None
    if _is_text(name, settings) and (of := _characters_of(given, settings)) is not None:
        is_owned = given.endswith("_view") and not name.endswith("_view")  # has to be made by name
        return CONVERTED if of == _characters_of(name, settings) and not is_owned else None
    if given.endswith("*"):
        if is_pointer:
            return CONVERTED if name == settings.any_pointer else None
        # Text becomes a string of the standard library rather than an instance of the repository's type.
        return CONVERTED if is_truth else None if is_number else CONVERTED + 1 + (number >= 0)
    if any(given.endswith(each) and name.endswith(each) for each in settings.related):
        return 1 if given.startswith(settings.wide) == name.startswith(settings.wide) else None
    return None if is_pointer or is_number else CONVERTED


def _is_text(name: str, settings: ConversionSettings) -> bool:
    return bool(settings.text) and re.fullmatch(settings.text, name) is not None


def _characters_of(given: str, settings: ConversionSettings) -> str | None:
    r"""Return what the name of a type of text begins with for its characters; None for a type of none.

    >>> settings = ConversionSettings(text=r"[uw]?\d*(?:string|string_view)", characters=("char", "wchar_t", "char8_t"))
    >>> types = ("string", "u8string_view", "wstring", "char*", "wchar_t*", "char8_t*", "int")
    >>> [_characters_of(each, settings) for each in types]
    ['', 'u8', 'w', '', 'w', 'u8', None]
    """
    if given.endswith("*"):
        kind = given[:-1]
        if kind not in settings.characters:
            return None
        return f"u{kind[4:-2]}" if kind[4:-2].isdigit() else kind.partition("char")[0]
    return given.partition("string")[0].rpartition(".")[2] if _is_text(given, settings) else None


def distance_from_outside(written: str, given: str, literals: Literals) -> int | None:
    """Return the distance of a type from a value of the type `given`, neither of which is of the repository.

    None if it cannot take the value. What a basic type becomes is known; of other types nothing is above them.

    >>> literals = {"i": ("int", "long", "object"), "s": ("string",), "n": ("*",)}
    >>> [distance_from_outside(each, "int", literals) for each in ("int", "long", "string", "object", "T", "Uri")]
    [0, 1, None, 2, 10, None]
    >>> types = ("Func{A}", "Func{B}", "Func{A,B}", "Func", "List", "string", "Uri[]")
    >>> [distance_from_outside(each, "Func{A}", literals) for each in types]
    [0, 1, None, 1, 10, None, None]
    """
    (head, arguments), (given, of_given) = split_generic(written), split_generic(given)
    name, given = head.rpartition(".")[2], given.rpartition(".")[2]
    becomes = next((types for letter, types in literals.items() if len(letter) == 1 and types[0] == given), ())
    if becomes and name in becomes:
        return becomes.index(name)
    if name == given:
        if arguments and of_given and len(arguments) != len(of_given):
            return None
        return int(arguments != of_given)
    if is_type_parameter(name):
        return SOME_TYPE
    is_basic = any(name in types for letter, types in literals.items() if len(letter) == 1)
    return None if becomes or is_basic or name[:1].islower() or name.endswith("]") else SOME_TYPE


def decides(distance: int, other: int, given: str, is_bounded: bool, settings: ConversionSettings) -> bool:
    """Return True if an argument fits one parameter so much better than another that a compiler prefers it, too.

    `given` is the type of the argument, "" if it is one of the repository. The parameter may be of a template that
    `is_bounded` to some types.

    >>> settings = ConversionSettings(numbers="int|long", characters=("char",))
    >>> pairs = ((0, 2), (2, 3), (3, 30), (1, 1), (10, 30), (20, 30), (30, 31))
    >>> [decides(*each, "int", False, settings) for each in pairs]
    [True, True, True, False, False, True, False]
    >>> [decides(*each, settings) for each in ((3, 30, "", False), (20, 31, "", True), (30, 31, "char*", False))]
    [False, False, True]
    >>> decides(3, 31, "char*", False, settings)
    True
    """
    if distance >= other:
        return False
    is_number = re.fullmatch(settings.numbers, given) is not None
    if distance in (_OPEN, _OPEN - 1) or (distance == 1 and is_number):
        return not is_bounded
    if distance == CONVERTED:  # text that becomes a string of the library
        return given.endswith("*") and given[:-1] in settings.characters
    is_basic = is_number or given.endswith("*")  # which an alias of its kind takes before anything that is made of it
    return distance < _SAME_KIND or (distance == _SAME_KIND and is_basic and other > SOME_TYPE)


_OPEN = 20  # distance of a type that a template leaves open
_WITH_OTHERS_BELOW = frozenset({"Any", "Type", "Function"})


@lru_cache(maxsize=8)
def known_types(settings: TypeSettings) -> frozenset[str]:
    """Return the names of types from outside of which it is known what is above them.

    >>> sorted(known_types(TypeSettings(above=(("Bool", ("Integer", "Any")),))))
    ['Any', 'Bool', 'Integer']
    """
    return frozenset(name for name, _ in settings.above).union(*(above for _, above in settings.above))


@lru_cache(maxsize=8)
def leaf_types(settings: TypeSettings) -> frozenset[str]:
    """Return the names of types from outside that have none below them, but for other names of themselves.

    >>> sorted(leaf_types(TypeSettings(above=(("Int", ("Int64", "Real")), ("Int64", ("Int",)), ("Real", ("Any",))))))
    ['Int', 'Int64']
    """
    above = dict(settings.above)
    inner = {each for name, several in above.items() for each in several if name not in above.get(each, ())}
    return frozenset(above) - inner - _WITH_OTHERS_BELOW


def is_object(signature: str) -> bool:
    """Return True for the signature of a type's only instance.

    >>> is_object("case object Nothing"), is_object("class A")
    (True, False)
    """
    return signature.startswith(("object ", "case object "))


def is_made_by(signature: str, arguments: str, taken: Sequence[str] | None = None) -> bool:
    """Return True if the constructor in the signature of a type takes so many arguments.

    A function that has as many parameters, `taken`, stands in its place.

    >>> [is_made_by("class A<T>(val a: T, b: Int = 1) : B(1, 2)", a) for a in ("s", "si", "sib", "")]
    [True, True, False, False]
    """
    opened = re.match(r"[^(:]*?\b(?:class|interface)\s+\w+(?:<[^()]*>)?[^(:]*\(", signature)
    inside = signature[opened.end() : closing_bracket(signature, opened.end() - 1)] if opened else ""
    parameters = split_top(inside, ",") if inside.strip() else []
    if taken is not None and len(taken) == len(parameters):
        return False
    fewest = sum("=" not in each for each in parameters)
    return arguments == UNCOUNTED or fewest <= len(arguments) <= len(parameters)


_BOUND_OPENS = lazy_regex(r"\b(?:enable_if(?:_t)?\s*<|\w*(?:ENABLE_IF|REQUIRES)\w*\s*\()|\brequires\b")
_BOUND_TOKEN = lazy_regex(r"\s*(!|&&|\|\||\(|\)|(?:\w+::)*(is_\w+|[a-z]+(?:_[a-z]+)*)\s*<)")
_AS_IT_IS = lazy_regex(r"\b(?:typename\s+)?(?:\w++::)*+(?:decay|remove_\w+?)(?:_t)?\s*+<([^<>]*+)>(?:::type\b)?")
_BOUND_PARAMETER = lazy_regex(r"\b(?:std::)?(integral|signed_integral|unsigned_integral|floating_point)\s+(\w+)")
_FRACTIONS = ("float", "double", "long double")
_UNSIGNED = lazy_regex(r"unsigned\b.*|u\w+_t|size_t|bool|char(?:8|16|32)_t")


def meets_bounds(
    signature: str, name: str, value: Value, kind: int | None, settings: ConversionSettings
) -> bool | None:
    """Return True if a type may stand for the parameter `name` of a template, by the traits that bound it.

    None if that is not known. `value` is of the type, `kind` what a type of the repository is.

    >>> settings = ConversionSettings(numbers="int|bool")
    >>> whole, text = (Value(ValueKind.BUILTIN, -1, "", type=each) for each in ("int", "string"))
    >>> bound = "template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same<T, bool>::value>>"
    >>> [meets_bounds(bound, "T", each, None, settings) for each in (whole, text)]
    [True, False]
    >>> bound = "template <std::floating_point T, typename U> requires (is_short<T> && std::is_enum_v<U>)"
    >>> [meets_bounds(bound, each, whole, None, settings) for each in ("T", "U", "V")]
    [False, False, None]
    """
    asked: list[bool | None] = [
        _has_trait(trait, (), value, kind, settings)
        for trait, bounded in _BOUND_PARAMETER.findall(signature)
        if bounded == name
    ]
    text = _AS_IT_IS.sub(lambda match: match[1].strip(), signature)
    for opened in _BOUND_OPENS.finditer(text):
        asked.append(_BoundReader(text, opened.end(), name, value, kind, settings).read())
    known = [each for each in asked if each is not None]
    return None if not known else all(known) if len(known) == len(asked) or not all(known) else None


@dataclass(slots=True)
class _BoundReader:
    """Reading of a condition of a template. What is said of anything but its parameter `name` is not known."""

    text: str
    position: int
    name: str
    value: Value
    kind: int | None
    settings: ConversionSettings

    def read(self) -> bool | None:
        """Return what comes next, with all that `||` and `&&` join to it."""
        result = self._read_all()
        while self._take("||"):
            other = self._read_all()
            result = True if result or other else None if result is None or other is None else False
        return result

    def _read_all(self) -> bool | None:
        result = self._read_one()
        while self._take("&&"):
            other = self._read_one()
            result = False if result is False or other is False else None if result is None or other is None else True
        return result

    def _read_one(self) -> bool | None:
        token = _BOUND_TOKEN.match(self.text, self.position)
        if token is None:
            return None
        self.position = token.end()
        if token[1] == "!":
            result = self._read_one()
            return None if result is None else not result
        if token[1] == "(":
            result = self.read()
            return result if self._take(")") else None
        if token[2] is None:
            return None
        end = _closing_angle(self.text, token.end() - 1)
        given = [each.strip() for each in split_top(self.text[token.end() : end], ",")]
        rest = re.compile(r"(?:::value)?(?:\(\)|\{\})?").match(self.text, end + 1)
        self.position = rest.end() if rest else end + 1
        if not given or given[0] != self.name:
            return None
        return _has_trait(token[2], given[1:], self.value, self.kind, self.settings)

    def _take(self, sign: str) -> bool:
        found = re.compile(rf"\s*{re.escape(sign)}").match(self.text, self.position)
        self.position = found.end() if found else self.position
        return found is not None


def _closing_angle(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == "<") - (text[position] == ">")
        if depth == 0:
            return position
    return len(text)


def _has_trait(
    trait: str, others: Sequence[str], value: Value, kind: int | None, settings: ConversionSettings
) -> bool | None:
    """Return True if a type has a trait of the standard library, None if that is not known."""
    name = value.type
    is_number = value.kind is ValueKind.BUILTIN and re.fullmatch(settings.numbers, name) is not None
    if not is_number and kind is None and not (value.kind is ValueKind.BUILTIN and name):
        return None
    is_fraction = is_number and name in _FRACTIONS
    trait = trait.removeprefix("is_").removesuffix("_v")
    if trait in ("same", "same_as") and is_number and len(others) == 1:
        other = others[0].removeprefix("std::")
        return other == name if re.fullmatch(settings.numbers, other) else None
    answers = {
        "integral": is_number and not is_fraction,
        "floating_point": is_fraction,
        "arithmetic": is_number,
        "enum": kind == NodeKind.ENUM,
        "class": (kind or NodeKind.CLASS) in (NodeKind.CLASS, NodeKind.STRUCT) and not is_number,
    }
    if trait in answers:
        return answers[trait]
    if trait in ("signed", "unsigned", "signed_integral", "unsigned_integral"):
        is_unsigned = is_number and _UNSIGNED.fullmatch(name) is not None
        is_whole = is_number and not (is_fraction and trait.endswith("integral"))
        return is_whole and is_unsigned == trait.startswith("unsigned")
    return None


_LABELED = re.compile(r"\b(?:func\s+[^\s(<]+|init[?!]?|subscript|\w+)\s*(?:<[^()]*>)?\s*\(")
_LABEL = re.compile(r"\s*(?:@\w+\s+)*`?(\w+)`?(?:\s+\w+)?\s*:(.*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"@\w+\([^()]*\)\s*")
_CUT = "\N{HORIZONTAL ELLIPSIS}"  # ends a signature that is too long to keep
_GIVES = "\N{RIGHTWARDS ARROW}"  # in the place of an arrow that ends with a bracket


@lru_cache(maxsize=1 << 14)
def labeled_parameters(signature: str) -> list[tuple[str, str]]:
    """Return the labels of the parameters of a function, "_" for those without, with what is written behind them.

    >>> labeled_parameters("func f(_ a: Int, at b: (T) -> A = c)"), labeled_parameters("case shop(String)")
    ([('_', ' Int'), ('at', ' (T) → A = c')], [('_', 'String')])
    """
    signature = _ATTRIBUTE.sub("", signature).replace("->", _GIVES)
    opened = _LABELED.search(signature)
    end = closing_bracket(signature, opened.end() - 1) if opened else -1
    if opened is not None and end < 0 and signature.endswith(_CUT):
        end = signature.rfind(",")
    if opened is None or not (inside := signature[opened.end() : max(end, 0)]).strip():
        return []
    several = [(_LABEL.match(each), each) for each in split_top(inside, ",")]
    return [(named[1], named[2]) if named else ("_", each) for named, each in several]


@lru_cache(maxsize=1 << 14)
def places_of_labels(signature: str, labels: str) -> tuple[int, ...] | None:
    """Return which parameter each argument is for, by labels with commas between; None if they do not fit.

    A function behind the other arguments is for the first parameter that takes one and is left.

    >>> signature = "@a(iOS 1) public func f<T: A<B>>(_ a: (T) -> Void, at b: Int = 1, c: Int..., d: [T: Int]) -> T"
    >>> [places_of_labels(signature, each) for each in ("_,d", "_,at,c,_,d", "_,c", "at,d", "_,d,e")]
    [(0, 3), (0, 1, 2, 2, 3), None, None, None]
    >>> [places_of_labels("init(a: Int = 1, done: @escaping () -> Void)", each) for each in ("a,{", "{", "done", "a")]
    [(0, 1), (1,), (1,), None]
    >>> places_of_labels("case shop(String, size: Int)", "_,size")
    (0, 1)
    """
    parameters = labeled_parameters(signature)
    is_cut = signature.endswith(_CUT)
    places: list[int] = []
    at = 0
    for label in labels.split(",") if labels else ():
        if label == BEHIND:
            functions = [place for place in range(at, len(parameters)) if _GIVES in parameters[place][1]]
            place = functions[0] if functions else at
        else:
            if places and label == "_" and parameters[places[-1]][1].rstrip().endswith(REST):
                places.append(places[-1])
                continue
            place = at
            while place < len(parameters) and parameters[place][0] != label and _may_be_left_out(parameters[place][1]):
                place += 1
            if place < len(parameters) and parameters[place][0] != label:
                return None
        if place >= len(parameters) and is_cut:
            break  # the rest is not known
        if place >= len(parameters) or not all(_may_be_left_out(taken) for _, taken in parameters[at:place]):
            return None
        places.append(place)
        at = place + 1
    return tuple(places) if is_cut or all(_may_be_left_out(taken) for _, taken in parameters[at:]) else None


def those_with_labels(functions: Sequence[int], definitions: Sequence[Definition], values: str) -> Sequence[int]:
    """Return the functions that take the labels in the `values` of a call; all where these have none."""
    if "|" not in values:
        return functions
    labels, signatures = values.partition("|")[2], ((each, definitions[each].signature) for each in functions)
    return [each for each, text in signatures if "(" not in text or places_of_labels(text, labels) is not None]


def _may_be_left_out(parameter: str) -> bool:
    return "=" in parameter.replace("==", "") or parameter.rstrip().endswith(REST)
