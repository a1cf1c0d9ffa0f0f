"""What names hold in languages whose annotations and values say what collections, tuples and unions hold.

Here a name may have several values, one of which it has at a time: a member is looked for in each of them. The notation
is that of `parse.shapes` and `parse.places`. Each function answers one question of `values`, which it is given.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.infer import annotations as receivers
from causalist.graph.infer.base import split_type
from causalist.graph.program.program import Program
from causalist.graph.rules import RuleName
from causalist.graph.values import BUILTIN, HOLDERS, UNKNOWN, Value
from causalist.model.facts import ALIASED, MODULE_SCOPE, NARROWED, RETURNED, Binding
from causalist.model.language import LanguageSettings, ShapeSettings
from causalist.model.symbols import NodeKind
from causalist.model.type_notation import split_top

if TYPE_CHECKING:
    from causalist.graph.infer.inference import Values

_DEEPEST = 24  # chains that are being read at the same time
_MOST_PARTS = 8  # of a union
_KNOWN = frozenset({"definition", "instance", "module", "dotted", "super", *HOLDERS})


def union_of(values: Iterable[Value | None]) -> Value | None:
    """One of several values, in their order. Of those that are not of the repository the first one stands for all."""
    found: list[Value] = []
    rest: Value | None = None
    for value in values:
        for each in value.parts if value is not None and value.kind == "union" else (value,):
            if each is None:
                continue
            if each.kind not in _KNOWN:
                if rest is None or rest.kind in ("local", "unknown-member"):
                    rest = each
                if each.kind in ("external", "builtin") and not any(f.kind in ("external", "builtin") for f in found):
                    found.append(each)
            elif not any((each.kind, each.number, each.parts) == (f.kind, f.number, f.parts) for f in found):
                found.append(each)
    if not any(each.kind in _KNOWN for each in found):
        return rest
    if len(found) == 1:
        return found[0]
    return Value("union", -1, found[0].rule, parts=tuple(found[:_MOST_PARTS]))


def by_rule(value: Value, rule: str) -> Value:
    """The same value, what it is one of and what it holds, as found by another rule: of functions and classes only
    where the rule is `held`."""
    kinds = ("instance", "union", *HOLDERS) if rule != RuleName.HELD else ("definition", "union")
    if value.kind not in kinds:
        return value
    return value._replace(rule=rule, parts=tuple(by_rule(part, rule) for part in value.parts))


def self_type(program: Program, names: FileSymbols, scope: int, name: str) -> int:
    """The type that a name for the instance or class around means in `scope`, or -1 where it means something else."""
    owner = program.enclosing_owner(names.first + scope) if scope >= 0 else -1
    if owner < 0 or not names.is_shaped:
        return owner
    if program.is_type(names.first + scope):  # what the name means in the body of a class the function around may say
        scope = names.facts.definitions[scope].parent
    binding = names.bindings.get(scope, {}).get(name) if scope >= 0 else None
    is_other = binding is not None and (binding.value or binding.type.startswith("="))
    return owner if program.is_type(owner) and not is_other else -1


def builtin(settings: ShapeSettings, name: str) -> Value | None:
    """The value of a name that nothing binds, if it is known to give nothing of the repository."""
    return BUILTIN if name in settings.builtins else None


def declared(values: "Values", file: int, scope: int, name: str, rule: str) -> Value:
    """What has the type that an annotation names in `scope`."""
    if not name:
        return UNKNOWN
    shape, held = split_type(name)
    if shape == "union":
        return union_of(declared(values, file, scope, each, rule) for each in held) or UNKNOWN
    if shape == "class":
        return _class_of(declared(values, file, scope, held[0], rule), rule)
    if shape:
        parts = tuple(declared(values, file, scope, each, rule) if each else UNKNOWN for each in held)
        return Value(shape, -1, rule, parts=parts)
    program = values.program
    if name.rpartition(".")[2] == "Self":
        first = program.files[file].first
        owner = program.enclosing_type(first + scope) if scope != MODULE_SCOPE else -1
        return Value("instance", owner, rule) if owner >= 0 else UNKNOWN
    value = values.of_chain(file, scope, name)
    if value is None:
        return BUILTIN._replace(type=name)
    return _instance_of(values, value, rule)


def _class_of(value: Value, rule: str) -> Value:
    if value.kind == "union":
        return union_of(_class_of(part, rule) for part in value.parts) or UNKNOWN
    return Value("definition", value.number, rule) if value.kind == "instance" else value


def _instance_of(values: "Values", value: Value, rule: str) -> Value:
    """What is of the type that a value is."""
    if value.kind == "union":
        return union_of(_instance_of(values, part, rule) for part in value.parts) or UNKNOWN
    if value.kind == "external":
        return value._replace(rule=rule)
    if value.kind != "definition":
        return value if value.kind == "builtin" else UNKNOWN
    program = values.program
    if program.is_type(value.number):
        return Value("instance", value.number, rule)
    if values.depth > _DEEPEST:
        return UNKNOWN
    facts = program.definition_of[value.number]
    if facts.kind == NodeKind.TYPE:
        return receivers.aliased(values, value.number) or UNKNOWN
    file = program.file_of[value.number]
    alias = program.files[file].bindings.get(facts.parent, {}).get(f"{ALIASED}{facts.name}")
    if alias is not None:
        return declared(values, file, alias.scope, alias.type, rule)
    held = values.content(value) if program.is_value(value.number) else None  # none where that leads back here
    return _instance_of(values, held, rule) if held is not None and held != value else UNKNOWN


def bound(
    values: "Values", file: int, binding: Binding, name: str, others: Sequence[tuple[int, Binding]] = ()
) -> Value:
    """What a variable, parameter or attribute holds: what its annotation says, or else one of the values that it gets.
    `others` are further bindings of it, with their files."""
    names = values.program.files[file]
    every = [(file, each) for each in names.several.get((binding.scope, binding.target), (binding,))] + [*others]
    checks = names.bindings.get(binding.scope, {}).get(f"{NARROWED}{binding.target}")
    said: Value | None = None
    for at, each in every:
        if each.type:
            outside = values.name_lookup.enclosing_scope(at, each)
            said = declared(values, at, outside, each.type, RuleName.ANNOTATION)
            if said.kind == "builtin" and outside != each.scope:
                said = declared(values, at, each.scope, each.type, RuleName.ANNOTATION)
            break
    found: Value | None = None
    if values.depth < _DEEPEST and (said is None or said.kind == "instance"):
        found = union_of(given(values, at, each.scope, each.value) for at, each in every if each.value != each.target)
    if said is not None:  # a value may be of a type below the one that is said
        found = said if said.kind != "instance" or found is None else _checked(said, found)
    if checks is not None:
        found = _checked(found, declared(values, file, checks.scope, checks.type, RuleName.ANNOTATION))
    return found if found is not None and found.kind != "unknown-member" else UNKNOWN


def _checked(value: Value | None, checked: Value) -> Value:
    """A value that is checked to be of some types. Where its own type has a member, that is meant."""
    if value is None or value.kind not in (*_KNOWN, "union"):
        return checked if checked.kind in (*_KNOWN, "union") or value is None else value
    if value.kind == "instance":
        more = checked.parts if checked.kind == "union" else (checked,)
        also = tuple(each.number for each in more if each.kind == "instance" and each.number != value.number)
        return value._replace(also=also) if also else value
    return value


def given(values: "Values", file: int, scope: int, value: str) -> Value | None:
    """What a value is in the notation of facts."""
    if not value:
        return None
    if "|" in value:
        several = split_top(value, "|")
        if len(several) > 1:
            return union_of(given(values, file, scope, each) for each in several)
    if value[0] == "{":
        return given(values, file, scope, value[1:-1])
    if value[0] == "(":
        parts = tuple(given(values, file, scope, each) or UNKNOWN for each in split_top(value[1:-1], ","))
        return Value("results", -1, RuleName.CONSTRUCTED, parts=parts)
    return values.of_chain(file, scope, value)


def returned(values: "Values", definition: int) -> Value | None:
    """What a function without an annotation is seen to return, or None."""
    program = values.program
    file = program.file_of[definition]
    names = program.files[file]
    binding = names.bindings.get(definition - names.first, {}).get(RETURNED)
    if binding is None or values.depth >= _DEEPEST:
        return None
    found = bound(values, file, binding, RETURNED)
    return by_rule(found, RuleName.INFERRED_RETURN) if found.kind in (*_KNOWN, "union", "external", "builtin") else None


def marked(values: "Values", settings: ShapeSettings, value: Value | None, marks: Sequence[str]) -> Value | None:
    """What the marks on a part of a chain make of its value."""
    for mark in marks:
        if value is not None and value.kind == "union":
            value = union_of(_marked(values, settings, part, mark) for part in value.parts)
        else:
            value = _marked(values, settings, value, mark)
    return value


def _marked(values: "Values", settings: ShapeSettings, value: Value | None, mark: str) -> Value | None:
    if mark == "()":
        return receivers.called(values, value)
    if mark in "^%":
        return Value("items" if mark == "^" else "mapping", -1, RuleName.CONSTRUCTED, parts=(value or UNKNOWN, UNKNOWN))
    if value is not None and value.kind == "definition":
        held = values.content(value)
        if held is not None:
            key = ("marked", value.number)
            if key in values.unfolding:  # `daily = daily["a"]`: it holds a part of itself
                return UNKNOWN
            values.unfolding.add(key)
            found = marked(values, settings, by_rule(held, RuleName.ATTRIBUTE_TYPE), (mark,))
            values.unfolding.discard(key)
            return found
        if mark == "[*]" and values.program.is_type(value.number):
            return Value("instance", value.number, RuleName.CONSTRUCTED)  # the members of an enumeration
        return value if mark[0] == "[" else UNKNOWN  # a generic type with its arguments
    if value is None or value.kind in ("external", "builtin"):
        return value
    if mark == "&":
        return _entered(values, settings, value)
    if mark == "[#]":
        element = _element(values, settings, value) or UNKNOWN
        return Value(
            "items", -1, value.rule, parts=(Value("results", -1, value.rule, parts=(BUILTIN, element)), BUILTIN)
        )
    if mark == "[*]":
        return _element(values, settings, value)
    place = int(mark.strip("[]:")) if mark.strip("[]:").isdigit() else -1
    if value.kind == "results":
        if place >= 0:
            return value.parts[place] if place < len(value.parts) else UNKNOWN
        return union_of(value.parts)
    if value.kind in ("items", "mapping"):
        return value.parts[0]
    if mark[0] == ":":
        return _numbered_field(values, settings, value, place) or _element(values, settings, value)
    return _by_method(values, value, settings.indexing) or UNKNOWN


def _numbered_field(values: "Values", settings: ShapeSettings, value: Value, place: int) -> Value | None:
    """What the field at a place holds of a record that is a tuple as well; None where the value is no such record."""
    program = values.program
    for owner in program.linear_bases(value.number) if value.kind == "instance" else ():
        names = program.files[program.file_of[owner]]
        local, facts = owner - names.first, names.facts
        if not any(each.definition == local and each.name in settings.records for each in facts.bases):
            continue
        fields = [i for i, d in enumerate(facts.definitions) if d.parent == local and d.kind == NodeKind.FIELD]
        if place < len(fields):
            held = values.content(Value("definition", names.first + fields[place], value.rule))
            return by_rule(held, RuleName.ATTRIBUTE_TYPE) if held is not None else UNKNOWN
    return None


def _element(values: "Values", settings: ShapeSettings, value: Value) -> Value | None:
    """What a loop over a value gives."""
    if value.kind == "items":
        return value.parts[0]
    if value.kind == "mapping":
        return value.parts[1]
    if value.kind == "results":
        return union_of(value.parts)
    many = _by_method(values, value, settings.iterating)
    if many is None or values.depth >= _DEEPEST:
        return UNKNOWN
    return many.parts[0] if many.kind == "items" else _by_method(values, many, settings.stepping) or UNKNOWN


def _entered(values: "Values", settings: ShapeSettings, value: Value) -> Value:
    """What a `with` statement binds."""
    if value.kind == "items":
        return value.parts[0]  # a generator that is made a context manager
    found = _by_method(values, value, settings.entering)
    return found if found is not None and found.kind not in ("local", "unknown-member") else value


def _by_method(values: "Values", value: Value, methods: Sequence[str]) -> Value | None:
    """What the first of these methods gives that a type has."""
    if value.kind != "instance":
        return None
    for method in methods:
        number, _ = values.program.find_member(value.number, method)
        if number >= 0:
            return receivers.called(values, Value("definition", number, value.rule))
    return None


def method_of(settings: ShapeSettings, value: Value, name: str) -> Value:
    """A method of a collection or tuple, known by what it gives."""
    if value.kind in ("items", "mapping"):
        held, key = value.parts[0], value.parts[1]
        result: Value | None = None
        if name in settings.elements:
            result = held
        elif name in settings.copies:
            result = value
        elif value.kind == "mapping" and name in settings.values:
            result = Value("items", -1, value.rule, parts=(held, BUILTIN))
        elif value.kind == "mapping" and name in settings.keys:
            result = Value("items", -1, value.rule, parts=(key, BUILTIN))
        elif value.kind == "mapping" and name in settings.items:
            pair = Value("results", -1, value.rule, parts=(key, held))
            result = Value("items", -1, value.rule, parts=(pair, BUILTIN))
        if result is not None:
            return Value("callable", -1, value.rule, parts=(result,))
    return BUILTIN


def called_instead(values: "Values", value: Value) -> Value | None:
    """What runs when a constant, field or property is called: what it holds. None where that is not known."""
    if value.kind == "union":
        return union_of(called_instead(values, part) or part for part in value.parts)
    if value.kind != "definition":
        return None
    held = values.content(value)
    if held is None or held.kind not in ("definition", "union") or held.number == value.number:
        return None
    return union_of(by_rule(part, RuleName.HELD) for part in (held.parts if held.kind == "union" else (held,)))


def called(value: Value, settings: LanguageSettings, method: str) -> tuple[list[Value], int]:
    """(the definitions that a call of one of several values may run, of how many possible ones). An external or builtin
    value is possible if it may have the method."""
    found: list[Value] = []
    n_others = 0
    for part in value.parts:
        if part.kind == "definition":
            found.append(part)
        elif found:
            continue
        elif part.kind == "external" or (part.kind == "builtin" and method in settings.builtin_methods):
            n_others = 1
    return found, len(found) + n_others
