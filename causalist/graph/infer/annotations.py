"""What stands between a receiver and the type whose members it has: other names for types, bounds, wrappers,
collections and variants. Each function answers one question of `values`, which it is given."""

from typing import TYPE_CHECKING

from causalist.graph.infer import containers as shaped
from causalist.graph.infer import records
from causalist.graph.infer.base import split_type
from causalist.graph.program.overloads import UNCOUNTED
from causalist.graph.rules import RuleName
from causalist.graph.values import BUILTIN, HOLDERS, UNKNOWN, Value, array_of
from causalist.model.facts import MODULE_SCOPE, RETURNED, Binding
from causalist.model.language import TypeSettings
from causalist.model.symbols import CALLABLE_KINDS, NodeKind

if TYPE_CHECKING:
    from causalist.graph.file_symbols import FileSymbols
    from causalist.graph.infer.inference import Values
    from causalist.graph.program.program import Program

_MANY = "[]"  # ends the name of a type that is a collection; as a part of a chain, one element
_TELLING = frozenset({"instance", "many", "external", "builtin", "module", "union", "holder", "record"})
_MAKES = "new"  # an instance, of the class around where it stands by itself
_DEEPEST = 24  # chains that are being read at the same time


def declared(values: "Values", file: int, scope: int, name: str, rule: str) -> Value:
    """An instance of the type that an annotation names in `scope`, or an array or collection of such."""
    settings = values.program.files[file].settings
    if not name:
        return UNKNOWN
    if settings is not None and settings.shapes.sequences:
        return shaped.declared(values, file, scope, name, rule)
    outer, holds, inner = name.partition("?")
    if holds and "+" not in outer:
        own = declared(values, file, scope, outer, rule)  # a type of the repository, in spite of its name
        return own if own.kind == "instance" else declared(values, file, scope, inner, rule)
    if name.endswith(_MANY):
        element = declared(values, file, scope, name.removesuffix(_MANY), rule)
        if settings is None or not settings.types.containers:
            return array_of(element)
        return element._replace(kind="many") if element.kind == "instance" else BUILTIN
    if "+" in name:
        every = [declared(values, file, scope, each, rule) for each in name.split("+")]
        known = [each for each in every if each.kind == "instance"]
        return known[0]._replace(also=tuple(each.number for each in known[1:])) if known else every[0]
    shape, held = split_type(name) if settings is not None and settings.types.prefixed else ("", [])
    if shape == "record":
        return records.declared(values, file, scope, held)
    if shape:
        # What a range counts with is a number unless the type says otherwise.
        nameless = [UNKNOWN, BUILTIN] if shape == "items" else [UNKNOWN] * len(held)
        parts = tuple(
            declared(values, file, scope, each, rule) if each else other
            for each, other in zip(held, nameless, strict=True)
        )
        return Value(shape, -1, rule, parts=parts)
    value = values.of_chain(file, scope, name)
    if settings is not None and settings.names.all_declared:  # a type parameter is what its bound is, or any object
        value = value if value is not None and value.kind != "local" else BUILTIN
    if value is None:
        return _type_parameter(values, file, scope, name)
    if value.kind == "definition":
        value = value._replace(number=values.program.as_type(value.number))
        other = aliased(values, value.number)
        if other is not None:
            return other._replace(rule=rule)
        if values.program.is_type_like(value.number):
            return Value("instance", value.number, rule)
    if value.kind == "instance":  # a type parameter, known by its bound
        return value._replace(rule=rule)
    if value.kind == "external":
        return value._replace(rule=rule, type=name.rpartition(".")[2])
    return value if value.kind == "builtin" else UNKNOWN


def _type_parameter(values: "Values", file: int, scope: int, name: str) -> Value:
    """What is known of a type that a definition around binds, be it a class, whose own names are not visible otherwise;
    a builtin type where none does."""
    names = values.program.files[file]
    while scope != MODULE_SCOPE:
        binding = names.bindings.get(scope, {}).get(name)
        if binding is not None and binding.type and binding.type != name:
            key = (file, scope, name)
            if key in values.unfolding or len(values.unfolding) > _DEEPEST:
                return UNKNOWN  # parameters that bound one another
            values.unfolding.add(key)
            found = bound(values, file, binding, name)
            values.unfolding.discard(key)
            return found
        if binding is not None:
            elsewhere = values.program.bounds.get((names.first + scope, name))
            return bound(values, *elsewhere, name) if elsewhere is not None else UNKNOWN
        scope = names.facts.definitions[scope].parent
    return BUILTIN._replace(type=name.rpartition(".")[2])


