"""Overloads: the fit of functions of one name to the number of arguments and the literals of a call.

In: parameters as facts have them, and the arguments of a call. Out: a distance, and the functions that fit best. Types
of arguments that are no literals are left to the resolver, which asks for the distance of one that converts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from causalist.graph.resolution_results import Value, ValueKind
from causalist.graph.rules import RuleName
from causalist.model.facts import UNCOUNTED, ArgumentKind, LambdaForm
from causalist.model.language_settings import ConversionSettings, LanguageSettings
from causalist.model.type_notation import OPTIONAL, split_generic, split_top

REST = "..."
_CONSTANT_METHOD = re.compile(r"\)\s*const\b")
_TOP_TYPES = frozenset({"Any", "Comparable", "Object", "Serializable"})
_UNKNOWN_TYPE = 200  # a type of which it is unknown if it takes the argument; farther than any number of arguments
SOME_TYPE = 10  # distance of a type from outside, which the argument may have
_SAME_KIND = 3  # distance of another name for a type that is not known
_CONVERTED = 30  # distance of a type that the type of the argument is converted to

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


def is_type_parameter(name: str) -> bool:
    """Return True if a name looks like the name of a type parameter."""
    return name[:1].isupper() and (len(name) == 1 or (len(name) == 2 and name[1].isdigit()))


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
        return _CONVERTED + 1 if number >= 0 or is_number else SOME_TYPE
    if value.kind is ValueKind.INSTANCE:
        if number >= 0 and number in bases:
            return bases.index(number)
        if is_number:
            return 1 if counts else _CONVERTED if is_truth else None
        return _CONVERTED if name == settings.any_pointer else None if is_pointer or is_enum else _CONVERTED + 1
    if not given or value.kind is ValueKind.EXTERNAL:
        return 0 if given and given.rpartition(".")[2] == written else SOME_TYPE
    if given == name:
        return 0
    if given == settings.function:
        return None if is_number or (is_pointer and "(" not in name) else SOME_TYPE
    if given == settings.null:
        return 1 if is_pointer else None if is_number else _CONVERTED
    if is_alias:
        return _SAME_KIND if given.endswith("*") == is_pointer else _CONVERTED + 1
    if re.fullmatch(settings.numbers, given):
        if is_number:
            return 2 if name in dict(settings.promoted).get(given, ()) else 3  # after a template, which is 1
        return None if is_pointer or is_enum else _CONVERTED
    if given.endswith("*"):
        if is_pointer:
            return _CONVERTED if name == settings.any_pointer else None
        if settings.text and given[:-1] in settings.characters and re.fullmatch(settings.text, name):
            return _CONVERTED
        # Text becomes a string of the standard library rather than an instance of the repository's type.
        return _CONVERTED if is_truth else None if is_number else _CONVERTED + 1 + (number >= 0)
    if any(given.endswith(each) and name.endswith(each) for each in settings.related):
        return 1 if given.startswith(settings.wide) == name.startswith(settings.wide) else None
    return None if is_pointer or is_number else _CONVERTED


_UNIVERSAL = {"#b": "~boolean", "#a": "~address"}
_TEXTS = ("~string", "~wide_string", "~wide_wide_string")
_NUMBERS = re.compile(
    r"~(?:.*(?:integer|natural|positive|unsigned|int|size|count|offset|index|byte|word|bits?)(?:_?\d+)?(?:_t)?"
    r"|u?int\d+.*)"
)
_REALS = re.compile(r"~.*(?:float|duration|real|double).*")
_PLAIN_TYPES = frozenset(f"~{each}" for each in (
    "boolean", "character", "duration", "float", "integer", "long_float", "long_integer", "long_long_float",
    "long_long_integer", "short_integer", "string", "unbounded_string", "wide_character", "wide_string",
    "wide_wide_character", "wide_wide_string", "address", "unsigned_8", "unsigned_16", "unsigned_32", "unsigned_64",
    "integer_8", "integer_16", "integer_32", "integer_64", "stream_element_array", "stream_element", "time",
    "stream_element_offset", "file_type", "count_type", "exception_occurrence", "unbounded_wide_wide_string",
))  # fmt: skip
FAR = 3  # distance of a type that may be another name


RegionPlace = tuple[int, int]  # a file and a scope in it


class NamedThing(NamedTuple):
    """Meaning of a part of a chain: a definition, an object, a package, a type, or something from outside."""

    kind: str  # "definition", "object", "region", "type", "outside"
    type: str = ""  # of an object; the qualified name of a region or type; the name of something outside
    number: int = -1
    rule: str = RuleName.SAME_FILE


class RegionCandidate(NamedTuple):
    """A definition that a name may mean, and the rule by which."""

    number: int
    rule: str


@dataclass(slots=True, eq=False)
class RegionTypes:
    """Types of a language of declarative regions, as far as their distance from one another depends on it.

    `stated` is what is declared of a type, with the place. `above` gives a type and those that it derives from, and
    `dereferenced` the type that an access leads to. Types are written as `RegionNotation` says, external ones with "~".
    """

    stated: Mapping[str, tuple[str, tuple[int, int]]]
    above: Callable[[str], list[str]]
    dereferenced: Callable[[str], str]

    def distance(self, given: str, taken: str, is_prefix: bool = False) -> int | None:
        """Return the distance of a type that is given from one that is taken; None if it does not fit."""
        if given == taken:
            return 0
        if is_prefix:
            given, taken = self.dereferenced(given), self.dereferenced(taken)
            if given == taken:
                return 0
        if "?" in (given, taken) or given == "<>":
            return 2
        if taken == "<>":
            return 1
        text = self.stated.get(taken, ("",))[0]
        is_known = taken in self.stated
        if is_known:
            root = self.above(taken)[-1]
            text = self.stated[root][0]
        if given.startswith("#"):
            return self._distance_of_literal(given, taken, text, is_known)
        if taken.startswith("#"):
            return self.distance(taken, given)
        if is_known and given in self.stated:
            above = self.above(given)
            if taken in above:
                return above.index(taken)
        is_access = given.startswith("^") or self.stated.get(given, ("",))[0].startswith("^")
        if is_access and (taken.startswith("^") or text.startswith("^")):
            one, other = self.dereferenced(given), self.dereferenced(taken)
            if one == other or {"?", "<>"} & {one, other}:
                return 1
            return 1 + self.above(one).index(other) if other in self.above(one) else None
        if is_access or taken.startswith("^"):
            other = taken if is_access else given
            return FAR if other.startswith("~") and other not in _PLAIN_TYPES else None
        if given.startswith("~") and taken.startswith("~"):
            return None if given in _PLAIN_TYPES and taken in _PLAIN_TYPES else FAR + 3
        if given.startswith("[]") or taken.startswith("[]"):
            return FAR
        root_text = self.stated[self.above(given)[-1]][0] if given in self.stated and taken.startswith("~") else ""
        if root_text.startswith("new ") and taken not in _PLAIN_TYPES:  # of a type from outside
            return 1 if root_text.rpartition(".")[2].endswith(taken[1:]) else FAR + 3
        return None

    def _distance_of_literal(self, given: str, taken: str, text: str, is_known: bool) -> int | None:
        is_access = text.startswith("^") or taken.startswith("^")
        outside = None if is_known or is_access or taken in _PLAIN_TYPES else FAR
        base = f"~{text[4:].rpartition('.')[2]}" if text.startswith("new ") else "" if is_known else taken
        match given:
            case "#i":
                is_number = text == given or base in ("~integer", "~natural", "~positive")
                return 0 if is_number else 1 if _NUMBERS.fullmatch(base) else outside
            case "#r":
                is_real = text == given or _REALS.fullmatch(base)
                return 0 if is_real else None if _NUMBERS.fullmatch(base) else outside
            case "#n" | "#p":
                return 0 if is_access else outside
            case "#g":
                if is_known:
                    return 0 if text in ("", "record") or text.startswith(("[]", "new ")) else None
                return FAR if outside or "string" in taken or "array" in taken else None
            case "#s":
                if base in _TEXTS:
                    return _TEXTS.index(base)
                return 1 if text.startswith("[]") else outside
            case "#c":
                return 0 if base == "~character" else 2 if text == "enum" or "character" in taken else None
        return 0 if base == _UNIVERSAL.get(given) else outside


def steps_of(chain: str) -> list[tuple[str, str | None]]:
    """Return the names of a chain, each with what it is given, or None.

    >>> steps_of("a.b(x;c.d).e()")
    [('a', None), ('b', 'x;c.d'), ('e', '')]
    """
    steps: list[tuple[str, str | None]] = []
    for part in split_top(chain, "."):
        name, bracket, rest = part.partition("(")
        steps.append((name, rest.partition(")(")[0].removesuffix(")") if bracket else None))
    return steps
