"""Overloads that labels of arguments tell apart, as in Swift: `move(to:)` and `move(by:)`; methods without a receiver.

In: functions of one name, and the labels, literals and values of a call's arguments. Out: the functions that take them.
"""

from causalist.graph.candidate_choice import OverloadChooser
from causalist.graph.infer.inference import Inference
from causalist.graph.overload_fit import places_of_labels
from causalist.graph.resolution_results import Value, ValueKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, UNCOUNTED, ArgumentKind
from causalist.model.node_ids import NodeKind

_PLAIN_TYPES = {"Bool", "Double", "Float", "Int", "String"}
_LITERAL_TYPES = {"s": ("String",), "i": ("Double", "Float", "Int"), "d": ("Double", "Float"), "b": ("Bool",)}


def select_labeled(
    chooser: OverloadChooser, place: tuple[int, int], functions: list[int], given: tuple[str, str]
) -> list[int]:
    """Return the functions of the name of `functions` that the labels and types of a call's arguments choose.

    `given` are arguments and values as `Call` has them. What a type does not have itself comes from a base.
    """
    program, name = chooser.inference.program, chooser.inference.program.definition_of[functions[0]].name
    chains, _, labels = given[1].partition("|")
    owner = program.owner_of.get(functions[0], program.parent(functions[0]))
    bases = program.linear_bases(owner)[1:] if owner >= 0 and program.is_type(owner) else ()
    found = (functions[0], *(program.find_own_member(base, name, given[0]) for base in bases))
    for function in found:
        every = dict.fromkeys([function, *(e for several in program.overloads_of(function) for e in several)])
        places = {
            each: at
            for each in (every if function >= 0 else ())
            if (at := places_of_labels(program.definition_of[each].signature, labels)) is not None
            and sum(name[-1:] not in "=." for name in program.parameters.get(each, ())) <= len(at)  # behind a cut
        }
        if places:
            break
    else:
        return functions
    inferred = chooser.infer_arguments(place, given[0], chains)
    is_single = {argument for argument, value in inferred if value.kind is ValueKind.INSTANCE}
    said = _declared_types(chooser, place, given[0], chains)
    far: dict[int, int] = {}
    for each, at in list(places.items()):
        names = program.parameters.get(each, ())
        taken = [names[to].strip("=.") if to < len(names) else "" for to in at]
        if any(argument in is_single and of.startswith("[") for argument, of in enumerate(taken)):
            del places[each]  # an array
            continue
        if any(is_said and of in _PLAIN_TYPES and of not in is_said for is_said, of in zip(said, taken, strict=False)):
            continue
        steps = [chooser.distance(each, at[argument], value) for argument, value in inferred if argument < len(at)]
        if None not in steps:
            far[each] = sum(step or 0 for step in steps)
    nearest = [each for each in places if far.get(each) == min(far.values(), default=None)] or list(places)
    around = place[1] if place[1] < 0 else program.outermost_function(program.files[place[0]].first + place[1])
    waits = around >= 0 and " async" in program.definition_of[around].signature
    alike = [each for each in nearest if (" async" in program.definition_of[each].signature) == waits] or nearest
    required = [
        each for each in alike if program.definition_of[max(program.parent(each), 0)].kind == NodeKind.INTERFACE
    ]
    return required if len(required) == 1 else alike  # which may have a default


def _declared_types(chooser: OverloadChooser, place: tuple[int, int], arguments: str, chains: str) -> list[set[str]]:
    """Return the types of the language that arguments may be of: literals, and variables that are said to be."""
    symbols, given = chooser.inference.program.files[place[0]], iter(chains.split(","))
    types: list[set[str]] = []
    for letter in arguments:
        name, scope, said = (next(given, "") if letter == ArgumentKind.OTHER else ""), place[1], ""
        while name.isidentifier() and scope != MODULE_SCOPE and not said:
            binding = symbols.bindings.get(scope, {}).get(name)
            said = binding.type if binding is not None else ""
            scope = symbols.facts.definitions[scope].parent if binding is None else MODULE_SCOPE
        types.append(set(_LITERAL_TYPES.get(letter, ())) or ({said} & _PLAIN_TYPES))
    return types


def find_method(
    inference: Inference, place: tuple[int, int], name: str, values: str, value: Value | None
) -> tuple[Value | None, str]:
    """Return what a called name means by the type of its first argument, and the chain that says so.

    `place` is the (file, scope) of the call. Functions of the file come before methods; `value` is what the name means
    by itself. If that is nothing, it may be a method of whatever is given.
    """
    is_local = value is not None and (value.rule == RuleName.SAME_FILE or value.kind is not ValueKind.DEFINITION)
    if is_local or not values:
        return value, name
    chain = f"{values.partition(',')[0] or '?'}.{name}"
    member = inference.infer_chain(*place, chain, UNCOUNTED)
    if member is not None and member.kind is ValueKind.DEFINITION:
        return member, chain
    return (Value(ValueKind.UNKNOWN_MEMBER, -1, ""), f"?.{name}") if value is None else (value, name)