def aliased(values: "Values", definition: int) -> Value | None:
    """What the type is that another name is given to; None for all other definitions, and where it is not known."""
    program = values.program
    if program.definition_of[definition].kind != NodeKind.TYPE or program.has_members(definition):
        return None
    file = program.file_of[definition]
    names = program.files[file]
    if names.settings is not None and names.settings.types.prefixed:
        return None  # a type of its own, with methods of its own
    meant = names.returns.get(definition - names.first)
    if not meant or values.depth > _DEEPEST or definition in values.unfolding:
        return None
    values.unfolding.add(definition)
    found = declared(values, file, definition - names.first, meant, RuleName.ANNOTATION)
    values.unfolding.discard(definition)
    return found if found.kind in ("instance", "external", "many") else None


def passed_on(values: "Values", settings: TypeSettings, value: Value, method: str) -> Value | None:
    """The instance on which a method is called that gives its receiver, or what that holds: `x.unwrap()` is x; or the
    one that a type is asked for in a way that it does not define itself: `T::default()`."""
    is_type = value.kind == "definition" and values.program.is_type_like(value.number)
    if is_type and method in settings.making:
        return value._replace(kind="instance", rule=RuleName.CONSTRUCTED)
    if method not in settings.passing:
        return None
    held = _held(values, value)
    return held if held is not None and held.kind == "instance" else None


def of_collection(values: "Values", settings: TypeSettings, value: Value, name: str) -> Value | None:
    """What a member of a collection gives, or an element of anything: one element, the collection, or something else;
    None where the receiver is no collection and no element is asked for."""
    held = _held(values, value) if name == _MANY or value.kind == "definition" else value
    if held is None or (held.kind != "many" and name != _MANY):
        return None
    if held.kind == "many":
        if name == _MANY or name in settings.elements:
            return held._replace(kind="instance")
        return held if name in settings.keeping or name in settings.passing else BUILTIN
    if held.kind != "instance":
        return held if held.kind in ("external", "builtin") else UNKNOWN
    for step in settings.steps:  # an iterator of the repository's own
        number, _ = values.program.find_member(held.number, step)
        if number >= 0:
            return called(values, Value("definition", number, held.rule)) or UNKNOWN
    return held  # a wrapper, which holds one


def extension(values: "Values", file: int, scope: int, value: Value, name: str) -> Value | None:
    """A method that a trait of the repository gives to a receiver of which the repository has no type. The trait has to
    be visible where the method is called, and to be the only one that has it."""
    program = values.program
    if not program.tree_paths.tree.has_file(file) or (value.kind == "external" and value.rule == RuleName.EXTERNAL):
        return None
    traits = [
        t
        for t in program.traits_with(name)
        if program.tree_paths.is_visible(file, scope, t, program.definition_of[t].name)
    ]
    if len(traits) != 1:
        return None
    trait = traits[0]
    given = program.foreign.get((trait, name), {})
    if value.kind in ("builtin", "external") and value.type:
        if value.type in given:
            return Value("definition", given[value.type], RuleName.TRAIT_IN_SCOPE)
        if trait not in program.for_all:
            return Value("definition", next(iter(given.values())), RuleName.TRAIT_IN_SCOPE) if len(given) == 1 else None
    elif not given and trait not in program.for_all and not program.is_only_in(trait, name):
        return None
    return Value("definition", program.find_own_member(trait, name), RuleName.TRAIT_IN_SCOPE)


def payload(values: "Values", variant: int, name: str) -> Value | None:
    """What a variant of an enumeration holds under a name or number."""
    program = values.program
    enumeration = program.parent(variant)
    if enumeration < 0 or program.definition_of[enumeration].kind != NodeKind.ENUM:
        return None
    names = program.files[program.file_of[variant]]
    key = f".{program.definition_of[variant].name}.{name}"
    binding = names.bindings.get(enumeration - names.first, {}).get(key)
    return bound(values, program.file_of[variant], binding, key) if binding is not None else None


