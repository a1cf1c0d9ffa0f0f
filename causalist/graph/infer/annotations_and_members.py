"""Annotations, aliases, bindings and calls -> values; members of objects, records and enumerations."""

from causalist._internal.lazy import dataclass, field
from causalist.graph.infer.base import InferenceBase
from causalist.graph.infer.containers import ContainerTypes, checked_value, is_parameter_of_function, returns_own_class
from causalist.graph.overload_fit import is_object
from causalist.graph.program import Program
from causalist.graph.resolution_results import BUILTIN, HOLDERS, KIND_OF_SHAPE, QUERY, UNKNOWN, Value, ValueKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Binding
from causalist.model.language_settings import TypeSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.type_notation import (
    NARROWED,
    PREDICATE,
    RETURNED,
    Mark,
    Shape,
    generic_of,
    split_function,
    split_generic,
    split_tuple,
    split_type,
    type_parameters_of,
)

_EACH, _ELEMENT = "[*", "[]"  # parts of a chain: each element, one; the latter ends the name of a collection, too
_CONTENT_KINDS = frozenset((ValueKind.INSTANCE, ValueKind.COLLECTION, ValueKind.EXTERNAL, ValueKind.BUILTIN,
    ValueKind.MODULE, ValueKind.UNION, ValueKind.OBJECT, ValueKind.RECORD))  # fmt: skip
_OF_MODEL = (ValueKind.DEFINITION, ValueKind.INSTANCE)  # what a query may be asked of
_ALIASED_KINDS = (ValueKind.INSTANCE, ValueKind.EXTERNAL, ValueKind.COLLECTION, ValueKind.CALLABLE)
_MEMBERLESS_KINDS, _UNKNOWN = (ValueKind.BUILTIN, ValueKind.UNKNOWN), (ValueKind.UNKNOWN, ValueKind.UNKNOWN_MEMBER)
_OWN_TYPES = ("Self", "this", "this.type", "static", "$this")
_MAX_DEPTH, _MAX_BASES = 24, 5  # chains that are being read at the same time; generic bases, one above the other
_DEFAULT_EXPORT = "default"  # what a file exports in place of itself


