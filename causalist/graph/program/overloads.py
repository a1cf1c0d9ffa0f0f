"""Overloads: the fit of functions of one name to the number of arguments and the literals of a call.

In: parameters as facts have them, and the arguments of a call. Out: a distance, and the functions that fit best. Types
of arguments that are no literals are left to the resolver.
"""

from collections.abc import Mapping, Sequence

from causalist.model.facts import UNCOUNTED, ArgumentKind
from causalist.model.type_notation import OPTIONAL

REST = "..."
_TOP_TYPES = frozenset({"Any", "Comparable", "Object", "Serializable"})
_SOME_TYPE = 200  # a type of which nobody knows that it takes the argument; farther than any number of arguments

Literals = Mapping[str, Sequence[str]]  # letter of an argument -> types that take it, the most fitting first


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
        total += 1  # what takes them without leaving anything out comes first
    for position, letter in enumerate(arguments):
        accepted = literals.get(letter)
        if accepted is None:
            continue
        name = parameters[min(position, len(parameters) - 1)].removesuffix(REST).rpartition(".")[2]
        if letter == ArgumentKind.FUNCTION:
            fits = [_distance_of_function(name, literals)]
            if position == len(arguments) - 1:  # it may stand behind arguments that were left out
                fits.append(_distance_of_function(parameters[-1].removesuffix(REST), literals))
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
            total += _SOME_TYPE
        elif not (takes_rest and position == len(parameters) - 1 and letter in (ArgumentKind.NULL, ArgumentKind.OTHER)):
            return None
    return total


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
    of_values = any(name in accepted and name not in _TOP_TYPES for accepted in literals.values())
    return None if of_values or not name[:1].isupper() else _SOME_TYPE


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


def arguments_of(part: str, called: str | None) -> str | None:
    """Return the arguments of a part of a chain: those of the call for the last part, unknown for the others."""
    return UNCOUNTED if "()" in part else called


def without_optional_marks(parameters: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return parameters without the marks of optional ones."""
    return tuple(each.removesuffix(OPTIONAL) for each in parameters) if parameters is not None else None