def is_open(values: "Values", value: Value) -> bool:
    """Whether a value may have members that its definition does not show: its type is not known, or it is `self` in a
    class all of whose bases are known, so that only a class derived from it can have the member."""
    program = values.program
    if value.kind == "definition":
        return program.is_value(value.number) and held_by(values, value.number) is None
    if value.kind == "instance" and value.rule == RuleName.SELF:
        settings = program.files[program.file_of[value.number]].settings
        if settings is not None and (settings.names.all_declared or not settings.names.super_names):
            return False  # no type can be derived from it without being seen
        return not any(base in values.derived_from_outside for base in program.linear_bases(value.number))
    return False


def held_by(values: "Values", definition: int) -> Value | None:
    """What a constant or field holds, as far as it can be told."""
    program = values.program
    file = program.file_of[definition]
    names = program.files[file]
    facts = program.definition_of[definition]
    scope, key = facts.parent, facts.name
    for target in (key, f".{key}"):
        binding = names.bindings.get(scope, {}).get(target)
        if binding is not None:
            if names.is_shaped:
                held = shaped.bound(values, file, binding, key, values.assigned(program.parent(definition), key))
            else:
                held = bound(values, file, binding, key)
            if held.kind in _TELLING or held.kind in HOLDERS:
                return held
            if held.kind == "definition" and held.number != definition:
                return held
    enumerated = values.name_lookup.enum_instance(definition)
    owner = program.parent(definition)
    assigned = values.assigned(owner, key) if facts.kind == NodeKind.FIELD and not enumerated else ()
    if assigned and assigned[0][1].scope != scope:
        held = bound(values, *assigned[0], key)
        return held if held.kind in ("instance", "many", "external", "builtin") else None
    return enumerated


def bound(values: "Values", file: int, binding: Binding, name: str) -> Value:
    """What a variable, parameter or attribute holds, by its annotation or by what it was made of."""
    settings = values.program.files[file].settings
    if settings is not None and settings.shapes.sequences:
        return shaped.bound(values, file, binding, name)
    if binding.type and settings is not None and settings.names.class_scope_is_visible:
        return declared(values, file, binding.scope, binding.type, RuleName.ANNOTATION)
    if binding.type:
        # Annotations of parameters are read around the function; those of local names may name what is local.
        held = declared(
            values, file, values.name_lookup.enclosing_scope(file, binding), binding.type, RuleName.ANNOTATION
        )
        is_local = binding.target[:1] != "." and any(part.kind == "builtin" for part in held.parts)
        if held.kind != "builtin" and not is_local:
            return held
        return declared(values, file, binding.scope, binding.type, RuleName.ANNOTATION)
    if binding.value and binding.value != binding.target and values.depth < _DEEPEST:
        made = values.of_chain(file, binding.scope, binding.value)
        if made is not None and made.kind != "unknown-member":
            return made
    return UNKNOWN