@dataclass(slots=True, eq=False)
class AnnotationTypes:
    """Types that names, bindings and calls are said or seen to have."""

    inference: InferenceBase
    containers: ContainerTypes
    program: Program = field(init=False)
    given: dict[str, Value] = field(default_factory=dict)  # what type parameters stand for, while a type is read

    def __post_init__(self) -> None:
        self.program = self.inference.program

    def infer_annotation(self, file: int, scope: int, name: str, rule: str) -> Value:
        """Return an instance of the type that an annotation names in `scope`, or an array or collection of such."""
        settings = self.program.files[file].settings
        if not name:
            return UNKNOWN
        if settings is not None and settings.shapes.sequences:
            return self.containers.infer_annotation(file, scope, name, rule)
        if self.given and name in self.given:
            return self.given[name].with_rule(rule)
        if settings is not None and settings.types.generic and "{" in name:
            head, arguments = split_generic(name)
            if arguments:
                return self._generic_type(file, scope, head, arguments, rule)
        if settings is not None and settings.types.tuples and name.startswith("(") and name.endswith(")"):
            names, several = split_tuple(name)
            parts = tuple(self.infer_annotation(file, scope, each, rule) if each else UNKNOWN for each in several)
            return Value(ValueKind.TUPLE, -1, rule, names, parts)
        if name[0] == "(" and (function := split_function(name)) is not None:
            result = self.infer_annotation(file, scope, function[1], RuleName.RETURN_TYPE)
            return Value(ValueKind.CALLABLE, -1, rule, parts=(result,))
        outer, holds, inner = name.partition("?")
        if holds and "+" not in outer and "{" not in outer:
            own = self.infer_annotation(file, scope, outer, rule)  # a type of the repository, in spite of its name
            if own.kind is ValueKind.INSTANCE:
                return own
            of_inner = self.infer_annotation(file, scope, inner, rule)
            if own.type and of_inner == BUILTIN and settings and settings.modules.headers:  # of what the library has
                element = self.infer_annotation(file, scope, inner.removesuffix(_ELEMENT), rule)
                return own._replace(parts=(element,)) if element.type and inner.endswith(_ELEMENT) else own
            if own.kind is not ValueKind.EXTERNAL:
                return of_inner
            if of_inner.kind is ValueKind.COLLECTION:
                return of_inner._replace(name=own.name)  # other members are of that package
            return own if of_inner.kind is ValueKind.BUILTIN else of_inner
        if name.endswith(_ELEMENT) and not ("+" in name and settings is not None and settings.types.unions):
            element = self.infer_annotation(file, scope, name.removesuffix(_ELEMENT), rule)
            if settings is None or not settings.types.containers:
                return element.as_element_of_array()
            if element.kind is ValueKind.BUILTIN and is_parameter_of_function(self.program.files[file], scope, name):
                return UNKNOWN  # which type it is each call decides
            is_known = element.kind in (ValueKind.INSTANCE, ValueKind.COLLECTION)
            return element._replace(kind=ValueKind.COLLECTION) if is_known else BUILTIN
        if "+" in name:
            every = [self.infer_annotation(file, scope, each, rule) for each in name.split("+")]
            instances = [each for each in every if each.kind is ValueKind.INSTANCE]
            if instances:
                return instances[0]._replace(also=tuple(each.number for each in instances[1:]))
            return next((each for each in every if each.kind is ValueKind.COLLECTION), every[0])
        shape, content = split_type(name) if settings is not None and settings.types.prefixed else (Shape.NONE, [])
        if shape is Shape.RECORD:
            return self._record_of_fields(file, scope, content)
        if shape is not Shape.NONE:
            # What a range counts with is a number unless the type says otherwise.
            nameless = [UNKNOWN, BUILTIN] if shape is Shape.SEQUENCE else [UNKNOWN] * len(content)
            parts = tuple(
                self.infer_annotation(file, scope, each, rule) if each else other
                for each, other in zip(content, nameless, strict=True)
            )
            return Value(KIND_OF_SHAPE[shape], -1, rule, parts=parts)
        if name.endswith("*"):  # of a type that has no members
            base = self.infer_annotation(file, scope, name[:-1], rule)
            return base._replace(type=f"{base.type}*") if base.type and base.kind in _MEMBERLESS_KINDS else base
        given, self.given = self.given, {}
        value = self.inference.infer_type_name(file, scope, name)
        self.given = given
        if settings is not None and settings.names.all_declared:  # a type parameter is what its bound is, or any object
            outside = UNKNOWN if settings.modules.file_classes else BUILTIN
            value = value if value is not None and value.kind is not ValueKind.UNKNOWN else outside
            if value.kind is ValueKind.BUILTIN and (settings.modules.headers or settings.types.literals):
                return Value(*value[:-1], value.type or name.rpartition(".")[2])
        if value is None:
            return self._bound_of_parameter(file, scope, name)
        if value.kind is ValueKind.DEFINITION:
            if settings is not None and settings.modules.headers:
                value = self.inference.class_of_constructor(value)
            number = self.program.as_type(value.number)
            value = value if number == value.number else value._replace(number=number)
            if (other := self.resolve_alias(number)) is not None:
                return other._replace(rule=rule)
            if self.program.is_type_like(value.number):
                return Value(ValueKind.INSTANCE, value.number, rule)
            if settings is not None and settings.modules.headers:  # another name for something unknown
                return UNKNOWN._replace(type=name.rpartition(".")[2])
            if settings is not None and settings.modules.names_types:  # a constant that holds a type, or a file
                held = self.inference.content_of_value(value)
                value = held if held is not None else value
                if value.kind is ValueKind.DEFINITION and self.program.is_type_like(value.number):
                    return Value(ValueKind.INSTANCE, value.number, rule)
        if value.kind is ValueKind.INSTANCE:  # a type parameter, known by its bound
            return value._replace(rule=rule)
        if value.kind is ValueKind.COLLECTION and name.endswith("iterator"):
            return value._replace(kind=ValueKind.INSTANCE, rule=rule)
        if value.kind is ValueKind.EXTERNAL:
            return value._replace(rule=rule, type=name.rpartition(".")[2])
        is_named = value.kind in (ValueKind.MODULE, ValueKind.COLLECTION)  # a file, which is a struct too, or a list
        is_held = is_named and settings is not None and settings.modules.beside
        return value if is_held or value.kind is ValueKind.BUILTIN else UNKNOWN

    def _generic_type(self, file: int, scope: int, head: str, arguments: list[str], rule: str) -> Value:
        """Return an instance of a generic type, which knows its arguments; a function for a type of functions."""
        settings = self.program.files[file].settings
        is_function = settings is not None and head in settings.types.functions
        value = UNKNOWN if is_function else self.infer_annotation(file, scope, head, rule)
        if value.kind is not ValueKind.INSTANCE and not is_function:  # what it is of says nothing of its members
            return value._replace(type=generic_of(head, arguments)) if value.type == head else value
        parts = tuple(self.infer_annotation(file, scope, each, rule) if each else UNKNOWN for each in arguments)
        if is_function:
            return Value(ValueKind.CALLABLE, -1, rule, parts=(parts[-1],), type=generic_of(head, arguments))
        return value._replace(number=self.program.of_arity(value.number, len(arguments)), parts=parts)

    def type_arguments(self, value: Value, owner: int, depth: int = 0) -> dict[str, Value]:
        """Return what the type parameters of `owner` stand for in a value of that type or of one below it."""
        program = self.program
        symbols = program.files[program.file_of[value.number]]
        if symbols.settings is None or not symbols.settings.types.generic or depth > _MAX_BASES:
            return {}
        names = type_parameters_of(program.definition_of[value.number].signature)
        own = dict(zip(names, value.parts, strict=False)) if value.parts else {}
        if program.canonical.get(value.number, value.number) == program.canonical.get(owner, owner):
            return own
        local = value.number - symbols.first
        for base in symbols.facts.bases:
            if base.definition != local or "{" not in base.name:
                continue
            given, self.given = self.given, own
            above = self.infer_annotation(program.file_of[value.number], local, base.name, value.rule)
            self.given = given
            if above.kind is ValueKind.INSTANCE and owner in program.linear_bases(above.number):
                return self.type_arguments(above, owner, depth + 1)
        return {}

    def _reading(self, value: Value) -> dict[str, Value]:
        return dict(zip(value.type.split(","), value.parts, strict=False)) if value.parts and value.type else {}

    def _record_of_fields(self, file: int, scope: int, fields: list[str]) -> Value:
        """Return a struct without a name that has these fields: `name:T`, `name:` or, embedded, `T`.

        Its `parts` are what the fields hold and its `name` lists theirs. A dot stands before an embedded field, which
        gives its own members to the record.
        """
        names: list[str] = []
        parts: list[Value] = []
        for each in fields:
            name, named, written = each.partition(":")
            content = written if named else name
            names.append(name if named else f".{name.rpartition('.')[2]}")
            parts.append(self.infer_annotation(file, scope, content, RuleName.ATTRIBUTE_TYPE) if content else UNKNOWN)
        return Value(ValueKind.RECORD, -1, RuleName.ATTRIBUTE_TYPE, ",".join(names), tuple(parts))

    def _bound_of_parameter(self, file: int, scope: int, name: str) -> Value:
        """Return the bound of a type parameter of a definition around; a builtin type where none has that parameter.

        Those of classes count too, although names inside of a class are not visible otherwise.
        """
        symbols = self.program.files[file]
        while scope != MODULE_SCOPE:
            binding = symbols.bindings.get(scope, {}).get(name)
            if binding is not None and binding.type and binding.type != name:
                key = (file, scope, name)
                if key in self.inference.unfolding or len(self.inference.unfolding) > _MAX_DEPTH:
                    return UNKNOWN  # parameters that bound one another
                self.inference.unfolding.add(key)
                bound = self.binding_value(file, binding, name)
                self.inference.unfolding.discard(key)
                return bound
            if binding is not None:
                elsewhere = self.program.bounds.get((symbols.first + scope, name))
                return self.binding_value(*elsewhere, name) if elsewhere is not None else UNKNOWN
            scope = symbols.facts.definitions[scope].parent
        return BUILTIN._replace(type=name.rpartition(".")[2])

    def resolve_alias(self, definition: int) -> Value | None:
        """Return the type that another name is given to; None for other definitions, and where it is not known."""
        if self.program.definition_of[definition].kind != NodeKind.TYPE or self.program.has_members(definition):
            return None
        symbols = self.program.files[file := self.program.file_of[definition]]
        if symbols.settings is not None and symbols.settings.types.prefixed:
            return None  # a type of its own, with methods of its own
        local = definition - symbols.first
        types = [each for each in (symbols.returns.get(local), *symbols.aliases.get(local, ())) if each]
        if not types or self.inference.depth > _MAX_DEPTH or definition in self.inference.unfolding:
            return None
        self.inference.unfolding.add(definition)
        aliased = Value.union(self.infer_annotation(file, local, each, RuleName.ANNOTATION) for each in types)
        self.inference.unfolding.discard(definition)
        if aliased is None or aliased.kind in _ALIASED_KINDS:
            return aliased
        is_plain = bool(aliased.type) or aliased.kind is ValueKind.UNION  # `typedef unsigned Id`
        return aliased if is_plain and symbols.settings is not None and symbols.settings.modules.headers else None

    def content_of(self, definition: int) -> Value | None:
        """Return the value that a constant or field holds; None where it is not known."""
        program = self.program
        symbols = program.files[file := program.file_of[definition]]
        facts = program.definition_of[definition]
        scope, key = facts.parent, facts.name
        if symbols.is_shaped and (member := self.inference.name_lookup.enum_instance(definition)) is not None:
            return member
        for target in (key, f".{key}"):
            binding = symbols.bindings.get(scope, {}).get(target)
            if binding is not None:
                if symbols.is_shaped:
                    content = self.containers.binding_value(
                        file, binding, key, self.inference.assignments_of(program.parent(definition), key)
                    )
                else:
                    given = symbols.several.get((scope, target), (binding,))
                    content = Value.union(self.binding_value(file, each, key) for each in given) or UNKNOWN
                if content == BUILTIN and facts.signature.startswith("#"):  # a macro for what is declared nowhere
                    return None
                if content.kind in _CONTENT_KINDS or content.kind in HOLDERS:
                    return content
                if content.kind is ValueKind.DEFINITION and content.number != definition:
                    return content
        enumerated = self.inference.name_lookup.enum_instance(definition)
        owner = program.parent(definition)
        assigned = self.inference.assignments_of(owner, key) if facts.kind == NodeKind.FIELD and not enumerated else ()
        if assigned and assigned[0][1].scope != scope:
            content = self.binding_value(*assigned[0], key)
            is_known = content.kind in _ALIASED_KINDS or content.kind is ValueKind.BUILTIN
            return content if is_known else None
        return enumerated

    def binding_value(self, file: int, binding: Binding, name: str) -> Value:
        """Return the value of a variable, parameter or attribute, by its annotation or the chain that it gets."""
        settings = self.program.files[file].settings
        if settings is not None and settings.shapes.sequences:
            return self.containers.binding_value(file, binding, name)
        declared = self._declared_value(file, binding)
        checked = self.checks_of(file, binding.scope, binding.target)
        return declared if checked is None else checked_value(declared, checked)

    def checks_of(self, file: int, scope: int, name: str) -> Value | None:
        """Return an instance of the type that a check or a function with a type predicate says of a name, or None."""
        checks = self.program.files[file].bindings.get(scope, {}).get(f"{NARROWED}{name}")
        if checks is None:
            return None
        if checks.type:
            checked = self.infer_annotation(file, checks.scope, checks.type, RuleName.ANNOTATION)
        else:
            guard = self.inference.infer_chain(file, checks.scope, checks.value)
            if guard is None or guard.kind is not ValueKind.DEFINITION:
                return None
            symbols = self.program.files[self.program.file_of[guard.number]]
            returned = symbols.returns.get(guard.number - symbols.first, "")
            if not returned.startswith(PREDICATE):
                return None
            local, type_ = guard.number - symbols.first, returned.removeprefix(PREDICATE)
            checked = self.infer_annotation(self.program.file_of[guard.number], local, type_, RuleName.ANNOTATION)
        return checked if checked.kind in (ValueKind.INSTANCE, ValueKind.COLLECTION) else None

    def _declared_value(self, file: int, binding: Binding) -> Value:
        """Return the value of a binding by its annotation or the chain that it gets, without checks of its type."""
        settings = self.program.files[file].settings
        if binding.type and settings is not None and settings.names.class_scope_is_visible:
            typed = self.infer_annotation(file, binding.scope, binding.type, RuleName.ANNOTATION)
            if typed.kind is not ValueKind.UNKNOWN or not settings.modules.file_classes:
                return typed  # else the class of a file may be behind one from outside
        elif binding.type:
            # Annotations of parameters are read around the function; those of local names may name what is local.
            content = self.infer_annotation(
                file, self.inference.name_lookup.enclosing_scope(file, binding), binding.type, RuleName.ANNOTATION
            )
            is_local = binding.target[:1] != "." and any(part.kind is ValueKind.BUILTIN for part in content.parts)
            if content.kind is not ValueKind.BUILTIN and not is_local:
                return content
            return self.infer_annotation(file, binding.scope, binding.type, RuleName.ANNOTATION)
        if binding.value.startswith("{"):
            return self.containers.object_literal(file, binding)
        if binding.value and binding.value != binding.target and self.inference.depth < _MAX_DEPTH:
            given, self.given = self.given, {}
            made = self.inference.value_at(file, binding)
            self.given = given
            if made is not None and made.kind is not ValueKind.UNKNOWN_MEMBER:
                return made
        return UNKNOWN

    def call_result(self, value: Value | None) -> Value | None:
        """Return the result of calling a value: an instance of a class, or of the return type of a function."""
        if value is None or value.kind in (ValueKind.EXTERNAL, ValueKind.BUILTIN):
            return value
        if value.kind is ValueKind.MODULE:
            value = self.inference.default_export(value) or UNKNOWN
        if value.kind is ValueKind.UNION:
            return Value.union(self.call_result(part) for part in value.parts)
        is_self = (value.kind, value.rule) == (ValueKind.INSTANCE, RuleName.SELF)
        if is_self and returns_own_class(self.program, value.number):
            return value._replace(rule=RuleName.CONSTRUCTED)
        if (method := self._call_method_of(value)) is not None:
            return self.call_result(method)
        if value.kind in (ValueKind.CALLABLE, ValueKind.INSTANCE):
            return self.inference.result_of_held(value)
        if (said := self.containers.result_said(value)) is not None:
            return said
        if value.kind is not ValueKind.DEFINITION:
            return UNKNOWN
        program = self.program
        if value.type == QUERY:
            return self.inference.queries.result_of(value)
        variant = self.inference.name_lookup.enum_instance(value.number)
        if variant is not None:
            return variant._replace(rule=RuleName.CONSTRUCTED)
        file = program.file_of[value.number]
        symbols = program.files[file]
        prefixed = symbols.settings is not None and symbols.settings.types.prefixed
        if program.definition_of[value.number].kind == NodeKind.TYPE and not prefixed:
            return self.resolve_alias(value.number) or UNKNOWN
        if program.is_type(value.number):
            return Value(ValueKind.INSTANCE, value.number, RuleName.CONSTRUCTED)
        returned = self.containers.declared_return(symbols, value.number - symbols.first)
        by_comment = symbols.settings is not None and bool(symbols.settings.comments.tags)
        if returned and by_comment and program.is_constructor(value.number):
            returned = ""  # what a comment says of a function that makes objects is not what `new` gives
        if not returned and self.inference.is_held(value):
            if (store := self.containers.store_of(value.number, Mark.CALL)) is not None:
                return store
            is_type = symbols.settings is not None and symbols.settings.types.instancing
            if is_type and program.definition_of[value.number].qualname in symbols.holders:
                # A value with functions stands for a type.
                return Value(ValueKind.INSTANCE, value.number, RuleName.CONSTRUCTED)
            return self.inference.result_of_held(value)
        meant = self.containers.overload_with_result(value.number, returned)
        if meant != value.number:
            return self.call_result(value._replace(number=meant)) if meant >= 0 else UNKNOWN
        if not returned and symbols.is_shaped:
            return self.containers.infer_return(value.number) or UNKNOWN
        if not returned:
            if program.is_constructor(value.number):
                return Value(ValueKind.INSTANCE, value.number, RuleName.CONSTRUCTED)
            queries = self.inference.queries
            is_bare = symbols.settings is not None and symbols.settings.names.bare_calls
            is_filter = is_bare and queries.is_filter(value.number)
            return (queries.of_own_class(value.number) if is_filter else self.infer_return(value.number)) or UNKNOWN
        if returned.startswith(PREDICATE):
            return BUILTIN
        owner = program.enclosing_type(value.number)
        if returned in ("Self", "this", "this.type") and owner >= 0:
            return Value(ValueKind.INSTANCE, owner, RuleName.RETURN_TYPE)
        given, self.given = self.given, self._reading(value)
        result = self.infer_annotation(file, value.number - symbols.first, returned, RuleName.RETURN_TYPE)
        self.given = given
        return self.containers.or_returned_function(value.number, result)

    def content_of_member(self, value: Value) -> Value | None:
        """Return the value that a constant or field holds, with what its type says of the arguments of its owner."""
        given, self.given = self.given, self._reading(value)
        content = self.content_of(value.number)
        self.given = given
        return content

    def _call_method_of(self, value: Value) -> Value | None:
        """Return the method that runs when an instance is called, in languages with annotations of collections."""
        signature = self.program.definition_of[value.number].signature if value.number >= 0 else ""
        settings = self.program.files[self.program.file_of[value.number]].settings if signature else None
        if settings is None or not (value.kind is ValueKind.INSTANCE or is_object(signature)):
            return None
        if not (settings.names.call_method and (settings.shapes.sequences or settings.names.callables_apart)):
            return None
        number, _ = self.program.find_member(value.number, settings.names.call_method)
        return Value(ValueKind.DEFINITION, number, value.rule) if number >= 0 else None

    def receiver_rule(self, method: Value) -> str:
        """Return the rule by which a method gives back the object it is called on, of whatever derived type that is.

        "" for other methods.
        """
        program = self.program
        if method.kind is not ValueKind.DEFINITION or program.definition_of[method.number].kind != NodeKind.METHOD:
            return ""
        symbols = program.files[program.file_of[method.number]]
        local = method.number - symbols.first
        if returned := symbols.returns.get(local, ""):
            return RuleName.RETURN_TYPE if returned in _OWN_TYPES else ""
        given, settings = symbols.bindings.get(local, {}).get(RETURNED), symbols.settings
        is_itself = given and settings and not given.type and given.value in settings.names.self_names
        if settings is not None and (makers := settings.types.makers):
            return RuleName.CONSTRUCTED if is_itself or program.definition_of[method.number].name in makers else ""
        return RuleName.INFERRED_RETURN if is_itself else ""

    def run_by_name(self, value: Value | None, is_relation: bool = False) -> Value | None:
        """Return the result of a function whose name alone is a call of it; any other value as it is.

        With `is_relation` it is a call if that leads to an instance of the repository.
        """
        if value is None or value.kind is not ValueKind.DEFINITION:
            return value
        is_function = self.program.definition_of[value.number].kind in CALLABLE_KINDS
        result = self.call_result(value) if is_function else value
        return value if is_relation and (result is None or result.kind is not ValueKind.INSTANCE) else result

    def infer_return(self, function: int) -> Value | None:
        """Return the value in the return statements of a function without a return type."""
        program = self.program
        file = program.file_of[function]
        symbols = program.files[file]
        binding = symbols.bindings.get(function - symbols.first, {}).get(RETURNED)
        if binding is None or self.inference.depth > _MAX_DEPTH:
            return None
        if binding.value.startswith("{"):
            qualname = program.definition_of[function].qualname
            return Value(
                ValueKind.OBJECT, file, RuleName.INFERRED_RETURN, qualname, also=(function,), type=binding.value
            )
        value = self.infer_returned_chain(file, binding.scope, binding.value)
        if value is not None and value.kind is ValueKind.INSTANCE and not program.is_type(value.number):
            return value if program.is_constructor(value.number) else None  # `this` of a function that makes nothing
        return value

    def infer_returned_chain(self, file: int, scope: int, chain: str) -> Value | None:
        """Return the value of a chain in a return statement, or in an object literal there."""
        made = self.inference.infer_chain(file, scope, chain)
        if made is None or made.kind in _UNKNOWN or made.rule == RuleName.LIKE_NAMED:  # a guess
            return None
        if made.kind in (ValueKind.DEFINITION, ValueKind.INSTANCE, ValueKind.OBJECT, ValueKind.COLLECTION):
            return made._replace(rule=RuleName.INFERRED_RETURN)
        return made


