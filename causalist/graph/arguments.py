"""Which of several functions of one name a call means, by the types of its arguments.

What the number of arguments and literals leave open is asked of the values that the arguments hold. A type of the
repository is compared along its bases, any other by its name. An argument of which nothing is known leaves all open.
"""

from typing import TYPE_CHECKING

from causalist.graph.infer import annotations as receivers
from causalist.graph.program.overloads import REST, is_type_parameter, misfit
from causalist.graph.rules import RuleName
from causalist.graph.values import Value
from causalist.model.facts import OPTIONAL

if TYPE_CHECKING:
    from causalist.graph.infer.inference import Values

_SOME_TYPE = 10  # a parameter of a type from outside, which the argument may have
_ANY_TYPE = 20  # farther than any base: a parameter that takes everything
_ONE_OF_MANY = 100  # a parameter that takes any number of arguments, given one that is no array
_TOP = frozenset({"Object", "object", "dynamic"})


def nearest(values: "Values", place: tuple[int, int], functions: list[int], arguments: str, chains: str) -> list[int]:
    """Those of the namesakes of `functions`, which fit the number of the arguments and literals best, whose parameters
    are nearest to what the arguments hold; `functions` where that tells nothing. `place` is the (file, scope) of the
    call, `arguments` and `chains` are as `Call` has them."""
    program = values.program
    same, elsewhere = program.overloads_of(functions[0])
    if len(same) + len(elsewhere) < 2:
        return functions
    unknown = [position for position, letter in enumerate(arguments) if letter == "?"]
    held = [
        (position, value)
        for position, chain in zip(unknown, chains.split(","), strict=False)
        if chain and (value := _held(values, place, chain)) is not None
    ]
    settings = program.files[program.file_of[functions[0]]].settings
    if not held or settings is None:
        return functions
    literals = program.literals[settings.name]
    if not any(misfit(program.parameters.get(each), arguments, literals) is not None for each in same):
        same = [*same, *elsewhere]  # members of the type itself come first
    found: list[tuple[int, int, int]] = []
    for function in same:
        far = misfit(program.parameters.get(function), arguments, literals)
        steps = (
            [_distance(values, function, position, value) for position, value in held] if far is not None else [None]
        )
        if far is not None and None not in steps:
            found.append((far, sum(step or 0 for step in steps), function))
    least = min((each[:2] for each in found), default=None)
    return [function for far, steps, function in found if (far, steps) == least] or functions


def _held(values: "Values", place: tuple[int, int], chain: str) -> Value | None:
    """The type of what an argument holds: an instance of one of the repository, or one from outside by its name."""
    value = values.of_chain(*place, chain)
    if value is not None and value.kind == "definition":
        value = receivers.held_by(values, value.number) if values.program.is_value(value.number) else None
    if value is None or (value.kind == "external" and not (value.type and chain.isidentifier())):
        return None  # what a member or a call of something outside gives is not known
    return value if value.kind in ("instance", "external") and not value.also else None


def _distance(values: "Values", function: int, position: int, value: Value) -> int | None:
    """How far a parameter is from a value that it is given; None if it cannot take it."""
    parameters = values.program.parameters.get(function)
    if not parameters:
        return 0
    text = parameters[min(position, len(parameters) - 1)].removesuffix(OPTIONAL)
    if text.endswith(REST):
        far = _to_type(values, function, text.removesuffix(REST), value)
        return far + _ONE_OF_MANY if far is not None else None
    return _to_type(values, function, text, value)


def _to_type(values: "Values", function: int, text: str, value: Value) -> int | None:
    """How far a type that a function names is from a value."""
    program = values.program
    file = program.file_of[function]
    names = program.files[file]
    name = text.rpartition(".")[2]
    if name in _TOP or is_type_parameter(name) or name in names.bindings.get(function - names.first, {}):
        return _ANY_TYPE
    if text.endswith("]") or name[:1].islower() or name == "String":
        return None if value.type != name else 0
    wanted = receivers.declared(values, file, function - names.first, text, RuleName.ANNOTATION)
    if value.kind == "external":
        return 0 if value.type == name else None if wanted.kind == "instance" else _SOME_TYPE
    if wanted.kind != "instance":
        return _SOME_TYPE
    bases = program.linear_bases(value.number)
    return bases.index(wanted.number) if wanted.number in bases else None