def called(values: "Values", value: Value | None) -> Value | None:
    """What calling a value gives: an instance of a class, or of the type that a function says it returns."""
    if value is None or value.kind in ("external", "builtin"):
        return value
    if value.kind == "module":
        value = values.default_of(value)
    if value is not None and value.kind == "union":
        return shaped.union_of(called(values, part) for part in value.parts)
    if (
        value is not None
        and value.kind == "instance"
        and value.rule == RuleName.SELF
        and names_itself(values, value.number)
    ):
        return value._replace(rule=RuleName.CONSTRUCTED)
    if value is not None and value.kind in ("callable", "instance"):
        return values.result(value)
    if value is None or value.kind != "definition":
        return UNKNOWN
    program = values.program
    variant = values.name_lookup.enum_instance(value.number)
    if variant is not None:
        return variant._replace(rule=RuleName.CONSTRUCTED)
    file = program.file_of[value.number]
    names = program.files[file]
    prefixed = names.settings is not None and names.settings.types.prefixed
    if program.definition_of[value.number].kind == NodeKind.TYPE and not prefixed:
        return aliased(values, value.number) or UNKNOWN
    if program.is_type(value.number):
        return Value("instance", value.number, RuleName.CONSTRUCTED)
    returned = names.returns.get(value.number - names.first)
    by_comment = names.settings is not None and bool(names.settings.comments.tags)
    if returned and by_comment and program.is_constructor(value.number):
        returned = ""  # what a comment says of a function that makes objects is not what `new` gives
    if not returned and values.is_held(value):
        is_type = names.settings is not None and names.settings.types.instancing
        if is_type and program.definition_of[value.number].qualname in names.holders:
            return Value(
                "instance", value.number, RuleName.CONSTRUCTED
            )  # a value with functions, which stands for a type
        return values.result(value)
    for each in program.select_overloads(value.number, UNCOUNTED):
        other = program.files[program.file_of[each]]
        if other.returns.get(each - other.first) != returned and each != value.number:
            return UNKNOWN
    if not returned and names.is_shaped:
        return shaped.returned(values, value.number) or UNKNOWN
    if not returned:
        if program.is_constructor(value.number):
            return Value("instance", value.number, RuleName.CONSTRUCTED)
        return given_back(values, value.number) or UNKNOWN
    owner = program.enclosing_type(value.number)
    if returned in ("Self", "this", "this.type") and owner >= 0:
        return Value("instance", owner, RuleName.RETURN_TYPE)
    return declared(values, file, value.number - names.first, returned, RuleName.RETURN_TYPE)


def run_by_name(values: "Values", value: Value | None) -> Value | None:
    """What a function gives whose name stands for a call of it; any other value as it is."""
    if value is None or value.kind != "definition":
        return value
    is_function = values.program.definition_of[value.number].kind in CALLABLE_KINDS
    return called(values, value) if is_function else value


def given_back(values: "Values", function: int) -> Value | None:
    """What a function is seen to return."""
    program = values.program
    file = program.file_of[function]
    names = program.files[file]
    binding = names.bindings.get(function - names.first, {}).get(RETURNED)
    if binding is None or values.depth > _DEEPEST:
        return None
    if binding.value.startswith("{"):
        qualname = program.definition_of[function].qualname
        return Value("holder", file, RuleName.INFERRED_RETURN, qualname, also=(function,), type=binding.value)
    made = given(values, file, binding.scope, binding.value)
    if made is not None and made.kind == "instance" and not program.is_type(made.number):
        return made if program.is_constructor(made.number) else None  # `this` of a function that makes nothing
    return made


def given(values: "Values", file: int, scope: int, chain: str) -> Value | None:
    """What a chain gives that a function returns, or an object that it returns holds."""
    made = values.of_chain(file, scope, chain)
    if made is None or made.kind in ("local", "unknown-member"):
        return None
    return (
        made._replace(rule=RuleName.INFERRED_RETURN)
        if made.kind in ("definition", "instance", "holder", "many")
        else made
    )


def with_own_class(program: "Program", names: "FileSymbols", scope: int, chain: str) -> str:
    """A chain in which the class around makes an instance of itself, `new.run`, with the name of the class, `A().run`,
    in a language that calls members by their names alone."""
    settings = names.settings
    if scope < 0 or not chain.startswith(_MAKES) or settings is None or not settings.names.bare_calls:
        return chain
    head, _, rest = chain.partition(".")
    owner = program.enclosing_type(names.first + scope)
    if head.removesuffix("()") != _MAKES or owner < 0 or program.definition_of[owner].kind != NodeKind.CLASS:
        return chain
    if program.find_own_member(owner, _MAKES) >= 0:
        return chain  # one of its own
    made = program.definition_of[owner].name
    return f"{made}().{rest}" if rest else f"{made}()" if head != _MAKES else made


def names_itself(values: "Values", definition: int) -> bool:
    """Whether `self` may be the type itself, in what is no instance: `const C = this; new C()`."""
    settings = values.program.files[values.program.file_of[definition]].settings
    return settings is not None and bool(settings.names.assigned_infixes)


def _held(values: "Values", value: Value) -> Value | None:
    if value.kind == "definition" and values.program.is_value(value.number):
        held = held_by(values, value.number)
        is_field = values.program.definition_of[value.number].kind == NodeKind.FIELD
        return held._replace(rule=RuleName.ATTRIBUTE_TYPE) if held is not None and is_field and held.rule else held
    return value