@dataclass(slots=True, eq=False)
class MemberTypes:
    """Members that the definition of a value does not name.

    Values of kind `OBJECT` are objects that are no symbols themselves but hold some: exports of a file, literals, what
    a function returns. `Value.number` is the file, `Value.name` the beginning of the qualified names of their members,
    "" for members at the top of the file.
    """

    inference: InferenceBase
    containers: ContainerTypes
    annotations: AnnotationTypes
    program: Program = field(init=False)

    def __post_init__(self) -> None:
        self.program = self.inference.program

    def passthrough_type(self, settings: TypeSettings, value: Value, method: str) -> Value | None:
        """Return the instance that a method passes through, or what a factory method of a type makes; else None.

        `x.unwrap()` is x or what x holds; `T::default()` is a T although T does not define it, `T::where()` several.
        """
        if method in settings.queries and value.kind in _OF_MODEL and self.program.is_type(value.number):
            return Value(ValueKind.COLLECTION, value.number, RuleName.CONSTRUCTED)
        if settings.queries and method in settings.factory_methods and value.kind is ValueKind.INSTANCE:
            return value._replace(rule=RuleName.CONSTRUCTED)  # of what a relation leads to
        if method in settings.factory_methods and value.kind is ValueKind.DEFINITION:
            of_class = self.program.file_of[value.number] in self.program.declared.class_files
            made = (self.inference.content_of_value(value) if of_class else None) or value  # a name for a scene
            if made.kind is ValueKind.DEFINITION and self.program.is_type_like(made.number):
                return made._replace(kind=ValueKind.INSTANCE, rule=RuleName.CONSTRUCTED)
        if method not in settings.unwrap_methods and method not in settings.unwrap_properties:
            return None
        content = self._content_or_itself(value)
        return content if content is not None and content.kind is ValueKind.INSTANCE else None

    def collection_member(self, settings: TypeSettings, value: Value, name: str, is_run: bool = False) -> Value | None:
        """Return the value of a member of a collection, or of an element of anything.

        That is one element, the collection, or something else. None: the receiver is no collection and no element is
        asked for.
        """
        name, is_each = (_ELEMENT, True) if name == _EACH else (name, False)
        content = self._content_or_itself(value) if name == _ELEMENT or value.kind is ValueKind.DEFINITION else value
        queries = self.inference.queries if settings.queries and content is not None and name != _ELEMENT else None
        if queries and content and (filtered := queries.filter_of(settings, content, name, is_run)) is not None:
            return filtered
        if content is None or (content.kind is not ValueKind.COLLECTION and name != _ELEMENT):
            return None
        if content.kind is ValueKind.COLLECTION:
            if name == _ELEMENT or name in settings.elements:
                return content._replace(kind=ValueKind.INSTANCE)
            if name in settings.collection_methods or name in settings.unwrap_methods:
                return content
            if settings.queries:  # `whereName`, or what a model adds to its queries
                return content if name.startswith("where") else UNKNOWN
            return Value(ValueKind.EXTERNAL, -1, RuleName.EXTERNAL, content.name) if content.name else BUILTIN
        if content.kind is ValueKind.INSTANCE and settings.casts and name == _ELEMENT:
            return UNKNOWN  # an object with names of any kind
        if content.kind is not ValueKind.INSTANCE:
            return content if content.kind in (ValueKind.EXTERNAL, ValueKind.BUILTIN) else UNKNOWN
        element = self.inference.element_of_iterable(content, settings.iterator_methods, is_each)
        if element is None and settings.queries:  # what is no model can hold anything
            bases = self.program.linear_bases(content.number)
            return UNKNOWN if self.inference.derived_from_outside.isdisjoint(bases) else content
        return content if element is None else element  # a wrapper holds one

    def trait_method(self, file: int, scope: int, value: Value, name: str) -> Value | None:
        """Return the method that a trait of the repository gives to a receiver of a type from outside.

        The trait has to be visible where the method is called, and to be the only one that has it.
        """
        program = self.program
        is_outside = value.kind is ValueKind.EXTERNAL and value.rule == RuleName.EXTERNAL
        if is_outside or not program.tree_paths.tree.has_file(file):
            return None
        is_visible, named = program.tree_paths.is_visible, program.definition_of
        traits = [t for t in program.traits_with(name) if is_visible(file, scope, t, named[t].name)]
        if len(traits) != 1:
            return None
        trait = traits[0]
        methods = program.foreign.get((trait, name), {})
        if value.kind in (ValueKind.BUILTIN, ValueKind.EXTERNAL) and value.type:
            if value.type in methods:
                return Value(ValueKind.DEFINITION, methods[value.type], RuleName.TRAIT_IN_SCOPE)
            if trait not in program.for_all:
                only = next(iter(methods.values()), -1)
                return Value(ValueKind.DEFINITION, only, RuleName.TRAIT_IN_SCOPE) if len(methods) == 1 else None
        elif not methods and trait not in program.for_all and not program.is_only_in(trait, name):
            return None
        return Value(ValueKind.DEFINITION, program.find_own_member(trait, name), RuleName.TRAIT_IN_SCOPE)

    def variant_payload(self, variant: int, name: str) -> Value | None:
        """Return the value that a variant of an enumeration holds under a name or number."""
        program = self.program
        enumeration = program.parent(variant)
        if enumeration < 0 or program.definition_of[enumeration].kind != NodeKind.ENUM:
            return self.containers.value_of_member(variant, name)
        symbols = program.files[program.file_of[variant]]
        key = f".{program.definition_of[variant].name}.{name}"
        binding = symbols.bindings.get(enumeration - symbols.first, {}).get(key)
        return self.annotations.binding_value(program.file_of[variant], binding, key) if binding is not None else None

    def can_have_more_members(self, value: Value, is_held: bool = False) -> bool:
        """Return True if a value may have members that its definition does not show, or if one of them is `is_held`.

        Its type is not known, or it is `self` in a class of known bases, or is what a base from outside keeps.
        """
        program = self.program
        if value.kind is ValueKind.DEFINITION and program.is_value(value.number):
            content = self.annotations.content_of(value.number)
            return content is None or (content.kind is ValueKind.OBJECT and self.can_have_more_members(content))
        if value.kind is ValueKind.OBJECT:
            return value.rule == RuleName.OBJECT_MEMBER  # a literal that has a name
        if value.kind is ValueKind.INSTANCE and value.rule == RuleName.SELF:
            settings = program.files[program.file_of[value.number]].settings
            is_derived = any(each in self.inference.derived_from_outside for each in program.linear_bases(value.number))
            if settings is not None and (settings.names.all_declared or not settings.names.super_names):
                return is_held and is_derived and settings.names.object_first  # none derives from it unseen
            return not is_derived
        return False

    def _content_or_itself(self, value: Value) -> Value | None:
        if value.kind is ValueKind.DEFINITION and self.program.is_value(value.number):
            content = self.annotations.content_of_member(value)
            is_field = self.program.definition_of[value.number].kind == NodeKind.FIELD
            if content is not None and is_field and content.rule:
                return content._replace(rule=RuleName.ATTRIBUTE_TYPE)
            return content
        return value

    def own_export(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        """Return the value of a chain that begins with the exports of its own file: `exports.f`, `module.exports.f`."""
        symbols = self.program.files[file]
        prefixes = symbols.settings.names.assigned_prefixes if symbols.settings is not None else ()
        for prefix in prefixes:
            if prefix.endswith("exports.") and chain.startswith(prefix):
                head = chain.partition(".")[0]
                binding = symbols.bindings.get(MODULE_SCOPE, {}).get(head)
                is_theirs = binding is not None and binding.value == _DEFAULT_EXPORT  # `exports = module.exports = f`
                if not is_theirs and self.inference.lookup_name(file, scope, head) is not None:
                    return None  # a name like any other
                own = self.inference.follow_members(
                    file, Value(ValueKind.MODULE, file, RuleName.SAME_FILE), chain[len(prefix) :].split("."), 0, called
                )
                if own is None or own.kind is not ValueKind.DEFINITION or own.rule != RuleName.MODULE_ATTRIBUTE:
                    return own
                return own._replace(
                    rule=RuleName.SAME_FILE if self.program.file_of[own.number] == file else RuleName.IMPORT
                )
        return None

    def object_member(self, holder: Value, name: str) -> Value | None:
        """Return the function or value that an object literal, or the exports of a file, hold under a name."""
        program = self.program
        symbols = program.files[holder.number]
        number = symbols.by_qualname.get(f"{holder.name}.{name}" if holder.name else name, -1)
        if number >= 0 and program.definition_of[number].kind == NodeKind.METHOD:
            return Value(ValueKind.DEFINITION, number, holder.rule)
        is_named = holder.rule == RuleName.OBJECT_MEMBER
        # What is spread behind a member of an object with a name may put another in its place.
        literal = holder.type.rpartition("...")[2] if is_named else holder.type[1:]
        for entry in literal[:-1].lstrip("{").split(","):
            key, _, chain = entry.partition(":")
            if key == name and holder.also:
                scope = holder.also[0] - symbols.first
                member = self.annotations.infer_returned_chain(holder.number, scope, chain or key)
                return member.with_definition_rule(holder.rule) if member is not None and is_named else member
        return UNKNOWN if "..." in holder.type else None

    def collect_assignments(self) -> dict[int, dict[str, list[tuple[int, Binding]]]]:
        """Return the attributes that definitions are given: definition -> name -> (file, binding) of each.

        Assignments inside of them, `this.m = …`, come before those from outside, `A.prototype.m = f`. The first has a
        type or value if any has.
        """
        program = self.program
        result: dict[int, dict[str, list[tuple[int, Binding]]]] = {}
        outside: list[tuple[int, Binding]] = []
        for file, symbols in enumerate(program.files):
            for scope, target in dict.fromkeys((b.scope, b.target) for b in symbols.facts.bindings if "." in b.target):
                binding = symbols.bindings[scope][target]
                if target.startswith("."):
                    owner = program.enclosing_owner(symbols.first + scope) if scope >= 0 else -1
                    if owner < 0:
                        continue
                    owner = program.canonical.get(owner, owner)
                    assignments = result.setdefault(owner, {}).setdefault(target[1:], [])
                    if assignments and not (assignments[0][1].type or assignments[0][1].value):
                        assignments.pop()
                    assignments.append((file, binding))
                elif binding.is_of_member and binding.value:
                    outside.append((file, binding))
        for file, binding in outside:
            owner_name, _, name = binding.target.rpartition(".")
            owner = self.inference.queries.definition_named(file, binding.scope, owner_name)
            if owner >= 0:
                result.setdefault(owner, {}).setdefault(name, [(file, binding)])
        return result

    def assigned_attribute(self, value: Value, name: str) -> Value | None:
        """Return the value of an attribute that a type, or a base of it, is given by assignment."""
        program = self.program
        for base in program.linear_bases(value.number):
            entries = self.inference.assignments_of(base, name)
            if not entries or (entries[0][1].is_of_member and program.is_value(base)):
                continue  # who calls a function of an object that is no class can put another in its place
            file, binding = entries[0]
            if binding.is_of_member:
                return self.member_from_outside(base, name)
            if program.files[file].is_shaped:
                return self.containers.binding_value(file, binding, name, entries[1:]).with_rule(
                    RuleName.ATTRIBUTE_TYPE
                )
            function = self.inference.name_lookup.find_assigned_function(file, binding)
            if function >= 0:
                return Value(ValueKind.DEFINITION, function, value.rule)
            content = self.annotations.binding_value(file, binding, binding.target)
            is_typed = content.kind in (ValueKind.INSTANCE, ValueKind.COLLECTION)
            return content._replace(rule=RuleName.ATTRIBUTE_TYPE) if is_typed else content
        return None

    def member_from_outside(self, owner: int, name: str) -> Value | None:
        """Return the value of a member that is assigned from outside of `owner`."""
        entries = self.inference.assignments_of(owner, name)
        if not entries or not entries[0][1].is_of_member:
            return None
        file, binding = entries[0]
        content = self.annotations.binding_value(file, binding, binding.target)
        if content.kind is ValueKind.DEFINITION:
            return content._replace(rule=RuleName.OBJECT_MEMBER)
        is_typed = content.kind is ValueKind.INSTANCE or content.kind is ValueKind.COLLECTION
        return content._replace(rule=RuleName.ATTRIBUTE_TYPE) if is_typed else content
